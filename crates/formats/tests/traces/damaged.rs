//! Files of all kinds, damaged at random: an error that names one, or events that keep their invariants.

use std::collections::HashMap;
use std::io;

use netloom_formats::traces::{Binary, read};
use netloom_formats::{Found, RecordingError, read_goal, rewrite_goal};
use netloom_model::Events;
use netloom_model::rng::{Stream, below, stream};
use netloom_testkit::trials;

fn files(folder: &str) -> HashMap<String, Vec<u8>> {
    let root = format!("{}/../../tests/data/traces/{folder}", env!("CARGO_MANIFEST_DIR"));
    let mut found = HashMap::new();
    let mut folders = vec![(root, String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                folders.push((entry.path().display().to_string(), format!("{name}/")));
            } else {
                found.insert(name, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    found
}

/// What whoever takes events relies on.
fn check(events: &Events) {
    let ranks = events.ranks.len() as u32;
    assert!(events.communicators[0].iter().copied().eq(0..ranks));
    for members in &events.communicators {
        let mut sorted = members.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert!(
            sorted.len() == members.len() && sorted.last().is_none_or(|&last| last < ranks),
            "{members:?}"
        );
    }
    for own in &events.ranks {
        for event in &own.events {
            assert!(usize::from(event.function) < events.functions.len());
            assert!((event.communicator as usize) < events.communicators.len());
            assert!((-2..ranks as i32).contains(&event.peer) && event.bytes <= 1 << 50, "{event:?}");
        }
        assert!(own.completes.is_sorted_by_key(|one| one.0) && own.counts.is_sorted_by_key(|one| one.0));
        let count = own.events.len() as u32;
        assert!(own.completes.iter().all(|&(which, begun)| begun < which && which < count));
        assert!(own.counts.iter().all(|&(event, _, _)| event < count));
    }
}

fn damage(bytes: &mut Vec<u8>, random: &mut Stream) {
    for _ in 0..=below(random, 4) {
        if bytes.is_empty() {
            return;
        }
        let at = below(random, bytes.len() as u64) as usize;
        let length = (below(random, 24) as usize).min(bytes.len() - at);
        match below(random, 4) {
            0 => bytes[at] = below(random, 256) as u8,
            1 => drop(bytes.drain(at..at + length)),
            2 => {
                let part = bytes[at..at + length].to_vec();
                bytes.splice(at..at, part);
            }
            _ => bytes[at..at + length].fill([0x00, 0x7f, 0xff][below(random, 3) as usize]),
        }
    }
}

#[test]
fn damaged_traces_are_hostile_but_harmless() {
    let trials = trials(60);
    let kinds = [
        (Binary::Dumpi, "dumpi-sst", "testtrace.meta"),
        (Binary::Dumpi, "dumpi-is-8", "dumpi-2026.11.23.00.54.24.meta"),
        (Binary::Otf2, "otf2-scorep-bcast-4", "traces.otf2"),
        (Binary::Chakra, "chakra-alltoall-4", "all_to_all.0.et"),
        (Binary::Chakra, "chakra-ring-8", "custom_allreduce.0.et"),
    ];
    let mut read_whole = 0;
    for (kind, folder, first) in kinds {
        let files = files(folder);
        let mut names: Vec<&String> = files.keys().filter(|name| !name.ends_with("txt")).collect();
        names.sort_unstable();
        for trial in 0..trials {
            let mut random = stream(92, trial);
            let victim = names[below(&mut random, names.len() as u64) as usize];
            let mut damaged = files[victim].clone();
            damage(&mut damaged, &mut random);
            let mut open = |name: &str| -> io::Result<Found> {
                let bytes = if name == victim { Some(&damaged) } else { files.get(name) };
                bytes.map(|bytes| Found::File(bytes.clone())).ok_or_else(|| io::ErrorKind::NotFound.into())
            };
            match read(kind, first, &mut open) {
                Ok((events, _)) => {
                    check(&events);
                    read_whole += 1;
                }
                Err(RecordingError::Format(error)) => {
                    assert!(
                        error.message.contains("expected") && !error.label.is_empty(),
                        "{folder} {trial}: {error}"
                    );
                }
                Err(RecordingError::File { .. }) => {}
            }
        }
    }
    assert!(read_whole > 0);
}

/// GOAL's binary form: an error that names the byte, or a schedule that is the same once it is written.
#[test]
fn damaged_schedules_are_hostile_but_harmless() {
    let path = format!("{}/../../tests/data/cases/goal-binary/exchange.bin", env!("CARGO_MANIFEST_DIR"));
    let whole = std::fs::read(path).unwrap();
    let mut read_whole = 0;
    for trial in 0..trials(2000) {
        let mut random = stream(59, trial);
        let mut damaged = whole.clone();
        damage(&mut damaged, &mut random);
        match read_goal(&damaged, "x.bin") {
            Ok(schedule) if damaged.starts_with(&whole[..8]) => {
                let again = rewrite_goal(&damaged, "x.bin", true).unwrap();
                assert_eq!(read_goal(&again, "again").unwrap(), schedule);
                read_whole += 1;
            }
            Ok(_) => {}
            Err(error) => assert!(error.message.contains("expected"), "{trial}: {error}"),
        }
    }
    assert!(read_whole > 0);
}
