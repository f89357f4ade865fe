//! Counters by interval as CSV, a row an interval, link and lane: what netloom writes, and the tables that a simulation leaves.
//!
//! ```text
//! start_ns,end_ns,routes,link,from,from_port,to,to_port,lane,xmit_bytes,rcv_bytes,…,quality
//! 0,1000,0,5,leaf00,3,host0002,1,,4096,4096,…,
//! ```
//!
//! - A link is its number, or the names and ports of its ends, or both, which must then agree: that is how counters of another fabric are
//!   found out. An empty lane (in the simulator's tables: 255) is the whole link. Times may be absent: then there is one interval.
//! - An empty value, or a row that is not there, was not read; but the simulator (`start_ps`, `end_ps`) leaves rows of zeros out. `quality` says
//!   what is wrong with others: `xmit_bytes=saturated+reset rcv_bytes=conflict`.
//!
//! Invariant: what [`write_counter_table`] writes, [`read_counter_table`] reads back equal.

use std::collections::{BTreeMap, HashMap};

use netloom_model::{Column, Counters, Fabric, Interval, LinkId, NodeId, Quality, Quantity};

use super::columns::Header;
use super::fit::{Scope, unread};
use super::{CountersContent, CountersFile};
use crate::csv::{quoted, split};
use crate::error::excerpt;
use crate::gzip::{RAISE, most_expanded};
use crate::text::text;
use crate::{Finding, FormatError};

/// What the simulator calls the whole link.
const WHOLE_LINK: u8 = 255;
/// Most values that a file may stand for, of 9 bytes each, and so many for each of its bytes; what a small file may expand to holds as well. A row stands
/// for all links of its interval and lane.
const MAX_CELLS: usize = 1 << 29;
const CELLS_A_BYTE: usize = 64;
const CELL_BYTES: u64 = 8;
/// A tick of the simulator.
const SIMULATED_TICK_PS: u64 = 1000;

/// Reads counters by interval.
///
/// # Errors
/// [`FormatError`] names the line: a header without the columns, a link that the fabric does not have or has elsewhere, a value that is
/// no count, a row that is there twice.
pub fn read_counter_table(bytes: &[u8], label: &str, fabric: &Fabric) -> Result<CountersFile, FormatError> {
    read(&text(bytes, label)?, label, fabric)
}

/// Whether this is the header of such a table.
pub(super) fn begins(line: &str) -> bool {
    split(line).is_some_and(|fields| Header::is_like(&fields))
}

/// One lane of all links in one interval.
struct Lane {
    seen: Vec<bool>,
    /// As the header's quantities.
    values: Vec<Vec<u64>>,
    quality: Vec<Vec<Quality>>,
}

impl Lane {
    fn new(links: usize, columns: usize) -> Self {
        Self {
            seen: vec![false; links],
            values: vec![vec![0; links]; columns],
            quality: vec![vec![Quality::GOOD; links]; columns],
        }
    }
}

/// One interval: its lanes, the whole link first.
#[derive(Default)]
struct Rows {
    routes: u32,
    /// Of the first row, and how many there are.
    line: usize,
    count: usize,
    lanes: BTreeMap<Option<u8>, Lane>,
}

struct Reader<'a> {
    fabric: &'a Fabric,
    header: Header,
    by_ends: HashMap<(&'a str, u16), Option<LinkId>>,
    /// By start and end.
    intervals: BTreeMap<(u64, u64), Rows>,
    /// Values that are held, of rows that are not there too.
    cells: usize,
    most_cells: usize,
    tick_ps: Option<u64>,
}

pub(super) fn read(text: &str, label: &str, fabric: &Fabric) -> Result<CountersFile, FormatError> {
    let mut reader: Option<Reader> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at_line = |message: String| FormatError::at(label, number, message);
        let apart;
        let fields: Vec<&str> = if line.contains('"') {
            apart = split(line).ok_or_else(|| at_line("expected a closing quote".into()))?;
            apart.iter().map(String::as_str).collect()
        } else {
            line.split(',').map(str::trim).collect()
        };
        match &mut reader {
            Some(reader) => reader.row(&fields, number).map_err(at_line)?,
            None => reader = Some(Reader::new(fabric, Header::find(&fields).map_err(at_line)?, text.len())),
        }
    }
    let Some(reader) = reader.filter(|reader| !reader.intervals.is_empty()) else {
        return Err(FormatError::whole(label, "expected rows of counters, found none"));
    };
    if let Some((line, message)) = reader.overlap() {
        return Err(FormatError::at(label, line, message));
    }
    let kind = if reader.header.simulated { "simulation" } else { "table" };
    let notes = reader.suspicion().into_iter().collect();
    let counters = reader.counters().map_err(|message| FormatError::whole(label, message))?;
    Ok(CountersFile {
        kind,
        content: CountersContent::Intervals(counters),
        reading: None,
        counted: None,
        notes,
    })
}

