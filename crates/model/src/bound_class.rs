//! What a bound is a bound of: the routes none of which has a smaller largest load.
//!
//! A bound is worth nothing beside routes that it does not speak of. There are two families of ways ([`Ways`]): the shortest
//! up*/down* ones ("admissible" in `routing::paths`), and the shortest ones of the switches' graph, whatever their direction. On
//! trees they are the same; elsewhere neither holds the other. Within a family classes are nested, each within the one
//! before it, so what holds for one holds for all after it of its family; [`Ord`] goes from the widest to the narrowest.

use serde::{Deserialize, Serialize};

/// Which ways of packets a bound is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ways {
    /// Shortest up*/down* ways.
    #[default]
    UpDown,
    /// Ways with the fewest links between switches.
    Shortest,
    /// Whatever ways cables allow.
    Any,
}

impl Ways {
    /// In words, after "of".
    pub fn words(self) -> &'static str {
        match self {
            Self::UpDown => "shortest up*/down* ways",
            Self::Shortest => "shortest ways",
            Self::Any => "any ways",
        }
    }
}

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
    /// Ways with the fewest links, every pair's bytes split over them in any proportion.
    ShortestSplits,
    /// Ways with the fewest links, one a pair of hosts.
    ShortestPairs,
    /// Ways with the fewest links, tables by destination and one address a host.
    ShortestTables,
}

impl BoundClass {
    /// All classes, the widest first.
    pub const ALL: [Self; 8] = [
        Self::AnyRoutes,
        Self::UpDownSplits,
        Self::UpDownPairs,
        Self::UpDownTables,
        Self::KeptTables,
        Self::ShortestSplits,
        Self::ShortestPairs,
        Self::ShortestTables,
    ];

    /// As results spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AnyRoutes => "any-routes",
            Self::UpDownSplits => "up-down-splits",
            Self::UpDownPairs => "up-down-pairs",
            Self::UpDownTables => "up-down-tables",
            Self::KeptTables => "kept-tables",
            Self::ShortestSplits => "shortest-splits",
            Self::ShortestPairs => "shortest-pairs",
            Self::ShortestTables => "shortest-tables",
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
            Self::ShortestSplits => "shortest ways, however split",
            Self::ShortestPairs => "shortest ways, one a pair of hosts",
            Self::ShortestTables => "shortest ways, one entry a destination",
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
