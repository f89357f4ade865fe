//! Nanoseconds a packet, and microseconds for all estimates, of random packets on a fabric (`quartz1` if none is given).

use std::sync::Arc;
use std::time::Instant;

use netloom_model::HostId;
use netloom_model::rng::{below, stream};
use netloom_routing::PathSet;
use netloom_sampling::{Candidates, Decoder, Hash, Received, Tag};
use netloom_topology::{detect, generate};

fn main() {
    let fabric = generate(&std::env::args().nth(1).unwrap_or("quartz1".into())).expect("a spec");
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let candidates = Arc::new(Candidates::new(&fabric, &structure, &paths).expect("a regular tree"));
    let hash = Arc::new(Hash::standard(candidates.bits()).expect("independent"));
    let (mut random, hosts) = (stream(1, 0), fabric.host_count() as u64);
    let packets: Vec<Received> = (0..2_000_000)
        .map(|_| {
            let (source, other) = (below(&mut random, hosts), 1 + below(&mut random, hosts - 1));
            let draw = below(&mut random, 1 << 37);
            let tag = Tag {
                bit: draw >> 32 & 1 != 0,
                congested: draw >> 33 & 1 != 0,
                hops: 2 + 2 * (draw >> 34 & 1) as u8,
            };
            let (source, destination) = (HostId(source as u32), HostId(((source + other) % hosts) as u32));
            Received { id: draw as u32, source, destination, tag }
        })
        .collect();
    let mut decoder = Decoder::new(candidates, hash);
    let mut found = Vec::new();
    for _ in 0..6 {
        let start = Instant::now();
        decoder.add_all(&packets);
        let each = start.elapsed().as_secs_f64() / packets.len() as f64;
        let start = Instant::now();
        decoder.estimates_into(&mut found);
        let finish = start.elapsed().as_secs_f64();
        let kib = decoder.working_set().div_ceil(1024);
        println!("{:5.1} ns a packet, {:5.0} us for estimates, {kib} KiB", each * 1e9, finish * 1e6);
    }
}
