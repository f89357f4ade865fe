//! What a congestion control has done in a run.

use netloom_model::{Fabric, HostId, LinkId};

use super::queues::{NONE, levels};
use super::snooped::{Reordering, Snooped};

/// Outputs of one level and direction under a control.
#[derive(Clone, Debug, PartialEq)]
pub struct ManagedQueue {
    /// As for sampled queues: `level 0 up`.
    pub name: String,
    /// Outputs.
    pub links: usize,
    /// Mean over them and over time of what waits, bytes.
    pub mean_bytes: f64,
    /// The mean over time of the output with the largest, bytes.
    pub longest_mean_bytes: f64,
    /// That output.
    pub link: Option<LinkId>,
    /// Most that waited for one, bytes.
    pub max_bytes: u32,
    /// Packets that they marked, or told sources of.
    pub marked: u64,
}

/// What waited for one output, and what it marked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ManagedOutput {
    /// Mean over time, bytes.
    pub mean_bytes: f64,
    /// Most, bytes.
    pub max_bytes: u32,
    /// Packets that it marked, or told sources of.
    pub marked: u32,
}

/// What one host received of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRow {
    /// Its source.
    pub from: HostId,
    /// Its destination.
    pub to: HostId,
    /// Payload, bytes.
    pub bytes: u64,
}

/// What a congestion control has done. Queues and flows are those of the measured time.
#[derive(Clone, Debug, PartialEq)]
pub struct Managed {
    /// Its name.
    pub control: &'static str,
    /// Packets that joined outputs of switches.
    pub packets: u64,
    /// Those that an output looked at: samples, or packets that met a queue above a threshold.
    pub samples: u64,
    /// Packets that were marked, or were samples that made a notification.
    pub marked: u64,
    /// Notifications to sources.
    pub notices: u64,
    /// Notifications that a host heard: each cut a rate, where limiters are on.
    pub cuts: u64,
    /// Most rate limiters at one time.
    pub most_limiters: u64,
    /// Mean index into the table of waits, over flows that sent and over time; `None` for a control without a table.
    pub mean_index: Option<f64>,
    /// Time in which a host held messages back, added over hosts, ps.
    pub held_ps: u128,
    /// Time that was measured, ps.
    pub measured_ps: u64,
    /// By link.
    pub outputs: Vec<ManagedOutput>,
    /// What was received, by destination, then source.
    pub flows: Vec<FlowRow>,
    /// What switches that listen to notifications have done; `None` where none does.
    pub snooped: Option<Snooped>,
    /// Packets that were overtaken; `None` where none can be.
    pub reordering: Option<Reordering>,
}

impl Managed {
    /// What waited, by level and direction of outputs.
    pub fn queues(&self, fabric: &Fabric) -> Vec<ManagedQueue> {
        let (of_link, levels) = levels(fabric);
        let mut queues: Vec<ManagedQueue> = levels
            .into_iter()
            .map(|level| ManagedQueue {
                name: level.name,
                links: level.links,
                mean_bytes: 0.0,
                longest_mean_bytes: 0.0,
                link: None,
                max_bytes: 0,
                marked: 0,
            })
            .collect();
        for (link, output) in self.outputs.iter().enumerate() {
            if of_link[link] == NONE {
                continue;
            }
            let (queue, mean) = (&mut queues[usize::from(of_link[link])], output.mean_bytes);
            queue.mean_bytes += mean / queue.links as f64;
            queue.max_bytes = queue.max_bytes.max(output.max_bytes);
            queue.marked += u64::from(output.marked);
            if mean > queue.longest_mean_bytes {
                (queue.longest_mean_bytes, queue.link) = (mean, Some(LinkId(link as u32)));
            }
        }
        queues
    }

    /// Payload a second of the flows whose source is in `from`: least, mean and most; `None` without flows or time.
    pub fn flow_bytes_per_s(&self, from: impl Fn(HostId) -> bool) -> Option<[f64; 3]> {
        let rate = |bytes: u64| bytes as f64 * 1e12 / self.measured_ps as f64;
        let rates: Vec<f64> =
            self.flows.iter().filter(|flow| from(flow.from)).map(|flow| rate(flow.bytes)).collect();
        let (least, most) = rates.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &r| (a.min(r), b.max(r)));
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        (self.measured_ps > 0 && !rates.is_empty()).then_some([least, mean, most])
    }

    /// Jain's index of the flows whose source is in `from`: 1 if all had the same, 1/n if one had all; `None` without flows.
    pub fn fairness(&self, from: impl Fn(HostId) -> bool) -> Option<f64> {
        let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for flow in self.flows.iter().filter(|flow| from(flow.from)) {
            let bytes = flow.bytes as f64;
            n += 1.0;
            sum += bytes;
            squares += bytes * bytes;
        }
        (squares > 0.0).then(|| sum * sum / (n * squares))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_jains_index() {
        let flow = |from: u32, bytes| FlowRow { from: HostId(from), to: HostId(9), bytes };
        let managed = Managed {
            control: "qcn",
            packets: 0,
            samples: 0,
            marked: 0,
            notices: 0,
            cuts: 0,
            most_limiters: 0,
            mean_index: None,
            held_ps: 0,
            measured_ps: 1_000_000_000_000,
            outputs: Vec::new(),
            flows: vec![flow(0, 10), flow(1, 10), flow(2, 0)],
            snooped: None,
            reordering: None,
        };
        assert_eq!(managed.fairness(|host| host.0 < 2), Some(1.0));
        assert_eq!(managed.fairness(|_| true), Some(400.0 / 600.0));
        assert_eq!(managed.fairness(|host| host.0 == 2), None);
        assert_eq!(managed.flow_bytes_per_s(|host| host.0 > 0), Some([0.0, 5.0, 10.0]));
    }
}
