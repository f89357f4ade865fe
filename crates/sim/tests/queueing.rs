//! What queueing theory says of one link, of a switch and of a tree. Links run at 12.5 GB/s.

use netloom_model::rng::{Stream, below, stream, unit};
use netloom_model::{DestId, Fabric, HostId, LinkId};
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_sim::choice::{Adaptive, ByTable};
use netloom_sim::{Admission, Choice, Config, Desk, Forwarding, Injection, Network, Nobody, Post, Program};
use netloom_testkit::cases::{generated, star, wired};
use netloom_topology::detect;

use crate::common::AtOnce;

fn tables(fabric: &Fabric) -> ByTable {
    by(Engine::Updn, fabric)
}

fn by(engine: Engine, fabric: &Fabric) -> ByTable {
    let routes = route(engine, fabric, &detect(fabric), &EngineOptions::default()).unwrap();
    ByTable::new(fabric, routes.lft().unwrap())
}

fn wire_ps(config: &Config) -> u64 {
    u64::from(config.wire_bytes()) * 80
}

/// Senders with packets of their own at random times, or with an endless backlog.
struct Senders {
    /// Mean time between two packets of a sender; none: the next one as soon as one has left.
    every_ps: Option<f64>,
    senders: u32,
    /// To one of these hosts, never to oneself.
    to: std::ops::Range<u32>,
    random: Vec<Stream>,
    posted: u64,
    received: u64,
    latency_ps: u64,
}

impl Senders {
    fn new(every_ps: Option<f64>, senders: u32, to: std::ops::Range<u32>) -> Self {
        let random = (0..senders).map(|s| stream(7, u64::from(s))).collect();
        Self { every_ps, senders, to, random, posted: 0, received: 0, latency_ps: 0 }
    }

    fn post(&mut self, from: HostId, desk: &mut Desk<u64>) {
        let random = &mut self.random[from.index()];
        let to = loop {
            let to = self.to.start + below(random, u64::from(self.to.end - self.to.start)) as u32;
            if to != from.0 {
                break to;
            }
        };
        desk.post(Post { from, address: DestId(to), bytes: 4096, lane: 0, mode: None, token: self.posted });
        self.posted += 1;
    }

    fn wait(&mut self, host: HostId, desk: &mut Desk<u64>) {
        let mean = self.every_ps.expect("random times");
        let pause = -mean * (1.0 - unit(&mut self.random[host.index()])).ln();
        desk.wake(host, pause as u64, 0);
    }

    fn mean_latency_ps(&self) -> f64 {
        self.latency_ps as f64 / self.received as f64
    }
}

impl Program for Senders {
    /// The number of a message, so that each draws for itself.
    type Token = u64;

    fn identity(&self, number: u64) -> u64 {
        number
    }

    fn start(&mut self, desk: &mut Desk<u64>) {
        for host in (0..self.senders).map(HostId) {
            match self.every_ps {
                Some(_) => self.wait(host, desk),
                None => (0..2).for_each(|_| self.post(host, desk)),
            }
        }
    }

    fn sent(&mut self, from: HostId, _: u64, desk: &mut Desk<u64>) {
        if self.every_ps.is_none() {
            self.post(from, desk);
        }
    }

    fn received(&mut self, _: HostId, _: u64, latency_ps: u64, _: &mut Desk<u64>) {
        self.received += 1;
        self.latency_ps += latency_ps;
    }

    fn timer(&mut self, host: HostId, _: u32, desk: &mut Desk<u64>) {
        self.post(host, desk);
        self.wait(host, desk);
    }
}

