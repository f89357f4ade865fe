//! Why there is no answer.

use netloom_routing::RoutingError;

/// What stops an inference.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InferError {
    /// The tables lead a pair nowhere.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// Two nouns don't belong together.
    #[error("{0}")]
    Mismatch(String),
    /// More pairs than can be laid out.
    #[error(
        "{hosts} hosts in {jobs} are {pairs} pairs that may have talked: expected at most {MAX_PAIRS} (about 20 GB). \
         Say who ran where (--jobs): only hosts of one job are pairs"
    )]
    TooManyPairs {
        /// Hosts of all jobs.
        hosts: usize,
        /// `1 job`, `3 jobs`.
        jobs: String,
        /// Their pairs.
        pairs: u64,
    },
}

/// More pairs than this are refused: 17,320 hosts that may all have talked to each other.
pub const MAX_PAIRS: u64 = 300_000_000;

/// That the pairs of jobs with so many hosts can be laid out.
pub(crate) fn few_enough(hosts: impl Iterator<Item = usize> + Clone) -> Result<(), InferError> {
    let pairs = hosts.clone().map(|n| n as u64 * (n as u64).saturating_sub(1)).sum();
    let jobs = match hosts.clone().count() {
        1 => "1 job".into(),
        n => format!("{n} jobs"),
    };
    if pairs > MAX_PAIRS {
        return Err(InferError::TooManyPairs { hosts: hosts.sum(), jobs, pairs });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_by_job() {
        assert_eq!(few_enough([17_000, 3000].into_iter()), Ok(()));
        let refused = few_enough([16_000, 16_000].into_iter()).unwrap_err().to_string();
        assert!(
            refused.starts_with("32000 hosts in 2 jobs are 511968000 pairs that may have talked"),
            "{refused}"
        );
        assert!(few_enough([65_536].into_iter()).unwrap_err().to_string().contains("in 1 job are"));
    }
}
