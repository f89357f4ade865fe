//! Generators, detection and damage together.

mod breaking;
mod detection;
mod generators;
mod random_trees;
