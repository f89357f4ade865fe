//! Claims about patterns and placements that cross files.

mod examples;
mod patterns;
mod placements;
