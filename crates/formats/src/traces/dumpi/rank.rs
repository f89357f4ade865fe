//! One rank's file of a DUMPI trace: its calls as events.

use std::collections::HashMap;

use netloom_model::events::{ANY_PEER, NO_PEER, UNKNOWN, base_of};
use netloom_model::{Event, Events, RankEvents};

use super::MAGIC;
use super::call::{Call, Status};
use super::calls::{END, FUNCTIONS};
use crate::FormatError;
use crate::traces::bytes::Bytes;
use crate::traces::communicators::{ALONE, Made, Making, WORLD};

/// Bytes of one call, at most: what other formats can say.
const MOST_BYTES: u64 = 1_000_000_000_000;
/// Sizes of the types that every program has, for files that tell none.
const SIZES: [i32; 28] =
    [0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20];
/// The first version whose statuses, requests and tags lie as they do today, and the last that is known.
const VERSIONS: [[u8; 3]; 2] = [[0, 6, 9], [13, 255, 255]];

/// What a rank's file has.
pub(super) struct Rank {
    pub version: String,
    pub host: Option<String>,
    pub events: RankEvents,
    pub makings: Vec<Making>,
    /// It uses MPI_COMM_SELF.
    pub alone: bool,
}

/// Where the parts of a file are.
struct Index {
    header: usize,
    body: usize,
    sizes: usize,
}

/// Reads a file; peers and communicators are those of the rank until [`place`] has been called.
pub(super) fn read(data: &[u8], label: &str, all: &mut Events) -> Result<Rank, FormatError> {
    let mut bytes = Bytes::new(data, label);
    if bytes.take(MAGIC.len(), "a DUMPI file")? != MAGIC {
        bytes.at = 0;
        return Err(bytes.wrong("a DUMPI file, which begins with ff aa dd DUMPI, found something else"));
    }
    let index = index(data, label)?;
    bytes.at = index.header;
    let version = [bytes.u8("a version")?, bytes.u8("a version")?, bytes.u8("a version")?];
    let told = format!("DUMPI {}.{}.{}", version[0], version[1], version[2]);
    if version < VERSIONS[0] || version > VERSIONS[1] {
        bytes.at = index.header;
        return Err(bytes.wrong(&format!("DUMPI 0.6.9 to 13, found {told}")));
    }
    bytes.take(8, "a time")?;
    let length = usize::from(bytes.be16("a name's length")?);
    let host = String::from_utf8_lossy(bytes.take(length, "a host's name")?).into_owned();
    let mut sizes = SIZES.to_vec();
    if index.sizes > 0 {
        bytes.at = index.sizes;
        let count = bytes.be32("a number of types")? as usize;
        let found = bytes.take(count.saturating_mul(4), "sizes of types")?;
        sizes =
            found.chunks_exact(4).map(|one| i32::from_be_bytes([one[0], one[1], one[2], one[3]])).collect();
    }
    bytes.at = index.body;
    bytes.be32("a time")?;
    let bias = i64::from(bytes.be32("a time")?);
    let mut reader = Reader {
        sizes,
        numbers: vec![None; END],
        bias,
        last: 0,
        events: RankEvents::default(),
        open: HashMap::new(),
        persistent: HashMap::new(),
        communicators: HashMap::from([(2, WORLD), (3, ALONE)]),
        groups: HashMap::new(),
        makings: Vec::new(),
        alone: false,
        all,
    };
    let mut call = Call::default();
    loop {
        let at = bytes.at;
        let function = usize::from(bytes.be16("a call, or the end of the calls")?);
        if function == END {
            break;
        }
        if function > END {
            bytes.at = at;
            return Err(bytes.wrong(&format!("a call below {END}, found {function}")));
        }
        call.read(function, &mut bytes)?;
        reader.call(function, &call).map_err(|message| {
            bytes.at = at;
            bytes.wrong(&message)
        })?;
    }
    let Reader { events, makings, alone, .. } = reader;
    Ok(Rank { version: told, host: Some(host).filter(|host| !host.is_empty()), events, makings, alone })
}

