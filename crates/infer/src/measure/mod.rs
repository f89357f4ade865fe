//! What intervals under several routings say together: counters made rows of one operator.
//!
//! A *window* is a stretch of time with the same routes in force throughout: one interval of counters, or several added up. Each is
//! measured and checked by itself; then they are joined as the first's traffic ([`Span`]). Where switches chose packet by packet,
//! links that share traffic evenly become one row ([`EquivalentLinks`]).
//!
//! Hosts of no job that talked are one more job, in host order: what they sent is in the counters of links that they share with others, and left
//! out it would be taken for theirs.
//!
//! Knows port counters, their quality and noise, jobs and routes; it does not know what explains the rows that it makes.

mod consistency;
mod equivalent_links;
mod intervals;
mod rows;

pub use self::consistency::outside;
pub use self::equivalent_links::{EquivalentLinks, imbalance, merge_equivalent_links};
pub(crate) use self::intervals::merge_repeated_rows;
pub use self::intervals::{Outlier, Span, span};
pub use self::rows::{OUTSIDE, Outsider, Rows, outsiders, rows};

use netloom_counters::{LaneScheme, Measured, Unit, added_up, check, measure};
use netloom_model::{Counters, Fabric, Finding, Hose};

use crate::error::InferError;
use crate::operator::{Operator, Participants, Routing};
use crate::residual::Counted;
use crate::settings::CounterSettings;

use self::rows::{share_of, sums};

/// Counters of a stretch of time, and the routes that were in force.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    /// What it is called in messages.
    pub name: &'a str,
    /// The routes.
    pub routing: Routing<'a>,
    /// The counters; several intervals are added up.
    pub counters: &'a Counters,
}

/// What one window's counters came to.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowCounters {
    /// Every link, from both of its ends.
    pub measured: Measured,
    /// Links all of whose lanes are known.
    pub links_used: usize,
    /// Links, of those whose cable works, that are left out in whole or in part.
    pub links_left_out: usize,
    /// Intervals that were added up.
    pub intervals: usize,
    /// What its counters were multiplied by to be the first window's.
    pub factor: f64,
    /// How far its hosts are from those of all windows, over their norm.
    pub apart: f64,
    /// How far noise alone would bring them apart.
    pub apart_by_noise: f64,
}

