//! The grid whose rows and columns a job's collectives run over.
//!
//! Where a job does little but synchronise, neighbours on the right grid explain nothing, and it would be lost among others. Collectives in
//! lines of ranks need no grid: those of all lengths and distances are one small dictionary. If some of them explain all that there is,
//! their lines say what the grid is.

use netloom_model::Control;

use crate::dictionary::{Atom, Dictionary, Grid, Order};
use crate::operator::Operator;
use crate::residual::Target;
use crate::settings::Settings;

use super::Pursuit;

/// The grid, if collectives explain all but noise. `any` is the job's dictionary on any grid.
pub(crate) fn grid_of_collectives(
    operator: &Operator,
    any: &Dictionary,
    target: &Target,
    ranks: u32,
    settings: &Settings,
    control: &Control,
) -> Option<Grid> {
    let mut pursuit = Pursuit::new(operator, any.of_collectives(control), target, &settings.pursuit);
    for step in 0..settings.grids.collectives {
        if pursuit.is_done()
            || control.stopped().is_some()
            || step == settings.grids.collectives_half && pursuit.left() > 0.5
        {
            break;
        }
        pursuit.advance(1, control);
    }
    let found = pursuit.is_done().then(|| pursuit.atoms())?;
    let most = found.iter().map(|(_, bytes)| *bytes).fold(0.0, f64::max);
    // Ends of all lines, rising: each must divide the next.
    let mut ends = vec![1, ranks];
    for (atom, bytes) in &found {
        if let Atom::Collective { lines, .. } = atom
            && *bytes > 1e-6 * most
        {
            ends.extend([lines.stride, lines.stride * lines.count]);
        }
    }
    ends.sort_unstable();
    ends.dedup();
    let mut sides = [1; 3];
    for (at, pair) in ends.windows(2).enumerate() {
        *sides.get_mut(at)? = pair[1].is_multiple_of(pair[0]).then(|| pair[1] / pair[0])?;
    }
    Some(Grid { sides, order: Order::Rows })
}
