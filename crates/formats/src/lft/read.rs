//! Forwarding tables from OpenSM's dump, `dump_fts`, `dump_fts -n` (no destinations), the minimal form, or `.fdbs`.
//!
//! OpenSM's and ibdiagnet's `.fdbs` has other headers (`osm_ucast_mgr_dump_ucast_routes: Switch 0x2c90200000000`), colons between its
//! columns (`0x0001 : 005  : 01   : yes`) and `UNREACHABLE` for no way.
//!
//! Entries are kept by LID first; which destination a LID stands for is decided when all of the file is known:
//! by the port GUID in the comments where there is one (as OpenSM does), else by the fabric's LIDs.
//!
//! Refused: what is no such file, a switch that is not in the fabric, a LID that cannot be. Everything that
//! OpenSM would accept or skip silently is a [`LftFault`], for the caller to judge.

use std::collections::HashMap;

use netloom_model::{DestId, DestSpace, Fabric, HostId, Lft, Routes, SwitchId};

use crate::error::{FormatError, excerpt};
use crate::text::{Cursor, last_line, parse_hex, text};

use super::lids::MAX_LID;

/// "No way" in a table: the same as no entry.
const NO_PATH: u32 = 255;

/// What a table of a `.fdbs` begins with.
const FDBS_HEADER: &str = "osm_ucast_mgr_dump_ucast_routes: Switch ";

/// How many faults of one kind are listed one by one.
const LISTED: usize = 1000;

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LftFaultKind {
    /// A port above the switch's radix. OpenSM drops the whole file for it. Read as no entry.
    PortAboveRadix,
    /// A port that nothing is cabled to, or whose cable is dead; or port 0 for somebody else's LID: a black hole.
    PortToNowhere,
    /// A LID that neither the fabric nor a port GUID in the file explains. Left out.
    UnknownLid,
    /// An entry, or a switch's table, that comes twice; the last counts.
    Duplicate,
    /// A LID with a port GUID that is not in the fabric, or with two of them.
    Conflict,
    /// A line that OpenSM would skip silently.
    StrayLine,
}

impl LftFaultKind {
    /// The kind as files and tables spell it.
    pub fn name(self) -> &'static str {
        match self {
            LftFaultKind::PortAboveRadix => "port-above-radix",
            LftFaultKind::PortToNowhere => "port-to-nowhere",
            LftFaultKind::UnknownLid => "unknown-lid",
            LftFaultKind::Duplicate => "duplicate",
            LftFaultKind::Conflict => "conflict",
            LftFaultKind::StrayLine => "stray-line",
        }
    }

    /// Whether packets would be lost: routes with such an entry are not fit for use.
    pub fn breaks_routes(self) -> bool {
        matches!(self, LftFaultKind::PortAboveRadix | LftFaultKind::PortToNowhere | LftFaultKind::Conflict)
    }
}

/// An entry that cannot be right, though the file can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LftFault {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong with it, in words.
    pub text: String,
    /// What is wrong with it.
    pub kind: LftFaultKind,
}

/// Forwarding tables as read.
#[derive(Clone, Debug)]
pub struct LftFile {
    /// The tables; missing entries are missing.
    pub routes: Routes,
    /// What cannot be right, in order of lines; at most 1000 of a kind.
    pub faults: Vec<LftFault>,
    /// How many faults there are, those not listed included.
    pub faults_total: usize,
}

/// Reads forwarding tables, plain or gzip, of `fabric`.
///
/// # Errors
/// Not such a file, truncated, a switch that is not in the fabric, a LID outside 1..=0xbfff, an entry that cannot
/// be read.
pub fn read_lfts(bytes: &[u8], label: &str, fabric: &Fabric) -> Result<LftFile, FormatError> {
    let text = text(bytes, label)?;
    let mut reader = Reader::new(fabric, label, last_line(&text));
    for (i, line) in text.lines().enumerate() {
        reader.line(i + 1, line.trim_ascii())?;
    }
    reader.finish()
}

