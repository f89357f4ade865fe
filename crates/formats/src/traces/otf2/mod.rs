//! OTF2 archives, as Score-P writes them: an anchor, definitions of all, and two files a location.
//!
//! ```text
//! traces.otf2            the anchor: version, sizes of chunks
//! traces.def             definitions that all locations share: communicators, names, the clock
//! traces/0.def           numbers of a location's own, and how far its clock is off
//! traces/0.evt           its events
//! ```
//! Ranks are the locations of MPI's group of all, in its order; other locations of the same process are its
//! threads. Times are corrected as OTF2's own reader does.
//!
//! Readers that were looked at: OTF2's C library (`libopen-trace-format2-dev` of Debian, `otf2` on PyPI, which builds
//! it), which is no part of a wheel that must run anywhere, and crates that bind it; none in Rust alone was found.
//!
//! Invariant: memory is bounded by the files: a list is reserved once it is seen to be there.
//!
//! Source: OTF2 3.2, `OTF2_Buffer.c`, `OTF2_EvtReader_inc.c`, `OTF2_GlobalDefReader_inc.c`, and its manual.

mod definitions;
mod location;
mod records;

use std::collections::HashMap;

use netloom_model::{Events, MAX_ENDPOINTS, RankEvents};

use super::{Open, RecordingError, file};
use crate::FormatError;
use definitions::Members;
use location::Communicators;

/// Whether these bytes are an anchor.
pub fn is_anchor(bytes: &[u8]) -> bool {
    matches!(bytes, [3, 0x42 | 0x23, rest @ ..] if rest.starts_with(b"OTF2\0"))
}

/// Whether these bytes are another file of an archive.
pub fn is_part(bytes: &[u8]) -> bool {
    !is_anchor(bytes) && matches!(bytes, [3, 0x42 | 0x23, rest @ ..] if rest.len() >= 16)
}

