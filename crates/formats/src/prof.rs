//! What Open MPI's monitoring counted: `mon.0.prof`, `mon.1.prof`, …, a file a rank, sums by pair of ranks.
//!
//! ```text
//! # POINT TO POINT
//! E 0 1 6512 bytes 7 msgs sent 1,0,0,…     the program's own: from, to, bytes, messages, sizes
//! I 0 1 16 bytes 3 msgs sent             what collectives were made of
//! # OSC
//! # COLLECTIVES
//! C 0 1 24 bytes 4 msgs sent             what collectives were asked for
//! ```
//! The traffic is that of the lines `E`, and with collectives that of `I` too: as the library did them. In Open MPI 4.1.4
//! alltoallv counts among `E`. There are sums and no calls, so none of it can be played.
//!
//! Source: Open MPI 4.1.4, `ompi/mca/common/monitoring`; `--mca pml_monitoring_enable 2`.

use std::collections::BTreeMap;

use netloom_model::{Action, MAX_ENDPOINTS, Named, Trace, Workload};

use crate::FormatError;
use crate::error::excerpt;
use crate::text::text;

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
/// [`FormatError`] names the line: no known letter, no ranks, no bytes, cut short, a pair that is told twice.
pub fn read_prof(bytes: &[u8], label: &str, collectives: bool) -> Result<Trace, FormatError> {
    let text = text(bytes, label)?;
    let mut pairs: BTreeMap<(u32, u32), [Option<u64>; 2]> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end();
        // Windows (S, R), and what collectives were asked for, by pair and by communicator.
        let known = ["S", "R", "C", "D", "O2A", "A2O", "A2A"];
        let kind = line.split_ascii_whitespace().next().unwrap_or_default();
        if line.starts_with('#') || line.is_empty() || known.contains(&kind) {
            continue;
        }
        let wrong = |what: &str| {
            FormatError::at(label, number, format!("expected {what}, found \"{}\"", excerpt(line)))
        };
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [kind, from, to, bytes, "bytes", messages, "msgs", "sent", ..] = words[..] else {
            return Err(wrong("a letter, two ranks, bytes, messages and \"msgs sent\""));
        };
        let rank = |word: &str| word.parse::<u32>().ok().filter(|&rank| rank < MAX_ENDPOINTS);
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
        let sum = &mut pairs.entry((from, to)).or_default()[own];
        if sum.replace(bytes).is_some() {
            return Err(wrong("every pair once: one file a rank, of one run"));
        }
    }
    let ranks = pairs.keys().map(|&(from, to)| from.max(to) + 1).max();
    let ranks =
        ranks.ok_or_else(|| FormatError::whole(label, "expected lines of pairs of ranks, found none"))?;
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
        let text = b"# POINT TO POINT\nE\t0\t1\t10 bytes\t1 msgs sent\t1,0\nI\t0\t2\t4 bytes\t1 msgs sent\n# OSC\n# COLLECTIVES\nC\t0\t1\t99 bytes\t1 msgs sent\n";
        let trace = read_prof(text, "mon.0.prof", true).unwrap();
        assert_eq!((trace.ranks(), sent(&trace), trace.named.unwrap().bytes), (3, 14, 4));
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
