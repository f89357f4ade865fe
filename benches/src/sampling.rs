//! Path sampling: decoding one bit a packet on quartz1, beside the direct method, and a switch's step in C.

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use netloom_model::HostId;
use netloom_model::rng::{below, stream};
use netloom_routing::PathSet;
use netloom_sampling::{Candidates, Decoder, Direct, Hash, Received, Tag};

use crate::Options;
use crate::inputs::quartz1;
use crate::table::{Row, Table, median_seconds, spell};

/// Packets that are decoded, and those of them that the direct method gets.
const PACKETS: usize = 4_000_000;
const DIRECT: usize = 100_000;

/// Random hosts, hops as their ways have, any bits.
pub fn run(table: &mut Table, _: &Options) {
    let (fabric, structure) = quartz1();
    let paths = PathSet::admissible(&fabric, &structure);
    let start = Instant::now();
    let candidates = Arc::new(Candidates::new(&fabric, &structure, &paths).expect("a regular tree"));
    table.seconds("links of quartz1 in groups", start.elapsed().as_secs_f64(), 1.0, None);
    let hash = Arc::new(Hash::standard(candidates.bits()).expect("independent"));
    let mut random = stream(1, 0);
    let leaf = |host: HostId| fabric.link_to_switch(fabric.host_link(host)).expect("a leaf");
    let packets: Vec<Received> = (0..PACKETS)
        .map(|_| {
            let source = HostId(below(&mut random, fabric.host_count() as u64) as u32);
            let other = 1 + below(&mut random, fabric.host_count() as u64 - 1) as u32;
            let destination = HostId((source.0 + other) % fabric.host_count() as u32);
            let hops = 2 + paths.hops(leaf(source), leaf(destination)).expect("a way");
            let draw = below(&mut random, 1 << 34);
            let (bit, congested) = (draw >> 32 & 1 != 0, draw >> 33 & 1 != 0);
            Received { id: draw as u32, source, destination, tag: Tag { bit, congested, hops } }
        })
        .collect();
    let mut decoder = Decoder::new(Arc::clone(&candidates), Arc::clone(&hash));
    let each = median_seconds(5, || packets.iter().for_each(|packet| decoder.add(packet))) / PACKETS as f64;
    let mut direct = Direct::new(&candidates, &hash);
    let judged = median_seconds(1, || packets[..DIRECT].iter().for_each(|packet| _ = direct.add(packet)));
    let beside = ("candidates one by one", judged / DIRECT as f64);
    table.seconds("decode one packet of one bit, all candidates", each, 12e-9, Some(beside));
    let finish = median_seconds(9, || decoder.estimates());
    table.seconds("estimates of all links from what was received", finish, 50e-6, None);
    let kib = decoder.working_set().div_ceil(1024);
    table.add(Row {
        what: "what packets touch in the decoder".into(),
        measured: format!("{kib} KiB"),
        at_most: "128 KiB".into(),
        within: kib <= 128,
        beside: String::new(),
    });
    match step_in_c() {
        Some(step) => table.seconds("a switch's step in C", step, 5e-9, None),
        None => eprintln!("  a switch's step in C: no C compiler (cc)"),
    }
    eprintln!("  {PACKETS} packets, {} a round", spell(each * PACKETS as f64));
}

/// Seconds of `netloom_forward`, random numbers from a shift register as a switch would have them.
fn step_in_c() -> Option<f64> {
    const PROGRAM: &str = r#"
#include <stdio.h>
#include <time.h>
#include "netloom_sampling.h"
int main(void)
{
    enum { STEPS = 100000000 };
    static uint32_t masks[64];
    uint32_t state = 1, sum = 0, i;
    struct netloom_tag tag = {0, 0, 1};
    clock_t start;
    for (i = 0; i < 64; i++)
        masks[i] = netloom_mask(NETLOOM_MODULUS, NETLOOM_FACTOR, i + 1);
    start = clock();
    for (i = 0; i < STEPS; i++) {
        state = (state >> 1) ^ (UINT32_C(0xA3000000) & (0u - (state & 1u)));
        tag.hops = (uint8_t)(1 + (i & 3));
        netloom_forward(&tag, i * UINT32_C(0x9E3779B9), masks[i & 63], (uint8_t)(state >> 20 & 1), (uint16_t)state, 8);
        sum += tag.bit + tag.congested;
    }
    printf("%.4g %u\n", (double)(clock() - start) / CLOCKS_PER_SEC / STEPS, sum);
    return 0;
}
"#;
    let folder = std::env::temp_dir().join(format!("netloom-step-{}", std::process::id()));
    std::fs::create_dir_all(&folder).ok()?;
    let (source, program) = (folder.join("step.c"), folder.join("step"));
    std::fs::write(&source, PROGRAM).ok()?;
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../dataplane");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-O2", "-I", header]).arg(&source).arg("-o").arg(&program);
    let built = compiler.status().ok()?.success();
    let said = built.then(|| Command::new(&program).output().ok()).flatten();
    std::fs::remove_dir_all(&folder).ok()?;
    String::from_utf8(said?.stdout).ok()?.split_whitespace().next()?.parse().ok()
}
