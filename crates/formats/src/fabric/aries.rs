//! The wiring of a Cray XC, as the machine prints it (files called `….interconnect`): a line a tile, 48 tiles a router.
//!
//! ```text
//! c0-0c0s0a0l00(0:0:0) green -> c0-0c0s6a0l10(0:0:6)
//! c0-0c0s0a0l04(0:0:0) blue -> unused
//! c0-0c0s0a0l50(0:0:0) ptile -> processor
//! ```
//!
//! That is: cabinet, chassis, slot, router, tile (row 0 to 5, column 0 to 7); in parentheses group, chassis in the group and
//! slot. Green cables join slots of a chassis, black ones chassis of a group, blue ones groups. Groups are stated, and may leave
//! out numbers.
//!
//! A tile is a port: row · 8 + column + 1. Two processor tiles are a host, in the port of the first: a router has eight, for four
//! network interfaces. Hosts are named as their nodes, `c0-0c0s0n0`; GUIDs are made up, in the order of the lines.
//!
//! Speeds: green and black 5.25 GB/s, blue 4.7 GB/s, as published for Edison (three lanes of 14 and 12.5 Gb/s); hosts 12.8 GB/s, a flit of
//! 16 bytes each 1.25 ns (De Sensi et al., SC 2019).

use std::collections::HashMap;

use crate::error::{FormatError, excerpt};
use crate::text::{Cursor, last_line};

use super::FabricKind;
use super::rate::Rate;
use super::raw::{Notes, Raw, RawNode, RawPort, Role, made_guid};

const ROWS: u32 = 6;
const COLUMNS: u32 = 8;
const TILES: usize = (ROWS * COLUMNS) as usize;

/// Bytes per second of a cable within a group, of one between groups, of a host's.
const LOCAL: u64 = 5_250_000_000;
const GLOBAL: u64 = 4_700_000_000;
const HOST: u64 = 12_800_000_000;

/// Where a router is: group, chassis, slot.
type Place = (u32, u32, u32);

/// What a tile is for.
#[derive(Clone, Copy, PartialEq)]
enum Tile<'a> {
    Unused,
    Processor,
    /// Its colour, the router and the tile at the far end, and where that is.
    Cable(Colour, &'a str, u16, Place),
}

#[derive(Clone, Copy, PartialEq)]
enum Colour {
    Green,
    Black,
    Blue,
}

impl Colour {
    fn name(self) -> &'static str {
        match self {
            Colour::Green => "green",
            Colour::Black => "black",
            Colour::Blue => "blue",
        }
    }

    fn rate(self) -> Rate {
        Rate::exact(if self == Colour::Blue { GLOBAL } else { LOCAL })
    }
}

/// A router and its tiles, each with its line.
struct Router<'a> {
    line: usize,
    name: &'a str,
    place: Place,
    tiles: [Option<(usize, Tile<'a>)>; TILES],
}

/// All routers, and the names that hosts get.
pub(super) struct Wiring<'a> {
    routers: Vec<Router<'a>>,
    hosts: Vec<Host>,
}

struct Host {
    name: String,
    router: u32,
    tile: u16,
    line: usize,
}

/// Whether a line tells of a tile.
pub(super) fn looks_like(line: &str) -> bool {
    let mut cursor = Cursor::new(line);
    end(&mut cursor).is_some() && cursor.eat(" ") && !cursor.word().is_empty() && cursor.eat(" -> ")
}

/// `c0-0c0s0a0l00(0:0:0)`: the router's name, the tile, the place.
fn end<'a>(cursor: &mut Cursor<'a>) -> Option<(&'a str, u16, Place)> {
    let start = cursor.rest;
    for literal in ["c", "-", "c", "s", "a"] {
        (cursor.eat(literal) && cursor.number().is_some()).then_some(())?;
    }
    let name = &start[..start.len() - cursor.rest.len()];
    let digits = if cursor.eat("l") { cursor.run(|b| b.is_ascii_digit()) } else { "" };
    let &[row, column] = digits.as_bytes() else { return None };
    let (row, column) = (u32::from(row - b'0'), u32::from(column - b'0'));
    let mut place = [0; 3];
    for (number, before) in place.iter_mut().zip(["(", ":", ":"]) {
        *number = cursor.eat(before).then(|| cursor.number()).flatten()?;
    }
    let known = cursor.eat(")") && row < ROWS && column < COLUMNS;
    known.then_some((name, (row * COLUMNS + column) as u16, place.into()))
}

