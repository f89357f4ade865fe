//! What the hardware does, as far as it has machine code of its own.
//!
//! There is hardly a step of a packet that does not ask how many lanes there are or who needs credits. For the two profiles the answers
//! are constants, and the questions cost nothing; any other hardware answers while it runs. What happens is the same.

use serde::{Deserialize, Serialize};

use crate::config::{Admission, Config, Forwarding, Release};

/// What steps of a packet ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Features {
    /// There is one lane, without tables of lanes.
    pub one_lane: bool,
    /// Credits are for room in output buffers, and senders need none (else for room in input buffers).
    pub credits_out: bool,
    pub head_of_line: bool,
    pub cut_through: bool,
    /// Input ports are admitted in turn.
    pub in_turn: bool,
    /// Every input holds one packet that waits on a lane, which bits of ports tell; see `switch::inputs`.
    pub by_place: bool,
    /// Packets are sent ahead of time; see `engine`.
    pub ahead: bool,
    /// There is a congestion control of end points; see `control`.
    pub control: bool,
    /// Packets are answered, and adapters have a window; see `host::responses`.
    pub responds: bool,
}

impl Features {
    /// Inputs are admitted in turn, and may hold many packets that wait; see `switch::queues`.
    #[inline(always)]
    pub fn by_input(self) -> bool {
        self.in_turn && !self.head_of_line
    }

    pub fn of(config: &Config, ahead: bool) -> Self {
        Self {
            one_lane: config.lanes == 1 && config.lane_map.is_none(),
            credits_out: config.release == Release::Admitted,
            head_of_line: config.head_of_line,
            cut_through: config.forwarding == Forwarding::CutThrough,
            in_turn: config.admission == Admission::RoundRobin,
            by_place: config.head_of_line
                && config.admission == Admission::RoundRobin
                && config.lane_map.is_none(),
            ahead,
            control: config.congestion.is_some(),
            responds: config.window_packets.is_some(),
        }
    }
}

/// Hardware that machine code is made for.
pub(crate) trait Hardware {
    /// `None`: known when it runs.
    const KNOWN: Option<Features>;
}

/// Any.
pub(crate) struct Any;

/// [`Config::codes`].
pub(crate) struct Codes;

/// [`Config::infiniband`].
pub(crate) struct InfiniBand;

/// [`Config::infiniband`] where waiting packets may move, so that none is sent ahead of time.
pub(crate) struct Moving;

impl Hardware for Any {
    const KNOWN: Option<Features> = None;
}

impl Hardware for Codes {
    const KNOWN: Option<Features> = Some(Features {
        one_lane: true,
        credits_out: true,
        head_of_line: false,
        cut_through: false,
        in_turn: false,
        by_place: false,
        ahead: true,
        control: false,
        responds: false,
    });
}

impl Hardware for InfiniBand {
    const KNOWN: Option<Features> = Some(Features {
        one_lane: true,
        credits_out: false,
        head_of_line: true,
        cut_through: true,
        in_turn: true,
        by_place: true,
        ahead: true,
        control: false,
        responds: false,
    });
}

impl Hardware for Moving {
    const KNOWN: Option<Features> = match InfiniBand::KNOWN {
        Some(features) => Some(Features { ahead: false, ..features }),
        None => None,
    };
}

/// [`Config::infiniband`] whose inputs hold many packets that wait, as Ethernet's queues by output do.
pub(crate) struct Deep;

/// The same with a congestion control.
pub(crate) struct Managed;

impl Hardware for Deep {
    const KNOWN: Option<Features> = match InfiniBand::KNOWN {
        Some(features) => Some(Features { head_of_line: false, by_place: false, ..features }),
        None => None,
    };
}

impl Hardware for Managed {
    const KNOWN: Option<Features> = match Deep::KNOWN {
        Some(features) => Some(Features { ahead: false, control: true, ..features }),
        None => None,
    };
}

/// [`Config::infiniband`] with several lanes.
pub(crate) struct Lanes;

/// The same where the routing scheme chooses among them.
pub(crate) struct ChosenLanes;

impl Hardware for Lanes {
    const KNOWN: Option<Features> = match Moving::KNOWN {
        Some(features) => Some(Features { one_lane: false, ..features }),
        None => None,
    };
}

impl Hardware for ChosenLanes {
    const KNOWN: Option<Features> = match Lanes::KNOWN {
        Some(features) => Some(Features { by_place: false, ..features }),
        None => None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::{Congestion, ControlKind, Qcn};

    /// Else the profiles would run, but slowly.
    #[test]
    fn the_profiles_have_their_machine_code() {
        assert_eq!(Codes::KNOWN, Some(Features::of(&Config::codes(), true)));
        assert_eq!(InfiniBand::KNOWN, Some(Features::of(&Config::infiniband(), true)));
        assert_eq!(Moving::KNOWN, Some(Features::of(&Config::infiniband(), false)));
        let deep = Config { head_of_line: false, ..Config::infiniband() };
        assert_eq!(Deep::KNOWN, Some(Features::of(&deep, true)));
        let managed =
            Config { congestion: Some(Congestion::new(ControlKind::Qcn(Qcn::default()), 1)), ..deep };
        assert_eq!(Managed::KNOWN, Some(Features::of(&managed, false)));
        let lanes = Config { lanes: 2, ..Config::infiniband() };
        assert_eq!(Lanes::KNOWN, Some(Features::of(&lanes, false)));
    }
}
