//! Recorded runs as they lie on a disk: one file, a file for every rank with an index that names them, or a folder of these.
//!
//! `smpirun -trace-ti` writes an index, `LU.A.32`, and beside it `LU.A.32_files/0_rank-0.txt`, …; the index names them as seen from the
//! folder in which it ran. A GOAL schedule is one file.
//!
//! Invariant: errors name the file and the line in it, whatever the pieces were put together to.
//!
//! Source: SimGrid 3.32, "SMPI offline simulation".

use std::io;

use netloom_model::{Events, Lines, Schedule, Trace};

use crate::error::excerpt;
use crate::goal::is_binary;
use crate::prof::{is_prof, read_prof};
use crate::traces::{self, Binary, Found, RecordingError};
use crate::{FormatError, decompress, read_goal, read_ti, read_ti_calls, read_ti_workload};

/// Files of the folder that `netloom record --events` makes: what it is, and what can be replayed of it.
const OWN_META: &str = "trace.json";
const OWN_TRACE: &str = "trace.ti.gz";
const OWN_TABLES: [&str; 2] = ["events.parquet", "communicators.parquet"];
/// The comment about tags of collectives, before and behind the first of them.
const TAGS: [&str; 2] = ["tags from ", " on: messages of collectives"];
/// All pieces together, at most.
const MOST_BYTES: usize = 1 << 36;

/// A recorded run's text.
#[derive(Clone, Debug)]
pub struct Recording {
    label: String,
    text: Vec<u8>,
    /// What a binary trace has.
    events: Option<Events>,
    /// Where its lines are.
    pub lines: Lines,
}

/// What a file with traffic is, by how it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficKind {
    /// Matrix Market.
    MatrixMarket,
    /// Numbers between blanks: a dense matrix.
    Dense,
    /// A time-independent trace, or an index of its files.
    Trace,
    /// A GOAL schedule.
    Goal,
    /// A binary trace.
    Binary(Binary),
    /// None of these: CSV, if anything.
    Csv,
}

impl TrafficKind {
    /// Looks at the beginning of a file, unpacked.
    pub fn of(text: &[u8]) -> Self {
        if text.trim_ascii_start().starts_with(b"%%MatrixMarket") {
            return Self::MatrixMarket;
        }
        if let Some(kind) = Binary::of(text) {
            return Self::Binary(kind);
        }
        if is_goal(text) {
            return Self::Goal;
        }
        if is_prof(text) || traces::foreign(text).is_some() {
            return Self::Trace;
        }
        let text = String::from_utf8_lossy(&text[..text.len().min(1 << 16)]);
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let Some(line) = lines.next() else { return Self::Csv };
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let is_number = |word: &&str| word.parse::<f64>().is_ok();
        match words[..] {
            [only] => {
                if names_a_file(only) {
                    Self::Trace
                } else {
                    Self::Csv
                }
            }
            _ if words.iter().all(is_number) => Self::Dense,
            [rank, verb, ..]
                if rank.parse::<u32>().is_ok()
                    && verb.chars().all(|c| c.is_ascii_alphabetic() || c == '_') =>
            {
                Self::Trace
            }
            _ => Self::Csv,
        }
    }
}

/// A line of an index: neither CSV nor a number.
fn names_a_file(line: &str) -> bool {
    line.contains(['/', '.']) && !line.contains([',', ';', '"']) && line.parse::<f64>().is_err()
}

/// Whether a name stays below the folder that it is seen from: an index of others names no file elsewhere.
fn is_below(name: &str) -> bool {
    !name.starts_with('/') && !name.split('/').any(|part| part == "..")
}

/// Schedules say how many ranks they have before anything else but comments; those of the binary form have a cookie.
pub fn is_goal(text: &[u8]) -> bool {
    is_binary(text) || text[..text.len().min(1 << 16)].windows(9).any(|word| word == b"num_ranks")
}

/// Refuses what is known to be another kind of file, and a trace of liballprof, whose lines look like names of files:
/// `MPI_Init:-:1:2:1.0`.
fn is_not_foreign(text: &[u8], label: &str) -> Result<(), FormatError> {
    if let Some((what, helps)) = traces::foreign(text) {
        let message = format!("expected a recorded run, found {what}: what helps is {helps}");
        return Err(FormatError::whole(label, message));
    }
    let lines = (1..).zip(text.split(|&b| b == b'\n'));
    let mut actions = lines.filter(|(_, line)| !line.trim_ascii().is_empty() && !line.starts_with(b"#"));
    match actions.next() {
        Some((number, line)) if line.starts_with(b"MPI_") && line.contains(&b':') => {
            let message = format!(
                "expected a recorded run (TI, GOAL), found \"{}\", a trace of liballprof: LogGOPSim's Schedgen makes a GOAL schedule of it",
                excerpt(&String::from_utf8_lossy(line))
            );
            Err(FormatError::at(label, number, message))
        }
        _ => Ok(()),
    }
}

