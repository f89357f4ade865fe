//! What kind of network a fabric is: what routes and pictures may rely on.

use std::fmt;

/// The shape of a fabric's cabling, found from its cables alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Levels: what joins two hosts goes up, then down. Perfect or not, whole or damaged.
    Tree,
    /// Anything else. Levels are a guess, counted from a central switch.
    Graph,
}

impl Shape {
    /// Its name in results: `tree` or `graph`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Graph => "graph",
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
