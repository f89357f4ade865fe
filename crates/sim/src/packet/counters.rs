//! What every link carried, by lane.

/// Counters of all directed links, `[link * lanes + lane]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkCounters {
    /// Lanes a link.
    pub lanes: usize,
    /// Bytes on the wire and packets that were sent.
    pub sent: Vec<Sent>,
}

/// What a lane of a link has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Bytes, headers included.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
}

impl LinkCounters {
    pub(crate) fn new(links: usize, lanes: usize) -> Self {
        Self { lanes, sent: vec![Sent::default(); links * lanes] }
    }

    #[inline]
    pub(crate) fn sent(&mut self, at: usize, bytes: u16, _now_ps: u64) {
        let sent = &mut self.sent[at];
        sent.bytes += u64::from(bytes);
        sent.packets += 1;
    }
}
