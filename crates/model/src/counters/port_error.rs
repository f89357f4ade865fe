//! Counters of what went wrong at a port.
//!
//! Source: InfiniBand Architecture Specification, vol. 1, sec. 16.1 (PortCounters, PortCountersExtended). Names are the specification's, as
//! `perfquery` and ibdiagnet print them; other tools spell the same ones their way ([`PortError::find`]).

use serde::{Deserialize, Serialize};

/// What a port counts beside data, packets and waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PortError {
    /// Bits that were wrong on the wire.
    SymbolErrors,
    /// The link was trained again, and came back.
    LinkRecoveries,
    /// The link was trained again and did not come back at once: it was down.
    LinkDowned,
    /// Packets that came in spoilt.
    ReceiveErrors,
    /// Packets that came in marked as spoilt by somebody before.
    RemotePhysicalErrors,
    /// Packets that a switch could not pass on.
    SwitchRelayErrors,
    /// Packets that were thrown away instead of sent: the port was down, or they had waited too long.
    TransmitDiscards,
    /// Packets that partitions keep from being sent.
    TransmitConstraintErrors,
    /// Packets that partitions keep from being received.
    ReceiveConstraintErrors,
    /// The rate of spoilt packets was above the port's threshold.
    LinkIntegrityErrors,
    /// Packets came in for which there was no credit.
    BufferOverruns,
    /// Packets of subnet management that found no room.
    Vl15Dropped,
}

impl PortError {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::SymbolErrors,
        Self::LinkRecoveries,
        Self::LinkDowned,
        Self::ReceiveErrors,
        Self::RemotePhysicalErrors,
        Self::SwitchRelayErrors,
        Self::TransmitDiscards,
        Self::TransmitConstraintErrors,
        Self::ReceiveConstraintErrors,
        Self::LinkIntegrityErrors,
        Self::BufferOverruns,
        Self::Vl15Dropped,
    ];

    /// Its names: the specification's, old releases' of `perfquery`, Linux' file, and what treydock's exporter and Prometheus'
    /// `node_exporter` have between prefix and `_total`.
    fn names(self) -> [&'static str; 5] {
        match self {
            Self::SymbolErrors => {
                ["SymbolErrorCounter", "SymbolErrors", "symbol_error", "symbol_error", "symbol_error"]
            }
            Self::LinkRecoveries => [
                "LinkErrorRecoveryCounter",
                "LinkRecovers",
                "link_error_recovery",
                "link_error_recovery",
                "link_error_recovery",
            ],
            Self::LinkDowned => {
                ["LinkDownedCounter", "LinkDowned", "link_downed", "link_downed", "link_downed"]
            }
            Self::ReceiveErrors => {
                ["PortRcvErrors", "RcvErrors", "port_rcv_errors", "receive_error", "port_errors_received"]
            }
            Self::RemotePhysicalErrors => [
                "PortRcvRemotePhysicalErrors",
                "RcvRemotePhysErrors",
                "port_rcv_remote_physical_errors",
                "receive_remote_physical_error",
                "port_receive_remote_physical_errors",
            ],
            Self::SwitchRelayErrors => [
                "PortRcvSwitchRelayErrors",
                "RcvSwRelayErrors",
                "port_rcv_switch_relay_errors",
                "receive_switch_relay_error",
                "port_receive_switch_relay_errors",
            ],
            Self::TransmitDiscards => [
                "PortXmitDiscards",
                "XmtDiscards",
                "port_xmit_discards",
                "transmit_discard",
                "port_discards_transmitted",
            ],
            Self::TransmitConstraintErrors => [
                "PortXmitConstraintErrors",
                "XmtConstraintErrors",
                "port_xmit_constraint_errors",
                "transmit_constraint_error",
                "port_constraint_errors_transmitted",
            ],
            Self::ReceiveConstraintErrors => [
                "PortRcvConstraintErrors",
                "RcvConstraintErrors",
                "port_rcv_constraint_errors",
                "receive_constraint_error",
                "port_constraint_errors_received",
            ],
            Self::LinkIntegrityErrors => [
                "LocalLinkIntegrityErrors",
                "LinkIntegrityErrors",
                "local_link_integrity_errors",
                "local_link_integrity_error",
                "local_link_integrity_errors",
            ],
            Self::BufferOverruns => [
                "ExcessiveBufferOverrunErrors",
                "ExcBufOverrunErrors",
                "excessive_buffer_overrun_errors",
                "excessive_buffer_overrun_error",
                "excessive_buffer_overrun_errors",
            ],
            Self::Vl15Dropped => {
                ["VL15Dropped", "VL15Dropped", "VL15_dropped", "vl15_dropped", "vl15_dropped"]
            }
        }
    }

    /// Bits of the narrow counter (PortCounters), which stands still when it is full.
    pub fn bits(self) -> u32 {
        match self {
            Self::LinkIntegrityErrors | Self::BufferOverruns => 4,
            Self::LinkRecoveries
            | Self::LinkDowned
            | Self::TransmitConstraintErrors
            | Self::ReceiveConstraintErrors => 8,
            _ => 16,
        }
    }

    /// The specification's name: `SymbolErrorCounter`.
    pub fn name(self) -> &'static str {
        self.names()[0]
    }

    /// By any of its names, in any case, with or without a final `s`: a name means the same in all the tools.
    pub fn find(name: &str) -> Option<Self> {
        let bare = |name: &str| name.strip_suffix('s').unwrap_or(name).to_ascii_lowercase();
        let wanted = bare(name);
        Self::ALL.into_iter().find(|error| error.names().iter().any(|known| bare(known) == wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_tools_lead_to_one_error_each() {
        for error in PortError::ALL {
            for name in error.names() {
                assert_eq!(PortError::find(name), Some(error), "{name}");
            }
        }
        assert_eq!(PortError::find("symbolerrorcounter"), Some(PortError::SymbolErrors));
        assert_eq!(PortError::find("transmit_discards"), Some(PortError::TransmitDiscards));
        for other in ["PortXmitData", "", "s", "QP1Dropped", "PortXmitWait"] {
            assert_eq!(PortError::find(other), None, "{other}");
        }
    }
}
