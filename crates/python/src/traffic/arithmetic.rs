//! Sums and multiples of traffic.

use netloom_model::traffic::{AMOUNT, is_amount};
use netloom_model::{Csr, Phase, Traffic, TrafficError};
use netloom_traffic::MadeOf;

use super::PyTraffic;

impl PyTraffic {
    /// What both send, as one phase.
    pub(super) fn sum(&self, other: &Self) -> Result<Self, TrafficError> {
        let (mine, theirs) = (&self.shared.traffic, &other.shared.traffic);
        if mine.endpoints() != theirs.endpoints() {
            let (a, b) = (mine.endpoints(), theirs.endpoints());
            let message = format!("a sum of traffic of {a} endpoints and of {b}: expected equal numbers");
            return Err(TrafficError::Mismatch(message));
        }
        let hash = match (mine.hosts_hash(), theirs.hosts_hash()) {
            (Some(a), Some(b)) if a != b => {
                let message = format!("a sum of traffic of other hosts (hashes {a:016x} and {b:016x})");
                return Err(TrafficError::Mismatch(message));
            }
            (a, b) => a.or(b),
        };
        let sum = triples(mine.endpoints(), &[self.shared.total(), other.shared.total()], 1.0)?;
        let (a, b) = (self.shared.bytes(), other.shared.bytes());
        let made_of = MadeOf {
            point_to_point: a.point_to_point + b.point_to_point,
            collective: a.collective + b.collective,
            within_endpoints: a.within_endpoints + b.within_endpoints,
            left_out: a.left_out + b.left_out,
        };
        let notes = self.shared.notes.iter().chain(&other.shared.notes).cloned().collect();
        Ok(Self::made(sum.with_hosts_hash(hash), Some(made_of), notes))
    }

    /// The same phases with so many times the bytes and packets.
    pub(super) fn scaled(&self, factor: f64) -> Result<Self, TrafficError> {
        let traffic = &self.shared.traffic;
        if !is_amount(factor) {
            let message = format!("{factor} times a traffic: expected {AMOUNT}");
            return Err(TrafficError::Mismatch(message));
        }
        let phase = |phase: &Phase| {
            let scaled = triples(traffic.endpoints(), &[&phase.matrix], factor)?;
            Ok(Phase { matrix: scaled.total().into_owned(), ..phase.clone() })
        };
        let phases = traffic.phases().iter().map(phase).collect::<Result<_, TrafficError>>()?;
        let made = self.shared.bytes();
        let made_of = MadeOf {
            point_to_point: factor * made.point_to_point,
            collective: factor * made.collective,
            within_endpoints: factor * made.within_endpoints,
            left_out: factor * made.left_out,
        };
        let scaled = Traffic::from_phases(phases).with_hosts_hash(traffic.hosts_hash());
        Ok(Self::made(scaled, Some(made_of), self.shared.notes.clone()))
    }
}

/// The sum of matrices, so many times.
fn triples(endpoints: u32, matrices: &[&Csr], factor: f64) -> Result<Traffic, TrafficError> {
    let (mut from, mut to, mut bytes, mut packets) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for matrix in matrices {
        for (i, j, value) in matrix.iter() {
            from.push(u64::from(i));
            to.push(u64::from(j));
            bytes.push(value * factor);
        }
        packets.extend(matrix.packets().unwrap_or_default().iter().map(|value| value * factor));
    }
    let counted = matrices.iter().all(|matrix| matrix.packets().is_some());
    Traffic::from_triples(endpoints, &from, &to, &bytes, counted.then_some(&packets))
}
