//! SimGrid's time-independent traces: what every rank of a run did, one action a line, without times.
//!
//! ```text
//! 0 irecv 16 1024 961 0          rank, verb, arguments; here partner, tag, count, datatype
//! 0 isend 16 1024 961 0
//! 0 waitall 2
//! 0 allreduce 1 0 0
//! ```
//! The ranks' files follow each other or are interleaved; only the order of one rank's own lines counts. What is
//! sent and which collectives make everybody wait for everybody ([`Event::Synchronise`]) is kept; everything else
//! is checked to be an action of known verb with numbers behind it ([`read_ti_workload`] keeps all of it, to replay). A collective that has a root (`bcast`,
//! `reduce`, `gather`, `scatter`) does not make all wait for all, nor does a prefix sum.
//!
//! Invariant: every rank of `0..ranks` has at least one line, so that memory is bounded by the file.
//!
//! Source: SimGrid 3.32, "SMPI offline simulation"; datatype numbers as SMPI assigns them.

mod program;
mod words;

pub use program::read_ti_workload;

use netloom_model::names::nearest;
use netloom_model::{Event, MAX_ENDPOINTS, Trace};

use crate::FormatError;
use crate::error::excerpt;
use crate::text::text;

/// A message larger than this is refused: 1 EB.
const MAX_BYTES: u64 = 1_000_000_000_000_000_000;

/// Bytes of SMPI's basic datatypes, by number: double, int, char, short, long, float, byte, long long, signed and
/// unsigned char, …, the fixed-size integers, complex numbers, addresses and offsets.
const DATATYPES: [u64; 30] = [
    8, 4, 1, 2, 8, 4, 1, 8, 1, 1, // double … unsigned char
    2, 4, 8, 8, 16, 4, 1, 1, 2, 4, // unsigned short … int32
    8, 1, 2, 4, 8, 8, 16, 32, 8, 8, // int64 … offset
];

/// Verbs that only this rank, or a pair, or a tree with a root is concerned with.
const LOCAL: [&str; 28] = [
    "init",
    "finalize",
    "compute",
    "sleep",
    "location",
    "recv",
    "irecv",
    "wait",
    "waitall",
    "waitany",
    "waitsome",
    "test",
    "testall",
    "testany",
    "testsome",
    "probe",
    "iprobe",
    "bcast",
    "reduce",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "scan",
    "exscan",
    "comm_size",
    "comm_dup",
    "comm_split",
];

/// Verbs of collectives without a root: nobody leaves before everybody has come.
const SYNCHRONISING: [&str; 7] =
    ["barrier", "allreduce", "allgather", "allgatherv", "alltoall", "alltoallv", "reducescatter"];

/// Verbs that send.
const SENDING: [&str; 3] = ["send", "isend", "sendrecv"];

/// Reads a time-independent trace.
///
/// # Errors
/// [`FormatError`] names the line: no rank, an unknown verb (with the nearest known one), an argument that is
/// missing or no number, an unknown datatype, a destination that is no rank; or the rank that has no line or,
/// after its `init`, no `finalize`.
pub fn read_ti(bytes: &[u8], label: &str) -> Result<Trace, FormatError> {
    let text = text(bytes, label)?;
    let mut list = Vec::new();
    let mut ranks: Vec<Life> = Vec::new();
    let mut farthest = (0, 0);
    // Without a datatype: bytes after a bare init, else doubles.
    let mut item = DATATYPES[0];
    for (number, line) in (1..).zip(text.lines()) {
        let mut words = line.split_ascii_whitespace();
        let Some(rank) = words.next().filter(|word| !word.starts_with('#')) else { continue };
        let at_line = |message| FormatError::at(label, number, message);
        let rank = rank_number(rank).map_err(at_line)?;
        if rank as usize >= ranks.len() {
            ranks.resize(rank as usize + 1, Life::Unseen);
        }
        let bare = words.clone().nth(1).is_none();
        let (verb, event) = action(words, item).map_err(at_line)?;
        if verb == "init" {
            item = if bare { DATATYPES[6] } else { DATATYPES[0] };
        }
        let life = &mut ranks[rank as usize];
        *life = match verb {
            "init" => Life::Begun,
            "finalize" => Life::Ended,
            _ if *life == Life::Unseen => Life::Seen,
            _ => *life,
        };
        if let Some(Event::Send { to, .. }) = event
            && to >= farthest.0
        {
            farthest = (to, number);
        }
        list.extend(event.map(|event| (rank, event)));
    }
    let count = ranks.len();
    if count == 0 {
        return Err(FormatError::whole(label, "expected actions such as \"0 isend 1 0 1024 6\", found none"));
    }
    if let Some(rank) = ranks.iter().position(|&life| life == Life::Unseen) {
        let message = format!("expected actions of every rank of 0..{count}, found none of rank {rank}");
        return Err(FormatError::whole(label, message));
    }
    if let Some(rank) = ranks.iter().position(|&life| life == Life::Begun) {
        let message = format!("rank {rank} has an init and no finalize: is the trace cut short?");
        return Err(FormatError::whole(label, message));
    }
    if farthest.0 as usize >= count {
        let message = words::beyond("a destination", count as u32, i64::from(farthest.0));
        return Err(FormatError::at(label, farthest.1, message));
    }
    Ok(Trace::from_events(count as u32, &list))
}