impl<'a> Reader<'a> {
    fn new(fabric: &'a Fabric, header: Header, bytes: usize) -> Self {
        let mut by_ends = HashMap::new();
        if header.link.is_none() {
            for link in fabric.links() {
                let end = (fabric.node_name(fabric.link_from(link)), fabric.link_port(link));
                by_ends.entry(end).and_modify(|l| *l = None).or_insert(Some(link));
            }
        }
        let tick_ps = header.simulated.then_some(SIMULATED_TICK_PS);
        let small = usize::try_from(most_expanded(0) / CELL_BYTES).unwrap_or(usize::MAX);
        let most_cells = bytes.saturating_mul(CELLS_A_BYTE).min(MAX_CELLS).max(small);
        Self { fabric, header, by_ends, intervals: BTreeMap::new(), cells: 0, most_cells, tick_ps }
    }

    fn row(&mut self, fields: &[&str], line: usize) -> Result<(), String> {
        if fields.len() != self.header.count {
            return Err(format!("expected {} fields, found {}", self.header.count, fields.len()));
        }
        let link = self.link(fields)?;
        let Header { lane, times, routes, tick, simulated, quality, .. } = self.header;
        let lane = match lane.map_or("", |at| fields[at]) {
            "" => None,
            lane => Some(lane.parse().map_err(|_| {
                let found = excerpt(lane);
                format!("expected a lane below 255, or nothing for the whole link, found \"{found}\"")
            })?),
        };
        let lane = lane.filter(|&lane: &u8| lane != WHOLE_LINK);
        let mut span = (0, 0);
        if let Some([start, end]) = times {
            span = (count(fields[start], "a time")?, count(fields[end], "a time")?);
            if simulated {
                span = (span.0.div_ceil(1000), span.1.div_ceil(1000));
            }
            if span.1 < span.0 {
                return Err(format!(
                    "expected an interval that ends after its start, found {} to {}",
                    span.0, span.1
                ));
            }
        }
        let routing = routes.map_or(Ok(0), |at| count(fields[at], "a routing's number"))?;
        let routing =
            u32::try_from(routing).map_err(|_| format!("expected a routing's number, found {routing}"))?;
        if let Some(at) = tick.filter(|&at| !fields[at].is_empty()) {
            self.tick_ps = Some(count(fields[at], "a tick in ps")?);
        }
        let doubts = quality.map_or("", |at| fields[at]);
        let links = self.fabric.link_count();
        let first = || Rows { routes: routing, line, ..Rows::default() };
        let Rows { routes: known, count: rows, lanes, .. } = self.intervals.entry(span).or_insert_with(first);
        *rows += 1;
        if *known != routing {
            return Err(format!("expected routing {known} as in the interval's other rows, found {routing}"));
        }
        let quantities = &self.header.quantities;
        if !lanes.contains_key(&lane) {
            self.cells += links * quantities.len();
            if self.cells > self.most_cells {
                return Err(format!(
                    "expected at most {} values (intervals x lanes x links x columns) of a file of this size, found more ({RAISE})",
                    self.most_cells
                ));
            }
        }
        let rows = lanes.entry(lane).or_insert_with(|| Lane::new(links, quantities.len()));
        if std::mem::replace(&mut rows.seen[link.index()], true) {
            return Err(format!(
                "{} is there twice in one interval and lane",
                self.fabric.describe_link(link)
            ));
        }
        for (which, &(quantity, at)) in quantities.iter().enumerate() {
            let flags = flags(doubts, quantity)?;
            let (value, quality) = match fields[at] {
                "" if flags.is_read() => (0, flags.with(Quality::MISSING)),
                "" => (0, flags),
                field => (count(field, quantity.name())?, flags),
            };
            rows.values[which][link.index()] = value;
            rows.quality[which][link.index()] = quality;
        }
        Ok(())
    }

