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
use super::spec::{Maker, Size, Spec, digits, product};

pub(super) const EXAMPLE: &str = "xgft:m=18x18x36,w=1x9x18";
pub(super) const KEYS: &[&str] = &["m", "w", "speed"];

pub(super) fn generate(spec: &Spec) -> Result<Fabric, SpecError> {
    let (m, w) = (spec.counts("m")?, spec.counts("w")?);
    if m.len() != w.len() {
        let expected = format!("{} numbers, as many as m has", m.len());
        return Err(spec.bad("w", expected, spec.require("w")?));
    }
    if w[0] != 1 {
        return Err(spec.bad("w", "1 first (a host has one cable)", spec.require("w")?));
    }
    if m.len() > 16 {
        return Err(spec.bad("m", "at most 16 numbers", spec.require("m")?));
    }
    let height = m.len();
    let speed = spec.speed("EDR")?;
    // Nodes of tier i, i = 0 being hosts.
    let nodes = |i: usize| product(m[i..].iter().chain(&w[..i]).copied());
    let parents = |i: usize| w.get(i).copied().unwrap_or(0);
    let sum = |it: &mut dyn Iterator<Item = u128>| it.fold(0u128, |a, b| a.saturating_add(b));
    spec.check_size(&Size {
        hosts: nodes(0),
        switches: sum(&mut (1..=height).map(nodes)),
        radix: (1..=height).map(|i| u128::from(m[i - 1]) + u128::from(parents(i))).max().unwrap_or(0),
        cables: sum(&mut (0..height).map(|i| nodes(i).saturating_mul(u128::from(w[i])))),
    })?;

    let m: Vec<usize> = m.iter().map(|&n| n as usize).collect();
    let w: Vec<usize> = w.iter().map(|&n| n as usize).collect();
    let mut make = Maker::new(m.iter().product(), speed);
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
