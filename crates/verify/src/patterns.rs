//! Weights of items by size, recomputed: what fits a link weighs at most so much, and all items weigh more than that.
//!
//! One table, by room: the greatest weight of items that fit it, every item taken once or not at all.

use netloom_model::LinkId;

use crate::certificate::Case;
use crate::whole::{MOST_STEPS, ROUNDING};

/// The largest weight of one item: no sum of them overflows.
const MOST_WEIGHT: u64 = 1 << 32;
/// Entries of the table that may be computed.
const MOST_WORK: u64 = 4_000_000_000;

impl Case<'_> {
    pub(crate) fn patterns(
        &self,
        links: &[LinkId],
        grid: f64,
        by_size: &[(f64, u64)],
    ) -> Result<f64, String> {
        let place = self.place(links)?;
        if !(grid.is_normal() && grid > 0.0) {
            return Err(format!("the grid {grid:?} is not a number of bytes"));
        }
        for (bytes, weight) in by_size {
            if !(bytes.is_normal() && *bytes > 0.0) || *weight > MOST_WEIGHT {
                return Err(format!("from {bytes:?} bytes on an item weighs {weight}: out of range"));
            }
        }
        if by_size.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return Err("the sizes do not rise".into());
        }
        let Some(rooms) = place.rooms(self.claim) else { return Ok(self.claim) };
        let largest = rooms.iter().copied().fold(0.0, f64::max) / grid;
        if largest > MOST_STEPS {
            return Err(format!("a link has room for {largest:.0} steps of the grid: too many to check"));
        }
        // Down to whole steps, but for rounding.
        let steps = |bytes: f64| (bytes / grid * (1.0 + ROUNDING)) as usize;
        let mut held = vec![0u64; steps(rooms.iter().copied().fold(0.0, f64::max)) + 1];
        let (mut all, mut work) = (0u64, 0);
        for &size in place.items.values() {
            let weight = match by_size.partition_point(|s| s.0 <= size * (1.0 + ROUNDING)) {
                0 => continue,
                reached => by_size[reached - 1].1,
            };
            if weight == 0 {
                continue;
            }
            all += weight;
            let size = steps(size);
            if size >= held.len() {
                continue;
            }
            work += (held.len() - size) as u64;
            if work > MOST_WORK {
                return Err("too many items and steps of the grid to check".into());
            }
            for room in (size..held.len()).rev() {
                held[room] = held[room].max(held[room - size] + weight);
            }
        }
        let fit: u64 = rooms.into_iter().map(|room| held[steps(room)]).sum();
        if all > fit {
            return Ok(self.claim);
        }
        Err(format!("below the claim the items weigh {all}, no more than the {fit} that fit"))
    }
}
