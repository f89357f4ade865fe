//! netloom-routing.
