//! netloom-verify.
