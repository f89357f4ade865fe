//! netloom-optimize.