struct Reader<'f, 'l> {
    fabric: &'f Fabric,
    label: &'l str,
    last_line: usize,
    switches: HashMap<u64, SwitchId>,
    /// The switch whose table is being read; `None` before the first and inside multicast tables.
    current: Option<SwitchId>,
    multicast: bool,
    /// `[switch]` -> line of its header (0: no table).
    headers: Vec<usize>,
    /// `[switch][LID]`: ports, 255 = none; as long as the highest LID seen.
    rows: Vec<Vec<u8>>,
    /// `[LID]`: port GUID in the comments (0: none), and the first line that has the LID (0: none).
    guids: Vec<u64>,
    first_lines: Vec<u32>,
    /// LIDs of routers and aggregation nodes: no part of the fabric, and no fault.
    left_out: Vec<bool>,
    /// Entries with port 0: (switch, LID, line).
    zeros: Vec<(SwitchId, u16, usize)>,
    /// Whether tables end with a count, and the current one has.
    counts: bool,
    counted: bool,
    faults: Vec<LftFault>,
    fault_counts: [usize; 6],
}

impl<'f, 'l> Reader<'f, 'l> {
    fn new(fabric: &'f Fabric, label: &'l str, last_line: usize) -> Self {
        let lids = usize::from(MAX_LID) + 1;
        Self {
            fabric,
            label,
            last_line,
            switches: fabric.switches().map(|s| (fabric.switch_guid(s), s)).collect(),
            current: None,
            multicast: false,
            headers: vec![0; fabric.switch_count()],
            rows: vec![Vec::new(); fabric.switch_count()],
            guids: vec![0; lids],
            first_lines: vec![0; lids],
            left_out: vec![false; lids],
            zeros: Vec::new(),
            counts: false,
            counted: false,
            faults: Vec::new(),
            fault_counts: [0; 6],
        }
    }

    fn fault(&mut self, kind: LftFaultKind, line: usize, text: impl FnOnce() -> String) {
        self.fault_counts[kind as usize] += 1;
        if self.fault_counts[kind as usize] <= LISTED {
            self.faults.push(LftFault { line, text: text(), kind });
        }
    }

    fn line(&mut self, number: usize, line: &str) -> Result<(), FormatError> {
        if line.starts_with("0x") {
            return if self.multicast { Ok(()) } else { self.entry(number, line) };
        }
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if line.starts_with("Unicast lids") {
            return self.header(number, line);
        }
        if let Some(guid) = line.strip_prefix(FDBS_HEADER) {
            let mut cursor = Cursor::new(guid);
            let whole =
                cursor.hex().filter(|_| cursor.rest.is_empty() || cursor.rest.starts_with([' ', '(']));
            let expected = "\"osm_ucast_mgr_dump_ucast_routes: Switch 0xGUID\"";
            return self.table_of(number, whole, expected, line);
        }
        if line.starts_with("Multicast mlids") || line.starts_with("switch ") && line.contains("mlid") {
            (self.current, self.multicast) = (None, true);
            return Ok(());
        }
        if line.ends_with("lids dumped") {
            (self.counts, self.counted) = (true, true);
            return Ok(());
        }
        let title = ["Lid ", "Port ", "LID "].iter().any(|title| line.starts_with(title));
        if number == self.last_line && self.headers.iter().any(|&h| h > 0) && "Unicast lids".starts_with(line)
        {
            return Err(self.error(number, format!("truncated: expected a whole line, found \"{line}\"")));
        }
        if !title && !self.multicast {
            self.fault(LftFaultKind::StrayLine, number, || {
                format!("not a line of a forwarding table, ignored: \"{}\"", excerpt(line))
            });
        }
        Ok(())
    }

    fn header(&mut self, number: usize, line: &str) -> Result<(), FormatError> {
        let guid = line.find(" guid 0x").and_then(|at| {
            let mut cursor = Cursor::new(&line[at + 6..]);
            let guid = cursor.hex()?;
            (cursor.rest.is_empty() || cursor.rest.starts_with([' ', '\t', ':'])).then_some(guid)
        });
        self.table_of(number, guid, "\"Unicast lids ... guid 0xGUID\"", line)
    }

