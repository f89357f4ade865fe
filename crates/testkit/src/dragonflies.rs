//! Dragonflies with cables cut: groups that are cliques, 2 to 9 of them, 1 to 4 cables a pair of groups, or grids as on a
//! Cray XC, 2 to 5 of them; up to a fifth of the cables between switches dead.
//!
//! Which seeds nothing is fitted to stands in `tests/held_out.toml`; those below 1000 are free to look at.

use netloom_model::rng::{Stream, below, shuffle, stream};
use netloom_model::{Fabric, LinkId};
use netloom_topology::generate;

/// A dragonfly and what was cut.
#[derive(Clone, Debug)]
pub struct CutDragonfly {
    /// Its generator's spec, before anything was cut.
    pub spec: String,
    /// The fabric, its dead cables among the links.
    pub fabric: Fabric,
    /// Group of every switch, as it was built.
    pub groups: Vec<u32>,
    /// Dead cables between switches, in percent.
    pub cut_percent: u64,
}

/// The dragonfly of a seed.
///
/// # Panics
/// If its spec is none.
pub fn cut_dragonfly(seed: u64) -> CutDragonfly {
    let mut random = stream(seed, 0x666c79);
    let mut draw = |least: u64, most: u64| least + below(&mut random, most - least + 1);
    let (hosts, switches, groups, links) = (draw(1, 3), draw(2, 8), draw(2, 9), draw(1, 4));
    let ports = ((groups - 1) * links).div_ceil(switches) + draw(0, 1);
    let arrangement = ["absolute", "relative", "circulant"][draw(0, 2) as usize];
    let cut_percent = draw(0, 20);
    let spec = format!(
        "dragonfly:p={hosts},a={switches},h={ports},g={groups},links={links},arrangement={arrangement}"
    );
    cut(&mut random, spec, switches, cut_percent)
}

/// The Cray XC, small, of a seed.
///
/// # Panics
/// If its spec is none.
pub fn cut_aries(seed: u64) -> CutDragonfly {
    let mut random = stream(seed, 0x617269);
    let mut draw = |least: u64, most: u64| least + below(&mut random, most - least + 1);
    let (hosts, slots, chassis, groups) = (draw(1, 2), draw(3, 6), draw(2, 4), draw(2, 5));
    let links = 2 * draw(1, 3);
    let cut_percent = draw(0, 20);
    let spec = format!("aries:groups={groups},links={links},slots={slots},chassis={chassis},hosts={hosts}");
    cut(&mut random, spec, slots * chassis, cut_percent)
}

/// Cuts so many percent of the cables between switches; `size`: switches of a group, which follow each other.
fn cut(random: &mut Stream, spec: String, size: u64, cut_percent: u64) -> CutDragonfly {
    let whole = generate(&spec).unwrap_or_else(|e| panic!("{spec}: {e}"));
    let mut cables: Vec<LinkId> =
        whole.links().filter(|&l| l < whole.reverse(l) && whole.between_switches(l)).collect();
    shuffle(random, &mut cables);
    let cut = cables.len() * cut_percent as usize / 100;
    let fabric = whole.with_dead(cables.into_iter().take(cut));
    let groups = whole.switches().map(|s| (s.index() as u64 / size) as u32).collect();
    CutDragonfly { spec, fabric, groups, cut_percent }
}
