//! The random engine: every entry is drawn uniformly from the admissible links.
//!
//! Each switch draws from a stream of its own, so the tables depend on the seed alone.
//! Source: IBM Zurich talk ("random" routing); the baseline that balanced engines must beat.

use netloom_model::{Fabric, LinkId, Routes, SwitchId, rng};

use crate::context::{Context, EngineOptions};
use crate::tables;

pub(crate) fn route(fabric: &Fabric, context: &Context, options: &EngineOptions) -> Routes {
    let space = fabric.dests(options.lmc);
    let lft = tables::build(fabric, space.count(), |s: SwitchId, row| {
        let mut stream = rng::stream(options.seed, u64::from(s.0));
        let mut pick = |links: &[LinkId]| match links {
            [one] => *one,
            many => many[rng::below(&mut stream, many.len() as u64) as usize],
        };
        context.fill(s, options.lmc, row, |_, _, links| pick(links));
    });
    Routes::by_dest(fabric, options.lmc, lft)
}
