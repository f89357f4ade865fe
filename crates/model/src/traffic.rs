//! Traffic: sparse bytes (and packets) per source and destination, in a short list of phases.
//!
//! Rows and columns are *endpoints*: host ids once placed on a fabric, ranks before. `(i, j)` is from i
//! to j. What is placed carries the hash of the ordered host names it belongs to. A phase may happen more
//! than once: its matrix is what one occurrence sends, `repeats` says how often.

use std::borrow::Cow;

use crate::fabric::Fabric;
use crate::matrix::Csr;

/// More endpoints than this are refused, so that one bad index cannot ask for all memory.
pub const MAX_ENDPOINTS: u32 = 10_000_000;

/// What [`is_amount`] takes, in words for messages.
pub const AMOUNT: &str = "a finite number, not negative, at most 1e100 and, unless 0, at least 1e-100";

/// Whether `value` is bytes or packets: sums, squares and quotients of what is let in neither overflow nor vanish.
pub fn is_amount(value: f64) -> bool {
    value == 0.0 || (1e-100..=1e100).contains(&value)
}

/// More repeats of a phase than this, or less than its inverse, are refused.
pub const MAX_REPEATS: f64 = 1e9;

/// What [`is_repeats`] takes, in words for messages.
pub const REPEATS: &str = "a number of 1e-9 to 1e9";

/// Whether a phase may happen so often.
pub fn is_repeats(value: f64) -> bool {
    (1.0 / MAX_REPEATS..=MAX_REPEATS).contains(&value)
}

/// One phase: what is sent between two synchronisations.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// A name for tables; may be empty.
    pub name: String,
    /// Who sends how much to whom, each time.
    pub matrix: Csr,
    /// How often it happens ([`is_repeats`]).
    pub repeats: f64,
}

impl Phase {
    /// A phase that happens once.
    pub fn once(name: impl Into<String>, matrix: Csr) -> Self {
        Self { name: name.into(), matrix, repeats: 1.0 }
    }
}

/// Who sends how much to whom. At least one phase; all of equal size.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    endpoints: u32,
    hosts_hash: Option<u64>,
    phases: Vec<Phase>,
}

/// Why triples are not traffic.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrafficError {
    /// The three columns have different lengths.
    #[error(
        "sources, destinations and bytes have {sources}, {destinations} and {values} entries: expected equal counts"
    )]
    Lengths {
        /// Number of sources.
        sources: usize,
        /// Number of destinations.
        destinations: usize,
        /// Number of values.
        values: usize,
    },
    /// As many packets as values of bytes were expected.
    #[error("packets and bytes have {packets} and {values} entries: expected equal counts")]
    PacketCount {
        /// Number of values of packets.
        packets: usize,
        /// Number of values of bytes.
        values: usize,
    },
    /// An index that is not an endpoint.
    #[error("entry {entry} is from {from} to {to}: expected endpoints below {endpoints}")]
    OutOfRange {
        /// Position in the list, from 0.
        entry: usize,
        /// Its source.
        from: u64,
        /// Its destination.
        to: u64,
        /// Number of endpoints.
        endpoints: u32,
    },
    /// More endpoints than [`MAX_ENDPOINTS`].
    #[error("{endpoints} endpoints: expected at most {}", MAX_ENDPOINTS)]
    TooMany {
        /// Number of endpoints.
        endpoints: u32,
    },
    /// A negative, infinite, NaN or absurd value.
    #[error("entry {entry} has {value:?} {unit}: expected {}", AMOUNT)]
    BadValue {
        /// Position in the list, from 0.
        entry: usize,
        /// The value.
        value: f64,
        /// "bytes" or "packets".
        unit: &'static str,
    },
    /// Traffic that belongs to another fabric, or has another size.
    #[error("{0}")]
    Mismatch(String),
}

