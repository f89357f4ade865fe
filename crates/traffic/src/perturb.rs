//! What uncertain traffic may turn out to be: samples around an estimate.
//!
//! Each entry of the estimate is multiplied by a log-normal factor of mean 1 whose standard deviation is the entry's
//! relative error *r*: `exp(σ Z - σ²/2)` with `σ² = ln(1 + r²)` and *Z* standard normal. So samples are never
//! negative, their mean is the estimate and their standard deviation the error; for small errors they are nearly
//! normal. Entries vary independently. What is estimated as nothing stays nothing.
//!
//! Invariants: deterministic in estimate, error and seed; phases, repeats, packets and hosts are the estimate's, a
//! packet count scaled as its bytes.
//!
//! Source: the moments of the log-normal distribution (Johnson, Kotz, Balakrishnan, "Continuous univariate
//! distributions", vol. 1, ch. 14); normal numbers after Box and Muller (1958).

use netloom_model::rng::{Stream, normal, stream};
use netloom_model::{Csr, Phase, Traffic};

/// Standard errors above so many times the estimate are refused: such an estimate says nothing.
pub const MAX_RELATIVE_ERROR: f64 = 100.0;

/// The first stream of random numbers; phase k draws from the k-th after it.
const SAMPLES: u64 = 0x5a3;

/// How far the truth may be from an estimate: standard errors.
#[derive(Clone, Copy, Debug)]
pub enum Estimate<'a> {
    /// The same part of every entry: 0.1 is 10 %.
    Relative(f64),
    /// Bytes for every entry of every phase; entries that are missing are exact. One phase counts for all.
    Bytes(&'a Traffic),
}

/// Why an error estimate is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PerturbError {
    /// A relative error that is negative, NaN or absurd.
    #[error("a relative error of {0}: expected 0 to {max} (0.1 is 10 %)", max = MAX_RELATIVE_ERROR)]
    Relative(f64),
    /// Errors of other endpoints, or for other phases.
    #[error(
        "the errors are of {errors} endpoints and {error_phases} phases, the traffic of {endpoints} and {phases}: \
         expected the same endpoints, and as many phases or one"
    )]
    Shape {
        /// Endpoints of the errors.
        errors: u32,
        /// Phases of the errors.
        error_phases: usize,
        /// Endpoints of the traffic.
        endpoints: u32,
        /// Phases of the traffic.
        phases: usize,
    },
    /// An entry whose error says that nothing is known.
    #[error("from {from} to {to} the error is {ratio} times the estimate: expected at most {max}", max = MAX_RELATIVE_ERROR)]
    Entry {
        /// The source.
        from: u32,
        /// The destination.
        to: u32,
        /// Error over estimate.
        ratio: f64,
    },
}

/// One sample of what `estimate` may turn out to be.
///
/// # Errors
/// [`PerturbError`]: an error that is no number, far larger than its estimate, or of another shape.
pub fn perturb(estimate: &Traffic, error: Estimate, seed: u64) -> Result<Traffic, PerturbError> {
    match error {
        Estimate::Relative(r) if !(0.0..=MAX_RELATIVE_ERROR).contains(&r) => {
            return Err(PerturbError::Relative(r));
        }
        Estimate::Bytes(errors)
            if errors.endpoints() != estimate.endpoints()
                || ![1, estimate.phases().len()].contains(&errors.phases().len()) =>
        {
            return Err(PerturbError::Shape {
                errors: errors.endpoints(),
                error_phases: errors.phases().len(),
                endpoints: estimate.endpoints(),
                phases: estimate.phases().len(),
            });
        }
        _ => {}
    }
    let phases = estimate.phases().iter().enumerate().map(|(k, phase)| {
        let errors = match error {
            Estimate::Bytes(errors) => Some(&errors.phases().get(k).unwrap_or(&errors.phases()[0]).matrix),
            Estimate::Relative(_) => None,
        };
        let relative = if let Estimate::Relative(r) = error { r } else { 0.0 };
        let matrix = sample(&phase.matrix, relative, errors, &mut stream(seed, SAMPLES + k as u64))?;
        Ok(Phase { matrix, ..phase.clone() })
    });
    let phases = phases.collect::<Result<Vec<_>, _>>()?;
    Ok(Traffic::from_phases(phases).with_hosts_hash(estimate.hosts_hash()))
}

