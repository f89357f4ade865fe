//! Several routings, one below the other: the operator, intervals as one span, and what more routings tell.

use netloom_infer::operator::Pair;
use netloom_infer::{
    Counted, Estimate, LaneScheme, Operator, Participants, Settings, Verdict, errors, estimate, span, traffic,
};
use netloom_model::rng::{below, stream, unit};
use netloom_model::{Control, Fabric, HostId, LaneMap, PathChoice, Routes};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_testkit::cases::{ft2_32, star};
use netloom_testkit::random::any_fabric;
use netloom_topology::detect;

fn amounts(n: usize, seed: u64) -> Vec<f64> {
    let mut random = stream(seed, 5);
    (0..n).map(|_| unit(&mut random)).collect()
}

fn everybody(fabric: &Fabric) -> Vec<Participants> {
    vec![Participants::one_a_host("all", fabric.hosts().collect())]
}

fn random_routes(fabric: &Fabric, seed: u64) -> Option<Routes> {
    let options = EngineOptions { seed, ..EngineOptions::default() };
    route(Engine::Random, fabric, &detect(fabric), &options).ok()
}

/// ftree's routes and so many less one of random seeds.
fn routings(fabric: &Fabric, count: u64) -> Vec<Routes> {
    let first = route(Engine::Ftree, fabric, &detect(fabric), &EngineOptions::default()).unwrap();
    std::iter::once(first).chain((1..count).map(|seed| random_routes(fabric, seed).unwrap())).collect()
}

fn stacked(fabric: &Fabric, routes: &[Routes], jobs: &[Participants]) -> Operator {
    let routings: Vec<_> = routes.iter().map(|routes| (routes, &LaneScheme::One)).collect();
    Operator::stacked(fabric, &routings, jobs).unwrap()
}

/// Traffic without a grid: every host sends to `partners` others, from a byte to a thousand.
fn irregular(operator: &Operator, hosts: u32, partners: u64) -> Vec<f64> {
    let mut x = vec![0.0; operator.pairs()];
    for source in 0..hosts {
        let mut draw = stream(11, u64::from(source));
        for _ in 0..partners {
            let destination = below(&mut draw, u64::from(hosts)) as u32;
            if let Some(pair) =
                operator.find(Pair { job: 0, source, destination }).filter(|_| source != destination)
            {
                x[pair] += 10f64.powf(3.0 * unit(&mut draw));
            }
        }
    }
    x
}

fn answer(operator: &Operator, jobs: &[Participants], counted: &Counted) -> Estimate {
    estimate(operator, jobs, counted, &[], &Settings::default(), &Control::new())
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(1.0)
}

/// Rows, ways and sums of a stack are those of its routings one after the other, on one lane and on several; its adjoint is its
/// transpose, also of what is left when pairs and rows are left out.
#[test]
fn a_stack_is_its_routings_one_below_the_other() {
    let mut tried = 0;
    for seed in 0..12 {
        let fabric = any_fabric(seed);
        let (Some(a), Some(b)) = (random_routes(&fabric, 1), random_routes(&fabric, 2)) else { continue };
        let jobs = everybody(&fabric);
        let lanes = LaneScheme::Tables(LaneMap::random(&fabric, 3, 4, seed));
        let of = [(&a, &LaneScheme::One), (&b, &lanes), (&b, &LaneScheme::One)];
        let Ok(stack) = Operator::stacked(&fabric, &of, &jobs) else { continue };
        tried += 1;
        let single: Vec<Operator> = of
            .iter()
            .map(|(routes, scheme)| Operator::new(&fabric, routes, scheme, &jobs).unwrap())
            .collect();
        let (x, u) = (amounts(stack.pairs(), seed), amounts(stack.rows(), seed + 7));
        let (rows, sums) = (stack.forward(&x), stack.adjoint(&u));
        let mut parts = vec![0.0; stack.pairs()];
        for (k, one) in single.iter().enumerate() {
            let range = stack.rows_of(k);
            assert!(rows[range.clone()].iter().zip(one.forward(&x)).all(|(a, b)| near(*a, b)));
            parts.iter_mut().zip(one.adjoint(&u[range.clone()])).for_each(|(sum, more)| *sum += more);
            for row in [range.start, range.end - 1] {
                let (routing, link, lane) = stack.place(row);
                assert_eq!((routing, range.start + one.row(link, lane)), (k, row));
            }
        }
        assert!(sums.iter().zip(&parts).all(|(a, b)| near(*a, *b)));
        stack.each(0, &u, |pair, sum| assert_eq!(sum, sums[stack.find(pair).unwrap()]));
        for pair in (0..stack.pairs()).step_by(7) {
            let (mut whole, mut joined) = (Vec::new(), Vec::new());
            stack.way(pair, |row| whole.push(row));
            for (k, one) in single.iter().enumerate() {
                one.way(pair, |row| joined.push(stack.rows_of(k).start + row));
            }
            assert_eq!(whole, joined);
        }
        let keep: Vec<bool> = x.iter().map(|&a| a < 0.3).collect();
        let small = stack.restrict(&keep);
        let (compact, kept) = small.clone().compact();
        for one in [&stack, &small, &compact] {
            let (x, u) = (amounts(one.pairs(), seed), amounts(one.rows(), seed + 9));
            let there: f64 = one.forward(&x).iter().zip(&u).map(|(a, b)| a * b).sum();
            let back: f64 = one.adjoint(&u).iter().zip(&x).map(|(a, b)| a * b).sum();
            assert!(near(there, back), "{there} {back}");
        }
        let less: Vec<f64> = x.iter().zip(&keep).map(|(&x, &keep)| if keep { x } else { 0.0 }).collect();
        let left: Vec<f64> = x.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(&x, _)| x).collect();
        let whole = stack.forward(&less);
        assert!(
            kept.iter().zip(compact.forward(&left)).all(|(&row, value)| near(whole[row as usize], value))
        );
    }
    assert!(tried > 6, "{tried}");
}

