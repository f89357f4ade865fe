//! The routing schemes of the switches: the one list of them, their names, and the way from a name to machine code.
//!
//! A new scheme is a file in `packet/choice` with its `mod` line there, and a variant of [`PerPacket`] here. Scenarios, the binding and
//! the command line read [`PerPacket::ALL`]; whoever runs a scheme asks [`Scheme::visit`], so each has machine code of its own.

use netloom_model::{Fabric, Lft, PathChoice, Routes};
use netloom_routing::{PathSet, Steering};

use crate::SimError;
use crate::packet::choice::{Adaptive, AdaptiveRemote, ByTable, Choice, RandomPerPacket, Steer};

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

/// Schemes of dragonflies: minimal ways, and detours through a third group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Steered {
    /// The minimal way.
    Minimal,
    /// Through a random third group, always.
    Valiant,
    /// One or the other, by the queues of a packet's first switch.
    Ugal,
}

impl Steered {
    /// All of them, in the order lists show them.
    pub const ALL: [Self; 3] = [Self::Minimal, Self::Valiant, Self::Ugal];

    /// As scenarios spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Valiant => "valiant",
            Self::Ugal => "ugal",
        }
    }

    /// One line on what it does.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Minimal => "minimal ways of a dragonfly",
            Self::Valiant => "through a random third group of a dragonfly, always",
            Self::Ugal => {
                "minimal or through a third group of a dragonfly, by the queues of the first switch"
            }
        }
    }

    /// The slots of its ways, in order: L is a cable within a group, G one between groups. Each has a lane.
    pub fn slots(self) -> &'static [&'static str] {
        const ALL: [&str; 5] = ["L0", "G0", "L1", "G1", "L2"];
        if self == Self::Minimal { &ALL[..3] } else { &ALL }
    }
}

/// A scheme of dragonflies with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteerOptions {
    /// Which.
    pub scheme: Steered,
    /// Minimal outputs that UGAL draws, at least 1.
    pub minimal: u8,
    /// Detours that it draws.
    pub detours: u8,
    /// The load at a detour's output counts this power of 2.
    pub shift: u8,
    /// And so many bytes more.
    pub add_bytes: u32,
    /// Lanes: one a slot of the way; with fewer the last ones share a lane, and packets may wait for each other for ever.
    pub lanes: u8,
}

impl SteerOptions {
    /// A scheme as it is meant: UGAL with two candidates of each kind, a detour twice as long.
    pub fn new(scheme: Steered) -> Self {
        let lanes = scheme.slots().len() as u8;
        Self { scheme, minimal: 2, detours: 2, shift: 1, add_bytes: 0, lanes }
    }

    /// The scheme that a word names; parameters of UGAL follow a colon: `ugal:minimal=1,detours=1,shift=1,add=12288`. `None`: the word
    /// names none.
    ///
    /// # Errors
    /// What is wrong with its parameters.
    pub fn parse(word: &str) -> Option<Result<Self, String>> {
        let (name, rest) = word.split_once(':').map_or((word, None), |(name, rest)| (name, Some(rest)));
        let scheme = Steered::ALL.into_iter().find(|scheme| scheme.name() == name)?;
        let mut it = Self::new(scheme);
        let Some(rest) = rest else { return Some(Ok(it)) };
        if scheme != Steered::Ugal {
            return Some(Err(format!("\"{word}\": {name} has no parameters")));
        }
        for pair in rest.split(',') {
            let (key, text) = pair.split_once('=').unwrap_or((pair, ""));
            let number = |range: std::ops::RangeInclusive<u32>| {
                let (least, most) = (*range.start(), *range.end());
                let number = text.parse::<u32>().ok().filter(|n| range.contains(n));
                number
                    .ok_or_else(|| format!("\"{word}\": {key}: expected a whole number of {least} to {most}"))
            };
            let set = match key {
                "minimal" => number(1..=16).map(|n| it.minimal = n as u8),
                "detours" => number(1..=16).map(|n| it.detours = n as u8),
                "shift" => number(0..=16).map(|n| it.shift = n as u8),
                "add" => number(0..=1 << 30).map(|n| it.add_bytes = n),
                _ => {
                    Err(format!("\"{word}\": expected minimal=, detours=, shift= or add=, found \"{pair}\""))
                }
            };
            if let Err(message) = set {
                return Some(Err(message));
            }
        }
        Some(Ok(it))
    }
}

/// How switches choose outputs.
#[derive(Clone, Copy, Debug)]
pub enum Scheme<'a> {
    /// By forwarding tables; senders pick among a host's addresses as the routes say.
    Tables(&'a Routes),
    /// Packet by packet, among minimal paths.
    PerPacket(PerPacket, &'a PathSet),
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
            Self::PerPacket(scheme, paths) => (scheme, paths),
            Self::Steered(options, steering) if options.scheme == Steered::Ugal => {
                return visitor.visit(Steer::<true>::new(fabric, steering, options, seed));
            }
            Self::Steered(options, steering) => {
                return visitor.visit(Steer::<false>::new(fabric, steering, options, seed));
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
            Self::PerPacket(_, paths) => Some(paths),
        }
    }

    /// LID mask control of the addresses.
    pub(crate) fn lmc(self) -> u8 {
        match self {
            Self::Tables(routes) => routes.lmc,
            Self::PerPacket(..) | Self::Steered(..) => 0,
        }
    }

    /// How a sender picks among a host's addresses.
    pub(crate) fn path(self) -> PathChoice {
        match self {
            Self::Tables(routes) => routes.path.clone(),
            Self::PerPacket(..) | Self::Steered(..) => PathChoice::Base,
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
        let Self::Tables(routes) = self else { return Ok(()) };
        let fits = |lft: &Lft| {
            lft.dests() == routes.dests(fabric).count() && lft.switches() == fabric.switch_count()
        };
        if routes.lft().is_some_and(fits) && routes.paths_fit(fabric) {
            return Ok(());
        }
        let expected = "tables by destination, and paths, for this fabric".into();
        Err(SimError::Config { what: "routes", expected })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for bad in
            ["minimal:shift=1", "ugal:", "ugal:shift", "ugal:shift=17", "ugal:minimal=0", "ugal:bias=1"]
        {
            assert!(SteerOptions::parse(bad).unwrap().is_err(), "{bad}");
        }
        assert_eq!(SteerOptions::parse("Ugal"), None);
    }
}
