//! `cab`: LLNL's Cab, 1296 hosts.
//!
//! Stated in the paper: 1296 nodes, radix-36 switches, three levels, 72 leaves of 18 nodes, QDR (40 Gbit/s
//! on the wire, which 8b/10b leaves 32 Gbit/s = 4e9 bytes/s of data).
//! Assumed here: full bisection, so a leaf has 18 uplinks; four pods of 18 leaves and 18 spines; two groups
//! of 18 cores, one cable between neighbours. Every switch then uses exactly its 36 ports, and the two
//! core groups with the spines below them are two 648-port directors (18 spine boards, 36 line boards).
//! Source: Smith et al., SC18, sec. II and the artifact description.

use netloom_model::Fabric;

use super::SpecError;
use super::fattree::FatTree;
use super::spec::Spec;

pub(super) fn generate(spec: &Spec) -> Result<Fabric, SpecError> {
    let tree = FatTree {
        pods: 4,
        leaves: 18,
        hosts: 18,
        spines: 18,
        groups: 2,
        cores: 18,
        leaf_cables: 1,
        core_cables: 1,
        bandwidth_bytes_per_s: spec.speed("QDR")?,
    };
    tree.build()
}