#[test]
fn threads_don_t_change_a_bit_of_a_stack() {
    let fabric = ft2_32();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let operator = stacked(&fabric, &routings(&fabric, 3), &everybody(&fabric));
            let rows = operator.forward(&amounts(operator.pairs(), 4));
            (operator.adjoint(&rows), rows)
        })
    };
    assert_eq!(run(1), run(3));
}

/// The same routes four times, one interval three times as long and one link missing in some: what one routing says.
#[test]
fn the_same_routes_again_say_nothing_new() {
    let fabric = ft2_32();
    let jobs = everybody(&fabric);
    let routes = routings(&fabric, 1);
    let one = stacked(&fabric, &routes, &jobs);
    let truth = irregular(&one, 32, 3);
    let rows = one.forward(&truth);
    let stack = stacked(&fabric, &[&routes[..]; 4].concat(), &jobs);
    let mut intervals: Vec<Counted> =
        [1.0, 3.0, 1.0, 1.0].map(|length| Counted::exactly(rows.iter().map(|b| b * length).collect())).into();
    let link = fabric.links().find(|&l| fabric.between_switches(l) && rows[l.index()] > 0.0).unwrap();
    intervals[0].bytes[link.index()] = f64::NAN;
    intervals[1].bytes[fabric.host_link(HostId(3)).index()] = f64::NAN;
    let joined = span(&fabric, &stack, &intervals, &Default::default()).unwrap();
    assert!(
        joined.factors.iter().zip([1.0, 1.0 / 3.0, 1.0, 1.0]).all(|(a, b)| near(*a, b)),
        "{:?}",
        joined.factors
    );
    assert!(joined.apart.iter().all(|a| *a < 1e-12));
    let (again, once) =
        (answer(&stack, &jobs, &joined.counted), answer(&one, &jobs, &Counted::exactly(rows.clone())));
    let largest = truth.iter().copied().fold(0.0, f64::max);
    for (a, b) in again.bytes.iter().zip(&once.bytes) {
        assert!((a - b).abs() < 1e-3 * largest, "{a} {b}");
    }
    assert_eq!((again.model, again.trust.verdict), (once.model, once.trust.verdict));
    assert!((again.trust.leaf_error / once.trust.leaf_error - 1.0).abs() < 0.1);
}

/// Errors of pairs and of leaf sums, and the verdict, of irregular traffic on one lane under some routings.
fn found(fabric: &Fabric, routes: &[Routes]) -> ([f64; 2], Verdict) {
    let jobs = everybody(fabric);
    let operator = stacked(fabric, routes, &jobs);
    let truth = irregular(&operator, 32, 2);
    let found = answer(&operator, &jobs, &Counted::exactly(operator.forward(&truth)));
    let over_hosts = |bytes: &[f64]| traffic(fabric, &operator, &jobs, bytes);
    let off = errors(fabric, &over_hosts(&found.bytes), &over_hosts(&truth)).unwrap();
    ([off.pairs, off.leaf_sums], found.trust.verdict)
}

