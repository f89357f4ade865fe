//! Definitions of an OTF2 archive: the anchor, what all locations share, and what one has of its own.

use std::collections::HashMap;

use super::records::{NONE, Records};
use crate::FormatError;

/// Numbers of records, in definitions of all and of one location.
const MAPPING: u8 = 5;
const CLOCK_OFFSET: u8 = 6;
const CLOCK: u8 = 5;
const STRING: u8 = 10;
const NODE: u8 = 12;
const LOCATION_GROUP: u8 = 13;
const LOCATION: u8 = 14;
const REGION: u8 = 15;
const GROUP: u8 = 18;
const COMMUNICATOR: u8 = 22;

/// What a table of numbers maps.
const OF_REGIONS: u8 = 3;
const OF_COMMUNICATORS: u8 = 6;
/// The paradigm of MPI.
const MPI: u8 = 4;

/// The anchor file.
pub(super) struct Anchor {
    /// Bytes of a chunk of events, and of definitions.
    pub chunks: [u64; 2],
    pub creator: String,
}

/// Reads the anchor file.
pub(super) fn anchor(data: &[u8], label: &str) -> Result<Anchor, FormatError> {
    let mut records = Records::new(data, label, 0)?;
    let at = records.bytes.at;
    let magic = records.text("OTF2's mark")?;
    if magic != "OTF2" {
        records.bytes.at = at;
        return Err(records.bytes.wrong("OTF2's mark, found another"));
    }
    let format = records.bytes.u8("a version")?;
    records.bytes.u8("a version")?;
    let version =
        [records.bytes.u8("a version")?, records.bytes.u8("a version")?, records.bytes.u8("a version")?];
    if !(1..=3).contains(&format) || !(1..=3).contains(&version[0]) {
        let found = format!("OTF2 1 to 3, found {}.{}.{}", version[0], version[1], version[2]);
        return Err(records.bytes.wrong(&found));
    }
    let chunks = [records.fixed64("a chunk's size")?, records.fixed64("a chunk's size")?];
    if chunks.iter().any(|&size| !(64..=1 << 30).contains(&size)) {
        return Err(records.bytes.wrong("chunks of 64 B to 1 GiB, found others"));
    }
    for (known, what) in
        [("files", "files of its own for each location"), ("plain", "files that are not compressed")]
    {
        let found = records.bytes.u8(known)?;
        if found != 1 {
            return Err(records.bytes.wrong(&format!("{what}, found kind {found}")));
        }
    }
    records.fixed64("a number of locations")?;
    records.fixed64("a number of definitions")?;
    records.text("a machine")?;
    let creator = records.text("what wrote it")?;
    records.text("a description")?;
    if format > 1 {
        for _ in 0..records.fixed32("a number of properties")? {
            records.text("a property")?;
            records.text("a property")?;
        }
        records.fixed64("a trace's number")?;
    }
    if format > 2 {
        records.fixed32("a number of snapshots")?;
        records.fixed32("a number of thumbnails")?;
    }
    if records.next()?.is_some() {
        records.bytes.at -= 1;
        return Err(records.bytes.wrong("the end of the anchor, found more"));
    }
    Ok(Anchor { chunks, creator })
}

/// What all locations share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Ticks a second, the first tick, and that time since 1970 in ns.
    pub clock: Option<(u64, u64, u64)>,
    pub strings: HashMap<u64, String>,
    /// Names of nodes; location groups with their node; locations with their group.
    nodes: HashMap<u64, u64>,
    groups: HashMap<u64, u64>,
    pub locations: Vec<(u64, u64)>,
    /// Names of regions.
    pub regions: HashMap<u64, u64>,
    /// Groups with their type and members, those of MPI only.
    members: HashMap<u64, (u8, Vec<u64>)>,
    /// Communicators with their group.
    pub communicators: Vec<(u64, u64)>,
}

/// Types of groups.
const ALL: u8 = 4;
const SOME: u8 = 5;
const ALONE: u8 = 6;

/// Who is in a communicator.
pub(super) enum Members {
    Known(Vec<u32>),
    /// Each rank alone.
    Alone,
    Untold,
}

impl Shared {
    /// The location of each rank.
    pub fn ranks(&self) -> &[u64] {
        self.members.values().find(|(kind, _)| *kind == ALL).map_or(&[], |(_, members)| members)
    }

    /// Members of a communicator, of so many ranks.
    pub fn members(&self, group: u64, ranks: u32) -> Members {
        match self.members.get(&group) {
            Some((SOME, members)) => {
                let known = members.iter().map(|&rank| u32::try_from(rank).ok().filter(|&rank| rank < ranks));
                known.collect::<Option<Vec<_>>>().map_or(Members::Untold, Members::Known)
            }
            Some((ALL, _)) => Members::Known((0..ranks).collect()),
            Some((ALONE, _)) => Members::Alone,
            _ => Members::Untold,
        }
    }

    /// The name of the node that a location is on.
    pub fn host(&self, location: u64) -> Option<String> {
        let group = self.locations.iter().find(|(own, _)| *own == location)?.1;
        self.strings.get(self.nodes.get(self.groups.get(&group)?)?).filter(|name| !name.is_empty()).cloned()
    }
}

