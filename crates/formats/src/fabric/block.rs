//! A record a node: `ibnetdiscover`'s form, and ibsim's net files (which are the same with other ids).
//!
//! ```text
//! switchguid=0x2c902000001c0(2c902000001c0)
//! Switch  8 "S-0002c902000001c0"     # "leaf07" base port 0 lid 35 lmc 0
//! [1]     "H-0002c90300000700"[1](2c90300000701)      # "host0028" lid 11 4xEDR
//! Ca      1 "H-0002c90300000100"     # "host0004"
//! [1](2c90300000101)      "S-0002c90200000040"[1]     # lid 5 lmc 0 "leaf01" lid 12 4xEDR
//! ```
//!
//! Blanks may be tabs, spaces or lost; descriptions hold quotes, so the outermost quotes count; lines that
//! belong to no record are findings. Half a line at the end is a truncated dump.

use crate::error::{FormatError, excerpt};
use crate::text::{Cursor, last_line, parse_hex};

use super::FabricKind;
use super::rate::{Rate, Speed};
use super::raw::{MAX_PORTS, Notes, Raw, RawNode, RawPort, Role};

/// Device id of the aggregation nodes (SHARP) that sit in switches.
pub(super) const AGGREGATION_DEVICE: u64 = 0xcf09;

/// Whether a line is a node's header.
pub(super) fn looks_like(line: &str) -> bool {
    header_start(line).is_some()
}

/// Parses all records; unresolved.
pub(super) fn parse<'a>(text: &'a str, label: &str) -> Result<Raw<'a>, FormatError> {
    let mut parser = Parser {
        label,
        last_line: last_line(text),
        ends_open: !text.ends_with('\n'),
        nodes: Vec::new(),
        ports: Vec::new(),
        notes: Notes::default(),
        attributes: Attributes::default(),
        header_rate: NetRate::default(),
        next_guid: [0x10_0000, 0x20_0000, 0x30_0000],
    };
    for (i, line) in text.lines().enumerate() {
        parser.line(i + 1, line.trim_ascii())?;
    }
    let dump = parser.nodes.iter().any(|n| printed_guid(n.id).is_some());
    let kind = if dump { FabricKind::Ibnetdiscover } else { FabricKind::IbsimNet };
    Ok(Raw { kind, nodes: parser.nodes, ports: parser.ports, notes: parser.notes })
}

/// What precedes a header.
#[derive(Default)]
struct Attributes {
    guid: Option<u64>,
    device: Option<u64>,
}

/// ibsim's `width=`, `speed=`, `extspeed=`: bit masks of what ports may use.
#[derive(Clone, Copy, Default)]
struct NetRate {
    width: Option<u32>,
    speed: Option<u32>,
    extended: Option<u32>,
}

impl NetRate {
    /// The best that the masks allow. ibsim's own defaults: 4x, SDR.
    fn rate(self) -> Rate {
        let best = |mask: Option<u32>, choices: &[(u32, Speed)]| {
            mask.and_then(|m| choices.iter().find(|c| m & c.0 != 0)).map(|c| c.1)
        };
        let extended = [(8, Speed::Ndr), (4, Speed::Hdr), (2, Speed::Edr), (1, Speed::Fdr)];
        let plain = [(4, Speed::Qdr), (2, Speed::Ddr), (1, Speed::Sdr)];
        let speed = best(self.extended, &extended).or(best(self.speed, &plain)).unwrap_or(Speed::Sdr);
        let mask = self.width.unwrap_or(3);
        let widths = [(8, 12), (4, 8), (2, 4), (16, 2), (1, 1)];
        let width = widths.iter().find(|w| mask & w.0 != 0).map_or(4, |w| w.1);
        Rate::of(Some(width), Some(speed))
    }
}

struct Parser<'a, 'l> {
    label: &'l str,
    /// The last line that is not blank.
    last_line: usize,
    /// Whether the text ends without a newline.
    ends_open: bool,
    nodes: Vec<RawNode<'a>>,
    ports: Vec<RawPort<'a>>,
    notes: Notes,
    attributes: Attributes,
    header_rate: NetRate,
    /// GUIDs that ibsim would give: adapters, switches, routers.
    next_guid: [u64; 3],
}

