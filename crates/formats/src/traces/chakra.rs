//! Chakra execution traces of MLCommons: a file a rank, `PREFIX.0.et`, `PREFIX.1.et`, …, of tasks that depend on each other.
//!
//! ```text
//! length, GlobalMetadata          protobuf messages, each with its length before it
//! length, Node                    id, name, type, dependencies, times, attributes
//! ```
//! Attributes are told by name (`comm_type`, `comm_size`, `comm_src`, `comm_dst`, `comm_tag`), their integers in whatever kind the
//! writer has. A rank's tasks are taken one after another, a task before those that depend on it: what is sent and received goes
//! on beside the tasks that do not wait for it. Nothing in a file says who takes part in a collective: it is of all ranks, but for
//! those of a process group or of some dimensions only.
//!
//! The messages have five kinds of field and the reader wants nine of them; the decoder is the thirty lines below, as `prost` and
//! `quick-protobuf` would bring a build step and a crate for it.
//!
//! Source: MLCommons Chakra, `schema/protobuf/et_def.proto`; the protobuf encoding's own pages.

use std::collections::{BinaryHeap, HashMap};

use netloom_model::events::NO_PEER;
use netloom_model::{Event, Events, MAX_ENDPOINTS, RankEvents};

use super::bytes::Bytes;
use super::{Found, Open, RecordingError, file};
use crate::FormatError;

/// Types of nodes.
const COMPUTES: u64 = 4;
const SENDS: u64 = 5;
const RECEIVES: u64 = 6;
const TOGETHER: u64 = 7;

/// Functions by the number of a collective.
const COLLECTIVES: [&str; 10] = [
    "Allreduce",
    "Reduce",
    "Allgather",
    "Gather",
    "Scatter",
    "Bcast",
    "Alltoall",
    "Reduce_scatter_block",
    "Reduce_scatter_block",
    "Barrier",
];
/// The last of these.
const BARRIER: i64 = 9;
/// Bytes of one call, at most.
const MOST_BYTES: i64 = 1_000_000_000_000;

/// Whether these bytes begin as a trace does.
pub fn is_trace(bytes: &[u8]) -> bool {
    let mut cursor = Bytes::new(bytes, "");
    let Ok(length) = varint(&mut cursor) else { return false };
    match bytes[cursor.at..] {
        [0x0a, n, ref version @ ..] => {
            let n = usize::from(n);
            let version = version.get(..n).unwrap_or_default();
            n as u64 + 2 <= length
                && !version.is_empty()
                && version.iter().all(|b| b.is_ascii_digit() || *b == b'.')
        }
        [0x12, _, 0x0a, _, ref rest @ ..] => rest.starts_with(b"schema"),
        _ => false,
    }
}

