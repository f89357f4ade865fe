//! Loads of all-to-all on quartz1, against walking every pair.

use netloom_routing::{Engine, EngineOptions, loads, route, walk};

use crate::Options;
use crate::inputs::{pattern, quartz1};
use crate::table::{Table, median_seconds};

/// Every so many-th source is walked; the time is multiplied.
const SAMPLE: usize = 16;

/// 9.4 million pairs.
pub fn run(table: &mut Table, _: &Options) {
    let (fabric, structure) = quartz1();
    let routes = route(Engine::Ftree, &fabric, &structure, &EngineOptions::default()).expect("a fat tree");
    let traffic = pattern("all-to-all", &fabric);
    let matrix = traffic.total();
    let ours = median_seconds(9, || loads(&fabric, &routes, &matrix).expect("every pair has a way"));
    let walked = median_seconds(1, || {
        let mut load = vec![0.0; fabric.link_count()];
        for source in fabric.hosts().step_by(SAMPLE) {
            let (columns, bytes) = matrix.row(source.index());
            for (&destination, bytes) in columns.iter().zip(bytes) {
                let way = walk(&fabric, &routes, source, netloom_model::HostId(destination)).expect("a way");
                way.iter().for_each(|link| load[link.index()] += bytes);
            }
        }
        load
    }) * SAMPLE as f64;
    let beside = Some(("walking each pair (1/16 of them, times 16)", walked));
    table.seconds("loads of all-to-all on quartz1", ours, 0.2, beside);
}
