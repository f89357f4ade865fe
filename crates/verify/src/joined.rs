//! Which hosts working cables join at all, whatever the routes.

use netloom_model::{Fabric, NodeId};

/// Ordered pairs of hosts that no working cables join: no routes can.
pub(crate) fn severed_pairs(fabric: &Fabric) -> u64 {
    let nodes = fabric.host_count() + fabric.switch_count();
    let mut above: Vec<u32> = (0..nodes as u32).collect();
    for link in fabric.links().filter(|&link| fabric.alive(link)) {
        let (a, b) = (top(&mut above, fabric.link_from(link)), top(&mut above, fabric.link_to(link)));
        above[a.max(b) as usize] = a.min(b);
    }
    let mut hosts = vec![0u64; nodes];
    for host in fabric.hosts() {
        hosts[top(&mut above, NodeId(host.0)) as usize] += 1;
    }
    let all: u64 = hosts.iter().sum();
    all * all - hosts.iter().map(|&many| many * many).sum::<u64>()
}

/// The name of a node's part; ways to it get shorter.
fn top(above: &mut [u32], node: NodeId) -> u32 {
    let mut at = node.0;
    while above[at as usize] != at {
        above[at as usize] = above[above[at as usize] as usize];
        at = above[at as usize];
    }
    at
}

#[cfg(test)]
mod tests {
    use netloom_topology::{Damage, damage, generate};

    use super::*;

    #[test]
    fn a_host_without_a_cable_is_cut_from_all_others_and_a_leaf_from_what_is_not_on_it() {
        let whole = generate("two-level:leaves=3,hosts=2,spines=1").unwrap();
        assert_eq!(severed_pairs(&whole), 0);
        let cut = |links: &[(&str, u16)]| {
            let links = links.iter().map(|&(name, port)| (name.to_owned(), port)).collect();
            damage(&whole, &Damage { links, ..Damage::default() }, 0).unwrap().fabric
        };
        assert_eq!(severed_pairs(&cut(&[("leaf00", 1)])), 2 * 5);
        assert_eq!(severed_pairs(&cut(&[("leaf00", 3)])), 2 * 2 * 4);
    }
}
