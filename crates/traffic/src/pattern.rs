//! Synthetic traffic patterns from a short spec.
//!
//! | spec | who sends to whom |
//! |---|---|
//! | `stencil:16x16x12[,periodic][,axis=+x]` | neighbours on a grid of any dimension, x fastest (7-point in 3D) |
//! | `stencil27:8x8x8[,periodic]` | all neighbours, diagonals too (26 in 3D) |
//! | `bisection`, `bis` | i and i + N/2, both ways |
//! | `bisection-shuffle:seed=1` | the first half with random partners of the second half, both ways |
//! | `all-to-all` | everybody to everybody else |
//! | `permutation:seed=1` | everybody to one random other |
//! | `shift:k` | i to (i + k) mod N |
//! | `nn:18x64[,periodic]` | 4 neighbours on a grid of rows x columns, row-major |
//! | `pairs:seed=1` | each of the first half to one random partner of the second half, one way |
//! | `matching:seed=1` | everybody and one random partner, both ways (a random perfect matching) |
//! | `fft-proxy:8x16x9` | all-to-all along y of a 3D grid, x fastest |
//! | `barrier:32x64` | barriers of every line of a grid and of all: up and down binary trees |
//! | `random:partners=70,seed=1` | everybody to so many random others |
//! | `adversarial:1,group=32` | every endpoint of a group of so many to all of the group so many groups on |
//!
//! All take `bytes=` (each message; 1 unless given) and `noise=0.05,seed=1` (each sender's bytes times
//! 1 plus or minus a uniform 5 %). Of `adversarial` they are what an endpoint sends to all of the group. Those without a grid take `ranks=` where no fabric gives the number.
//!
//! Source: Taffet, dissertation, sec. 3.5.1 and table 3.1, sec. 5.4 (barrier, matching); Smith et al., SC18,
//! sec. III-B (bis, nn, pairs, fft-proxy).

use netloom_model::names::nearest;
use netloom_model::rng::{below, shuffle, stream, unit};
use netloom_model::{Csr, MAX_ENDPOINTS, Traffic};

use crate::PatternError;
use crate::grid::{self, Grid};
use crate::rows::{Rows, all_to_all, one_each};
use crate::spec::{Spec, sizes};

/// The names that [`pattern`] knows.
pub const PATTERNS: [&str; 16] = [
    "stencil",
    "stencil27",
    "bisection",
    "bis",
    "bisection-shuffle",
    "all-to-all",
    "permutation",
    "shift",
    "ring",
    "nn",
    "pairs",
    "matching",
    "fft-proxy",
    "barrier",
    "random",
    "adversarial",
];

/// More entries than all-to-all among 20,000 endpoints are refused: 5 GB and seldom meant.
pub const MAX_ENTRIES: u64 = 20_000 * 19_999;

/// Streams of random numbers: partners and noise do not disturb each other.
const PARTNERS: u64 = 0;
const NOISE: u64 = 1;

/// Whether `spec` names a pattern (its details may still be wrong).
pub fn is_pattern(spec: &str) -> bool {
    PATTERNS.contains(&Spec::parse(spec).name)
}

/// The process grid that a pattern lives on, x fastest (`nn` counts columns first), if it has one.
pub fn pattern_grid(spec: &str) -> Option<Vec<u32>> {
    let mut spec = Spec::parse(spec);
    let grid = sizes(spec.positional()?)?;
    match spec.name {
        "stencil" | "stencil27" | "fft-proxy" | "barrier" => Some(grid),
        "nn" => Some(grid.into_iter().rev().collect()),
        _ => None,
    }
}

/// The traffic of a spec. Patterns on a grid know how many endpoints they need; the others take
/// `endpoints` (the hosts of a fabric) or their own `ranks=`.
///
/// # Errors
/// [`PatternError`] says what is unknown, and what was probably meant; which value is wrong, and what was
/// expected; or that the pattern does not fit `endpoints`.
pub fn pattern(spec: &str, endpoints: Option<u32>) -> Result<Traffic, PatternError> {
    made(spec, endpoints, None)
}

/// The same where groups are asked for and the fabric has some: `group_of` every endpoint is a number below their own.
///
/// # Errors
/// As [`pattern`].
pub fn pattern_in_groups(spec: &str, group_of: &[u32]) -> Result<Traffic, PatternError> {
    made(spec, Some(group_of.len() as u32), Some(group_of))
}

