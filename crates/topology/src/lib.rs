//! netloom-topology.
