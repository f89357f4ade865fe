//! netloom-traffic.
