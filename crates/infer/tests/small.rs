//! Small cases worked by hand.

use netloom_infer::dictionary::Atom;
use netloom_infer::dictionary::{Collective, Lines, Way};
use netloom_infer::operator::Pair;
use netloom_infer::pursuit::Pursuit;
use netloom_infer::{
    Counted, Dictionary, Grid, LaneScheme, Operator, Order, Participants, Settings, Target, Verdict, estimate,
};
use netloom_model::{Control, Fabric, HostId, StopReason};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_testkit::cases::{ft2_32, star};
use netloom_topology::detect;

fn operator(fabric: &Fabric, job: &Participants) -> Operator {
    let routes = route(Engine::Updn, fabric, &detect(fabric), &EngineOptions::default()).unwrap();
    Operator::new(fabric, &routes, &LaneScheme::One, std::slice::from_ref(job)).unwrap()
}

fn all(fabric: &Fabric) -> Participants {
    Participants::one_a_host("all", fabric.hosts().collect())
}

/// A ring of four on a star: every host sends 7 bytes to the next. On a star, counters only say how much each host sends and receives; a
/// shift by one with its wrap says it with fewest atoms.
#[test]
fn what_hosts_send_and_receive_is_always_kept() {
    let fabric = star(4);
    let job = all(&fabric);
    let operator = operator(&fabric, &job);
    let mut truth = vec![0.0; operator.pairs()];
    for source in 0..4 {
        truth[operator.find(Pair { job: 0, source, destination: (source + 1) % 4 }).unwrap()] = 7.0;
    }
    let counters = operator.forward(&truth);
    let found = estimate(
        &operator,
        &[job],
        &Counted::exactly(counters.clone()),
        &[],
        &Settings::default(),
        &Control::new(),
    );
    for (row, (a, b)) in operator.forward(&found.bytes).iter().zip(&counters).enumerate() {
        assert!((a - b).abs() < 1e-6, "row {row}: {a} {b}");
    }
    assert!(found.residual < 1e-6);
}

/// A host that sends nothing has no pair that could carry something.
#[test]
fn pairs_over_rows_without_bytes_are_left_out() {
    let fabric = star(5);
    let job = all(&fabric);
    let operator = operator(&fabric, &job);
    let mut truth = vec![0.0; operator.pairs()];
    let one = operator.find(Pair { job: 0, source: 1, destination: 3 }).unwrap();
    truth[one] = 40.0;
    let found = estimate(
        &operator,
        &[job],
        &Counted::exactly(operator.forward(&truth)),
        &[],
        &Settings::default(),
        &Control::new(),
    );
    assert_eq!(found.possible, 1);
    assert!((found.bytes[one] - 40.0).abs() < 1e-9);
    assert_eq!(found.bytes.iter().filter(|&&b| b > 0.0).count(), 1);
}

/// Unknown counters are not fitted: any one link between switches of the 2-level tree may be missing, the answer stays.
#[test]
fn missing_rows_are_not_taken_for_zero() {
    let fabric = ft2_32();
    let job = all(&fabric);
    let operator = operator(&fabric, &job);
    let truth: Vec<f64> =
        operator.iter().map(|p| if p.destination == p.source + 4 { 100.0 } else { 0.0 }).collect();
    let counters = operator.forward(&truth);
    for link in fabric.links().filter(|&l| fabric.between_switches(l)).step_by(7) {
        let mut known = counters.clone();
        known[link.index()] = f64::NAN;
        let found = estimate(
            &operator,
            std::slice::from_ref(&job),
            &Counted::exactly(known),
            &[],
            &Settings::default(),
            &Control::new(),
        );
        let wrong = found.bytes.iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(wrong < 1e-6, "without {}: {wrong}", fabric.describe_link(link));
    }
}

