//! Whether counters, lanes, jobs and routes can belong together, in words.

use netloom_counters::{LaneScheme, Measured};
use netloom_model::{Fabric, Finding};

use crate::error::InferError;
use crate::settings::CounterSettings;

use super::intervals::{Outlier, Span};
use super::rows::{Outsider, Rows};

/// How many are named of what there may be thousands of.
const NAMED: usize = 5;

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

/// Why intervals can't be of the same traffic, with the host that differs most; `None` if they can.
pub fn other_traffic(
    fabric: &Fabric,
    span: &Span,
    names: &[String],
    settings: &CounterSettings,
) -> Option<String> {
    let odd = span.other(settings)?;
    let worst = span.worst.map_or(String::new(), |Outlier { host, sent, here, mean }| {
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
