//! All designs for so many hosts: trees of two and three levels that the ports allow.
//!
//! Hosts are spread evenly: as many ports for hosts a leaf as needed, as few leaves and pods as needed. No switch has
//! more cables up than down. Two levels have the least number of spines; three levels every number of spines that
//! divides a leaf's cables, and the least number of cores, also with single cables ([`bundles::cores`]).

use std::ops::ControlFlow;

use crate::bundles::{self, Divisors};
use crate::{Design, PlanError};

/// Hosts that fit on trees of `levels` levels: with one cable up a switch, and without taper.
pub fn capacity(radix: u32, levels: u32) -> (u64, u64) {
    let radix = u64::from(radix);
    let most = radix.saturating_mul(radix.saturating_sub(1).saturating_pow(levels.saturating_sub(1)));
    let half = radix / 2;
    (most, half.saturating_pow(levels).saturating_mul(2))
}

/// The sizes of leaf and pod of all designs of three levels, and of two with a pod of 0 leaves: `(hosts, leaves)`.
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
    for down in 1..radix {
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
    divisors: &Divisors,
    visit: &mut impl FnMut(Design) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let all_leaves = hosts.div_ceil(down);
    for up in 1..=down.min(radix - down) {
        if leaves == 0 {
            if let Some(spines) = bundles::spines(divisors, all_leaves, up, radix) {
                let leaf_cables = up / spines;
                visit(Design { pods: 1, leaves: all_leaves, hosts: down, spines, leaf_cables, cores: None })?;
            }
            continue;
        }
        let pods = all_leaves.div_ceil(leaves);
        for &spines in divisors.of(up) {
            let leaf_cables = up / spines;
            let below = u64::from(leaves) * u64::from(leaf_cables);
            if below >= u64::from(radix) {
                continue;
            }
            let below = below as u32;
            for spine_up in 1..=below.min(radix - below) {
                for cores in bundles::cores(divisors, pods, spines, spine_up, radix).into_iter().flatten() {
                    visit(Design { pods, leaves, hosts: down, spines, leaf_cables, cores: Some(cores) })?;
                }
            }
        }
    }
    ControlFlow::Continue(())
}