/// How far a rank has come.
#[derive(Clone, Copy, PartialEq)]
enum Life {
    Unseen,
    Seen,
    Begun,
    Ended,
}

fn rank_number(word: &str) -> Result<u32, String> {
    word.parse()
        .ok()
        .filter(|&rank| rank < MAX_ENDPOINTS)
        .ok_or_else(|| format!("expected a rank of 0..{MAX_ENDPOINTS} first, found \"{}\"", excerpt(word)))
}

/// A verb and its arguments: the verb in small letters, and what it means to others.
fn action<'a>(
    mut words: impl Iterator<Item = &'a str>,
    item: u64,
) -> Result<(&'static str, Option<Event>), String> {
    let verb = verb_of(words.next())?;
    if SENDING.contains(&verb) {
        let early = if verb == "sendrecv" { whole(words.next(), "a count")? } else { 0 };
        let to = whole(words.next(), "a destination rank")?;
        let to = u32::try_from(to).map_err(|_| format!("expected a destination rank, found {to}"))?;
        // Tags may be negative, and so may the count and source of a receive.
        let what = if verb == "sendrecv" { ["a count to receive", "a source rank"] } else { ["a tag"; 2] };
        number(words.next(), what[0])?;
        let count = if verb == "sendrecv" {
            number(words.next(), what[1])?;
            early
        } else {
            whole(words.next(), "a count")?
        };
        let size = match words.next() {
            None => item,
            Some(word) => datatype(word)?,
        };
        let bytes = count.checked_mul(size).filter(|&bytes| bytes <= MAX_BYTES);
        let bytes =
            bytes.ok_or_else(|| format!("expected at most {MAX_BYTES} bytes, found {count} x {size}"))?;
        return Ok((verb, Some(Event::Send { to, bytes: bytes as f64 })));
    }
    if verb != "location" {
        words.try_for_each(|word| number(Some(word), "a number"))?;
    }
    Ok((verb, SYNCHRONISING.contains(&verb).then_some(Event::Synchronise)))
}

/// A known verb, in small letters.
fn verb_of(word: Option<&str>) -> Result<&'static str, String> {
    let verbs = || LOCAL.iter().chain(&SYNCHRONISING).chain(&SENDING).copied();
    let word = word.ok_or("expected a verb after the rank, found nothing")?;
    verbs().find(|verb| word.eq_ignore_ascii_case(verb)).ok_or_else(|| {
        let hint = nearest(word, verbs()).map(|verb| format!(", did you mean \"{verb}\"?"));
        let hint = hint.unwrap_or_else(|| ": expected one such as isend, irecv, wait or allreduce".into());
        format!("there is no verb \"{}\"{hint}", excerpt(word))
    })
}

