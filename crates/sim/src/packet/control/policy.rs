//! What a control of end points decides: a trait, and a file a control.
//!
//! A control knows outputs and flows by number, and rates. Which packet waits where, how notifications travel and who holds messages back
//! is `end_points`' and the engine's. Controls with QCN's loop (samples at outputs, notifications to sources, limiters by flow) are another
//! implementation and an arm of [`policy_of`].

use super::jitter::Jitter;
use super::qcn::{Limiter, Point};
use crate::SimError;
use crate::congestion::{Congestion, ControlKind, Qcn};
use crate::state_codec::{StateReader, StateWriter};

/// A control's decisions. Flows have numbers from 0 on, which are used again.
pub(crate) trait Policy: std::fmt::Debug + Send {
    /// A packet of `wire` bytes joins `waiting` bytes at an output: feedback for its source, if it is a sample; 0 tells nobody.
    fn samples(&mut self, link: u32, waiting: u32, wire: u16) -> Option<u8>;
    /// A flow of a host whose link has so many bytes a second is limited from now on.
    fn limits(&mut self, flow: u32, host: u32, speed: f64);
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
    /// Writes what it keeps.
    fn save(&self, to: &mut StateWriter);
    /// Reads it back.
    fn load(&mut self, from: &mut StateReader) -> Result<(), SimError>;
}

/// The decisions of a run's control, on so many links.
pub(super) fn policy_of(congestion: &Congestion, links: usize) -> Box<dyn Policy> {
    match &congestion.control {
        ControlKind::Qcn(qcn) => Box::new(QcnPolicy {
            qcn: qcn.clone(),
            seed: congestion.seed,
            points: vec![Point::default(); links],
            limiters: Vec::new(),
        }),
    }
}

/// QCN at all outputs and for all flows.
#[derive(Debug)]
struct QcnPolicy {
    qcn: Qcn,
    seed: u64,
    /// By link.
    points: Vec<Point>,
    /// By flow, with its host.
    limiters: Vec<(u32, Limiter)>,
}

impl QcnPolicy {
    /// Draws of an output (by link), or of a flow (behind the links).
    fn jitter(&self, of: u64) -> Jitter {
        Jitter::new(self.seed, of, self.qcn.jitter)
    }

    fn of_flow(&self, flow: u32) -> Jitter {
        self.jitter(self.points.len() as u64 + u64::from(self.limiters[flow as usize].0))
    }
}

impl Policy for QcnPolicy {
    fn samples(&mut self, link: u32, waiting: u32, wire: u16) -> Option<u8> {
        let jitter = self.jitter(u64::from(link));
        self.points[link as usize].arrives(&self.qcn, waiting, wire, jitter)
    }

    fn limits(&mut self, flow: u32, host: u32, speed: f64) {
        let limiter = (host, Limiter::new(speed));
        match self.limiters.get_mut(flow as usize) {
            Some(old) => *old = limiter,
            None => {
                debug_assert_eq!(flow as usize, self.limiters.len(), "flows are numbered without gaps");
                self.limiters.push(limiter);
            }
        }
    }

    fn is_told(&mut self, flow: u32, feedback: u8, now_ps: u64) {
        let jitter = self.of_flow(flow);
        self.limiters[flow as usize].1.is_told(&self.qcn, feedback, now_ps, jitter);
    }

    fn sends(&mut self, flow: u32, wire: u16) {
        let jitter = self.of_flow(flow);
        self.limiters[flow as usize].1.sends(&self.qcn, wire, jitter);
    }

    fn times_out(&mut self, flow: u32) {
        let jitter = self.of_flow(flow);
        self.limiters[flow as usize].1.times_out(&self.qcn, jitter);
    }

    fn rate(&self, flow: u32) -> f64 {
        self.limiters[flow as usize].1.rate()
    }

    fn timer_ps(&self, flow: u32) -> u64 {
        self.limiters[flow as usize].1.timer_ps()
    }

    fn has_recovered(&self, flow: u32) -> bool {
        self.limiters[flow as usize].1.has_recovered()
    }

    fn save(&self, to: &mut StateWriter) {
        to.put(&(&self.points, &self.limiters));
    }

    fn load(&mut self, from: &mut StateReader) -> Result<(), SimError> {
        let links = self.points.len();
        (self.points, self.limiters) = from.take()?;
        if self.points.len() == links { Ok(()) } else { Err(SimError::State) }
    }
}