/// Reads a trace, of which `path` is the file of any rank.
///
/// # Errors
/// [`RecordingError`] names the file, and the byte in it: no such name, a rank whose file is not there, a file cut short, a
/// dependency that there is not, tasks in a circle, a rank or a number of bytes that cannot be.
pub fn read(path: &str, open: &mut Open) -> Result<(Events, Vec<String>), RecordingError> {
    let prefix = path
        .strip_suffix(".et")
        .and_then(|stem| stem.rsplit_once('.'))
        .filter(|(_, rank)| rank.parse::<u32>().is_ok());
    let (prefix, own) = prefix.ok_or_else(|| {
        FormatError::whole(path, "expected the file of a rank of a Chakra trace, such as trace.0.et")
    })?;
    let (mut events, mut files) = (Events::default(), Vec::new());
    for rank in 0..MAX_ENDPOINTS {
        let name = format!("{prefix}.{rank}.et");
        let data = match file(&name, open) {
            Ok(data) => data,
            Err(RecordingError::File { error, .. })
                if rank > 0 && error.kind() == std::io::ErrorKind::NotFound =>
            {
                break;
            }
            Err(error) => return Err(error),
        };
        let found = Reader::new(&mut events).read(&data, &name, rank)?;
        events.ranks.push(found);
        files.push(name);
    }
    let ranks = files.len() as u32;
    let later = later_rank(prefix, ranks, open);
    if let Some(later) = later {
        let message = format!(
            "expected the files of all ranks up to {later}, of which there is one, found none of rank {ranks}"
        );
        return Err(FormatError::whole(path, message).into());
    }
    if own.parse::<u32>().is_ok_and(|own| own >= ranks) {
        let message = format!("expected the files of all ranks before it, found none of rank {ranks}");
        return Err(FormatError::whole(path, message).into());
    }
    events.communicators = vec![(0..ranks).collect(), Vec::new()];
    let (mut untold, functions) = (0, &events.functions);
    for (rank, (own, name)) in events.ranks.iter_mut().zip(&files).enumerate() {
        for event in &mut own.events {
            untold += u64::from(event.communicator == 1);
            if event.peer >= ranks as i32 {
                let function = &functions[usize::from(event.function)];
                let peer = event.peer;
                let message = format!(
                    "expected the file of every rank, found none of rank {peer}, which {function} of rank {rank} names"
                );
                return Err(FormatError::whole(name, message).into());
            }
        }
    }
    events.lack("collectives of groups whose members are not told", untold);
    if untold == 0 {
        events.communicators.truncate(1);
    }
    Ok((events, files))
}

/// A rank above these that has a file in their folder.
fn later_rank(prefix: &str, ranks: u32, open: &mut Open) -> Option<u32> {
    let (folder, stem) = prefix.rsplit_once('/').unwrap_or((".", prefix));
    let Ok(Found::Folder(names)) = open(if folder.is_empty() { "/" } else { folder }) else { return None };
    let rank_of =
        |name: &String| name.strip_prefix(stem)?.strip_prefix('.')?.strip_suffix(".et")?.parse::<u32>().ok();
    names.iter().filter_map(rank_of).filter(|&rank| rank > ranks).max()
}

/// A number of seven bits a byte, the lowest first.
fn varint(bytes: &mut Bytes) -> Result<u64, FormatError> {
    let (at, mut number) = (bytes.at, 0u64);
    for shift in (0..64).step_by(7) {
        let byte = bytes.u8("a number")?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    bytes.at = at;
    Err(bytes.wrong("a number of at most ten bytes, found a longer one"))
}

/// A field's value.
enum Value<'a> {
    Number(u64),
    Bytes(Bytes<'a>),
}

/// The next field of a message: its number and value.
fn field<'a>(bytes: &mut Bytes<'a>) -> Result<(u64, Value<'a>), FormatError> {
    let at = bytes.at;
    let key = varint(bytes)?;
    let value = match key & 7 {
        0 => Value::Number(varint(bytes)?),
        1 => Value::Number(bytes.be64("a number")?.swap_bytes()),
        2 => Value::Bytes(part(bytes)?),
        5 => Value::Number(u64::from(bytes.be32("a number")?.swap_bytes())),
        other => {
            bytes.at = at;
            return Err(bytes.wrong(&format!("a protobuf field of kind 0, 1, 2 or 5, found {other}")));
        }
    };
    Ok((key >> 3, value))
}

/// What has its length before it.
fn part<'a>(bytes: &mut Bytes<'a>) -> Result<Bytes<'a>, FormatError> {
    let at = bytes.at;
    let length = varint(bytes)?;
    match usize::try_from(length).ok().filter(|&length| length <= bytes.left()) {
        Some(length) => bytes.split(length),
        None => {
            bytes.at = at;
            let left = bytes.left();
            Err(bytes.wrong(&format!(
                "a message of {length} bytes, found {left} until its end: is the file cut short?"
            )))
        }
    }
}

/// A task.
#[derive(Debug, Default)]
struct Node {
    id: u64,
    kind: u64,
    dependencies: Vec<u64>,
    duration_us: u64,
    /// `comm_type`, `comm_size`, `comm_src`, `comm_dst`, `root`: none where the task has no such attribute.
    type_of: Option<i64>,
    size: Option<i64>,
    source: Option<i64>,
    destination: Option<i64>,
    root: Option<i64>,
    /// `comm_tag`, 0 where it has none.
    tag: i64,
    /// Of some ranks only.
    grouped: bool,
    at: usize,
}

