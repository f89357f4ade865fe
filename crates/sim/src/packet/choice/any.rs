//! Any scheme, for runs that are watched: one machine code for all of them, slower than their own.

use netloom_model::LinkId;
use netloom_model::rng::Stream;

use super::{Adaptive, AdaptiveRemote, ByTable, Choice, Here, Outputs, RandomPerPacket};

/// One of the schemes.
#[derive(Clone, Debug)]
pub(crate) enum AnyChoice<'a> {
    /// Forwarding tables.
    Table(ByTable),
    /// Adaptive, local information.
    Adaptive(Adaptive<'a>),
    /// Adaptive, remote information.
    Remote(AdaptiveRemote<'a>),
    /// Random for every packet.
    Random(RandomPerPacket<'a>),
}

impl Choice for AnyChoice<'_> {
    const LOOKS: bool = true;
    const LOCAL: bool = false;

    fn lmc(&self) -> u8 {
        match self {
            Self::Table(choice) => choice.lmc(),
            Self::Adaptive(_) | Self::Remote(_) | Self::Random(_) => 0,
        }
    }

    fn streams(&mut self) -> &mut [Stream] {
        match self {
            Self::Table(choice) => choice.streams(),
            Self::Adaptive(choice) => choice.streams(),
            Self::Remote(choice) => choice.streams(),
            Self::Random(choice) => choice.streams(),
        }
    }

    fn output(&mut self, here: Here, outputs: &mut Outputs) -> Option<LinkId> {
        match self {
            Self::Table(choice) => choice.output(here, outputs),
            Self::Adaptive(choice) => choice.output(here, outputs),
            Self::Remote(choice) => choice.output(here, outputs),
            Self::Random(choice) => choice.output(here, outputs),
        }
    }

    fn set_of(&self, here: Here) -> u32 {
        match self {
            Self::Table(choice) => choice.set_of(here),
            Self::Adaptive(choice) => choice.set_of(here),
            Self::Remote(choice) => choice.set_of(here),
            Self::Random(choice) => choice.set_of(here),
        }
    }

    fn is_in(&self, link: LinkId, set: u32) -> bool {
        match self {
            Self::Table(choice) => choice.is_in(link, set),
            Self::Adaptive(choice) => choice.is_in(link, set),
            Self::Remote(choice) => choice.is_in(link, set),
            Self::Random(choice) => choice.is_in(link, set),
        }
    }
}
