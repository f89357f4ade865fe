//! Small programs and runs that the tests share.

use netloom_model::{DestId, Fabric, HostId, Lft, SwitchId};
use netloom_sim::choice::ByTable;
use netloom_sim::{Config, Desk, Network, Nobody, Post, Program, SimError, Split, StateReader, StateWriter};

/// Messages that are all posted at time 0.
#[derive(Clone, Debug)]
pub struct AtOnce {
    pub messages: Vec<(u32, u32, u64)>,
    /// Lanes that they are dealt to in turn.
    pub lanes: u8,
    /// When each was complete, ps.
    pub done_ps: Vec<Option<u64>>,
}

impl AtOnce {
    pub fn new(messages: &[(u32, u32, u64)]) -> Self {
        Self { messages: messages.to_vec(), lanes: 1, done_ps: vec![None; messages.len()] }
    }

    /// When the last one was complete, ps.
    pub fn end_ps(&self) -> u64 {
        self.done_ps.iter().map(|t| t.expect("every message arrives")).max().unwrap_or(0)
    }
}

impl Program for AtOnce {
    type Token = usize;

    fn start(&mut self, desk: &mut Desk<usize>) {
        for (i, &(from, to, bytes)) in self.messages.iter().enumerate() {
            desk.post(Post {
                from: HostId(from),
                address: DestId(to),
                bytes,
                lane: (i % usize::from(self.lanes)) as u8,
                mode: None,
                token: i,
            });
        }
    }

    fn received(&mut self, at: HostId, token: usize, latency_ps: u64, desk: &mut Desk<usize>) {
        assert_eq!(at.0, self.messages[token].1, "a message arrives where it was sent");
        assert_eq!(latency_ps, desk.now_ps(), "all were posted at time 0");
        let before = self.done_ps[token].replace(desk.now_ps());
        assert_eq!(before, None, "a message arrives once");
    }
}

impl Split for AtOnce {
    fn absorb(&mut self, other: Self, was_there: &dyn Fn(HostId) -> bool) {
        for (i, &(_, to, _)) in self.messages.iter().enumerate() {
            if was_there(HostId(to)) {
                self.done_ps[i] = other.done_ps[i];
            }
        }
    }

    fn save(&self, to: &mut StateWriter) {
        to.put(&self.done_ps);
    }

    fn load(&mut self, from: &mut StateReader) -> Result<(), SimError> {
        from.replace(&mut self.done_ps)
    }
}

/// Three messages from every host, of all sizes; from, to, bytes.
pub fn three_each(fabric: &Fabric) -> Vec<(u32, u32, u64)> {
    let hosts = fabric.host_count() as u32;
    let messages = (0..3 * hosts).map(|k| (k % hosts, (k * 7 + 1) % hosts, 1 + u64::from(k) * 3001));
    messages.filter(|(from, to, _)| from != to).collect()
}

/// Runs messages over forwarding tables.
pub fn run<'f>(
    fabric: &'f Fabric,
    config: &Config,
    lft: &Lft,
    messages: &[(u32, u32, u64)],
) -> Result<Network<'f, ByTable, AtOnce, Nobody>, SimError> {
    let mut network = Network::new(fabric, config, ByTable::new(fabric, lft), AtOnce::new(messages), Nobody)?;
    network.run()?;
    Ok(network)
}

/// Tables that send everything clockwise round a ring of `n` switches with one host each.
pub fn clockwise(fabric: &Fabric, n: usize) -> Lft {
    let mut lft = Lft::empty(n, fabric.dests(0).count(), fabric.max_radix());
    for s in 0..n {
        for host in fabric.hosts() {
            let link = if fabric.leaf(host).index() == s {
                fabric.reverse(fabric.host_link(host))
            } else {
                let next = SwitchId(((s + 1) % n) as u32);
                fabric
                    .switch_links(SwitchId(s as u32))
                    .find(|&l| fabric.link_to_switch(l) == Some(next))
                    .unwrap()
            };
            lft.set(SwitchId(s as u32), DestId(host.0), Some(fabric.link_port(link)));
        }
    }
    lft
}