fn datatype(word: &str) -> Result<u64, String> {
    let known = word.parse::<usize>().ok().and_then(|n| DATATYPES.get(n).copied());
    known.ok_or_else(|| {
        let last = DATATYPES.len() - 1;
        format!("expected a datatype of 0 (double) to {last}, found \"{}\"", excerpt(word))
    })
}

fn whole(word: Option<&str>, what: &str) -> Result<u64, String> {
    let word = word.ok_or_else(|| format!("expected {what}, found the end of the line"))?;
    word.parse().map_err(|_| format!("expected {what}, found \"{}\"", excerpt(word)))
}

fn number(word: Option<&str>, what: &str) -> Result<(), String> {
    let word = word.ok_or_else(|| format!("expected {what}, found the end of the line"))?;
    let finite = word.parse::<f64>().is_ok_and(f64::is_finite);
    if finite { Ok(()) } else { Err(format!("expected {what}, found \"{}\"", excerpt(word))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        read_ti(text.as_bytes(), "x.ti").unwrap_err().to_string()
    }

    #[test]
    fn sends_and_synchronisations_are_kept() {
        let text = "# two ranks\n0 init\n1 init\n0 isend 1 7 10 0\n0 waitall 1\n0 allReduce 1 0 0 \n1 irecv 0 7 10 0\n\
                    1 send 0 -1 3 1\n1 barrier\n1 bcast 4 0 6 \n0 compute 1.5e9\n1 send 0 5 2\n0 finalize\n1 finalize\n";
        let trace = read_ti(text.as_bytes(), "x.ti").unwrap();
        let send = |to, bytes| Event::Send { to, bytes };
        assert_eq!(trace.ranks(), 2);
        assert_eq!(trace.events(0), [send(1, 80.0), Event::Synchronise]);
        assert_eq!(
            trace.events(1),
            [send(0, 12.0), Event::Synchronise, send(0, 2.0)],
            "bytes unless said, after a bare init"
        );
    }

    #[test]
    fn lines_that_are_no_actions_are_named() {
        assert_eq!(
            refusal("0 init\nx isend 1 0 1\n"),
            "x.ti:2: expected a rank of 0..10000000 first, found \"x\""
        );
        assert!(refusal("99999999999 init\n").contains("expected a rank"));
        assert_eq!(refusal("0\n"), "x.ti:1: expected a verb after the rank, found nothing");
        assert_eq!(refusal("0 isnd 1 0 1\n"), "x.ti:1: there is no verb \"isnd\", did you mean \"isend\"?");
        assert!(refusal("0 xyzzyxyzzy\n").contains("expected one such as isend"));
        assert_eq!(refusal("0 isend\n"), "x.ti:1: expected a destination rank, found the end of the line");
        assert_eq!(refusal("0 isend 0 0\n"), "x.ti:1: expected a count, found the end of the line");
        assert_eq!(refusal("0 isend -1 0 4 0\n"), "x.ti:1: expected a destination rank, found \"-1\"");
        assert_eq!(
            refusal("0 isend 0 0 4 77\n"),
            "x.ti:1: expected a datatype of 0 (double) to 29, found \"77\""
        );
        assert!(
            refusal("0 isend 0 0 18446744073709551615 0\n")
                .contains("expected at most 1000000000000000000 bytes")
        );
        assert_eq!(refusal("0 wait 1 x 3\n"), "x.ti:1: expected a number, found \"x\"");
        assert!(refusal("0 compute nan\n").contains("expected a number"));
    }

    #[test]
    fn ranks_are_complete() {
        assert_eq!(refusal(""), "x.ti: expected actions such as \"0 isend 1 0 1024 6\", found none");
        assert_eq!(
            refusal("0 barrier\n2 barrier\n"),
            "x.ti: expected actions of every rank of 0..3, found none of rank 1"
        );
        assert_eq!(
            refusal("0 init\n0 isend 0 0 1\n"),
            "x.ti: rank 0 has an init and no finalize: is the trace cut short?"
        );
        assert_eq!(
            refusal("0 barrier\n0 isend 1 0 8 6\n"),
            "x.ti:2: expected a destination of 0..1, those that have lines, found 1: is the trace cut short?"
        );
    }
}
