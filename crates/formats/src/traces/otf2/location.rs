//! Events of one location of an OTF2 archive.
//!
//! A call is a region that is entered and left; what it sent, received or completed stands within. A receive that is
//! a request tells its sender when it is complete. Lengths of collectives are told for all members together, as
//! Score-P counts them: of a reduction everywhere, a scan and an all-gather the own bytes, times those that get them.

use std::collections::HashMap;

use netloom_model::events::{ANY_PEER, NO_PEER, UNKNOWN, base_of};
use netloom_model::{Event, Events, RankEvents};

use super::definitions::{Own, Shared};
use super::records::{NONE, Records};
use crate::FormatError;

/// Numbers of records.
const TIME: u8 = 5;
const ATTRIBUTES: u8 = 6;
const ENTER: u8 = 12;
const LEAVE: u8 = 13;
const SEND: u8 = 14;
const ISEND: u8 = 15;
const ISEND_COMPLETE: u8 = 16;
const IRECV_REQUEST: u8 = 17;
const RECV: u8 = 18;
const IRECV: u8 = 19;
const TEST: u8 = 20;
const CANCELLED: u8 = 21;
const COLLECTIVE_END: u8 = 23;
const OPEN_MP: [u8; 4] = [24, 28, 29, 30];
const ONE_SIDED: [u8; 3] = [46, 47, 48];
const COLLECTIVE_REQUEST: u8 = 85;
const COLLECTIVE_COMPLETE: u8 = 86;

/// Functions by the number of an operation.
const OPERATIONS: [&str; 17] = [
    "Barrier",
    "Bcast",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Allreduce",
    "Reduce",
    "Reduce_scatter",
    "Scan",
    "Exscan",
    "Reduce_scatter_block",
];
/// Seconds, and ticks a second, that need no more than 64 bits in nanoseconds.
const FAST: i64 = 1 << 33;
/// Bytes of one call, at most.
const MOST_BYTES: u64 = 1_000_000_000_000;

/// The communicators of a trace, by their number in the archive, as this rank has them.
pub(super) struct Communicators<'a> {
    pub numbers: &'a HashMap<u64, u32>,
    pub members: &'a [Vec<u32>],
    /// Those that each rank has alone; the rank's own number.
    pub alone: Option<u32>,
}

struct Reader<'a> {
    shared: &'a Shared,
    own: Own,
    communicators: Communicators<'a>,
    rank: u32,
    events: RankEvents,
    /// Regions that are open: their number, when they were entered, how many events there were.
    stack: Vec<(u64, i64, usize)>,
    requests: HashMap<u64, u32>,
    /// Functions by name, and by the region that is open and what a record says of it.
    functions: HashMap<String, u16>,
    here: HashMap<(u64, &'static str), u16>,
    now: i64,
    /// The event that completes requests in the open region.
    completing: Option<u32>,
    all: &'a mut Events,
}

/// Reads the events of a location of this rank.
pub(super) fn read(
    data: &[u8],
    label: &str,
    chunk: u64,
    rank: u32,
    (shared, own): (&Shared, Own),
    communicators: Communicators,
    all: &mut Events,
) -> Result<RankEvents, FormatError> {
    let mut records = Records::new(data, label, chunk)?;
    let mut reader = Reader {
        shared,
        own,
        communicators,
        rank,
        events: RankEvents::default(),
        stack: Vec::new(),
        requests: HashMap::new(),
        functions: HashMap::new(),
        here: HashMap::new(),
        now: UNKNOWN,
        completing: None,
        all,
    };
    while let Some(record) = records.next()? {
        let at = records.bytes.at - 1;
        reader.record(record, &mut records)?.map_err(|message| {
            records.bytes.at = at;
            records.bytes.wrong(&message)
        })?;
    }
    Ok(reader.events)
}

