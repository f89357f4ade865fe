//! Counters as claims: real readings follow from real tables and true requests; what was synthesised is measured again.

mod opensm;
mod synthetic;