fn made(spec: &str, endpoints: Option<u32>, group_of: Option<&[u32]>) -> Result<Traffic, PatternError> {
    let mut spec = Spec::parse(spec);
    if !PATTERNS.contains(&spec.name) {
        return Err(PatternError::unknown(spec.name, nearest(spec.name, PATTERNS), &PATTERNS));
    }
    let common = Common::take(&mut spec)?;
    let traffic = match spec.name {
        "stencil" | "stencil27" | "nn" | "fft-proxy" | "barrier" => on_grid(spec, endpoints, &common)?,
        "adversarial" => between_groups(spec, endpoints, group_of, &common)?,
        _ => on_any_number(spec, endpoints, &common)?,
    };
    Ok(match common.noise {
        0.0 => traffic,
        noise => with_noise(&traffic, noise, common.seed),
    })
}

/// What every pattern takes.
struct Common {
    bytes: f64,
    seed: u64,
    noise: f64,
}

impl Common {
    fn take(spec: &mut Spec) -> Result<Self, PatternError> {
        let bytes = spec.number("bytes", "a positive number")?.unwrap_or(1.0);
        if !(f64::is_finite(bytes) && bytes > 0.0) {
            return Err(spec.bad("bytes", &bytes.to_string(), "a positive number"));
        }
        let noise = spec.number("noise", "a number from 0 to below 1, such as 0.05")?.unwrap_or(0.0);
        if !(0.0..1.0).contains(&noise) {
            return Err(spec.bad("noise", &noise.to_string(), "a number from 0 to below 1, such as 0.05"));
        }
        let seed = spec.number("seed", "a whole number")?.unwrap_or(0);
        Ok(Self { bytes, seed, noise })
    }
}

fn on_grid(mut spec: Spec, endpoints: Option<u32>, common: &Common) -> Result<Traffic, PatternError> {
    let (name, bytes) = (spec.name, common.bytes);
    let (expected, example, dimensions) = match name {
        "nn" => ("rows and columns such as 18x64", "nn:18x64", 2..=2),
        "fft-proxy" => ("three sizes such as 8x16x9", "fft-proxy:8x16x9", 3..=3),
        "stencil27" => ("1 to 6 sizes such as 16x16x12", "stencil27:16x16x12", 1..=6),
        "barrier" => ("1 to 6 sizes such as 32x64", "barrier:32x64", 1..=6),
        _ => ("1 to 6 sizes such as 16x16x12", "stencil:16x16x12", 1..=6),
    };
    let Some(text) = spec.positional() else {
        return Err(PatternError::Missing { pattern: name.into(), what: "its grid", example });
    };
    let mut grid = match sizes(text) {
        Some(sizes) if dimensions.contains(&sizes.len()) => Grid { sizes },
        _ => return Err(spec.bad("grid", text, expected)),
    };
    let periodic = (name.starts_with("stencil") || name == "nn") && spec.flag("periodic");
    let axis = if name == "stencil" { take_axis(&mut spec, grid.sizes.len())? } else { None };
    let text = spec.text.to_owned();
    spec.finish()?;
    let points = grid.points().filter(|&n| n <= MAX_ENDPOINTS);
    let Some(points) = points else {
        let wanted = grid.sizes.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul);
        return Err(PatternError::TooManyEndpoints { spec: text, endpoints: wanted });
    };
    check_endpoints(&text, points, endpoints)?;
    if name == "barrier" {
        check_entries(&text, u64::from(points) * 3 * (grid.sizes.len() as u64 + 1))?;
        return Ok(grid::barriers(&grid, bytes));
    }
    if name == "fft-proxy" {
        check_entries(&text, u64::from(points) * (u64::from(grid.sizes[1]) - 1))?;
        return Ok(grid::all_to_all_along(&grid, 1, bytes));
    }
    if name == "nn" {
        grid.sizes.reverse();
    }
    let signs: [&[i32]; 3] = [&[-1, 1], &[1], &[-1]];
    let offsets = if name == "stencil27" {
        grid::surroundings(grid.sizes.len())
    } else {
        grid::faces(grid.sizes.len(), axis.map(|(axis, which)| (axis, signs[which])))
    };
    check_entries(&text, u64::from(points) * offsets.len() as u64)?;
    Ok(grid::stencil(&grid, &offsets, periodic, bytes))
}

/// `axis=x` (0: both ways), `axis=+x` (1), `axis=-x` (2).
fn take_axis(spec: &mut Spec, dimensions: usize) -> Result<Option<(usize, usize)>, PatternError> {
    let Some(text) = spec.text_of("axis") else { return Ok(None) };
    let (which, letter) = match text.as_bytes() {
        [letter] => (0, *letter),
        [b'+', letter] => (1, *letter),
        [b'-', letter] => (2, *letter),
        _ => (0, b'?'),
    };
    match b"xyzwuv".iter().position(|&l| l == letter) {
        Some(axis) if axis < dimensions => Ok(Some((axis, which))),
        _ => Err(spec.bad("axis", text, "an axis of the grid such as x, +x or -x (x, y, z, w, u, v)")),
    }
}

