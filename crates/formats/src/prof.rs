//! What Open MPI's monitoring counted: `mon.0.prof`, `mon.1.prof`, …, a file a rank, sums by pair of ranks.
//!
//! ```text
//! # POINT TO POINT
//! E 0 1 6512 bytes 7 msgs sent 1,0,0,…     the program's own: from, to, bytes, messages, sizes
//! I 0 1 16 bytes 3 msgs sent             what collectives were made of
//! # OSC
//! # COLLECTIVES
//! C 0 1 24 bytes 4 msgs sent             what collectives were asked for
//! D MPI_COMM_WORLD procs: 0,1            communicators, with their ranks
//! A2A 0 112 bytes 3 msgs sent            what they were asked for: by the file's rank
//! ```
//! The ranks of the run are those of the world, or the highest of any line where no line has it; each has a file.
//! The traffic is that of the lines `E`, and with collectives that of `I` too: as the library did them. In Open MPI 4.1.4
//! alltoallv counts among `E`. There are sums and no calls, so none of it can be played.
//!
//! Source: Open MPI 4.1.4, `ompi/mca/common/monitoring`; `--mca pml_monitoring_enable 2`.

use std::collections::{BTreeMap, BTreeSet};

use netloom_model::{Action, MAX_ENDPOINTS, Named, Trace, Workload};

use crate::FormatError;
use crate::error::excerpt;
use crate::text::text;

/// Ranks that a message names.
const MOST_NAMED: usize = 8;
/// How a file begins.
const HEAD: &[u8] = b"# POINT TO POINT";

/// Whether a text is what Open MPI's monitoring wrote.
pub fn is_prof(text: &[u8]) -> bool {
    text.starts_with(HEAD)
}

