//! Claims about patterns and placements that cross files.

mod patterns;
