//! Claims about planning, one file a subject.

mod cheapest;
mod continuous;
mod counts;
mod crossing;
mod fixtures;
mod prices;
mod search;
