//! Claims about patterns and placements that cross files.

mod examples;
mod machines;
mod patterns;
mod placements;