impl<'a> Parser<'a, '_> {
    fn line(&mut self, number: usize, line: &'a str) -> Result<(), FormatError> {
        match line.as_bytes() {
            [] | [b'#', ..] => Ok(()),
            [b'[', digit, ..] if digit.is_ascii_digit() => match port_number(line) {
                Some((port, rest)) => self.port(number, line, port, rest),
                None if number == self.last_line && line[1..].bytes().all(|b| b.is_ascii_digit()) => {
                    Err(self.malformed(number, line, "a port line"))
                }
                None => self.stray(number, line),
            },
            _ => {
                if let Some((role, rest)) = header_start(line) {
                    self.header(number, line, role, rest)
                } else if !self.attribute(line) {
                    self.stray(number, line)
                } else {
                    Ok(())
                }
            }
        }
    }

    fn stray(&mut self, number: usize, line: &str) -> Result<(), FormatError> {
        let chassis = ["Chassis", "Non-Chassis", "Hop", "DR path", "module", "pdebug"];
        if !chassis.iter().any(|c| line.starts_with(c)) {
            self.notes.add(
                "stray-text",
                "lines that are not ibnetdiscover's output, ignored",
                number,
                || format!("not a line of ibnetdiscover's output, ignored: \"{}\"", excerpt(line)),
            );
        }
        Ok(())
    }

    /// `key=value` before a header; whether it was one.
    fn attribute(&mut self, line: &str) -> bool {
        let Some((key, value)) = line.split_once('=') else { return false };
        let mut cursor = Cursor::new(value.trim_ascii_start());
        let number = cursor.hex();
        let mask = value.trim_ascii().parse().ok();
        match key.trim_ascii_end() {
            "vendid" | "sysimgguid" => {}
            "devid" => self.attributes.device = number,
            "switchguid" | "caguid" | "rtguid" | "hcaguids" => self.attributes.guid = number,
            "width" => self.header_rate.width = mask,
            "speed" => self.header_rate.speed = mask,
            "extspeed" => self.header_rate.extended = mask,
            _ => return false,
        }
        true
    }

    fn header(&mut self, number: usize, line: &'a str, role: Role, rest: &'a str) -> Result<(), FormatError> {
        let mut cursor = Cursor::new(rest);
        let (Some(ports), true) = (cursor.number(), cursor.blanks().eat("\"")) else {
            return self.stray(number, line);
        };
        let Some(id) = cursor.until('"').filter(|id| !id.is_empty()) else {
            return Err(self.malformed(number, line, "a node"));
        };
        if ports == 0 || ports > MAX_PORTS {
            let message = format!("expected a number of ports 1 to {MAX_PORTS}, found {ports}");
            return Err(FormatError::at(self.label, number, message));
        }
        let comment = Comment::split(cursor.rest);
        let attributes = std::mem::take(&mut self.attributes);
        let name = comment.name.unwrap_or(id);
        let guid = printed_guid(id).or(attributes.guid).unwrap_or_else(|| self.make_guid(role));
        self.count_guid(role, guid, ports);
        // A host may have any name: the description decides only where no device id is printed.
        let aggregation =
            attributes.device.map_or_else(|| is_aggregation(name), |id| id == AGGREGATION_DEVICE);
        let role = if role == Role::Adapter && aggregation { Role::Aggregation } else { role };
        let lid = Fields::parse(comment.tail).lid;
        self.nodes.push(RawNode { line: number, role, id, guid, name, ports: ports as u16, lid });
        Ok(())
    }

    fn make_guid(&self, role: Role) -> u64 {
        self.next_guid[guid_counter(role)]
    }

    /// As ibsim does: a switch takes one GUID, an adapter one and one a port.
    fn count_guid(&mut self, role: Role, guid: u64, ports: u32) {
        let taken = if role == Role::Switch { 1 } else { u64::from(ports) + 1 };
        self.next_guid[guid_counter(role)] = guid.wrapping_add(taken);
    }

    fn port(&mut self, number: usize, line: &'a str, port: u32, rest: &'a str) -> Result<(), FormatError> {
        let Some(node) = self.nodes.last() else {
            return Err(FormatError::at(
                self.label,
                number,
                "expected a Switch, Ca or Rt line before its ports",
            ));
        };
        if port == 0 || port > u32::from(node.ports) {
            let message = format!("expected port 1 to {} of \"{}\", found {port}", node.ports, node.name);
            return Err(FormatError::at(self.label, number, message));
        }
        let mut cursor = Cursor::new(rest);
        let port_guid = brackets(&mut cursor);
        let peer = if cursor.eat("\"") { cursor.until('"').filter(|id| !id.is_empty()) } else { None };
        let peer_port = peer.and_then(|_| {
            let inside = cursor.blanks().eat("[").then(|| cursor.number())?;
            cursor.eat("]").then_some(inside)?
        });
        let (Some(peer), Some(peer_port)) = (peer, peer_port) else {
            return Err(self.malformed(number, line, "[port] \"peer\"[port]"));
        };
        if peer_port == 0 || peer_port > MAX_PORTS {
            let message = format!("expected the peer's port 1 to {MAX_PORTS}, found {peer_port}");
            return Err(FormatError::at(self.label, number, message));
        }
        let peer_port_guid = brackets(&mut cursor);
        let comment = Comment::split(cursor.rest);
        let own = Fields::parse(comment.head);
        let far = Fields::parse(comment.tail);
        // A description without quotes leaves everything in the head.
        let rate = far.rate.or(own.rate);
        let rate = match rate {
            Some(rate) => rate,
            None if printed_guid(peer).is_some() => self.missing_rate(number, line)?,
            None => self.net_rate(comment.before),
        };
        self.ports.push(RawPort {
            line: number,
            node: (self.nodes.len() - 1) as u32,
            port: port as u16,
            port_guid,
            lid: own.lid,
            lmc: own.lmc,
            peer,
            peer_port: peer_port as u16,
            peer_port_guid,
            peer_name: comment.name.unwrap_or_default(),
            peer_lid: far.lid,
            rate,
        });
        Ok(())
    }

    /// A dump's port line without width and speed: half a line, or a tool that printed none.
    fn missing_rate(&mut self, number: usize, line: &str) -> Result<Rate, FormatError> {
        if number == self.last_line && self.ends_open {
            return Err(self.malformed(number, line, "a whole line with width and speed"));
        }
        self.notes.add("no-speed", "port lines without width and speed", number, || {
            format!("expected a width and speed such as 4xEDR at the end, found \"{}\"", excerpt(tail(line)))
        });
        Ok(Rate::default())
    }

    /// ibsim: what the header allows, narrowed by `w=` and `s=` behind the peer.
    fn net_rate(&self, options: &str) -> Rate {
        let mut rate = self.header_rate;
        for word in options.split_ascii_whitespace() {
            match word.split_once('=') {
                Some(("w", mask)) => rate.width = mask.parse().ok().or(rate.width),
                Some(("s", mask)) => rate.speed = mask.parse().ok().or(rate.speed),
                Some(("e", mask)) => rate.extended = mask.parse().ok().or(rate.extended),
                _ => {}
            }
        }
        rate.rate()
    }

    fn malformed(&self, number: usize, line: &str, expected: &str) -> FormatError {
        let truncated = if number == self.last_line { "truncated dump: " } else { "" };
        let message = format!("{truncated}expected {expected}, found \"{}\"", excerpt(line));
        FormatError::at(self.label, number, message)
    }
}