fn on_any_number(mut spec: Spec, endpoints: Option<u32>, common: &Common) -> Result<Traffic, PatternError> {
    let (name, bytes, seed) = (spec.name, common.bytes, common.seed);
    let shift = if name == "shift" {
        let Some(text) = spec.positional() else {
            return Err(PatternError::Missing { pattern: name.into(), what: "how far", example: "shift:1" });
        };
        text.parse::<i64>().map_err(|_| spec.bad("shift", text, "a whole number"))?
    } else {
        // A ring: to the next one.
        1
    };
    let partners = if name == "random" {
        spec.number::<u32>("partners", "a whole number, at least 1")?.unwrap_or(1)
    } else {
        0
    };
    let own = spec.number::<u32>("ranks", "a whole number, at least 1")?;
    let text = spec.text.to_owned();
    let zero = spec.bad("ranks", "0", "a whole number, at least 1");
    spec.finish()?;
    let n = match (own, endpoints) {
        (Some(0), _) => return Err(zero),
        (Some(own), given) => {
            check_endpoints(&text, own, given)?;
            own
        }
        (None, Some(given)) => given,
        (None, None) => return Err(PatternError::NoEndpoints { pattern: name.into() }),
    };
    if n > MAX_ENDPOINTS {
        return Err(PatternError::TooManyEndpoints { spec: text, endpoints: n.into() });
    }
    if name.starts_with("bis") || name == "pairs" || name == "matching" {
        if n % 2 == 1 || n == 0 {
            return Err(PatternError::Odd { spec: text, endpoints: n });
        }
    } else if n < 2 && name != "all-to-all" {
        return Err(PatternError::TooFew { spec: text, endpoints: n });
    }
    let half = n / 2;
    Ok(match name {
        "bisection" | "bis" => one_each(n, |i| Some(((i + half) % n, bytes))),
        "bisection-shuffle" | "pairs" => {
            let mut partner: Vec<u32> = (half..n).collect();
            shuffle(&mut stream(seed, PARTNERS), &mut partner);
            if name == "pairs" {
                return Ok(one_each(n, |i| (i < half).then(|| (partner[i as usize], bytes))));
            }
            partner.resize(n as usize, 0);
            for i in 0..half {
                let j = partner[i as usize];
                partner[j as usize] = i;
            }
            one_each(n, |i| Some((partner[i as usize], bytes)))
        }
        "matching" => {
            let mut order: Vec<u32> = (0..n).collect();
            shuffle(&mut stream(seed, PARTNERS), &mut order);
            let mut partner = vec![0; n as usize];
            for pair in order.chunks_exact(2) {
                (partner[pair[0] as usize], partner[pair[1] as usize]) = (pair[1], pair[0]);
            }
            one_each(n, |i| Some((partner[i as usize], bytes)))
        }
        "permutation" => {
            let partner = derangement(n, seed);
            one_each(n, |i| Some((partner[i as usize], bytes)))
        }
        "shift" | "ring" => {
            let by = shift.rem_euclid(i64::from(n)) as u64;
            one_each(n, |i| Some((((u64::from(i) + by) % u64::from(n)) as u32, bytes)))
        }
        "random" => {
            if partners == 0 || partners >= n {
                let others = n - 1;
                return Err(PatternError::Partners { spec: text, partners, others });
            }
            check_entries(&text, u64::from(n) * u64::from(partners))?;
            random(n, partners, bytes, seed)
        }
        _ => {
            check_entries(&text, u64::from(n) * u64::from(n.saturating_sub(1)))?;
            all_to_all(n, bytes)
        }
    })
}

/// Whether a spec leaves it to the fabric how large its groups are.
pub fn wants_group(spec: &str) -> bool {
    let mut spec = Spec::parse(spec);
    spec.name == "adversarial" && spec.text_of("group").is_none()
}

