//! What the network's hardware does: buffers, delays and arbitration.
//!
//! The two frozen sets of numbers are in `profile`: [`Config::infiniband`], the default, and [`Config::codes`].
//!
//! Units: bytes and picoseconds.

use std::sync::Arc;

use netloom_model::{Fabric, LinkId};

use crate::SimError;
use crate::congestion::Congestion;
use netloom_model::LaneMap;

/// When a switch may pass a packet on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarding {
    /// When all of it has arrived.
    StoreAndForward,
    /// When its head has arrived.
    CutThrough,
}

/// What gives a packet's room in an output buffer free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Its tail has left for the cable.
    Sent,
    /// The next switch's output buffer has taken it (or its host), and word of that has come back.
    Admitted,
}

/// Which of the packets that wait for room in an output buffer gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The one that came first.
    InOrder,
    /// Input ports in turn.
    RoundRobin,
}

/// Which of its messages a host's adapter serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injection {
    /// One after another, as they were posted.
    InOrder,
    /// Receivers in turn, a packet each: messages to one come in the order in which they were posted, as on a reliable connection. (One of a
    /// single packet is sent in its turn of posting.)
    RoundRobin,
    /// A packet of each message in turn: a short one overtakes a long one to the same receiver, which MPI forbids.
    RoundRobinMessages,
}

impl Injection {
    /// Whether the next packet is another message's.
    pub(crate) fn rotates(self) -> bool {
        self != Self::InOrder
    }
}

/// The hardware of all switches and adapters.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Largest payload of a packet, bytes.
    pub packet_bytes: u32,
    /// What a packet carries besides its payload, bytes on the wire.
    pub header_bytes: u32,
    /// When packets are passed on.
    pub forwarding: Forwarding,
    /// Virtual lanes for data, 1 to 15.
    pub lanes: u8,
    /// Room of an input buffer per lane, bytes on the wire; a sender needs credits for it. `None`: senders
    /// never look downstream.
    pub input_buffer_bytes: Option<u32>,
    /// Room of an output buffer between switches, per lane.
    pub output_buffer_bytes: u32,
    /// Room of an output buffer towards a host, and of a host's adapter, per lane.
    pub host_output_buffer_bytes: u32,
    /// What gives output room free.
    pub release: Release,
    /// Whether a packet that waits for its output holds up those that came behind it on its input and lane.
    pub head_of_line: bool,
    /// Who gets room in an output buffer.
    pub admission: Admission,
    /// Who leaves a host.
    pub injection: Injection,
    /// From the arrival of a packet's head (cut-through) or tail (store-and-forward) at a switch until it may leave.
    pub switch_delay_ps: u64,
    /// One way through a cable.
    pub cable_delay_ps: u64,
    /// Bytes that a credit takes on the (otherwise unused) way back; their time at the link's speed adds to the cable's.
    pub credit_bytes: u32,
    /// What each lane of a link may send before the next one's turn, in units of 64 bytes on the wire, 1 to 255; a packet that has begun is
    /// finished. Empty: a packet each. InfiniBand's arbitration table (IBA volume 1, sec. 7.6.9) with one entry a lane and no
    /// second table of high priority.
    pub lane_weights: Vec<u8>,
    /// SL-to-VL tables. `None`: packets stay on the lane of their service level's number.
    pub lane_map: Option<Arc<LaneMap>>,
    /// One way through each directed link's cable, in place of `cable_delay_ps`.
    pub cable_delays_ps: Option<Arc<[u64]>>,
    /// Each switch's delay, in place of `switch_delay_ps`.
    pub switch_delays_ps: Option<Arc<[u64]>>,
    /// Congestion control of end points. A run with one is simulated in one partition.
    pub congestion: Option<Congestion>,
    /// Every packet of data is answered with a header, and an adapter sends no more packets than these without an answer. `None`: nothing is
    /// answered. A run with answers is simulated in one partition.
    pub window_packets: Option<u32>,
}

/// Bytes of a flit, in which adapters count.
pub const FLIT_BYTES: u16 = 16;

impl Config {
    /// One way through a link's cable, ps.
    pub(crate) fn cable_ps(&self, link: LinkId) -> u64 {
        self.cable_delays_ps.as_ref().map_or(self.cable_delay_ps, |delays| delays[link.index()])
    }

    /// From a packet's leaving over `link` until its head is at the far end, ps: the switch that it leaves, and the cable.
    pub(crate) fn delay_ps(&self, fabric: &Fabric, link: LinkId) -> u64 {
        let switch = fabric.link_from_switch(link).map_or(0, |switch| match &self.switch_delays_ps {
            Some(delays) => delays[switch.index()],
            None => self.switch_delay_ps,
        });
        self.cable_ps(link) + switch
    }

    /// Whether a run must be simulated in one partition.
    pub(crate) fn is_whole(&self) -> bool {
        self.congestion.is_some() || self.window_packets.is_some()
    }

