//! Service levels and virtual lanes.
//!
//! | module | idea |
//! |---|---|
//! | [`qos_policy`] | OpenSM's QoS policy: service levels by groups of ports |
//! | [`service_levels`] | the service level of every pair of hosts, as CSV |
//! | [`sl2vl`] | SL-to-VL tables, as OpenSM dumps them |

pub mod qos_policy;
pub mod service_levels;
pub mod sl2vl;
