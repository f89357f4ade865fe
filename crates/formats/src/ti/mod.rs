//! SimGrid's time-independent traces: what every rank of a run did, one action a line, without times.
//!
//! ```text
//! 0 irecv 16 1024 961 0          rank, verb, arguments; here partner, tag, count, datatype
//! 0 isend 16 1024 961 0
//! 0 waitall 2
//! 0 allreduce 1 0 0
//! ```
//! The ranks' files follow each other or are interleaved; only the order of one rank's own lines counts. One reader serves three
//! purposes: [`read_ti`] keeps what is sent, [`read_ti_workload`] all of it, to replay, [`read_ti_calls`] all of it, to check. They hand
//! over the same collectives, so that who adds their bytes up and who replays them agree.
//!
//! Invariant: every rank of `0..ranks` has at least one line, so that memory is bounded by the file.
//!
//! Source: SimGrid 3.32, "SMPI offline simulation"; datatype numbers as its `smpi_datatype.cpp` assigns them.

mod call;
mod program;
mod words;

pub use program::{read_ti, read_ti_calls, read_ti_workload};

use netloom_model::MAX_ENDPOINTS;
use netloom_model::names::nearest;

use crate::error::excerpt;

/// Bytes of SMPI's basic datatypes, by number. Those of Fortran have the sizes that SMPI gives them: `INTEGER*1` has 4, `COMPLEX*32` 16.
const DATATYPES: [u64; 60] = [
    8, 4, 1, 2, 8, 4, 1, 8, 1,
    1, // double int char short long float byte long-long signed-char unsigned-char
    2, 4, 8, 8, 16, 4, 1, 1, 2,
    4, // unsigned: short int long long-long; long-double wchar bool int8 int16 int32
    8, 1, 2, 4, 8, 8, 16, 32, 8,
    8, // int64 uint8 uint16 uint32 uint64; complex: float double long-double; aint offset
    8, 16, 16, 8, 8, 8, 16, 16, 4,
    4, // pairs: float-int long-int double-int short-int 2int 2float 2double 2long; real real4
    8, 16, 8, 16, 16, 4, 2, 4, 8,
    16, // real8 real16 complex8 complex16 complex32 integer1 integer2 integer4 integer8 integer16
    32, 1, 8, 16, 32, 0, 0, 1, 8,
    8, // long-double-int; C++: bool, complex float double long-double; ub lb packed pointer count
];

/// Verbs that only this rank or a pair is concerned with.
const LOCAL: [&str; 20] = [
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
    "comm_size",
    "comm_dup",
    "comm_split",
];

/// Verbs of collectives with a root, and of prefix sums.
const ROOTED: [&str; 8] = ["bcast", "reduce", "gather", "gatherv", "scatter", "scatterv", "scan", "exscan"];

/// Verbs of collectives without a root: nobody leaves before everybody has come.
const SYNCHRONISING: [&str; 7] =
    ["barrier", "allreduce", "allgather", "allgatherv", "alltoall", "alltoallv", "reducescatter"];

/// Verbs that send.
const SENDING: [&str; 3] = ["send", "isend", "sendrecv"];

/// What may stand behind a rank's `finalize`.
const AFTER_THE_END: [&str; 3] = ["compute", "sleep", "location"];

/// How far a rank has come.
#[derive(Clone, Copy, PartialEq)]
enum Life {
    Seen,
    Begun,
    Ended,
}

fn rank_number(word: &str) -> Result<u32, String> {
    word.parse()
        .ok()
        .filter(|&rank| rank < MAX_ENDPOINTS)
        .ok_or_else(|| format!("expected a rank below {MAX_ENDPOINTS} first, found \"{}\"", excerpt(word)))
}

/// A known verb, in small letters.
fn verb_of(word: Option<&str>) -> Result<&'static str, String> {
    let verbs = || LOCAL.iter().chain(&SYNCHRONISING).chain(&ROOTED).chain(&SENDING).copied();
    let word = word.ok_or("expected a verb after the rank, found nothing")?;
    verbs().find(|verb| word.eq_ignore_ascii_case(verb)).ok_or_else(|| {
        let hint = nearest(word, verbs()).map(|verb| format!(", did you mean \"{verb}\"?"));
        let hint = hint.unwrap_or_else(|| ": expected one such as isend, irecv, wait or allreduce".into());
        format!("there is no verb \"{}\"{hint}", excerpt(word))
    })
}

