//! Modes of messages: said beforehand, or chosen as they are sent.

use std::sync::Arc;

use netloom_model::{CollectiveKind as Kind, HostId};

use super::{Envelope, Part, Player};
use crate::mode::{Mode, Sends, Size};

/// What choices of modes see of the hardware.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sight {
    /// Payload and header of a packet, and packets that may be without a response.
    pub packet: (u32, u32, u32),
    /// By host: its group; empty where there are none.
    pub group: Vec<u32>,
}

impl Player {
    /// Choices of modes see so much of the hardware.
    #[must_use]
    pub fn with_sight(self, sight: Sight) -> Self {
        Self { sight: Arc::new(sight), ..self }
    }

    /// Whether a rank is in an all-to-all collective, of which a message of a collective then is.
    fn is_all_to_all(&self, r: u32, token: Envelope) -> bool {
        let inner = self.ranks[r as usize].inner;
        token.is_collective() && inner.is_some_and(|(collective, _)| collective.kind == Kind::Alltoall)
    }

    /// What is said of a message's mode beforehand.
    pub(super) fn fixed_mode(&self, r: u32, token: Envelope) -> Option<Mode> {
        let modes = &self.jobs[self.ranks[r as usize].job as usize].modes;
        if modes.is_empty() {
            return None;
        }
        modes.of(self.bytes_of(token), self.is_all_to_all(r, token))
    }

    /// The mode of a message, chosen where it is to be. Questions and answers are small: De Sensi et al.'s library sends them with a high bias.
    pub(super) fn mode(&mut self, r: u32, token: Envelope) -> Option<Mode> {
        let fixed = self.fixed_mode(r, token);
        if fixed.is_some() || self.ranks[r as usize].choosing.is_none() {
            return fixed;
        }
        if token.part() != Part::Whole {
            return Some(Mode::HighBias);
        }
        let (from, to) = (self.ranks[r as usize].host, self.host_beside(r, token.to));
        if from == to {
            return None;
        }
        let (packet_bytes, header_bytes, window) = self.sight.packet;
        let group = |host: HostId| self.sight.group.get(host.index());
        let sends = Sends {
            size: Size::of(self.bytes_of(token), packet_bytes.max(1), header_bytes, window),
            all_to_all: self.is_all_to_all(r, token),
            near: group(from) == group(to),
            key: (token.is_collective(), token.number()),
        };
        self.ranks[r as usize].choosing.as_mut().map(|choosing| choosing.select(sends))
    }

    /// A message to another host has a mode.
    pub(super) fn count_mode(&mut self, r: u32, token: Envelope, mode: Option<Mode>) {
        if let Some(mode) = mode
            && token.part() == Part::Whole
        {
            let job = self.ranks[r as usize].job as usize;
            let (messages, bytes) = &mut self.by_mode[job][usize::from(mode.number())];
            *messages += 1;
            *bytes += token.bytes;
        }
    }
}
