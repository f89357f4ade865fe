//! Routes: tables of ports, which address of a host a sender uses, and lanes.
//!
//! What a judge said of them is left out: they are judged again where that matters.

use std::cell::Cell;
use std::sync::Arc;

use netloom_model::{
    DestId, Fabric, HostId, LaneMap, Levels, Lft, LftRow, LinkId, MAX_LMC, NO_PORT, PairPaths, PathChoice,
    Routes, SERVICE_LEVELS, SwitchId, Table,
};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Content, Loaded, Saved};
use crate::fabric::PyFabric;
use crate::lanes::PyLaneTables;
use crate::routes::PyRoutes;
use crate::run::{Options, run};

#[derive(Serialize, Deserialize)]
struct State {
    lmc: u8,
    /// By destination; or by source, then by destination.
    tables: Vec<Ports>,
    path: Path,
    cabling_hash: Option<u64>,
    lanes: Option<(Vec<u8>, Option<Levels>)>,
    faults: Vec<(usize, String, String)>,
}

/// Switch by switch, as wide as a table stores them.
#[derive(Serialize, Deserialize)]
enum Ports {
    Narrow(usize, Vec<u8>),
    Wide(usize, Vec<u16>),
}

#[derive(Serialize, Deserialize)]
enum Path {
    Base,
    SourceMod,
    PerPair(Vec<(HostId, HostId, u32)>),
}

impl Ports {
    fn of(lft: &Lft) -> Self {
        let rows = || (0..lft.switches()).map(|s| lft.row(SwitchId::from_index(s)));
        let mut narrow = Vec::new();
        for row in rows() {
            match row {
                LftRow::Narrow(row) => narrow.extend_from_slice(row),
                LftRow::Wide(_) => {
                    let all =
                        rows().flat_map(|row| (0..lft.dests()).map(move |d| row.port(DestId::from_index(d))));
                    return Self::Wide(lft.dests(), all.collect());
                }
            }
        }
        Self::Narrow(lft.dests(), narrow)
    }

    /// A table of `dests` destinations, if it is one of the fabric.
    fn lft(self, fabric: &Fabric, dests: usize) -> Option<Lft> {
        let (own, len) = match &self {
            Self::Narrow(own, ports) => (*own, ports.len()),
            Self::Wide(own, ports) => (*own, ports.len()),
        };
        let narrow = Lft::is_narrow(fabric.max_radix());
        if own != dests || dests == 0 || len != dests * fabric.switch_count() {
            return None;
        }
        let fits =
            |at: usize, port: u16| port == NO_PORT || port <= fabric.radix(SwitchId::from_index(at / dests));
        match self {
            Self::Narrow(_, ports) if narrow => {
                let wide = |port: u8| if port == u8::MAX { NO_PORT } else { u16::from(port) };
                let sound = ports.iter().enumerate().all(|(at, &port)| fits(at, wide(port)));
                sound.then(|| Lft::from_narrow_rows(ports.chunks(dests).map(<[u8]>::to_vec).collect(), dests))
            }
            Self::Wide(_, ports) if !narrow => {
                let sound = ports.iter().enumerate().all(|(at, &port)| fits(at, port));
                let rows = || ports.chunks(dests).map(<[u16]>::to_vec).collect();
                sound.then(|| Lft::from_rows(rows(), dests, fabric.max_radix()))
            }
            _ => None,
        }
    }
}

/// Lanes in the order in which [`LaneMap::new`] asks for them.
fn lanes_of(map: &LaneMap, fabric: &Fabric) -> Vec<u8> {
    let mut lanes = Vec::new();
    for via in fabric.links() {
        for out in fabric.link_to_switch(via).into_iter().flat_map(|s| fabric.switch_links(s)) {
            lanes.extend((0..SERVICE_LEVELS).map(|level| map.lane(via.0, out.0, level)));
        }
    }
    for host in fabric.hosts() {
        lanes.extend((0..SERVICE_LEVELS).map(|level| map.first_lane(host.0, level)));
    }
    lanes
}

