//! Path sampling: decoding one bit a packet on quartz1, beside the direct method; a switch's step in C; what sampling costs a simulation.

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use netloom_compose::sampled::Sampling;
use netloom_compose::{Marking, Method, Sampler};
use netloom_model::rng::{below, stream};
use netloom_model::{Control, HostId};
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_sampling::{
    Candidates, Decoder, Direct, Hash, HashFunction, HopBits, Modulus, Received, Tag, field,
};
use netloom_sim::{
    Measure, Model, Observer, Profile, Scheme, Setup, simulate as run_simulation, simulate_observed,
};

use crate::inputs::quartz1;
use crate::table::{Row, Table, median_seconds, spell};
use crate::{Options, simulate};

/// Packets that are decoded, and those of them that the direct method gets.
const PACKETS: usize = 4_000_000;
const DIRECT: usize = 100_000;
/// Rounds of simulations, sampled and not in turn.
const ROUNDS: usize = 7;

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
    let each = median_seconds(9, || decoder.add_all(&packets)) / PACKETS as f64;
    let one_by_one = median_seconds(5, || packets.iter().for_each(|packet| decoder.add(packet)));
    let mut direct = Direct::new(Arc::clone(&candidates), HashFunction::STANDARD);
    let judged = median_seconds(1, || packets[..DIRECT].iter().for_each(|packet| _ = direct.add(packet)));
    let beside = ("candidates one by one", judged / DIRECT as f64);
    table.seconds("decode one packet of one bit, all candidates", each, 12e-9, Some(beside));
    let mut found = Vec::new();
    let finish = median_seconds(9, || decoder.estimates_into(&mut found));
    table.seconds("estimates of all links from what was received", finish, 50e-6, None);
    let kib = decoder.working_set().div_ceil(1024);
    table.add(Row {
        what: "what packets touch in the decoder".into(),
        measured: format!("{kib} KiB"),
        goal: "128 KiB".into(),
        right: true,
        beside: String::new(),
    });
    match step_in_c() {
        Some(step) => table.seconds("a switch's step in C", step, 5e-9, None),
        None => eprintln!("  a switch's step in C: no C compiler (cc)"),
    }
    let [all, one_by_one] = [each * PACKETS as f64, one_by_one].map(spell);
    eprintln!("  {PACKETS} packets, {all} a round; {one_by_one} if they come one by one");
    let one_bit = Method::one_bit(Arc::clone(&candidates), Modulus::SMALLEST, field::FEWER_RUNS);
    let one_bit = one_bit.expect("independent");
    let routes = route(Engine::Ftree, &fabric, &structure, &EngineOptions::default()).expect("a fat tree");
    for (name, spec) in [("shift", "bisection"), ("shuffle", "bisection-shuffle:seed=1")] {
        let setup = || Setup {
            skip_repeats: None,
            fabric: &fabric,
            scheme: Scheme::Tables(&routes),
            model: Model::Packet,
            profile: Profile::infiniband(),
            jobs: vec![simulate::stream(&fabric, spec, 1, 2 << 20)],
            seed: 1,
            threads: 1,
            measure: Measure::default(),
            keep: None,
            until_ps: None,
        };
        let control = Control::new();
        let bare = || drop(run_simulation(setup(), &control).expect("it runs"));
        let sampled = |method: &Method| {
            let asked = Sampling {
                method: method.clone(),
                rate: 1.0,
                every_ps: None,
                by_tag: false,
                marking: Marking::Queue,
                hop_bits: HopBits::default(),
                seed: 1,
                packets: false,
                truth: false,
            };
            let (outcome, sampler) =
                simulate_observed(setup(), Sampler::new(&fabric, asked), &control).expect("it runs");
            drop(sampler.finish(outcome.end_ps));
        };
        let idle = || drop(simulate_observed(setup(), Idle, &control).expect("it runs"));
        let mut spent = [const { Vec::new() }; 4];
        for _ in 0..ROUNDS {
            spent[0].push(cpu_of(bare));
            spent[1].push(cpu_of(idle));
            spent[2].push(cpu_of(|| sampled(&Method::Whole)));
            spent[3].push(cpu_of(|| sampled(&one_bit)));
        }
        let median = |mut of: Vec<f64>| {
            of.sort_by(f64::total_cmp);
            of[of.len() / 2]
        };
        // Round by round: what else the machine does changes both.
        let ratio =
            |which: usize| median(spent[which].iter().zip(&spent[0]).map(|(on, off)| on / off).collect());
        let (bare, idle) = (median(spent[0].clone()), ratio(1));
        for (which, method) in [(2, "a whole link"), (3, "one bit")] {
            let on = ratio(which);
            table.add(Row {
                what: format!("sampling every packet of a simulation, {name}, {method}"),
                measured: format!("{on:.3} times the CPU time of one that is not sampled"),
                goal: "1.15".into(),
                right: true,
                beside: format!("an observer that does nothing {idle:.3}; not sampled {}", spell(bare)),
            });
        }
    }
}

/// Listens, and does nothing.
struct Idle;

impl Observer for Idle {
    const TRACES: bool = false;
}

/// CPU seconds of some work.
fn cpu_of(work: impl FnOnce()) -> f64 {
    // Linux: a thread's nanoseconds; all is done in this one.
    let spent = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
    };
    let seconds = || spent().unwrap_or_else(simulate::cpu_s);
    let before = seconds();
    work();
    seconds() - before
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
