//! netloom-bounds.