/// Routes by destination never tell hosts of a leaf apart as senders, however many they are; they tell how much a leaf sends to a host.
#[test]
fn other_routes_tell_leaf_sums_but_not_senders_of_a_leaf() {
    let fabric = ft2_32();
    let all = routings(&fabric, 8);
    let [one, two, four, eight] = [1, 2, 4, 8].map(|count| found(&fabric, &all[..count]));
    assert!(one.0[1] > 0.3 && one.1 != Verdict::Identified, "{one:?}");
    assert!(two.0[1] < 0.05, "{two:?}");
    for more in [four, eight] {
        assert!(more.0[1] < 0.001 && more.1 == Verdict::Identified, "{more:?}");
        assert!(more.0[0] > 0.3, "{more:?}");
    }
}

/// Where a source's number chooses among a destination's addresses, routes tell its hosts apart.
#[test]
fn addresses_by_source_tell_senders_of_a_leaf() {
    let fabric = ft2_32();
    let by_source = |seed| {
        let options = EngineOptions { seed, lmc: 2 };
        let routes = route(Engine::Random, &fabric, &detect(&fabric), &options).unwrap();
        Routes { path: PathChoice::SourceMod, ..routes }
    };
    let all: Vec<Routes> = (1..5).map(by_source).collect();
    let (one, four) = (found(&fabric, &all[..1]), found(&fabric, &all));
    assert!(one.0[0] > 0.5 && four.0[0] < 0.01, "{one:?} {four:?}");
    assert_eq!(four.1, Verdict::Identified);
}

/// On a star of three, 0 sends 6 bytes to 1 and 1 sends 2 to 2 in the first interval and twice that in the second, but for host 2, which
/// sends 3 of its own in the second: 8 and 19 bytes on each side, 16 and 38 on both. All is told as if in the first interval.
#[test]
fn intervals_become_one_span_and_other_traffic_is_told() {
    let fabric = star(3);
    let jobs = everybody(&fabric);
    let routes = random_routes(&fabric, 1).unwrap();
    let stack = stacked(&fabric, &[routes.clone(), routes], &jobs);
    let x = |flows: &[(u32, u32, f64)]| {
        let mut x = vec![0.0; stack.pairs()];
        for &(source, destination, bytes) in flows {
            x[stack.find(Pair { job: 0, source, destination }).unwrap()] = bytes;
        }
        stack.forward(&x)
    };
    let counted = |k: usize, flows: &[(u32, u32, f64)]| Counted::exactly(x(flows)[stack.rows_of(k)].to_vec());
    let first = counted(0, &[(0, 1, 6.0), (1, 2, 2.0)]);
    let twice = counted(1, &[(0, 1, 12.0), (1, 2, 4.0)]);
    let other = counted(1, &[(0, 1, 12.0), (1, 2, 4.0), (2, 0, 3.0)]);
    let same = span(&fabric, &stack, &[first.clone(), twice], &Default::default()).unwrap();
    assert_eq!(same.other(&Default::default()), None);
    assert_eq!((same.factors, same.apart), (vec![1.0, 0.5], vec![0.0, 0.0]));
    assert_eq!(same.counted.bytes, x(&[(0, 1, 6.0), (1, 2, 2.0)]));
    let differs = span(&fabric, &stack, &[first.clone(), other], &Default::default()).unwrap();
    assert_eq!(differs.factors, [1.0, 16.0 / 38.0]);
    assert!(differs.apart.iter().all(|a| *a > 0.05), "{:?}", differs.apart);
    assert!(differs.other(&Default::default()).is_some());
    let nothing = Counted::exactly(vec![0.0; first.bytes.len()]);
    let refused =
        span(&fabric, &stack, &[first.clone(), nothing], &Default::default()).unwrap_err().to_string();
    assert!(refused.starts_with("interval 1: no bytes"), "{refused}");
    let refused = span(&fabric, &stack, &[first], &Default::default()).unwrap_err().to_string();
    assert_eq!(refused, "expected 2 intervals, one a routing, found 1");
}
