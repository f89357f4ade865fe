//! How long a short message waits behind flows.
//!
//! Max-min fair rates say where flows are held back, and in a lossless network held back means: the buffers before that place are full. So the
//! queues that a packet meets follow from rates and buffer sizes alone. A flow is *held* on a link if its bottleneck is that link or a later
//! one of its way.
//!
//! * Where output room is kept until the next admission (`Release::Admitted`): packets wait at a switch for the room of an output, in order of arrival,
//!   and are those that the links before have sent. On a link with held flows a packet waits until their share of the room of the links
//!   before has passed at the link's throughput; on a bottleneck also until the link's own output buffer has been sent.
//! * Where room is given back by sending (`Release::Sent`): a link's own output buffer and the input buffer at its far end are full if
//!   a flow is held beyond it, and a packet passes them at the link's throughput; on a bottleneck it waits for the output buffer, and takes its turn
//!   among the inputs. Without credits of its own (`head_of_line` false) packets pass those that wait.
//!
//! Buffers are full only as far as flows have filled them: what waits is never more than the flows held there can have sent beyond what has
//! arrived, so flows of few bytes, or just begun, hold up little.
//!
//! The room that a host's own link holds is not counted: its messages wait in the host's queue.

use netloom_model::{Fabric, LinkId};

use super::fair::Fair;
use crate::config::{Config, Release};

/// Waits by link, each worked out when a packet first asks after rates have changed.
#[derive(Debug)]
pub(crate) struct Queues {
    /// Room of every link's output buffer, bytes.
    room: Vec<f64>,
    /// Room of the input buffer at its far end.
    far_room: f64,
    packet: f64,
    release: Release,
    hosts: u32,
    /// Routes are in order of the way.
    ordered: bool,
    known: Vec<(u64, u64)>,
}

impl Queues {
    pub fn new(fabric: &Fabric, config: &Config, ordered: bool) -> Self {
        let room = |link: LinkId| {
            let bytes = if fabric.between_switches(link) {
                config.output_buffer_bytes
            } else {
                config.host_output_buffer_bytes
            };
            f64::from(bytes)
        };
        let far_room = config.input_buffer_bytes.filter(|_| config.head_of_line).map_or(0.0, f64::from);
        Self {
            room: fabric.links().map(room).collect(),
            far_room,
            packet: f64::from(config.wire_bytes()),
            release: config.release,
            hosts: fabric.host_count() as u32,
            ordered,
            known: vec![(u64::MAX, 0); fabric.link_count()],
        }
    }

    /// How long a packet waits before it is sent over what `resource` stands for; `settlement` changes with the rates, `backlog` is what of a
    /// flow is in the network at most, bytes.
    pub fn wait_ps(
        &mut self,
        fair: &Fair,
        resource: u32,
        settlement: u64,
        backlog: impl Fn(u32) -> f64,
    ) -> u64 {
        if resource < self.hosts || fair.on(resource).is_empty() {
            return 0;
        }
        let (known, wait_ps) = self.known[resource as usize];
        if known == settlement {
            return wait_ps;
        }
        let (bytes, held, throughput) = self.work_out(fair, resource, backlog);
        if bytes <= 0.0 || throughput <= 0.0 {
            return 0;
        }
        let wait_ps = (bytes.min(held) / throughput) as u64;
        // What is not full yet fills up while rates stay.
        if bytes <= held {
            self.known[resource as usize] = (settlement, wait_ps);
        }
        wait_ps
    }

    /// Bytes that wait before `resource` if all buffers are full, those that held flows have to fill them with, and bytes a ps.
    fn work_out(&self, fair: &Fair, resource: u32, backlog: impl Fn(u32) -> f64) -> (f64, f64, f64) {
        let (mut throughput, mut waiting) = (0.0, 0.0);
        // Flows that have their bottleneck here, and beyond.
        let (mut here, mut beyond) = (0, 0);
        let mut before = 0.0;
        for &(flow, at) in fair.on(resource) {
            throughput += fair.route(flow)[at as usize].share * fair.rate(flow);
            match self.held(fair, flow, at) {
                Some(0) => here += 1,
                Some(_) => beyond += 1,
                None => continue,
            }
            waiting += fair.route(flow)[at as usize].share * backlog(flow);
            if self.ordered && at > 0 {
                let feeder = fair.route(flow)[at as usize - 1].resource;
                let held_beyond =
                    |&&(f, k): &&(u32, u32)| self.held(fair, f, k).is_some_and(|distance| distance > 0);
                let count = fair.on(feeder).iter().filter(held_beyond).count();
                before += self.room[feeder as usize] / count.max(1) as f64;
            }
        }
        if here + beyond == 0 {
            return (0.0, 0.0, throughput);
        }
        let own = self.room[resource as usize];
        let bytes = match (self.release, here > 0) {
            (Release::Admitted, true) => before + own,
            (Release::Admitted, false) => before,
            (Release::Sent, true) => own + self.packet * f64::from(here - 1),
            (Release::Sent, false) if self.far_room > 0.0 => own + self.far_room,
            (Release::Sent, false) => 0.0,
        };
        (bytes, waiting, throughput)
    }

    /// How many links further on a flow's bottleneck is.
    fn held(&self, fair: &Fair, flow: u32, at: u32) -> Option<u32> {
        let bottleneck = fair.bottleneck(flow);
        let route = fair.route(flow);
        // By its adapter's window: nothing waits in the network.
        if bottleneck as usize >= self.room.len() {
            return None;
        }
        if !self.ordered {
            return (route[at as usize].resource == bottleneck).then_some(0);
        }
        (at..route.len() as u32).find(|&k| route[k as usize].resource == bottleneck).map(|k| k - at)
    }
}