    fn link(&self, fields: &[&str]) -> Result<LinkId, String> {
        let Header { link, ends, .. } = self.header;
        let links = self.fabric.link_count();
        let port = |at: usize| {
            fields[at]
                .parse::<u16>()
                .map_err(|_| format!("expected a port, found \"{}\"", excerpt(fields[at])))
        };
        let found = match (link, ends) {
            (Some(at), _) => {
                let number = count(fields[at], "a link's number")?;
                let bounded = u32::try_from(number).ok().filter(|&n| (n as usize) < links);
                LinkId(bounded.ok_or_else(|| format!("expected links below {links}, found {number}"))?)
            }
            (None, Some([from, from_port, ..])) => {
                match self.by_ends.get(&(fields[from], port(from_port)?)) {
                    Some(Some(link)) => *link,
                    Some(None) => {
                        return Err(format!(
                            "several nodes are called \"{}\": expected links by number",
                            excerpt(fields[from])
                        ));
                    }
                    None => {
                        return Err(format!(
                            "the fabric has no cable at {}[{}]",
                            excerpt(fields[from]),
                            fields[from_port]
                        ));
                    }
                }
            }
            (None, None) => unreachable!("a header names links"),
        };
        if let Some([from, from_port, to, to_port]) = ends {
            let l = self.fabric.link(found);
            let agrees =
                |node: NodeId, name: usize| self.fabric.node_name(node).trim() == fields[name].trim();
            let same = agrees(l.from, from)
                && agrees(l.to, to)
                && (port(from_port)?, port(to_port)?) == (l.from_port, l.to_port);
            if !same {
                return Err(format!(
                    "these counters are of another fabric: expected {}, found {}[{}] -> {}[{}]",
                    self.fabric.describe_link(found),
                    excerpt(fields[from]),
                    fields[from_port],
                    excerpt(fields[to]),
                    fields[to_port]
                ));
            }
        }
        Ok(found)
    }

    /// Two intervals that overlap: the line of the one that fewer rows have, or else comes later, and what is wrong.
    fn overlap(&self) -> Option<(usize, String)> {
        let mut last: Option<(&(u64, u64), &Rows)> = None;
        for next in &self.intervals {
            if let Some(last) = last.filter(|((_, end), _)| next.0.0 < *end) {
                let doubtful = |(_, rows): &(&(u64, u64), &Rows)| (rows.count, std::cmp::Reverse(rows.line));
                let (odd, other) =
                    if doubtful(&last) < doubtful(&next) { (last, next) } else { (next, last) };
                let ((from, to), (start, end)) = (odd.0, other.0);
                let message = format!(
                    "the interval {from} to {to} overlaps {start} to {end} of line {}: expected one after the other",
                    other.1.line
                );
                return Some((odd.1.line, message));
            }
            last = Some(next);
        }
        None
    }

    /// Numbers of links are every fabric's: if most of them are not there, the table may be another's.
    fn suspicion(&self) -> Option<Finding> {
        if self.header.ends.is_some() || self.header.simulated {
            return None;
        }
        let lanes = || self.intervals.values().flat_map(|rows| rows.lanes.values());
        let read: Vec<bool> =
            self.fabric.links().map(|link| lanes().any(|lane| lane.seen[link.index()])).collect();
        let unread = unread(self.fabric, &read, Scope::All)?;
        let text = format!("this looks like another fabric's file, or only a part of this one's: {unread}");
        Some(Finding { kind: "other-fabric", line: None, text })
    }

    /// Where rows of zeros are left out, a lane that an interval does not name carried nothing.
    fn fill_in(&mut self) {
        if !self.header.simulated {
            return;
        }
        let mut lanes: Vec<Option<u8>> =
            self.intervals.values().flat_map(|rows| rows.lanes.keys().copied()).collect();
        lanes.sort_unstable();
        lanes.dedup();
        let (links, columns) = (self.fabric.link_count(), self.header.quantities.len());
        for rows in self.intervals.values_mut() {
            for &lane in &lanes {
                rows.lanes.entry(lane).or_insert_with(|| Lane::new(links, columns));
            }
        }
    }