/// Reads what all locations share.
pub(super) fn shared(data: &[u8], label: &str, chunk: u64) -> Result<Shared, FormatError> {
    let mut records = Records::new(data, label, chunk)?;
    let mut found = Shared::default();
    while let Some(record) = records.next()? {
        let end = records.length()?;
        let mut number = || records.number("a definition's number");
        match record {
            CLOCK => {
                let (resolution, offset, _) = (number()?, number()?, number()?);
                let since = if records.bytes.at < end { records.number("a time")? } else { NONE };
                if resolution == 0 {
                    return Err(records.bytes.wrong("ticks a second, found 0"));
                }
                found.clock = Some((resolution, offset, if since == NONE { 0 } else { since }));
            }
            STRING => {
                let own = number()?;
                let text = records.text("a text")?;
                found.strings.insert(own, text);
            }
            NODE => {
                let (own, name) = (number()?, number()?);
                found.nodes.insert(own, name);
            }
            LOCATION_GROUP => {
                let (own, _) = (number()?, number()?);
                records.bytes.u8("a type")?;
                found.groups.insert(own, records.number("a node")?);
            }
            LOCATION => {
                let (own, _) = (number()?, number()?);
                records.bytes.u8("a type")?;
                records.number("a number of events")?;
                found.locations.push((own, records.number("a location's group")?));
            }
            REGION => {
                let (own, name) = (number()?, number()?);
                found.regions.insert(own, name);
            }
            GROUP => group(&mut records, end, &mut found)?,
            COMMUNICATOR => {
                let (own, _, group) = (number()?, number()?, number()?);
                found.communicators.push((own, group));
            }
            _ => {}
        }
        records.at_most(end)?;
    }
    Ok(found)
}

fn group(records: &mut Records, end: usize, found: &mut Shared) -> Result<(), FormatError> {
    let (own, _) = (records.number("a group")?, records.number("a name")?);
    records.bytes.u8("a type")?;
    let count = records.number("a number of members")?;
    if count > records.bytes.left() as u64 {
        return Err(records.bytes.wrong(&format!("members that the file has, found {count}")));
    }
    let members = (0..count).map(|_| records.number("a member")).collect::<Result<Vec<_>, _>>()?;
    if records.bytes.at >= end {
        return Err(records
            .bytes
            .wrong("groups with their paradigm, as OTF2 1.2 and later write them, found none"));
    }
    let (kind, paradigm) = (records.bytes.u8("a type")?, records.bytes.u8("a paradigm")?);
    if paradigm == MPI {
        found.members.insert(own, (kind, members));
    }
    Ok(())
}

impl Records<'_> {
    /// Goes on behind a record that ends there.
    fn at_most(&mut self, end: usize) -> Result<(), FormatError> {
        if self.bytes.at > end {
            return Err(self.bytes.wrong(&format!("a record that ends at byte {end}, found a longer one")));
        }
        self.bytes.at = end;
        Ok(())
    }
}

/// What a location has of its own: its numbers of regions and communicators, and how far its clock is off.
#[derive(Debug, Default)]
pub(super) struct Own {
    regions: Mapping,
    communicators: Mapping,
    /// Ticks, and ticks to be added there.
    offsets: Vec<(u64, i64)>,
    /// The interval that time is in.
    at: usize,
}

#[derive(Debug, Default)]
struct Mapping(HashMap<u64, u64>);

impl Mapping {
    fn get(&self, own: u64) -> u64 {
        *self.0.get(&own).unwrap_or(&own)
    }
}

impl Own {
    pub fn region(&self, own: u64) -> u64 {
        self.regions.get(own)
    }

    pub fn communicator(&self, own: u64) -> u64 {
        self.communicators.get(own)
    }

    /// A time by the clock that all share.
    #[inline]
    pub fn corrected(&mut self, ticks: u64) -> u64 {
        if self.offsets.is_empty() {
            return ticks;
        }
        while self.at + 2 < self.offsets.len() && ticks > self.offsets[self.at + 1].0 {
            self.at += 1;
        }
        let (from, offset) = self.offsets[self.at];
        let slope = self.offsets.get(self.at + 1).map_or(0.0, |&(to, other)| {
            if to > from { other.wrapping_sub(offset) as f64 / (to - from) as f64 } else { 0.0 }
        });
        let since = ticks as i128 - i128::from(from);
        ticks.wrapping_add_signed(offset.wrapping_add((slope * since as f64).round_ties_even() as i64))
    }
}

/// Reads what a location has of its own.
pub(super) fn own(data: &[u8], label: &str, chunk: u64) -> Result<Own, FormatError> {
    let mut records = Records::new(data, label, chunk)?;
    let mut found = Own::default();
    while let Some(record) = records.next()? {
        let end = records.length()?;
        match record {
            MAPPING => {
                let kind = records.bytes.u8("what is mapped")?;
                let (count, sparse) =
                    (records.number("a number of entries")?, records.bytes.u8("a table")? == 1);
                if count > records.bytes.left() as u64 {
                    return Err(records.bytes.wrong(&format!("entries that the file has, found {count}")));
                }
                let mut table = HashMap::new();
                for entry in 0..count {
                    let from = if sparse { records.number("an entry")? } else { entry };
                    table.insert(from, records.number("an entry")?);
                }
                match kind {
                    OF_REGIONS => found.regions = Mapping(table),
                    OF_COMMUNICATORS => found.communicators = Mapping(table),
                    _ => {}
                }
            }
            CLOCK_OFFSET => {
                let ticks = records.fixed64("a time")?;
                let offset = records.number("an offset")? as i64;
                found.offsets.push((ticks, offset));
            }
            _ => {}
        }
        records.at_most(end)?;
    }
    found.offsets.sort_unstable();
    Ok(found)
}