/// The files that an index names, with their lines; `None`: it is none.
fn index(text: &[u8]) -> Option<Vec<(usize, String)>> {
    if is_goal(text) {
        // Its comments may look like names of files.
        return None;
    }
    let text = str::from_utf8(text).ok()?;
    let lines = (1..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
    let names: Vec<_> = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).collect();
    let (_, first) = names.first()?;
    names_a_file(first).then(|| names.iter().map(|&(number, name)| (number, name.to_owned())).collect())
}

/// Beside a file: `run/t.ti` and `a/0.txt` are `run/a/0.txt`.
fn beside(path: &str, name: &str) -> String {
    match path.rfind('/') {
        Some(at) if !name.starts_with('/') => format!("{}{name}", &path[..=at]),
        _ => name.to_owned(),
    }
}

impl Recording {
    /// A run that is one text: of standard input, say.
    ///
    /// # Errors
    /// [`FormatError`] for damaged gzip data, and an index, whose files nobody can open.
    pub fn of(bytes: &[u8], label: &str) -> Result<Self, FormatError> {
        let text = decompress(bytes, label)?.into_owned();
        if let Some(kind) = Binary::of(&text) {
            let message = format!(
                "expected a trace of one file, found {kind}: give its path, so that its files are found"
            );
            return Err(FormatError::whole(label, message));
        }
        is_not_foreign(&text, label)?;
        if let Some((line, name)) = index(&text).and_then(|names| names.into_iter().next()) {
            let message = format!(
                "expected a rank first, found \"{}\" (of an index give the path, so that its files are found)",
                excerpt(&name)
            );
            return Err(FormatError::at(label, line, message));
        }
        Ok(Self { label: label.into(), text, events: None, lines: Lines::of(label) })
    }

    /// The run under a path, with whatever other files it is made of; `open` reads by names such as `path` is.
    ///
    /// # Errors
    /// [`RecordingError`] names the file, and the line of the index that names it.
    pub fn read(path: &str, open: &mut dyn FnMut(&str) -> io::Result<Found>) -> Result<Self, RecordingError> {
        let failed = |error| RecordingError::File { path: path.into(), error };
        match open(path).map_err(failed)? {
            Found::Folder(mut names) => {
                names.retain(|name| !name.starts_with('.'));
                names.sort_by(|a, b| netloom_model::names::natural_cmp(a, b));
                if names.is_empty() {
                    return Err(
                        FormatError::whole(path, "expected the ranks' files, found an empty folder").into()
                    );
                }
                let folder = path.trim_end_matches('/');
                if [OWN_META, OWN_TRACE].iter().all(|own| names.iter().any(|name| name == own)) {
                    return Self::read(&format!("{folder}/{OWN_TRACE}"), open);
                }
                if OWN_TABLES.iter().any(|own| names.iter().any(|name| name == own)) {
                    let gone =
                        [OWN_META, OWN_TRACE].into_iter().find(|own| !names.iter().any(|name| name == own));
                    let gone = format!("{folder}/{}", gone.unwrap_or(OWN_META));
                    let message = "expected this file of a recorded run, found none";
                    return Err(FormatError::whole(&gone, message).into());
                }
                if let Some((kind, name)) = traces::of_folder(path, &names)? {
                    return Self::binary(kind, &format!("{folder}/{name}"), open);
                }
                let paths = names.iter().map(|name| format!("{folder}/{name}"));
                Self::joined(path, paths.map(|path| (None, vec![path])), open)
            }
            Found::File(bytes) => {
                let text = decompress(&bytes, path)?;
                if text.is_empty() {
                    return Err(
                        FormatError::whole(path, "expected a recorded run, found an empty file").into()
                    );
                }
                if let Some(kind) = Binary::of(&text) {
                    return Self::binary(kind, path, open);
                }
                is_not_foreign(&text, path)?;
                let Some(names) = index(&text) else {
                    return Ok(Self {
                        label: path.into(),
                        text: text.into_owned(),
                        events: None,
                        lines: Lines::of(path),
                    });
                };
                // As smpirun names them, or only the last folder of that, beside the index.
                let tries = |(line, name): (usize, String)| {
                    let last = name.rmatch_indices('/').nth(1).map(|(at, _)| &name[at + 1..]);
                    let below =
                        [Some(name.as_str()), last].into_iter().flatten().filter(|name| is_below(name));
                    (Some(line), below.map(|name| beside(path, name)).collect())
                };
                Self::joined(path, names.into_iter().map(tries), open)
            }
        }
    }

