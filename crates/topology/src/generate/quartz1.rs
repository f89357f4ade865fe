//! `quartz1`: the 3072-host fabric of the dissertation's experiments.
//!
//! Four pods of 24 leaves (32 hosts each) and 16 spines; two groups of 24 cores; EDR throughout. It is
//! exactly `fattree:pods=4,leaves=24,hosts=32,spines=16,groups=2,cores=24`.
//! Source: Taffet, dissertation, sec. 3.5.3 (modelled after LLNL's Quartz, 2:1 taper).

use netloom_model::Fabric;

use super::SpecError;
use super::fattree::FatTree;
use super::spec::Spec;

pub(super) fn generate(spec: &Spec) -> Result<Fabric, SpecError> {
    let tree = FatTree {
        pods: 4,
        leaves: 24,
        hosts: 32,
        spines: 16,
        groups: 2,
        cores: 24,
        leaf_cables: 1,
        core_cables: 1,
        bandwidth_bytes_per_s: spec.speed("EDR")?,
    };
    tree.build()
}