fn datatype(word: &str) -> Result<u64, String> {
    // Of types that a program has made itself, counts are in bytes; -1 also stands for none.
    if word == "-1" {
        return Ok(1);
    }
    let known = word.parse::<usize>().ok().and_then(|n| DATATYPES.get(n).copied());
    known.ok_or_else(|| {
        let last = DATATYPES.len() - 1;
        format!("expected a datatype of 0 (double) to {last}, found \"{}\"", excerpt(word))
    })
}

fn number(word: Option<&str>, what: &str) -> Result<(), String> {
    let word = word.ok_or_else(|| format!("expected {what}, found the end of the line"))?;
    let finite = strtod(word).is_some_and(f64::is_finite);
    if finite { Ok(()) } else { Err(format!("expected {what}, found \"{}\"", excerpt(word))) }
}

/// A number as C's `strtod` reads it, by which SimGrid reads every number: decimal, with an exponent, or hexadecimal.
fn strtod(word: &str) -> Option<f64> {
    let unsigned = word.trim_start_matches(['+', '-']);
    let Some(hex) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) else {
        return word.parse().ok();
    };
    let (digits, exponent) = hex.split_once(['p', 'P']).unwrap_or((hex, "0"));
    let (before, behind) = digits.split_once('.').unwrap_or((digits, ""));
    let mantissa = u64::from_str_radix(&format!("{before}{behind}"), 16).ok()? as f64;
    let scale = exponent.parse::<i32>().ok()?.checked_sub(4 * behind.len() as i32)?;
    let value = mantissa * f64::from(scale).exp2();
    match word.len() - unsigned.len() {
        0 => Some(value),
        1 if word.starts_with('-') => Some(-value),
        1 => Some(value),
        _ => None,
    }
}

/// Actions of traces that SimGrid wrote before 3.20, when messages had no tags: read by today's rules, a count would be a tag.
fn of_before_tags(verb: &str, words: std::str::SplitAsciiWhitespace) -> Result<(), String> {
    let least = match verb {
        "send" | "isend" | "recv" | "irecv" => 3,
        "wait" | "test" => 1,
        _ => return Ok(()),
    };
    let found = words.count();
    if found == 0 && least == 3 || found >= least {
        return Ok(());
    }
    let what = if least == 3 { "a tag and a count" } else { "the source, destination and tag of a request" };
    Err(format!(
        "expected {what}, found the end of the line: a trace of before SimGrid 3.20, which had no tags? Record it again with a newer \
         SMPI"
    ))
}

#[cfg(test)]
mod tests {
    use netloom_model::{Action, CollectiveKind, Untold};

    use super::*;

    fn refusal(text: &str) -> String {
        read_ti(text.as_bytes(), "x.ti").unwrap_err().to_string()
    }

    #[test]
    fn sends_and_synchronisations_are_kept() {
        let text = "# two ranks\n0 init\n1 init\n0 isend 1 7 10 0\n0 waitall 1\n0 allReduce 1 0 0 \n1 irecv 0 7 10 0\n\
                    1 send 0 -1 3 1\n1 barrier\n1 bcast 4 0 6 \n0 compute 1.5e9\n1 send 0 5 2\n0 finalize\n1 finalize\n";
        let trace = read_ti(text.as_bytes(), "x.ti").unwrap();
        let send = |to, bytes| Action::Send { to, bytes, tag: 0 };
        let together = |number| Action::Together { number, shares: None };
        assert_eq!((trace.ranks(), trace.untold.len()), (2, 3));
        assert_eq!(trace.workload.actions(0), [send(1, 80)]);
        assert_eq!(
            trace.workload.actions(1),
            [send(0, 12), send(0, 2)],
            "bytes unless said, after a bare init; an allreduce is no barrier"
        );
        let agreed = read_ti(text.replace("1 barrier", "1 allreduce 1 0 0").as_bytes(), "x.ti").unwrap();
        assert_eq!(agreed.workload.actions(0), [send(1, 80), together(0)]);
    }