/// M/D/1: packets come to a link at random times with load `r` of its service time `S`; they wait `r S / (2 (1 - r))` on
/// average (Pollaczek and Khinchine).
#[test]
fn packets_at_random_times_wait_as_long_as_m_d_1_says() {
    let fabric = star(2);
    for config in [Config::codes(), Config::infiniband()] {
        let wire = wire_ps(&config) as f64;
        for load in [0.3, 0.6] {
            let senders = Senders::new(Some(wire / load), 1, 1..2);
            let mut network = Network::new(&fabric, &config, tables(&fabric), senders, Nobody).unwrap();
            network.start();
            network.run_before((100_000.0 * wire / load) as u64).unwrap();
            let mut alone = AtOnce::new(&[(0, 1, 4096)]);
            alone.lanes = 1;
            let mut one = Network::new(&fabric, &config, tables(&fabric), alone, Nobody).unwrap();
            one.run().unwrap();
            let waited = network.program().mean_latency_ps() - one.program().end_ps() as f64;
            let expected = load * wire / (2.0 * (1.0 - load));
            let off = waited / expected - 1.0;
            assert!(off.abs() < 0.03, "load {load}: waited {waited:.0} ps, expected {expected:.0}");
        }
    }
}

/// 32 hosts, 8 a leaf, send to each other uniformly. A leaf's 4 cables up carry what leaves it, the share
/// `24 / 31` of what its 8 hosts send: each host gets `4 / (8 x 24 / 31) = 0.6458` of its link.
#[test]
fn uniform_traffic_saturates_where_the_taper_is_full() {
    let fabric = generated("two-level:leaves=4,hosts=8,spines=4");
    let paths = PathSet::admissible(&fabric, &detect(&fabric));
    // Hosts have enough packets under way for no cable to run dry.
    let config = Config { host_output_buffer_bytes: 256 * 4096, ..Config::codes() };
    for (scheme, share) in [
        ("d-mod-k", throughput(&fabric, &config, by(Engine::Dmodk, &fabric), 32, 0..32)),
        ("adaptive", throughput(&fabric, &config, Adaptive::new(&fabric, &paths, 1), 32, 0..32)),
    ] {
        assert!((share / 0.6458 - 1.0).abs() < 0.02, "{scheme}: {share:.4} of the hosts' links");
    }
}

/// Heads of queues that wait for the same output: Karol, Hluchyj and Morgan (IEEE Trans. Commun. 35(12), 1987) find that of
/// an output's load `r` so much waits as in M/D/1, `r^2 / (2 (1 - r))` packets, and that an input has a packet waiting
/// or passing. Their inputs pass one packet at a time, which gives `2 - sqrt 2 = 58.6 %`. Ours (as crossbars with speed-up) have the next
/// head as soon as the last has its output, so that one waits always: `r^2 / (2 (1 - r)) = 1`, `r = sqrt 3 - 1 = 73.2 %`.
#[test]
fn head_of_line_blocking_costs_a_switch_what_queueing_theory_says() {
    // 32 senders and 32 receivers; an output buffer is just the packet that leaves.
    let fabric = star(64);
    let base = Config::infiniband();
    let one = base.wire_bytes();
    let config = Config { output_buffer_bytes: one, host_output_buffer_bytes: one, ..base };
    let share = throughput(&fabric, &config, tables(&fabric), 32, 32..64);
    assert!((share / (3f64.sqrt() - 1.0) - 1.0).abs() < 0.02, "{share:.4}");
    let free = Config { head_of_line: false, ..config };
    let share = throughput(&fabric, &free, tables(&fabric), 32, 32..64);
    assert!(share > 0.85, "{share:.4}");
}

/// What each of the first hosts gets through of its link's rate, once the network is full.
fn throughput<C: Choice>(
    fabric: &Fabric,
    config: &Config,
    choice: C,
    senders: u32,
    to: std::ops::Range<u32>,
) -> f64 {
    let program = Senders::new(None, senders, to);
    let mut network = Network::new(fabric, config, choice, program, Nobody).unwrap();
    network.start();
    let wire = wire_ps(config);
    network.run_before(1_500 * wire).unwrap();
    let before = network.program().received;
    network.run_before(3_500 * wire).unwrap();
    (network.program().received - before) as f64 / (2_000.0 * f64::from(senders))
}

