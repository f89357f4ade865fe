//! What differs from cable to cable, switch to switch and port to port.
//!
//! Cables are named by the levels of their ends, as everywhere: `host-leaf`, `leaf-spine`, `spine-core` (`level 0-level 1` where there
//! are more than three levels of switches); either end may come first. In a dragonfly they are `host`, `local` and `global`.

use std::sync::Arc;

use netloom_counters::lane_tables;
use netloom_formats::scenario::Knob;
use netloom_model::names::nearest;
use netloom_model::{Fabric, LaneMap, LinkId, SERVICE_LEVELS, SwitchId};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_sim::Config;
use netloom_topology::{NO_LEVEL, Structure, detect};

use crate::ComposeError;

/// Makes a key inside the parameter's own table into an error.
type Refuse<'r> = dyn Fn(&str, String) -> ComposeError + 'r;

/// Sets what `knob` says of single cables, switches and ports; the uniform values are there already.
///
/// # Errors
/// By `refuse`: names that the fabric doesn't have.
pub(crate) fn wiring(
    config: &mut Config,
    fabric: &Fabric,
    scenarios_seed: u64,
    name: &str,
    knob: &Knob,
    refuse: &Refuse,
) -> Result<(), ComposeError> {
    match (name, knob) {
        ("host_cable_delay_ns", &Knob::Time(ps)) => {
            let (hosts, others) = (ps.round() as u64, config.cable_delays_ps.take());
            let other = |link: LinkId| others.as_ref().map_or(config.cable_delay_ps, |of| of[link.index()]);
            let delay = |link| if fabric.between_switches(link) { other(link) } else { hosts };
            config.cable_delays_ps = Some(fabric.links().map(delay).collect());
        }
        ("switch_delays_ns", Knob::Times(list)) => {
            config.switch_delays_ps = Some(switches(config.switch_delay_ps, fabric, list, refuse)?);
        }
        ("cable_delays_ns", Knob::Times(list)) => {
            let others = config.cable_delays_ps.take();
            let others = others.unwrap_or_else(|| fabric.links().map(|_| config.cable_delay_ps).collect());
            config.cable_delays_ps = Some(cables(&others, fabric, list, refuse)?);
        }
        ("sl2vl", Knob::LaneOfLevel(list)) => {
            // No message has a level that is not listed.
            let of_level = |level: u8| list[usize::from(level).min(list.len() - 1)];
            config.lane_map = Some(Arc::new(LaneMap::new(fabric, |_, _, level| of_level(level))));
        }
        ("sl2vl", &Knob::RandomLanes { levels, seed }) => {
            let levels = levels.min(SERVICE_LEVELS);
            let seed = seed.unwrap_or(scenarios_seed);
            config.lane_map = Some(Arc::new(LaneMap::random(fabric, levels, config.lanes, seed)));
        }
        ("sl2vl", Knob::Lanes(engine)) if engine == Engine::Dla.name() => {
            let routes = route(Engine::Dla, fabric, &detect(fabric), &EngineOptions { seed: 0, lmc: 0 });
            config.lane_map = routes.map_err(|error| refuse("", error.to_string()))?.lanes;
        }
        ("sl2vl", Knob::Lanes(scheme)) => {
            let map = lane_tables(fabric, scheme).map_err(|error| refuse("", error.to_string()))?;
            config.lane_map = Some(Arc::new(map));
        }
        _ => {}
    }
    Ok(())
}

/// Delays of all switches; a name stands for every switch that has it.
fn switches(
    others: u64,
    fabric: &Fabric,
    list: &[(String, f64)],
    refuse: &Refuse,
) -> Result<Arc<[u64]>, ComposeError> {
    let mut delays = vec![others; fabric.switch_count()];
    for (name, ps) in list {
        let mut known = false;
        for s in fabric.switches().filter(|&s| fabric.switch_name(s) == name) {
            delays[s.index()] = ps.round() as u64;
            known = true;
        }
        if !known {
            let names = || fabric.switches().map(|s| fabric.switch_name(s));
            let help = match nearest(name, names()) {
                Some(near) => format!(", did you mean \"{near}\"?"),
                None => names()
                    .next()
                    .map_or_else(String::new, |one| format!(": expected names such as \"{one}\"")),
            };
            return Err(refuse(name, format!("the fabric has no switch \"{name}\"{help}")));
        }
    }
    Ok(delays.into())
}

/// Delays of all cables, in both directions.
fn cables(
    others: &[u64],
    fabric: &Fabric,
    list: &[(String, f64)],
    refuse: &Refuse,
) -> Result<Arc<[u64]>, ComposeError> {
    let structure = detect(fabric);
    let kinds: Vec<Option<String>> = fabric.links().map(|link| kind(fabric, &structure, link)).collect();
    let mut known: Vec<&str> = kinds.iter().flatten().map(String::as_str).collect();
    known.sort_unstable();
    known.dedup();
    let mut delays = others.to_vec();
    let mut seen: Vec<&str> = Vec::new();
    for (name, ps) in list {
        let turned = name.split_once('-').map(|(a, b)| format!("{b}-{a}"));
        let is = |kind: &str| kind == name || turned.as_deref() == Some(kind);
        let Some(&kind) = known.iter().find(|&&kind| is(kind)) else {
            let hint = nearest(name, known.iter().copied()).map(|near| format!(", did you mean \"{near}\"?"));
            let all = || format!(": expected {}", known.join(", "));
            let help = hint.unwrap_or_else(all);
            return Err(refuse(name, format!("the fabric has no cables \"{name}\"{help}")));
        };
        if seen.contains(&kind) {
            return Err(refuse(name, format!("\"{kind}\" is given twice: expected each level once")));
        }
        seen.push(kind);
        for (delay, _) in delays.iter_mut().zip(&kinds).filter(|(_, of)| of.as_deref() == Some(kind)) {
            *delay = ps.round() as u64;
        }
    }
    Ok(delays.into())
}

/// What a link's cable is called, its lower end first; `None` at switches that are cut off.
fn kind(fabric: &Fabric, structure: &Structure, link: LinkId) -> Option<String> {
    if let Some(groups) = structure.shape.groups() {
        let ends = fabric.link_from_switch(link).zip(fabric.link_to_switch(link));
        return Some(match ends {
            None => "host".into(),
            Some((a, b)) if groups.group(a) == groups.group(b) => "local".into(),
            Some(_) => "global".into(),
        });
    }
    let level = |end: Option<SwitchId>| end.map_or(-1, |s| i16::from(structure.level[s.index()]));
    let ends = [level(fabric.link_from_switch(link)), level(fabric.link_to_switch(link))];
    let called = |level: Option<i16>| called(level.unwrap_or(-1), structure.levels);
    let both = || format!("{}-{}", called(ends.into_iter().min()), called(ends.into_iter().max()));
    (!ends.contains(&i16::from(NO_LEVEL))).then(both)
}

/// A level's name; hosts are -1, leaves 0.
fn called(level: i16, levels: u8) -> String {
    match (level, levels) {
        (-1, _) => "host".into(),
        (0, 1..=3) => "leaf".into(),
        (1, 2 | 3) => "spine".into(),
        (2, 3) => "core".into(),
        _ => format!("level {level}"),
    }
}
