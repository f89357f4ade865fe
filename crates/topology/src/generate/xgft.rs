//! Extended generalised fat trees, XGFT(h; m1..mh; w1..wh).
//!
//! A switch of tier `i` (1..=h) has `m_i` children and `w_{i+1}` parents; hosts are tier 0. Its label is
//! `(a_h, …, a_{i+1}; b_i, …, b_1)` with `a_j < m_j` and `b_j < w_j`; its parents have the same label but
//! for `a_{i+1}`, which gives way to any `b_{i+1}`. Closed forms: hosts = m1···mh, switches of tier i =
//! m_{i+1}···mh · w1···wi. Switches are called `l{level}s{number}`, level 0 being the leaves; ports: children
//! by `a`, then parents by `b`.
//! Source: S. R. Öhring et al., "On generalized fat trees", IPPS 1995.

use netloom_model::Fabric;

use super::SpecError;
use super::spec::{Maker, Size, Spec, bad, check_counts, check_size, digits, product};

pub(super) const NAME: &str = "xgft";
pub(super) const EXAMPLE: &str = "xgft:m=18x18x36,w=1x9x18";
pub(super) const KEYS: &[&str] = &["m", "w", "speed"];

/// An extended generalised fat tree: `m` and `w` have one number a tier, the hosts' first, `w[0]` is 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Xgft {
    /// Children of a node, from the leaves up.
    pub m: Vec<u64>,
    /// Parents of a node, from the hosts up.
    pub w: Vec<u64>,
    /// Data rate of every cable, bytes per second.
    pub bandwidth_bytes_per_s: f64,
}

/// Most tiers.
const MOST_TIERS: usize = 16;

pub(super) fn generate(spec: &Spec) -> Result<Fabric, SpecError> {
    let tree = Xgft { m: spec.counts("m")?, w: spec.counts("w")?, bandwidth_bytes_per_s: spec.speed("EDR")? };
    tree.build()
}

/// `18x18x36`, as specs write it.
fn joined(counts: &[u64]) -> String {
    counts.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}

impl Xgft {
    /// Makes the fabric.
    ///
    /// # Errors
    /// [`SpecError`] for numbers of unequal length, a count of 0, hosts of several cables and sizes above the limits.
    pub fn build(&self) -> Result<Fabric, SpecError> {
        let Self { m, w, .. } = self;
        check_counts(NAME, m.iter().map(|&n| ("m", n)).chain(w.iter().map(|&n| ("w", n))))?;
        if m.is_empty() || m.len() > MOST_TIERS {
            return Err(bad(NAME, "m", format!("1 to {MOST_TIERS} numbers"), joined(m)));
        }
        if m.len() != w.len() {
            let expected = format!("{} numbers, as many as m has", m.len());
            return Err(bad(NAME, "w", expected, joined(w)));
        }
        if w[0] != 1 {
            return Err(bad(NAME, "w", "1 first (a host has one cable)", joined(w)));
        }
        let height = m.len();
        // Nodes of tier i, i = 0 being hosts.
        let nodes = |i: usize| product(m[i..].iter().chain(&w[..i]).copied());
        let parents = |i: usize| w.get(i).copied().unwrap_or(0);
        let sum = |it: &mut dyn Iterator<Item = u128>| it.fold(0u128, |a, b| a.saturating_add(b));
        check_size(
            NAME,
            &Size {
                hosts: nodes(0),
                switches: sum(&mut (1..=height).map(nodes)),
                radix: (1..=height).map(|i| u128::from(m[i - 1]) + u128::from(parents(i))).max().unwrap_or(0),
                cables: sum(&mut (0..height).map(|i| nodes(i).saturating_mul(u128::from(w[i])))),
            },
        )?;

        let m: Vec<usize> = m.iter().map(|&n| n as usize).collect();
        let w: Vec<usize> = w.iter().map(|&n| n as usize).collect();
        let mut make = Maker::new(m.iter().product(), self.bandwidth_bytes_per_s);
        let tiers: Vec<Vec<usize>> = (1..=height)
            .map(|i| {
                let count = m[i..].iter().chain(&w[..i]).product::<usize>();
                let (level, width) = (i - 1, digits(count));
                let radix = m[i - 1] + w.get(i).copied().unwrap_or(0);
                (0..count).map(|n| make.switch(format!("l{level}s{n:0width$}"), radix)).collect()
            })
            .collect();
        for &leaf in &tiers[0] {
            for port in 1..=m[0] {
                make.host(leaf, port);
            }
        }
        for i in 1..height {
            // A number is (a_h … a_{i+1}) as high digits and (b_i … b_1) as low ones.
            let low: usize = w[..i].iter().product();
            for (n, &switch) in tiers[i - 1].iter().enumerate() {
                let (a, b) = (n / low, n % low);
                let (rest, child) = (a / m[i], a % m[i]);
                for parent in 0..w[i] {
                    let upper = (rest * w[i] + parent) * low + b;
                    make.cable((switch, m[i - 1] + parent + 1), (tiers[i][upper], child + 1));
                }
            }
        }
        make.build()
    }
}