    #[test]
    fn lines_that_are_no_actions_are_named() {
        assert_eq!(
            refusal("0 init\nx isend 1 0 1\n"),
            "x.ti:2: expected a rank below 10000000 first, found \"x\""
        );
        assert!(refusal("99999999999 init\n").contains("expected a rank"));
        assert_eq!(refusal("0\n"), "x.ti:1: expected a verb after the rank, found nothing");
        assert_eq!(refusal("0 isnd 1 0 1\n"), "x.ti:1: there is no verb \"isnd\", did you mean \"isend\"?");
        assert!(refusal("0 xyzzyxyzzy\n").contains("expected one such as isend"));
        assert_eq!(refusal("0 isend\n"), "x.ti:1: expected a destination rank, found the end of the line");
        assert_eq!(
            refusal("0 isend 0 0\n"),
            "x.ti:1: expected a tag and a count, found the end of the line: a trace of before SimGrid 3.20, which had no tags? Record \
             it again with a newer SMPI"
        );
        assert_eq!(
            refusal("0 isend -1 0 4 0\n"),
            "x.ti:1: expected a destination rank below 1, those that have lines, found -1"
        );
        assert_eq!(
            refusal("0 isend 0 0 4 77\n"),
            "x.ti:1: expected a datatype of 0 (double) to 59, found \"77\""
        );
        assert!(refusal("0 isend 0 0 1000000000000 0\n").contains("expected at most 1000000000000 bytes"));
        assert_eq!(refusal("0 wait 1 x 3\n"), "x.ti:1: expected a number, found \"x\"");
        assert!(refusal("0 compute nan\n").contains("expected a number"));
    }

    #[test]
    fn numbers_are_read_as_strtod_reads_them() {
        let text = "0 init\n1 init\n0 bcast 5e4\n1 bcast 50000\n0 send 1 0x1p3 1E6\n0 isend 1 +2 2.5e8\n0 compute 0x1.8p1\n\
                    0 finalize\n1 finalize\n";
        let trace = read_ti(text.as_bytes(), "x.ti").unwrap();
        let bytes: Vec<_> = trace
            .workload
            .actions(0)
            .iter()
            .filter_map(|action| match action {
                Action::Send { bytes, .. } => Some(*bytes),
                _ => None,
            })
            .collect();
        assert_eq!((bytes, trace.untold.len()), (vec![1_000_000, 250_000_000], 0));
        assert_eq!([strtod("0x1.8p1"), strtod("-0X10"), strtod("5e4")], [Some(3.0), Some(-16.0), Some(5e4)]);
        for none in ["", "0x", "--0x1", "0x1p", "0xg", "5e", "1.2.3"] {
            assert_eq!(strtod(none), None, "{none}");
        }
        assert!(refusal("0 isend 0 0 1.5\n").contains("expected a count, found \"1.5\""));
        assert!(refusal("0 isend 0 0 1e300\n").contains("expected a count, found \"1e300\""));
    }

    #[test]
    fn a_trace_without_tags_is_named_for_what_it_is() {
        // With a datatype its count would be taken for a tag: the bare wait gives it away.
        for line in ["0 recv 0 8", "0 wait", "0 test"] {
            let told = refusal(&format!("0 init\n{line}\n0 finalize\n"));
            assert!(told.starts_with("x.ti:2: expected") && told.contains("before SimGrid 3.20"), "{told}");
            let replayed = read_ti_workload(format!("{line}\n").as_bytes(), "x.ti").unwrap_err().to_string();
            assert!(replayed.contains("before SimGrid 3.20"), "{replayed}");
        }
    }

    #[test]
    fn ranks_are_complete() {
        assert_eq!(refusal(""), "x.ti: expected actions such as \"0 isend 1 0 1024 6\", found none");
        assert_eq!(
            refusal("0 barrier\n2 barrier\n"),
            "x.ti: expected actions of every rank below 3, found none of rank 1"
        );
        assert_eq!(
            refusal("0 init\n0 isend 0 0 1\n"),
            "x.ti: rank 0 has an init and no finalize: is the trace cut short?"
        );
        assert_eq!(
            refusal("0 barrier\n0 isend 1 0 8 6\n"),
            "x.ti:2: expected a destination rank below 1, those that have lines, found 1: is the trace cut short?"
        );
    }

