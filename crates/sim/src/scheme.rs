//! The routing schemes of the switches: the one list of them, their names, and the way from a name to machine code.
//!
//! A new scheme is a file in `packet/choice` with its `mod` line there, and a variant of [`PerPacket`] here. Scenarios, the binding and
//! the command line read [`PerPacket::ALL`]; whoever runs a scheme asks [`Scheme::visit`], so each has machine code of its own.

use std::num::NonZeroU32;

use netloom_model::{Fabric, Lft, PathChoice, Routes};
use netloom_routing::{PathSet, Steering};

use crate::SimError;
use crate::mode::{Mode, Modes};
use crate::packet::choice::sees::{ALL, NOTHING, OWN};
use crate::packet::choice::{
    Adaptive, AdaptiveRemote, ByMode, ByTable, Choice, Hashed, RandomPerPacket, Snooping, Steer,
};
use crate::steered::{SteerOptions, Steered};

/// Schemes without tables: every switch chooses among minimal outputs, packet by packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PerPacket {
    /// The least loaded minimal output, by what the switch itself knows.
    Adaptive,
    /// The same with what the next switches know.
    AdaptiveRemote,
    /// A random minimal output for every packet.
    Random,
}

impl PerPacket {
    /// All of them, in the order lists show them.
    pub const ALL: [Self; 3] = [Self::Adaptive, Self::AdaptiveRemote, Self::Random];

    /// As scenarios and the command line spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::AdaptiveRemote => "adaptive-remote",
            Self::Random => "random-per-packet",
        }
    }

    /// One line on what it does.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Adaptive => "the least loaded minimal output, by what the switch itself knows",
            Self::AdaptiveRemote => {
                "the least loaded minimal output, counting the queues of the next switches"
            }
            Self::Random => "a random minimal output for every packet",
        }
    }

    /// The scheme of that name, spelt as [`PerPacket::name`] spells it.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.name() == name)
    }
}