/// The index at the end: of seven words, or of fewer in files of earlier versions.
fn index(data: &[u8], label: &str) -> Result<Index, FormatError> {
    let mut bytes = Bytes::new(data, label);
    for words in (4..=7).rev() {
        let Some(at) = data.len().checked_sub(8 * (words + 1)).filter(|&at| at >= MAGIC.len()) else {
            continue;
        };
        if !data[at..].starts_with(MAGIC) {
            continue;
        }
        bytes.at = at + MAGIC.len();
        let mut found = Vec::new();
        for _ in 0..words {
            let place = bytes.be64("the index")?;
            let inside = usize::try_from(place).ok().filter(|&place| place < data.len());
            found.push(inside.ok_or_else(|| bytes.wrong("places in the file, found one beyond its end"))?);
        }
        let sizes = if words == 7 { found[0] } else { 0 };
        return Ok(Index { header: found[words - 4], body: found[words - 3], sizes });
    }
    bytes.at = data.len();
    Err(bytes.wrong("the index at the end of the file, found none: is it cut short?"))
}

struct Reader<'a> {
    sizes: Vec<i32>,
    /// Numbers of functions in `all`.
    numbers: Vec<Option<u16>>,
    bias: i64,
    /// Seconds of the last call.
    last: i64,
    events: RankEvents,
    /// Events whose request is open, and what a persistent request starts, by handle.
    open: HashMap<i64, u32>,
    persistent: HashMap<i64, (usize, Event)>,
    /// Communicators by handle, as the rank numbers them; groups as places in one.
    communicators: HashMap<i64, u32>,
    groups: HashMap<i64, (u32, Option<Vec<u32>>)>,
    makings: Vec<Making>,
    alone: bool,
    all: &'a mut Events,
}

