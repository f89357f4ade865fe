//! OTF2: what otf2-print lists, and files that are cut or changed.

use netloom_formats::traces::otf2::read;
use netloom_model::{Event, Events};

use super::{file_of, opened};

/// The archive of a test folder, its files changed by `change`.
fn read_with(folder: &str, change: &dyn Fn(&str, Vec<u8>) -> Vec<u8>) -> Result<Events, String> {
    let anchor = change("traces.otf2", file_of(folder, "traces.otf2").unwrap());
    let found = read("traces.otf2", &anchor, &mut opened(folder, change));
    found.map(|(events, _)| events).map_err(|error| error.to_string())
}

fn whole(folder: &str) -> Events {
    read_with(folder, &|_, bytes| bytes).unwrap()
}

fn calls(events: &Events, name: &str) -> Vec<Event> {
    let is = |event: &&Event| events.functions[usize::from(event.function)] == name;
    events.ranks.iter().flat_map(|own| own.events.iter().filter(is).copied()).collect()
}

/// As otf2-print of OTF2 3.0 tells: 90 messages of each of 4 B, 8 B, … 128 KiB.
#[test]
fn score_p_of_ten_ranks_has_1440_messages() {
    let events = whole("otf2-scorep-10");
    let sends = calls(&events, "Isend");
    assert_eq!((sends.len(), sends.iter().map(|one| one.bytes).sum::<u64>()), (1440, 90 * 262_140));
    assert_eq!(calls(&events, "Irecv").len(), 1440);
    let completed: usize = events.ranks.iter().map(|own| own.completes.len()).sum();
    assert_eq!(completed, 2880);
    assert!(calls(&events, "Irecv").iter().all(|one| one.peer >= 0 && one.tag >= 0));
    // The world, four pairs of ranks, and each rank alone.
    assert_eq!(events.communicators.len(), 1 + 4 + 10);
    assert_eq!(events.communicators[1], [0, 6]);
    let allreduces = calls(&events, "Allreduce");
    let first = allreduces.iter().find(|one| one.communicator == 0).unwrap();
    assert_eq!(first.bytes, 4, "40 B among 10 ranks");
    assert_eq!((events.tool.as_str(), events.hosts[0].as_deref()), ("Score-P 2.0.2", Some("kn1.eth")));
    assert!(
        events
            .ranks
            .iter()
            .flat_map(|own| &own.events)
            .all(|one| one.end_ns >= one.start_ns && one.start_ns >= 0)
    );
}

#[test]
fn broadcasts_of_four_ranks_have_no_messages() {
    let events = whole("otf2-scorep-bcast-4");
    let bytes: Vec<_> =
        calls(&events, "Bcast").iter().map(|one| (one.bytes, one.peer, one.communicator)).collect();
    assert_eq!(bytes, [(4096, 0, 0); 4]);
    assert!(calls(&events, "Isend").is_empty() && calls(&events, "Send").is_empty());
}

#[test]
fn every_truncation_of_a_file_is_an_error_that_names_it() {
    for name in ["traces.otf2", "traces.def", "traces/0.def", "traces/0.evt"] {
        let length = file_of("otf2-scorep-bcast-4", name).unwrap().len();
        // An end is two bytes with a number behind them, which says nothing.
        for cut in (0..length - 2).filter(|cut| *cut < 300 || cut % 41 == 0) {
            let change = |file: &str, mut bytes: Vec<u8>| {
                if file == name {
                    bytes.truncate(cut);
                }
                bytes
            };
            let error = read_with("otf2-scorep-bcast-4", &change).unwrap_err();
            assert!(
                error.starts_with(&format!("{name}: byte ")) && error.contains("expected"),
                "{cut}: {error}"
            );
        }
    }
}

/// Any byte changed: an error or a trace, never a panic or much memory.
#[test]
fn hostile_bytes_are_survived() {
    for name in ["traces.otf2", "traces.def", "traces/0.def", "traces/0.evt"] {
        for at in (0..10_000).filter(|at| *at < 100 || at % 97 == 0) {
            for value in [0x07, 0xff] {
                let change = |file: &str, mut bytes: Vec<u8>| {
                    if let Some(byte) = bytes.get_mut(at).filter(|_| file == name) {
                        *byte = value;
                    }
                    bytes
                };
                if let Err(error) = read_with("otf2-scorep-bcast-4", &change) {
                    assert!(
                        error.contains("expected") || error.contains("not found"),
                        "{name} {at}: {error}"
                    );
                }
            }
        }
    }
}