    /// A binary trace under the path that names its other files.
    fn binary(
        kind: Binary,
        path: &str,
        open: &mut dyn FnMut(&str) -> io::Result<Found>,
    ) -> Result<Self, RecordingError> {
        let (events, files) = traces::read(kind, path, open)?;
        let named =
            std::iter::once(path).chain(files.iter().map(String::as_str).filter(|&name| name != path));
        let lines = Lines::joined(named.map(|name| (name, 0)));
        Ok(Self { label: path.into(), text: Vec::new(), events: Some(events), lines })
    }

    /// What every rank called, of a binary trace.
    pub fn events(&self) -> Option<&Events> {
        self.events.as_ref()
    }

    /// Files one after another, each under the first of its names that there is; with the line of `label` that names it.
    fn joined(
        label: &str,
        files: impl Iterator<Item = (Option<usize>, Vec<String>)>,
        open: &mut dyn FnMut(&str) -> io::Result<Found>,
    ) -> Result<Self, RecordingError> {
        let (mut text, mut parts, mut schedule) = (Vec::new(), Vec::new(), None);
        for (line, paths) in files {
            if let (Some(line), true) = (line, paths.is_empty()) {
                let message = "expected a rank's file below the folder of this index, found one elsewhere";
                return Err(FormatError::at(label, line, message).into());
            }
            let (path, found) = first_of(label, line, paths, open)?;
            let Found::File(bytes) = found else {
                return Err(FormatError::whole(&path, "expected a rank's file, found a folder").into());
            };
            let part = decompress(&bytes, &path)?;
            is_not_foreign(&part, &path)?;
            if let Some((line, name)) = index(&part).and_then(|names| names.into_iter().next()) {
                let message = format!("expected a rank first, found \"{}\"", excerpt(&name));
                return Err(FormatError::at(&path, line, message).into());
            }
            if is_goal(&part) {
                schedule.get_or_insert_with(|| path.clone());
            }
            text.extend_from_slice(&part);
            if !part.is_empty() && !part.ends_with(b"\n") {
                text.push(b'\n');
            }
            if text.len() > MOST_BYTES {
                let message = format!("its files have over {MOST_BYTES} bytes together: expected less");
                return Err(FormatError::whole(label, message).into());
            }
            let lines = part.iter().filter(|&&byte| byte == b'\n').count();
            parts.push((path, lines + usize::from(!part.is_empty() && !part.ends_with(b"\n"))));
        }
        if let Some(path) = schedule.filter(|_| parts.len() > 1) {
            let message = "expected a file of each rank, found a GOAL schedule: give this file by its name";
            return Err(FormatError::whole(&path, message).into());
        }
        let lines = Lines::joined(parts.iter().map(|(path, lines)| (path.as_str(), *lines)));
        Ok(Self { label: label.into(), text, events: None, lines })
    }

    /// From which tag on messages are those of collectives, where netloom wrote the run and collectives became messages: its first
    /// line says so, behind a `#` or `//`.
    pub fn collective_tags(&self) -> Option<u32> {
        let line = self.text[..self.text.len().min(200)].split(|&byte| byte == b'\n').next()?;
        let line = str::from_utf8(line).ok()?.trim_end();
        let comment = line.strip_prefix("# ").or_else(|| line.strip_prefix("// "))?;
        comment.strip_prefix(TAGS[0])?.strip_suffix(TAGS[1])?.parse().ok()
    }

    /// Whether it is a GOAL schedule.
    pub fn is_goal(&self) -> bool {
        is_goal(&self.text)
    }

    /// What is sent, of a time-independent trace, or of sums, which have messages of collectives only if these count.
    ///
    /// # Errors
    /// As [`read_ti`].
    pub fn trace(&self, collectives: bool) -> Result<Trace, FormatError> {
        if is_prof(&self.text) {
            return self.placed(read_prof(&self.text, &self.label, collectives));
        }
        if self.collective_tags().is_some() {
            // As traffic, messages have no tags.
            return self.workload();
        }
        self.placed(read_ti(&self.text, &self.label))
    }

