//! What a control of end points decides: a trait, and a file a control.
//!
//! A control knows outputs and flows by number, and rates. Which packet waits where, how notifications travel and who holds messages back
//! is `end_points`' and the engine's. Another control is another implementation and an arm of `policies::policy_of`.

use crate::SimError;
use crate::state_codec::{StateReader, StateWriter};

/// An output and what waits for it, as a control sees them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    pub link: u32,
    /// Bytes that wait for it: without a packet that comes, with one that leaves.
    pub waiting: u32,
    /// It has lacked credits for the packet that leaves.
    pub lacked_credits: bool,
}

/// What an output does about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// Nothing: the packet is no sample, or there is no congestion.
    Nothing,
    /// The packet was looked at, and nobody is told.
    Looked,
    /// Its source is sent so much feedback.
    Told(u8),
    /// The packet is marked: its receiver tells its source.
    Marked,
}

/// A control's decisions. Flows have numbers from 0 on, which are used again.
pub(crate) trait Policy: std::fmt::Debug + Send {
    /// A packet of `wire` bytes comes to an output.
    fn comes(&mut self, _: Output, _wire: u16) -> Sign {
        Sign::Nothing
    }
    /// A packet of `wire` bytes leaves by an output.
    fn goes(&mut self, _: Output, _wire: u16) -> Sign {
        Sign::Nothing
    }
    /// A receiver tells a source of marks at most once in so long, ps.
    fn interval_ps(&self) -> u64 {
        0
    }
    /// Whether a flow is limited before anything was heard of it.
    fn begins_limited(&self) -> bool {
        false
    }
    /// A flow of a host whose link has so many bytes a second is limited from now on.
    fn limits(&mut self, flow: u32, host: u32, speed: f64, now_ps: u64);
    /// A notification for a flow comes.
    fn is_told(&mut self, flow: u32, feedback: u8, now_ps: u64);
    /// A packet of a limited flow leaves its host.
    fn sends(&mut self, flow: u32, wire: u16);
    /// A flow's timer has run out.
    fn times_out(&mut self, flow: u32);
    /// Bytes a second that a flow may send.
    fn rate(&self, flow: u32) -> f64;
    /// When a flow's timer runs out, ps.
    fn timer_ps(&self, flow: u32) -> u64;
    /// Whether a flow need not be limited any more.
    fn has_recovered(&self, flow: u32) -> bool;
    /// A flow is limited no more: its number will be another's.
    fn retires(&mut self, _flow: u32) {}
    /// Indices in a table over time, added over flows, index x ps, from the start of measuring to `end_ps`; `None` without a table.
    fn index_ps(&self, _end_ps: u64) -> Option<f64> {
        None
    }
    /// Writes what it keeps.
    fn save(&self, to: &mut StateWriter);
    /// Reads it back.
    fn load(&mut self, from: &mut StateReader) -> Result<(), SimError>;
}

/// What a control must know of a network.
#[derive(Clone, Debug)]
pub(crate) struct Wires {
    /// By link: the port of a switch that it leaves by; 0 for a host's.
    pub ports: Vec<u16>,
    /// By link: whether it leads to a host.
    pub to_host: Vec<bool>,
    /// The buffer that a threshold is a part of, bytes.
    pub buffer_bytes: u32,
}

/// Keeps what belongs to a flow's number.
pub(super) fn put<T>(flows: &mut Vec<T>, flow: u32, value: T) {
    match flows.get_mut(flow as usize) {
        Some(old) => *old = value,
        None => {
            debug_assert_eq!(flow as usize, flows.len(), "flows are numbered without gaps");
            flows.push(value);
        }
    }
}
