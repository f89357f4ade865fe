//! How many random cases a property test looks at: few on every run, many when asked (`make hostile`).

/// The number in `NETLOOM_TRIALS`, else `usual`.
///
/// # Panics
/// If the variable is set and is no whole number: a long search that silently looks at few cases would be no search.
#[must_use]
pub fn trials(usual: u64) -> u64 {
    std::env::var("NETLOOM_TRIALS").map_or(usual, |told| {
        told.parse().unwrap_or_else(|_| panic!("NETLOOM_TRIALS: expected a whole number, found {told:?}"))
    })
}
