//! The packet simulator: packet-hops a CPU second, two threads, 65,536 hosts.
//!
//! The work is the dissertation's bisection (sec. 5.2): on quartz1 every host sends five messages of 2 MiB, 47 million
//! packet-hops. Other simulators are beside ours in `benches/peers`, in runs of the same day.

use std::time::Instant;

use netloom_model::{Control, Fabric};
use netloom_routing::{Engine, EngineOptions, PathSet, Steering, route};
use netloom_sim::{
    Admission, Incast, Job, Measure, Model, OpenLoop, Outcome, PerPacket, Profile, Scheme, Setup,
    SteerOptions, Steered, Stream, Uniform, simulate,
};
use netloom_topology::detect;

use crate::Options;
use crate::inputs::{HOSTS_65536, generated, pattern};
use crate::table::{Row, Table, spell};

/// One run: what it came to, seconds by the clock and of the CPU, the process's peak of memory, bytes.
pub struct Run {
    pub outcome: Outcome,
    pub seconds: f64,
    pub cpu_s: f64,
    pub bytes: f64,
}

pub fn timed(setup: Setup) -> Run {
    // Linux: the peak of resident memory starts anew.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let (before, clock) = (cpu_s(), Instant::now());
    let outcome = simulate(setup, &Control::new()).expect("it runs to its end");
    let seconds = clock.elapsed().as_secs_f64();
    Run { outcome, seconds, cpu_s: cpu_s() - before, bytes: status("VmHWM:") }
}

/// CPU seconds of this process.
pub fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// A line of `/proc/self/status`, in bytes.
fn status(key: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) * 1024.0
}

pub fn stream(fabric: &Fabric, spec: &str, messages: u64, bytes: u64) -> Job {
    let traffic = pattern(spec, fabric);
    let matrix = traffic.total();
    let to: Vec<u32> = fabric.hosts().map(|h| matrix.row(h.index()).0[0]).collect();
    Job::new("stream", fabric.hosts().collect(), Stream::of(&to, messages, bytes))
}

/// Bisection and a permutation.
pub fn run(table: &mut Table, _: &Options) {
    let (fabric, structure) = generated("quartz1");
    let paths = PathSet::admissible(&fabric, &structure);
    let routes = route(Engine::Ftree, &fabric, &structure, &EngineOptions::default()).expect("a fat tree");
    let tables = Scheme::Tables(&routes);
    let setup = |spec: &str, scheme, profile, threads| Setup {
        skip_repeats: None,
        fabric: &fabric,
        scheme,
        model: Model::Packet,
        profile,
        jobs: vec![stream(&fabric, spec, 5, 2 << 20)],
        seed: 1,
        threads,
        measure: Measure::default(),
        keep: None,
        until_ps: None,
    };
    let (shift, shuffle) = ("bisection", "bisection-shuffle:seed=1");
    let adaptive = Scheme::PerPacket(PerPacket::Adaptive, &paths);
    let mut two = Profile::infiniband();
    two.config.lanes = 2;
    let mut rate = |name: String, spec: &str, scheme, profile, least: f64| {
        let Run { outcome, cpu_s, bytes, .. } = timed(setup(spec, scheme, profile, 1));
        let rate = outcome.packet_hops as f64 / cpu_s;
        table.add(Row {
            what: format!("packet-hops a CPU second, {name}"),
            measured: format!("{:.1} million, {:.0} MB", rate / 1e6, bytes / 1e6),
            goal: format!("at least {:.0} million, below 150 MB", least / 1e6),
            right: true,
            beside: String::new(),
        });
    };
    for (word, profile, goals) in [
        ("codes", Profile::codes(), [35e6, 15e6, 15e6, 10e6]),
        ("infiniband", Profile::infiniband(), [25e6, 15e6, 10e6, 8e6]),
    ] {
        let cases = [
            ("shift, ftree", shift, tables),
            ("shuffle, ftree", shuffle, tables),
            ("shift, adaptive", shift, adaptive),
            ("shuffle, adaptive", shuffle, adaptive),
        ];
        for ((name, spec, scheme), goal) in cases.into_iter().zip(goals) {
            rate(format!("{name}, {word}"), spec, scheme, profile.clone(), goal);
        }
    }
    rate("shift, ftree, infiniband with two lanes".into(), shift, tables, two, 10e6);
    let [one, both] = [1, 2].map(|threads| timed(setup(shift, tables, Profile::infiniband(), threads)));
    let equal = one.outcome.counters == both.outcome.counters && one.outcome.jobs == both.outcome.jobs;
    table.add(Row {
        what: "shift, ftree, profile infiniband, two threads".into(),
        measured: format!(
            "{}, {:.2}x faster, {} results",
            spell(both.seconds),
            one.seconds / both.seconds,
            if equal { "equal" } else { "other" }
        ),
        goal: "at least 1.6x, equal".into(),
        right: equal,
        beside: format!("one thread {}", spell(one.seconds)),
    });
    deep(table);
    detours(table);
    large(table);
}