struct Reader<'a> {
    events: &'a mut Events,
    own: RankEvents,
    /// Computation so far, ns.
    now: i64,
}

impl<'a> Reader<'a> {
    fn new(events: &'a mut Events) -> Self {
        Self { events, own: RankEvents::default(), now: 0 }
    }

    fn read(mut self, data: &[u8], label: &str, rank: u32) -> Result<RankEvents, FormatError> {
        let mut bytes = Bytes::new(data, label);
        if !is_trace(data) {
            return Err(bytes.wrong("a Chakra trace, which begins with its version, found something else"));
        }
        let mut metadata = part(&mut bytes)?;
        while metadata.left() > 0 {
            let (number, value) = field(&mut metadata)?;
            if let (1, Value::Bytes(mut version)) = (number, value) {
                let version =
                    String::from_utf8_lossy(version.take(version.left(), "a version")?).into_owned();
                self.events.tool = format!("Chakra {version}");
            }
        }
        if self.events.tool.is_empty() {
            self.events.tool = "Chakra".into();
        }
        let mut nodes = Vec::new();
        while bytes.left() > 0 {
            let at = bytes.at;
            nodes.push(Node { at, ..node(part(&mut bytes)?)? });
        }
        let order = order(&nodes, &mut bytes)?;
        self.tasks(rank, &nodes, &order).map_err(|(at, message)| {
            bytes.at = at;
            bytes.wrong(&message)
        })?;
        Ok(self.own)
    }

    fn tasks(&mut self, rank: u32, nodes: &[Node], order: &[usize]) -> Result<(), (usize, String)> {
        // Messages that go on, by the task's number.
        let mut open: HashMap<u64, u32> = HashMap::new();
        // A send is done with when it has begun: what depends on it may be what its receiver waits for.
        let mut sent: Vec<u32> = Vec::new();
        for &node in order {
            let node = &nodes[node];
            let waited: Vec<u32> = node.dependencies.iter().filter_map(|id| open.remove(id)).collect();
            if !waited.is_empty() {
                let wait = self.event(if waited.len() == 1 { "Wait" } else { "Waitall" }, NO_PEER, 0);
                let place = self.own.events.len() as u32;
                self.own.completes.extend(waited.into_iter().map(|begun| (place, begun)));
                self.own.events.push(wait);
            }
            // What a task must say: an attribute in a range.
            let told = |name: &str, value: Option<i64>, most: i64| {
                value.filter(|value| (0..=most).contains(value)).ok_or_else(|| {
                    let found = value.map_or_else(|| "none".to_owned(), |value| value.to_string());
                    (
                        node.at,
                        format!("{name} of 0 to {most} in task {} of rank {rank}, found {found}", node.id),
                    )
                })
            };
            let rank_of = |name, value| Ok(told(name, value, i64::from(MAX_ENDPOINTS) - 1)? as i32);
            // A message is as long as it was sent, and a barrier has no bytes.
            let size = match (node.kind, node.size) {
                (RECEIVES, None) => 0,
                (TOGETHER, None) if node.type_of == Some(BARRIER) => 0,
                (SENDS | RECEIVES | TOGETHER, size) => told("comm_size", size, MOST_BYTES)? as u64,
                _ => 0,
            };
            match node.kind {
                COMPUTES => {
                    let ns = i64::try_from(node.duration_us).ok().and_then(|us| us.checked_mul(1000));
                    let now = ns.and_then(|ns| self.now.checked_add(ns)).filter(|&now| now < 1 << 62);
                    self.now = now.ok_or_else(|| (node.at, "computation of at most 146 years".to_owned()))?;
                }
                SENDS | RECEIVES => {
                    let sends = node.kind == SENDS;
                    let other = match sends {
                        true => rank_of("comm_dst", node.destination)?,
                        false => rank_of("comm_src", node.source)?,
                    };
                    let event = self.event(
                        if sends { "Isend" } else { "Irecv" },
                        other,
                        if sends { size } else { 0 },
                    );
                    let tag = i32::try_from(node.tag).ok().filter(|&tag| tag >= 0);
                    let tag =
                        tag.ok_or_else(|| (node.at, format!("a tag of 0 or more, found {}", node.tag)))?;
                    let place = self.own.events.len() as u32;
                    if sends {
                        sent.push(place);
                    } else {
                        open.insert(node.id, place);
                    }
                    self.own.events.push(Event { tag, request: true, ..event });
                }
                TOGETHER => {
                    let kind = told("comm_type", node.type_of, COLLECTIVES.len() as i64 - 1)?;
                    let name = &COLLECTIVES[kind as usize];
                    let rooted = matches!(*name, "Reduce" | "Gather" | "Scatter" | "Bcast");
                    let root = match node.root {
                        None if rooted => {
                            self.events.lack("roots of collectives, which are taken as rank 0", 1);
                            0
                        }
                        root if rooted => rank_of("root", root)?,
                        _ => NO_PEER,
                    };
                    let event = self.event(name, root, size);
                    self.own.events.push(Event { communicator: u32::from(node.grouped), ..event });
                }
                _ => {}
            }
        }
        if !open.is_empty() || !sent.is_empty() {
            let wait = self.event("Waitall", NO_PEER, 0);
            let place = self.own.events.len() as u32;
            let mut left: Vec<u32> = open.into_values().chain(sent).collect();
            left.sort_unstable();
            self.own.completes.extend(left.into_iter().map(|begun| (place, begun)));
            self.own.events.push(wait);
        }
        Ok(())
    }

