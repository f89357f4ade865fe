//! Linear programs: worked by hand, and random ones beside the best of all their vertices.

use netloom_numeric::{LinearMap, LinearProgram, LpAnswer, LpEffort, LpEnd, solve_lp};

/// A matrix by rows.
struct Dense(Vec<Vec<f64>>);

impl LinearMap for Dense {
    fn rows(&self) -> usize {
        self.0.len()
    }

    fn columns(&self) -> usize {
        self.0[0].len()
    }

    fn forward(&self, z: &[f64]) -> Vec<f64> {
        self.0.iter().map(|row| row.iter().zip(z).map(|(a, z)| a * z).sum()).collect()
    }

    fn adjoint(&self, y: &[f64]) -> Vec<f64> {
        (0..self.columns()).map(|c| self.0.iter().zip(y).map(|(row, y)| row[c] * y).sum()).collect()
    }

    fn forward_sizes(&self, z: &[f64]) -> Vec<f64> {
        self.sizes().forward(z)
    }

    fn adjoint_sizes(&self, y: &[f64]) -> Vec<f64> {
        self.sizes().adjoint(y)
    }
}

impl Dense {
    fn sizes(&self) -> Self {
        Self(self.0.iter().map(|row| row.iter().map(|a| a.abs()).collect()).collect())
    }
}

const EFFORT: LpEffort = LpEffort { steps: 20_000, tolerance: 1e-9 };

/// All unknowns of size one.
fn solve(rows: &[&[f64]], cost: &[f64], target: &[f64], slack: &[f64]) -> LpAnswer {
    let map = Dense(rows.iter().map(|row| row.to_vec()).collect());
    let size = vec![1.0; cost.len()];
    solve_lp(&LinearProgram { map: &map, cost, target, slack, price: None, size: &size }, &EFFORT, || false)
}

fn assert_near(a: &[f64], b: &[f64]) {
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6) && a.len() == b.len(), "{a:?} {b:?}");
}

/// x + y = 3 at cost x + 2y: all of it is x, and one more would cost 1.
#[test]
fn the_cheaper_column_carries_all() {
    let answer = solve(&[&[1.0, 1.0]], &[1.0, 2.0], &[3.0], &[0.0]);
    assert_eq!(answer.end, LpEnd::Optimal);
    assert_near(&answer.values, &[3.0, 0.0]);
    assert_near(&answer.prices, &[1.0]);
}

/// Two rows share a column: x + z = 2, y + z = 5, cost 1 each. z = 2 serves both, y carries the other 3.
#[test]
fn a_column_that_serves_two_rows_is_used_first() {
    let rows: [&[f64]; 2] = [&[1.0, 0.0, 1.0], &[0.0, 1.0, 1.0]];
    let answer = solve(&rows, &[1.0; 3], &[2.0, 5.0], &[0.0; 2]);
    assert_near(&answer.values, &[0.0, 3.0, 2.0]);
}

/// |x - 5| <= 1 at cost x: 4.
#[test]
fn slack_is_used_where_it_saves() {
    let answer = solve(&[&[1.0]], &[1.0], &[5.0], &[1.0]);
    assert_near(&answer.values, &[4.0]);
    assert_near(&answer.prices, &[1.0]);
}

/// With its second row free, x = 2 is all that is asked.
#[test]
fn a_free_row_asks_nothing() {
    let answer = solve(&[&[1.0, 0.0], &[1.0, 1.0]], &[1.0, 1.0], &[2.0, 9.0], &[0.0, f64::INFINITY]);
    assert_near(&answer.values, &[2.0, 0.0]);
    assert_eq!(answer.prices[1], 0.0);
}

/// x + y = 4, both free of cost, and |x - 3 y| at 1 a unit: 3 and 1.
#[test]
fn a_row_with_a_price_is_broken_no_more_than_need_be() {
    let map = Dense(vec![vec![1.0, 1.0], vec![1.0, -3.0]]);
    let program = |cost| LinearProgram {
        map: &map,
        cost,
        target: &[4.0, 0.0],
        slack: &[0.0; 2],
        price: Some(&[f64::INFINITY, 1.0]),
        size: &[1.0; 2],
    };
    let answer = solve_lp(&program(&[0.0; 2]), &EFFORT, || false);
    assert_eq!(answer.end, LpEnd::Optimal);
    assert_near(&answer.values, &[3.0, 1.0]);
    // A unit less of y breaks it by 4 and saves 5: all of it is x, and the row's dual is its price.
    let answer = solve_lp(&program(&[0.0, 5.0]), &EFFORT, || false);
    assert_eq!(answer.end, LpEnd::Optimal);
    assert_near(&answer.values, &[4.0, 0.0]);
    assert_near(&answer.prices, &[1.0, -1.0]);
}

