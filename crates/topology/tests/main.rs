//! Generators, detection and damage together.

mod detection;
mod generators;
