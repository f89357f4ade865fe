//! netloom-testkit.
