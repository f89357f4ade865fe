//! Where fabrics come from and what shape they have.
//!
//! | module | idea |
//! |---|---|
//! | [`generate`](mod@generate) | a spec string in, a fabric out: one generator a file |
//! | [`detect`](mod@detect) | levels, pods and core groups of any fabric, found from its cables alone |
//! | [`structure`] | what `detect` finds |
//! | [`shape`] | what kind of network that is: a tree, groups, coordinates or any graph |
//! | [`groups`] | the groups of a dragonfly |
//! | [`grid`] | rows and columns of groups of two hops |
//! | [`lattice`] | coordinates of a HyperX, a torus or a mesh |
//! | [`regular`] | index tables of a perfect two- or three-level tree |
//! | [`stages`](mod@stages) | what a tree could carry, level by level |
//! | [`damage`](mod@damage) | named or random cables and switches die; nothing is renumbered |

pub mod damage;
pub mod detect;
pub mod generate;
pub mod grid;
pub mod groups;
pub mod lattice;
pub mod regular;
pub mod shape;
pub mod stages;
pub mod structure;

mod cliques;
mod graph;
mod levels;
mod megafly;
mod order;
mod ranks;
mod reach;
mod recognise;
mod spread;

pub use damage::{Damage, DamageError, Damaged, damage};
pub use detect::detect;
pub use generate::{
    Aries, Arrangement, Dragonfly, FatTree, GENERATORS, Generator, Lattice, Line, Megafly, SpecError,
    TwoLevel, Xgft, generate, generator_names, is_generator,
};
pub use grid::Grid;
pub use groups::{Groups, unfit as unfit_groups};
pub use lattice::{Coordinates, Dimension, coordinates};
pub use regular::RegularTree;
pub use shape::Shape;
pub use stages::{Stage, stages};
pub use structure::{Direction, NO_GROUP, NO_LEVEL, NO_POD, NO_RANK, Structure};