    /// Rank 1 has another second collective and no third: replayed it is refused, its calls are what each rank has.
    #[test]
    fn calls_on_which_ranks_disagree_stay_what_each_rank_called() {
        let text = "0 barrier\n0 bcast 8 0 6\n0 allreduce 4 0 6\n1 barrier\n1 bcast 8 1 6\n";
        assert!(read_ti_workload(text.as_bytes(), "x.ti").is_err());
        let run = read_ti_calls(text.as_bytes(), "x.ti").unwrap().workload;
        let of = |rank| {
            let calls = run.actions(rank).iter().filter_map(|action| match *action {
                Action::Together { number, .. } => Some(run.together(number)),
                _ => None,
            });
            calls.map(|one| (one.kind, one.root)).collect::<Vec<_>>()
        };
        use CollectiveKind::{Allreduce, Barrier, Broadcast};
        assert_eq!(of(0), [(Barrier, 0), (Broadcast, 0), (Allreduce, 0)]);
        assert_eq!(of(1), [(Barrier, 0), (Broadcast, 1)]);
    }

    /// Rows of two ranks: alltoallv lists two counts where four ranks are, and a broadcast has its root in one row only.
    #[test]
    fn collectives_on_which_ranks_disagree_are_told_with_their_bytes() {
        let rows = |rank: u32| {
            format!("{rank} barrier\n{rank} alltoallv 3 1 2 3 1 2 6 6\n{rank} alltoall 5 5 6 6\n")
        };
        let text: String = (0..4).map(rows).collect();
        let trace = read_ti(text.as_bytes(), "x.ti").unwrap();
        assert_eq!(trace.workload.collectives().len(), 1);
        // Four ranks hand over 1 + 2 bytes, and five to each of three others.
        let untold = Untold { kind: CollectiveKind::Alltoall, calls: 8, bytes: 4 * 3 + 4 * 15 };
        assert_eq!(trace.untold, [untold]);
        assert_eq!(
            trace.signs,
            [
                "x.ti:2: collective 2 of rank 0, alltoallv: expected a count for rank 2 of 4, found the end of the line"
            ]
        );
        let roots = "0 bcast 4 0 6\n1 bcast 4 1 6\n0 barrier\n";
        let trace = read_ti(roots.as_bytes(), "x.ti").unwrap();
        assert!(trace.workload.actions(0).is_empty() && trace.untold.len() == 2);
        assert!(trace.signs[0].starts_with("x.ti:2: expected broadcast of root 0 as collective 1 of rank 1"));
    }

    #[test]
    fn what_does_not_add_up_is_a_sign_of_communicators() {
        let trace = read_ti(b"0 allreduce 4 0 6\n1 allreduce 8 0 6\n0 comm_split 1\n", "x.ti").unwrap();
        assert_eq!(
            trace.signs,
            [
                "x.ti:3: the program splits communicators",
                "x.ti:2: bytes of collective 1, allreduce, do not add up: rank 1 has 8 B, others 4 B"
            ]
        );
        // In place: a rank says nothing of its share.
        let quiet = read_ti(b"0 allreduce 4 0 6\n1 allreduce 0 0 6\n", "x.ti").unwrap();
        assert!(quiet.signs.is_empty());
    }

    /// SimGrid's numbers: real8, complex16, integer4; a program's own types are counted in bytes.
    #[test]
    fn datatypes_of_fortran_have_sizes() {
        let text = b"0 init\n1 init\n0 send 1 0 10 40\n0 send 1 0 10 43\n0 send 1 0 10 47\n0 send 1 0 10 -1\n0 finalize\n1 finalize\n";
        let trace = read_ti(text, "x.ti").unwrap();
        let sizes: Vec<_> = trace.workload.actions(0).to_vec();
        assert_eq!(sizes, [80, 160, 40, 10].map(|bytes| Action::Send { to: 1, bytes, tag: 0 }));
    }
}