impl Reader<'_> {
    /// What a call comes to.
    fn call(&mut self, function: usize, call: &Call) -> Result<(), String> {
        let name = FUNCTIONS[function].0;
        let n = |index| call.number(index);
        match name {
            "Send" | "Bsend" | "Ssend" | "Rsend" => self.send(function, call, [0, 1, 2, 3, 4], None)?,
            "Isend" | "Ibsend" | "Issend" | "Irsend" => {
                self.send(function, call, [0, 1, 2, 3, 4], Some(n(5)))?;
            }
            "Recv" => {
                self.receive(function, call, [2, 3, 4], None)?;
                self.told(self.events.events.len() - 1, call.statuses.first());
            }
            "Irecv" => self.receive(function, call, [2, 3, 4], Some(n(5)))?,
            "Send_init" | "Bsend_init" | "Ssend_init" | "Rsend_init" | "Recv_init" => {
                let mut event = self.event(function, call, n(4))?;
                event.peer = if name == "Recv_init" { source(n(2)) } else { destination(n(2)) };
                event.tag = n(3) as i32;
                event.bytes = if name == "Recv_init" { 0 } else { self.amount(n(0), n(1))? };
                event.request = true;
                self.persistent.insert(n(5), (function, event));
            }
            "Start" => self.start(n(0), call),
            "Startall" => call.list(0).iter().for_each(|&handle| self.start(i64::from(handle), call)),
            "Sendrecv" | "Sendrecv_replace" => {
                let both = name == "Sendrecv";
                self.send(function, call, if both { [0, 1, 2, 3, 8] } else { [0, 1, 2, 3, 6] }, None)?;
                let receive = FUNCTIONS.iter().position(|(name, _)| *name == "Recv").unwrap_or_default();
                self.receive(receive, call, if both { [6, 7, 8] } else { [4, 5, 6] }, None)?;
                self.told(self.events.events.len() - 1, call.statuses.first());
            }
            "Wait" | "Test" | "Waitany" | "Testany" | "Waitall" | "Testall" | "Waitsome" | "Testsome" => {
                self.complete(function, call)?;
            }
            "Request_free" => {
                self.persistent.remove(&n(0));
                self.open.remove(&n(0));
            }
            "Put" | "Get" | "Accumulate" => self.all.lack("one-sided messages", 1),
            _ => {
                if !self.made(name, call)? {
                    self.collective(function, call)?;
                }
            }
        }
        Ok(())
    }

    /// An event of this call on a communicator, with its times.
    fn event(&mut self, function: usize, call: &Call, communicator: i64) -> Result<Event, String> {
        let number = match self.numbers[function] {
            Some(number) => number,
            None => *self.numbers[function].insert(self.all.function(FUNCTIONS[function].0)),
        };
        let own = self.communicators.get(&communicator).copied();
        let own = own.ok_or_else(|| format!("a communicator that a call has made, found {communicator}"))?;
        self.alone |= own == ALONE;
        let [start_ns, end_ns] = match call.times {
            Some([start, end]) => [self.time(start), self.time(end)],
            None => [UNKNOWN; 2],
        };
        Ok(Event {
            function: number,
            thread: call.thread,
            request: false,
            cancelled: false,
            peer: NO_PEER,
            tag: UNKNOWN as i32,
            communicator: own,
            bytes: 0,
            start_ns,
            end_ns,
        })
    }

    /// Nanoseconds since 1970. Seconds of 16 bits start over.
    fn time(&mut self, (seconds, ns): (u16, u32)) -> i64 {
        let mut seconds = i64::from(seconds) + (self.last & !0xffff);
        if seconds + 0x8000 < self.last {
            seconds += 0x1_0000;
        }
        self.last = self.last.max(seconds);
        (self.bias + seconds) * 1_000_000_000 + i64::from(ns)
    }

    /// Bytes of so many items of a type.
    fn amount(&self, count: i64, datatype: i64) -> Result<u64, String> {
        if count <= 0 {
            return Ok(0);
        }
        let size = usize::try_from(datatype).ok().and_then(|datatype| self.sizes.get(datatype));
        let size = size.ok_or_else(|| format!("a type that has a size, found {datatype}"))?;
        let bytes = count as u64 * (*size).max(0) as u64;
        if bytes > MOST_BYTES {
            Err(format!("at most {MOST_BYTES} bytes in a call, found {bytes}"))
        } else {
            Ok(bytes)
        }
    }

    fn push(&mut self, event: Event, request: Option<i64>) {
        let place = self.events.events.len() as u32;
        self.events.events.push(Event { request: request.is_some(), ..event });
        if let Some(handle) = request {
            self.open.insert(handle, place);
        }
    }

    /// `at`: where count, type, destination, tag and communicator are.
    fn send(
        &mut self,
        function: usize,
        call: &Call,
        at: [usize; 5],
        request: Option<i64>,
    ) -> Result<(), String> {
        let [count, datatype, peer, tag, communicator] = at.map(|at| call.number(at));
        let mut event = self.event(function, call, communicator)?;
        event.peer = destination(peer);
        event.tag = tag as i32;
        event.bytes = self.amount(count, datatype)?;
        self.push(event, request);
        Ok(())
    }

    /// `at`: where source, tag and communicator are.
    fn receive(
        &mut self,
        function: usize,
        call: &Call,
        at: [usize; 3],
        request: Option<i64>,
    ) -> Result<(), String> {
        let [peer, tag, communicator] = at.map(|at| call.number(at));
        let mut event = self.event(function, call, communicator)?;
        event.peer = source(peer);
        event.tag = tag as i32;
        self.push(event, request);
        Ok(())
    }

    /// A receive from any source, or with any tag, gets what its status tells.
    fn told(&mut self, event: usize, status: Option<&Status>) {
        let Some(status) = status else { return };
        let event = &mut self.events.events[event];
        if event.peer == ANY_PEER && status.source >= 0 {
            event.peer = status.source;
            event.tag = if event.tag < 0 { status.tag } else { event.tag };
        } else if event.tag < 0 && event.peer >= 0 {
            event.tag = status.tag;
        }
    }

    fn start(&mut self, handle: i64, call: &Call) {
        if let Some((_, mut event)) = self.persistent.get(&handle).copied() {
            if let Some([start, end]) = call.times {
                (event.start_ns, event.end_ns) = (self.time(start), self.time(end));
            }
            self.push(event, Some(handle));
        }
    }

    fn complete(&mut self, function: usize, call: &Call) -> Result<(), String> {
        let n = |index| call.number(index);
        let requests = call.list(0);
        let chosen = |places: &[i32]| -> Vec<i64> {
            let found = |&place: &i32| requests.get(usize::try_from(place).ok()?).map(|&one| i64::from(one));
            places.iter().filter_map(found).collect()
        };
        let done: Vec<i64> = match FUNCTIONS[function].0 {
            "Wait" => vec![n(0)],
            "Test" if n(1) != 0 => vec![n(0)],
            "Waitany" => chosen(&[n(1) as i32]),
            "Testany" if n(2) != 0 => chosen(&[n(1) as i32]),
            "Waitall" => requests.iter().map(|&one| i64::from(one)).collect(),
            "Testall" if n(1) != 0 => requests.iter().map(|&one| i64::from(one)).collect(),
            "Waitsome" | "Testsome" => chosen(call.list(1)),
            _ => Vec::new(),
        };
        // A call that tests in vain is none.
        if done.is_empty() {
            return Ok(());
        }
        let mut event = self.event(function, call, 2)?;
        event.peer = NO_PEER;
        let place = self.events.events.len() as u32;
        self.push(event, None);
        for (which, handle) in done.into_iter().enumerate() {
            let Some(begun) = self.open.remove(&handle) else { continue };
            self.events.completes.push((place, begun));
            let receives = self.events.events[begun as usize].bytes == 0;
            if let (true, Some(status)) = (receives, call.statuses.get(which)) {
                self.told(begun as usize, Some(status));
                self.events.events[begun as usize].cancelled |=
                    status.cancelled && self.events.events[begun as usize].peer == ANY_PEER;
            }
        }
        Ok(())
    }

    /// Calls that make communicators and groups; whether this is one of them.
    fn made(&mut self, name: &str, call: &Call) -> Result<bool, String> {
        let n = |index| call.number(index);
        let places = || call.list(0).iter().filter_map(|&one| u32::try_from(one).ok()).collect::<Vec<_>>();
        let (parent, made, new) = match name {
            "Comm_dup" => (n(0), Made::Copy, n(1)),
            "Comm_split" => (n(0), Made::Split { color: n(1), key: n(2) }, n(3)),
            "Comm_create" => {
                let made = match self.groups.get(&n(1)) {
                    Some((of, Some(places))) => Made::Group { of: *of, places: places.clone() },
                    _ => Made::Untold,
                };
                (n(0), made, n(2))
            }
            "Cart_create" => (n(0), Made::Grid { dims: places() }, n(3)),
            "Cart_sub" => {
                (n(1), Made::Rows { kept: call.list(0).iter().map(|&one| one != 0).collect() }, n(2))
            }
            "Graph_create" => (n(1), Made::Untold, n(4)),
            "Intercomm_create" | "Intercomm_merge" => {
                let new = *call.numbers.last().unwrap_or(&0);
                (if name == "Intercomm_create" { n(0) } else { 2 }, Made::Untold, new)
            }
            "Comm_group" => {
                if let Some(&own) = self.communicators.get(&n(0)) {
                    self.groups.insert(n(1), (own, None));
                }
                return Ok(true);
            }
            "Group_incl" => {
                let group = self.groups.get(&n(0)).cloned().map(|(of, base)| match base {
                    None => (of, Some(places())),
                    Some(base) => {
                        let chosen = places().into_iter().map(|one| base.get(one as usize).copied());
                        (of, chosen.collect())
                    }
                });
                self.groups.insert(n(2), group.unwrap_or((u32::MAX, None)));
                return Ok(true);
            }
            "Group_excl" | "Group_range_incl" | "Group_range_excl" => {
                self.groups.insert(n(2), (u32::MAX, None));
                return Ok(true);
            }
            "Group_union" | "Group_intersection" | "Group_difference" => {
                self.groups.insert(n(2), (u32::MAX, None));
                return Ok(true);
            }
            _ => return Ok(false),
        };
        let parent = *self.communicators.get(&parent).unwrap_or(&WORLD);
        self.makings.push(Making { parent, made });
        self.communicators.insert(new, self.makings.len() as u32 + 1);
        Ok(true)
    }

    fn collective(&mut self, function: usize, call: &Call) -> Result<(), String> {
        let n = |index| call.number(index);
        let name = FUNCTIONS[function].0;
        // Where the communicator and the root are.
        let (communicator, root) = match name {
            "Barrier" => (0, None),
            "Bcast" | "Allreduce" | "Scan" | "Exscan" => (3, (name == "Bcast").then_some(2)),
            "Gather" | "Scatter" => (4, Some(3)),
            "Gatherv" => (5, Some(4)),
            "Scatterv" => (6, Some(5)),
            "Reduce" => (4, Some(3)),
            "Allgather" | "Alltoall" | "Allgatherv" => (4, None),
            "Alltoallv" | "Reduce_scatter" => (3, None),
            "Alltoallw" => (1, None),
            _ => return Ok(()),
        };
        let mut event = self.event(function, call, n(communicator))?;
        if let Some(root) = root {
            event.peer = destination(n(root));
        }
        let place = self.events.events.len() as u32;
        match name {
            "Bcast" | "Allreduce" | "Scan" | "Exscan" | "Reduce" | "Allgather" | "Alltoall" => {
                event.bytes = self.amount(n(0), n(1))?;
            }
            "Gather" | "Allgatherv" => event.bytes = self.amount(n(1), n(2))?,
            "Gatherv" => event.bytes = self.amount(n(2), n(3))?,
            "Scatter" if n(0) == n(3) => event.bytes = self.amount(n(5), n(6))?,
            "Alltoallv" | "Reduce_scatter" | "Scatterv" => {
                let datatype = if name == "Scatterv" { n(2) } else { n(1) };
                for (member, &count) in (0..).zip(call.list(0)) {
                    let bytes = self.amount(i64::from(count), datatype)?;
                    event.bytes += bytes;
                    self.events.counts.push((place, member, bytes));
                }
            }
            "Alltoallw" => {
                for (member, (&count, &datatype)) in (0..).zip(call.list(0).iter().zip(call.list(2))) {
                    let bytes = self.amount(i64::from(count), i64::from(datatype))?;
                    event.bytes += bytes;
                    self.events.counts.push((place, member, bytes));
                }
            }
            _ => {}
        }
        self.push(event, None);
        Ok(())
    }
}

