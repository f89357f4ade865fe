//! The packet engine alone: packet-hops a CPU second of named runs, a line each.
//!
//! Two builds of this program run in turn tell which engine is faster, and by the last column whether their results are equal:
//! `netloom-benches rates [BYTES] [CASE …]`. Without names, all of them; with a number, one message of so many bytes a host, as a profiler
//! that counts instructions can bear it.

use std::hash::{DefaultHasher, Hash, Hasher};

use netloom_model::Fabric;
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_sim::{Measure, Model, PerPacket, Profile, Scheme, Setup};

use crate::inputs::{HOSTS_65536, generated};
use crate::simulate::{Run, stream, timed, uniform};

/// The word for it on the command line.
pub const WORD: &str = "rates";

/// How switches choose.
#[derive(Clone, Copy)]
enum Ways {
    Engine(Engine),
    Adaptive,
}

/// A run by name.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    fabric: &'static str,
    /// A pattern and the messages of each host with their bytes; `None`: messages of one packet to hosts drawn uniformly, so many a host.
    traffic: (Option<&'static str>, u64, u64),
    profile: fn() -> Profile,
    ways: Ways,
}

const QUARTZ: &str = "quartz1";
const HOSTS_1024: &str = "fattree:pods=8,leaves=8,hosts=16,spines=8,groups=8,cores=8";
const HOSTS_4096: &str = "fattree:pods=16,leaves=16,hosts=16,spines=16,groups=16,cores=16";
const HOSTS_16384: &str = "fattree:pods=16,leaves=32,hosts=32,spines=32,groups=32,cores=16";
const SHIFT: (Option<&str>, u64, u64) = (Some("bisection"), 5, 2 << 20);
const SHUFFLE: (Option<&str>, u64, u64) = (Some("bisection-shuffle:seed=1"), 5, 2 << 20);
const SOME: (Option<&str>, u64, u64) = (Some("permutation:seed=1"), 1, 1 << 20);
const FEW: (Option<&str>, u64, u64) = (Some("permutation:seed=1"), 1, 1 << 18);
const SHORT: (Option<&str>, u64, u64) = (None, 1000, 4096);
const FTREE: Ways = Ways::Engine(Engine::Ftree);
const DMODK: Ways = Ways::Engine(Engine::Dmodk);

#[rustfmt::skip]
const CASES: [Case; 20] = [
    Case { name: "codes-shift-ftree", fabric: QUARTZ, traffic: SHIFT, profile: Profile::codes, ways: FTREE },
    Case { name: "codes-shuffle-ftree", fabric: QUARTZ, traffic: SHUFFLE, profile: Profile::codes, ways: FTREE },
    Case { name: "codes-shift-adaptive", fabric: QUARTZ, traffic: SHIFT, profile: Profile::codes, ways: Ways::Adaptive },
    Case { name: "codes-shuffle-adaptive", fabric: QUARTZ, traffic: SHUFFLE, profile: Profile::codes, ways: Ways::Adaptive },
    Case { name: "infiniband-shift-ftree", fabric: QUARTZ, traffic: SHIFT, profile: Profile::infiniband, ways: FTREE },
    Case { name: "infiniband-shuffle-ftree", fabric: QUARTZ, traffic: SHUFFLE, profile: Profile::infiniband, ways: FTREE },
    Case { name: "infiniband-shift-adaptive", fabric: QUARTZ, traffic: SHIFT, profile: Profile::infiniband, ways: Ways::Adaptive },
    Case { name: "infiniband-shuffle-adaptive", fabric: QUARTZ, traffic: SHUFFLE, profile: Profile::infiniband, ways: Ways::Adaptive },
    Case { name: "two-lanes-shift-ftree", fabric: QUARTZ, traffic: SHIFT, profile: two_lanes, ways: FTREE },
    Case { name: "4k-codes", fabric: HOSTS_4096, traffic: SOME, profile: Profile::codes, ways: DMODK },
    Case { name: "4k-infiniband", fabric: HOSTS_4096, traffic: SOME, profile: Profile::infiniband, ways: DMODK },
    Case { name: "4k-infiniband-adaptive", fabric: HOSTS_4096, traffic: SOME, profile: Profile::infiniband, ways: Ways::Adaptive },
    Case { name: "16k-codes", fabric: HOSTS_16384, traffic: FEW, profile: Profile::codes, ways: DMODK },
    Case { name: "16k-infiniband", fabric: HOSTS_16384, traffic: FEW, profile: Profile::infiniband, ways: DMODK },
    Case { name: "16k-codes-adaptive", fabric: HOSTS_16384, traffic: FEW, profile: Profile::codes, ways: Ways::Adaptive },
    Case { name: "16k-infiniband-adaptive", fabric: HOSTS_16384, traffic: FEW, profile: Profile::infiniband, ways: Ways::Adaptive },
    Case { name: "65k-codes", fabric: HOSTS_65536, traffic: FEW, profile: Profile::codes, ways: DMODK },
    Case { name: "65k-infiniband", fabric: HOSTS_65536, traffic: FEW, profile: Profile::infiniband, ways: DMODK },
    Case { name: "short-ftree", fabric: HOSTS_1024, traffic: SHORT, profile: Profile::codes, ways: FTREE },
    Case { name: "short-adaptive", fabric: HOSTS_1024, traffic: SHORT, profile: Profile::codes, ways: Ways::Adaptive },
];

