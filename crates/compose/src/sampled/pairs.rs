//! Packets and bytes by pair of hosts, exact: what receivers know without any sampling.
//!
//! A host mostly sends to one other for a while; such a run is counted in one place, and found a row when it ends.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use netloom_model::HostId;

/// What a host has received of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The window.
    pub window: u32,
    /// The context.
    pub context: u32,
    /// Who sent.
    pub source: HostId,
    /// Who received.
    pub destination: HostId,
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

/// Packets of a host to another, one after another.
#[derive(Clone, Copy)]
struct Run {
    to: u32,
    packets: u32,
    bytes: u64,
}

impl Run {
    /// To nobody.
    const NONE: Self = Self { to: u32::MAX, packets: 0, bytes: 0 };
}

/// Packets and bytes by pair of hosts.
pub(super) struct Pairs {
    /// `[source]`: its last run.
    runs: Vec<Run>,
    /// Source, destination, packets and bytes but for the last runs'.
    rows: Vec<(u32, u32, u64, u64)>,
    of_pair: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
    is_empty: bool,
}

impl Pairs {
    pub fn new(hosts: u32) -> Self {
        let runs = vec![Run::NONE; hosts as usize];
        Self { runs, rows: Vec::new(), of_pair: HashMap::default(), is_empty: true }
    }

    /// Whether no packet was added.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// A packet was received.
    #[inline]
    pub fn add(&mut self, source: HostId, destination: HostId, bytes: u16) {
        let run = &self.runs[source.index()];
        if run.to != destination.0 || run.packets == u32::MAX {
            self.begin(source, destination);
        }
        let run = &mut self.runs[source.index()];
        run.packets += 1;
        run.bytes += u64::from(bytes);
    }

    /// Another run begins.
    #[inline(never)]
    fn begin(&mut self, source: HostId, destination: HostId) {
        self.is_empty = false;
        self.end(source.index());
        self.runs[source.index()].to = destination.0;
    }

    /// A host's run ends.
    fn end(&mut self, source: usize) {
        let Run { to, packets, bytes } = std::mem::replace(&mut self.runs[source], Run::NONE);
        if packets > 0 {
            let next = self.rows.len() as u32;
            let at = *self.of_pair.entry((source as u64) << 32 | u64::from(to)).or_insert(next);
            if at == next {
                self.rows.push((source as u32, to, 0, 0));
            }
            let row = &mut self.rows[at as usize];
            row.2 += u64::from(packets);
            row.3 += bytes;
        }
    }

    /// Tells what was received, and forgets it.
    pub fn take(&mut self, window: u32, context: u32) -> impl Iterator<Item = Pair> {
        (0..self.runs.len()).for_each(|source| self.end(source));
        self.of_pair.clear();
        self.is_empty = true;
        std::mem::take(&mut self.rows).into_iter().map(move |(source, destination, packets, bytes)| Pair {
            window,
            context,
            source: HostId(source),
            destination: HostId(destination),
            packets,
            bytes,
        })
    }
}

/// Mixes a word; nobody chooses pairs of hosts to be slow, and maps are never read in their order.
#[derive(Default)]
pub(super) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}
