//! Jobs that do nothing but collectives, alone and beside others.

use netloom_infer::dictionary::{Collective, Lines, Way};
use netloom_infer::operator::Pair;
use netloom_infer::{Counted, Estimate, LaneScheme, Operator, Participants, Settings, Verdict, estimate};
use netloom_model::rng::{below, normal, stream};
use netloom_model::{Control, HostId, LaneMap, Placement};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_topology::{detect, generate};

/// From rank to rank, bytes.
type Message = (u32, u32, f64);

/// 256 hosts, full bisection.
const TREE: &str = "two-level:leaves=16,hosts=16,spines=16";

/// All hosts in random order.
fn hosts() -> Vec<HostId> {
    let (mut hosts, mut draw) = ((0..256).map(HostId).collect::<Vec<_>>(), stream(3, 3));
    (1..hosts.len()).rev().for_each(|i| hosts.swap(i, below(&mut draw, i as u64 + 1) as usize));
    hosts
}

/// Jobs as messages of ranks, one after the other on hosts in random order, five lanes: the answer and each job's relative error.
fn infer(jobs: &[(u32, Vec<Message>)], noise: f64) -> (Estimate, Vec<f64>) {
    let fabric = generate(TREE).unwrap();
    let routes = route(Engine::Ftree, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let scheme = LaneScheme::Tables(LaneMap::random(&fabric, 5, 5, 1));
    let mut hosts = hosts().into_iter();
    let placed = |(ranks, _): &(u32, _)| {
        let host_of_rank = hosts.by_ref().take(*ranks as usize).collect();
        Participants::new("job", &Placement { host_of_rank })
    };
    let participants: Vec<Participants> = jobs.iter().map(placed).collect();
    let operator = Operator::new(&fabric, &routes, &scheme, &participants).unwrap();
    let mut truth = vec![0.0; operator.pairs()];
    for (job, ((_, messages), of)) in jobs.iter().zip(&participants).enumerate() {
        for &(from, to, bytes) in messages {
            let (source, destination) = (of.host_of_rank[from as usize], of.host_of_rank[to as usize]);
            truth[operator.find(Pair { job: job as u32, source, destination }).unwrap()] += bytes;
        }
    }
    let exact = operator.forward(&truth);
    let mut draw = stream(5, 5);
    let bytes = exact.iter().map(|b| (b * (1.0 + noise * normal(&mut draw))).max(0.0)).collect();
    let counted = Counted { bytes, deviation: exact.iter().map(|b| noise * b).collect() };
    let found = estimate(&operator, &participants, &counted, &[], &Settings::default(), &Control::new());
    let error = |job: usize| {
        let of_job = operator.iter().zip(found.bytes.iter().zip(&truth));
        let of_job = of_job.filter(|(pair, _)| pair.job as usize == job);
        let (wrong, all) =
            of_job.fold((0.0, 0.0), |(wrong, all), (_, (x, t))| (wrong + (x - t).powi(2), all + t * t));
        (wrong / all).sqrt()
    };
    let errors = (0..jobs.len()).map(error).collect();
    (found, errors)
}

/// Messages of some bytes, of a collective in lines of 128 ranks.
fn of(what: Collective, stride: u32, count: u32, bytes: f64) -> Vec<Message> {
    let mut messages = Vec::new();
    what.in_lines(Lines { stride, count }, 128, |from, to| messages.push((from, to, bytes)));
    messages
}

/// Barriers of the columns, the rows and the whole of a grid (dissertation, Algorithm 8).
fn barriers(bytes: f64) -> Vec<Message> {
    let tree = Collective::BinaryTree(Way::Both);
    [of(tree, 8, 16, bytes), of(tree, 1, 8, bytes), of(tree, 1, 128, bytes)].concat()
}

#[test]
fn barriers_of_rows_and_columns_are_three_atoms() {
    let (found, errors) = infer(&[(128, barriers(800.0))], 0.0);
    assert!(errors[0] < 1e-9, "{errors:?}");
    assert_eq!(found.jobs[0].grid.unwrap().to_string(), "8x16");
    assert_eq!(found.jobs[0].atoms.iter().filter(|(_, bytes)| *bytes > 1.0).count(), 3);
    assert_eq!(found.trust.verdict, Verdict::Identified);
}

/// Sec. 5.4.2: what the barrier sends is a millionth of what random partners send beside it.
#[test]
fn a_barrier_is_found_beside_a_bully() {
    let partners: Vec<u32> = hosts().into_iter().map(|host| host.0).filter(|&host| host < 120).collect();
    let pairs = partners.chunks_exact(2);
    let bully = pairs.flat_map(|pair| [(pair[0], pair[1], 819.2e6), (pair[1], pair[0], 819.2e6)]).collect();
    let (_, errors) = infer(&[(128, barriers(800.0)), (120, bully)], 0.0);
    assert!(errors[0] < 1e-6 && errors[1] < 1e-9, "{errors:?}");
}

/// Broadcast, reduction and exchange over different lines at once, counters with noise.
#[test]
fn collectives_of_several_kinds_add_up() {
    let messages = [
        of(Collective::Binomial(Way::Down), 1, 128, 1e6),
        of(Collective::Binomial(Way::Up), 8, 16, 3e5),
        of(Collective::Doubling, 1, 8, 1e5),
        of(Collective::Everybody, 8, 16, 5e4),
    ]
    .concat();
    let (_, errors) = infer(&[(128, messages.clone())], 0.0);
    assert!(errors[0] < 1e-6, "{errors:?}");
    let (_, errors) = infer(&[(128, messages)], 0.01);
    assert!(errors[0] < 0.02, "{errors:?}");
}