/// `green -> c0-0c0s6a0l10(0:0:6)`, `blue -> unused`, `ptile -> processor`
fn tile<'a>(cursor: &mut Cursor<'a>) -> Result<Tile<'a>, String> {
    let word = cursor.word();
    let colour = match word {
        "green" => Some(Colour::Green),
        "black" => Some(Colour::Black),
        "blue" => Some(Colour::Blue),
        "ptile" => None,
        _ => return Err(format!("expected green, black, blue or ptile, found \"{}\"", excerpt(word))),
    };
    let told = cursor.eat(" -> ").then_some(cursor.rest);
    match (told, colour) {
        (Some("unused"), _) => Ok(Tile::Unused),
        (Some("processor"), None) => Ok(Tile::Processor),
        (Some(_), Some(colour)) => match end(cursor).filter(|_| cursor.rest.is_empty()) {
            Some((name, tile, place)) => Ok(Tile::Cable(colour, name, tile, place)),
            None => Err(format!(
                "expected -> and a tile such as c0-0c0s6a0l10(0:0:6), or unused, found \"{}\"",
                excerpt(told.unwrap_or_default())
            )),
        },
        _ => Err(format!("expected -> and what the tile leads to, found \"{}\"", excerpt(cursor.rest))),
    }
}

impl<'a> Wiring<'a> {
    /// Parses all lines; every cable is told from both ends.
    pub fn parse(text: &'a str, label: &str) -> Result<Self, FormatError> {
        let mut routers: Vec<Router<'a>> = Vec::new();
        let mut of_name: HashMap<&str, usize> = HashMap::new();
        let mut of_place: HashMap<Place, usize> = HashMap::new();
        let last = last_line(text);
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let at_line = |message: String| {
                let truncated = if number == last { "truncated dump: " } else { "" };
                FormatError::at(label, number, format!("{truncated}{message}"))
            };
            let mut cursor = Cursor::new(line);
            let Some((name, at, place)) = end(&mut cursor) else {
                let found = excerpt(line);
                return Err(at_line(format!(
                    "expected a tile such as c0-0c0s0a0l00(0:0:0), row 0 to 5, column 0 to 7, found \"{found}\""
                )));
            };
            let tile = tile(&mut cursor).map_err(at_line)?;
            let new = routers.len();
            let router = *of_name.entry(name).or_insert(new);
            if router == new {
                routers.push(Router { line: number, name, place, tiles: [None; TILES] });
            }
            let same = *of_place.entry(place).or_insert(router);
            let router = &mut routers[router];
            if router.place != place || same != of_name[name] {
                let message = format!(
                    "expected one place (group:chassis:slot) for every router, found \"{name}\" at {}",
                    told(place)
                );
                return Err(FormatError::at(label, number, message));
            }
            if let Some((earlier, _)) = router.tiles[usize::from(at)].replace((number, tile)) {
                let message = format!("expected every tile once, found this one on line {earlier} too");
                return Err(FormatError::at(label, number, message));
            }
        }
        for router in &routers {
            let known = router.tiles.iter().flatten().count();
            if known < TILES {
                let message = format!(
                    "truncated dump: expected {TILES} tiles of \"{}\", found {known}",
                    excerpt(router.name)
                );
                return Err(FormatError::at(label, router.line, message));
            }
        }
        check_ends(&routers, &of_name, label)?;
        let hosts = hosts(&routers, label)?;
        Ok(Self { routers, hosts })
    }

    /// As raw records: routers first, then hosts.
    pub fn raw(&self) -> Raw<'_> {
        let mut nodes = Vec::with_capacity(self.routers.len() + self.hosts.len());
        let mut node = |role, line, name, ports| {
            let guid = made_guid(nodes.len());
            nodes.push(RawNode { line, role, id: name, guid, name, ports, lid: None });
        };
        for router in &self.routers {
            node(Role::Switch, router.line, router.name, TILES as u16);
        }
        for host in &self.hosts {
            node(Role::Adapter, host.line, &host.name, 1);
        }
        let mut ports = Vec::new();
        let mut port = |line, (node, port), peer, peer_port, rate| {
            ports.push(RawPort {
                line,
                node,
                port,
                port_guid: None,
                lid: None,
                lmc: None,
                peer,
                peer_port,
                peer_port_guid: None,
                peer_name: "",
                peer_lid: None,
                rate,
            });
        };
        for (number, router) in (0..).zip(&self.routers) {
            for (at, tile) in (1..).zip(&router.tiles) {
                if let Some((line, Tile::Cable(colour, peer, tile, _))) = *tile {
                    port(line, (number, at), peer, tile + 1, colour.rate());
                }
            }
        }
        for (number, host) in (self.routers.len() as u32..).zip(&self.hosts) {
            let router = self.routers[host.router as usize].name;
            port(host.line, (number, 1), router, host.tile + 1, Rate::exact(HOST));
            port(host.line, (host.router, host.tile + 1), &host.name, 1, Rate::exact(HOST));
        }
        Raw { kind: FabricKind::Aries, nodes, ports, notes: Notes::default() }
    }

    /// The group of every router, by the GUID that it got.
    pub fn groups(&self) -> HashMap<u64, u32> {
        self.routers.iter().enumerate().map(|(at, router)| (made_guid(at), router.place.0)).collect()
    }
}

