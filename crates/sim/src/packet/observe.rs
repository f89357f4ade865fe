//! Watching packets: path sampling and traces hook in here, at no cost where nobody listens.

use netloom_model::LinkId;

/// A packet was queued at an output.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// When, ps.
    pub now_ps: u64,
    /// The output.
    pub link: LinkId,
    /// The packet's number while it is in the network.
    pub packet: u32,
    /// The queue was longer than the credits for it (Taffet, dissertation, sec. 2.3.1).
    pub congested: bool,
}

/// Sees every packet at every hop.
pub trait Observer: Send {
    /// False: nothing is called, and nothing is computed for it.
    const LISTENS: bool = true;

    /// A packet was queued at an output.
    fn hop(&mut self, hop: Hop);
}

/// Nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Observer for Nobody {
    const LISTENS: bool = false;
    fn hop(&mut self, _: Hop) {}
}