/// A congestion tree grows from its root: two hosts send to one at full rate. The root, where their ways meet, passes
/// on half of what comes, so the tree takes up a packet each packet's time: first the room before the root
/// (2 packets of output, then 2 x 15 of input), then that of the switches before (2 x 2, then 2 x 15). When all
/// of it is full, after 66 packets' times, the hosts themselves are held to half their rate.
#[test]
fn a_congestion_tree_grows_from_its_root() {
    // Hosts 0 and 1 at x, 2 at y, 3 at z, 4 at w.
    let fabric = wired(
        &[("x", 2), ("y", 1), ("s", 0), ("z", 1), ("w", 1)],
        &[(0, 2, 1), (1, 2, 1), (3, 2, 1), (4, 2, 1)],
    );
    let config = Config { injection: Injection::InOrder, ..Config::infiniband() };
    assert_eq!(config.admission, Admission::RoundRobin);
    let wire = wire_ps(&config);
    let program = AtOnce::new(&[(0, 3, 4096 * 1000), (2, 3, 4096 * 1000)]);
    let mut network = Network::new(&fabric, &config, tables(&fabric), program, Nobody).unwrap();
    network.start();
    let uplink = fabric.switch_links(fabric.leaf(HostId(0))).find(|&l| fabric.between_switches(l)).unwrap();
    let mut sent = |time: u64| {
        network.run_before(time * wire).unwrap();
        let counters = network.counters();
        let packets = |link: LinkId| counters.bytes(link) / u64::from(config.wire_bytes());
        (packets(fabric.host_link(HostId(0))), packets(uplink))
    };
    let near =
        |found: u64, expected: u64| assert!(found.abs_diff(expected) <= 3, "{found}, expected {expected}");
    // The root's own room is not full yet: everything at full rate.
    let (host, up) = sent(30);
    near(host, 30);
    near(up, 30);
    // The cables before the root are at half rate since 32 packets' times, the hosts don't notice.
    let (host, up) = sent(60);
    near(host, 60);
    near(up, 32 + (60 - 32) / 2);
    // The hosts too.
    let (host, _) = sent(300);
    near(host, (300 + 66) / 2);
}

/// The buffer towards host 0 has room for a long packet (`W` on the wire) and a short one (64 bytes, `S`). Host 1's long packet is in it and host
/// 3's waits when host 2's short one comes: ports are served in turn, it is host 2's, and there is room. So its credit goes back at
/// once, and host 2's next long packet (to host 1) leaves as soon as that has come, not when host 1's has left.
#[test]
fn a_short_packet_whose_turn_it_is_does_not_wait_behind_a_long_one() {
    const C: u64 = 1_000;
    let config = Config {
        header_bytes: 0,
        forwarding: Forwarding::StoreAndForward,
        input_buffer_bytes: Some(4096),
        output_buffer_bytes: 4096 + 64,
        host_output_buffer_bytes: 4096 + 64,
        injection: Injection::InOrder,
        switch_delay_ps: 0,
        cable_delay_ps: C,
        credit_bytes: 0,
        ..Config::infiniband()
    };
    let (wire, short) = (wire_ps(&config), 64 * 80);
    let messages = [(1, 0, 4096), (3, 0, 4096), (2, 1, 4096), (2, 0, 64), (2, 1, 4096)];
    let fabric = star(4);
    let mut network =
        Network::new(&fabric, &config, tables(&fabric), AtOnce::new(&messages), Nobody).unwrap();
    network.run().unwrap();
    // Host 2's: the first is with the switch at W + C, its credit at W + 2C; the short one at W + 3C + S, its credit at W + 4C + S.
    assert_eq!(network.program().done_ps[4], Some(wire + 4 * C + short + 2 * (wire + C)));
}
