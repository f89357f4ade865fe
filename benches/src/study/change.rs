//! One job of five changes its traffic: new routes that leave the other jobs' entries alone.
//!
//! The second job, miniAMR on 512 hosts, begins to exchange data between random pairs. Its 512 destinations may change, or
//! twenty entries, AFAR's count in Smith et al. (SC18, sec. V-B).

use netloom_model::{Routes, Traffic};
use netloom_optimize::{Change, OptimizeOptions};
use netloom_topology::generate;
use netloom_traffic::place;

use super::ground::{Ground, Outcome, options};
use super::{Claim, Section, Study, coarse, heads, percent};
use crate::inputs::resolved;
use crate::table::spell;

/// The jobs.
const JOBS: &str = "examples/jobs/five.toml";
/// The job that changes, and its new traffic.
const CHANGED: (usize, &str) = (1, "bisection-shuffle:ranks=512,seed=1,noise=0.05,bytes=2000000");
/// Seconds for the routes of before, and for the new ones.
const LIMIT: (f64, f64) = (10.0, 1.0);
/// What the gap may be.
const GAP: f64 = 5e-3;
/// Few changes.
const FEW: u64 = 20;

/// Before, then what may change.
pub fn run(_: &mut Study) -> Section {
    let ground = Ground::new(generate("quartz1").expect("a known spec"));
    let (mut jobs, seed) = resolved(JOBS);
    let before = place(&ground.fabric, &jobs, seed).expect("the jobs fit").traffic;
    jobs[CHANGED.0].traffic = netloom_traffic::pattern(CHANGED.1, None).expect("a known spec");
    let after = place(&ground.fabric, &jobs, seed).expect("the jobs fit");
    let mut frozen = vec![true; ground.fabric.host_count()];
    let name = jobs[CHANGED.0].spec.name.clone();
    let mine = after.jobs.iter().filter(|job| job.name.split('.').next() == Some(&name));
    let mine: Vec<_> = mine.flat_map(|job| job.hosts.iter()).collect();
    mine.iter().for_each(|host| frozen[host.index()] = false);

    let today = ground.optimize(&before.total(), LIMIT.0).found.outcome.routes;
    let traffic: Traffic = after.traffic;
    let matrix = traffic.total();
    let with = |most: Option<u64>, frozen: &[bool], seconds: f64| {
        let change = Change { from: &today, penalty: 0.0, most, frozen };
        ground.optimize_with(&matrix, seconds, &OptimizeOptions { change: Some(change), ..options() })
    };
    let job = with(None, &frozen, LIMIT.1);
    let one_each = with(Some(mine.len() as u64), &frozen, LIMIT.1);
    let few = with(Some(FEW), &frozen, LIMIT.1);
    let few_anywhere = with(Some(FEW), &[], LIMIT.1);
    let anew = ground.optimize(&matrix, LIMIT.0);
    let afar = ground.afar_from(&today, &matrix, FEW, LIMIT.1).expect("today's routes deliver").routes;

    let bound = job.found.bound.claim;
    let line = |what: String, routes: &Routes, ours: Option<&Outcome>| {
        let max = ground.max(routes, &matrix).expect("delivered");
        let (entries, destinations) = changed(&ground, &today, routes);
        let own = ours.map_or("–".into(), |o| percent(o.gap));
        let time = ours.map_or("–".into(), |o| spell(o.seconds));
        vec![what, coarse(max / bound - 1.0), own, entries.to_string(), destinations.to_string(), time]
    };
    let all = mine.len();
    let table = vec![
        heads(&[
            "may change",
            "over the job's bound",
            "over its own bound",
            "entries changed",
            "of destinations",
            "time",
        ]),
        line("nothing: the routes of before".into(), &today, None),
        line(format!("{FEW} entries, AFAR"), &afar, None),
        line(format!("{FEW} entries of the job"), &few.found.routes, Some(&few)),
        line(format!("{FEW} entries"), &few_anywhere.found.routes, Some(&few_anywhere)),
        line(format!("{all} entries of the job"), &one_each.found.routes, Some(&one_each)),
        line(format!("the job's {all} destinations"), &job.found.routes, Some(&job)),
        line("everything".into(), &anew.found.routes, Some(&anew)),
    ];
    let (entries, destinations) = changed(&ground, &today, &job.found.routes);
    let over = |max: f64| coarse(max / bound - 1.0);
    let (few, afar) = (few.found.loads.max(), ground.max(&afar, &matrix).expect("delivered"));
    Section {
        title: "Change little: one job of five".into(),
        text: format!(
            "`{JOBS}`: optimised, then {name}'s traffic becomes `{}`. \"The job's bound\" holds with all other jobs' entries as they are; a row's own bound is what \
             holds for what it may change. Entries count whether or not traffic uses them.",
            CHANGED.1
        ),
        tables: vec![table],
        claims: vec![Claim {
            what: "one job of five changes its traffic".into(),
            asked: format!("within {} of the bound, the others fixed, in {}", coarse(GAP), spell(LIMIT.1)),
            measured: format!(
                "{} in {}; {entries} entries of {destinations} of {all} destinations; {FEW} changes: {} (AFAR {})",
                percent(job.gap),
                spell(job.seconds),
                over(few),
                over(afar)
            ),
            kept: job.gap <= GAP && job.seconds <= LIMIT.1 * 1.1 && destinations <= all && few <= afar,
        }],
    }
}

/// Entries towards hosts that differ, and of how many hosts.
fn changed(ground: &Ground, from: &Routes, to: &Routes) -> (usize, usize) {
    let (a, b) = (from.lft().expect("by destination"), to.lft().expect("by destination"));
    let space = from.dests(&ground.fabric);
    let per_host = ground.fabric.hosts().map(|host| {
        let address = space.host(host, 0);
        ground.fabric.switches().filter(|&s| a.get(s, address) != b.get(s, address)).count()
    });
    per_host.fold((0, 0), |(entries, hosts), n| (entries + n, hosts + usize::from(n > 0)))
}
