//! What is odd about counters, routes and jobs together, in words.

use netloom_model::Fabric;
use netloom_routing::PathSet;

use crate::operator::Operator;
use crate::settings::{CounterSettings, FitSettings};

use super::fit::Fit;
use super::target::Counted;

/// How many are named of what there may be thousands of.
const NAMED: usize = 5;

/// That too few are known of the rows that pairs cross; `None` if enough are. Where switches choose, links that are alike stand for each other.
pub fn few_counters(operator: &Operator, counted: &Counted, settings: &CounterSettings) -> Option<String> {
    if operator.splits() {
        return None;
    }
    let crossed = operator.forward(&vec![1.0; operator.pairs()]);
    let rows = crossed.iter().zip(&counted.bytes).filter(|(pairs, _)| **pairs > 0.0);
    let (all, unknown) = rows
        .fold((0usize, 0), |(all, unknown), (_, bytes)| (all + 1, unknown + usize::from(!bytes.is_finite())));
    (unknown as f64 > settings.missing_rows * all as f64).then(|| {
        format!(
            "{unknown} of {all} counters that the jobs' traffic may be in cannot be trusted or were not read (netloom counters check says \
             why): what crosses these links is a guess, and counts as error"
        )
    })
}

/// Why counters and routes can't belong together, with the worst links; `names` are those of the intervals, one a routing.
/// Where no other routes are possible (`forced`) they are not what is wrong.
pub fn foreign(
    fabric: &Fabric,
    fit: &Fit,
    lanes: u8,
    names: &[String],
    forced: bool,
    settings: &FitSettings,
) -> String {
    let worst: Vec<String> = (fit.rows.iter().take(NAMED))
        .map(|row| {
            let place = fabric.describe_link(row.link);
            let lane = if lanes > 1 { format!(", lane {}", row.lane) } else { String::new() };
            let when = match names {
                [] | [_] => String::new(),
                _ => format!(", {}", names.get(row.routing).map_or("", String::as_str)),
            };
            format!("{place}{lane}{when} ({:.0} counted, {:.0} explained)", row.counted, row.explained)
        })
        .collect();
    let much = match fit.deviations {
        Some(deviations) if fit.share <= settings.foreign => {
            format!("{deviations:.1} standard deviations of their noise")
        }
        _ => format!("{:.1} % of what was counted", 100.0 * fit.share),
    };
    let worst = if worst.is_empty() { String::new() } else { format!(", most on {}", worst.join("; ")) };
    let same = if names.len() > 1 { ", and the same traffic in all intervals" } else { "" };
    if forced {
        return format!(
            "no traffic of these jobs explains the counters: {much} unexplained{worst}. No other routes are possible on this fabric, so the \
             list of jobs, the interval or counters are wrong{same}"
        );
    }
    format!(
        "the counters do not fit these routes: {much} unexplained{worst}. Expected routes, jobs, VL scheme and interval that belong \
         together{same}"
    )
}

/// Whether every pair has one admissible way only: then routes cannot be others than these.
pub fn only_way(paths: &PathSet) -> bool {
    (0..paths.group_count()).all(|group| paths.group_links(group as u32).len() <= 1)
}