/// Reads the files of all ranks, one after another, as what is sent; a pair's bytes are one message. Those of collectives are left out
/// unless `collectives` count.
///
/// # Errors
/// [`FormatError`] names the line: no known letter, no ranks, no bytes, cut short, a pair that is told twice. Ranks whose files are
/// not there.
pub fn read_prof(bytes: &[u8], label: &str, collectives: bool) -> Result<Trace, FormatError> {
    let text = text(bytes, label)?;
    let mut pairs: BTreeMap<(u32, u32), [Option<u64>; 2]> = BTreeMap::new();
    // Ranks that have a file, and how many there are.
    let (mut told, mut ranks) = (BTreeSet::new(), 0);
    let rank = |word: &str| word.parse::<u32>().ok().filter(|&rank| rank < MAX_ENDPOINTS);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end();
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let mut words = line.split_ascii_whitespace();
        let kind = words.next().unwrap_or_default();
        // Windows (S, R), and what collectives were asked for, by pair and by communicator.
        match (kind, words.next().map(rank)) {
            ("S" | "R" | "C", _) => continue,
            ("D", _) => {
                if let Some((_, members)) = line.split_once("procs:") {
                    let members = members.split(',').filter_map(|word| rank(word.trim()));
                    ranks = members.map(|one| one + 1).fold(ranks, u32::max);
                }
                continue;
            }
            ("O2A" | "A2O" | "A2A", Some(Some(own))) => {
                told.insert(own);
                continue;
            }
            _ => {}
        }
        let wrong = |what: &str| {
            FormatError::at(label, number, format!("expected {what}, found \"{}\"", excerpt(line)))
        };
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [kind, from, to, bytes, "bytes", messages, "msgs", "sent", ..] = words[..] else {
            return Err(wrong("a letter, two ranks, bytes, messages and \"msgs sent\""));
        };
        let (Some(from), Some(to)) = (rank(from), rank(to)) else {
            return Err(wrong(&format!("ranks below {MAX_ENDPOINTS}")));
        };
        let (Ok(bytes), Ok(_)) = (bytes.parse::<u64>(), messages.parse::<u64>()) else {
            return Err(wrong("numbers of bytes and of messages"));
        };
        let own = match kind {
            "E" => 0,
            "I" => 1,
            _ => return Err(wrong("a line of monitoring: E, I, S, R, C, D, O2A, A2O or A2A")),
        };
        told.insert(from);
        ranks = ranks.max(from.max(to) + 1);
        let sum = &mut pairs.entry((from, to)).or_default()[own];
        if sum.replace(bytes).is_some() {
            return Err(wrong("every pair once: one file a rank, of one run"));
        }
    }
    if pairs.is_empty() {
        return Err(FormatError::whole(label, "expected lines of pairs of ranks, found none"));
    }
    let missing: Vec<u32> = (0..ranks).filter(|rank| !told.contains(rank)).collect();
    if !missing.is_empty() {
        let named: Vec<_> = missing.iter().take(MOST_NAMED).map(u32::to_string).collect();
        let more = missing.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let s = if missing.len() == 1 { "" } else { "s" };
        let named = named.join(", ");
        let message = format!(
            "expected a folder with a file of each of {ranks} ranks, found none of rank{s} {named}{more}"
        );
        return Err(FormatError::whole(label, message));
    }
    let sends = |own: usize| {
        let sent =
            pairs.iter().filter_map(move |(&pair, bytes)| Some((pair, bytes[own].filter(|&n| n > 0)?)));
        sent.map(|((from, to), bytes)| (from, Action::Send { to, bytes, tag: 0 }))
    };
    let list: Vec<_> = sends(0).chain(sends(1).filter(|_| collectives)).collect();
    let of_collectives = pairs.values().filter_map(|bytes| bytes[1]).fold(0, u64::saturating_add);
    let (bytes, left_out) = if collectives { (of_collectives, 0) } else { (0, of_collectives) };
    let named = Named { bytes, left_out, ..Named::default() };
    let workload = Workload::from_actions(ranks, &list, &vec![0; list.len()], Vec::new(), Vec::new());
    Ok(Trace { named: Some(named), ..Trace::of(workload) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(trace: &Trace) -> u64 {
        let of = |action: &Action| if let Action::Send { bytes, .. } = action { *bytes } else { 0 };
        (0..trace.ranks()).flat_map(|rank| trace.workload.actions(rank)).map(of).sum()
    }

    #[test]
    fn pairs_are_the_programs_own_and_those_of_collectives() {
        let text = b"# POINT TO POINT\nE\t0\t1\t10 bytes\t1 msgs sent\t1,0\nI\t0\t2\t4 bytes\t1 msgs sent\n# OSC\n# COLLECTIVES\n\
                     C\t0\t1\t99 bytes\t1 msgs sent\nD\tMPI_COMM_WORLD\tprocs: 0,1,2\nA2A\t1\t0 bytes\t0 msgs sent\n\
                     A2A\t2\t0 bytes\t0 msgs sent\n";
        let trace = read_prof(text, "mon.0.prof", true).unwrap();
        assert_eq!((trace.ranks(), sent(&trace), trace.named.unwrap().bytes), (3, 14, 4));
    }

    /// Rank 2 sent nothing, rank 3 has no file; one file is none of a run of four.
    #[test]
    fn ranks_without_a_file_are_named() {
        let own = |rank: u32| {
            format!(
                "# POINT TO POINT\nE {rank} 0 5 bytes 1 msgs sent\n# COLLECTIVES\nD MPI_COMM_WORLD procs: 0,1,2,3\n"
            )
        };
        let idle =
            "# POINT TO POINT\n# COLLECTIVES\nD MPI_COMM_WORLD procs: 0,1,2,3\nA2A 2 0 bytes 0 msgs sent\n";
        let refusal = |text: String| read_prof(text.as_bytes(), "run", true).unwrap_err().to_string();
        let told = "run: expected a folder with a file of each of 4 ranks, found none of rank";
        assert_eq!(refusal(own(0) + &own(1) + idle), format!("{told} 3"));
        assert_eq!(refusal(own(1)), format!("{told}s 0, 2, 3"));
        assert_eq!(
            read_prof((own(0) + &own(1) + idle + &own(3)).as_bytes(), "run", true).unwrap().ranks(),
            4
        );
    }

    #[test]
    fn lines_that_are_none_are_named() {
        let refusal = |line: &str| {
            read_prof(format!("# POINT TO POINT\n{line}\n").as_bytes(), "m", true).unwrap_err().to_string()
        };
        assert_eq!(
            refusal("E 0 1"),
            "m:2: expected a letter, two ranks, bytes, messages and \"msgs sent\", found \"E 0 1\""
        );
        assert!(refusal("E x 1 5 bytes 1 msgs sent").contains("ranks below"));
        assert!(refusal("E 0 1 x bytes 1 msgs sent").contains("numbers of bytes"));
        assert!(refusal("Z 0 1 5 bytes 1 msgs sent").contains("a line of monitoring"));
        assert!(refusal("").contains("found none"));
        assert!(refusal("E 0 1 5 bytes 1 ms").contains("msgs sent"));
        let twice = "E 0 1 5 bytes 1 msgs sent";
        assert!(refusal(&format!("{twice}\n{twice}")).contains("every pair once"));
    }
}