/// Reads an archive, whose anchor is `bytes`; other files are found beside it.
///
/// # Errors
/// [`RecordingError`] names the file, and the byte in it: another version, files that are compressed, a file that is not there or
/// cut short, no ranks of MPI, a communicator or a rank that there is not.
pub fn read(path: &str, bytes: &[u8], open: &mut Open) -> Result<(Events, Vec<String>), RecordingError> {
    let anchor = definitions::anchor(bytes, path)?;
    let [of_events, of_definitions] = anchor.chunks;
    let stem = path.strip_suffix(".otf2").unwrap_or(path);
    let name = format!("{stem}.def");
    let shared = definitions::shared(&file(&name, open)?, &name, of_definitions)?;
    let mut files = vec![name.clone()];
    let locations = shared.ranks();
    let ranks = u32::try_from(locations.len()).ok().filter(|&ranks| (1..=MAX_ENDPOINTS).contains(&ranks));
    let ranks = ranks.ok_or_else(|| {
        let found = locations.len();
        FormatError::whole(
            &name,
            format!("expected 1 to {MAX_ENDPOINTS} ranks of MPI among its groups, found {found}"),
        )
    })?;
    let mut events =
        Events { tool: anchor.creator, communicators: vec![(0..ranks).collect()], ..Events::default() };
    let (mut numbers, mut untold) = (HashMap::new(), None);
    for &(own, group) in &shared.communicators {
        let number = match shared.members(group, ranks) {
            // The first of all ranks is the world.
            Members::Known(members)
                if members == events.communicators[0] && !numbers.values().any(|&one| one == 0) =>
            {
                0
            }
            Members::Known(members) => {
                events.communicators.push(members);
                events.communicators.len() as u32 - 1
            }
            Members::Alone => continue,
            Members::Untold => *untold.get_or_insert_with(|| {
                events.communicators.push(Vec::new());
                events.communicators.len() as u32 - 1
            }),
        };
        numbers.insert(own, number);
    }
    let first_alone = events.communicators.len() as u32;
    events.communicators.extend((0..ranks).map(|rank| vec![rank]));
    let mut by_group: HashMap<u64, Vec<u64>> = HashMap::new();
    for &(location, group) in &shared.locations {
        by_group.entry(group).or_default().push(location);
    }
    let group_of: HashMap<u64, u64> = shared.locations.iter().copied().collect();
    for (rank, &master) in (0..ranks).zip(locations) {
        let own = group_of.get(&master).and_then(|group| by_group.get(group));
        let threads =
            std::iter::once(master).chain(own.into_iter().flatten().copied().filter(|&one| one != master));
        let mut of_threads = Vec::new();
        for location in threads {
            let names = [format!("{stem}/{location}.def"), format!("{stem}/{location}.evt")];
            let definitions = match file(&names[0], open) {
                Ok(data) => definitions::own(&data, &names[0], of_definitions)?,
                // A location without numbers of its own has no such file.
                Err(RecordingError::File { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {
                    definitions::Own::default()
                }
                Err(error) => return Err(error),
            };
            let members = std::mem::take(&mut events.communicators);
            let communicators =
                Communicators { numbers: &numbers, members: &members, alone: Some(first_alone + rank) };
            let data = match file(&names[1], open) {
                Ok(data) => data,
                Err(RecordingError::File { error, .. })
                    if location != master && error.kind() == std::io::ErrorKind::NotFound =>
                {
                    events.communicators = members;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let found = location::read(
                &data,
                &names[1],
                of_events,
                rank,
                (&shared, definitions),
                communicators,
                &mut events,
            );
            events.communicators = members;
            of_threads.push(found?);
            files.extend(names);
        }
        events.hosts.push(shared.host(master));
        events.ranks.push(merged(of_threads));
    }
    if untold.is_some() {
        let calls = events
            .ranks
            .iter()
            .flat_map(|own| &own.events)
            .filter(|event| Some(event.communicator) == untold);
        let calls = calls.count() as u64;
        events.lack("calls on communicators whose members are not told", calls);
    }
    Ok((events, files))
}

/// The events of a process's threads, in order of time.
fn merged(threads: Vec<RankEvents>) -> RankEvents {
    let mut threads: Vec<RankEvents> = threads.into_iter().filter(|one| !one.events.is_empty()).collect();
    if threads.len() < 2 {
        return threads.pop().unwrap_or_default();
    }
    let mut order: Vec<(i64, usize, usize)> = Vec::new();
    for (thread, own) in threads.iter().enumerate() {
        let mut last = i64::MIN;
        for (at, event) in own.events.iter().enumerate() {
            // A thread's own order stays, whatever its clock.
            last = last.max(event.start_ns);
            order.push((last, thread, at));
        }
    }
    order.sort_unstable();
    let mut places: Vec<Vec<u32>> = threads.iter().map(|own| vec![0; own.events.len()]).collect();
    let mut found = RankEvents::default();
    for (place, (_, thread, at)) in order.into_iter().enumerate() {
        places[thread][at] = place as u32;
        let event = threads[thread].events[at];
        found.events.push(netloom_model::Event { thread: thread as u16, ..event });
    }
    for (own, places) in threads.iter().zip(&places) {
        let place = |at: u32| places[at as usize];
        found.completes.extend(own.completes.iter().map(|&(which, begun)| (place(which), place(begun))));
    }
    found.completes.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The threads' events follow each other by time, and requests stay theirs.
    #[test]
    fn threads_are_merged_by_time() {
        let event = |start_ns: i64| netloom_model::Event {
            function: 0,
            thread: 0,
            request: false,
            cancelled: false,
            peer: -1,
            tag: -1,
            communicator: 0,
            bytes: start_ns as u64,
            start_ns,
            end_ns: start_ns,
        };
        let one =
            RankEvents { events: vec![event(1), event(4)], completes: vec![(1, 0)], counts: Vec::new() };
        let two =
            RankEvents { events: vec![event(2), event(3)], completes: vec![(1, 0)], counts: Vec::new() };
        let found = merged(vec![one, two, RankEvents::default()]);
        let order: Vec<_> = found.events.iter().map(|one| (one.bytes, one.thread)).collect();
        assert_eq!(order, [(1, 0), (2, 1), (3, 1), (4, 0)]);
        assert_eq!(found.completes, [(2, 1), (3, 0)]);
    }
}