/// The end of a line, where its speed should be.
fn tail(line: &str) -> &str {
    let start = line.char_indices().rev().nth(29).map_or(0, |(i, _)| i);
    &line[start..]
}

fn guid_counter(role: Role) -> usize {
    match role {
        Role::Adapter | Role::Aggregation | Role::Elsewhere => 0,
        Role::Switch => 1,
        Role::Router => 2,
    }
}

/// The GUID inside an id that ibnetdiscover printed: `S-`, `H-` or `R-` and 16 digits.
fn printed_guid(id: &str) -> Option<u64> {
    let digits = id.strip_prefix(['S', 'H', 'R'])?.strip_prefix('-')?;
    if digits.len() == 16 { parse_hex(digits) } else { None }
}

/// Whether a description is that of an aggregation node.
pub(super) fn is_aggregation(name: &str) -> bool {
    name.contains("Aggregation Node")
}

/// `Switch 8 "...`, with or without blanks: the role, and what follows the keyword.
fn header_start(line: &str) -> Option<(Role, &str)> {
    let words =
        [("Switch", Role::Switch), ("Ca", Role::Adapter), ("Hca", Role::Adapter), ("Rt", Role::Router)];
    let (role, rest) = words.into_iter().find_map(|(w, role)| Some((role, line.strip_prefix(w)?)))?;
    let rest = rest.trim_ascii_start();
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    (after.len() < rest.len() && after.trim_ascii_start().starts_with('"')).then_some((role, rest))
}