/// What all windows say.
#[derive(Clone, Debug)]
pub struct Joined {
    /// Pairs to the rows of all windows.
    pub operator: Operator,
    /// `[row]`: what was counted, as if all windows had been the first.
    pub counted: Counted,
    /// `[window]`
    pub seen: Vec<WindowCounters>,
    /// Links that share traffic evenly, under adaptive routes.
    pub alike: EquivalentLinks,
    /// Hosts of no job that talked.
    pub outsiders: Vec<Outsider>,
    /// The jobs of the operator: those given, then one of the outsiders if there are two or more.
    pub jobs: Vec<Participants>,
    /// This part of what hosts sent and received is the outsiders', 0 to 1, and of the root of the sum of squares by host; of the window where it
    /// is most.
    pub outside: [f64; 2],
    /// Counters that cannot be.
    pub impossible: Vec<Finding>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// Measures, checks and joins windows.
///
/// # Errors
/// [`InferError`] where a window's counters contradict the scheme or say nothing, where routes are of another fabric or lead nowhere, and
/// where windows are of different traffic.
pub fn joined(
    fabric: &Fabric,
    windows: &[Window],
    jobs: &[Participants],
    unit: Unit,
    settings: &CounterSettings,
) -> Result<Joined, InferError> {
    let several = windows.len() > 1;
    let by_name = |window: &Window, text: String| match several {
        true => format!("{}: {text}", window.name),
        false => text,
    };
    let (mut seen, mut counted) = (Vec::new(), Vec::new());
    let (mut talkers, mut bad, mut notes) = (Vec::<Outsider>::new(), Vec::new(), Vec::new());
    let mut outside = [0.0_f64; 2];
    for window in windows {
        let named = |error: InferError| match error {
            InferError::Mismatch(text) => InferError::Mismatch(by_name(window, text)),
            other => other,
        };
        let sum = added_up(window.counters)
            .ok_or_else(|| named(InferError::Mismatch("there are no intervals of counters".into())))?;
        let measured = measure(fabric, &sum, unit);
        let scheme = match window.routing {
            Routing::Tables(_, scheme) => scheme,
            Routing::Adaptive(..) => &LaneScheme::One,
        };
        let (lanes, note) = consistency::usable_lanes(fabric, &measured, scheme).map_err(named)?;
        notes.extend(note.map(|text| by_name(window, text)));
        let of_window = rows(fabric, &measured, lanes);
        consistency::something_counted(&of_window).map_err(named)?;
        let found = window.counters.intervals().iter().flat_map(|interval| check(fabric, interval));
        bad.extend(found.map(|f| Finding { kind: f.kind, text: by_name(window, f.text) }));
        let here = outsiders(fabric, &measured, jobs, settings);
        let shares = share_of(fabric, &measured, &here);
        (0..2).for_each(|k| outside[k] = outside[k].max(shares[k]));
        talkers.extend(here);
        let Rows { counted: bytes, links_used, links_left_out } = of_window;
        counted.push(bytes);
        let intervals = window.counters.intervals().len();
        seen.push(WindowCounters {
            measured,
            links_used,
            links_left_out,
            intervals,
            factor: 1.0,
            apart: 0.0,
            apart_by_noise: 0.0,
        });
    }
    // A host that talked in several windows is one that talked.
    talkers.sort_by_key(|talker| talker.host);
    talkers.dedup_by_key(|talker| talker.host);
    let mut jobs = jobs.to_vec();
    if talkers.len() > 1 {
        jobs.push(Participants::one_a_host(OUTSIDE, talkers.iter().map(|talker| talker.host).collect()));
    }
    let stack: Vec<Routing> = windows.iter().map(|window| window.routing).collect();
    let operator = Operator::under(fabric, &stack, &jobs)?;
    let counted = match counted.len() {
        1 => counted.swap_remove(0),
        _ => {
            let names: Vec<String> = windows.iter().map(|window| window.name.to_owned()).collect();
            let span = span(fabric, &operator, &counted, settings)?;
            if let Some(text) = consistency::other_traffic(fabric, &span, &names, settings) {
                return Err(InferError::Mismatch(text));
            }
            for (k, seen) in seen.iter_mut().enumerate() {
                (seen.factor, seen.apart, seen.apart_by_noise) =
                    (span.factors[k], span.apart[k], span.noise[k]);
            }
            span.counted
        }
    };
    let mut off = vec![0.0; operator.rows()];
    for (k, routing) in stack.iter().enumerate() {
        if let Routing::Adaptive(paths, _) = routing {
            let of_routing = imbalance(&operator, k, fabric, paths, &counted);
            off.iter_mut().zip(of_routing).for_each(|(off, of)| *off += of);
        }
    }
    let (counted, alike) = merge_equivalent_links(&operator, &counted, &off, settings);
    let (impossible, note) = consistency::bad_counters(bad);
    notes.extend(note);
    talkers.sort_by(|a, b| b.most().total_cmp(&a.most()).then(a.host.cmp(&b.host)));
    Ok(Joined { operator, counted, seen, alike, outsiders: talkers, jobs, outside, impossible, notes })
}

impl Joined {
    /// Noise of the noisiest window, relative; `None` where too little could be compared in all of them.
    pub fn noise(&self) -> Option<f64> {
        let known = self.seen.iter().map(|s| s.measured.noise).filter(|noise| noise.comparisons > 0);
        known.map(|noise| noise.relative).reduce(f64::max)
    }

    /// Links used and left out: of the window that used fewest.
    pub fn links(&self) -> (usize, usize) {
        let of = |s: &WindowCounters| (s.links_used, s.links_left_out);
        self.seen.iter().map(of).min().unwrap_or_default()
    }

    /// What every host sent and received in the first window by its own link's counters; where these are unknown, by the answer.
    pub fn sums(&self, fabric: &Fabric, found: &netloom_model::Csr) -> Hose {
        sums(fabric, &self.seen[0].measured, found)
    }
}
