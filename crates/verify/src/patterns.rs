//! Weights of items by size, recomputed: what fits a link weighs at most so much, and all items weigh more than that.
//!
//! One table, by room: the greatest weight of items that fit it, every item taken once or not at all.

use netloom_model::LinkId;

use crate::certificate::Case;
use crate::whole::{MOST_STEPS, Place, ROUNDING};

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
        let Some(rooms) = place.rooms(self.claim) else { return Ok(self.claim) };
        let scale = Scale::new(&place, grid, by_size, &rooms)?;
        let fit = scale.fit(rooms);
        if u128::from(scale.all) > fit {
            return Ok(self.claim);
        }
        Err(format!("below the claim the items weigh {}, no more than the {fit} that fit", scale.all))
    }
}

/// Items weighed.
pub(crate) struct Scale {
    /// What all items weigh.
    pub all: u64,
    grid: f64,
    /// By room in steps.
    held: Vec<u64>,
}

impl Scale {
    /// Weighs what must go through a place; `rooms` (bytes, none negative) are those that will be asked for.
    pub fn new(place: &Place, grid: f64, by_size: &[(f64, u64)], rooms: &[f64]) -> Result<Self, String> {
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
        let largest = rooms.iter().copied().fold(0.0, f64::max);
        if largest / grid > MOST_STEPS {
            return Err(format!(
                "a link has room for {:.0} steps of the grid: too many to check",
                largest / grid
            ));
        }
        let mut scale = Self { all: 0, grid, held: Vec::new() };
        scale.held = vec![0; scale.steps(largest) + 1];
        let mut work = 0;
        for &size in place.items.values() {
            let weight = match by_size.partition_point(|s| s.0 <= size * (1.0 + ROUNDING)) {
                0 => continue,
                reached => by_size[reached - 1].1,
            };
            if weight == 0 {
                continue;
            }
            scale.all += weight;
            let size = scale.steps(size);
            if size >= scale.held.len() {
                continue;
            }
            work += (scale.held.len() - size) as u64;
            if work > MOST_WORK {
                return Err("too many items and steps of the grid to check".into());
            }
            for room in (size..scale.held.len()).rev() {
                scale.held[room] = scale.held[room].max(scale.held[room - size] + weight);
            }
        }
        Ok(scale)
    }

    /// The greatest weight that fits a room of so many bytes.
    pub fn held(&self, room: f64) -> u64 {
        self.held[self.steps(room).min(self.held.len() - 1)]
    }

    /// What fits rooms of so many bytes, each filled on its own: many links that could hold everything hold more than 64
    /// bits count.
    pub fn fit(&self, rooms: impl IntoIterator<Item = f64>) -> u128 {
        rooms.into_iter().map(|room| u128::from(self.held(room))).sum()
    }

    /// Down to whole steps, but for rounding.
    fn steps(&self, bytes: f64) -> usize {
        (bytes / self.grid * (1.0 + ROUNDING)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_model::{HostId, Item, SwitchId};

    /// 65,536 links that each have room for 65,536 items of weight 2^32 hold 2^64 in all, which was taken for 0: a
    /// forged certificate of any claim was accepted.
    #[test]
    fn weights_that_fit_do_not_overflow() {
        let item = |d: u32| (Item { leaf: SwitchId(0), destination: HostId(d) }, HostId(0));
        let items = (0..1 << 16).map(|d| (item(d), 1.0)).collect();
        let place = Place { capacity: vec![1.0; 1 << 16], base: vec![0.0; 1 << 16], items };
        // A step so long that items round down to none, and one room holds them all.
        let rooms = vec![1e6; 1 << 16];
        let scale = Scale::new(&place, 1e6, &[(1.0, MOST_WEIGHT)], &rooms).unwrap();
        assert_eq!((scale.all, scale.fit(rooms)), (1 << 48, 1 << 64));
    }
}
