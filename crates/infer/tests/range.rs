//! What pairs carry at least and at most.

use netloom_infer::operator::Pair;
use netloom_infer::{Counted, LaneScheme, Operator, Participants, Range, ranges};
use netloom_model::rng::{below, stream, unit};
use netloom_model::{Control, Fabric};
use netloom_numeric::LpEffort;
use netloom_routing::{Engine, EngineOptions, route};
use netloom_testkit::cases::{ft2_32, star};
use netloom_topology::detect;

const EFFORT: LpEffort = LpEffort { steps: 4_000, tolerance: 1e-6 };

fn of_all(fabric: &Fabric) -> Operator {
    let routes = route(Engine::Ftree, fabric, &detect(fabric), &EngineOptions::default()).unwrap();
    let jobs = [Participants::one_a_host("all", fabric.hosts().collect())];
    Operator::new(fabric, &routes, &LaneScheme::One, &jobs).unwrap()
}

fn pair(operator: &Operator, source: u32, destination: u32) -> usize {
    operator.find(Pair { job: 0, source, destination }).unwrap()
}

/// Two hosts of a star send 10 and 6, two others receive 9 and 7: the first sends the third at least 10 - 7 and at most 9, and what the
/// third receives is known.
#[test]
fn a_star_by_hand() {
    let operator = of_all(&star(4));
    let mut truth = vec![0.0; operator.pairs()];
    for (source, destination, bytes) in [(0, 2, 6.0), (0, 3, 4.0), (1, 2, 3.0), (1, 3, 3.0)] {
        truth[pair(&operator, source, destination)] = bytes;
    }
    let one = vec![pair(&operator, 0, 2)];
    let all = vec![pair(&operator, 0, 2), pair(&operator, 1, 2)];
    let none = vec![pair(&operator, 2, 3)];
    let counted = Counted::exactly(operator.forward(&truth));
    let found = ranges(
        &operator,
        &counted,
        &truth,
        &[one.clone(), all, none],
        &EFFORT,
        &Default::default(),
        &Control::new(),
    );
    for (found, [least, most]) in found.iter().zip([[3.0, 9.0], [9.0, 9.0], [0.0, 0.0]]) {
        assert!((found.least - least).abs() < 1e-3 && (found.most - most).abs() < 1e-3, "{found:?}");
    }
    // The first host's own counter is lost: the second can send the third no more than 6 of its 9, and all may come from the first.
    let mut lost = counted.clone();
    let mut way = Vec::new();
    operator.way(one[0], |row| way.push(row));
    lost.bytes[way[0]] = f64::NAN;
    let found = ranges(&operator, &lost, &truth, &[one], &EFFORT, &Default::default(), &Control::new())[0];
    assert!((found.least - 3.0).abs() < 1e-3 && (found.most - 9.0).abs() < 1e-3, "{found:?}");
}

/// A search that is broken off tells ranges that are wider, but never wrong.
#[test]
fn the_truth_is_within() {
    let fabric = ft2_32();
    let operator = of_all(&fabric);
    let truth: Vec<f64> = (0..operator.pairs())
        .map(|p| if below(&mut stream(3, p as u64), 3) == 0 { unit(&mut stream(4, p as u64)) } else { 0.0 })
        .collect();
    let counted = Counted::exactly(operator.forward(&truth));
    let sets: Vec<Vec<usize>> = (0..3).map(|d| (0..4).map(|s| pair(&operator, s, 9 + d)).collect()).collect();
    let mut wide: Option<Vec<Range>> = None;
    for steps in [40, 400, 4_000] {
        let found = ranges(
            &operator,
            &counted,
            &truth,
            &sets,
            &LpEffort { steps, ..EFFORT },
            &Default::default(),
            &Control::new(),
        );
        for (range, set) in found.iter().zip(&sets) {
            let carried: f64 = set.iter().map(|&p| truth[p]).sum();
            assert!(range.least <= carried && carried <= range.most, "{range:?} without {carried}");
        }
        let width = |ranges: &[Range]| ranges.iter().map(|r| r.most - r.least).sum::<f64>();
        if let Some(wide) = wide.replace(found.clone()) {
            assert!(width(&found) <= 1.001 * width(&wide), "{found:?} after {wide:?}");
        }
    }
}
