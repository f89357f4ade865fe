//! What the network's hardware does: buffers, delays and arbitration.
//!
//! The two frozen sets of numbers are in `profile`: [`Config::infiniband`], the default, and [`Config::codes`].
//!
//! Units: bytes and picoseconds.

use crate::SimError;

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
    /// A packet of each in turn.
    RoundRobin,
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
}

impl Config {
    /// Largest packet on the wire, bytes.
    pub fn wire_bytes(&self) -> u32 {
        self.packet_bytes + self.header_bytes
    }

    /// Refuses hardware that can't work.
    ///
    /// # Errors
    /// [`SimError::Config`] names the parameter and what it must be.
    pub fn check(&self) -> Result<(), SimError> {
        let wire = self.wire_bytes();
        let refuse = |what: &'static str, expected: String| Err(SimError::Config { what, expected });
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
        if self.cable_delay_ps == 0 && self.credit_bytes == 0 {
            return refuse("credit_bytes", "above 0 where cables take no time".into());
        }
        let most = 1_000_000_000_000;
        if self.switch_delay_ps > most || self.cable_delay_ps > most {
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