fn sample(m: &Csr, relative: f64, errors: Option<&Csr>, random: &mut Stream) -> Result<Csr, PerturbError> {
    let mut bytes = Vec::with_capacity(m.entry_count());
    let mut packets = m.packets().map(<[f64]>::to_vec);
    for (entry, (i, j, estimate)) in m.iter().enumerate() {
        let ratio = match errors.map(|errors| errors.row(i as usize)) {
            None => relative,
            Some((columns, values)) => columns.binary_search(&j).map_or(0.0, |at| values[at] / estimate),
        };
        if !(0.0..=MAX_RELATIVE_ERROR).contains(&ratio) {
            return Err(PerturbError::Entry { from: i, to: j, ratio });
        }
        // Drawn even where the error is 0, so that one entry's error does not change another's sample.
        let normal = normal(random);
        let variance = (ratio * ratio).ln_1p();
        let factor = (variance.sqrt() * normal - variance / 2.0).exp();
        bytes.push(estimate * factor);
        if let Some(packets) = &mut packets {
            packets[entry] *= factor;
        }
    }
    Ok(Csr::from_parts(m.offsets().to_vec(), m.columns().to_vec(), bytes, packets))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern;

    fn estimate() -> Traffic {
        pattern("all-to-all:ranks=101,bytes=50", None).unwrap()
    }

    /// 10,100 samples: their mean and deviation are known to 1 %.
    #[test]
    fn samples_keep_the_mean_and_have_the_error() {
        for error in [0.05, 0.5] {
            let t = perturb(&estimate(), Estimate::Relative(error), 1).unwrap();
            let m = t.total();
            let n = m.entry_count() as f64;
            let mean = m.total_bytes() / n;
            let deviation = (m.bytes().iter().map(|b| (b - mean).powi(2)).sum::<f64>() / n).sqrt();
            assert_eq!((m.entry_count(), m.columns()), (10_100, estimate().total().columns()));
            assert!((mean / 50.0 - 1.0).abs() < 0.02 * error.max(0.5), "{mean}");
            assert!((deviation / (50.0 * error) - 1.0).abs() < 0.06, "{deviation}");
            assert!(m.bytes().iter().all(|&b| b > 0.0));
        }
    }

    #[test]
    fn seeds_differ_and_repeat() {
        let sample = |seed| perturb(&estimate(), Estimate::Relative(0.1), seed).unwrap();
        assert_eq!(sample(1), sample(1));
        assert_ne!(sample(1), sample(2));
        assert_eq!(perturb(&estimate(), Estimate::Relative(0.0), 1).unwrap(), estimate());
    }

    #[test]
    fn a_matrix_of_errors_counts_entry_by_entry() {
        let t = Traffic::from_triples(3, &[0, 1], &[1, 2], &[10.0, 20.0], Some(&[1.0, 2.0])).unwrap();
        let errors = Traffic::from_triples(3, &[1, 2], &[2, 0], &[5.0, 1.0], None).unwrap();
        let out = perturb(&t, Estimate::Bytes(&errors), 4).unwrap();
        let m = out.total();
        assert_eq!((m.bytes()[0], m.packets().unwrap()[0]), (10.0, 1.0), "no error is given");
        assert_ne!(m.bytes()[1], 20.0);
        assert_eq!(m.packets().unwrap()[1] / 2.0, m.bytes()[1] / 20.0);
        assert_eq!(m.entry_count(), 2, "what is estimated as nothing stays nothing");
    }

    #[test]
    fn errors_that_are_none_are_refused() {
        let refused = |error| perturb(&estimate(), error, 0).unwrap_err().to_string();
        assert_eq!(
            refused(Estimate::Relative(-0.1)),
            "a relative error of -0.1: expected 0 to 100 (0.1 is 10 %)"
        );
        assert!(refused(Estimate::Relative(f64::NAN)).contains("NaN"));
        let small = Traffic::from_triples(3, &[], &[], &[], None).unwrap();
        assert!(refused(Estimate::Bytes(&small)).contains("the errors are of 3 endpoints and 1 phases"));
        let wild = Traffic::from_triples(101, &[3], &[4], &[6000.0], None).unwrap();
        assert_eq!(
            refused(Estimate::Bytes(&wild)),
            "from 3 to 4 the error is 120 times the estimate: expected at most 100"
        );
    }
}
