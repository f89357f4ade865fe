//! Scenarios from text to outcome, on small fabrics.

mod common;
mod outcomes;
mod refusals;
mod traffic;
