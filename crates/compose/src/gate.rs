//! The gate: routes that were made for somebody leave through it, or not at all.
//!
//! Whoever is handed tables loads them. A search chooses entries that cannot wait for each other, but what it was given
//! to begin with may be of another class, and two sound classes need not be sound together. So the judge, which shares
//! no code with any search, follows all ways on every (link, lane) before routes are handed out.
//!
//! Invariant: what leaves has no forwarding loop and no circle of (link, lane) (Dally and Seitz 1987). What is written
//! ([`fit`]) also joins all hosts that cables join, unless somebody says that holes are wanted; and a file of tables has no
//! lanes, so what needs some is written only where these are written too. What no tables can mend, such as hosts that are
//! cut off, passes, and is told.

use netloom_model::{Fabric, Routes};
use netloom_optimize::repaired;
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_topology::{Shape, Structure};
use netloom_verify::{CheckReport, FindingKind, check, check_on};

use crate::ComposeError;

/// Routes that have passed, and what the judge says of them.
#[derive(Clone, Debug)]
pub struct Passed {
    /// The routes.
    pub routes: Routes,
    /// What was found.
    pub report: CheckReport,
}

/// Looks at routes that were made.
///
/// # Errors
/// [`ComposeError::Unsound`] if packets could go round for ever, or wait for each other in a circle.
pub fn pass(fabric: &Fabric, structure: &Structure, routes: Routes) -> Result<Passed, ComposeError> {
    let report = check(fabric, structure, &routes);
    match deadly(&report) {
        None => Ok(Passed { routes, report }),
        Some(told) => Err(ComposeError::Unsound(format!("these routes can deadlock: {told}"))),
    }
}

/// The same for a method that leaves entries as it was given them: those that it may not leave so are replaced by ones on
/// shortest up*/down* ways, which need no lanes.
///
/// # Errors
/// As [`pass`]; if the tables are not by destination.
pub fn pass_mended(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    routes: Routes,
) -> Result<Passed, ComposeError> {
    let report = check(fabric, structure, &routes);
    if deadly(&report).is_none() {
        return Ok(Passed { routes, report });
    }
    let mended = repaired(fabric, structure, paths, &routes)?;
    pass(fabric, structure, Routes { lanes: None, ..mended })
}

/// What somebody who writes routes asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Routes that lose pairs of hosts too.
    pub holes: bool,
    /// The SL-to-VL tables are written beside the forwarding tables.
    pub lanes: bool,
    /// The service levels of pairs of hosts are written too.
    pub levels: bool,
}

/// Whether routes may be written for somebody to load, by what the judge said of them, if it was asked.
///
/// # Errors
/// [`ComposeError::Unsound`] if packets could go round for ever or wait for each other in a circle with what is written, or
/// if pairs of hosts that working cables join have no way, with an example and what to do.
pub fn fit(
    fabric: &Fabric,
    structure: &Structure,
    routes: &Routes,
    report: Option<&CheckReport>,
    wanted: Wanted,
) -> Result<(), ComposeError> {
    let unsound = |told: String| Err(ComposeError::Unsound(told));
    let asked;
    let report = match report {
        Some(report) => report,
        None => {
            asked = check(fabric, structure, routes);
            &asked
        }
    };
    if let Some(told) = deadly(report) {
        let sound = sound_engine(fabric, structure);
        return unsound(format!(
            "these routes can deadlock: {told}: expected an engine that is sound here: {sound}"
        ));
    }
    let lost = report.holes();
    if lost > 0 && !wanted.holes {
        let lost_host = |f: &&netloom_verify::Finding| f.kind == FindingKind::Unreachable && !f.management;
        let example = report.findings.iter().find(lost_host).map_or("", |finding| finding.text.as_str());
        return unsound(format!(
            "these routes lose {lost} pair{} of hosts that cables join ({example}): expected an engine or an order of \
         switches that loses none (updn without roots never does); allow-unreachable writes them all the same",
            if lost == 1 { "" } else { "s" }
        ));
    }
    let levelled = routes.lanes.as_deref().filter(|lanes| lanes.levels().is_some() && !wanted.levels);
    if let Some(lanes) = levelled
        && deadly(&check_on(fabric, structure, routes, Some(&lanes.clone().without_levels()))).is_some()
    {
        return unsound(
            "these routes can deadlock where a message may have any service level: expected --write-sl2vl FILE and \
             --write-sl FILE too (sl2vl=FILE, sl=FILE in Python)"
                .into(),
        );
    }
    if routes.lanes.is_some() && !wanted.lanes && deadly(&check_on(fabric, structure, routes, None)).is_some()
    {
        return unsound(
            "these routes can deadlock without their lanes: expected --write-sl2vl FILE too (sl2vl=FILE in Python)"
                .into(),
        );
    }
    Ok(())
}

