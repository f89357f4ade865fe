//! All designs for so many hosts: one switch, and trees of two and three levels that the ports allow.
//!
//! Hosts are spread evenly: as many ports for hosts a leaf as needed, as few leaves and pods as needed; one switch if all
//! fit on it. A leaf has up to as many cables up as ports are left. Two levels have the least number of spines
//! ([`bundles::spines`]); three levels every number of spines that divides a leaf's cables, and the least number of cores,
//! also with single cables ([`bundles::cores`]). Cables up beyond those down slow nothing less, so more are looked at only
//! where they come out with other numbers of spines, or fewer cores.

use std::ops::ControlFlow;

use crate::bundles::{self, Bundles, Divisors};
use crate::{Design, PlanError};

/// Hosts that fit on trees of `levels` levels: with one cable up a switch, and without taper.
pub fn capacity(radix: u32, levels: u32) -> (u64, u64) {
    let radix = u64::from(radix);
    let most = radix.saturating_mul(radix.saturating_sub(1).saturating_pow(levels.saturating_sub(1)));
    let half = radix / 2;
    (most, half.saturating_pow(levels).saturating_mul(2))
}

/// The sizes of leaf and pod of all designs of three levels, and of one and two with a pod of 0 leaves: `(hosts, leaves)`.
///
/// # Errors
/// [`PlanError::TooManyHosts`].
pub fn shapes(hosts: u32, radix: u32, levels: &[u32]) -> Result<Vec<(u32, u32)>, PlanError> {
    let highest = levels.iter().copied().max().unwrap_or(2);
    let (most, full) = capacity(radix, highest);
    if u64::from(hosts) > most {
        return Err(PlanError::TooManyHosts { hosts, radix, levels: highest, most, full });
    }
    let mut shapes = Vec::new();
    if hosts <= radix {
        shapes.push((hosts, 0));
    }
    for down in 1..radix.min(hosts) {
        let leaves = hosts.div_ceil(down);
        if levels.contains(&2) && leaves <= radix && hosts.div_ceil(leaves) == down {
            shapes.push((down, 0));
        }
        if levels.contains(&3) {
            let mut last = 0;
            for pods in (2..=radix.min(leaves)).rev() {
                let each = leaves.div_ceil(pods);
                // The fewest pods of this size, evenly filled.
                let pods = leaves.div_ceil(each);
                let ports = u64::from(pods) * u64::from(each);
                if each != last && each < radix && u64::from(hosts).div_ceil(ports) == u64::from(down) {
                    shapes.push((down, each));
                }
                last = each;
            }
        }
    }
    Ok(shapes)
}

/// Calls `visit` with every design of a shape of [`shapes`], in a fixed order, until it breaks.
pub fn designs(
    (down, leaves): (u32, u32),
    hosts: u32,
    radix: u32,
    bundles: Bundles,
    divisors: &Divisors,
    visit: &mut impl FnMut(Design) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let all_leaves = hosts.div_ceil(down);
    if all_leaves == 1 {
        return visit(Design::one_switch(hosts));
    }
    if leaves > 0 {
        return three_levels((down, leaves), hosts, radix, divisors, visit);
    }
    // Spines of trees without taper: more cables up are of use with fewer spines only.
    let mut fewest = u32::MAX;
    for up in 1..=radix - down {
        let Some(spines) = bundles::spines(divisors, all_leaves, up, radix, bundles) else { continue };
        if up < down || spines < fewest {
            visit(Design { pods: 1, leaves: all_leaves, hosts: down, spines, leaf_up: up, cores: None })?;
        }
        if up >= down {
            fewest = fewest.min(spines);
        }
    }
    ControlFlow::Continue(())
}

fn three_levels(
    (down, leaves): (u32, u32),
    hosts: u32,
    radix: u32,
    divisors: &Divisors,
    visit: &mut impl FnMut(Design) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let pods = hosts.div_ceil(down).div_ceil(leaves);
    // Numbers of spines that leaves without taper have with fewer cables.
    let mut seen = vec![false; radix as usize + 1];
    for up in 1..=radix - down {
        for &spines in divisors.of(up) {
            if up >= down && std::mem::replace(&mut seen[spines as usize], true) {
                continue;
            }
            let below = u64::from(leaves) * u64::from(up / spines);
            if below >= u64::from(radix) {
                continue;
            }
            let below = below as u32;
            let enough = below.min((leaves * down).div_ceil(spines));
            let mut fewest = u64::MAX;
            for spine_up in 1..=radix - below {
                for cores in bundles::cores(divisors, pods, spines, spine_up, radix).into_iter().flatten() {
                    if spine_up > enough && cores.count() >= fewest {
                        continue;
                    }
                    if spine_up >= enough {
                        fewest = fewest.min(cores.count());
                    }
                    visit(Design { pods, leaves, hosts: down, spines, leaf_up: up, cores: Some(cores) })?;
                }
            }
        }
    }
    ControlFlow::Continue(())
}