    /// Refuses hardware that can't work, or is that of another fabric.
    ///
    /// # Errors
    /// [`SimError::Config`], as [`Config::check`].
    pub(crate) fn check_for(&self, fabric: &Fabric) -> Result<(), SimError> {
        self.check()?;
        let fits = |delays: &Option<Arc<[u64]>>, count| delays.as_ref().is_none_or(|d| d.len() == count);
        let refuse = |what, count| Err(SimError::Config { what, expected: format!("{count} numbers") });
        if !fits(&self.cable_delays_ps, fabric.link_count()) {
            return refuse("cable_delays_ps", fabric.link_count());
        }
        if !fits(&self.switch_delays_ps, fabric.switch_count()) {
            return refuse("switch_delays_ps", fabric.switch_count());
        }
        // A packet carries its time on the wire in 32 bits of ps.
        let slowest =
            fabric.links().map(|link| fabric.bandwidth_bytes_per_s(link)).fold(f64::INFINITY, f64::min);
        let most = slowest * f64::from(u32::MAX) * 1e-12;
        if f64::from(self.wire_bytes()) >= most {
            let expected = format!("below {most:.0} with headers, on links as slow as here");
            return Err(SimError::Config { what: "packet_bytes", expected });
        }
        // What can wait for one output, from all inputs and lanes, and lie in its buffers is counted in 32 bits.
        let most = u32::MAX / (u32::from(fabric.max_radix()) + 2) / u32::from(self.lanes);
        let buffers = [self.output_buffer_bytes, self.host_output_buffer_bytes];
        if self.input_buffer_bytes.into_iter().chain(buffers).any(|bytes| bytes > most) {
            let expected = format!("at most {most} with so many ports and lanes");
            return Err(SimError::Config { what: "input_buffer_bytes, output_buffer_bytes", expected });
        }
        Ok(())
    }

    /// Most that can wait for one output, bytes. An output sees what has been sorted to it: of an input whose first packet holds up
    /// the others that packet alone.
    pub fn most_waiting_bytes(&self, fabric: &Fabric) -> u64 {
        let of_input = match (self.head_of_line, self.input_buffer_bytes) {
            (true, _) | (false, None) => self.wire_bytes(),
            (false, Some(bytes)) => bytes,
        };
        let output = self.output_buffer_bytes.max(self.host_output_buffer_bytes);
        // As many inputs as the switch with most cables has.
        let inputs = fabric.switches().map(|switch| fabric.switch_links(switch).len()).max().unwrap_or(0);
        (inputs as u64 * u64::from(of_input) + u64::from(output)) * u64::from(self.lanes)
    }

    /// Largest packet on the wire, bytes.
    pub fn wire_bytes(&self) -> u32 {
        self.packet_bytes + self.header_bytes
    }

    /// Refuses hardware that can't work.
    ///
    /// # Errors
    /// [`SimError::Config`] names the parameter and what it must be.
    pub fn check(&self) -> Result<(), SimError> {
        if let Some(congestion) = &self.congestion {
            congestion.check()?;
        }
        let wire = self.wire_bytes();
        let refuse = |what: &'static str, expected: String| Err(SimError::Config { what, expected });
        if let Some(packets) = self.window_packets {
            if packets == 0 {
                return refuse("window_packets", "at least 1".into());
            }
            if self.header_bytes == 0 {
                return refuse("header_bytes", "above 0 with window_packets: a response is a header".into());
            }
            if self.congestion.is_some() {
                return refuse("window_packets", "none with a congestion control".into());
            }
        }
        if self.packet_bytes == 0 || wire > u32::from(u16::MAX) {
            return refuse("packet_bytes", format!("at least 1, and {} with headers", u16::MAX));
        }
        if !(1..=15).contains(&self.lanes) {
            return refuse("lanes", "1 to 15".into());
        }
        let buffers = [
            ("input_buffer_bytes", self.input_buffer_bytes.unwrap_or(wire)),
            ("output_buffer_bytes", self.output_buffer_bytes),
            ("host_output_buffer_bytes", self.host_output_buffer_bytes),
        ];
        for (what, bytes) in buffers {
            if bytes < wire || bytes > i32::MAX as u32 {
                return refuse(
                    what,
                    format!("at least one packet with its headers ({wire} bytes), below 2 GiB"),
                );
            }
        }
        if self.input_buffer_bytes.is_none() && self.release == Release::Sent {
            return refuse(
                "input_buffer_bytes",
                "a number, unless output room is kept until admission".into(),
            );
        }
        let weights = &self.lane_weights;
        if !weights.is_empty() && (weights.len() != usize::from(self.lanes) || weights.contains(&0)) {
            return refuse("lane_weights", format!("{} numbers from 1 to 255, one a lane", self.lanes));
        }
        if let Some(map) = &self.lane_map
            && map.lanes() > self.lanes
        {
            return refuse("lanes", format!("at least {}, as many as the SL-to-VL tables use", map.lanes()));
        }
        let own = self.cable_delays_ps.iter().flat_map(|delays| delays.iter());
        if own.copied().min().unwrap_or(self.cable_delay_ps) == 0 && self.credit_bytes == 0 {
            return refuse("credit_bytes", "above 0 where cables take no time".into());
        }
        let most = 1_000_000_000_000;
        let own = [&self.cable_delays_ps, &self.switch_delays_ps];
        let longest = own.into_iter().flatten().flat_map(|delays| delays.iter()).max().copied().unwrap_or(0);
        if self.switch_delay_ps.max(self.cable_delay_ps).max(longest) > most {
            return refuse("switch_delay_ps, cable_delay_ps", "at most a second".into());
        }
        Ok(())
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::infiniband()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_below_one_packet_is_refused_by_name() {
        let config = Config { output_buffer_bytes: 4_000, ..Config::infiniband() };
        let message = config.check().unwrap_err().to_string();
        assert!(message.contains("output_buffer_bytes") && message.contains("4122"), "{message}");
    }
}