/// How switches choose outputs.
#[derive(Clone, Copy, Debug)]
pub enum Scheme<'a> {
    /// By forwarding tables; senders pick among a host's addresses as the routes say.
    Tables(&'a Routes),
    /// Packet by packet, among minimal paths.
    PerPacket(PerPacket, &'a PathSet),
    /// Flow by flow, among minimal paths, by a hash; with so many queue pairs between two hosts.
    Hashed(NonZeroU32, &'a PathSet),
    /// By forwarding tables, and round outputs that are congested, as switches hear from notifications. Needs a congestion control.
    Snooping(&'a Routes, &'a PathSet),
    /// By forwarding tables for messages whose mode is `IN_ORDER`, among minimal paths for all others.
    ByMode(&'a Routes, &'a PathSet),
    /// Packet by packet, with detours, on a dragonfly.
    Steered(SteerOptions, &'a Steering),
}

/// What is done with a scheme's choice of outputs, for any type of it.
pub(crate) trait Visitor<'a> {
    /// What comes of it.
    type Output;

    /// Called once, with the choice of outputs.
    fn visit<C: Choice + Clone + 'a>(self, choice: C) -> Self::Output;
}

impl<'a> Scheme<'a> {
    /// Hands `visitor` the choice of outputs, whose random numbers follow from `seed`.
    ///
    /// # Panics
    /// If [`Scheme::check`] refuses the fabric.
    pub(crate) fn visit<V: Visitor<'a>>(self, fabric: &'a Fabric, seed: u64, visitor: V) -> V::Output {
        let (scheme, paths) = match self {
            Self::Tables(routes) => {
                let lft = routes.lft().expect("tables by destination");
                return visitor.visit(ByTable::new(fabric, lft));
            }
            Self::Snooping(routes, paths) => {
                let lft = routes.lft().expect("tables by destination");
                return visitor.visit(Snooping::new(fabric, lft, paths));
            }
            Self::ByMode(routes, paths) => {
                let lft = routes.lft().expect("tables by destination");
                return visitor.visit(ByMode::new(fabric, lft, paths, seed));
            }
            Self::Hashed(pairs, paths) => return visitor.visit(Hashed::new(fabric, paths, pairs, seed)),
            Self::PerPacket(scheme, paths) => (scheme, paths),
            Self::Steered(options, steering) => {
                return match options.scheme {
                    Steered::Minimal | Steered::Valiant | Steered::ValiantRouter => {
                        visitor.visit(Steer::<NOTHING>::new(fabric, steering, options, seed))
                    }
                    Steered::Ugal | Steered::Par | Steered::Aries => {
                        visitor.visit(Steer::<OWN>::new(fabric, steering, options, seed))
                    }
                    Steered::UgalGlobal => visitor.visit(Steer::<ALL>::new(fabric, steering, options, seed)),
                };
            }
        };
        match scheme {
            PerPacket::Adaptive => visitor.visit(Adaptive::new(fabric, paths, seed)),
            PerPacket::AdaptiveRemote => visitor.visit(AdaptiveRemote::new(fabric, paths, seed)),
            PerPacket::Random => visitor.visit(RandomPerPacket::new(fabric, paths, seed)),
        }
    }

    /// The minimal paths that it chooses among; `None`: it follows tables, or takes detours.
    pub(crate) fn paths(self) -> Option<&'a PathSet> {
        match self {
            Self::Tables(_) | Self::Steered(..) => None,
            Self::PerPacket(_, paths)
            | Self::Hashed(_, paths)
            | Self::Snooping(_, paths)
            | Self::ByMode(_, paths) => Some(paths),
        }
    }

    /// LID mask control of the addresses.
    pub(crate) fn lmc(self) -> u8 {
        match self {
            Self::Tables(routes) => routes.lmc,
            Self::PerPacket(..)
            | Self::Hashed(..)
            | Self::Snooping(..)
            | Self::ByMode(..)
            | Self::Steered(..) => 0,
        }
    }

    /// How a sender picks among a host's addresses.
    pub(crate) fn path(self) -> PathChoice {
        match self {
            Self::Tables(routes) => routes.path.clone(),
            Self::PerPacket(..)
            | Self::Hashed(..)
            | Self::Snooping(..)
            | Self::ByMode(..)
            | Self::Steered(..) => PathChoice::Base,
        }
    }

    /// The modes of a job's messages: what is said of them, and where nothing is, what is said here.
    pub(crate) fn modes(self, own: &Modes) -> Modes {
        match self {
            Self::Steered(options, _) => options.modes(own),
            Self::ByMode(..) => own.clone().or(Modes::all(Mode::Unbiased)),
            Self::Tables(_) | Self::PerPacket(..) | Self::Hashed(..) | Self::Snooping(..) => own.clone(),
        }
    }

    /// Refuses routes that are not tables by destination, or are another fabric's.
    pub(crate) fn check(self, fabric: &Fabric) -> Result<(), SimError> {
        if let Self::Steered(SteerOptions { scheme, .. }, steering) = self
            && scheme != Steered::Minimal
            && let Err(error) = steering.check_detours()
        {
            return Err(SimError::Config {
                what: scheme.name(),
                expected: error.to_string().trim_start_matches("expected ").into(),
            });
        }
        let (Self::Tables(routes) | Self::Snooping(routes, _) | Self::ByMode(routes, _)) = self else {
            return Ok(());
        };
        let fits = |lft: &Lft| {
            lft.dests() == routes.dests(fabric).count() && lft.switches() == fabric.switch_count()
        };
        if !(routes.lft().is_some_and(fits) && routes.paths_fit(fabric)) {
            let expected = "tables by destination, and paths, for this fabric".into();
            return Err(SimError::Config { what: "routes", expected });
        }
        let also_chooses = match self {
            Self::Snooping(routes, paths) => Some(("snooping", routes, paths)),
            Self::ByMode(routes, paths) => Some(("by-mode", routes, paths)),
            _ => None,
        };
        if let Some((what, routes, paths)) = also_chooses
            && let Some(lft) = routes.lft()
        {
            if routes.lmc > 0 {
                let expected = "tables with one address a host".into();
                return Err(SimError::Config { what, expected });
            }
            if let Some((switch, host)) = Snooping::first_detour(fabric, lft, paths) {
                let (switch, host) = (fabric.switch_name(switch), fabric.host_name(host));
                let expected =
                    format!("tables of minimal paths: from {switch} to {host} there is a shorter one");
                return Err(SimError::Config { what, expected });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::ByMessage;

    #[test]
    fn names_are_read_back_and_nothing_else_is() {
        for scheme in PerPacket::ALL {
            assert_eq!(PerPacket::parse(scheme.name()), Some(scheme));
            assert!(!scheme.describe().is_empty());
        }
        for bad in ["", "Adaptive", "adaptive ", "random", "tables"] {
            assert_eq!(PerPacket::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn parameters_of_detours_are_read() {
        for scheme in Steered::ALL {
            assert_eq!(SteerOptions::parse(scheme.name()), Some(Ok(SteerOptions::new(scheme))));
        }
        let found = SteerOptions::parse("ugal:minimal=1,detours=3,shift=0,add=12288").unwrap().unwrap();
        assert_eq!((found.minimal, found.detours, found.shift, found.add_bytes), (1, 3, 0, 12288));
        for bad in [
            "minimal:shift=1",
            "ugal:",
            "ugal:shift",
            "ugal:shift=17",
            "ugal:minimal=0",
            "ugal:bias=1",
            "par:again=1",
            "valiant:router:add=1",
        ] {
            assert!(SteerOptions::parse(bad).unwrap().is_err(), "{bad}");
        }
        let found = SteerOptions::parse("ugal:global:detours=4").unwrap().unwrap();
        assert_eq!((found.scheme, found.detours, found.shift), (Steered::UgalGlobal, 4, 0));
        let found = SteerOptions::parse("par:shift=0").unwrap().unwrap();
        assert_eq!((found.scheme, found.shift), (Steered::Par, 0));
        assert_eq!(SteerOptions::parse("Ugal"), None);
        assert_eq!(SteerOptions::parse("parsed"), None);
        let found = SteerOptions::parse("adaptive:3:bias=77").unwrap().unwrap();
        assert_eq!((found.scheme, found.mode, found.bias_bytes), (Steered::Aries, Mode::HighBias, 77));
        for word in SteerOptions::words_of_modes() {
            let found = SteerOptions::parse(word).unwrap().unwrap();
            let of_all = found.modes(&Modes::default());
            assert_eq!((found.scheme, Some(of_all)), (Steered::Aries, Modes::parse(word)), "{word}");
        }
        let found = SteerOptions::parse("aware:steady:bias=9").unwrap().unwrap();
        assert_eq!((found.by_message, found.bias_bytes), (Some(ByMessage::Steady), 9));
        assert!(SteerOptions::parse("aware:fast").unwrap().is_err());
        for other in ["0", "3", "default", "aware2"] {
            assert_eq!(SteerOptions::parse(other), None, "{other}");
        }
        for bad in
            ["4", "", "3:", "3:bias", "3:bias=-1", "3:bias=4294967296", "3:bias=1073741825", "x", "0:0"]
        {
            let message = SteerOptions::parse(&format!("adaptive:{bad}")).unwrap().unwrap_err();
            assert!(
                message.contains("expected") && message.contains(&format!("\"adaptive:{bad}\"")),
                "{message}"
            );
        }
    }
}
