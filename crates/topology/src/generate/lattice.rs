//! Products of lines: HyperX, torus, mesh and full mesh.
//!
//! A switch has a coordinate in every dimension. Those that agree in all other dimensions are a *line*: in a HyperX
//! each is cabled to each, in a torus to the next one and the last to the first, in a mesh to the next one. A full
//! mesh is a HyperX of one dimension. A ring of two has one cable, not two: `cables=2` makes both.
//! With `n` switches, `n_d` in dimension `d` and `k_d` cables a pair, dimension `d` has `n k_d c_d / n_d` cables,
//! where a line has `c_d` pairs: `n_d (n_d - 1) / 2`, `n_d` (1 of two) or `n_d - 1`.
//!
//! Switches are called by their coordinates, `s3-0`, and numbered with the last coordinate counting fastest. Ports of
//! a switch: hosts, then dimension by dimension the others of its line in order; in a torus and a mesh the one before,
//! then the one after. What ends of a mesh have too many stays free.
//! Sources: J. H. Ahn et al., "HyperX: topology, routing, and packaging of efficient large-scale networks", SC 2009;
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks", 2004, chapter 5, for torus and mesh.

use netloom_model::Fabric;

use super::SpecError;
use super::spec::{Maker, Size, Spec, bad, check_counts, check_size, digits, product};

pub(super) const KEYS: &[&str] = &["shape", "hosts", "cables", "speed", "speeds"];
pub(super) const FULL_KEYS: &[&str] = &["switches", "hosts", "cables", "speed", "cable-speed"];

/// Most dimensions: with two switches in each there are as many switches as may be.
const MOST_DIMENSIONS: usize = 16;

/// What joins the switches of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// A cable between every two.
    Clique,
    /// A cable to the next one, and from the last to the first.
    Ring,
    /// A cable to the next one.
    Path,
}

impl Line {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clique => "clique",
            Self::Ring => "ring",
            Self::Path => "path",
        }
    }

    /// Pairs of switches that are cabled, of a line of `size`.
    pub fn pairs(self, size: u64) -> u128 {
        let size = u128::from(size);
        match self {
            Self::Clique => size * (size - 1) / 2,
            Self::Ring if size > 2 => size,
            Self::Ring | Self::Path => size - 1,
        }
    }

    /// The places on a line of `size` that place `at` is cabled to, in the order of its ports.
    fn neighbours(self, at: usize, size: usize) -> Vec<usize> {
        match self {
            Self::Clique => (0..size).filter(|&other| other != at).collect(),
            Self::Ring if size > 2 => vec![(at + size - 1) % size, (at + 1) % size],
            Self::Ring | Self::Path => {
                at.checked_sub(1).into_iter().chain(Some(at + 1).filter(|&next| next < size)).collect()
            }
        }
    }

    /// The port, counted from 0, of place `at` towards place `to`.
    fn port(self, at: usize, to: usize, size: usize) -> usize {
        match self {
            Self::Clique => to - usize::from(to > at),
            Self::Ring | Self::Path if size == 2 => 0,
            Self::Ring | Self::Path => usize::from(to == (at + 1) % size),
        }
    }

    /// Ports of a switch towards the others of its line, with one cable a pair.
    fn ports(self, size: u64) -> u64 {
        match self {
            Self::Clique => size - 1,
            Self::Ring | Self::Path => (size - 1).min(2),
        }
    }
}

/// A product of lines of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Lattice {
    /// What joins the switches of a line.
    pub line: Line,
    /// Switches in every dimension, at least 2.
    pub shape: Vec<u64>,
    /// Hosts a switch.
    pub hosts: u64,
    /// Cables a pair of neighbours, by dimension.
    pub cables: Vec<u64>,
    /// Data rate of cables to hosts, bytes per second.
    pub host_bytes_per_s: f64,
    /// Data rate of cables between switches by dimension, bytes per second.
    pub bytes_per_s: Vec<f64>,
}

/// `hyperx:…`
pub(super) fn hyperx(spec: &Spec) -> Result<Fabric, SpecError> {
    of_spec(spec, "hyperx", Line::Clique)
}

/// `torus:…`
pub(super) fn torus(spec: &Spec) -> Result<Fabric, SpecError> {
    of_spec(spec, "torus", Line::Ring)
}

/// `mesh:…`
pub(super) fn mesh(spec: &Spec) -> Result<Fabric, SpecError> {
    of_spec(spec, "mesh", Line::Path)
}

/// `fullmesh:…`
pub(super) fn full_mesh(spec: &Spec) -> Result<Fabric, SpecError> {
    let speed = spec.speed("EDR")?;
    let lattice = Lattice {
        line: Line::Clique,
        shape: vec![spec.count("switches")?],
        hosts: spec.count("hosts")?,
        cables: vec![spec.count_or("cables", 1)?],
        host_bytes_per_s: speed,
        bytes_per_s: vec![spec.rate("cable-speed")?.unwrap_or(speed)],
    };
    lattice.build_as("fullmesh", "switches")
}

fn of_spec(spec: &Spec, name: &'static str, line: Line) -> Result<Fabric, SpecError> {
    let shape = spec.counts("shape")?;
    let each = |numbers: Vec<u64>| if numbers.len() == 1 { vec![numbers[0]; shape.len()] } else { numbers };
    let speed = spec.speed("EDR")?;
    let cables = spec.get("cables").map_or(Ok(vec![1]), |_| spec.counts("cables"))?;
    let bytes_per_s = spec.rates("speeds")?.unwrap_or_else(|| vec![speed; shape.len()]);
    let (cables, hosts) = (each(cables), spec.count("hosts")?);
    Lattice { line, shape, hosts, cables, host_bytes_per_s: speed, bytes_per_s }.build_as(name, "shape")
}

