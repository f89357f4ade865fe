//! Writing forwarding tables row by row, in parallel.

use std::sync::Arc;

use netloom_model::{Fabric, Lft, NO_PORT, SwitchId};
use rayon::prelude::*;

use crate::error::RoutingError;

/// Tables with one row a switch, filled by `fill` (rows come in empty, full of [`NO_PORT`]).
pub(crate) fn build(fabric: &Fabric, dests: usize, fill: impl Fn(SwitchId, &mut [u16]) + Sync) -> Lft {
    let rows = (0..fabric.switch_count()).into_par_iter();
    if Lft::is_narrow(fabric.max_radix()) {
        let scratch = || (vec![NO_PORT; dests], vec![0; dests]);
        let rows = rows.map_init(scratch, |(wide, narrow): &mut (Vec<u16>, Vec<u8>), s| {
            wide.fill(NO_PORT);
            fill(SwitchId::from_index(s), wide);
            // NO_PORT becomes 255, which is "no entry" in a narrow row.
            narrow.iter_mut().zip(wide).for_each(|(narrow, &mut port)| *narrow = port as u8);
            Arc::from(&narrow[..])
        });
        Lft::from_narrow_rows(rows.collect::<Vec<Arc<[u8]>>>(), dests)
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
