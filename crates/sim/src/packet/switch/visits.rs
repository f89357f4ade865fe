//! What changes at links, visited; see [`Visit`].
//!
//! Room that came back and a link that has sent what it sent are nothing but over, however long: what is added to them later counts from
//! then on. Only where a link's wait is measured does it count when its last packet left.

use super::ports::Ports;
use crate::packet::pool::{List, NONE, Packet, Pool};
use crate::repeats::Visit;

impl Ports {
    /// All links, where no scheme looks at loads and nobody watches.
    pub fn visit(&mut self, visit: &mut Visit, packets: &Pool<Packet>, messages: impl Fn(&mut Visit, List)) {
        for link in 0..self.port.len() as u32 {
            self.visit_link(visit, link, packets, &messages);
        }
    }

    fn visit_link(
        &mut self,
        visit: &mut Visit,
        link: u32,
        packets: &Pool<Packet>,
        messages: &impl Fn(&mut Visit, List),
    ) {
        let (of_host, now_ps) = ((link as usize) < self.hosts, visit.now_ps());
        let first = link as usize * self.lanes;
        let free_at = self.lane[first].free_at;
        self.waits.visit(visit, link as usize, free_at);
        if let Some(leaving) = self.leaving.get_mut(link as usize) {
            leaving.iter_mut().for_each(|credit| credit.visit(visit));
        }
        visit.same(&self.arbiter.get(link as usize));
        for lane in 0..self.lanes {
            let at = first + lane;
            visit.same(
                &(self.features.by_place || self.features.by_input()).then(|| self.lane[at].waiting.places()),
            );
            visit.packets_of(self.waiting(link, lane as u8, packets));
            match of_host {
                true => messages(visit, self.lane[at].queue),
                false => visit.packets_of(self.lane[at].queue.iter(packets)),
            }
            let end = &self.end[at];
            visit.same(&end.held);
            visit.packets_of(end.inbox.iter(packets));
            // Of the last packet it counts when its tail comes, while that is to come and the packet is here.
            let (last, tail_ps) = end.last;
            let comes = last != NONE && tail_ps > now_ps && packets.get(last).via == link;
            visit.packets_of(comes.then_some(last).into_iter());
            visit.past(&mut self.end[at].last.1);
            let state = &mut self.lane[at];
            visit.past(&mut state.free_at);
            visit.time(&mut state.try_at);
            visit.same(&(state.out_room, state.in_room, state.turn, state.more, state.starved));
            state.first.iter_mut().for_each(|credit| credit.visit(visit));
            visit.same(&self.more[at].len());
            self.more[at].iter_mut().for_each(|credit| credit.visit(visit));
            // What is counted beside the sums stays there.
            let before = self.carried[at].with(self.lane[at].sent);
            let (mut bytes, mut sent) = (before.bytes, before.packets);
            visit.count(&mut bytes);
            visit.count(&mut sent);
            self.carried[at].bytes += bytes - before.bytes;
            self.carried[at].packets += sent - before.packets;
        }
    }
}
