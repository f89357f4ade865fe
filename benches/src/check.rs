//! All pairs of quartz1 with credit loops, against walking every pair.

use netloom_routing::{Engine, EngineOptions, route, walk};
use netloom_verify::check;

use crate::Options;
use crate::inputs::{HOSTS_65536, generated, quartz1};
use crate::table::{Table, median_seconds};

/// Every so many-th source is walked; the time is multiplied.
const SAMPLE: usize = 16;

/// The whole check.
pub fn run(table: &mut Table, _: &Options) {
    let (fabric, structure) = quartz1();
    let routes = route(Engine::Ftree, &fabric, &structure, &EngineOptions::default()).expect("a fat tree");
    let checked = median_seconds(9, || {
        let report = check(&fabric, &structure, &routes);
        assert!(report.ok(), "ftree's routes are sound");
        report
    });
    let walked = median_seconds(1, || {
        let pairs = fabric.hosts().step_by(SAMPLE).flat_map(|s| fabric.hosts().map(move |d| (s, d)));
        pairs.map(|(s, d)| walk(&fabric, &routes, s, d).expect("a way").len()).max()
    }) * SAMPLE as f64;
    let what = "check all 9.4 M host pairs of quartz1 incl. credit loops";
    table.seconds(what, checked, 0.5, Some(("walking each pair (1/16 of them, times 16)", walked)));
    let (fabric, structure) = generated(HOSTS_65536);
    let routes = route(Engine::Dmodk, &fabric, &structure, &EngineOptions::default()).expect("a fat tree");
    let checked = median_seconds(1, || {
        let report = check(&fabric, &structure, &routes);
        assert!(report.ok(), "d-mod-k's routes are sound");
        report
    });
    table.seconds("check all 4.3 G host pairs of 65,536 hosts, two cores", checked, 5.0, None);
}
