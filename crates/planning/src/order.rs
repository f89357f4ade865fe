//! Which hosts the ranks of a job get: in block, fragmented or random order.
//!
//! Hosts are numbered leaf by leaf, pod by pod. *Block*: in order from host 0. *Fragmented*: as hosts become free in the
//! middle of a production machine's day ([`netloom_traffic::freed_in_order`]); within a copy of a job they rise, as Slurm
//! has it. *Random*: every rank anywhere. The result depends on order, seed and draw only.

use netloom_model::HostId;
use netloom_model::rng::{shuffle, stream};
use netloom_traffic::freed_in_order;

/// How jobs lie on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In order.
    Block,
    /// As hosts become free.
    Fragmented,
    /// Anywhere.
    Random,
}

impl Order {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Block, Self::Fragmented, Self::Random];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Fragmented => "fragmented",
            Self::Random => "random",
        }
    }

    /// How often it is drawn if others are drawn `draws` times: there is one block order.
    pub fn draws(self, draws: u32) -> u32 {
        if self == Self::Block { 1 } else { draws }
    }

    /// The hosts of `copies` copies of a job, each with `each` hosts: `[copy][host of the job]`.
    ///
    /// # Panics
    /// If they are more than `hosts`.
    pub fn place(self, hosts: u32, copies: u32, each: u32, seed: u64, draw: u32) -> Vec<Vec<u32>> {
        let mut order: Vec<u32> = (0..hosts).collect();
        let mut random = stream(seed, 2 * u64::from(draw) + u64::from(self == Self::Random));
        match self {
            Self::Block => {}
            Self::Fragmented => {
                let all: Vec<HostId> = (0..hosts).map(HostId).collect();
                order = freed_in_order(&all, &mut random).into_iter().map(|h| h.0).collect();
            }
            Self::Random => shuffle(&mut random, &mut order),
        }
        let wanted = copies as usize * each as usize;
        let mut placed: Vec<Vec<u32>> =
            order[..wanted].chunks(each.max(1) as usize).map(<[u32]>::to_vec).collect();
        if self == Self::Fragmented {
            placed.iter_mut().for_each(|copy| copy.sort_unstable());
        }
        placed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_is_given_once_whatever_the_order() {
        for order in Order::ALL {
            let placed = order.place(1000, 3, 333, 7, 1);
            assert_eq!(placed, order.place(1000, 3, 333, 7, 1));
            let mut all = placed.concat();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), 999, "{order:?}");
        }
    }

    #[test]
    fn block_is_in_order_and_draws_differ() {
        assert_eq!(Order::Block.place(8, 2, 3, 5, 0), [[0, 1, 2], [3, 4, 5]]);
        for order in [Order::Fragmented, Order::Random] {
            assert_ne!(order.place(1000, 1, 100, 5, 0), order.place(1000, 1, 100, 5, 1), "{order:?}");
        }
    }
}