fn two_lanes() -> Profile {
    let mut profile = Profile::infiniband();
    profile.config.lanes = 2;
    profile
}

/// Runs what is named, and prints it; whether all names are known.
pub fn print(arguments: &[String]) -> bool {
    let bytes: Option<u64> = arguments.first().and_then(|word| word.parse().ok());
    let names = &arguments[usize::from(bytes.is_some())..];
    let wanted =
        |case: &&Case| names.is_empty() || names.iter().any(|name| case.name.contains(name.as_str()));
    let brief = |case: &Case| match (bytes, case.traffic) {
        (Some(bytes), (Some(spec), ..)) => Case { traffic: (Some(spec), 1, bytes), ..*case },
        (Some(bytes), (None, _, one)) => Case { traffic: (None, bytes / one, one), ..*case },
        _ => *case,
    };
    let cases: Vec<Case> = CASES.iter().filter(wanted).map(brief).collect();
    for case in &cases {
        let (fabric, structure) = generated(case.fabric);
        match case.ways {
            Ways::Engine(engine) => {
                let routes =
                    route(engine, &fabric, &structure, &EngineOptions::default()).expect("a fat tree");
                rate(case, &fabric, Scheme::Tables(&routes));
            }
            Ways::Adaptive => {
                let paths = PathSet::admissible(&fabric, &structure);
                rate(case, &fabric, Scheme::PerPacket(PerPacket::Adaptive, &paths));
            }
        }
    }
    !cases.is_empty()
}

fn rate(case: &Case, fabric: &Fabric, scheme: Scheme) {
    let (pattern, messages, bytes) = case.traffic;
    let setup = match pattern {
        None => uniform(fabric, scheme, 1, messages),
        Some(spec) => Setup {
            skip_repeats: None,
            fabric,
            scheme,
            model: Model::Packet,
            profile: (case.profile)(),
            jobs: vec![stream(fabric, spec, messages, bytes)],
            seed: 1,
            threads: 1,
            measure: Measure::default(),
            keep: None,
            until_ps: None,
        },
    };
    let Run { outcome, cpu_s, bytes, .. } = timed(setup);
    let mut digest = DefaultHasher::new();
    format!("{:?}{:?}", outcome.counters, outcome.jobs).hash(&mut digest);
    println!(
        "{:<28} {:>6.2} million packet-hops a CPU second, {:>6.2} s, {:>5.0} MB, results {:016x}",
        case.name,
        outcome.packet_hops as f64 / cpu_s / 1e6,
        cpu_s,
        bytes / 1e6,
        digest.finish()
    );
}