/// The engines whose routes of a fabric neither deadlock nor lose pairs, in words: updn, on dragonflies dla if it does,
/// dor where it can.
fn sound_engine(fabric: &Fabric, structure: &Structure) -> &'static str {
    if matches!(structure.shape, Shape::Dragonfly(_))
        && let Ok(routes) = route(Engine::Dla, fabric, structure, &EngineOptions::default())
    {
        let report = check(fabric, structure, &routes);
        if deadly(&report).is_none() && report.holes() == 0 {
            return "updn, or dla with its lanes";
        }
    }
    if matches!(structure.shape, Shape::Lattice(_))
        && let Ok(routes) = route(Engine::Dor, fabric, structure, &EngineOptions::default())
    {
        return if routes.lanes.is_some() { "updn, or dor with its lanes" } else { "updn or dor" };
    }
    "updn"
}

/// Why a fabric that loads such routes can stand still; none if it cannot.
pub fn deadly(report: &CheckReport) -> Option<&str> {
    let fatal = |kind| matches!(kind, FindingKind::Loop | FindingKind::CreditLoop);
    let found = report.findings.iter().find(|finding| fatal(finding.kind));
    let unnamed = (report.credit_loops > 0).then_some("links wait for each other");
    found.map(|finding| finding.text.as_str()).or(unnamed)
}

#[cfg(test)]
mod tests {
    use netloom_model::{Lft, SwitchId, Table};
    use netloom_routing::{Engine, EngineOptions, route};
    use netloom_topology::{detect, generate};

    use super::*;

    /// Three leaves under two spines, where the packets of two destinations turn at a leaf: spine to leaf to spine.
    fn turning(fabric: &Fabric, structure: &Structure) -> Routes {
        let routes = route(Engine::Updn, fabric, structure, &EngineOptions::default()).unwrap();
        let mut lft: Lft = routes.lft().unwrap().clone();
        let named = |name: &str| fabric.switches().find(|&s| fabric.switch_name(s) == name).unwrap();
        let port = |from: SwitchId, to: SwitchId| {
            let link = fabric.switch_links(from).find(|&l| fabric.link_to_switch(l) == Some(to)).unwrap();
            Some(fabric.link_port(link))
        };
        let [a, b, c] = ["leaf00", "leaf01", "leaf02"].map(named);
        let [s, t] = ["spine00", "spine01"].map(named);
        for (from, via, to, over) in [(s, a, t, b), (t, b, s, a)] {
            // Towards a host of the third leaf: from the one spine by a leaf to the other.
            let dest = fabric.dests(0).host(fabric.hosts_on(c)[usize::from(from == t)], 0);
            lft.set(over, dest, port(over, from));
            lft.set(from, dest, port(from, via));
            lft.set(via, dest, port(via, to));
            lft.set(to, dest, port(to, c));
        }
        Routes { table: Table::ByDest(lft), ..routes }
    }

    #[test]
    fn what_waits_in_a_circle_does_not_pass_and_is_mended_where_that_is_asked_for() {
        let fabric = generate("two-level:leaves=3,hosts=2,spines=2").unwrap();
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let good = route(Engine::Updn, &fabric, &structure, &EngineOptions::default()).unwrap();
        assert_eq!(pass(&fabric, &structure, good.clone()).unwrap().routes, good);
        let bad = turning(&fabric, &structure);
        assert!(check(&fabric, &structure, &bad).credit_loops > 0, "the case is one");
        let refused = pass(&fabric, &structure, bad.clone()).unwrap_err().to_string();
        assert!(refused.starts_with("these routes can deadlock: on one lane, "), "{refused}");
        let mended = pass_mended(&fabric, &structure, &paths, bad).unwrap();
        assert_eq!(mended.report.credit_loops, 0);
        assert_eq!(mended.report.unreachable_pairs, 0);
    }

    #[test]
    fn what_needs_lanes_is_written_with_them_only() {
        let fabric = generate("dragonfly:p=2,a=4,h=2").unwrap();
        let structure = detect(&fabric);
        let routes = route(Engine::Dla, &fabric, &structure, &EngineOptions::default()).unwrap();
        let refused = |routes: &Routes, lanes: bool| {
            let wanted = Wanted { lanes, holes: false, levels: false };
            fit(&fabric, &structure, routes, None, wanted).err().map(|e| e.to_string())
        };
        assert_eq!(refused(&routes, true), None);
        assert!(
            refused(&routes, false).unwrap().contains("without their lanes: expected --write-sl2vl FILE")
        );
        let told = refused(&Routes { lanes: None, ..routes }, true).unwrap();
        assert!(
            told.ends_with("expected an engine that is sound here: updn, or dla with its lanes"),
            "{told}"
        );
        // Levels of pairs are missed too where they are needed.
        let layered = route(Engine::Layers, &fabric, &structure, &EngineOptions::default()).unwrap();
        let asked =
            |levels| fit(&fabric, &structure, &layered, None, Wanted { lanes: true, levels, holes: false });
        assert!(asked(false).unwrap_err().to_string().contains("--write-sl FILE"));
        asked(true).unwrap();
        // Lanes that change nothing are not missed.
        let updn = route(Engine::Updn, &fabric, &structure, &EngineOptions::default()).unwrap();
        let lanes = netloom_model::LaneMap::uniform(&fabric, 1);
        assert_eq!(refused(&updn.with_lanes(lanes), false), None);
    }
}
