//! The traffic of a recorded run is what its replay sends, pair by pair and to the byte.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use netloom_formats::{read_ti, read_ti_workload};
use netloom_model::{Control, Cut};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_sim::{Algorithms, Config, Measure, Model, Profile, Replay, Scheme, Setup, simulate};
use netloom_testkit::cases::star;
use netloom_topology::detect;
use netloom_traffic::{RecordedOptions, recorded};

use crate::programs::{job, software};
use crate::walk::walk;

type Pairs = BTreeMap<(u32, u32), u64>;

fn replay(text: &[u8], algorithms: Algorithms) -> Replay {
    let workload = Arc::new(read_ti_workload(text, "x.ti").unwrap().workload);
    let mut replay = Replay::new(workload, f64::INFINITY);
    replay.algorithms = algorithms;
    replay
}

/// What the hosts sent each other when packets were counted, without their headers. No message asks first.
fn counted(text: &[u8], algorithms: Algorithms) -> Pairs {
    let script = replay(text, algorithms);
    let ranks = script.ranks();
    let fabric = star(ranks as usize);
    let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let config = Config::infiniband();
    let header = u64::from(config.header_bytes);
    let mut software = software();
    software.eager_bytes = u64::MAX;
    let setup = Setup {
        fabric: &fabric,
        scheme: Scheme::Tables(&routes),
        model: Model::Packet,
        profile: Profile { config, software },
        jobs: vec![job("it", &(0..ranks).collect::<Vec<_>>(), script)],
        seed: 1,
        threads: 1,
        measure: Measure { pairs: true, ..Measure::default() },
        keep: None,
        skip_repeats: None,
        until_ps: None,
    };
    let outcome = simulate(setup, &Control::new()).unwrap();
    let rows = outcome.recorded.pairs.unwrap();
    rows.iter().map(|row| ((row.from, row.to), row.bytes - row.packets * header)).collect()
}

/// What the script of a replay sends from step to step.
fn walked(text: &[u8]) -> Pairs {
    let script = replay(text, Algorithms::default());
    walk(&script, script.ranks()).into_iter().map(|(pair, (_, bytes))| (pair, bytes)).collect()
}

/// The matrix, cut or not.
fn matrix(text: &[u8], algorithms: Algorithms, cut: Cut) -> Pairs {
    let trace = read_ti(text, "x.ti").unwrap();
    let run = recorded(&trace, &RecordedOptions { cut, collectives: Some(algorithms) }).unwrap();
    let total = run.traffic.total();
    let made = run.bytes;
    assert_eq!(total.total_bytes(), made.point_to_point + made.collective - made.within_endpoints);
    total.iter().map(|(from, to, bytes)| ((from, to), bytes as u64)).collect()
}

fn agree(text: &str, algorithms: &str) {
    let chosen = Algorithms::parse(algorithms).unwrap();
    let sent = counted(text.as_bytes(), chosen);
    for cut in [Cut::One, Cut::Collectives { tolerance: 0.0 }] {
        assert_eq!(matrix(text.as_bytes(), chosen, cut), sent, "{algorithms} of\n{text}");
    }
}

/// One call of a collective by all ranks; where lists are asked for, rank `r`'s entry for `k` is `7 r + 3 k + 1` times `bytes`.
fn call(verb: &str, ranks: u32, bytes: u64) -> String {
    let root = ranks / 3;
    let list = |rank: u32| {
        let share = |k: u32| (bytes * u64::from(7 * rank + 3 * k + 1)).to_string();
        (0..ranks).map(share).collect::<Vec<_>>().join(" ")
    };
    let mut text = String::new();
    for rank in 0..ranks {
        let arguments = match verb {
            "barrier" => String::new(),
            "bcast" => format!("{bytes} {root} 6"),
            "reduce" => format!("{bytes} 0 {root} 6"),
            "allreduce" | "scan" | "exscan" => format!("{bytes} 0 6"),
            "allgather" | "alltoall" => format!("{bytes} {bytes} 6 6"),
            "gather" | "scatter" => format!("{bytes} {bytes} {root} 6 6"),
            "gatherv" | "scatterv" if verb == "gatherv" => {
                format!("{} {} {root} 6 6", bytes * u64::from(3 * rank + 1), list(0))
            }
            "scatterv" => format!("{} {bytes} {root} 6 6", list(root)),
            "allgatherv" => format!("{} {} 6 6", bytes * u64::from(3 * rank + 1), list(0)),
            "alltoallv" => format!("9 {} 9 {} 6 6", list(rank), list(0)),
            "reducescatter" => format!("{} 0 6", list(0)),
            other => panic!("{other}"),
        };
        writeln!(text, "{rank} {verb} {arguments}").unwrap();
    }
    text
}

const VERBS: [&str; 16] = [
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "allgather",
    "alltoall",
    "gather",
    "scatter",
    "scan",
    "exscan",
    "gatherv",
    "scatterv",
    "allgatherv",
    "alltoallv",
    "reducescatter",
    "bcast",
];

#[test]
fn every_collective_of_4_to_33_ranks_is_in_the_matrix_what_packets_carry() {
    for ranks in 4..=33 {
        let all: String = VERBS.iter().map(|verb| call(verb, ranks, 13)).collect();
        agree(&all, "");
    }
    for ranks in [4, 5, 8, 33] {
        for verb in VERBS {
            agree(&call(verb, ranks, 13), "");
        }
        // Long ones are done otherwise.
        for verb in ["bcast", "allreduce", "allgather", "alltoall"] {
            agree(&call(verb, ranks, 20_000), "");
        }
        agree(&call("allreduce", ranks, 1000), "allreduce=ring");
        agree(&call("alltoall", ranks, 1000), "alltoall=bruck");
    }
}

/// The shape of NAS IS: an allreduce, an alltoall of one number, an alltoallv of keys, a send to the next; messages without bytes, and
/// to oneself.
#[test]
fn a_sort_of_integers_is_in_the_matrix_what_packets_carry() {
    let mut text = String::new();
    for _ in 0..3 {
        text += &call("allreduce", 8, 517 * 4);
        text += &call("alltoall", 8, 4);
        text += &call("alltoallv", 8, 101);
    }
    for rank in 0..8 {
        writeln!(text, "{rank} irecv {} 1 8 6", (rank + 7) % 8).unwrap();
        writeln!(text, "{rank} send {} 1 {} 6", (rank + 1) % 8, 4 + 4 * (rank % 2)).unwrap();
        writeln!(text, "{rank} waitall 1").unwrap();
        writeln!(text, "{rank} irecv {rank} 2 4 6\n{rank} isend {rank} 2 4 6\n{rank} waitall 2").unwrap();
    }
    agree(&text, "");
}

/// NAS FT, class C, 128 ranks: three all-to-alls of 8,192 complex numbers for each pair.
#[test]
fn a_trace_of_alltoalls_has_the_bytes_of_its_replay() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/ft-128.ti.gz");
    let bytes = std::fs::read(path).unwrap();
    let sent = matrix(&bytes, Algorithms::default(), Cut::default());
    assert_eq!(sent, walked(&bytes));
    assert_eq!(sent.len(), 128 * 127);
    let alltoalls = 3 * 128 * 127 * 8192 * 16;
    // A barrier of one byte in seven rounds, broadcasts of 4 ints and a number of 4 bytes down a tree, a complex number up it.
    let small = 128 * 7 + 5 * 127 * 4 + 127 * 16;
    assert_eq!(sent.values().sum::<u64>(), alltoalls + small);
}
