//! Scenarios from text to outcome, on small fabrics.

mod addresses;
mod chapter5;
mod common;
mod outcomes;
mod refusals;
mod sampled;
mod traffic;
mod wiring;
