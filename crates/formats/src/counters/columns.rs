//! Which columns a table of counters has, by its header.
//!
//! Invariant: every column is known or refused: one that is misspelled would be left out silently.

use netloom_model::Quantity;
use netloom_model::names::nearest;

use crate::error::excerpt;

/// All that are read.
const READ: [&str; 17] = [
    "start_ns",
    "end_ns",
    "start_ps",
    "end_ps",
    "routes",
    "link",
    "from",
    "from_port",
    "to",
    "to_port",
    "lane",
    "xmit_bytes",
    "rcv_bytes",
    "xmit_packets",
    "rcv_packets",
    "wait_ticks",
    "tick_ps",
];
/// What is wrong with values, then what the simulator's `links` says beside, then what data frames call the number of a row.
const OTHER: [&str; 11] = [
    "quality",
    "bandwidth_bytes_per_s",
    "alive",
    "between_switches",
    "from_level",
    "to_level",
    "switch",
    "utilisation",
    "",
    "index",
    "__index_level_0__",
];

/// Where the columns are.
pub(super) struct Header {
    pub times: Option<[usize; 2]>,
    pub simulated: bool,
    pub routes: Option<usize>,
    pub link: Option<usize>,
    /// from, from_port, to, to_port
    pub ends: Option<[usize; 4]>,
    pub lane: Option<usize>,
    pub tick: Option<usize>,
    pub quantities: Vec<(Quantity, usize)>,
    pub quality: Option<usize>,
    pub count: usize,
}

impl Header {
    /// Whether this is meant to be the header of such a table.
    pub fn is_like<S: AsRef<str>>(fields: &[S]) -> bool {
        let has = |name: &str| fields.iter().any(|f| f.as_ref().trim().eq_ignore_ascii_case(name));
        let counts = || Quantity::ALL.iter().map(|q| q.name());
        let like_one = || fields.iter().any(|f| nearest(f.as_ref().trim(), counts()).is_some());
        counts().any(has) || (has("link") || has("from") && has("to")) && like_one()
    }

    pub fn find<S: AsRef<str>>(fields: &[S]) -> Result<Self, String> {
        let at = |name: &str| fields.iter().position(|f| f.as_ref().trim().eq_ignore_ascii_case(name));
        let both = |a: &str, b: &str| Some([at(a)?, at(b)?]);
        let ends = || Some([at("from")?, at("from_port")?, at("to")?, at("to_port")?]);
        let quantities: Vec<_> = Quantity::ALL.into_iter().filter_map(|q| Some((q, at(q.name())?))).collect();
        for (number, field) in fields.iter().map(|f| f.as_ref().trim()).enumerate() {
            let name = field.to_ascii_lowercase();
            if !READ.iter().chain(&OTHER).any(|known| **known == name) {
                let known = READ.iter().chain(&OTHER[..1]).copied();
                let hint = match nearest(field, known.clone()) {
                    Some(near) => format!(", did you mean \"{near}\"?"),
                    None => format!(": expected {}", known.collect::<Vec<_>>().join(", ")),
                };
                return Err(format!("unknown column \"{}\"{hint}", excerpt(field)));
            }
            if !name.is_empty() && at(&name) != Some(number) {
                return Err(format!("the column {name} is there twice"));
            }
        }
        let (link, ends, simulated) = (at("link"), ends(), at("start_ps").is_some());
        if quantities.is_empty() || link.is_none() && ends.is_none() {
            let found: Vec<&str> = fields.iter().map(AsRef::as_ref).collect();
            return Err(format!(
                "expected a header with link (or from, from_port, to, to_port) and at least one of xmit_bytes, rcv_bytes, \
                 xmit_packets, rcv_packets, wait_ticks, found \"{}\"",
                excerpt(&found.join(","))
            ));
        }
        Ok(Self {
            times: if simulated { both("start_ps", "end_ps") } else { both("start_ns", "end_ns") },
            simulated,
            routes: at("routes"),
            link,
            ends,
            lane: at("lane"),
            tick: at("tick_ps"),
            quantities,
            quality: at("quality"),
            count: fields.len(),
        })
    }
}
