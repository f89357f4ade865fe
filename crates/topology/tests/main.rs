//! Generators, detection and damage together.

mod breaking;
mod detection;
mod dragonflies;
mod generators;
mod random_trees;