    /// Begins the table of a switch.
    fn table_of(
        &mut self,
        number: usize,
        guid: Option<u64>,
        expected: &str,
        line: &str,
    ) -> Result<(), FormatError> {
        let Some(guid) = guid else {
            return Err(self.error(number, format!("expected {expected}, found \"{}\"", excerpt(line))));
        };
        let Some(&switch) = self.switches.get(&guid) else {
            let name = line.rfind('(').map_or("", |at| line[at..].trim_end_matches(':'));
            let message = format!(
                "expected a switch of the fabric ({} of them), found GUID 0x{guid:016x} {name}",
                self.fabric.switch_count()
            );
            return Err(self.error(number, message.trim_end().to_owned()));
        };
        let earlier = self.headers[switch.index()];
        if earlier > 0 {
            let name = self.fabric.switch_name(switch);
            self.fault(LftFaultKind::Duplicate, number, || {
                format!("a second table of switch \"{name}\" (the first is on line {earlier})")
            });
        }
        self.headers[switch.index()] = number;
        (self.current, self.multicast, self.counted) = (Some(switch), false, false);
        Ok(())
    }

    fn entry(&mut self, number: usize, line: &str) -> Result<(), FormatError> {
        let mut cursor = Cursor::new(line);
        let lid = cursor.hex().filter(|_| cursor.rest.starts_with([' ', '\t']));
        cursor.blanks();
        if cursor.eat(":") && cursor.blanks().eat("UNREACHABLE") {
            return Ok(());
        }
        let port = cursor.blanks().number();
        let ends = cursor.rest.is_empty() || cursor.rest.starts_with([' ', '\t', '#', ':']);
        let (Some(lid), Some(port), true) = (lid, port, ends) else {
            let truncated = if number == self.last_line { "truncated: " } else { "" };
            return Err(
                self.error(number, format!("{truncated}expected 0xLID PORT, found \"{}\"", excerpt(line)))
            );
        };
        if lid == 0 || lid > u64::from(MAX_LID) {
            let message = format!("expected a unicast LID 0x0001 to 0x{MAX_LID:04x}, found 0x{lid:04x}");
            return Err(self.error(number, message));
        }
        let Some(switch) = self.current else {
            let message = "expected a \"Unicast lids ... guid 0xGUID\" line before the first entry";
            return Err(self.error(number, message.to_owned()));
        };
        if port > NO_PATH {
            return Err(self.error(number, format!("expected a port 0 to 255, found {port}")));
        }
        self.comment(number, lid as usize, cursor.rest);
        if port == NO_PATH {
            return Ok(());
        }
        self.set(number, switch, lid as u16, port as u16);
        Ok(())
    }

    /// Remembers whose LID it is.
    #[inline]
    fn comment(&mut self, number: usize, lid: usize, comment: &str) {
        if self.first_lines[lid] == 0 {
            self.first_lines[lid] = number as u32;
        }
        if comment.is_empty() {
            return;
        }
        let Some(at) = comment.find("portguid 0x") else { return };
        let digits = &comment[at + 11..];
        let end = digits.bytes().position(|b| !b.is_ascii_hexdigit()).unwrap_or(digits.len());
        let Some(guid) = parse_hex(&digits[..end]) else { return };
        let known = self.guids[lid];
        if known == guid {
            return;
        }
        if known == 0 {
            self.guids[lid] = guid;
            self.left_out[lid] = comment.contains("Router portguid") || comment.contains("Aggregation Node");
        } else {
            self.fault(LftFaultKind::Conflict, number, || {
                format!(
                    "LID 0x{lid:04x} belongs to port GUID 0x{known:016x} in earlier tables, to 0x{guid:016x} here"
                )
            });
        }
    }