fn told((group, chassis, slot): Place) -> String {
    format!("({group}:{chassis}:{slot})")
}

/// Refuses cables whose ends disagree.
fn check_ends(
    routers: &[Router<'_>],
    of_name: &HashMap<&str, usize>,
    label: &str,
) -> Result<(), FormatError> {
    for router in routers {
        for (at, tile) in router.tiles.iter().enumerate() {
            let Some((line, Tile::Cable(colour, peer, far, place))) = *tile else { continue };
            let refuse = |message: String| Err(FormatError::at(label, line, message));
            let Some(there) = of_name.get(peer).map(|&router| &routers[router]) else {
                return refuse(format!(
                    "truncated dump: expected the tiles of \"{}\", to which this cable leads, found none",
                    excerpt(peer)
                ));
            };
            if there.place != place {
                return refuse(format!(
                    "expected \"{}\" at {}, where line {} has it, found {}",
                    excerpt(peer),
                    told(there.place),
                    there.line,
                    told(place)
                ));
            }
            let back = Tile::Cable(colour, router.name, at as u16, router.place);
            if let Some((other, tile)) = there.tiles[usize::from(far)]
                && tile != back
            {
                return refuse(format!(
                    "expected the two ends of a {} cable to agree: line {other} tells otherwise of the far one",
                    colour.name()
                ));
            }
        }
    }
    Ok(())
}

/// A host for every two processor tiles.
///
/// # Errors
/// If a router has a tile without its second.
fn hosts(routers: &[Router<'_>], label: &str) -> Result<Vec<Host>, FormatError> {
    let mut hosts = Vec::new();
    for (number, router) in (0..).zip(routers) {
        let mut processors = Vec::new();
        for (at, tile) in (0..).zip(&router.tiles) {
            if let Some((line, Tile::Processor)) = *tile {
                processors.push((at, line));
            }
        }
        let blade = router.name.rsplit_once('a').map_or(router.name, |(blade, _)| blade);
        for (i, pair) in processors.chunks(2).enumerate() {
            let (tile, line) = pair[0];
            if pair.len() < 2 {
                let (name, found) = (router.name, processors.len());
                let message = format!("expected two processor tiles a host, found {found} of {name}");
                return Err(FormatError::at(label, line, message));
            }
            hosts.push(Host { name: format!("{blade}n{i}"), router: number, tile, line });
        }
    }
    Ok(hosts)
}
