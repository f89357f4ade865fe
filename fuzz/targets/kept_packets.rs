//! Sampled packets from elsewhere: any of them are decoded, or counted as what can't be.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use netloom_compose::Method;
use netloom_compose::sampled::{Kept, decode};
use netloom_model::Fabric;
use netloom_routing::PathSet;
use netloom_sampling::{Candidates, HopBits, Modulus, field};
use netloom_topology::{detect, generate};

static FABRIC: LazyLock<(Fabric, Method)> = LazyLock::new(|| {
    let fabric = generate("two-level:leaves=3,hosts=2,spines=2").expect("a spec");
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let candidates = Candidates::new(&fabric, &structure, &paths).expect("a regular tree");
    let method = Method::one_bit(Arc::new(candidates), Modulus::SMALLEST, field::FEWER_RUNS);
    (fabric, method.expect("independent"))
});

fuzz_target!(|bytes: &[u8]| {
    let (fabric, one_bit) = &*FABRIC;
    let Some((&[how, every], rows)) = bytes.split_first_chunk::<2>() else { return };
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
    let method = if how & 1 == 0 { &Method::Whole } else { one_bit };
    let bits = HopBits::new(1 + (how >> 1) % 5).expect("1 to 5");
    let every_ps = (every > 0).then_some(u64::from(every) << (how >> 4));
    let found = decode(fabric, method, bits, (1.0, every_ps), &kept);
    let decoded: u64 = found.sampled.received.iter().map(|pair| pair.packets).sum();
    let odd = found.no_way.packets + found.impossible.packets + found.hops.packets;
    assert_eq!(decoded + odd, kept.len() as u64);
    assert!(found.sampled.samples.iter().all(|row| row.traffic_error.is_finite() && row.tested > 0));
});