impl Traffic {
    /// The checked door of every reader: sorts, adds duplicates up, drops zeros.
    ///
    /// `packets` may be absent: they are then bytes / MTU.
    ///
    /// # Errors
    /// [`TrafficError`] names the first bad entry.
    pub fn from_triples(
        endpoints: u32,
        sources: &[u64],
        destinations: &[u64],
        bytes: &[f64],
        packets: Option<&[f64]>,
    ) -> Result<Self, TrafficError> {
        let values = bytes.len();
        if sources.len() != destinations.len() || sources.len() != values {
            let (sources, destinations) = (sources.len(), destinations.len());
            return Err(TrafficError::Lengths { sources, destinations, values });
        }
        if let Some(packets) = packets.map(<[f64]>::len).filter(|&packets| packets != values) {
            return Err(TrafficError::PacketCount { packets, values });
        }
        if endpoints > MAX_ENDPOINTS {
            return Err(TrafficError::TooMany { endpoints });
        }
        for i in 0..bytes.len() {
            let (from, to) = (sources[i], destinations[i]);
            if from >= u64::from(endpoints) || to >= u64::from(endpoints) {
                return Err(TrafficError::OutOfRange { entry: i, from, to, endpoints });
            }
            if !is_amount(bytes[i]) {
                return Err(TrafficError::BadValue { entry: i, value: bytes[i], unit: "bytes" });
            }
            if let Some(&p) = packets.and_then(|p| p.get(i)).filter(|&&p| !is_amount(p)) {
                return Err(TrafficError::BadValue { entry: i, value: p, unit: "packets" });
            }
        }
        let matrix = compress(endpoints as usize, sources, destinations, bytes, packets);
        Ok(Self::from_matrix(matrix))
    }

    /// One unnamed phase.
    pub fn from_matrix(matrix: Csr) -> Self {
        Self { endpoints: matrix.size() as u32, hosts_hash: None, phases: vec![Phase::once("", matrix)] }
    }

    /// Several phases.
    ///
    /// # Panics
    /// If there is none, their sizes differ, or one happens absurdly often.
    pub fn from_phases(phases: Vec<Phase>) -> Self {
        let endpoints = phases.first().expect("traffic has at least one phase").matrix.size();
        assert!(phases.iter().all(|p| p.matrix.size() == endpoints), "phases have equal sizes");
        assert!(phases.iter().all(|p| is_repeats(p.repeats)), "phases happen 1e-9 to 1e9 times");
        Self { endpoints: endpoints as u32, hosts_hash: None, phases }
    }

    /// The same traffic, bound to the hosts with this hash.
    pub fn with_hosts_hash(mut self, hash: Option<u64>) -> Self {
        self.hosts_hash = hash;
        self
    }

    /// Number of endpoints: hosts once placed, ranks before.
    pub fn endpoints(&self) -> u32 {
        self.endpoints
    }

    /// Hash of the ordered host names it was placed on, if it was.
    pub fn hosts_hash(&self) -> Option<u64> {
        self.hosts_hash
    }

    /// The phases in order.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// All phases added up, each as often as it happens (borrowed if there is just one, and that once).
    pub fn total(&self) -> Cow<'_, Csr> {
        if let [only] = self.phases.as_slice()
            && only.repeats == 1.0
        {
            return Cow::Borrowed(&only.matrix);
        }
        let packets = self.phases.iter().all(|p| p.matrix.packets().is_some());
        let (mut i, mut j, mut b, mut p) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for phase in &self.phases {
            for (from, to, bytes) in phase.matrix.iter() {
                i.push(u64::from(from));
                j.push(u64::from(to));
                b.push(bytes * phase.repeats);
            }
            p.extend(phase.matrix.packets().unwrap_or_default().iter().map(|p| p * phase.repeats));
        }
        Cow::Owned(compress(self.endpoints as usize, &i, &j, &b, packets.then_some(&p)))
    }

    /// Whether this traffic fits `fabric`: the host names' hash where there is one, else the size.
    ///
    /// # Errors
    /// [`TrafficError::Mismatch`] says what differs.
    pub fn check_fits(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        let hosts = fabric.host_count();
        if self.endpoints as usize != hosts {
            return Err(TrafficError::Mismatch(format!(
                "the traffic has {} endpoints, the fabric {hosts} hosts: place a rank matrix first \
                 (`netloom traffic place`)",
                self.endpoints
            )));
        }
        match self.hosts_hash {
            Some(hash) if hash != fabric.hosts_hash() => Err(TrafficError::Mismatch(format!(
                "the traffic belongs to a fabric with other host names (hash {hash:016x}, this fabric {:016x})",
                fabric.hosts_hash()
            ))),
            _ => Ok(()),
        }
    }
}