    fn set(&mut self, number: usize, switch: SwitchId, lid: u16, port: u16) {
        let fabric = self.fabric;
        let name = fabric.switch_name(switch);
        if port > fabric.radix(switch) {
            self.fault(LftFaultKind::PortAboveRadix, number, || {
                format!("expected port 0 to {} of \"{name}\", found {port}", fabric.radix(switch))
            });
            return;
        }
        if port == 0 {
            self.zeros.push((switch, lid, number));
        } else if !fabric.link_at(switch, port).is_some_and(|l| fabric.alive(l)) {
            self.fault(LftFaultKind::PortToNowhere, number, || {
                format!("expected a cabled port of \"{name}\" towards LID 0x{lid:04x}, found {port}")
            });
        }
        let row = &mut self.rows[switch.index()];
        if row.len() <= usize::from(lid) {
            row.resize((usize::from(lid) + 1).next_power_of_two(), u8::MAX);
        }
        let entry = &mut row[usize::from(lid)];
        let earlier = *entry;
        *entry = port as u8;
        if earlier != u8::MAX {
            self.fault(LftFaultKind::Duplicate, number, || {
                format!("a second entry of \"{name}\" for LID 0x{lid:04x}: port {earlier}, then {port}")
            });
        }
    }

    fn finish(mut self) -> Result<LftFile, FormatError> {
        if self.headers.iter().all(|&h| h == 0) {
            let message = "expected forwarding tables (\"Unicast lids ... guid 0xGUID\" lines), found none";
            return Err(FormatError::whole(self.label, message));
        }
        if self.counts && !self.counted && self.current.is_some() {
            let message = "truncated: expected \"... lids dumped\" after the last table, as after the others";
            return Err(self.error(self.last_line, message.to_owned()));
        }
        let owners = Owners::new(self.fabric, &self.guids);
        let dests = self.destinations(&owners);
        self.check_zeros(&owners, &dests);
        let lft = self.tables(owners.space, &dests);
        let routes = Routes::by_dest(self.fabric, owners.space.lmc, lft);
        self.faults.sort_by_key(|f| f.line);
        Ok(LftFile { routes, faults: self.faults, faults_total: self.fault_counts.iter().sum() })
    }

    /// The destination of every LID in the file.
    fn destinations(&mut self, owners: &Owners) -> Vec<Option<DestId>> {
        let mut dests = vec![None; self.guids.len()];
        let mut lid_of: Vec<usize> = vec![0; owners.space.count()];
        for (lid, slot) in dests.iter_mut().enumerate() {
            let (line, guid) = (self.first_lines[lid] as usize, self.guids[lid]);
            if line == 0 {
                continue;
            }
            let by_lid = owners.by_lid[lid];
            let by_guid = owners.by_guid(guid, lid);
            if guid != 0 && by_guid.is_none() {
                // The port has gone. A router's or an aggregation node's LID never was a destination here; for
                // any other, OpenSM goes by the LID.
                if self.left_out[lid] {
                    continue;
                }
                if by_lid.is_some() {
                    self.fault(LftFaultKind::Conflict, line, || {
                        format!("port GUID 0x{guid:016x} of LID 0x{lid:04x} is not in the fabric: taken by its LID")
                    });
                }
            }
            let Some(dest) = by_guid.or(by_lid) else {
                self.fault(LftFaultKind::UnknownLid, line, || {
                    format!("LID 0x{lid:04x} belongs to nobody in the fabric: its entries are left out")
                });
                continue;
            };
            let earlier = std::mem::replace(&mut lid_of[dest.index()], lid);
            if earlier != 0 {
                self.fault(LftFaultKind::Duplicate, line, || {
                    format!("LIDs 0x{earlier:04x} and 0x{lid:04x} are the same address: the latter counts")
                });
            }
            *slot = Some(dest);
        }
        dests
    }

    /// Port 0 is right for a switch's own LID, and a black hole for every other.
    fn check_zeros(&mut self, owners: &Owners, dests: &[Option<DestId>]) {
        for (switch, lid, line) in std::mem::take(&mut self.zeros) {
            let own = owners.space.switch(switch);
            if dests[usize::from(lid)].is_some_and(|d| d != own) {
                let name = self.fabric.switch_name(switch);
                self.fault(LftFaultKind::PortToNowhere, line, || {
                    format!("port 0 of \"{name}\" for LID 0x{lid:04x}, which is not its own")
                });
            }
        }
    }

