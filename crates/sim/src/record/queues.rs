//! How long the queues of switches were, sampled.
//!
//! A queue is what waits for an output of a switch, or lies in its buffer, without the packet being sent; where room is kept until
//! admission (profile `codes`), what still holds room counts too. Adapters of hosts are left out: what waits there are messages.
//!
//! Invariants: rows are in order of time, then level, or length (longest first) and link; none is 0.

use netloom_model::{Fabric, LinkId};
use netloom_topology::{Direction, NO_LEVEL, detect};
use serde::{Deserialize, Serialize};

/// Outputs of one kind: of switches of one level, in one direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueLevel {
    /// `level 0 up`: from leaves towards the spines; `level 0 down`: from leaves to hosts; `peer` for what is no way up or down.
    pub name: String,
    /// Outputs.
    pub links: usize,
}

/// The queues of a level at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelRow {
    /// The sample: taken at `(sample + 1) * every_ps`.
    pub sample: u32,
    /// The level, an index into [`Queues::levels`].
    pub level: u8,
    /// All its queues together, bytes.
    pub sum_bytes: u64,
    /// The longest, bytes.
    pub max_bytes: u32,
}

/// One queue at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRow {
    /// The sample: taken at `(sample + 1) * every_ps`.
    pub sample: u32,
    /// The output.
    pub link: LinkId,
    /// Its queue, bytes.
    pub bytes: u32,
}

/// Queues over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queues {
    /// Time from one sample to the next, ps.
    pub every_ps: u64,
    /// Queues kept a sample: the longest so many.
    pub longest: usize,
    /// The kinds of outputs.
    pub levels: Vec<QueueLevel>,
    /// By level.
    pub by_level: Vec<LevelRow>,
    /// The longest.
    pub queues: Vec<QueueRow>,
}

impl Queues {
    /// When a sample was taken, ps.
    pub fn time_ps(&self, sample: u32) -> u64 {
        (u64::from(sample) + 1) * self.every_ps
    }

    /// The mean queue of a level in a row, bytes.
    pub fn mean_bytes(&self, row: &LevelRow) -> f64 {
        row.sum_bytes as f64 / self.levels[usize::from(row.level)].links as f64
    }

    /// Keeps the longest of one sample's queues, which are the last ones from `first` on.
    pub(crate) fn keep_longest(&mut self, first: usize) {
        self.queues[first..].sort_by_key(|row| (std::cmp::Reverse(row.bytes), row.link));
        self.queues.truncate(first.saturating_add(self.longest));
    }

    /// Adds the queues of another part of the network.
    pub(crate) fn merge(&mut self, other: Self) {
        self.by_level.extend(other.by_level);
        self.by_level.sort_by_key(|row| (row.sample, row.level));
        self.by_level.dedup_by(|row, kept| {
            let same = (row.sample, row.level) == (kept.sample, kept.level);
            if same {
                kept.sum_bytes += row.sum_bytes;
                kept.max_bytes = kept.max_bytes.max(row.max_bytes);
            }
            same
        });
        self.queues.extend(other.queues);
        self.queues.sort_by_key(|row| (row.sample, std::cmp::Reverse(row.bytes), row.link));
        let (mut of, mut kept) = (0, 0);
        self.queues.retain(|row| {
            kept = if row.sample == of { kept + 1 } else { 1 };
            of = row.sample;
            kept <= self.longest
        });
    }
}

/// The level of every link, [`NONE`] for links from hosts; and the levels that there are.
pub(crate) fn levels(fabric: &Fabric) -> (Vec<u8>, Vec<QueueLevel>) {
    let structure = detect(fabric);
    let key = |link: LinkId| {
        let level = structure.level[fabric.link_from_switch(link)?.index()];
        Some(match structure.direction(fabric, link) {
            Direction::Up => (level, 0),
            Direction::Down => (level, 1),
            Direction::Peer => (NO_LEVEL, 2),
        })
    };
    let mut keys: Vec<(u8, u8)> = fabric.links().filter_map(key).collect();
    keys.sort_unstable();
    keys.dedup();
    let at = |key| keys.binary_search(&key).map_or(NONE, |at| at as u8);
    let of_link: Vec<u8> = fabric.links().map(|link| key(link).map_or(NONE, at)).collect();
    let levels = keys.iter().enumerate().map(|(at, &(level, direction))| {
        let name = match direction {
            0 => format!("level {level} up"),
            1 => format!("level {level} down"),
            _ => "peer".into(),
        };
        QueueLevel { name, links: of_link.iter().filter(|&&of| usize::from(of) == at).count() }
    });
    let levels = levels.collect();
    (of_link, levels)
}

/// No level: a link from a host.
pub(crate) const NONE: u8 = u8::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    fn part(rows: &[(u32, u32, u32)]) -> Queues {
        let levels = vec![QueueLevel { name: "level 0 up".into(), links: 4 }];
        let queues = rows
            .iter()
            .map(|&(sample, link, bytes)| QueueRow { sample, link: LinkId(link), bytes })
            .collect();
        let by_level = rows
            .iter()
            .map(|&(sample, _, bytes)| LevelRow {
                sample,
                level: 0,
                sum_bytes: u64::from(bytes),
                max_bytes: bytes,
            })
            .collect();
        Queues { every_ps: 10, longest: 2, levels, by_level, queues }
    }

    #[test]
    fn merged_parts_keep_the_longest_of_all() {
        let mut whole = part(&[(0, 5, 100), (0, 6, 50), (2, 5, 10)]);
        whole.merge(part(&[(0, 9, 100), (1, 9, 7)]));
        let kept: Vec<_> = whole.queues.iter().map(|row| (row.sample, row.link.0, row.bytes)).collect();
        assert_eq!(kept, [(0, 5, 100), (0, 9, 100), (1, 9, 7), (2, 5, 10)]);
        let first = whole.by_level[0];
        assert_eq!((first.sum_bytes, first.max_bytes, whole.mean_bytes(&first)), (250, 100, 62.5));
        assert_eq!(whole.time_ps(2), 30);
    }
}