fn compress(n: usize, rows: &[u64], columns: &[u64], bytes: &[f64], packets: Option<&[f64]>) -> Csr {
    let rises = (1..rows.len()).all(|e| (rows[e - 1], columns[e - 1]) < (rows[e], columns[e]));
    if rises && bytes.iter().all(|&b| b > 0.0) {
        // What writers write is sorted already.
        let mut offsets = vec![0u64; n + 1];
        rows.iter().for_each(|&i| offsets[i as usize + 1] += 1);
        (0..n).for_each(|i| offsets[i + 1] += offsets[i]);
        let columns = columns.iter().map(|&j| j as u32).collect();
        return Csr::from_parts(offsets, columns, bytes.to_vec(), packets.map(<[f64]>::to_vec));
    }
    // Counting sort by row, then a sort of each row by column.
    let mut offsets = vec![0u64; n + 1];
    for &i in rows {
        offsets[i as usize + 1] += 1;
    }
    for i in 0..n {
        offsets[i + 1] += offsets[i];
    }
    let mut next = offsets.clone();
    let mut order = vec![0u32; rows.len()];
    for (entry, &i) in rows.iter().enumerate() {
        order[next[i as usize] as usize] = entry as u32;
        next[i as usize] += 1;
    }
    let mut out_offsets = Vec::with_capacity(n + 1);
    out_offsets.push(0u64);
    let (mut out_columns, mut out_bytes, mut out_packets): (Vec<u32>, Vec<f64>, Vec<f64>) =
        Default::default();
    for i in 0..n {
        let row = &mut order[offsets[i] as usize..offsets[i + 1] as usize];
        row.sort_by_key(|&entry| columns[entry as usize]);
        let mut k = 0;
        while k < row.len() {
            let column = columns[row[k] as usize];
            let (mut sum, mut sum_packets) = (0.0, 0.0);
            while k < row.len() && columns[row[k] as usize] == column {
                sum += bytes[row[k] as usize];
                sum_packets += packets.map_or(0.0, |p| p[row[k] as usize]);
                k += 1;
            }
            if sum > 0.0 {
                out_columns.push(column as u32);
                out_bytes.push(sum);
                out_packets.push(sum_packets);
            }
        }
        out_offsets.push(out_columns.len() as u64);
    }
    Csr::from_parts(out_offsets, out_columns, out_bytes, packets.is_some().then_some(out_packets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triples_are_sorted_and_added_up() {
        let t = Traffic::from_triples(3, &[2, 0, 2, 1], &[0, 1, 0, 2], &[1.0, 2.0, 3.0, 0.0], None).unwrap();
        let m = t.total();
        assert_eq!(m.iter().collect::<Vec<_>>(), [(0, 1, 2.0), (2, 0, 4.0)]);
    }

    #[test]
    fn sorted_triples_give_what_shuffled_ones_give() {
        let sorted =
            Traffic::from_triples(4, &[0, 0, 3], &[1, 2, 0], &[1.0, 2.0, 3.0], Some(&[4.0, 5.0, 6.0]));
        let shuffled =
            Traffic::from_triples(4, &[3, 0, 0], &[0, 2, 1], &[3.0, 2.0, 1.0], Some(&[6.0, 5.0, 4.0]));
        assert_eq!(sorted.unwrap(), shuffled.unwrap());
    }

    #[test]
    fn bad_triples_are_named() {
        let bad = |s: &[u64], d: &[u64], b: &[f64]| Traffic::from_triples(2, s, d, b, None).unwrap_err();
        assert!(matches!(bad(&[0], &[2], &[1.0]), TrafficError::OutOfRange { entry: 0, to: 2, .. }));
        assert!(matches!(bad(&[0, 1], &[1, 0], &[1.0, -1.0]), TrafficError::BadValue { entry: 1, .. }));
        assert!(matches!(bad(&[0], &[1], &[f64::NAN]), TrafficError::BadValue { .. }));
        assert!(matches!(bad(&[0, 1], &[1], &[1.0]), TrafficError::Lengths { .. }));
    }

    #[test]
    fn endpoints_are_capped_before_memory_is_asked_for() {
        let with = |n: u32| Traffic::from_triples(n, &[0], &[1], &[1.0], None);
        assert_eq!(with(MAX_ENDPOINTS).unwrap().endpoints(), 10_000_000);
        let error = with(MAX_ENDPOINTS + 1).unwrap_err();
        assert_eq!(error, TrafficError::TooMany { endpoints: 10_000_001 });
        assert_eq!(error.to_string(), "10000001 endpoints: expected at most 10000000");
        assert!(matches!(with(u32::MAX), Err(TrafficError::TooMany { .. })));
    }

    #[test]
    fn amounts_too_small_to_compute_with_are_refused() {
        let with = |b: f64| Traffic::from_triples(2, &[0], &[1], &[b], None);
        let message = "entry 0 has 5e-324 bytes: expected a finite number, not negative, at most 1e100 and, unless 0, \
                       at least 1e-100";
        assert_eq!(with(5e-324).unwrap_err().to_string(), message);
        assert!(with(0.99e-100).is_err() && with(1.01e100).is_err());
        for fine in [1e-100, 1e100, 0.0, -0.0] {
            assert_eq!(with(fine).unwrap().total().entry_count(), usize::from(fine > 0.0), "{fine}");
        }
        let packets = Traffic::from_triples(2, &[0], &[1], &[1.0], Some(&[1e-200])).unwrap_err();
        assert!(matches!(packets, TrafficError::BadValue { unit: "packets", .. }));
    }

    #[test]
    fn phases_add_up() {
        let a = Traffic::from_triples(2, &[0], &[1], &[1.0], None).unwrap();
        let b = Traffic::from_triples(2, &[0, 1], &[1, 0], &[2.0, 5.0], None).unwrap();
        let both = Traffic::from_phases([&a, &b].map(|t| t.phases()[0].clone()).to_vec());
        assert_eq!(both.total().iter().collect::<Vec<_>>(), [(0, 1, 3.0), (1, 0, 5.0)]);
    }

    #[test]
    fn a_phase_counts_as_often_as_it_happens() {
        let one = Traffic::from_triples(2, &[0], &[1], &[3.0], Some(&[2.0])).unwrap().phases()[0].clone();
        let ten = Traffic::from_phases(vec![Phase { repeats: 10.0, ..one.clone() }]);
        assert_eq!(ten.total().iter().collect::<Vec<_>>(), [(0, 1, 30.0)]);
        assert_eq!(ten.total().packets(), Some(&[20.0][..]));
        let both = Traffic::from_phases(vec![one.clone(), Phase { repeats: 10.0, ..one }]);
        assert_eq!(both.total().iter().collect::<Vec<_>>(), [(0, 1, 33.0)]);
        assert!(is_repeats(0.5) && !is_repeats(0.0) && !is_repeats(f64::NAN) && !is_repeats(2e9));
    }
}
