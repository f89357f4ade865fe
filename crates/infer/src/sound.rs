//! Whether counters, lanes, jobs and routes can belong together, in words.

use netloom_counters::{LaneScheme, Measured};
use netloom_model::{Fabric, Finding};
use netloom_routing::PathSet;

use crate::error::InferError;
use crate::fit::{FOREIGN, Fit};
use crate::operator::Operator;
use crate::rows::{Outsider, Rows};
use crate::span::{Odd, Span};
use crate::target::Counted;

/// How many are named of what there may be thousands of.
const NAMED: usize = 5;
/// More than this part of the rows that is unknown is worth a finding.
const LEFT_OUT: f64 = 0.25;

/// The lanes of the rows, those of the scheme, and what is odd about them.
///
/// # Errors
/// [`InferError::Mismatch`] if counters contradict the scheme.
pub fn usable_lanes(
    fabric: &Fabric,
    measured: &Measured,
    scheme: &LaneScheme,
) -> Result<(u8, Option<String>), InferError> {
    let (lanes, counted) = (scheme.lanes(), measured.lanes);
    if *scheme == LaneScheme::One {
        let note = (counted > 1).then(|| {
            format!(
                "the counters tell {counted} lanes apart, but no --vl-scheme says who uses which: whole links are used"
            )
        });
        return Ok((1, note));
    }
    if counted == 0 && lanes > 1 {
        return Err(InferError::Mismatch(format!(
            "the VL scheme has {lanes} lanes, but these counters do not tell lanes apart: leave it out"
        )));
    }
    for (link, lane) in fabric.links().flat_map(|l| (usize::from(lanes)..counted).map(move |lane| (l, lane)))
    {
        if let Some(bytes) = measured.lane(link, lane).filter(|&bytes| bytes > measured.noise.packet) {
            let place = fabric.describe_link(link);
            return Err(InferError::Mismatch(format!(
                "the VL scheme has {lanes} lanes, but lane {lane} of {place} carried {bytes:.0}: expected counters of this scheme"
            )));
        }
    }
    let note = (counted < usize::from(lanes)).then(|| {
        format!("the VL scheme has {lanes} lanes, the counters {counted}: the others are taken as unused")
    });
    Ok((lanes, note))
}

/// That there is something to explain.
///
/// # Errors
/// [`InferError::Mismatch`] if nothing is known, or nothing was sent.
pub fn something_counted(rows: &Rows) -> Result<(), InferError> {
    let mut known = rows.counted.bytes.iter().filter(|b| b.is_finite()).peekable();
    let text = if known.peek().is_none() {
        "no link has counters that can be trusted (netloom counters check says why)".into()
    } else if known.any(|&b| b != 0.0) {
        return Ok(());
    } else if rows.links_left_out > 0 {
        // What carried most is full first.
        format!(
            "the counters that can be trusted are all 0, those of {} links cannot be trusted (netloom counters check says why): expected \
             counters of links that carried something",
            rows.links_left_out
        )
    } else {
        "all counters are 0: nothing was sent in this interval".into()
    };
    Err(InferError::Mismatch(text))
}

/// What is wrong with counters: impossible ones, of which some are named, and how many others are left out of the fit.
pub fn bad_counters(found: Vec<Finding>) -> (Vec<Finding>, Option<String>) {
    let (mut impossible, others): (Vec<Finding>, Vec<Finding>) =
        found.into_iter().partition(|f| matches!(f.kind, "too-fast" | "packet-size"));
    let more = impossible.len().saturating_sub(NAMED);
    impossible.truncate(NAMED);
    if more > 0 {
        let text = format!("and {more} more impossible counters (netloom counters check names them)");
        impossible.push(Finding { kind: "more", text });
    }
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for one in &others {
        match kinds.iter_mut().find(|(kind, _)| *kind == one.kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((one.kind, 1)),
        }
    }
    let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let note = (!kinds.is_empty())
        .then(|| format!("bad counters, left out: {} (netloom counters check names them)", kinds.join(", ")));
    (impossible, note)
}

/// Hosts that talked though no job has them; `None` if there are none.
pub fn outside(fabric: &Fabric, outsiders: &[Outsider]) -> Option<String> {
    let names: Vec<&str> = outsiders.iter().take(NAMED).map(|o| fabric.host_name(o.host)).collect();
    let (first, names) = (outsiders.first()?, names.join(", "));
    let more = match outsiders.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "hosts of no job talked: {names}{more} (the first sent {:.0} and received {:.0}); {}",
        first.sent,
        first.received,
        match outsiders.len() {
            1 => "what it carried is left unexplained",
            _ => "they are taken as one more job, and the answer is no better than partly known",
        }
    ))
}

/// That too few are known of the rows that pairs cross; `None` if enough are. Where switches choose, links that are alike stand for each other.
pub fn few_counters(operator: &Operator, counted: &Counted) -> Option<String> {
    if operator.splits() {
        return None;
    }
    let crossed = operator.forward(&vec![1.0; operator.pairs()]);
    let rows = crossed.iter().zip(&counted.bytes).filter(|(pairs, _)| **pairs > 0.0);
    let (all, unknown) = rows
        .fold((0usize, 0), |(all, unknown), (_, bytes)| (all + 1, unknown + usize::from(!bytes.is_finite())));
    (unknown as f64 > LEFT_OUT * all as f64).then(|| {
        format!(
            "{unknown} of {all} counters that the jobs' traffic may be in cannot be trusted or were not read (netloom counters check says \
             why): what crosses these links is a guess, and counts as error"
        )
    })
}

/// Why counters and routes can't belong together, with the worst links; `names` are those of the intervals, one a routing.
/// Where no other routes are possible (`forced`) they are not what is wrong.
pub fn foreign(fabric: &Fabric, fit: &Fit, lanes: u8, names: &[String], forced: bool) -> String {
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
        Some(deviations) if fit.share <= FOREIGN => {
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

/// Why intervals can't be of the same traffic, with the host that differs most; `None` if they can.
pub fn other_traffic(fabric: &Fabric, span: &Span, names: &[String]) -> Option<String> {
    let odd = span.other()?;
    let worst = span.worst.map_or(String::new(), |Odd { host, sent, here, mean }| {
        let what = if sent { "sent" } else { "received" };
        format!(", most {} ({what} {here:.0}, in the mean of all {mean:.0})", fabric.host_name(host))
    });
    Some(format!(
        "{}: not the traffic of the other intervals: what hosts sent and received differs by {:.1} %, noise makes {:.1} %{worst}. \
         Expected intervals of the same traffic under different routes",
        names.get(odd).map_or("an interval", String::as_str),
        100.0 * span.apart[odd],
        100.0 * span.noise[odd],
    ))
}