/// `[12]` and what follows it.
fn port_number(line: &str) -> Option<(u32, &str)> {
    let mut cursor = Cursor::new(line);
    cursor.eat("[");
    let port = cursor.number()?;
    cursor.eat("]").then_some((port, cursor.rest))
}

/// Any `[ext 4]`, `(1/1/1)` and `(2c90300000101)` in a row; the last that is a port GUID.
fn brackets(cursor: &mut Cursor<'_>) -> Option<u64> {
    let mut guid = None;
    loop {
        cursor.blanks();
        let close = if cursor.eat("(") {
            ')'
        } else if cursor.rest.starts_with("[ext") && cursor.eat("[") {
            ']'
        } else {
            return guid;
        };
        let Some(inside) = cursor.until(close) else { return guid };
        guid = parse_hex(inside.trim_ascii()).or(guid);
    }
}

/// What stands around a description: `# head "name" tail`.
struct Comment<'a> {
    before: &'a str,
    head: &'a str,
    name: Option<&'a str>,
    tail: &'a str,
}

impl<'a> Comment<'a> {
    fn split(rest: &'a str) -> Self {
        let (before, comment) = rest.split_once('#').unwrap_or((rest, ""));
        match (comment.find('"'), comment.rfind('"')) {
            (Some(open), Some(close)) if open < close => Self {
                before,
                head: &comment[..open],
                name: Some(&comment[open + 1..close]),
                tail: &comment[close + 1..],
            },
            _ => Self { before, head: comment, name: None, tail: "" },
        }
    }
}

/// `lid n`, `lmc n` and a width with speed, anywhere among other words.
#[derive(Default)]
struct Fields {
    lid: Option<u32>,
    lmc: Option<u32>,
    rate: Option<Rate>,
}

impl Fields {
    fn parse(text: &str) -> Self {
        let mut fields = Self::default();
        let mut words = text.split_ascii_whitespace();
        while let Some(word) = words.next() {
            match word {
                "lid" => fields.lid = words.next().and_then(|w| w.parse().ok()),
                "lmc" => fields.lmc = words.next().and_then(|w| w.parse().ok()),
                _ => fields.rate = Rate::parse(word).or(fields.rate),
            }
        }
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_need_no_blanks() {
        for line in ["Switch\t41 \"S-1\"", "Switch41 \"S-1\"", "Switch 41\"S-1\""] {
            assert_eq!(header_start(line).map(|h| h.0), Some(Role::Switch), "{line}");
        }
        for line in ["Switch", "Chassis 1 (guid 0x2c9)", "Ca \"x\"", "Switches 3 found"] {
            assert!(header_start(line).is_none(), "{line}");
        }
    }

    #[test]
    fn the_outermost_quotes_hold_the_description() {
        let c = Comment::split("\t\t# lid 5 lmc 1 \"a \"quoted\" name\" lid 12 4xEDR s=2 w=3");
        assert_eq!(c.name, Some("a \"quoted\" name"));
        let (own, far) = (Fields::parse(c.head), Fields::parse(c.tail));
        assert_eq!((own.lid, own.lmc, far.lid), (Some(5), Some(1), Some(12)));
        assert_eq!(far.rate, Rate::parse("4xEDR"));
    }

    #[test]
    fn ibsim_masks_allow_their_best() {
        let rate = |w, s, e| NetRate { width: Some(w), speed: Some(s), extended: e }.rate().bytes_per_s();
        assert_eq!(rate(3, 7, Some(3)), Some(12.5e9));
        assert_eq!(rate(3, 7, None), Some(4e9));
        assert_eq!(rate(1, 1, None), Some(0.25e9));
    }

    #[test]
    fn labels_between_port_and_peer_are_stepped_over() {
        let mut c = Cursor::new("[ext 3](1/1/1)(2c90a) \"S-1\"");
        assert_eq!(brackets(&mut c), Some(0x2c90a));
        assert!(c.eat("\"S-1"));
    }
}