/// Everybody of group `i` to everybody of group `i + by`, groups being `group` endpoints in a row or as given.
fn between_groups(
    mut spec: Spec,
    endpoints: Option<u32>,
    group_of: Option<&[u32]>,
    common: &Common,
) -> Result<Traffic, PatternError> {
    let name = spec.name;
    let missing = |what, example| PatternError::Missing { pattern: name.into(), what, example };
    let Some(by) = spec.positional() else {
        return Err(missing("how many groups on", "adversarial:1,group=32"));
    };
    let size = spec.number::<u32>("group", "a whole number, at least 1")?;
    let own = spec.number::<u32>("ranks", "a whole number, at least 1")?;
    let Some(n) = own.or(endpoints) else { return Err(PatternError::NoEndpoints { pattern: name.into() }) };
    let text = spec.text.to_owned();
    check_endpoints(&text, n, endpoints)?;
    if n > MAX_ENDPOINTS {
        return Err(PatternError::TooManyEndpoints { spec: text, endpoints: n.into() });
    }
    let of: Vec<u32> = match (size, group_of) {
        (None, None) => {
            return Err(missing("the endpoints of a group, or a dragonfly", "adversarial:1,group=32"));
        }
        (None, Some(of)) => of.to_vec(),
        (Some(size), _) => {
            if size == 0 || !n.is_multiple_of(size) || n / size < 2 {
                let found = format!("{size} of {n} endpoints");
                let expected = "a divisor of the number of endpoints, with at least two groups";
                return Err(spec.bad("group", &found, expected));
            }
            (0..n).map(|i| i / size).collect()
        }
    };
    let mut members = vec![Vec::new(); of.iter().max().map_or(0, |&last| last as usize + 1)];
    (0u32..).zip(&of).for_each(|(endpoint, &group)| members[group as usize].push(endpoint));
    let groups = members.len() as u32;
    let Some(by) = by.parse::<u32>().ok().filter(|&by| by >= 1 && by < groups) else {
        let found = format!("{by} of {groups} groups");
        return Err(spec.bad("adversarial", &found, "how many groups on, at least 1 and below their number"));
    };
    spec.finish()?;
    let receivers = |endpoint: usize| &members[((of[endpoint] + by) % groups) as usize];
    let entries: usize = (0..of.len()).map(|endpoint| receivers(endpoint).len()).sum();
    check_entries(&text, entries as u64)?;
    let mut rows = Rows::new(n, entries);
    for endpoint in 0..of.len() {
        let to = receivers(endpoint);
        to.iter().for_each(|&to_one| rows.push(to_one, common.bytes / to.len() as f64));
        rows.end_row();
    }
    Ok(rows.finish())
}

/// A uniformly random permutation among those that move everybody (by rejection: e tries on average).
fn derangement(n: u32, seed: u64) -> Vec<u32> {
    let mut random = stream(seed, PARTNERS);
    let mut partner: Vec<u32> = (0..n).collect();
    loop {
        shuffle(&mut random, &mut partner);
        if partner.iter().enumerate().all(|(i, &j)| i as u32 != j) {
            return partner;
        }
    }
}

/// `partners` distinct others for everybody (Floyd's sampling).
fn random(n: u32, partners: u32, bytes: f64, seed: u64) -> Traffic {
    let mut random = stream(seed, PARTNERS);
    let mut rows = Rows::new(n, n as usize * partners as usize);
    let mut chosen_by = vec![u32::MAX; n as usize - 1];
    for i in 0..n {
        for top in n - 1 - partners..n - 1 {
            let draw = below(&mut random, u64::from(top) + 1) as u32;
            let pick = if chosen_by[draw as usize] == i { top } else { draw };
            chosen_by[pick as usize] = i;
            // The others of i are 0..n-1 with i skipped.
            rows.push(pick + u32::from(pick >= i), bytes);
        }
        rows.end_row();
    }
    rows.finish()
}

/// Every sender multiplies what it sends by its own factor within `1 - noise ..= 1 + noise`.
fn with_noise(traffic: &Traffic, noise: f64, seed: u64) -> Traffic {
    let mut random = stream(seed, NOISE);
    let m = traffic.total();
    let mut bytes = m.bytes().to_vec();
    for row in m.offsets().windows(2) {
        let factor = 1.0 + noise * (2.0 * unit(&mut random) - 1.0);
        bytes[row[0] as usize..row[1] as usize].iter_mut().for_each(|b| *b *= factor);
    }
    Traffic::from_matrix(Csr::from_parts(m.offsets().to_vec(), m.columns().to_vec(), bytes, None))
}

fn check_endpoints(spec: &str, needed: u32, given: Option<u32>) -> Result<(), PatternError> {
    match given {
        Some(given) if given != needed => Err(PatternError::Endpoints { spec: spec.into(), needed, given }),
        _ => Ok(()),
    }
}

fn check_entries(spec: &str, entries: u64) -> Result<(), PatternError> {
    if entries > MAX_ENTRIES {
        return Err(PatternError::TooManyEntries { spec: spec.into(), entries, limit: MAX_ENTRIES });
    }
    Ok(())
}