    /// All of it, of a time-independent trace.
    ///
    /// # Errors
    /// As [`read_ti_workload`].
    pub fn workload(&self) -> Result<Trace, FormatError> {
        self.has_calls()?;
        self.placed(read_ti_workload(&self.text, &self.label))
    }

    /// The calls of a time-independent trace, those too about which its ranks disagree.
    ///
    /// # Errors
    /// As [`read_ti_calls`].
    pub fn calls(&self) -> Result<Trace, FormatError> {
        self.has_calls()?;
        self.placed(read_ti_calls(&self.text, &self.label))
    }

    fn has_calls(&self) -> Result<(), FormatError> {
        if is_prof(&self.text) {
            let message = "expected the calls of a run, found sums by pair (Open MPI's monitoring): they make traffic, \
                           and cannot be played";
            return Err(FormatError::whole(&self.label, message));
        }
        Ok(())
    }

    /// The schedule, of GOAL.
    ///
    /// # Errors
    /// As [`read_goal`].
    pub fn schedule(&self) -> Result<Schedule, FormatError> {
        self.placed(read_goal(&self.text, &self.label))
    }

    fn placed<T>(&self, found: Result<T, FormatError>) -> Result<T, FormatError> {
        found.map_err(|error| match error.line {
            Some(line) => {
                let (file, line) = self.lines.find(line);
                FormatError::at(file, line, error.message)
            }
            None => error,
        })
    }
}

