//! What a bound is a bound of: the routes none of which has a smaller largest load.
//!
//! A bound is worth nothing beside routes that it does not speak of. Classes are nested, each within the one before it, so
//! what holds for one holds for all after it; [`Ord`] goes from the widest to the narrowest.
//!
//! "Shortest up*/down* ways" are the admissible ones of `routing::paths`.

use serde::{Deserialize, Serialize};

/// The routes that a bound holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BoundClass {
    /// Whatever ways packets take, with detours and split at will: cuts, and hops over capacity.
    AnyRoutes,
    /// Shortest up*/down* ways, every pair's bytes split over them in any proportion.
    UpDownSplits,
    /// Shortest up*/down* ways, one a pair of hosts: several addresses a host, tables by source.
    UpDownPairs,
    /// Shortest up*/down* ways, tables by destination and one address a host: all that a leaf sends to a host takes one.
    UpDownTables,
    /// The same where the entries for some destinations are as in given tables.
    KeptTables,
}

impl BoundClass {
    /// All classes, the widest first.
    pub const ALL: [Self; 5] =
        [Self::AnyRoutes, Self::UpDownSplits, Self::UpDownPairs, Self::UpDownTables, Self::KeptTables];

    /// As results spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AnyRoutes => "any-routes",
            Self::UpDownSplits => "up-down-splits",
            Self::UpDownPairs => "up-down-pairs",
            Self::UpDownTables => "up-down-tables",
            Self::KeptTables => "kept-tables",
        }
    }

    /// In words, after "of" or "among".
    pub fn words(self) -> &'static str {
        match self {
            Self::AnyRoutes => "any routes",
            Self::UpDownSplits => "shortest up*/down* ways, however split",
            Self::UpDownPairs => "shortest up*/down* ways, one a pair of hosts",
            Self::UpDownTables => "shortest up*/down* ways, one entry a destination",
            Self::KeptTables => "shortest up*/down* ways, one entry a destination, kept entries as they are",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BoundClass;

    #[test]
    fn classes_narrow_in_the_order_of_the_list() {
        assert!(BoundClass::ALL.is_sorted());
        assert!(BoundClass::AnyRoutes < BoundClass::UpDownSplits);
    }
}
