//! The checker against hand-made faults, and certificates: honest ones pass, forged ones do not.

mod certificates;
mod dimension_order;
mod faults;
mod lanes;
mod mixes;
mod pair_paths;
mod tables;
