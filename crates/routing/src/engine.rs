//! The routing engines by name.

use std::fmt;
use std::str::FromStr;

use netloom_model::names::nearest;
use netloom_model::{Fabric, Routes};
use netloom_topology::Structure;

use crate::context::{Context, EngineOptions};
use crate::error::RoutingError;
use crate::paths::{PathSet, Rule};
use crate::updown::{UpDown, all_hops};
use crate::{dor, dragonfly, ftree, greedy, layers, modk, random, tables};

/// An oblivious routing engine: it looks at the fabric, never at the traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// Shortest paths, balanced greedily, as OpenSM's `minhop`.
    Minhop,
    /// Shortest up*/down* paths, balanced greedily, as OpenSM's `updn`.
    Updn,
    /// OpenSM's fat-tree engine.
    Ftree,
    /// Up link = destination number modulo the number of up links.
    Dmodk,
    /// Up link = source number modulo the number of up links; not expressible as an LFT.
    Smodk,
    /// A random admissible link per entry.
    Random,
    /// Minimal ways of a dragonfly, with at most one global cable where cables are whole, on the lanes that they need.
    Dla,
    /// Dimension order on a HyperX, a mesh or a torus, with datelines where dimensions are rings.
    Dor,
    /// Shortest paths of any graph, balanced by use, on as few lanes as it can.
    Layers,
}

impl Engine {
    /// All engines, in the order tables show them.
    pub const ALL: [Engine; 9] = [
        Engine::Minhop,
        Engine::Updn,
        Engine::Ftree,
        Engine::Dmodk,
        Engine::Smodk,
        Engine::Random,
        Engine::Dla,
        Engine::Dor,
        Engine::Layers,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Minhop => "minhop",
            Engine::Updn => "updn",
            Engine::Ftree => "ftree",
            Engine::Dmodk => "d-mod-k",
            Engine::Smodk => "s-mod-k",
            Engine::Random => "random",
            Engine::Dla => "dla",
            Engine::Dor => "dor",
            Engine::Layers => "layers",
        }
    }

    /// One line on what it does.
    pub fn describe(self) -> &'static str {
        match self {
            Engine::Minhop => "shortest paths, balanced greedily (OpenSM's default; may have credit loops)",
            Engine::Updn => {
                "shortest paths that never climb after a descent, balanced greedily (OpenSM's updn)"
            }
            Engine::Ftree => "OpenSM's fat-tree engine: destinations spread evenly over all links",
            Engine::Dmodk => "up link = destination modulo the number of up links",
            Engine::Smodk => {
                "up link = source modulo the number of up links (for simulators; no forwarding table)"
            }
            Engine::Random => "every entry drawn at random from the shortest up-down paths",
            Engine::Dla => "minimal paths of a dragonfly, on two lanes (more where many cables are missing)",
            Engine::Dor => "dimension order on a HyperX, a mesh (one lane) or a torus (two lanes: datelines)",
            Engine::Layers => "shortest paths of any graph, balanced by use, on as few lanes as it can",
        }
    }

    /// The engine whose tables a fabric gets where this one is asked for: itself, but minhop for ftree on a tree so damaged that
    /// levels lose pairs. OpenSM's ftree gives up there, and OpenSM loads minhop.
    pub fn loaded(self, structure: &Structure) -> Self {
        match self {
            Engine::Ftree if structure.levels_lose_pairs => Engine::Minhop,
            engine => engine,
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that is no engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no engine is called \"{typed}\"{}: expected minhop, updn, ftree, d-mod-k, s-mod-k, random, dla, dor or layers",
    .nearest.map(|n| format!(" (did you mean {n}?)")).unwrap_or_default())]
pub struct UnknownEngine {
    /// What was given.
    pub typed: String,
    /// The nearest known name, if one is near.
    pub nearest: Option<&'static str>,
}

impl FromStr for Engine {
    type Err = UnknownEngine;

    /// Accepts OpenSM's names and ours, in any case, with or without hyphens and underscores.
    fn from_str(typed: &str) -> Result<Self, UnknownEngine> {
        let plain = |name: &str| name.to_lowercase().replace(['-', '_', ' '], "");
        let wanted = plain(typed);
        if let Some(engine) = Engine::ALL.into_iter().find(|e| plain(e.name()) == wanted) {
            return Ok(engine);
        }
        let nearest = nearest(&wanted, Engine::ALL.map(Engine::name));
        Err(UnknownEngine { typed: typed.to_owned(), nearest })
    }
}

/// Routes `fabric` with an engine.
///
/// Works on damaged fabrics: an entry is missing only where there is no path that the engine may use. Where ftree would lose pairs
/// that cables join, the tables are minhop's ([`Engine::loaded`]).
///
/// # Errors
/// [`RoutingError::Lmc`] for an LMC above 7; [`RoutingError::NotFatTree`] if ftree cannot take the fabric,
/// [`RoutingError::NotDragonfly`] if dla cannot, [`RoutingError::NotLattice`] if dor cannot;
/// [`RoutingError::Lanes`] if layers needs more lanes than there can be.
pub fn route(
    engine: Engine,
    fabric: &Fabric,
    structure: &Structure,
    options: &EngineOptions,
) -> Result<Routes, RoutingError> {
    tables::check_lmc(options.lmc)?;
    let rank = &structure.rank;
    let up_down = || PathSet::to_switches(fabric, Rule::UpDown(&UpDown::new(fabric, rank)));
    let context = || Context::new(fabric, rank, up_down());
    Ok(match engine.loaded(structure) {
        Engine::Minhop => {
            greedy::route(fabric, &PathSet::to_switches(fabric, Rule::Shortest(&all_hops(fabric))), options)
        }
        Engine::Updn => greedy::route(fabric, &up_down(), options),
        Engine::Ftree => ftree::route(fabric, &structure.level, options)?,
        Engine::Dmodk => modk::by_destination(fabric, &context(), options),
        Engine::Smodk => modk::by_source(fabric, &context(), options),
        Engine::Random => random::route(fabric, &context(), options),
        Engine::Dla => dragonfly::dla(fabric, structure, options)?,
        Engine::Dor => dor::dor(fabric, structure, options)?,
        Engine::Layers => layers::layers(fabric, structure, options)?,
    })
}