/// 8 ranks in a row: mirrored at the top are 0-7 1-6 2-5 3-4, one halving on 0-3 1-2 and 4-7 5-6; both ways.
#[test]
fn mirrored_ranks_are_those_of_a_crystal_router() {
    let fabric = star(8);
    let job = all(&fabric);
    let operator = operator(&fabric, &job);
    let grid = Grid { sides: [8, 1, 1], order: Order::Rows };
    let settings = Settings::default();
    let mut dictionary = Dictionary::new(&operator, 0, &job, grid, &settings.dictionary);
    let before = dictionary.len();
    dictionary.add_mechanisms();
    let pairs = |atom: Atom| {
        let at = (before..dictionary.len()).find(|&at| dictionary.atom(at) == atom).unwrap();
        let mut pairs: Vec<_> = (dictionary.pairs(at).into_iter())
            .map(|p| operator.iter().nth(p as usize).unwrap())
            .map(|p| (p.source, p.destination))
            .collect();
        pairs.sort_unstable();
        pairs
    };
    assert_eq!(
        pairs(Atom::Mirror { level: 0 }),
        [(0, 7), (1, 6), (2, 5), (3, 4), (4, 3), (5, 2), (6, 1), (7, 0)]
    );
    assert_eq!(pairs(Atom::MirrorIn { level: 1, segment: 1 }), [(4, 7), (5, 6), (6, 5), (7, 4)]);
    assert_eq!(pairs(Atom::Exchange { bit: 2 }).len(), 8);
    let whole = |what| Atom::Collective { what, lines: Lines::whole(8) };
    assert_eq!(
        pairs(whole(Collective::Binomial(Way::Down))),
        [(0, 1), (0, 2), (0, 4), (2, 3), (4, 5), (4, 6), (6, 7)]
    );
    assert_eq!(pairs(whole(Collective::Root(Way::Up))).len(), 7);
}

/// A halo exchange on 8 x 4 with 1000 bytes along x and 10 along y: four atoms, and nothing left.
#[test]
fn a_halo_exchange_is_four_atoms() {
    let fabric = ft2_32();
    let job = all(&fabric);
    let operator = operator(&fabric, &job);
    let grid = Grid { sides: [8, 4, 1], order: Order::Rows };
    let places = grid.places();
    let truth: Vec<f64> = (operator.iter())
        .map(|p| {
            let (a, b) = (places[p.source as usize], places[p.destination as usize]);
            match (a[0].abs_diff(b[0]), a[1].abs_diff(b[1])) {
                (1, 0) => 1000.0,
                (0, 1) => 10.0,
                _ => 0.0,
            }
        })
        .collect();
    let settings = Settings::default();
    let counted = Counted::exactly(operator.forward(&truth));
    let target = Target::relative(&counted, &settings.counters, |_| true);
    let dictionary = Dictionary::new(&operator, 0, &job, grid, &settings.dictionary);
    let mut pursuit = Pursuit::new(&operator, dictionary, &target, &settings.pursuit);
    pursuit.neighbours(&Control::new());
    assert!(pursuit.left() < 1e-12, "{}", pursuit.left());
    let mut atoms = pursuit.atoms();
    atoms.retain(|a| a.1 > 1e-6);
    atoms.iter_mut().for_each(|a| a.1 = a.1.round());
    atoms.sort_by_key(|a| a.0);
    let expected = [([-1, 0, 0], 1000.0), ([0, -1, 0], 10.0), ([0, 1, 0], 10.0), ([1, 0, 0], 1000.0)];
    assert_eq!(atoms, expected.map(|(offset, bytes)| (Atom::Offset(offset), bytes)));
}

/// Stopped at once, there is still an answer, and it is the guess.
#[test]
fn a_stop_gives_what_is_known() {
    let fabric = ft2_32();
    let job = all(&fabric);
    let operator = operator(&fabric, &job);
    let truth: Vec<f64> =
        operator.iter().map(|p| f64::from(1 + (p.source * 7 + p.destination * 13) % 11)).collect();
    let control = Control::new();
    control.stop(StopReason::Interrupted);
    let found = estimate(
        &operator,
        &[job],
        &Counted::exactly(operator.forward(&truth)),
        &[],
        &Settings::default(),
        &control,
    );
    assert_eq!(found.bytes.len(), operator.pairs());
    assert!(found.bytes.iter().all(|b| b.is_finite() && *b >= 0.0));
    assert_ne!(found.trust.verdict, Verdict::Identified);
}

/// A job of one host, and a fabric without traffic.
#[test]
fn nothing_to_find_is_nothing_found() {
    let fabric = star(4);
    let lonely = Participants::one_a_host("one", vec![HostId(2)]);
    let operator_of_one = operator(&fabric, &lonely);
    assert_eq!(operator_of_one.pairs(), 0);
    let rows = vec![0.0; operator_of_one.rows()];
    let found = estimate(
        &operator_of_one,
        &[lonely],
        &Counted::exactly(rows),
        &[],
        &Settings::default(),
        &Control::new(),
    );
    assert!(found.bytes.is_empty() && found.jobs[0].grid.is_none());
    let job = all(&fabric);
    let operator = operator(&fabric, &job);
    let found = estimate(
        &operator,
        &[job],
        &Counted::exactly(vec![0.0; operator.rows()]),
        &[],
        &Settings::default(),
        &Control::new(),
    );
    assert!(found.bytes.iter().all(|&b| b == 0.0));
    assert_eq!(found.possible, 0);
}
