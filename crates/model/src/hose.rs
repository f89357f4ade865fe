//! The hose model of uncertain traffic: who talks to whom is unknown, only how much every host sends and receives in
//! all is.
//!
//! Invariants: both lists have one entry a host, in host order; every entry is an amount of bytes
//! ([`is_amount`](crate::traffic::is_amount)).
//!
//! Source: Duffield et al., "A flexible model for resource management in virtual private networks", SIGCOMM 1999.

use crate::matrix::Csr;

/// Bounds on what every host sends and receives.
#[derive(Clone, Debug, PartialEq)]
pub struct Hose {
    /// Bytes that each host sends at most.
    pub sent: Vec<f64>,
    /// Bytes that each host receives at most.
    pub received: Vec<f64>,
    /// Hash of the ordered host names they belong to, if known.
    pub hosts_hash: Option<u64>,
}

impl Hose {
    /// The row and column sums of a matrix; what a host sends to itself crosses no link and does not count.
    pub fn of(matrix: &Csr, hosts_hash: Option<u64>) -> Self {
        let n = matrix.size();
        let (mut sent, mut received) = (vec![0.0; n], vec![0.0; n]);
        for (i, j, bytes) in matrix.iter().filter(|(i, j, _)| i != j) {
            sent[i as usize] += bytes;
            received[j as usize] += bytes;
        }
        Self { sent, received, hosts_hash }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::Traffic;

    #[test]
    fn sums_of_rows_and_columns_leave_the_diagonal_out() {
        let t = Traffic::from_triples(3, &[0, 0, 1, 2], &[1, 2, 1, 1], &[1.0, 2.0, 9.0, 4.0], None).unwrap();
        let hose = Hose::of(&t.total(), Some(7));
        assert_eq!(hose.sent, [3.0, 0.0, 4.0]);
        assert_eq!(hose.received, [0.0, 5.0, 2.0]);
        assert_eq!(hose.hosts_hash, Some(7));
    }
}
