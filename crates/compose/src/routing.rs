//! The routings of a scenario: words become routes or schemes, and nothing unsound is run.

use std::num::NonZeroU32;

use netloom_formats::{FormatError, read_lfts, read_pair_paths, read_sl2vl};
use netloom_model::names::nearest;
use netloom_model::{Fabric, LaneMap, NO_PORT, Routes, SwitchId};
use netloom_routing::{Engine, EngineOptions, PathSet, RoutingError, Steering, route};
use netloom_sim::{PerPacket, Scheme, SteerOptions, Steered};
use netloom_topology::{Shape, Structure};
use netloom_verify::{CheckReport, FindingKind, check_on};

use crate::ComposeError;
use crate::by_way::ByWay;
use crate::reader::{Reader, file};
use crate::steered::{BY_MODE, by_mode, with_engine};

/// How packets are routed, as a scenario says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routing {
    /// Tables of an oblivious engine.
    Engine(Engine),
    /// A scheme without tables: a choice a packet.
    PerPacket(PerPacket),
    /// A choice a flow, by a hash, with so many queue pairs between two hosts.
    Hashed(NonZeroU32),
    /// Tables with an address a way, and who takes which.
    ByWay(ByWay),
    /// A scheme of dragonflies, which takes detours.
    Steered(SteerOptions),
    /// An engine's tables, and round what is congested by what switches hear of it (paper 002).
    Snooping(Engine),
    /// An engine's tables for messages that ask for static ways, a choice a packet for all others.
    ByMode(Engine),
    /// Tables from a file, and maybe from others which of a host's addresses every pair uses and which lanes packets
    /// take; the paths as written.
    File {
        /// Tables.
        tables: String,
        /// Paths by pair.
        paths: Option<String>,
        /// SL-to-VL tables.
        lanes: Option<String>,
    },
    /// The optimiser's tables for what the jobs send in all.
    Optimized,
    /// The optimiser's tables for what they send message by message.
    OptimizedPhases,
}

/// A choice a flow, by a hash (ECMP); with `:pairs=` and how many queue pairs two hosts have.
const HASHED: &str = "ecmp";

/// Tables of d-mod-k and round what is congested; with `:` and an engine behind it, that one's.
const SNOOPING: &str = "snooping";

/// Words for what the optimiser makes.
const OPTIMIZED: [&str; 2] = ["optimized", "optimized:phases"];

impl Routing {
    /// The routing that a word names; whatever looks like a path (a dot or a slash) is a file of tables. With `+` and a
    /// CSV file behind it, `mine.lfts+pairs.csv`, senders pick among a host's addresses as that file says; with `+` and a file
    /// of SL-to-VL tables, `mine.lfts+mine.sl2vl`, packets take its lanes.
    ///
    /// # Errors
    /// [`ComposeError::UnknownRouting`] with the nearest known word.
    pub fn parse(word: &str) -> Result<Self, ComposeError> {
        if let Some(scheme) = PerPacket::parse(word) {
            return Ok(Self::PerPacket(scheme));
        }
        if let Some(pairs) = hashed(word) {
            return pairs.map(Self::Hashed);
        }
        if let Some(which) = ByWay::parse(word) {
            return Ok(Self::ByWay(which));
        }
        if let Some(options) = SteerOptions::parse(word) {
            return options.map(Self::Steered).map_err(ComposeError::UnknownRouting);
        }
        if let Some(engine) = with_engine(word, SNOOPING, Engine::Dmodk) {
            return engine.map(Self::Snooping);
        }
        if let Some(engine) = by_mode(word) {
            return engine.map(Self::ByMode);
        }
        Ok(match word {
            "optimized" => Self::Optimized,
            "optimized:phases" => Self::OptimizedPhases,
            _ => match word.parse::<Engine>() {
                Ok(engine) => Self::Engine(engine),
                Err(_) if word.contains(['.', '/', '\\']) => Self::of_files(word),
                Err(_) => {
                    // s-mod-k is one by way: it has no tables for one address.
                    let engines = Engine::ALL.iter().filter(|&&engine| engine != Engine::Smodk);
                    let ways = ByWay::ALL.map(ByWay::name);
                    let schemes = PerPacket::ALL.map(PerPacket::name).into_iter();
                    let schemes = schemes.chain(Steered::ALL.map(Steered::name));
                    let known: Vec<&str> = engines
                        .map(|engine| engine.name())
                        .chain(ways)
                        .chain(schemes)
                        .chain(SteerOptions::words_of_modes())
                        .chain([HASHED, SNOOPING, BY_MODE])
                        .chain(OPTIMIZED)
                        .collect();
                    let help = match nearest(word, known.iter().copied()) {
                        Some(hint) => format!("did you mean \"{hint}\"?"),
                        None => format!(
                            "expected one of {}, or a file of tables (a path with a dot or a slash)",
                            known.join(", ")
                        ),
                    };
                    return Err(ComposeError::UnknownRouting(format!(
                        "there is no routing \"{word}\": {help}"
                    )));
                }
            },
        })
    }

