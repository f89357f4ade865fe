//! What the hashes cost: nanoseconds a hop, and a link that a receiver tests, on a fabric (`quartz1` if none is given).

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use netloom_model::rng::{below, stream};
use netloom_model::{HostId, LinkId};
use netloom_routing::PathSet;
use netloom_sampling::{Candidates, Decoder, Direct, Hash, HashFunction, Received, Tag};
use netloom_topology::{detect, generate};

/// Hops, and packets that are decoded.
const HOPS: u32 = 20_000_000;
const PACKETS: usize = 20_000;

fn main() {
    let fabric = generate(&std::env::args().nth(1).unwrap_or("quartz1".into())).expect("a spec");
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let candidates = Arc::new(Candidates::new(&fabric, &structure, &paths).expect("a regular tree"));
    let (mut random, hosts) = (stream(1, 0), fabric.host_count() as u64);
    let packets: Vec<Received> = (0..PACKETS)
        .map(|_| {
            let (source, other) = (below(&mut random, hosts), 1 + below(&mut random, hosts - 1));
            let draw = below(&mut random, 1 << 34);
            let tag = Tag { bit: draw >> 32 & 1 != 0, congested: draw >> 33 & 1 != 0, hops: 4 };
            let (source, destination) = (HostId(source as u32), HostId(((source + other) % hosts) as u32));
            Received { id: draw as u32, source, destination, tag }
        })
        .collect();
    let mut tested = 0;
    for packet in &packets {
        candidates.visit(packet.source, packet.destination, |_| tested += 1);
    }
    println!("{:.0} links a packet", f64::from(tested) / PACKETS as f64);
    let hash = Arc::new(Hash::standard(candidates.bits()).expect("independent"));
    let mut decoder = Decoder::new(Arc::clone(&candidates), hash);
    let seconds = best(|| packets.iter().for_each(|packet| decoder.add(packet)));
    println!("{:<8} {:>26} {:>14.1} ns a packet", "gf", "by transform", seconds / PACKETS as f64 * 1e9);
    for name in ["gf", "siphash", "md5"] {
        let function: HashFunction = name.parse().expect("a hash");
        let port = |link| function.port(candidates.number(LinkId(link)).unwrap_or(1));
        let ports: Vec<u32> = (0..64).map(port).collect();
        let hops = if name == "gf" { HOPS } else { HOPS / 10 };
        let hop = best(|| {
            let mut ones = 0;
            for id in 0..hops {
                ones += u32::from(function.bit(id.wrapping_mul(0x9E37_79B9), ports[(id & 63) as usize]));
            }
            black_box(ones);
        });
        let mut direct = Direct::new(Arc::clone(&candidates), function);
        let all = best(|| packets.iter().for_each(|packet| _ = direct.add(packet)));
        println!(
            "{name:<8} {:>9.2} ns a hop {:>6.2} ns a link {:>11.1} ns a packet",
            hop / f64::from(hops) * 1e9,
            all / f64::from(tested) * 1e9,
            all / PACKETS as f64 * 1e9
        );
    }
}

/// Seconds of the fastest of three.
fn best(mut work: impl FnMut()) -> f64 {
    let mut once = || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..3).map(|_| once()).fold(f64::MAX, f64::min)
}
