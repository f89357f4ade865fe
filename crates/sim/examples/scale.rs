//! One permutation on a large fabric: `cargo run --release -p netloom-sim --example scale -- [SPEC] [MIB] [THREADS…]`.
//!
//! Every host sends `MIB` (1) MiB to another by forwarding tables (`ftree`), hardware as InfiniBand's; the default fabric has 65,536 hosts.
//! Prints, for each number of threads, the simulated time, packet-hops a second by the clock and by the CPU, and the peak memory
//! so far. `shift` and `shuffle` instead of `MIB` run the five messages of 2 MiB of the dissertation's bisection, `adaptive` adaptive routing.

use std::time::Instant;

use netloom_model::{Control, Fabric};
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_sim::choice::{Adaptive, ByTable};
use netloom_sim::{Choice, Finished, Job, Nobody, Player, Profile, Stream, Terms, run_network};
use netloom_topology::{detect, generate};

/// 64 ports a switch: 64 pods of 32 leaves with 32 hosts each, two layers above.
const LARGE: &str = "fattree:pods=64,leaves=32,hosts=32,spines=32,groups=32,cores=32";

/// CPU seconds of all threads, and the peak of memory in GB.
fn used() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let cpu = ticks.get(11).and_then(|t| t.parse::<f64>().ok()).unwrap_or(f64::NAN) / 100.0;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = peak.and_then(|p| p.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(f64::NAN);
    (cpu, kb / 1e6)
}

fn run<C: Choice + Clone>(
    fabric: &Fabric,
    choice: C,
    to: &[u32],
    messages: u64,
    bytes: u64,
    threads: &[usize],
) {
    let profile = Profile::infiniband();
    let control = Control::new();
    let mut first: Option<Finished<Player, Nobody>> = None;
    for &threads in threads {
        let job = Job::new("permutation", fabric.hosts().collect(), Stream::of(to, messages, bytes));
        let player = Player::new(vec![job], profile.software.clone());
        let terms = Terms {
            threads,
            partitions: None,
            until_ps: None,
            measure: None,
            packet_jobs: 1,
            keep: None,
            skip_repeats: None,
            control: &control,
        };
        let (before, clock) = (used().0, Instant::now());
        let finished =
            run_network(fabric, &profile.config, choice.clone(), player, |_| Nobody, &terms).unwrap();
        let (seconds, (after, peak)) = (clock.elapsed().as_secs_f64(), used());
        let (cpu, hops) = (after - before, finished.packet_hops as f64 / 1e6);
        println!(
            "{threads} threads, {} partitions: {:.3} ms simulated, {hops:.1} M packet-hops, {seconds:.2} s ({:.2} M/s), \
             {cpu:.2} CPU s ({:.2} M/s), peak {peak:.2} GB, {:?}",
            finished.partitions,
            finished.end_ps as f64 / 1e9,
            hops / seconds,
            hops / cpu,
            finished.end,
        );
        if let Some(first) = &first {
            assert_eq!(first.counters, finished.counters, "threads change nothing");
            assert_eq!(first.program.times(0), finished.program.times(0), "threads change nothing");
            assert_eq!(first.packet_latencies, finished.packet_latencies, "threads change nothing");
        }
        first.get_or_insert(finished);
    }
}

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let adaptive = args.iter().position(|a| a == "adaptive").map(|at| args.remove(at)).is_some();
    let fabric = generate(args.first().map_or(LARGE, |s| s)).unwrap();
    let hosts = fabric.host_count() as u32;
    let (spec, messages, bytes) = match args.get(1).map(String::as_str) {
        Some("shift") => ("bisection", 5, 2 << 20),
        Some("shuffle") => ("bisection-shuffle:seed=1", 5, 2 << 20),
        mib => ("permutation:seed=1", 1, mib.map_or(1, |m| m.parse().expect("MiB a host")) << 20),
    };
    let threads: Vec<usize> = args.iter().skip(2).map(|t| t.parse().expect("threads")).collect();
    let threads = if threads.is_empty() { vec![1] } else { threads };
    let traffic = netloom_traffic::pattern(spec, Some(hosts)).unwrap();
    let matrix = traffic.total();
    let to: Vec<u32> =
        (0..hosts as usize).map(|h| matrix.row(h).0.first().map_or(h as u32, |&to| to)).collect();
    let structure = detect(&fabric);
    println!("{hosts} hosts, {} switches; peak {:.2} GB", fabric.switch_count(), used().1);
    if adaptive {
        let paths = PathSet::admissible(&fabric, &structure);
        run(&fabric, Adaptive::new(&fabric, &paths, 1), &to, messages, bytes, &threads);
    } else {
        let routes = route(Engine::Ftree, &fabric, &structure, &EngineOptions::default()).unwrap();
        let choice = ByTable::new(&fabric, routes.lft().expect("ftree gives tables"));
        drop(routes);
        println!("tables; peak {:.2} GB", used().1);
        run(&fabric, choice, &to, messages, bytes, &threads);
    }
}
