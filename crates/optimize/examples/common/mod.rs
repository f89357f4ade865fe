//! What the studies share: application matrices, copies of them scattered over a machine, bounds, and CPU seconds.
//!
//! Matrices are read from `$NETLOOM_TRAFFIC`, else from `examples/data`. Scattered means: others hold random stretches of 1 to
//! 24 hosts. All draws have fixed seeds, so that every study sees the same machine.

#![allow(dead_code, reason = "every example compiles this for itself, and none uses all of it")]

use std::str::FromStr;
use std::time::Duration;

use netloom_bounds::{ArBound, ar_bound, tighten};
use netloom_model::rng::{below, shuffle, stream};
use netloom_model::{Certificate, Control, Csr, Fabric, StopReason, Traffic};
use netloom_routing::PathSet;
use netloom_topology::Structure;

/// Whether a case is asked for: all are without arguments, else those whose names hold one of them.
pub fn wanted() -> impl Fn(&str) -> bool {
    let filter: Vec<String> = std::env::args().skip(1).collect();
    move |name| filter.is_empty() || filter.iter().any(|f| name.contains(f.as_str()))
}

/// Of the environment; `None` if absent or unreadable.
pub fn setting<T: FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// The matrix of an application.
pub fn read(name: &str) -> Traffic {
    let folder = std::env::var("NETLOOM_TRAFFIC")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data").into());
    let path = format!("{folder}/{name}.mtx.gz");
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    netloom_formats::read_mtx(&bytes, &path).expect("a matrix")
}

/// A grid of ranks with 26 neighbours: faces 9216 bytes, edges 768, corners 64.
pub fn stencil27(x: i64, y: i64, z: i64) -> Traffic {
    let (mut i, mut j, mut b) = (Vec::new(), Vec::new(), Vec::new());
    let id = |a: i64, c: i64, d: i64| ((a * y + c) * z + d) as u64;
    for (a, c, d) in (0..x).flat_map(|a| (0..y).flat_map(move |c| (0..z).map(move |d| (a, c, d)))) {
        for k in 0..27 {
            let (da, dc, dd) = (k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1);
            let (e, f, g) = (a + da, c + dc, d + dd);
            if k != 13 && (0..x).contains(&e) && (0..y).contains(&f) && (0..z).contains(&g) {
                i.push(id(a, c, d));
                j.push(id(e, f, g));
                b.push([0.0, 9216.0, 768.0, 64.0][(da.abs() + dc.abs() + dd.abs()) as usize]);
            }
        }
    }
    Traffic::from_triples((x * y * z) as u32, &i, &j, &b, None).expect("valid")
}

/// All hosts in stretches of 1 to 24, the stretches in random order.
pub fn dealt(hosts: usize) -> impl Iterator<Item = usize> {
    let mut random = stream(1, 77);
    let (mut stretches, mut first) = (Vec::new(), 0);
    while first < hosts {
        let end = (first + 1 + below(&mut random, 24) as usize).min(hosts);
        stretches.push(first..end);
        first = end;
    }
    shuffle(&mut random, &mut stretches);
    stretches.into_iter().flatten()
}

/// So many copies of every application, one rank a host: each copy takes the next hosts dealt, its ranks in their order.
pub fn scattered(jobs: &[(Traffic, usize)], hosts: usize) -> Traffic {
    let ranks: usize = jobs.iter().map(|(app, copies)| app.endpoints() as usize * copies).sum();
    assert!(ranks <= hosts, "{ranks} ranks on {hosts} hosts");
    let mut pool = dealt(hosts);
    let (mut from, mut to, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for app in jobs.iter().flat_map(|(app, copies)| std::iter::repeat_n(app, *copies)) {
        let mut at: Vec<usize> = pool.by_ref().take(app.endpoints() as usize).collect();
        at.sort_unstable();
        for (i, j, b) in app.total().iter() {
            from.push(at[i as usize] as u64);
            to.push(at[j as usize] as u64);
            bytes.push(b);
        }
    }
    Traffic::from_triples(hosts as u32, &from, &to, &bytes, None).expect("hosts")
}

/// The adaptive-routing bound, and the best bound on whole items.
pub fn bounds(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
) -> (ArBound, Certificate) {
    let ar = ar_bound(fabric, structure, paths, traffic, &Control::new(), None).expect("joined hosts");
    let whole = tighten(fabric, structure, paths, traffic, ar.certificate.clone());
    (ar, whole)
}

/// Runs a search and stops it after so many CPU seconds.
pub fn within<T: Send>(limit: f64, control: &Control, search: impl FnOnce() -> T + Send) -> T {
    let before = cpu_seconds();
    std::thread::scope(|scope| {
        let search = scope.spawn(search);
        while !search.is_finished() && cpu_seconds() - before < limit {
            std::thread::sleep(Duration::from_millis(1));
        }
        control.stop(StopReason::TimeLimit);
        search.join().expect("no panic")
    })
}

/// Of this process so far (user and system, all threads), in steps of 10 ms.
pub fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap_or(0.0) + fields[12].parse::<f64>().unwrap_or(0.0)) / 100.0
}