impl Reader<'_> {
    fn record(&mut self, record: u8, records: &mut Records) -> Result<Result<(), String>, FormatError> {
        match record {
            TIME => {
                let ticks = records.fixed64("a time")?;
                self.now = self.ns(ticks);
            }
            ENTER => {
                let region = records.number("a region")?;
                self.completing = None;
                self.stack.push((region, self.now, self.events.events.len()));
            }
            LEAVE => {
                records.number("a region")?;
                self.completing = None;
                if let Some((_, _, first)) = self.stack.pop() {
                    let now = self.now;
                    let open = self.events.events[first..].iter_mut().filter(|event| event.end_ns == UNKNOWN);
                    open.for_each(|event| event.end_ns = now);
                }
            }
            ISEND_COMPLETE => {
                let request = records.number("a request")?;
                self.complete(request);
            }
            IRECV_REQUEST => {
                let request = records.number("a request")?;
                let event = self.event("Irecv", 0);
                self.push(Event { peer: ANY_PEER, request: true, ..event }, Some(request));
            }
            TEST => {
                records.number("a request")?;
            }
            CANCELLED => {
                let request = records.number("a request")?;
                if let Some(&begun) = self.requests.get(&request) {
                    self.events.events[begun as usize].cancelled = true;
                    self.complete(request);
                }
            }
            one if OPEN_MP.contains(&one) => {
                records.number("a number")?;
            }
            ATTRIBUTES => records.pass()?,
            SEND | ISEND | RECV | IRECV => {
                let end = records.length()?;
                let (peer, communicator, tag) =
                    (records.number("a rank")?, records.number("a communicator")?, records.number("a tag")?);
                let bytes = records.number("a length")?;
                let request =
                    if record == ISEND || record == IRECV { records.number("a request")? } else { NONE };
                records.bytes.at = end;
                return Ok(self.message(record, peer, communicator, (tag, bytes, request)));
            }
            COLLECTIVE_END | COLLECTIVE_COMPLETE => {
                let end = records.length()?;
                let operation = records.bytes.u8("an operation")?;
                let (communicator, root) = (records.number("a communicator")?, records.number("a root")?);
                let sizes = [records.number("bytes sent")?, records.number("bytes received")?];
                let request =
                    (record == COLLECTIVE_COMPLETE).then(|| records.number("a request")).transpose()?;
                records.bytes.at = end;
                return Ok(self.collective(operation, communicator, root, (sizes, request)));
            }
            COLLECTIVE_REQUEST => {
                let end = records.length()?;
                let request = records.number("a request")?;
                records.bytes.at = end;
                let event = self.event("Ibarrier", 0);
                self.push(Event { request: true, ..event }, Some(request));
            }
            one => {
                if ONE_SIDED.contains(&one) {
                    self.all.lack("one-sided messages", 1);
                }
                records.pass()?;
            }
        }
        Ok(Ok(()))
    }

    /// Nanoseconds since 1970, or since the trace began.
    fn ns(&mut self, ticks: u64) -> i64 {
        let (resolution, offset, since) = self.shared.clock.unwrap_or((1_000_000_000, 0, 0));
        let ticks = i128::from(self.own.corrected(ticks)) - i128::from(offset);
        let ns = match (i64::try_from(ticks), i64::try_from(resolution)) {
            // The same without a division of 128 bits, which takes longer than all else of a record.
            (Ok(ticks), Ok(resolution))
                if resolution < FAST && ticks.unsigned_abs() / (resolution as u64) < FAST as u64 =>
            {
                i128::from(ticks / resolution * 1_000_000_000)
                    + i128::from(ticks % resolution * 1_000_000_000 / resolution)
            }
            _ => ticks * 1_000_000_000 / i128::from(resolution),
        };
        i64::try_from((ns + i128::from(since)).max(0)).unwrap_or(i64::MAX)
    }

    /// The number of a function.
    fn function(&mut self, name: &str) -> u16 {
        if let Some(&function) = self.functions.get(name) {
            return function;
        }
        let function = self.all.function(name);
        self.functions.insert(name.to_owned(), function);
        function
    }

    /// The function that is open, if it is one of this kind, else `other`.
    fn open(&mut self, other: &'static str) -> u16 {
        let region = self.stack.last().map_or(NONE, |open| self.own.region(open.0));
        if let Some(&function) = self.here.get(&(region, other)) {
            return function;
        }
        let kinds: &[&str] = match &*base_of(other) {
            "Send" => &["Send", "Bsend", "Ssend", "Rsend", "Sendrecv", "Sendrecv_replace"],
            "Wait" => &["Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome"],
            _ => &[],
        };
        let shared = self.shared;
        let name = shared.regions.get(&region).and_then(|name| shared.strings.get(name));
        let open = name.and_then(|name| name.strip_prefix("MPI_")).filter(|open| {
            kinds.contains(&&*base_of(open)) && open.starts_with('I') == other.starts_with('I')
        });
        let function = self.function(open.unwrap_or(other));
        self.here.insert((region, other), function);
        function
    }

    /// An event of the function that is open, if it is one of this kind, else of `other`.
    fn event(&mut self, other: &'static str, communicator: u32) -> Event {
        let function = self.open(other);
        self.event_of(function, communicator)
    }

    fn event_of(&mut self, function: u16, communicator: u32) -> Event {
        let (start_ns, end_ns) = match self.stack.last() {
            Some(&(_, entered, _)) => (entered, UNKNOWN),
            None => (self.now, self.now),
        };
        Event {
            function,
            thread: 0,
            request: false,
            cancelled: false,
            peer: NO_PEER,
            tag: UNKNOWN as i32,
            communicator,
            bytes: 0,
            start_ns,
            end_ns,
        }
    }

    fn push(&mut self, event: Event, request: Option<u64>) {
        if let Some(request) = request {
            self.requests.insert(request, self.events.events.len() as u32);
        }
        self.events.events.push(event);
    }

    fn complete(&mut self, request: u64) {
        let Some(begun) = self.requests.remove(&request) else { return };
        let which = match self.completing {
            Some(which) if which > begun => which,
            _ => {
                let event = self.event("Wait", 0);
                let which = self.events.events.len() as u32;
                self.push(event, None);
                *self.completing.insert(which)
            }
        };
        self.events.completes.push((which, begun));
    }

    /// The trace's number of a communicator, and the world rank of a member.
    fn member(&self, communicator: u64, place: u64) -> Result<(u32, i32), String> {
        let number = self.communicator(communicator)?;
        let members = &self.communicators.members[number as usize];
        if place == NONE || members.is_empty() {
            return Ok((number, NO_PEER));
        }
        let member = usize::try_from(place).ok().and_then(|place| members.get(place));
        let member = member
            .ok_or_else(|| format!("a rank of its communicator, below {}, found {place}", members.len()))?;
        Ok((number, *member as i32))
    }

    fn communicator(&self, own: u64) -> Result<u32, String> {
        let number = self.own.communicator(own);
        let known = self.communicators.numbers.get(&number).copied();
        let known = known.or(self.communicators.alone);
        known.ok_or_else(|| format!("a communicator that is defined, found {number}"))
    }

    fn message(
        &mut self,
        record: u8,
        peer: u64,
        communicator: u64,
        (tag, bytes, request): (u64, u64, u64),
    ) -> Result<(), String> {
        let (communicator, peer) = self.member(communicator, peer)?;
        let tag = i32::try_from(tag).map_err(|_| format!("a tag below 2147483648, found {tag}"))?;
        if bytes > MOST_BYTES {
            return Err(format!("at most {MOST_BYTES} bytes in a call, found {bytes}"));
        }
        let request = (request != NONE).then_some(request);
        match record {
            SEND | ISEND => {
                let event = self.event(if record == SEND { "Send" } else { "Isend" }, communicator);
                let event = Event { peer, tag, bytes, request: record == ISEND, ..event };
                self.push(event, request.filter(|_| record == ISEND));
            }
            RECV => {
                let event = self.event("Recv", communicator);
                self.push(Event { peer, tag, ..event }, None);
            }
            _ => {
                let begun = request.and_then(|request| self.requests.get(&request).copied());
                let Some(begun) = begun else {
                    return Err("a receive whose request has begun, found one that has not".into());
                };
                let event = &mut self.events.events[begun as usize];
                (event.peer, event.tag, event.communicator) = (peer, tag, communicator);
                self.complete(request.unwrap_or(NONE));
            }
        }
        Ok(())
    }

    fn collective(
        &mut self,
        operation: u8,
        communicator: u64,
        root: u64,
        (sizes, request): ([u64; 2], Option<u64>),
    ) -> Result<(), String> {
        let Some(&name) = OPERATIONS.get(usize::from(operation)) else {
            // Making a communicator, a window: no message of its own is told.
            if let Some(request) = request
                && let Some(&begun) = self.requests.get(&request)
            {
                self.events.events[begun as usize].cancelled = true;
                self.complete(request);
            }
            return Ok(());
        };
        // A root may be none, or the caller itself between two groups.
        let root = if root >= u64::from(u32::MAX - 1) { NONE } else { root };
        let (number, peer) = self.member(communicator, root)?;
        let members = &self.communicators.members[number as usize];
        let (n, me) = (
            members.len().max(1) as u64,
            members.iter().position(|&rank| rank == self.rank).unwrap_or(0) as u64,
        );
        let [sent, received] = sizes.map(|size| if size == NONE { 0 } else { size });
        let bytes = match name {
            "Bcast" => received.max(if peer == self.rank as i32 { sent / n } else { 0 }),
            "Allreduce" | "Allgather" | "Allgatherv" => sent.max(received) / n,
            "Scan" => received / (me + 1),
            "Exscan" => received.checked_div(me).unwrap_or(sent / (n - 1).max(1)),
            _ => sent,
        };
        if bytes > MOST_BYTES {
            return Err(format!("at most {MOST_BYTES} bytes in a call, found {bytes}"));
        }
        let name = if request.is_some() { format!("I{}", name.to_lowercase()) } else { name.to_owned() };
        let function = self.function(&name);
        let event = Event { peer, bytes, ..self.event_of(function, number) };
        match request {
            None => self.push(event, None),
            Some(request) => {
                let Some(&begun) = self.requests.get(&request) else {
                    return Err("a collective whose request has begun, found one that has not".into());
                };
                let begun = &mut self.events.events[begun as usize];
                *begun = Event { start_ns: begun.start_ns, end_ns: begun.end_ns, request: true, ..event };
                self.complete(request);
            }
        }
        Ok(())
    }
}
