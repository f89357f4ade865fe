//! Packet-hops a CPU second on quartz1: bisection shift and shuffle, five messages of 2 MiB a host.
//!
//! Arguments: a fabric, and words that a case's name must have. In the environment: `MESSAGES` and `BYTES` for fewer and shorter messages,
//! `PACKETS` for latencies of packets too.

use netloom_model::{Fabric, HostId};
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_sim::choice::{Adaptive, AdaptiveRemote, ByTable, RandomPerPacket};
use netloom_sim::{Choice, Config, Desk, Network, Nobody, Post, Program};
use netloom_topology::{detect, generate};

struct Stream {
    to: Vec<HostId>,
    bytes: u64,
    left: Vec<(u32, u8)>,
    ends: u64,
}

impl Stream {
    fn next(&mut self, host: usize, desk: &mut Desk<u32>) {
        let to = self.to[host];
        desk.post(Post {
            from: HostId(host as u32),
            address: netloom_model::DestId(to.0),
            bytes: self.bytes,
            lane: 0,
            // Each message draws for itself.
            mode: None,
            token: self.left[host].0,
        });
    }
    fn step(&mut self, host: HostId, desk: &mut Desk<u32>) {
        let h = host.0 as usize;
        self.left[h].1 -= 1;
        if self.left[h].1 == 0 {
            self.left[h].0 -= 1;
            self.left[h].1 = 2;
            if self.left[h].0 > 0 {
                self.next(h, desk);
            } else {
                self.ends = desk.now_ps();
            }
        }
    }
}

impl Program for Stream {
    type Token = u32;
    fn identity(&self, left: u32) -> u64 {
        left.into()
    }
    fn start(&mut self, desk: &mut Desk<u32>) {
        for h in 0..self.to.len() {
            self.next(h, desk);
        }
    }
    fn sent(&mut self, from: HostId, _: u32, desk: &mut Desk<u32>) {
        self.step(from, desk);
    }
    fn received(&mut self, at: HostId, _: u32, _: u64, desk: &mut Desk<u32>) {
        self.step(at, desk);
    }
}

/// A number from the environment.
fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |value| value.parse().expect("a whole number"))
}

fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    f[11].parse::<f64>().unwrap() / 100.0
}

fn run<C: Choice>(name: &str, fabric: &Fabric, config: &Config, choice: C, to: &[HostId]) {
    let wanted: Vec<String> = std::env::args().skip(2).collect();
    if !wanted.iter().all(|w| name.contains(w.as_str())) {
        return;
    }
    let program = Stream {
        to: to.to_vec(),
        bytes: number("BYTES", 2 << 20),
        left: vec![(number("MESSAGES", 5) as u32, 2); to.len()],
        ends: 0,
    };
    let mut net = Network::new(fabric, config, choice, program, Nobody).unwrap();
    if std::env::var_os("PACKETS").is_some() {
        net.record_packets(1);
    }
    let t = cpu_s();
    net.run().unwrap();
    let s = cpu_s() - t;
    println!(
        "{name:36} {:8.3} ms  {:5.2} CPU s  {:5.2} M packet-hops / CPU s",
        net.program().ends as f64 / 1e9,
        s,
        net.packet_hops() as f64 / s / 1e6
    );
    if let Some(packets) = net.packet_latencies().first() {
        println!("{:?}", packets.summary());
    }
}

fn main() {
    let spec = std::env::args().nth(1).unwrap_or("quartz1".into());
    let fabric = generate(&spec).unwrap();
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let hosts = fabric.host_count() as u32;
    let codes = Config::codes();
    let ib = Config::infiniband();
    let bare = Config {
        head_of_line: false,
        admission: netloom_sim::Admission::InOrder,
        forwarding: netloom_sim::Forwarding::StoreAndForward,
        ..ib.clone()
    };
    let two = Config { lanes: 2, ..ib.clone() };
    for spec in ["bisection", "bisection-shuffle:seed=1"] {
        let traffic = netloom_traffic::pattern(spec, Some(hosts)).unwrap();
        let matrix = traffic.total();
        let to: Vec<HostId> = (0..hosts as usize).map(|h| HostId(matrix.row(h).0[0])).collect();
        for engine in [Engine::Ftree, Engine::Dmodk] {
            let routes = route(engine, &fabric, &structure, &EngineOptions::default()).unwrap();
            let lft = routes.lft().unwrap();
            for (name, config) in
                [("bare", &bare), ("codes", &codes), ("infiniband", &ib), ("two lanes", &two)]
            {
                run(&format!("{spec} {engine:?} {name}"), &fabric, config, ByTable::new(&fabric, lft), &to);
            }
        }
        for (name, config) in [("bare", &bare), ("codes", &codes), ("infiniband", &ib)] {
            let adaptive = Adaptive::new(&fabric, &paths, 1);
            run(&format!("{spec} adaptive {name}"), &fabric, config, adaptive, &to);
            let remote = AdaptiveRemote::new(&fabric, &paths, 1);
            run(&format!("{spec} remote {name}"), &fabric, config, remote, &to);
            let random = RandomPerPacket::new(&fabric, &paths, 1);
            run(&format!("{spec} random {name}"), &fabric, config, random, &to);
        }
    }
}
