//! Which control a run has; QCN at all outputs and for all flows.

use super::dcqcn::DcqcnPolicy;
use super::ib_cc::IbPolicy;
use super::jitter::Jitter;
use super::policy::{Output, Policy, Sign, Wires, put};
use super::qcn::{Limiter, Point};
use crate::SimError;
use crate::congestion::{Congestion, ControlKind, Qcn};
use crate::state_codec::{StateReader, StateWriter};

/// The decisions of a run's control, on such a network.
pub(super) fn policy_of(congestion: &Congestion, wires: Wires) -> Box<dyn Policy> {
    match &congestion.control {
        ControlKind::Qcn(qcn) => Box::new(QcnPolicy {
            qcn: qcn.clone(),
            seed: congestion.seed,
            points: vec![Point::default(); wires.ports.len()],
            to_host: wires.to_host,
            limiters: Vec::new(),
        }),
        ControlKind::IbCc(numbers) => Box::new(IbPolicy::new(numbers, congestion, wires)),
        ControlKind::Dcqcn(numbers) => {
            Box::new(DcqcnPolicy::new(numbers, congestion.seed, wires.ports.len()))
        }
    }
}

/// QCN at all outputs and for all flows.
#[derive(Debug)]
struct QcnPolicy {
    qcn: Qcn,
    seed: u64,
    /// By link: whether it leads to a host, and its congestion point.
    to_host: Vec<bool>,
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
    fn comes(&mut self, Output { link, waiting, .. }: Output, wire: u16) -> Sign {
        let jitter = self.jitter(u64::from(link));
        let to_host = self.to_host[link as usize];
        let setpoint = self.qcn.host_setpoint_bytes.filter(|_| to_host).unwrap_or(self.qcn.setpoint_bytes);
        match self.points[link as usize].arrives(&self.qcn, (waiting, setpoint), wire, jitter) {
            None => Sign::Nothing,
            Some(0) => Sign::Looked,
            Some(feedback) => Sign::Told(feedback),
        }
    }

    fn limits(&mut self, flow: u32, host: u32, speed: f64, _now_ps: u64) {
        put(&mut self.limiters, flow, (host, Limiter::new(speed)));
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