    fn tables(&mut self, space: DestSpace, dests: &[Option<DestId>]) -> Lft {
        let known: Vec<(usize, DestId)> =
            dests.iter().enumerate().filter_map(|(lid, d)| Some((lid, (*d)?))).collect();
        let max_radix = self.fabric.max_radix();
        let narrow = Lft::is_narrow(max_radix);
        let mut narrow_rows = Vec::new();
        let mut wide_rows = Vec::new();
        for row in std::mem::take(&mut self.rows) {
            let mut table = vec![u8::MAX; space.count()];
            for &(lid, dest) in known.iter().take_while(|k| k.0 < row.len()) {
                if row[lid] != u8::MAX {
                    table[dest.index()] = row[lid];
                }
            }
            if narrow {
                narrow_rows.push(table);
            } else {
                let widen = |p: u8| if p == u8::MAX { u16::MAX } else { u16::from(p) };
                wide_rows.push(table.into_iter().map(widen).collect());
            }
        }
        if narrow {
            Lft::from_narrow_rows(narrow_rows, space.count())
        } else {
            Lft::from_rows(wide_rows, space.count(), max_radix)
        }
    }

    fn error(&self, line: usize, message: String) -> FormatError {
        FormatError::at(self.label, line, message)
    }
}

/// Who owns a LID: by the fabric, and by port GUIDs.
struct Owners {
    space: DestSpace,
    /// Whether the fabric's own LIDs have as many addresses a host as the file.
    same_lmc: bool,
    /// By the fabric's own LIDs.
    by_lid: Vec<Option<DestId>>,
    ports: HashMap<u64, Port>,
}

#[derive(Clone, Copy)]
enum Port {
    /// A host, and its base LID in the fabric.
    Host(HostId, Option<u16>),
    Switch(SwitchId),
}

impl Owners {
    fn new(fabric: &Fabric, guids: &[u64]) -> Self {
        let mut ports: HashMap<u64, Port> =
            fabric.hosts().map(|h| (fabric.host_port_guid(h), Port::Host(h, fabric.host_lid(h)))).collect();
        ports.extend(fabric.switches().map(|s| (fabric.switch_guid(s), Port::Switch(s))));
        let lmc = fabric.lmc().max(lmc_of(guids, &ports));
        let space = fabric.dests(lmc);
        let mut by_lid = vec![None; guids.len()];
        // Only what the fabric itself says of a host: with its own LMC.
        for h in fabric.hosts() {
            let Some(base) = fabric.host_lid(h) else { continue };
            for path in 0..1u32 << fabric.lmc() {
                if let Some(slot) = by_lid.get_mut(usize::from(base) + path as usize) {
                    *slot = Some(space.host(h, path));
                }
            }
        }
        for s in fabric.switches() {
            if let Some(slot) = fabric.switch_lid(s).and_then(|lid| by_lid.get_mut(usize::from(lid))) {
                *slot = Some(space.switch(s));
            }
        }
        Self { space, same_lmc: lmc == fabric.lmc(), by_lid, ports }
    }

    /// The destination of a LID whose port GUID is known: the address counts from the base LID where the fabric
    /// has the same one, else the low bits of the LID tell it.
    fn by_guid(&self, guid: u64, lid: usize) -> Option<DestId> {
        match *self.ports.get(&guid)? {
            Port::Switch(s) => Some(self.space.switch(s)),
            Port::Host(h, base) => {
                let paths = 1usize << self.space.lmc;
                let base = base.filter(|_| self.same_lmc);
                let offset = base.and_then(|b| lid.checked_sub(usize::from(b))).filter(|&o| o < paths);
                Some(self.space.host(h, offset.unwrap_or(lid & (paths - 1)) as u32))
            }
        }
    }
}

/// The LMC that a file shows: as many LIDs as half of its hosts have at least (rounded up to a power of two).
fn lmc_of(guids: &[u64], ports: &HashMap<u64, Port>) -> u8 {
    let mut of_hosts: Vec<u64> =
        guids.iter().copied().filter(|g| matches!(ports.get(g), Some(Port::Host(..)))).collect();
    of_hosts.sort_unstable();
    let mut counts: Vec<usize> = of_hosts.chunk_by(|a, b| a == b).map(<[u64]>::len).collect();
    counts.sort_unstable();
    let usual = counts.get(counts.len() / 2).copied().unwrap_or(1);
    usual.next_power_of_two().trailing_zeros().min(7) as u8
}
