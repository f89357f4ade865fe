//! Generators, detection and damage together.

mod breaking;
mod detection;
mod dragonflies;
mod generators;
mod lattices;
mod rails;
mod random_trees;
