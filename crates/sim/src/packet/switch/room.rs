//! What room a lane of a link has at a moment, for those who look at a network from outside: nothing is settled.

use super::ports::{Port, Ports};

/// Room of a lane, bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// For what it sends next.
    pub to_send: i64,
    /// In its output buffer.
    pub to_queue: i64,
}

impl Ports {
    /// The room of a lane by `time_ps`, when all before that has happened; `None` if more is on its way back.
    pub fn room(&self, link: u32, lane: u8, time_ps: u64) -> Option<Room> {
        let at = link as usize * self.lanes + usize::from(lane);
        let state = &self.lane[at];
        let credits = state.first.iter().chain(&self.more[at]);
        let leaving =
            self.leaving.get(link as usize).filter(|_| self.served_last(link).is_none_or(|l| l == lane));
        let (mut back, mut left) = (0, 0);
        for credit in credits.filter(|credit| !credit.is_none()) {
            if credit.time_ps() >= time_ps {
                return None;
            }
            back += i64::from(credit.bytes());
        }
        for credit in leaving.into_iter().flatten().filter(|credit| !credit.is_none()) {
            if credit.time_ps() >= time_ps {
                return None;
            }
            left += i64::from(credit.bytes());
        }
        let (out, far) = (i64::from(state.out_room), i64::from(state.in_room));
        Some(match self.features.credits_out {
            true if (link as usize) < self.hosts => Room { to_send: out + back, to_queue: out + back },
            true => Room { to_send: far, to_queue: out + back },
            false => Room { to_send: far + back, to_queue: out + left },
        })
    }

    /// Bytes of what a lane has sent, by `time_ps`, that hold room at its far end; `None` where that room has no end.
    pub fn held(&self, link: u32, lane: u8, time_ps: u64, input_bytes: Option<u32>) -> Option<i64> {
        let room = self.room(link, lane, time_ps)?;
        if !self.features.credits_out {
            return input_bytes.map(|bytes| i64::from(bytes) - room.to_send);
        }
        let of_hosts = (link as usize) < self.hosts || self.port(link).to == Port::HOST;
        Some(i64::from(self.room[usize::from(of_hosts)]) - room.to_queue)
    }
}