fn lane_map(lanes: &[u8], levels: Option<Levels>, fabric: &Fabric) -> Option<LaneMap> {
    let next = Cell::new(0);
    let map = LaneMap::new(fabric, |_: Option<LinkId>, _, _| {
        let at = next.replace(next.get() + 1);
        lanes.get(at).copied().unwrap_or(0)
    });
    let fit = levels.as_ref().is_none_or(|levels| levels.fit(fabric.host_count()));
    if !fit || next.get() != lanes.len() || lanes.iter().any(|&lane| lane >= SERVICE_LEVELS) {
        return None;
    }
    Some(match levels {
        Some(levels) => map.with_levels(levels),
        None => map,
    })
}

impl State {
    fn of(own: &PyRoutes) -> Self {
        let (routes, fabric) = (&own.routes, &own.shared.fabric);
        Self {
            lmc: routes.lmc,
            tables: match &routes.table {
                Table::ByDest(lft) => vec![Ports::of(lft)],
                Table::UpBySource { up, down } => vec![Ports::of(up), Ports::of(down)],
            },
            path: match &routes.path {
                PathChoice::Base => Path::Base,
                PathChoice::SourceMod => Path::SourceMod,
                PathChoice::PerPair(paths) => Path::PerPair(paths.iter().collect()),
            },
            cabling_hash: routes.cabling_hash,
            lanes: routes.lanes.as_ref().map(|map| (lanes_of(map, fabric), map.levels().cloned())),
            faults: own.faults.clone(),
        }
    }

    fn routes(tables: Vec<Ports>, rest: (u8, Path, Option<u64>), fabric: &Fabric) -> Option<Routes> {
        let (lmc, path, cabling_hash) = rest;
        if lmc > MAX_LMC || cabling_hash.is_some_and(|hash| hash != fabric.cabling_hash()) {
            return None;
        }
        let (hosts, dests) = (fabric.host_count(), fabric.dests(lmc).count());
        let mut tables = tables.into_iter();
        let table = match (tables.next()?, tables.next()) {
            (only, None) => Table::ByDest(only.lft(fabric, dests)?),
            (up, Some(down)) => {
                Table::UpBySource { up: up.lft(fabric, hosts)?, down: down.lft(fabric, dests)? }
            }
        };
        let path = match path {
            Path::Base => PathChoice::Base,
            Path::SourceMod => PathChoice::SourceMod,
            Path::PerPair(list) => PathChoice::PerPair(Arc::new(PairPaths::new(hosts, lmc, &list).ok()?)),
        };
        Some(Routes { lmc, table, path, cabling_hash, lanes: None })
    }
}

impl Content for PyRoutes {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        let (py, own) = (slf.py(), slf.get());
        let state = run(py, Options::default(), |_| State::of(own))?;
        Saved::new(&state, vec![own.shared.object(py)?])
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let shared = Arc::clone(&loaded.part::<PyFabric>(0)?.get().shared);
        let State { lmc, tables, path, cabling_hash, lanes, faults } = loaded.state()?;
        let made = run(py, Options::default(), |_| {
            let fabric = &shared.fabric;
            let routes = State::routes(tables, (lmc, path, cabling_hash), fabric)?;
            match lanes {
                Some((lanes, levels)) => Some(routes.with_lanes(lane_map(&lanes, levels, fabric)?)),
                None => Some(routes),
            }
        })?;
        let routes = made.ok_or_else(|| loaded.damaged("its tables are none of its fabric"))?;
        Py::new(py, Self { routes: Arc::new(routes), shared, faults, report: None })
    }
}

impl Content for PyLaneTables {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        let Self { map, shared } = slf.get();
        Saved::new(&(lanes_of(map, &shared.fabric), map.levels()), vec![shared.object(slf.py())?])
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let shared = Arc::clone(&loaded.part::<PyFabric>(0)?.get().shared);
        let (lanes, levels): (Vec<u8>, _) = loaded.state()?;
        let map = lane_map(&lanes, levels, &shared.fabric);
        let map = map.ok_or_else(|| loaded.damaged("its lanes are none of its fabric"))?;
        Py::new(py, Self { map: Arc::new(map), shared })
    }
}