    fn counters(mut self) -> Result<Counters, String> {
        self.fill_in();
        let mut counters = Counters::new(self.fabric, self.tick_ps);
        let absent = if self.header.simulated { Quality::GOOD } else { Quality::MISSING };
        for ((start_ns, end_ns), Rows { routes, lanes, .. }) in self.intervals {
            let mut columns = Vec::new();
            for (lane, mut rows) in lanes {
                for (which, &(quantity, _)) in self.header.quantities.iter().enumerate() {
                    let values = std::mem::take(&mut rows.values[which]);
                    let mut quality = std::mem::take(&mut rows.quality[which]);
                    for (quality, _) in quality.iter_mut().zip(&rows.seen).filter(|(_, seen)| !**seen) {
                        *quality = absent;
                    }
                    if quality.iter().all(|&q| q == Quality::GOOD) {
                        quality = Vec::new();
                    }
                    columns.push(Column { quantity, lane, values, quality });
                }
            }
            let interval = Interval { start_ns, end_ns, routes, columns };
            counters.push(interval).map_err(|e| e.to_string())?;
        }
        Ok(counters)
    }
}

/// A count; tools that know no whole numbers with gaps write `12.0`.
fn count(field: &str, what: &str) -> Result<u64, String> {
    if let Ok(value) = field.parse() {
        return Ok(value);
    }
    match field.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.fract() == 0.0 && value < 9e15 => Ok(value as u64),
        _ => Err(format!("expected {what} as a whole number from 0, found \"{}\"", excerpt(field))),
    }
}

/// The flags of one quantity in `xmit_bytes=saturated+reset rcv_bytes=conflict`.
fn flags(doubts: &str, quantity: Quantity) -> Result<Quality, String> {
    let mut found = Quality::GOOD;
    for doubt in doubts.split_ascii_whitespace() {
        let parsed = doubt.split_once('=').and_then(|(name, words)| {
            let all = words.split('+').map(|word| Quality::FLAGS.iter().find(|(_, name)| *name == word));
            let all: Option<Vec<Quality>> = all.map(|flag| flag.map(|(flag, _)| *flag)).collect();
            Quantity::ALL.iter().find(|q| q.name() == name).zip(all)
        });
        let Some((&of, words)) = parsed else {
            return Err(format!(
                "expected quality as in \"xmit_bytes=saturated+reset\", found \"{}\"",
                excerpt(doubt)
            ));
        };
        if of == quantity {
            found = words.into_iter().fold(found, Quality::with);
        }
    }
    Ok(found)
}

