//! netloom-formats.