/// Flows of 1 and of 100,000 bytes: with their sizes told, the small one is as right as the large one.
#[test]
fn small_numbers_beside_large_ones_are_right() {
    let map = Dense(vec![vec![1.0, 0.0, 1.0], vec![0.0, 1.0, 1.0]]);
    let program = LinearProgram {
        map: &map,
        cost: &[1.0, 1e-5, 1.5],
        target: &[1.0, 1e5],
        slack: &[0.0; 2],
        price: None,
        size: &[1.0, 1e5, 1.0],
    };
    // The third column costs 1.5 and saves 1.00001: it is not used.
    let answer = solve_lp(&program, &EFFORT, || false);
    assert_eq!(answer.end, LpEnd::Optimal);
    assert!((answer.values[0] - 1.0).abs() < 1e-6 && (answer.values[1] - 1e5).abs() < 0.1, "{answer:?}");
}

/// x = 1 and x = 2: no end but the last step, and the error says so.
#[test]
fn what_has_no_solution_is_not_called_optimal() {
    let answer = solve(&[&[1.0], &[1.0]], &[1.0], &[1.0, 2.0], &[0.0; 2]);
    assert_eq!((answer.end, answer.steps), (LpEnd::Steps, EFFORT.steps));
    assert!(answer.error > 0.1 && answer.values[0].is_finite());
}

#[test]
fn the_caller_can_stop_it() {
    let map = Dense(vec![vec![1.0], vec![1.0]]);
    let program = LinearProgram {
        map: &map,
        cost: &[1.0],
        target: &[1.0, 2.0],
        slack: &[0.0; 2],
        price: None,
        size: &[1.0],
    };
    let answer = solve_lp(&program, &EFFORT, || true);
    assert_eq!(answer.end, LpEnd::Stopped);
    assert!(answer.steps < 100);
}

/// Solves the square system by elimination; `None` if it is singular.
fn square(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = rows.len();
    for c in 0..n {
        let pivot = (c..n).max_by(|&a, &b| rows[a][c].abs().total_cmp(&rows[b][c].abs()))?;
        rows.swap(c, pivot);
        if rows[c][c].abs() < 1e-9 {
            return None;
        }
        for r in (0..n).filter(|&r| r != c) {
            let factor = rows[r][c] / rows[c][c];
            let from = rows[c].clone();
            rows[r].iter_mut().zip(from).for_each(|(a, b)| *a -= factor * b);
        }
    }
    Some((0..n).map(|r| rows[r][n] / rows[r][r]).collect())
}

/// The least cost of all vertices: three columns at a time.
fn best_vertex(map: &Dense, cost: &[f64], target: &[f64]) -> f64 {
    let n = cost.len();
    let mut best = f64::INFINITY;
    for a in 0..n {
        for b in a + 1..n {
            for c in b + 1..n {
                let chosen = [a, b, c];
                let rows = (map.0.iter().zip(target))
                    .map(|(row, t)| chosen.iter().map(|&c| row[c]).chain([*t]).collect());
                let Some(values) = square(rows.collect()) else { continue };
                if values.iter().all(|v| *v >= -1e-9) {
                    best = best.min(chosen.iter().zip(values).map(|(&c, v)| cost[c] * v).sum());
                }
            }
        }
    }
    best
}

#[test]
fn random_programs_reach_their_best_vertex() {
    let mut state = 3u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    for case in 0..60 {
        let map = Dense(
            (0..3).map(|_| (0..8).map(|_| if next() < 0.5 { next() } else { 0.0 }).collect()).collect(),
        );
        let cost: Vec<f64> = (0..8).map(|_| 0.1 + next()).collect();
        let inside: Vec<f64> = (0..8).map(|_| next()).collect();
        let target = map.forward(&inside);
        let best = best_vertex(&map, &cost, &target);
        let program = LinearProgram {
            map: &map,
            cost: &cost,
            target: &target,
            slack: &[0.0; 3],
            price: None,
            size: &[1.0; 8],
        };
        let answer = solve_lp(&program, &EFFORT, || false);
        let found: f64 = answer.values.iter().zip(&cost).map(|(v, c)| v * c).sum();
        assert_eq!(answer.end, LpEnd::Optimal, "case {case}: {answer:?}");
        assert!((found - best).abs() <= 1e-6 * best, "case {case}: {found} {best}");
        assert_eq!(answer, solve_lp(&program, &EFFORT, || false));
    }
}
