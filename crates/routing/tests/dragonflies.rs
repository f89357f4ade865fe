//! Minimal routes of dragonflies.

use netloom_routing::PathSet;
use netloom_topology::{Arrangement, detect, generate};

#[test]
fn minimal_ways_have_one_global_cable_at_most() {
    for arrangement in Arrangement::ALL {
        let fabric = generate(&format!("dragonfly:p=1,a=4,h=2,arrangement={arrangement}")).unwrap();
        let structure = detect(&fabric);
        let groups = structure.shape.groups().unwrap();
        let paths = PathSet::by_groups(&fabric, groups);
        for (s, t) in fabric.switches().flat_map(|s| fabric.switches().map(move |t| (s, t))) {
            let (mut at, mut global, mut hops) = (s, 0, 0);
            while at != t {
                let links = paths.links(at, t);
                // One cable joins two groups, so there is one way.
                assert_eq!(links.len(), 1);
                let next = fabric.link_to_switch(links[0]).unwrap();
                global += u32::from(groups.group(at) != groups.group(next));
                (at, hops) = (next, hops + 1);
            }
            assert_eq!(global, u32::from(groups.group(s) != groups.group(t)));
            assert_eq!(paths.hops(s, t), Some(hops));
            assert!(hops <= 3 && paths.longest() == 3);
        }
    }
}
