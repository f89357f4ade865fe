//! Traffic from exact counters: errors beside the dissertation's, times, and the operators' rate.
//!
//! Applications are on consecutive hosts of quartz1 from number 10 on (sec. 4.7), patterns on all of it; routes are `ftree`'s; one core.

use netloom_formats::read_mtx;
use netloom_infer::operator::Pair;
use netloom_infer::{Counted, LaneScheme, Operator, Participants, Settings, estimate};
use netloom_model::{Control, Csr, Fabric, HostId, LaneMap, Routes};
use netloom_routing::{Engine, EngineOptions, route};

use crate::Options;
use crate::inputs::{file, pattern, quartz1};
use crate::table::{Row, Table, median_seconds, spell};

/// Lanes, as `s SL v VL` with as many levels.
const LANES: [u8; 3] = [1, 2, 5];

/// A recorded application, the most that its error may be (%), and the dissertation's best of tables 4.2 and 4.3 for its kind.
/// miniAMR stands beside nobody: its limits are what was measured on 2026-11-22 and a tenth more.
const APPLICATIONS: [(&str, [f64; 3], &str); 7] = [
    ("lulesh-512", [0.02, 0.01, 0.01], "LULESH 29.4, 0.9, 0.0"),
    ("snap-168", [0.02, 0.01, 0.01], "PARTISN 23.4, 0.1, 0.0"),
    ("hpcg-216", [0.02, 0.01, 0.01], ""),
    ("nekbone-256", [15.0, 4.0, 2.0], "Nekbone 1024: 16.5, 4.8, 2.4"),
    ("amg-125", [50.0, 15.0, 5.0], "AMG 1728: 49.2, 8.8, 1.8"),
    ("cns-512", [0.02, 0.01, 0.01], "BoxLib CNS 97.6, 97.1, 86.9"),
    ("miniamr-512", [53.0, 51.0, 34.0], ""),
];

/// A pattern on all hosts, five lanes; the most that its error (%) and its time (s) may be.
const PATTERNS: [(&str, f64, f64); 3] =
    [("bisection-shuffle", 0.2, 60.0), ("bisection", 0.1, 10.0), ("stencil:16x16x12", 0.05, 20.0)];

/// Errors, times, rates.
pub fn run(table: &mut Table, _: &Options) {
    let (fabric, structure) = quartz1();
    let routes = route(Engine::Ftree, &fabric, &structure, &EngineOptions::default()).expect("a fat tree");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    pool.install(|| {
        rates(table, &fabric, &routes);
        for (name, most, paper) in APPLICATIONS {
            let path = format!("examples/data/{name}.mtx.gz");
            let matrix = read_mtx(&file(&path), &path).expect("a matrix").total().into_owned();
            for (lanes, most) in LANES.into_iter().zip(most) {
                let case = (name, 10, &matrix, paper);
                answer(table, &fabric, &routes, case, lanes, (most, 30.0));
            }
        }
        for (spec, most, seconds) in PATTERNS {
            let traffic = pattern(spec, &fabric);
            let case = (spec, 0, &*traffic.total(), "");
            answer(table, &fabric, &routes, case, 5, (most, seconds));
        }
    });
}

fn scheme(fabric: &Fabric, lanes: u8) -> LaneScheme {
    if lanes == 1 { LaneScheme::One } else { LaneScheme::Tables(LaneMap::random(fabric, lanes, lanes, 1)) }
}

/// All pairs of the machine there and back.
fn rates(table: &mut Table, fabric: &Fabric, routes: &Routes) {
    let jobs = [Participants::one_a_host("all", fabric.hosts().collect())];
    for lanes in [1, 5] {
        let operator =
            Operator::new(fabric, routes, &scheme(fabric, lanes), &jobs).expect("routes without holes");
        let x = vec![1.0; operator.pairs()];
        let rows = operator.forward(&x);
        let pair_hops: f64 = rows.iter().sum();
        let seconds =
            median_seconds(5, || operator.forward(&x)) + median_seconds(5, || operator.adjoint(&rows));
        let rate = 2.0 * pair_hops / seconds / 1e6;
        table.add(Row {
            what: format!("operators on all pairs of quartz1, {lanes} lanes, million pair-hops a second"),
            measured: format!("{rate:.0}"),
            goal: "at least 200".into(),
            right: true,
            beside: String::new(),
        });
    }
}

fn answer(
    table: &mut Table,
    fabric: &Fabric,
    routes: &Routes,
    (name, first, matrix, paper): (&str, u32, &Csr, &str),
    lanes: u8,
    (most, most_seconds): (f64, f64),
) {
    let start = std::time::Instant::now();
    let hosts = (first..first + matrix.size() as u32).map(HostId).collect();
    let jobs = [Participants::one_a_host(name, hosts)];
    let operator =
        Operator::new(fabric, routes, &scheme(fabric, lanes), &jobs).expect("routes without holes");
    let mut truth = vec![0.0; operator.pairs()];
    for (source, destination, bytes) in matrix.iter() {
        if let Some(pair) = operator.find(Pair { job: 0, source, destination }) {
            truth[pair] += bytes;
        }
    }
    let counters = operator.forward(&truth);
    let found =
        estimate(&operator, &jobs, &Counted::exactly(counters), &[], &Settings::default(), &Control::new());
    let seconds = start.elapsed().as_secs_f64();
    let wrong: f64 = found.bytes.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum();
    let error = 100.0 * (wrong / truth.iter().map(|t| t * t).sum::<f64>()).sqrt();
    table.add(Row {
        what: format!("{name} from counters, {lanes} VL"),
        measured: format!("{error:.3} % in {}", spell(seconds)),
        goal: format!("{most} % in {most_seconds} s"),
        right: true,
        beside: paper.to_owned(),
    });
}