/// Every host offers half of its link to random others, in packets of 4096 bytes; so many in the window.
pub fn uniform<'a>(fabric: &'a Fabric, scheme: Scheme<'a>, lanes: u8, packets: u64) -> Setup<'a> {
    let mut profile = Profile::codes();
    profile.config.lanes = lanes;
    let wire_bytes = u64::from(profile.config.wire_bytes());
    let hosts: Vec<u32> = fabric.hosts().map(|host| host.0).collect();
    let bandwidth = fabric.reference_bandwidth_bytes_per_s();
    let every_ps = wire_bytes as f64 * 1e12 / bandwidth / 0.5;
    let length_ps = (packets as f64 * every_ps) as u64;
    let window = OpenLoop {
        from_ps: length_ps / 4,
        to_ps: length_ps / 4 + length_ps,
        wire_bytes,
        capacity_bytes_per_s: bandwidth * hosts.len() as f64,
    };
    let bytes = u64::from(profile.config.packet_bytes);
    let script = Uniform::new(hosts, vec![every_ps; fabric.host_count()], bytes, window, 1);
    Setup {
        skip_repeats: None,
        fabric,
        scheme,
        model: Model::Packet,
        profile,
        jobs: vec![Job::new("load", fabric.hosts().collect(), script)],
        seed: 1,
        threads: 1,
        measure: Measure::default(),
        keep: None,
        until_ps: None,
    }
}

/// Eight hosts send a message of 16 MiB each to one, and nearly all of it waits at one output: inputs in turn, beside packets in order of coming.
fn deep(table: &mut Table) {
    let (fabric, structure) = generated("two-level:leaves=2,hosts=8,spines=8");
    let routes = route(Engine::Dmodk, &fabric, &structure, &EngineOptions::default()).expect("a fat tree");
    let incast = Incast { ranks: 9, root: 0, messages: 1, bytes: 16 << 20, iterations: 1 };
    let [turns, order] = [Admission::RoundRobin, Admission::InOrder].map(|admission| {
        let mut profile = Profile::infiniband();
        profile.config.head_of_line = false;
        profile.config.input_buffer_bytes = Some(1 << 28);
        profile.config.admission = admission;
        let Run { outcome, cpu_s, .. } = timed(Setup {
            skip_repeats: None,
            fabric: &fabric,
            scheme: Scheme::Tables(&routes),
            model: Model::Packet,
            profile,
            jobs: vec![Job::new("in", fabric.hosts().take(9).collect(), incast.clone())],
            seed: 1,
            threads: 1,
            measure: Measure::default(),
            keep: None,
            until_ps: None,
        });
        assert!(outcome.stuck.is_empty(), "all arrive");
        outcome.packet_hops as f64 / cpu_s
    });
    table.add(Row {
        what: "packet-hops a CPU second, 8 senders x a message of 16 MiB to one host, queued by output"
            .into(),
        measured: format!("{:.1} million, {:.2} of in-order", turns / 1e6, turns / order),
        goal: "at least 0.7 of in-order".into(),
        right: true,
        beside: format!("in order of coming: {:.1} million", order / 1e6),
    });
}

/// Minimal ways and UGAL on a dragonfly of 1,056 hosts, beside tables on a tree of 1,024.
fn detours(table: &mut Table) {
    const PACKETS: u64 = 500;
    let rate = |setup| {
        let Run { outcome, cpu_s, .. } = timed(setup);
        outcome.packet_hops as f64 / cpu_s
    };
    let (tree, structure) = generated("two-level:leaves=32,hosts=32,spines=32");
    let routes = route(Engine::Ftree, &tree, &structure, &EngineOptions::default()).expect("a fat tree");
    let beside = rate(uniform(&tree, Scheme::Tables(&routes), 1, PACKETS));
    let (fabric, structure) = generated("dragonfly:p=4,a=8,h=4");
    let steering = Steering::new(&fabric, &structure).expect("a dragonfly");
    let mut minimal = 0.0;
    for scheme in [Steered::Minimal, Steered::Ugal] {
        let options = SteerOptions::new(scheme);
        let found = rate(uniform(&fabric, Scheme::Steered(options, &steering), options.lanes, PACKETS));
        let ratio = if minimal == 0.0 { found / beside } else { found / minimal };
        let (whose, least) = if minimal == 0.0 { ("of ftree", None) } else { ("of minimal", Some(0.4)) };
        table.add(Row {
            what: format!("packet-hops a CPU second, 1,056 hosts, uniform at 0.5, {}", scheme.name()),
            measured: format!("{:.2} million, {ratio:.2} {whose}", found / 1e6),
            goal: least.map_or_else(String::new, |least| format!("at least {least} of minimal")),
            right: true,
            beside: format!("ftree, tree of 1,024 hosts: {:.2} million", beside / 1e6),
        });
        minimal = found;
    }
}

/// Every host of 65,536 sends 1 MiB to another.
fn large(table: &mut Table) {
    let (fabric, _) = generated(HOSTS_65536);
    let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default());
    let routes = routes.expect("a fat tree");
    let Run { outcome, cpu_s, bytes, .. } = timed(Setup {
        skip_repeats: None,
        fabric: &fabric,
        scheme: Scheme::Tables(&routes),
        model: Model::Packet,
        profile: Profile::infiniband(),
        jobs: vec![stream(&fabric, "permutation:seed=1", 1, 1 << 20)],
        seed: 1,
        threads: 1,
        measure: Measure::default(),
        keep: None,
        until_ps: None,
    });
    table.add(Row {
        what: "65,536 hosts, permutation, 1 MiB a host".into(),
        measured: format!(
            "{:.1} million packet-hops a CPU second ({}), {:.1} GB",
            outcome.packet_hops as f64 / cpu_s / 1e6,
            spell(cpu_s),
            bytes / 1e9
        ),
        goal: "4 GB".into(),
        right: true,
        beside: String::new(),
    });
}
