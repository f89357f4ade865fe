//! Engines: ftree on quartz1 and on 65,536 hosts.

use netloom_model::{Fabric, Routes};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_topology::Structure;

use crate::Options;
use crate::inputs::{HOSTS_65536, generated, quartz1};
use crate::table::{Table, median_seconds};

/// ftree, beside minhop.
pub fn run(table: &mut Table, _: &Options) {
    let (fabric, structure) = quartz1();
    let ftree = median_seconds(9, || with(Engine::Ftree, &fabric, &structure));
    let minhop = median_seconds(3, || with(Engine::Minhop, &fabric, &structure));
    table.seconds("ftree routes for quartz1", ftree, 0.030, Some(("minhop", minhop)));

    let (fabric, structure) = generated(HOSTS_65536);
    let ftree = median_seconds(3, || with(Engine::Ftree, &fabric, &structure));
    table.seconds("ftree routes for 65,536 hosts", ftree, 3.0, None);
}

fn with(engine: Engine, fabric: &Fabric, structure: &Structure) -> Routes {
    route(engine, fabric, structure, &EngineOptions::default()).expect("a fat tree")
}
