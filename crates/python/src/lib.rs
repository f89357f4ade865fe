//! netloom-python.