impl Lattice {
    /// Makes the fabric.
    ///
    /// # Errors
    /// [`SpecError`] for a count of 0, a dimension of one switch, lists of unequal length, and sizes above the limits.
    pub fn build(&self) -> Result<Fabric, SpecError> {
        let name = match self.line {
            Line::Clique => "hyperx",
            Line::Ring => "torus",
            Line::Path => "mesh",
        };
        self.build_as(name, "shape")
    }

    /// The same, for messages of a generator whose sizes stand at `key`.
    fn build_as(&self, name: &'static str, key: &'static str) -> Result<Fabric, SpecError> {
        self.check(name, key)?;
        let Self { line, hosts, .. } = *self;
        let hosts = hosts as usize;
        let shape: Vec<usize> = self.shape.iter().map(|&n| n as usize).collect();
        let cables: Vec<usize> = self.cables.iter().map(|&n| n as usize).collect();
        let count: usize = shape.iter().product();
        let mut make = Maker::new(count * hosts, self.host_bytes_per_s);
        // By dimension: how far apart neighbours are numbered, and the port before the first one.
        let stride: Vec<usize> = (0..shape.len()).map(|d| shape[d + 1..].iter().product()).collect();
        let ports = |d: usize| line.ports(self.shape[d]) as usize * cables[d];
        let first: Vec<usize> = (0..shape.len()).map(|d| hosts + (0..d).map(ports).sum::<usize>()).collect();
        let radix = hosts + (0..shape.len()).map(ports).sum::<usize>();
        let at = |s: usize, d: usize| s / stride[d] % shape[d];
        let name = |s: usize| {
            let place = |d: usize| format!("{:0width$}", at(s, d), width = digits(shape[d]));
            format!("s{}", (0..shape.len()).map(place).collect::<Vec<_>>().join("-"))
        };
        let switch: Vec<usize> = (0..count).map(|s| make.switch(name(s), radix)).collect();
        for &s in &switch {
            (1..=hosts).for_each(|port| make.host(s, port));
        }
        for s in 0..count {
            for d in 0..shape.len() {
                let (here, size) = (at(s, d), shape[d]);
                for there in line.neighbours(here, size).into_iter().filter(|&there| there > here) {
                    let other = s + (there - here) * stride[d];
                    let end = |from: usize, to: usize| first[d] + line.port(from, to, size) * cables[d];
                    for k in 1..=cables[d] {
                        let near = (switch[s], end(here, there) + k);
                        let far = (switch[other], end(there, here) + k);
                        make.cable_at(near, far, self.bytes_per_s[d]);
                    }
                }
            }
        }
        make.build()
    }

    fn check(&self, name: &'static str, key: &'static str) -> Result<(), SpecError> {
        let Self { line, shape, hosts, cables, bytes_per_s, .. } = self;
        let joined = |counts: &[u64]| counts.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        if shape.is_empty() || shape.len() > MOST_DIMENSIONS {
            return Err(bad(name, key, format!("1 to {MOST_DIMENSIONS} dimensions"), joined(shape)));
        }
        let counts = shape.iter().map(|&n| (key, n)).chain(cables.iter().map(|&n| ("cables", n)));
        check_counts(name, counts.chain([("hosts", *hosts)]))?;
        if shape.contains(&1) {
            let expected = match key {
                "shape" => "at least 2 switches in every dimension",
                _ => "at least 2 switches",
            };
            return Err(bad(name, key, expected, joined(shape)));
        }
        let expected = || format!("one number, or {}, one a dimension", shape.len());
        if cables.len() != shape.len() {
            return Err(bad(name, "cables", expected(), joined(cables)));
        }
        if bytes_per_s.len() != shape.len() {
            let expected = format!("{} speeds, one a dimension", shape.len());
            return Err(bad(name, "speeds", expected, bytes_per_s.len().to_string()));
        }
        let switches = product(shape.iter().copied());
        let of_dimension = |(&size, &k): (&u64, &u64)| {
            // Lines of a dimension, each with so many pairs.
            (switches / u128::from(size)).saturating_mul(line.pairs(size)).saturating_mul(u128::from(k))
        };
        let all_hosts = switches.saturating_mul(u128::from(*hosts));
        let cables_between = shape.iter().zip(cables).map(of_dimension).fold(0u128, u128::saturating_add);
        let ends = shape.iter().zip(cables).map(|(&size, &k)| product([line.ports(size), k]));
        check_size(
            name,
            &Size {
                hosts: all_hosts,
                switches,
                radix: ends.fold(u128::from(*hosts), u128::saturating_add),
                cables: all_hosts.saturating_add(cables_between),
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_a_line_have_ports_of_their_own() {
        for line in [Line::Clique, Line::Ring, Line::Path] {
            for size in 2..7 {
                let mut ends = 0;
                for at in 0..size {
                    let near = line.neighbours(at, size);
                    let mut ports: Vec<usize> = near.iter().map(|&to| line.port(at, to, size)).collect();
                    assert!(ports.iter().all(|&port| port < line.ports(size as u64) as usize));
                    ports.dedup();
                    assert_eq!(ports.len(), near.len(), "{line:?} {size} {at}");
                    assert!(near.iter().all(|&to| line.neighbours(to, size).contains(&at)));
                    ends += near.len() as u128;
                }
                assert_eq!(ends, 2 * line.pairs(size as u64), "{line:?} {size}");
            }
        }
    }
}
