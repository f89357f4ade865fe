//! How partitions tell each other what crosses between them; see `mail`.

use crate::calendar::{Event, NEVER};
use crate::observe::Observer;
use crate::packet::choice::Choice;
use crate::packet::hardware::Any;
use crate::packet::host::Incoming;
use crate::packet::network::Network;
use crate::packet::parallel::{Mail, STOP};
use crate::program::Program;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// A packet's link leads to another partition.
    pub(in crate::packet) fn send_away(&mut self, to: u8, time_ps: u64, link: u32, index: u32) {
        let (packet, origin) = (*self.packets.get(index), self.origins[index as usize]);
        self.packets.free(index);
        let mail = &mut self.mail[usize::from(to)];
        mail.first_ps = mail.first_ps.min(time_ps);
        mail.packets.push((time_ps, link, packet, origin));
    }

    /// Room for a sender in another partition.
    pub(in crate::packet) fn give_away(&mut self, to: u8, time_ps: u64, link: u32, bytes: u16, lane: u8) {
        let mail = &mut self.mail[usize::from(to)];
        mail.first_ps = mail.first_ps.min(time_ps);
        mail.credits.push((time_ps, link, bytes, lane));
    }

    /// Numbers a message to partition `to` and tells it what will come.
    pub(in crate::packet) fn register(&mut self, to: u8, record: Incoming<P::Token>) -> u32 {
        let number = self.hosts.number(to);
        if to == self.here {
            self.hosts.expect(number, record);
        } else {
            self.mail[usize::from(to)].records.push((number, record));
        }
        number
    }

    /// All of a message has been received.
    pub(in crate::packet) fn retire(&mut self, number: u32) {
        let from = number as usize % self.mail.len();
        if from == usize::from(self.here) {
            self.hosts.retire(from, number);
        } else {
            self.mail[from].done.push(number);
        }
    }

    /// Tells the programs of all partitions, so long from now that each can know it in time.
    pub(in crate::packet) fn announce(&mut self, news: u32) {
        let time_ps = self.now + self.lookahead_ps.max(1);
        for (to, mail) in self.mail.iter_mut().enumerate() {
            if to != usize::from(self.here) {
                mail.first_ps = mail.first_ps.min(time_ps);
                mail.news.push((time_ps, news));
            }
        }
        self.calendar.push(Event { time_ps, key: self.news_key(), data: news });
    }

    /// News are heard after everything else of their time.
    pub(in crate::packet) fn news_key(&self) -> u32 {
        ((self.fabric.link_count() + self.fabric.host_count()) as u32) << 1
    }

    pub(in crate::packet) fn hear(&mut self, news: u32) {
        if news == STOP {
            (self.stopped, self.alert) = (true, true);
            return;
        }
        self.desk.now_ps = self.now;
        self.program.heard(news, &mut self.desk);
        self.clear_desk::<Any>();
    }

    /// When something happens next, here or by what was sent from here.
    pub(in crate::packet) fn next_ps(&self) -> u64 {
        self.mail.iter().map(|mail| mail.first_ps).fold(self.calendar.next_ps(), u64::min)
    }

    /// Exchanges what was written to partition `to` for an empty mail.
    pub(in crate::packet) fn hand_over(&mut self, to: usize, slot: &mut Mail<P::Token>) {
        std::mem::swap(&mut self.mail[to], slot);
    }

    /// Takes what partition `from` has sent.
    pub(in crate::packet) fn deliver(&mut self, from: usize, mail: &mut Mail<P::Token>) {
        for (number, record) in mail.records.drain(..) {
            self.hosts.expect(number, record);
        }
        for number in mail.done.drain(..) {
            self.hosts.retire(from, number);
        }
        for (time_ps, link, packet, origin) in mail.packets.drain(..) {
            let index = self.take_packet(packet, origin);
            self.calendar.push(Event { time_ps, key: link << 1 | 1, data: index });
        }
        for (time_ps, link, bytes, lane) in mail.credits.drain(..) {
            self.credit::<Any>(link, lane, time_ps, bytes);
        }
        mail.first_ps = NEVER;
        let key = self.news_key();
        for (time_ps, news) in mail.news.drain(..) {
            self.calendar.push(Event { time_ps, key, data: news });
        }
    }
}
