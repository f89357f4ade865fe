//! Claims about planning, one file a subject.

mod continuous;
mod counts;
mod crossing;
mod fixtures;
mod prices;
mod search;
