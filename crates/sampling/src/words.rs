//! How several sums share a word, and for how many packets they can.

use crate::estimate::Estimate;
use crate::tag::MOST_HOPS;

/// Packets after which sums that share a word are put away.
pub const FULL: u32 = (1 << 26) - HOST_FULL;
/// Packets after which hosts' words are looked through: those of as many packets are put away.
pub const HOST_FULL: u32 = 1 << (HOST_SQUARES - 1);

/// Of a word of packets tested: their number below, their squares of hops above.
const TESTED_SQUARES: u32 = 28;
/// Of a host's word: packets below, then squares of hops of those that met congestion, and their signed hops above.
const HOST_SQUARES: u32 = 16;
const HOST_HOPS: u32 = 42;

const HOPS: u64 = MOST_HOPS as u64;
const _: () = assert!(FULL as u64 * HOPS < 1 << 31 && FULL.is_multiple_of(HOST_FULL));
const _: () = assert!(FULL < 1 << TESTED_SQUARES && FULL as u64 * HOPS * HOPS < 1 << (64 - TESTED_SQUARES));
const _: () = assert!((2 * HOST_FULL as u64 - 1) * HOPS * HOPS < 1 << (HOST_HOPS - HOST_SQUARES));
const _: () = assert!((2 * HOST_FULL as u64 - 1) * HOPS < 1 << (63 - HOST_HOPS));

/// What a packet adds where hashes are alike.
#[derive(Clone, Copy)]
pub struct Words {
    /// To a group's cell: traffic below, congestion above; where hashes differ it is taken away.
    pub cell: i64,
    /// To its hosts' words, where hashes are alike and where they differ.
    pub own: [i64; 2],
    /// To packets tested.
    pub tested: u64,
}

/// `[hops][congested]`
pub static WORDS: [[Words; 2]; MOST_HOPS as usize + 1] = {
    let mut all = [[Words { cell: 0, own: [1; 2], tested: 0 }; 2]; MOST_HOPS as usize + 1];
    let mut hops = 0;
    while hops < all.len() as i64 {
        let [not, met] = &mut all[hops as usize];
        let square = hops * hops;
        (not.cell, not.tested) = (hops, (square as u64) << TESTED_SQUARES | 1);
        (met.cell, met.tested) = (hops + (hops << 32), not.tested);
        let (own, hops_of_own) = (square << HOST_SQUARES | 1, hops << HOST_HOPS);
        met.own = [own + hops_of_own, own - hops_of_own];
        hops += 1;
    }
    all
};

/// Traffic and congestion of a cell.
pub fn apart(cell: i64) -> [i64; 2] {
    let traffic = i64::from(cell as i32);
    [traffic, (cell - traffic) >> 32]
}

/// Packets tested, and their squares of hops: of those that met no congestion, and of those that did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tested {
    pub packets: u64,
    pub squares: [u64; 2],
}

impl Tested {
    /// Of the words of packets that met no congestion, and of those that did.
    pub fn of(words: [u64; 2]) -> Self {
        let packets = words.map(|word| word & ((1 << TESTED_SQUARES) - 1));
        Self { packets: packets[0] + packets[1], squares: words.map(|word| word >> TESTED_SQUARES) }
    }

    pub fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        (0..2).for_each(|k| self.squares[k] += other.squares[k]);
    }

    /// Of a link's traffic and congestion.
    #[inline]
    pub fn estimate(&self, [traffic, congested]: [i64; 2]) -> Estimate {
        let [not, met] = self.squares;
        Estimate {
            traffic: traffic as f64,
            congested: congested as f64,
            traffic_error: error(not + met, traffic),
            congested_error: error(met, congested),
            tested: self.packets,
        }
    }
}

/// What is known of a host's own link: packets, and of those that met congestion signed hops and their squares.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnLink {
    pub packets: u64,
    pub squares: u64,
    pub congested: i64,
}

impl OwnLink {
    pub fn of(word: i64) -> Self {
        let squares = (word as u64) >> HOST_SQUARES & ((1 << (HOST_HOPS - HOST_SQUARES)) - 1);
        Self { packets: word as u64 & ((1 << HOST_SQUARES) - 1), squares, congested: word >> HOST_HOPS }
    }

    /// Whether the word is of [`HOST_FULL`] packets or more.
    pub fn is_full(word: i64) -> bool {
        word & i64::from(HOST_FULL) != 0
    }

    pub fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.squares += other.squares;
        self.congested += other.congested;
    }

    /// Its traffic is known.
    #[inline]
    pub fn estimate(&self) -> Estimate {
        Estimate {
            traffic: self.packets as i64 as f64,
            congested: self.congested as f64,
            traffic_error: 0.0,
            congested_error: error(self.squares, self.congested),
            tested: self.packets,
        }
    }
}

/// The standard error of a sum.
#[inline]
fn error(squares: u64, sum: i64) -> f64 {
    // Unlike `f64::max` this is one instruction.
    let positive = |x: f64| if x > 0.0 { x } else { 0.0 };
    positive(squares as i64 as f64 - positive(sum as f64)).sqrt()
}
