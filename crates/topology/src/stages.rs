//! What a tree could carry, level by level: uplinks, over-subscription, bisection.
//!
//! A stage is all cables from one level to the next above. Over-subscription is what can come from below over what can go up, 1 where
//! nothing is lost; of switches that differ, the worst. The bisection of a stage is half of what all of its cables carry in one direction:
//! what one half of the lower switches can send the other half, whatever the routes. It is compared with what half of the hosts can send.

use netloom_model::{Fabric, LinkId};

use crate::shape::Shape;
use crate::structure::{NO_LEVEL, Structure};

/// The working cables from one level of a tree to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// How many there are.
    pub cables: u64,
    /// Cables up of the switches below: fewest, most.
    pub uplinks: (u32, u32),
    /// `None` where nothing comes from below, or a switch has nothing that goes up.
    pub over_subscription: Option<f64>,
    /// What all of them carry in one direction.
    pub bytes_per_s: f64,
    /// The same over what all hosts can send.
    pub of_hosts: Option<f64>,
}

/// The stages of a tree between switches, from the leaves up; none of a fabric that is no tree.
pub fn stages(fabric: &Fabric, structure: &Structure) -> Vec<Stage> {
    if !matches!(structure.shape, Shape::Tree) {
        return Vec::new();
    }
    // Hosts are below all, and so is what is cut off.
    let level = |end: Option<netloom_model::SwitchId>| match end.map(|s| structure.level[s.index()]) {
        None | Some(NO_LEVEL) => -1,
        Some(level) => i16::from(level),
    };
    let ends = |l: LinkId| (fabric.link_from_switch(l), fabric.link_to_switch(l));
    let live = || fabric.links().filter(|&l| fabric.alive(l));
    let of_hosts: f64 =
        live().filter(|&l| ends(l).0.is_none()).map(|l| fabric.bandwidth_bytes_per_s(l)).sum();
    let mut found = Vec::new();
    for below in 0..i16::from(structure.levels) - 1 {
        // By switch: cables up, what can go up, what can come from below.
        let mut of = vec![(0u32, 0.0f64, 0.0f64); fabric.switch_count()];
        let (mut cables, mut bytes_per_s) = (0, 0.0);
        for link in live() {
            let ((from, to), speed) = (ends(link), fabric.bandwidth_bytes_per_s(link));
            let (low, high) = (level(from), level(to));
            if let (Some(from), true) = (from, low == below && high == below + 1) {
                (cables, bytes_per_s) = (cables + 1, bytes_per_s + speed);
                of[from.index()].0 += 1;
                of[from.index()].1 += speed;
            } else if let (Some(to), true) = (to, low < below) {
                of[to.index()].2 += speed;
            }
        }
        let members = || fabric.switches().filter(|&s| level(Some(s)) == below).map(|s| of[s.index()]);
        let ratios = members().filter(|of| of.2 > 0.0).map(|of| of.2 / of.1);
        let worst = ratios.reduce(f64::max).filter(|worst| worst.is_finite());
        let uplinks = || members().map(|of| of.0);
        found.push(Stage {
            cables,
            uplinks: (uplinks().min().unwrap_or(0), uplinks().max().unwrap_or(0)),
            over_subscription: worst,
            bytes_per_s,
            of_hosts: (of_hosts > 0.0).then(|| bytes_per_s / of_hosts),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{detect, generate};

    #[test]
    fn six_hosts_share_three_uplinks() {
        let fabric = generate("two-level:leaves=4,hosts=6,spines=3").unwrap();
        let found = stages(&fabric, &detect(&fabric));
        let speed = fabric.bandwidth_bytes_per_s(LinkId(0));
        let one = Stage {
            cables: 12,
            uplinks: (3, 3),
            over_subscription: Some(2.0),
            bytes_per_s: 12.0 * speed,
            of_hosts: Some(0.5),
        };
        assert_eq!(found, [one]);
        let dragonfly = generate("dragonfly:p=1,a=2,h=1").unwrap();
        assert!(stages(&dragonfly, &detect(&dragonfly)).is_empty());
    }
}
