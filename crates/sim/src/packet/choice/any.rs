//! Any scheme, for runs that are watched: one machine code for all of them, slower than their own.

use netloom_model::LinkId;

use super::{Adaptive, ByTable, Choice, Here, Outputs};

/// One of the schemes.
#[derive(Clone, Debug)]
pub(crate) enum AnyChoice<'a> {
    /// Forwarding tables.
    Table(ByTable),
    /// Adaptive, local information.
    Adaptive(Adaptive<'a>),
}

impl Choice for AnyChoice<'_> {
    const LOOKS: bool = true;
    const LOCAL: bool = false;

    fn output(&mut self, here: Here, outputs: Outputs) -> Option<LinkId> {
        match self {
            Self::Table(choice) => choice.output(here, outputs),
            Self::Adaptive(choice) => choice.output(here, outputs),
        }
    }
}