    fn of_files(word: &str) -> Self {
        let plain = |name: &str| name.strip_suffix(".gz").unwrap_or(name).to_owned();
        // OpenSM's own is called opensm-sl2vl.dump.
        let of_lanes = |name: &str| {
            let name = plain(name);
            name.ends_with(".sl2vl") || name.ends_with("sl2vl.dump") || name.ends_with("sl2vl.txt")
        };
        let (mut tables, mut paths, mut lanes) = (word, None, None);
        while let Some((rest, last)) = tables.rsplit_once('+') {
            let role = if plain(last).ends_with(".csv") {
                &mut paths
            } else if of_lanes(last) {
                &mut lanes
            } else {
                break;
            };
            if rest.is_empty() || role.is_some() {
                break;
            }
            *role = Some(last.to_owned());
            tables = rest;
        }
        Self::File { tables: tables.to_owned(), paths, lanes }
    }

    /// The files that it names, by role.
    pub fn files(&self) -> Vec<(&'static str, &str)> {
        match self {
            Self::File { tables, paths, lanes } => {
                let paths = paths.as_deref().map(|path| ("paths", path));
                let lanes = lanes.as_deref().map(|path| ("sl2vl", path));
                std::iter::once(("routes", tables.as_str())).chain(paths).chain(lanes).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether it needs tables; the others choose packet by packet.
    pub fn has_tables(&self) -> bool {
        !matches!(self, Self::PerPacket(_) | Self::Hashed(_) | Self::Steered(_))
    }

    /// How switches choose, with the tables if it has some.
    ///
    /// # Panics
    /// If it has tables and they are not given, or takes detours and what it must know for them is not.
    pub fn scheme<'a>(
        &self,
        tables: Option<&'a Routes>,
        paths: impl FnOnce() -> &'a PathSet,
        steering: Option<&'a Steering>,
    ) -> Scheme<'a> {
        match self {
            Self::Steered(options) => Scheme::Steered(*options, steering.expect("a routing with detours")),
            Self::PerPacket(scheme) => Scheme::PerPacket(*scheme, paths()),
            Self::Hashed(pairs) => Scheme::Hashed(*pairs, paths()),
            Self::Snooping(_) => Scheme::Snooping(tables.expect("an engine's tables"), paths()),
            Self::ByMode(_) => Scheme::ByMode(tables.expect("an engine's tables"), paths()),
            _ => Scheme::Tables(tables.expect("a routing with tables comes with them")),
        }
    }
}

/// How many queue pairs two hosts have under `ecmp` and `ecmp:pairs=N`.
///
/// # Errors
/// [`ComposeError::UnknownRouting`] for something else behind the `:`.
fn hashed(word: &str) -> Option<Result<NonZeroU32, ComposeError>> {
    let rest = word.strip_prefix(HASHED)?;
    if rest.is_empty() {
        return Some(Ok(NonZeroU32::MIN));
    }
    let pairs = rest.strip_prefix(':')?.strip_prefix("pairs=").and_then(|n| n.parse().ok());
    Some(pairs.filter(|n: &NonZeroU32| n.get() <= MOST_PAIRS).ok_or_else(|| {
        let text = format!("{word}: expected {HASHED}:pairs=N with N from 1 to {MOST_PAIRS}");
        ComposeError::UnknownRouting(text)
    }))
}

/// Most queue pairs of two hosts.
const MOST_PAIRS: u32 = 1 << 16;

/// The tables of an engine or a file. (Those of the optimiser: [`crate::optimized`].)
///
/// # Errors
/// [`ComposeError`]: an engine that can't, a file that can't be read or holds entries that can't be.
pub fn tables(
    routing: &Routing,
    fabric: &Fabric,
    structure: &Structure,
    seed: u64,
    read: &mut Reader,
) -> Result<Routes, ComposeError> {
    match routing {
        Routing::Engine(engine) | Routing::Snooping(engine) | Routing::ByMode(engine) => {
            Ok(route(*engine, fabric, structure, &EngineOptions { seed, lmc: 0 })?)
        }
        Routing::File { tables: path, paths, lanes } => {
            let bytes = file(read, "routes", path)?;
            let tables = read_lfts(&bytes, path, fabric)?;
            if let Some(fault) = tables.faults.iter().find(|fault| fault.kind.breaks_routes()) {
                return Err(FormatError::at(path, fault.line, fault.text.clone()).into());
            }
            let mut routes = tables.routes;
            if let Some(path) = paths {
                let paths = read_pair_paths(&file(read, "paths", path)?, path, fabric, routes.lmc)?;
                let with = routes.with_paths(fabric, paths);
                routes = with.map_err(|e| FormatError::whole(path, e.to_string()))?;
            }
            if let Some(path) = lanes {
                routes = routes.with_lanes(read_sl2vl(&file(read, "sl2vl", path)?, path, fabric)?);
            }
            Ok(routes)
        }
        other => unreachable!("{other:?} has no tables of its own"),
    }
}

/// What is run where nobody says more: [`suited`]'s tables.
///
/// # Errors
/// As the engines.
pub fn oblivious(
    fabric: &Fabric,
    structure: &Structure,
    options: &EngineOptions,
) -> Result<Routes, RoutingError> {
    suited(fabric, structure, options).map(|(_, routes)| routes)
}

/// The engine that suits a fabric, and its tables: dla on a dragonfly on which it loses no pair; dor on a HyperX, a mesh
/// or a torus whose neighbours are all joined; ftree where the fabric is a
/// tree on which it loses none, and updn elsewhere, whose tables never have a credit loop.
///
/// # Errors
/// As the engines.
pub fn suited(
    fabric: &Fabric,
    structure: &Structure,
    options: &EngineOptions,
) -> Result<(Engine, Routes), RoutingError> {
    let made = |engine| Ok((engine, route(engine, fabric, structure, options)?));
    // Which lanes packets take says nothing of holes, and to follow all pairs by lane takes long.
    let whole = |routes: &Routes| check_on(fabric, structure, routes, None).holes() == 0;
    match structure.shape {
        Shape::Dragonfly(_) => match made(Engine::Dla) {
            Ok(made) if whole(&made.1) => Ok(made),
            _ => made(Engine::Updn),
        },
        Shape::Lattice(_) => made(Engine::Dor).or_else(|_| made(Engine::Updn)),
        Shape::Megafly(_) => made(Engine::Updn),
        Shape::Tree if structure.levels_lose_pairs => made(Engine::Updn),
        Shape::Tree | Shape::Graph => made(Engine::Ftree).or_else(|_| made(Engine::Updn)),
    }
}

/// Refuses routes that must not be run: not one entry a destination, with missing or invalid entries, with forwarding
/// loops, or, unless `allow_credit_loops`, with channels that can wait for each other. Hosts that are cut off are nobody's fault;
/// a run says so if a job uses them.
///
/// # Errors
/// [`ComposeError::Unsound`], with an example.
pub fn check_sound(
    fabric: &Fabric,
    structure: &Structure,
    routes: &Routes,
    allow_credit_loops: bool,
) -> Result<(), ComposeError> {
    check_sound_on(fabric, structure, routes, routes.lanes.as_deref(), allow_credit_loops)
}

/// The same with other lanes than the routes' own, or none.
///
/// # Errors
/// As [`check_sound`].
pub fn check_sound_on(
    fabric: &Fabric,
    structure: &Structure,
    routes: &Routes,
    lanes: Option<&LaneMap>,
    allow_credit_loops: bool,
) -> Result<(), ComposeError> {
    let unsound = |message: String| Err(ComposeError::Unsound(message));
    let Some(lft) = routes.lft() else {
        return unsound(
            "these routes choose the way up by the source of a packet, which no forwarding table says: expected \
             destination-based routes"
                .into(),
        );
    };
    let report = check_on(fabric, structure, routes, lanes);
    let example = |kind: FindingKind| {
        let found = report.findings.iter().find(|finding| finding.kind == kind);
        found.map(|finding| format!(": {}", finding.text)).unwrap_or_default()
    };
    let CheckReport { missing_entries, invalid_entries, credit_loops, .. } = report;
    if missing_entries > 0 {
        let without = |s: &SwitchId| routes.dests(fabric).iter().all(|dest| lft.port(*s, dest) == NO_PORT);
        let bare = fabric.switches().filter(without).count();
        let hint = match bare {
            0 => String::new(),
            _ => format!(
                "; {bare} of the fabric's {} switches have no table at all: are these another fabric's?",
                fabric.switch_count()
            ),
        };
        return unsound(format!(
            "{missing_entries} entries are missing{}{hint}",
            example(FindingKind::MissingEntry)
        ));
    }
    if invalid_entries > 0 {
        return unsound(format!(
            "{invalid_entries} entries are invalid{}",
            example(FindingKind::InvalidEntry)
        ));
    }
    if report.findings.iter().any(|finding| finding.kind == FindingKind::Loop) {
        return unsound(format!("packets would go round for ever{}", example(FindingKind::Loop)));
    }
    if credit_loops > 0 && !allow_credit_loops {
        return unsound(format!(
            "{credit_loops} credit loops{} on {} (allow_credit_loops = true runs them until packets wait for each other)",
            example(FindingKind::CreditLoop),
            if report.lanes > 1 { format!("{} lanes", report.lanes) } else { "one lane".to_owned() }
        ));
    }
    Ok(())
}
