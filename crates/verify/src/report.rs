//! What a check found.

use netloom_model::LinkId;
use serde::{Deserialize, Serialize};

/// The kinds of findings, most serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FindingKind {
    /// An address that a host cannot reach.
    Unreachable,
    /// A switch's own address that a host cannot reach because no up*/down* way leads there: ordinary engines leave
    /// the same out.
    NoWayToSwitch,
    /// A forwarding loop (also counted as unreachable).
    Loop,
    /// A cycle of channels that wait for each other.
    CreditLoop,
    /// The same among lanes, closed only by packets to switches' own addresses.
    SwitchCreditLoop,
    /// A table without an entry for an address that it could reach.
    MissingEntry,
    /// An entry that leads nowhere sensible.
    InvalidEntry,
    /// A path longer than the shortest that goes up (or sideways) after it went down.
    UpDown,
    /// A path longer than the shortest.
    NonMinimal,
    /// The same where no up*/down* path is shorter.
    Detour,
}

impl FindingKind {
    /// The kind as files and tables spell it.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Unreachable => "unreachable",
            FindingKind::NoWayToSwitch => "no-way-to-switch",
            FindingKind::Loop => "loop",
            FindingKind::CreditLoop => "credit-loop",
            FindingKind::SwitchCreditLoop => "switch-credit-loop",
            FindingKind::MissingEntry => "missing-entry",
            FindingKind::InvalidEntry => "invalid-entry",
            FindingKind::UpDown => "up-down",
            FindingKind::NonMinimal => "non-minimal",
            FindingKind::Detour => "detour",
        }
    }
}

/// One example of something wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind of thing.
    pub kind: FindingKind,
    /// One line for people, with names.
    pub text: String,
    /// It is about a switch's own address: management's, not the hosts'.
    pub management: bool,
}

/// The result of [`check`](crate::check()).
///
/// An *address* is a LID: `2^lmc` for a host, one for a switch. *Pairs* are (sending host, address of another host);
/// with routes that choose the way up by the source, switch addresses are not checked (no table says them).
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CheckReport {
    /// Pairs of a host and an address of another host: all were checked.
    pub pairs: u64,
    /// Pairs, and (host, switch address) besides, where a packet does not arrive; loops included.
    pub unreachable_pairs: u64,
    /// Those of them that are pairs of a host and a switch's own address.
    pub unreachable_management: u64,
    /// Those of the last to which no up*/down* way leads: no engine that is free of deadlocks need reach them.
    pub no_way_to_switch: u64,
    /// Pairs of hosts, by address, that no working cables join: no routes can.
    pub severed_pairs: u64,
    /// Pairs whose path is longer than the shortest over working links.
    pub non_minimal_pairs: u64,
    /// Those of them for which no up*/down* path is shorter.
    pub detours: u64,
    /// Groups of channels (strongly connected components of the channel dependency graph of what hosts send) that can
    /// wait for each other in a cycle; 0 means free of deadlock. A channel is a link, or a lane of a link where there are
    /// lanes and links alone have cycles. Packets to switches' own addresses count too, unless pairs of hosts have levels.
    pub credit_loops: u64,
    /// Where pairs of hosts have levels and the groups above are none: such groups with packets to switches' own addresses, on level
    /// 0. Told, but no fault: OpenSM's engines that use lanes have the same.
    pub switch_credit_loops: u64,
    /// Lanes that were told apart: 1 where links alone are free of cycles, or there are no lanes.
    pub lanes: u8,
    /// A shortest cycle of the first such group: each waits for the next, the last for the first.
    pub cycle: Vec<(LinkId, u8)>,
    /// Entries that are absent although an up*/down* path leads from the switch to the address.
    pub missing_entries: u64,
    /// Entries with a port above the radix, nothing cabled, a dead cable, a host that is not the destination, or port 0
    /// for somebody else (and any other port for the switch itself). Switches without a working link are off and not
    /// looked at.
    pub invalid_entries: u64,
    /// Pairs whose path is longer than the shortest, and goes up after it went down or uses a link between switches of one level; none
    /// where the shape is no tree, as levels are a guess there. A shortest path does no harm by itself: only credit loops do.
    pub up_down_violations: u64,
    /// Pairs whose path does the same and is shortest, or in a fabric that is no tree: no fault, but nothing that only up*/down* paths have
    /// may be said of these tables.
    pub shortest_turns: u64,
    /// The first few of each kind, in order of kind, then destination; one whole credit loop.
    pub findings: Vec<Finding>,
}

impl CheckReport {
    /// Pairs of hosts, by address, that working cables join and these routes do not.
    pub fn holes(&self) -> u64 {
        self.unreachable_pairs - self.unreachable_management - self.severed_pairs
    }

    /// Whether nothing was found that other tables would do better: hosts reach all addresses to which a way leads, by
    /// shortest up*/down* ways or shorter ones, free of deadlock.
    pub fn ok(&self) -> bool {
        self.unreachable_pairs == self.no_way_to_switch
            && self.non_minimal_pairs == self.detours
            && self.credit_loops == 0
            && self.missing_entries == 0
            && self.invalid_entries == 0
            && self.up_down_violations == 0
    }
}
