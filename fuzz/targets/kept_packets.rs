//! Sampled packets from elsewhere: any of them are decoded, or counted as what can't be.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use netloom_compose::Method;
use netloom_compose::sampled::{Kept, decode};
use netloom_model::Fabric;
use netloom_routing::PathSet;
use netloom_sampling::{Candidates, HashFunction, HopBits};
use netloom_topology::{detect, generate};

struct Network {
    fabric: Fabric,
    paths: PathSet,
    /// A whole link, and one bit of every hash.
    methods: [Method; 4],
}

static NETWORK: LazyLock<Network> = LazyLock::new(|| {
    let fabric = generate("two-level:leaves=3,hosts=2,spines=2").expect("a spec");
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let candidates = Arc::new(Candidates::new(&fabric, &structure, &paths).expect("a regular tree"));
    let hashed = |name: &str| {
        let function: HashFunction = name.parse().expect("a hash");
        Method::hashed(Arc::clone(&candidates), function).expect("independent")
    };
    let methods = [Method::Whole, hashed("gf"), hashed("md5"), hashed("siphash")];
    Network { fabric, paths, methods }
});

fuzz_target!(|bytes: &[u8]| {
    let Network { fabric, paths, methods } = &*NETWORK;
    let Some((&[how, every, kind], rows)) = bytes.split_first_chunk::<3>() else { return };
    let kept: Vec<Kept> = rows
        .chunks_exact(16)
        .map(|row| Kept {
            time_ps: u64::from(row[0]) << (row[1] % 57),
            context: u32::from(row[2]),
            id: u32::from_le_bytes([row[3], row[4], row[5], row[6]]),
            source: u32::from_le_bytes([row[7], 0, 0, row[8] & 0x81]),
            destination: u32::from_le_bytes([row[9], 0, 0, row[8] & 0x42]),
            hops: row[10],
            carries: u32::from_le_bytes([row[11], row[12], 0, row[13]]),
            congested: row[14] & 1 != 0,
        })
        .collect();
    let method = &methods[usize::from(kind % 4)];
    let bits = HopBits::new(1 + (how >> 1) % 5).expect("1 to 5");
    let every_ps = (every > 0).then_some(u64::from(every) << (how >> 4));
    let found = decode(fabric, paths, method, bits, (1.0, every_ps), &kept);
    let decoded: u64 = found.sampled.received.iter().map(|pair| pair.packets).sum();
    let odd = [found.no_way, found.impossible, found.off_way, found.hops, found.short];
    let long = if matches!(method, Method::Whole) { 0 } else { found.long.packets };
    let left_out: u64 = odd.iter().map(|odd| odd.packets).sum::<u64>() + long;
    assert_eq!(decoded + left_out, kept.len() as u64);
    let last_ps = kept.iter().map(|packet| packet.time_ps).max().unwrap_or(0);
    assert!(found.sampled.windows.iter().all(|&(_, start, end)| start <= end && end <= last_ps));
    assert!(found.sampled.samples.iter().all(|row| row.traffic_error.is_finite() && row.tested > 0));
});
