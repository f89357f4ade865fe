//! Inputs that several families share: all ship with the repository.

use netloom_formats::{read_fabric, read_jobs, read_mtx};
use netloom_model::{Fabric, JobSpec, Phase, PhaseSpec, Source, Traffic};
use netloom_topology::{Structure, detect, generate};
use netloom_traffic::collective::Algorithms;
use netloom_traffic::{ResolvedJob, place};

/// The spec of a tree with 40,960 hosts, which still fits InfiniBand's LIDs.
pub const HOSTS_40960: &str = "fattree:pods=40,leaves=32,hosts=32,spines=16,groups=16,cores=32";
/// The spec of a tree with 65,536 hosts.
pub const HOSTS_65536: &str = "fattree:pods=64,leaves=32,hosts=32,spines=32,groups=32,cores=32";

/// A file of the repository.
pub fn file(path: &str) -> Vec<u8> {
    let full = format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&full).unwrap_or_else(|error| panic!("{full}: {error}"))
}

/// The dump of quartz1 as `ibnetdiscover` printed it, gzip.
pub fn quartz1_dump() -> Vec<u8> {
    file("tests/data/opensm/quartz1/ibnetdiscover.txt.gz")
}

/// quartz1, from its dump.
pub fn quartz1() -> (Fabric, Structure) {
    let fabric = read_fabric(&quartz1_dump(), "quartz1", None).expect("the dump is a fabric").fabric;
    let structure = detect(&fabric);
    (fabric, structure)
}

/// A generated fabric.
pub fn generated(spec: &str) -> (Fabric, Structure) {
    let fabric = generate(spec).expect("a known spec");
    let structure = detect(&fabric);
    (fabric, structure)
}

/// A pattern over all hosts of `fabric`.
pub fn pattern(spec: &str, fabric: &Fabric) -> Traffic {
    netloom_traffic::pattern(spec, Some(fabric.host_count() as u32)).expect("a known spec")
}

/// The jobs of a jobs file, with their traffic, and the seed that places them; the path from the root of the
/// repository.
pub fn resolved(path: &str) -> (Vec<ResolvedJob>, u64) {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    resolved_text(&file(path), path, folder)
}

/// The same of a jobs file's text, as if it lay in `folder`.
pub fn resolved_text(text: &[u8], name: &str, folder: &str) -> (Vec<ResolvedJob>, u64) {
    let jobs = read_jobs(text, name).expect("the example is a jobs file");
    let resolve = |spec: JobSpec| {
        let traffic = traffic_of(&spec.source, folder);
        ResolvedJob { spec, traffic, rank_hosts: None }
    };
    (jobs.jobs.into_iter().map(resolve).collect(), jobs.seed)
}

fn traffic_of(source: &Source, folder: &str) -> Traffic {
    match source {
        Source::Matrix(path) => {
            let path = format!("{folder}/{path}");
            read_mtx(&file(&path), &path).expect("the example is a matrix")
        }
        Source::Pattern(spec) => netloom_traffic::pattern(spec, None).expect("a known spec"),
        Source::Phases(phases) => {
            let phase = |p: &PhaseSpec| {
                let matrix = traffic_of(&p.source, folder).total().into_owned();
                Phase { name: p.name.clone(), matrix, repeats: p.repeats }
            };
            Traffic::from_phases(phases.iter().map(phase).collect())
        }
        Source::Trace { path, cut, .. } => {
            let path = format!("{folder}/{path}");
            let trace = netloom_formats::read_ti(&file(&path), &path).expect("the example is a trace");
            netloom_traffic::phases(&trace.workload, *cut, Some(&Algorithms::default()))
                .expect("it can be cut")
        }
        Source::Ranks(_) | Source::Adapters => unreachable!("the examples have traffic"),
    }
}

/// The traffic of a jobs file on a fabric.
pub fn jobs(path: &str, fabric: &Fabric) -> Traffic {
    let (jobs, seed) = resolved(path);
    place(fabric, &jobs, seed).expect("the jobs fit").traffic
}
