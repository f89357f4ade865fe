//! Which output a packet takes: a trait, and a file a scheme.

mod adaptive;
mod any;
mod table;

use netloom_model::{DestId, LinkId, SwitchId};

use super::ports::Port;

pub use adaptive::Adaptive;
pub(crate) use any::AnyChoice;
pub use table::ByTable;

/// A packet at a switch, as a scheme sees it.
#[derive(Clone, Copy, Debug)]
pub struct Here {
    /// The switch.
    pub switch: SwitchId,
    /// The link it came in on.
    pub via: LinkId,
    /// Address of its destination.
    pub address: DestId,
    /// Its virtual lane.
    pub lane: u8,
}

/// What a scheme may look at: the outputs of the switch where the packet is.
#[derive(Clone, Copy)]
pub struct Outputs<'a> {
    pub(crate) now: u64,
    pub(crate) ports: &'a [Port],
}

impl Outputs<'_> {
    /// Bytes that wait for an output link, all lanes together; 0 if it would start at once.
    #[inline]
    pub fn load(&self, link: LinkId) -> u32 {
        // What is being sent counts as one byte: a busy link is not an idle one.
        let port = &self.ports[link.index()];
        port.queued + u32::from(port.free_at > self.now)
    }
}

/// A routing scheme of the switches.
pub trait Choice: Send {
    /// Whether it looks at [`Outputs`]; they are kept exact only for those that do.
    const LOOKS: bool;

    /// Whether it knows its own switch only. A scheme that knows others runs in one partition.
    const LOCAL: bool = true;

    /// The output of a packet. `None`: it can't go on.
    fn output(&mut self, here: Here, outputs: Outputs) -> Option<LinkId>;

    /// A guess at the output of a packet that is about to come, for reading memory ahead; no result depends on it.
    #[inline]
    fn likely(&self, _here: Here) -> Option<LinkId> {
        None
    }
}
