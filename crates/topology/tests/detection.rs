//! Levels, pods and core groups of whole and broken fabrics.

use netloom_model::{End, Fabric, FabricBuilder, HostSpec, SwitchSpec};
use netloom_topology::{Damage, Structure, damage, detect, generate};

#[test]
fn quartz1_is_a_regular_tree_of_three_levels() {
    let f = generate("quartz1").unwrap();
    let s = detect(&f);
    assert_eq!((s.levels, s.pods, s.core_groups, s.regular), (3, 4, 2, true));
    assert!(s.findings.is_empty(), "{:?}", s.findings);
    let t = s.tree().unwrap();
    assert_eq!((t.pods, t.leaves_per_pod, t.hosts_per_leaf, t.spines_per_pod), (4, 24, 32, 16));
    assert_eq!((t.groups, t.spines_per_group, t.cores_per_group), (2, 8, 24));
    assert_eq!((t.leaf_cables, t.core_cables), (1, 1));
}
