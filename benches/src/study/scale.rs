//! 65,536 hosts: time and memory, each case in a process of its own so that its peak is its own.
//!
//! The child makes fabric, path set and ftree's routes first; its clock starts with the bounds. Memory is the whole
//! child's (`VmHWM`), tables included.

use std::process::Command;

use netloom_model::{AdapterChoice, Allocation, JobSpec, Mapping, Source, Traffic};
use netloom_optimize::OptimizeOptions;
use netloom_topology::generate;
use netloom_traffic::{ResolvedJob, place};

use super::ground::{Ground, options};
use super::{Claim, Section, Study, heads, percent, work};
use crate::inputs::{HOSTS_65536, pattern};
use crate::table::spell;

/// What the command line calls the child.
pub const CHILD: &str = "--scale-child";

/// Name, seconds, what the gap may be.
const CASES: [(&str, f64, f64); 3] = [
    ("permutation", 1.0, 0.0),
    ("27-point stencil, fragmented", 15.0, 0.0),
    ("27-point stencil, random placement", 60.0, 3e-3),
];
/// Bytes of memory that a case may take.
const MEMORY: u64 = 1 << 30;

/// One case, in this process; prints a line for [`run`].
pub fn child(case: usize) {
    let (name, seconds, _) = CASES[case];
    let ground = Ground::new(generate(HOSTS_65536).expect("a known spec"));
    let before = peak();
    let traffic = match case {
        0 => pattern("permutation:seed=1", &ground.fabric),
        1 => stencil(&ground, Allocation::Fragmented),
        _ => stencil(&ground, Allocation::Random),
    };
    // The default work: where hosts are the bottleneck, the rest is a courtesy.
    let ours = ground.optimize_with(&traffic.total(), seconds, &OptimizeOptions { work: None, ..options() });
    let (found, peak) = (&ours.found, peak());
    let proved = found.proven_optimal;
    println!(
        "{}\t{}\t{proved}\t{}\t{}\t{}\t{before}\t{peak}\t{name}",
        ours.gap,
        ours.seconds,
        ours.to_best,
        found.work,
        traffic.total().entry_count()
    );
}

/// All cases, one after the other.
pub fn run(_: &mut Study) -> Section {
    let mut lines = vec![heads(&[
        "traffic",
        "pairs",
        "gap to bound",
        "time",
        "to best",
        "work",
        "peak memory",
        "… before the search",
    ])];
    let mut claims = Vec::new();
    for (case, (name, seconds, gap)) in CASES.iter().enumerate() {
        let this = std::env::current_exe().expect("a program knows itself");
        let output = Command::new(this).args([CHILD, &case.to_string()]).output().expect("the child starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let parts: Vec<&str> = text.trim_end().split('\t').collect();
        let [found, spent, proved, best, searches, pairs, before, peak, _] = parts[..] else {
            panic!("{name}: {}", String::from_utf8_lossy(&output.stderr))
        };
        let number = |text: &str| text.parse::<f64>().expect("the child prints numbers");
        let (found, spent, proved) = (number(found), number(spent), proved == "true");
        let (before, peak) = (number(before) as u64, number(peak) as u64);
        let gap_cell = if proved { "proved".into() } else { percent(found) };
        lines.push(vec![
            (*name).into(),
            pairs.into(),
            gap_cell.clone(),
            spell(spent),
            spell(number(best)),
            work(number(searches) as u64),
            mebibytes(peak),
            mebibytes(before),
        ]);
        claims.push(Claim {
            what: format!("65,536 hosts: {name}"),
            asked: match *gap {
                0.0 => format!("proved in {}, under 1 GB", spell(*seconds)),
                gap => format!("within {} in {}, under 1 GB", percent(gap), spell(*seconds)),
            },
            measured: format!("{gap_cell}, {}, {}", spell(spent), mebibytes(peak)),
            kept: (proved || found <= *gap) && spent <= seconds * 1.05 + 0.2 && peak < MEMORY,
        });
    }
    Section {
        title: "65,536 hosts".into(),
        text: format!(
            "`{HOSTS_65536}`; one thread. Time is that of bounds, search and tables; the fabric, the path set and ftree's routes are there before. Memory is the peak of the \
             process, all tables included."
        ),
        tables: vec![lines],
        claims,
    }
}

/// 40 x 40 x 40 ranks: 9216 bytes over a face, 768 over an edge, 64 over a corner.
fn stencil(ground: &Ground, allocation: Allocation) -> Traffic {
    let spec = JobSpec {
        name: "stencil".into(),
        source: Source::Pattern("stencil27:40x40x40".into()),
        allocation,
        mapping: Mapping::Block,
        adapters: AdapterChoice::default(),
        ranks_per_host: Some(1),
        copies: 1,
        cross_copies: false,
        grid: Vec::new(),
    };
    let pattern = netloom_traffic::pattern("stencil27:40x40x40", None).expect("a known spec");
    let (mut from, mut to, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for (i, j, _) in pattern.total().iter() {
        let axes = [1, 40, 1600].iter().filter(|&step| i / step % 40 != j / step % 40).count();
        from.push(u64::from(i));
        to.push(u64::from(j));
        bytes.push([0.0, 9216.0, 768.0, 64.0][axes]);
    }
    let traffic = Traffic::from_triples(64_000, &from, &to, &bytes, None).expect("valid");
    let job = ResolvedJob { spec, traffic, rank_hosts: None };
    place(&ground.fabric, &[job], 1).expect("it fits").traffic
}

/// The most memory that this process ever held, in bytes (0 where the system does not say).
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).map_or(0, |kib| kib << 10)
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}
