//! Exact models: the routing problem as mixed-integer programs, for solvers to judge the search by.
//!
//! For research and small fabrics. Models are built here and solved elsewhere (arrays out, solutions in; or MPS
//! files). All range over the same admissible hops as bounds and search, on any fabric; loads are bytes over relative
//! capacity; hosts' own links are a constant.
//!
//! | module | idea |
//! |---|---|
//! | [`instance`] | the admissible hops of traffic; coarser and smaller instances |
//! | [`model`] | a program whose columns know what they mean: names, warm starts, routings of solutions |
//! | [`mps`] | free-format MPS |
//! | [`objective`] | the largest load; fewest links above a threshold |
//! | [`mod@basic`] | multi-commodity flow with big constants or SOS1 sets |
//! | [`mod@product`] | products of binaries, linearised |
//! | [`mod@productless`] | one unit of flow an item |
//! | `climb`, `coarse` | one step up; merged switches |
//! | [`plan`] | Partitioned Binary and multi-level: models made from answers |
//!
//! Source: Taffet, dissertation, sec. 3.3, 3.4 and 5.4.1.

pub mod basic;
pub mod instance;
pub mod model;
pub mod mps;
pub mod objective;
pub mod plan;
pub mod product;
pub mod productless;

#[cfg(test)]
mod cases;
mod climb;
mod coarse;

pub use basic::basic;
pub use instance::{Choice, Instance};
pub use model::Model;
pub use mps::mps;
pub use objective::Goal;
pub use plan::{Plan, Step};
pub use product::product;
pub use productless::productless;

use netloom_model::{Fabric, Routes};
use netloom_routing::PathSet;
use netloom_topology::Structure;

use crate::OptimizeError;

/// No model with more columns is built: it would not fit in memory, and no solver would solve it.
pub const MOST_COLUMNS: u64 = 50_000_000;

/// Complete tables for a choice: entries that carry no traffic follow `background`, made admissible. All addresses of a
/// host (LMC) have the same entries.
///
/// # Errors
/// If `background` is not destination-based.
pub fn routes_of(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    instance: &Instance,
    choice: &Choice,
    background: &Routes,
) -> Result<Routes, OptimizeError> {
    let lft = background.lft().ok_or(OptimizeError::NotByDestination)?;
    let mut lft = crate::tables::admissible_lft(fabric, structure, paths, lft, background.lmc);
    instance.write(choice, &mut lft, background.lmc);
    crate::tables::management::mend(fabric, structure, &mut lft, background.lmc);
    Ok(Routes::by_dest(fabric, background.lmc, lft))
}

fn check_size(columns: u64, most: u64) -> Result<(), OptimizeError> {
    if columns <= most { Ok(()) } else { Err(OptimizeError::TooLarge { columns, most }) }
}