/// A source: any, or none if it is not a rank.
fn source(rank: i64) -> i32 {
    if rank == -1 { ANY_PEER } else { destination(rank) }
}

fn destination(rank: i64) -> i32 {
    if rank < 0 { NO_PEER } else { rank as i32 }
}

/// Makes communicators those of the trace, and peers ranks of the world.
///
/// # Errors
/// A peer or a member that its communicator has not.
pub(super) fn place(all: &mut Events, of_rank: &[Vec<Option<u32>>]) -> Result<(), String> {
    let untold = all.communicators.len() as u32 - 1;
    // Of these a rank says how much one other gets.
    let shared: Vec<bool> =
        all.functions.iter().map(|name| matches!(&*base_of(name), "Alltoall" | "Scatter")).collect();
    for (rank, (own, numbers)) in all.ranks.iter_mut().zip(of_rank).enumerate() {
        for event in &mut own.events {
            event.communicator = numbers[event.communicator as usize].unwrap_or(untold);
            let members = &all.communicators[event.communicator as usize];
            if members.is_empty() {
                event.peer = NO_PEER;
                continue;
            }
            if event.peer >= 0 {
                let member = members.get(event.peer as usize).ok_or_else(|| {
                    let name = &all.functions[usize::from(event.function)];
                    let (peer, count) = (event.peer, members.len());
                    format!("rank {rank}: expected a peer of MPI_{name} below {count}, found {peer}")
                })?;
                event.peer = *member as i32;
            }
            if shared[usize::from(event.function)] {
                event.bytes = event.bytes.saturating_mul(members.len() as u64).min(MOST_BYTES);
            }
        }
        for &(event, member, _) in &own.counts {
            let members = &all.communicators[own.events[event as usize].communicator as usize];
            if member as usize >= members.len() && !members.is_empty() {
                let count = members.len();
                return Err(format!("rank {rank}: expected counts of {count} members, found more"));
            }
        }
    }
    Ok(())
}
