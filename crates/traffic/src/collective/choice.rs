//! The algorithms of collectives, by name, and which ones somebody asks for.

use std::str::FromStr;

use netloom_model::CollectiveKind as Kind;
use netloom_model::names::nearest;
use serde::{Deserialize, Serialize};

/// How it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Algorithm {
    /// A tree in which rank `r` has the children `2r + 1` and `2r + 2`: up, then down (TraceR's barrier).
    BinaryTree,
    /// A binomial tree.
    Binomial,
    /// Partners at distances 1, 2, 4, …; other numbers of ranks fold into a power of two first.
    RecursiveDoubling,
    /// Partners at distances n/2, n/4, …, 1, and half of the bytes each time.
    RecursiveHalving,
    /// In round `k` a message to the rank `2^k` further on.
    Dissemination,
    /// Round the ring, a share at a time.
    Ring,
    /// In round `k` what is `2^k` further on.
    Bruck,
    /// In round `k` with the rank `k` further on and the one `k` before.
    Pairwise,
    /// All with the root at once; a scan from each rank to the next.
    Linear,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Self; 9] = [
        Self::BinaryTree,
        Self::Binomial,
        Self::RecursiveDoubling,
        Self::RecursiveHalving,
        Self::Dissemination,
        Self::Ring,
        Self::Bruck,
        Self::Pairwise,
        Self::Linear,
    ];

    /// The name that people write.
    pub fn name(self) -> &'static str {
        match self {
            Self::BinaryTree => "binary-tree",
            Self::Binomial => "binomial",
            Self::RecursiveDoubling => "recursive-doubling",
            Self::RecursiveHalving => "recursive-halving",
            Self::Dissemination => "dissemination",
            Self::Ring => "ring",
            Self::Bruck => "bruck",
            Self::Pairwise => "pairwise",
            Self::Linear => "linear",
        }
    }
}

impl FromStr for Algorithm {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == word).ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            let hint = nearest(word, names).map(|name| format!(", did you mean \"{name}\"?"));
            let all = || format!(": expected one of {}", names.join(", "));
            format!("there is no algorithm \"{word}\"{}", hint.unwrap_or_else(all))
        })
    }
}

/// The algorithms that there are for a kind of collective.
pub fn algorithms_of(kind: Kind) -> &'static [Algorithm] {
    use Algorithm::{
        BinaryTree, Binomial, Bruck, Dissemination, Linear, Pairwise, RecursiveDoubling, RecursiveHalving,
        Ring,
    };
    match kind {
        Kind::Barrier => &[Dissemination, BinaryTree],
        Kind::Broadcast => &[Binomial, Ring],
        Kind::Reduce => &[Binomial],
        Kind::Allreduce => &[RecursiveDoubling, Ring],
        Kind::Allgather => &[RecursiveDoubling, Bruck, Ring],
        Kind::Alltoall => &[Bruck, Pairwise],
        Kind::Gather | Kind::Scatter => &[Binomial, Linear],
        Kind::ReduceScatter => &[RecursiveHalving, Pairwise],
        Kind::Scan | Kind::Exscan => &[RecursiveDoubling, Linear],
    }
}

/// Choices that replace those by size, a kind each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Algorithms([Option<Algorithm>; Kind::ALL.len()]);

impl Algorithms {
    /// The choice for a kind, if there is one.
    pub fn get(&self, kind: Kind) -> Option<Algorithm> {
        self.0[kind as usize]
    }

    /// Uses `algorithm` for all collectives of a kind, whatever their size.
    ///
    /// # Errors
    /// If there is no such algorithm for this kind: those that there are.
    pub fn set(&mut self, kind: Kind, algorithm: Algorithm) -> Result<(), String> {
        let known = algorithms_of(kind);
        if !known.contains(&algorithm) {
            let names: Vec<_> = known.iter().map(|a| a.name()).collect();
            let (known, kind) = (names.join(" or "), kind.name());
            return Err(format!("expected {known} for {kind}, found \"{}\"", algorithm.name()));
        }
        self.0[kind as usize] = Some(algorithm);
        Ok(())
    }

    /// Reads `allreduce=ring,broadcast=binomial`.
    ///
    /// # Errors
    /// As [`Algorithms::set`], and for words that are no kind or no algorithm.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut all = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let (kind, algorithm) = word.split_once('=').ok_or_else(|| {
                format!("expected COLLECTIVE=ALGORITHM such as allreduce=ring, found \"{word}\"")
            })?;
            all.set(kind.trim().parse()?, algorithm.trim().parse()?)?;
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_replace_those_by_size_and_wrong_ones_are_refused() {
        let all = Algorithms::parse("allreduce=ring, bcast=binomial").unwrap();
        assert_eq!(all.get(Kind::Allreduce), Some(Algorithm::Ring));
        assert_eq!(all.get(Kind::Broadcast), Some(Algorithm::Binomial));
        assert_eq!(all.get(Kind::Barrier), None);
        let refusal = |text| Algorithms::parse(text).unwrap_err();
        assert_eq!(
            refusal("allreduce=bruck"),
            "expected recursive-doubling or ring for allreduce, found \"bruck\""
        );
        assert!(refusal("allreduce=rings").contains("did you mean \"ring\""));
        assert!(refusal("ring").contains("COLLECTIVE=ALGORITHM"));
    }
}
