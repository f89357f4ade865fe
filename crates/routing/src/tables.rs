//! Writing forwarding tables row by row, in parallel.

use netloom_model::{Fabric, Lft, NO_PORT, SwitchId};
use rayon::prelude::*;

use crate::error::RoutingError;

/// Tables with one row a switch, filled by `fill` (rows come in empty, full of [`NO_PORT`]).
pub(crate) fn build(fabric: &Fabric, dests: usize, fill: impl Fn(SwitchId, &mut [u16]) + Sync) -> Lft {
    let rows = (0..fabric.switch_count()).into_par_iter();
    if Lft::is_narrow(fabric.max_radix()) {
        let rows = rows.map_init(Vec::new, |scratch: &mut Vec<u16>, s| {
            scratch.clear();
            scratch.resize(dests, NO_PORT);
            fill(SwitchId::from_index(s), scratch);
            // NO_PORT becomes 255, which is "no entry" in a narrow row.
            scratch.iter().map(|&port| port as u8).collect::<Vec<u8>>()
        });
        Lft::from_narrow_rows(rows.collect(), dests)
    } else {
        let rows = rows.map(|s| {
            let mut row = vec![NO_PORT; dests];
            fill(SwitchId::from_index(s), &mut row);
            row
        });
        Lft::from_rows(rows.collect(), dests, fabric.max_radix())
    }
}

/// Refuses an LMC above 7.
pub(crate) fn check_lmc(lmc: u8) -> Result<(), RoutingError> {
    if lmc <= 7 { Ok(()) } else { Err(RoutingError::Lmc(lmc)) }
}