    fn event(&mut self, name: &str, peer: i32, bytes: u64) -> Event {
        Event {
            function: self.events.function(name),
            thread: 0,
            request: false,
            cancelled: false,
            peer,
            tag: -1,
            communicator: 0,
            bytes,
            start_ns: self.now,
            end_ns: self.now,
        }
    }
}

fn node(mut bytes: Bytes) -> Result<Node, FormatError> {
    let mut node = Node::default();
    while bytes.left() > 0 {
        match field(&mut bytes)? {
            (1, Value::Number(id)) => node.id = id,
            (3, Value::Number(kind)) => node.kind = kind,
            // Lists of numbers are packed, or have a field an entry.
            (4 | 5, Value::Number(id)) => node.dependencies.push(id),
            (4 | 5, Value::Bytes(mut packed)) => {
                while packed.left() > 0 {
                    node.dependencies.push(varint(&mut packed)?);
                }
            }
            (7, Value::Number(us)) => node.duration_us = us,
            (10, Value::Bytes(attribute)) => attributes(attribute, &mut node)?,
            _ => {}
        }
    }
    Ok(node)
}

fn attributes(mut bytes: Bytes, node: &mut Node) -> Result<(), FormatError> {
    let (mut name, mut number, mut text, mut list) = (&b""[..], None, &b""[..], None);
    while bytes.left() > 0 {
        match field(&mut bytes)? {
            (1, Value::Bytes(mut found)) => name = found.take(found.left(), "a name")?,
            (15 | 17, Value::Number(found)) => number = Some((found >> 1) as i64 ^ -((found & 1) as i64)),
            (7 | 9 | 11 | 13 | 27, Value::Number(found)) => number = Some(found as i64),
            (19 | 21 | 23 | 25, Value::Number(found)) => number = Some(found as i64),
            (29, Value::Bytes(mut found)) => text = found.take(found.left(), "a text")?,
            (28, Value::Bytes(found)) => list = Some(found),
            _ => {}
        }
    }
    match (name, number) {
        (b"comm_type", number @ Some(_)) => node.type_of = number,
        (b"comm_size", number @ Some(_)) => node.size = number,
        (b"comm_src", number @ Some(_)) => node.source = number,
        (b"comm_dst", number @ Some(_)) => node.destination = number,
        (b"comm_tag", Some(number)) => node.tag = number,
        (b"root" | b"comm_root", number @ Some(_)) => node.root = number,
        (b"pg_name", None) => node.grouped |= !text.is_empty() && text != b"0",
        (b"involved_dim", None) => {
            if let Some(mut values) = list {
                while values.left() > 0 {
                    node.grouped |= match field(&mut values)? {
                        (_, Value::Number(one)) => one == 0,
                        (_, Value::Bytes(mut packed)) => packed.take(packed.left(), "a list")?.contains(&0),
                    };
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// The order of tasks: those of a file, but each behind those that it depends on.
fn order(nodes: &[Node], bytes: &mut Bytes) -> Result<Vec<usize>, FormatError> {
    let place: HashMap<u64, usize> = nodes.iter().enumerate().map(|(place, node)| (node.id, place)).collect();
    if place.len() < nodes.len() {
        let twice = nodes.iter().enumerate().find(|(at, node)| place[&node.id] != *at);
        let (at, id) = twice.map_or((0, 0), |(_, node)| (node.at, node.id));
        bytes.at = at;
        return Err(bytes.wrong(&format!("tasks with a number each, found two of number {id}")));
    }
    let (mut needs, mut followers) = (vec![0usize; nodes.len()], vec![Vec::new(); nodes.len()]);
    for (at, node) in nodes.iter().enumerate() {
        for id in &node.dependencies {
            let Some(&before) = place.get(id) else {
                bytes.at = node.at;
                return Err(bytes.wrong(&format!("tasks that the file has as dependencies, found {id}")));
            };
            needs[at] += 1;
            followers[before].push(at);
        }
    }
    let mut free: BinaryHeap<std::cmp::Reverse<usize>> =
        (0..nodes.len()).filter(|&at| needs[at] == 0).map(std::cmp::Reverse).collect();
    let mut order = Vec::new();
    while let Some(std::cmp::Reverse(at)) = free.pop() {
        order.push(at);
        for &next in &followers[at] {
            needs[next] -= 1;
            if needs[next] == 0 {
                free.push(std::cmp::Reverse(next));
            }
        }
    }
    if let Some(at) = needs.iter().position(|&needs| needs > 0) {
        bytes.at = nodes[at].at;
        return Err(bytes.wrong(&format!(
            "tasks that do not wait for each other in a circle, found task {}",
            nodes[at].id
        )));
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn read_with(path: &str, change: &dyn Fn(&str, Vec<u8>) -> Vec<u8>) -> Result<Events, String> {
        let root = format!("{}/../../tests/data/traces/", env!("CARGO_MANIFEST_DIR"));
        let mut open = |name: &str| -> io::Result<Found> {
            let bytes = std::fs::read(format!("{root}{name}"))?;
            Ok(Found::File(change(name, bytes)))
        };
        read(path, &mut open).map(|(events, _)| events).map_err(|error| error.to_string())
    }

    const ALL_TO_ALL: &str = "chakra-alltoall-4/all_to_all.0.et";

    #[test]
    fn an_all_to_all_of_four_ranks_has_a_mebibyte_each() {
        let events = read_with(ALL_TO_ALL, &|_, bytes| bytes).unwrap();
        assert_eq!(
            (events.functions.as_slice(), events.tool.as_str()),
            (&["Alltoall".to_owned()][..], "Chakra 0.0.4")
        );
        let bytes: Vec<_> =
            events.ranks.iter().map(|own| own.events.iter().map(|one| one.bytes).sum::<u64>()).collect();
        assert_eq!(bytes, [1u64 << 20; 4]);
    }

    #[test]
    fn a_ring_of_eight_sends_and_receives_14_times_a_rank() {
        let events = read_with("chakra-ring-8/custom_allreduce.3.et", &|_, bytes| bytes).unwrap();
        for (rank, own) in (0..).zip(&events.ranks) {
            let of = |name: &str| {
                own.events
                    .iter()
                    .filter(|one| events.functions[usize::from(one.function)] == name)
                    .collect::<Vec<_>>()
            };
            assert_eq!((of("Isend").len(), of("Irecv").len()), (14, 14));
            assert!(
                of("Isend").iter().all(|one| one.peer == (rank + 1) % 8 && one.bytes == 131_072),
                "{rank}"
            );
            assert_eq!(own.completes.len(), 28);
        }
    }

    #[test]
    fn every_truncation_is_an_error_that_names_the_file_and_any_byte_is_survived() {
        let name = "chakra-alltoall-4/all_to_all.1.et";
        for cut in 0..83 {
            let change = |file: &str, mut bytes: Vec<u8>| {
                if file == name {
                    bytes.truncate(cut);
                }
                bytes
            };
            // Behind the metadata a file may end: a rank that does nothing.
            match read_with(ALL_TO_ALL, &change) {
                Ok(events) => assert!(cut == 8 && events.ranks[1].events.is_empty(), "{cut}"),
                Err(error) => assert!(
                    error.starts_with(&format!("{name}: byte ")) && error.contains("expected"),
                    "{cut}: {error}"
                ),
            }
            for value in 0..=255 {
                let change = |file: &str, mut bytes: Vec<u8>| {
                    if file == name {
                        bytes[cut] = value;
                    }
                    bytes
                };
                if let Err(error) = read_with(ALL_TO_ALL, &change) {
                    assert!(error.contains("expected"), "{cut} {value}: {error}");
                }
            }
        }
    }

    /// A send of task 9 by rank 1, with these attributes.
    fn send(attributes: &[(&str, i8)]) -> Result<Events, String> {
        let mut node = b"\x08\x09\x18\x05".to_vec();
        for &(name, value) in attributes {
            // A name, and a sint64 (field 17).
            node.extend([0x52, name.len() as u8 + 5, 0x0a, name.len() as u8]);
            node.extend(name.bytes().chain([0x88, 0x01, (value << 1 ^ value >> 7) as u8]));
        }
        let own = [&b"\x07\x0a\x050.0.4"[..], &[node.len() as u8], &node].concat();
        read_with(ALL_TO_ALL, &|name, bytes| if name.contains(".1.") { own.clone() } else { bytes })
    }

    #[test]
    fn what_a_task_must_say_is_not_taken_as_0() {
        assert!(send(&[("comm_dst", 2), ("comm_size", 0)]).is_ok());
        let refused = send(&[("comm_dst", 2)]).unwrap_err();
        let told = "all_to_all.1.et: byte 8: expected comm_size of 0 to 1000000000000 in task 9 of rank 1, found none";
        assert!(refused.ends_with(told), "{refused}");
        let refused = send(&[("comm_size", 5)]).unwrap_err();
        assert!(
            refused.ends_with("expected comm_dst of 0 to 9999999 in task 9 of rank 1, found none"),
            "{refused}"
        );
        let refused = send(&[("comm_dst", 2), ("comm_size", -5)]).unwrap_err();
        assert!(refused.ends_with("in task 9 of rank 1, found -5"), "{refused}");
        assert_eq!(send(&[("comm_dst", 2), ("comm_size", 5)]).unwrap().ranks[1].events[0].bytes, 5);
    }

    #[test]
    fn names_ranks_and_circles_are_checked() {
        assert!(
            read_with("chakra-alltoall-4/all_to_all.et", &|_, bytes| bytes)
                .unwrap_err()
                .contains("such as trace.0.et")
        );
        assert!(
            read_with("chakra-alltoall-4/all_to_all.9.et", &|_, bytes| bytes)
                .unwrap_err()
                .contains("found none of rank 4")
        );
        // Task 1 depends on itself.
        let circle = |_: &str, _: Vec<u8>| b"\x07\x0a\x050.0.4\x06\x08\x01\x18\x04\x20\x01".to_vec();
        let error = read_with(ALL_TO_ALL, &circle).unwrap_err();
        assert!(error.contains("byte 8: expected tasks that do not wait"), "{error}");
    }
}
