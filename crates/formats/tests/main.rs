//! Formats as claims: real tools' output, what real hardware shows, bad input, round trips.

mod network;
mod traces;
mod traffic;