fn first_of(
    label: &str,
    line: Option<usize>,
    paths: Vec<String>,
    open: &mut dyn FnMut(&str) -> io::Result<Found>,
) -> Result<(String, Found), RecordingError> {
    let first = paths[0].clone();
    for path in paths {
        match open(&path) {
            Ok(found) => return Ok((path, found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(RecordingError::File { path, error }),
        }
    }
    Err(match line {
        Some(line) => {
            let message = format!(
                "expected a rank first, or the name of a rank's file: there is no file \"{}\"",
                excerpt(&first)
            );
            FormatError::at(label, line, message).into()
        }
        None => RecordingError::File { path: first, error: io::ErrorKind::NotFound.into() },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Files by name; what ends in `/` is a folder.
    fn disk(files: &[(&str, &str)]) -> impl FnMut(&str) -> io::Result<Found> {
        let files: HashMap<String, String> = files.iter().map(|&(a, b)| (a.into(), b.into())).collect();
        move |name| match files.get(name) {
            Some(text) if name == "folder" => {
                Ok(Found::Folder(text.split_ascii_whitespace().map(Into::into).collect()))
            }
            Some(text) => Ok(Found::File(text.clone().into_bytes())),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    const ZERO: &str = "0 init\n0 send 1 0 10 2\n0 finalize";
    const ONE: &str = "1 init\n1 recv 0 0 10 2\n1 finalize\n";

    fn read(path: &str, files: &[(&str, &str)]) -> Result<Recording, String> {
        Recording::read(path, &mut disk(files)).map_err(|error| error.to_string())
    }

    #[test]
    fn an_index_a_folder_and_one_file_are_the_same_run() {
        let whole = read("t.ti", &[("t.ti", &format!("{ZERO}\n{ONE}"))]).unwrap();
        let index = "# names\nout/t_files/0.txt\nout/t_files/1.txt\n";
        // Named as seen from where it ran, kept somewhere else.
        let named =
            read("kept/t", &[("kept/t", index), ("kept/t_files/0.txt", ZERO), ("kept/t_files/1.txt", ONE)]);
        let found = [("folder", "1.txt .hidden 0.txt"), ("folder/0.txt", ZERO), ("folder/1.txt", ONE)];
        let folder = read("folder", &found).unwrap();
        let beside = read("t", &[("t", "0.txt\n1.txt"), ("0.txt", ZERO), ("1.txt", ONE)]).unwrap();
        for other in [named.unwrap(), folder, beside] {
            assert_eq!(other.trace(true).unwrap(), whole.trace(true).unwrap());
        }
    }

    #[test]
    fn an_index_names_no_file_outside_of_its_folder() {
        let secret = [("/home/me/secret", "hunter2"), ("kept/../secret", "hunter2"), ("secret", "hunter2")];
        for name in ["/home/me/secret/../secret", "../secret", "a/../../secret", "./../x/../secret"] {
            let files = [&[("kept/t", name)], &secret[..]].concat();
            let told = "kept/t:1: expected a rank's file below the folder of this index, found one elsewhere";
            assert_eq!(read("kept/t", &files).unwrap_err(), told, "{name}");
        }
        // Where it ran is somewhere else by now, and its files lie beside the index.
        let there = [("kept/t", "/scratch/run/t_files/0.txt"), ("kept/t_files/0.txt", ZERO)];
        assert!(read("kept/t", &there).is_ok());
        let files = [&there[..1], &secret[..]].concat();
        assert!(read("kept/t", &files).unwrap_err().contains("there is no file"));
    }

    #[test]
    fn comments_of_a_schedule_are_no_names_of_files() {
        let goal = "// by hand\n/* a/b.txt\n*/\nnum_ranks 2 /* n */\nrank 0 {\nsend 10b to 1 // first\n}\nrank 1 {\nrecv 10b from 0\n}\n";
        let schedule = read("s.goal", &[("s.goal", goal)]).unwrap().schedule().unwrap();
        assert_eq!((schedule.ranks(), schedule.tasks(0).len()), (2, 1));
    }

    #[test]
    fn a_trace_of_liballprof_is_named_for_what_it_is() {
        let pmpi = "# collprof 0.9 output file\n\nMPI_Init:-:1:2:1.0\nMPI_Finalize:7.0:-\n";
        let told = ":3: expected a recorded run (TI, GOAL), found \"MPI_Init:-:1:2:1.0\", a trace of liballprof: LogGOPSim's Schedgen \
                    makes a GOAL schedule of it";
        assert_eq!(read("t", &[("t", pmpi)]).unwrap_err(), format!("t{told}"));
        let folder = [("folder", "0.txt"), ("folder/0.txt", pmpi)];
        assert_eq!(read("folder", &folder).unwrap_err(), format!("folder/0.txt{told}"));
        assert_eq!(Recording::of(pmpi.as_bytes(), "-").unwrap_err().to_string(), format!("-{told}"));
    }

    #[test]
    fn errors_are_told_in_the_file_that_has_them() {
        let bad = "1 init\n1 recv x 0 10\n";
        let error = |path: &str, files: &[(&str, &str)]| match read(path, files) {
            Ok(recording) => recording.trace(true).unwrap_err().to_string(),
            Err(error) => error,
        };
        let told = error("t", &[("t", "a/0.txt\na/1.txt\n"), ("a/0.txt", ZERO), ("a/1.txt", bad)]);
        assert!(told.starts_with("a/1.txt:2: "), "{told}");
        let told = error("t", &[("t", "a/0.txt\na/1.txt\n"), ("a/0.txt", ZERO)]);
        assert_eq!(
            told,
            "t:2: expected a rank first, or the name of a rank's file: there is no file \"a/1.txt\""
        );
        let told = error("t", &[("t", "a/0.txt"), ("a/0.txt", "b/1.txt\n")]);
        assert_eq!(told, "a/0.txt:1: expected a rank first, found \"b/1.txt\"");
        assert!(error("folder", &[("folder", "")]).contains("found an empty folder"));
        assert!(
            Recording::of(b"a/0.txt\n", "-").unwrap_err().to_string().contains("-:1: expected a rank first")
        );
    }

    #[test]
    fn files_of_the_field_are_refused_by_name() {
        for (begins, what, helps) in traces::FOREIGN {
            let text = [begins, b" and more\n"].concat();
            let mut open = |_: &str| -> io::Result<Found> { Ok(Found::File(text.clone())) };
            let error = Recording::read("x.bin", &mut open).unwrap_err().to_string();
            assert_eq!(error, format!("x.bin: expected a recorded run, found {what}: what helps is {helps}"));
            assert_eq!(Recording::of(&text, "-").unwrap_err().to_string(), error.replace("x.bin", "-"));
            assert_eq!(TrafficKind::of(&text), TrafficKind::Trace, "{what}");
        }
    }

    #[test]
    fn traffic_is_known_by_how_it_begins() {
        let kinds = [
            ("%%MatrixMarket matrix coordinate", TrafficKind::MatrixMarket),
            ("# a comment\n0 init\n", TrafficKind::Trace),
            ("run_files/0_rank-0.txt\n", TrafficKind::Trace),
            ("// a comment\nnum_ranks 2\n", TrafficKind::Goal),
            ("0 1.5 2e3\n", TrafficKind::Dense),
            ("source,destination,bytes\n", TrafficKind::Csv),
            ("a.b,c.d,5\n", TrafficKind::Csv),
            ("12\n", TrafficKind::Csv),
            ("", TrafficKind::Csv),
        ];
        for (text, kind) in kinds {
            assert_eq!(TrafficKind::of(text.as_bytes()), kind, "{text}");
        }
    }
}