/// Writes counters; links by number and by the names of their ends. Rows of which nothing was read are left out.
pub fn write_counter_table(fabric: &Fabric, counters: &Counters) -> Vec<u8> {
    let known = |q: &Quantity| counters.intervals().iter().flat_map(|i| &i.columns).any(|c| c.quantity == *q);
    let quantities: Vec<Quantity> = Quantity::ALL.into_iter().filter(known).collect();
    let tick = counters.tick_ps().filter(|_| quantities.contains(&Quantity::WaitTicks));
    let mut out = String::from("start_ns,end_ns,routes,link,from,from_port,to,to_port,lane");
    for quantity in &quantities {
        out.push(',');
        out.push_str(quantity.name());
    }
    out.push_str(if tick.is_some() { ",tick_ps,quality\n" } else { ",quality\n" });
    let ends: Vec<String> = fabric
        .links()
        .map(|link| {
            let l = fabric.link(link);
            let (from, to) = (quoted(fabric.node_name(l.from)), quoted(fabric.node_name(l.to)));
            format!("{},{from},{},{to},{}", link.0, l.from_port, l.to_port)
        })
        .collect();
    let tick = tick.map(|ps| format!("{ps},")).unwrap_or_default();
    for interval in counters.intervals() {
        let mut lanes: Vec<Option<u8>> = interval.columns.iter().map(|c| c.lane).collect();
        lanes.sort_unstable();
        lanes.dedup();
        let head = format!("{},{},{},", interval.start_ns, interval.end_ns, interval.routes);
        for link in fabric.links() {
            for &lane in &lanes {
                let columns: Vec<_> = quantities.iter().map(|&q| interval.column(q, lane)).collect();
                let quality = |c: &Option<&Column>| c.map_or(Quality::MISSING, |c| c.quality(link));
                if columns.iter().all(|c| quality(c) == Quality::MISSING) {
                    continue;
                }
                out.push_str(&head);
                out.push_str(&ends[link.index()]);
                out.push(',');
                if let Some(lane) = lane {
                    out.push_str(&lane.to_string());
                }
                let mut doubts = String::new();
                for (column, quantity) in columns.iter().zip(&quantities) {
                    out.push(',');
                    let quality = quality(column);
                    if let Some(column) = column.filter(|_| quality.is_read()) {
                        out.push_str(&column.values[link.index()].to_string());
                    }
                    if !matches!(quality, Quality::GOOD | Quality::MISSING) {
                        let words: Vec<&str> = quality.names().collect();
                        let space = if doubts.is_empty() { "" } else { " " };
                        doubts += &format!("{space}{}={}", quantity.name(), words.join("+"));
                    }
                }
                out.push(',');
                out.push_str(&tick);
                out.push_str(&doubts);
                out.push('\n');
            }
        }
    }
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, SwitchSpec};

    use super::*;

    /// Hosts "h,1" and h2 on a switch: links 0 and 1 leave the hosts, 2 and 3 the switch.
    fn fabric() -> Fabric {
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec::new("s", 1, 2));
        for (i, name) in [(1, "h,1"), (2, "h2")] {
            let h = b.host(HostSpec::new(name, 16 * u64::from(i)));
            b.cable(End::Switch(s, i), End::Host(h), 1e9);
        }
        b.build().unwrap()
    }

    fn read(text: &str) -> Result<Counters, String> {
        let file = read_counter_table(text.as_bytes(), "c.csv", &fabric()).map_err(|e| e.to_string())?;
        let CountersContent::Intervals(counters) = file.content else { panic!("intervals") };
        Ok(counters)
    }

    #[test]
    fn what_is_written_reads_back() {
        let mut counters = Counters::new(&fabric(), Some(1000));
        let doubts = vec![
            Quality::GOOD,
            Quality::MISSING,
            Quality::SATURATED.with(Quality::RESET),
            Quality::UNSUPPORTED,
        ];
        for start in [0, 10] {
            let whole = |quantity| Column::good(quantity, None, vec![1, 2, 3, u64::MAX]);
            let lane = Column {
                quantity: Quantity::RcvBytes,
                lane: Some(3),
                values: vec![7, 0, 9, 0],
                quality: doubts.clone(),
            };
            let rest = Quantity::ALL.into_iter().filter(|&q| q != Quantity::RcvBytes).map(|q| Column {
                quality: vec![Quality::MISSING; 4],
                ..Column::good(q, Some(3), vec![0; 4])
            });
            let mut columns: Vec<Column> =
                Quantity::ALL.into_iter().map(whole).chain(rest).chain([lane]).collect();
            columns.sort_by_key(|c| (c.lane, Quantity::ALL.iter().position(|&q| q == c.quantity)));
            counters.push(Interval { start_ns: start, end_ns: start + 10, routes: 1, columns }).unwrap();
        }
        let written = write_counter_table(&fabric(), &counters);
        let text = String::from_utf8(written.clone()).unwrap();
        assert!(text.contains("\n0,10,1,2,s,1,\"h,1\",1,3,,9,,,,1000,rcv_bytes=saturated+reset\n"), "{text}");
        assert_eq!(read(&text).unwrap(), counters);
    }

    #[test]
    fn the_simulator_leaves_rows_of_zeros_out() {
        let text = "start_ps,end_ps,link,lane,xmit_bytes,xmit_packets,rcv_bytes,rcv_packets,wait_ticks\n\
                    0,1500,2,255,8,1,8,1,0\n0,1500,2,0,8,1,8,1,0\n1500,2000,1,255,5,1,5,1,3\n";
        let counters = read(text).unwrap();
        assert_eq!(counters.tick_ps(), Some(1000));
        let [first, second] = counters.intervals() else { panic!("two intervals") };
        assert_eq!((first.start_ns, first.end_ns, second.end_ns), (0, 2, 2));
        let sent = first.column(Quantity::XmitBytes, None).unwrap();
        assert_eq!((sent.values.as_slice(), sent.quality.len()), (&[0, 0, 8, 0][..], 0));
        // Nor does the second interval name lane 0.
        assert_eq!(second.column(Quantity::WaitTicks, Some(0)).unwrap().values, [0; 4]);
    }

    #[test]
    fn the_whole_link_is_no_lane_however_it_is_written() {
        let counters = read("start_ps,end_ps,link,lane,xmit_packets\n0,1500,2,+255,8\n").unwrap();
        assert!(counters.intervals()[0].column(Quantity::XmitPackets, None).is_some());
    }

    #[test]
    fn elsewhere_a_row_that_is_not_there_was_not_read() {
        let counters = read("from,from_port,to,to_port,xmit_bytes\n\"h,1\",1,s,1,12.0\ns,2,h2,1,\n").unwrap();
        let sent = counters.intervals()[0].column(Quantity::XmitBytes, None).unwrap();
        assert_eq!(sent.values, [12, 0, 0, 0]);
        let missing = Quality::MISSING;
        assert_eq!(sent.quality, [Quality::GOOD, missing, missing, missing]);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let bad = |header: &str, row: &str| read(&format!("{header}\n{row}\n")).unwrap_err();
        assert_eq!(bad("link,xmit_bytes", "4,1"), "c.csv:2: expected links below 4, found 4");
        assert_eq!(bad("link,xmit_bytes", "1"), "c.csv:2: expected 2 fields, found 1");
        for value in ["-1", "nan", "1.5", "x", "1e300"] {
            let expected =
                format!("c.csv:2: expected xmit_bytes as a whole number from 0, found \"{value}\"");
            assert_eq!(bad("link,xmit_bytes", &format!("1,{value}")), expected);
        }
        let ends = "from,from_port,to,to_port,rcv_bytes";
        assert_eq!(bad(ends, "s,9,h2,1,1"), "c.csv:2: the fabric has no cable at s[9]");
        assert_eq!(
            bad(ends, "s,1,h2,1,1"),
            "c.csv:2: these counters are of another fabric: expected s[1] -> h,1[1], found s[1] -> h2[1]"
        );
        assert_eq!(
            bad("link,xmit_bytes", "1,1\n1,2"),
            "c.csv:3: h2[1] -> s[2] is there twice in one interval and lane"
        );
        assert!(bad("link,lane,xmit_bytes", "1,256,1").contains("expected a lane below 255"));
        assert!(
            bad("start_ns,end_ns,link,xmit_bytes", "5,4,1,1").contains("ends after its start, found 5 to 4")
        );
        assert!(
            bad("start_ns,end_ns,routes,link,xmit_bytes", "0,1,0,1,1\n0,1,1,2,1")
                .contains("expected routing 0")
        );
        assert!(bad("link,xmit_bytes,quality", "1,1,xmit_bytes=odd").contains("found \"xmit_bytes=odd\""));
        assert!(bad("link,lane", "1,1").starts_with("c.csv:1: expected a header with link"));
        assert_eq!(
            bad("link,rcv_bytes,xmit_bites", "1,1,1"),
            "c.csv:1: unknown column \"xmit_bites\", did you mean \"xmit_bytes\"?"
        );
        assert!(
            bad("link,bytes", "1,1")
                .starts_with("c.csv:1: unknown column \"bytes\": expected start_ns, end_ns")
        );
        assert_eq!(bad("link,lane,xmit_bytes,Lane", "1,,1,"), "c.csv:1: the column lane is there twice");
        assert_eq!(read("link,xmit_bytes\n").unwrap_err(), "c.csv: expected rows of counters, found none");
    }

    #[test]
    fn of_intervals_that_overlap_the_one_that_few_rows_have_is_named() {
        let table = |ends: [u64; 4]| {
            let rows = ends.iter().enumerate().map(|(link, end)| format!("0,{end},{link},1\n"));
            format!("start_ns,end_ns,link,xmit_bytes\n{}", rows.collect::<String>())
        };
        assert_eq!(
            read(&table([60, 60, 70, 60])).unwrap_err(),
            "c.csv:4: the interval 0 to 70 overlaps 0 to 60 of line 2: expected one after the other"
        );
        assert_eq!(
            read(&table([50, 60, 60, 60])).unwrap_err(),
            "c.csv:2: the interval 0 to 50 overlaps 0 to 60 of line 3: expected one after the other"
        );
        assert!(read(&table([60, 60, 70, 70])).unwrap_err().starts_with("c.csv:4: the interval 0 to 70"));
        let next = "start_ns,end_ns,link,xmit_bytes\n0,60,1,1\n60,60,1,1\n60,70,1,1\n";
        assert_eq!(read(next).unwrap().intervals().len(), 3);
    }

    #[test]
    fn a_table_by_numbers_that_leaves_most_out_is_told() {
        let notes = |text: &str| {
            let file = read_counter_table(text.as_bytes(), "c.csv", &fabric()).unwrap();
            file.notes.into_iter().map(|note| note.text).collect::<Vec<_>>()
        };
        let told = notes("link,xmit_bytes\n2,1\n");
        assert!(told[0].ends_with(": 3 of the fabric's 4 ports were not read"), "{told:?}");
        assert_eq!(told.len(), 1);
        assert!(notes("link,xmit_bytes\n2,1\n3,1\n").is_empty());
        assert!(notes("from,from_port,to,to_port,xmit_bytes\ns,1,\"h,1\",1,5\n").is_empty());
    }
}
