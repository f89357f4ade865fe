//! What kind of network a fabric is: what routes and pictures may rely on.

use std::fmt;

use crate::groups::Groups;
use crate::lattice::Coordinates;

/// The shape of a fabric's cabling, found from its cables alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Levels: what joins two hosts goes up, then down. Perfect or not, whole or damaged.
    Tree,
    /// Groups of switches, every two of them joined. Levels are a guess, counted from one switch.
    Dragonfly(Groups),
    /// Groups of leaves and spines, every two of them joined by cables between spines (dragonfly+). Levels are a guess.
    Megafly(Groups),
    /// Coordinates: HyperX, torus, mesh, full mesh. Levels are a guess.
    Lattice(Coordinates),
    /// Anything else. Levels are a guess, counted from one switch.
    Graph,
}

impl Shape {
    /// Its name in results: `tree`, `dragonfly`, `megafly`, `hyperx`, `torus`, `mesh`, `fullmesh`, `lattice` (dimensions of
    /// several kinds) or `graph`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Dragonfly(_) => "dragonfly",
            Self::Megafly(_) => "megafly",
            Self::Lattice(coordinates) => coordinates.name(),
            Self::Graph => "graph",
        }
    }

    /// The groups, of a dragonfly.
    pub fn groups(&self) -> Option<&Groups> {
        match self {
            Self::Dragonfly(groups) => Some(groups),
            _ => None,
        }
    }

    /// The coordinates, where switches have some.
    pub fn coordinates(&self) -> Option<&Coordinates> {
        match self {
            Self::Lattice(coordinates) => Some(coordinates),
            _ => None,
        }
    }

    /// What is not as in a whole one, in sentences.
    pub fn deviations(&self) -> &[String] {
        match self {
            Self::Dragonfly(groups) | Self::Megafly(groups) => &groups.deviations,
            Self::Lattice(coordinates) => &coordinates.deviations,
            Self::Tree | Self::Graph => &[],
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
