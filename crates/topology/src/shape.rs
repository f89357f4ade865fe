//! What kind of network a fabric is: what routes and pictures may rely on.

use std::fmt;

use crate::groups::Groups;

/// The shape of a fabric's cabling, found from its cables alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Levels: what joins two hosts goes up, then down. Perfect or not, whole or damaged.
    Tree,
    /// Groups of switches, every two of them joined. Levels are a guess, counted from one switch.
    Dragonfly(Groups),
    /// Anything else. Levels are a guess, counted from one switch.
    Graph,
}

impl Shape {
    /// Its name in results: `tree`, `dragonfly` or `graph`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Dragonfly(_) => "dragonfly",
            Self::Graph => "graph",
        }
    }

    /// The groups, of a dragonfly.
    pub fn groups(&self) -> Option<&Groups> {
        match self {
            Self::Dragonfly(groups) => Some(groups),
            Self::Tree | Self::Graph => None,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
