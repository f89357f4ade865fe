//! Collectives of a time-independent trace: what a rank says of one.
//!
//! | verb | arguments |
//! |---|---|
//! | `barrier` | – |
//! | `bcast` | count root type |
//! | `reduce` | count flops root type |
//! | `allreduce`, `scan`, `exscan` | count flops type |
//! | `allgather`, `alltoall` | sent received type type |
//! | `gather`, `scatter` | sent received root type type |
//! | `gatherv` | sent received… root type type |
//! | `allgatherv` | sent received… [type type] [displacement…] |
//! | `scatterv` | sent… received root type type |
//! | `alltoallv` | buffer sent… buffer received… type type |
//! | `reducescatter` | received… flops type |
//!
//! Nothing says which ranks take part. Where a list (`…`) is not as long as there are ranks, these are some only, and [`part`] still
//! knows how much a rank hands over.

use netloom_model::CollectiveKind;

use super::words::{Words, scaled};

/// What a rank says of a collective of all ranks.
pub(super) struct Call {
    /// What.
    pub kind: CollectiveKind,
    /// 0 where there is no root.
    pub root: u32,
    /// As [`Together::bytes`](netloom_model::Together::bytes).
    pub bytes: u64,
    /// Computed after a reduction.
    pub flops: f64,
    /// Shares by rank, where they may differ.
    pub row: Option<Vec<u64>>,
}

/// Reads a rank's call of a collective of all.
///
/// # Errors
/// What was expected.
pub(super) fn call(verb: &str, words: &mut Words, rank: u32) -> Result<Call, String> {
    let before = words.clone();
    let called = all(verb, words, rank).and_then(|call| words.end().map(|()| call));
    if called.is_err() {
        *words = before;
    }
    called
}

fn all(verb: &str, words: &mut Words, rank: u32) -> Result<Call, String> {
    let n = words.ranks as usize;
    let (mut root, mut flops, mut row) = (0, 0.0, None);
    let (kind, bytes) = match verb {
        "barrier" => (CollectiveKind::Barrier, 1),
        "bcast" => {
            let count = words.count("a count")?;
            root = words.root()?;
            (CollectiveKind::Broadcast, words.sized(count)?)
        }
        "reduce" => {
            let count = words.count("a count")?;
            flops = words.flops("the flops")?;
            root = words.root()?;
            (CollectiveKind::Reduce, words.sized(count)?)
        }
        "allreduce" | "scan" | "exscan" => {
            let kind = match verb {
                "scan" => CollectiveKind::Scan,
                "exscan" => CollectiveKind::Exscan,
                _ => CollectiveKind::Allreduce,
            };
            let count = words.count("a count")?;
            flops = words.flops("the flops")?;
            (kind, words.sized(count)?)
        }
        "allgather" | "alltoall" | "gather" | "scatter" => {
            let (sent, received) = (words.count("a count to send")?, words.integer("a count to receive")?);
            if matches!(verb, "gather" | "scatter") {
                root = words.root()?;
            }
            let sent = words.sized(sent)?;
            let received = words.sized(received.max(0) as u64)?;
            match verb {
                "allgather" => (CollectiveKind::Allgather, sent),
                "alltoall" => (CollectiveKind::Alltoall, sent),
                "gather" => (CollectiveKind::Gather, sent),
                _ => (CollectiveKind::Scatter, received),
            }
        }
        "gatherv" | "allgatherv" => {
            let sent = words.count("a count to send")?;
            let received = words.counts(n)?;
            if verb == "gatherv" {
                root = words.root()?;
            }
            // An allgatherv may list displacements, with datatypes before them or without.
            let more = words.words.clone().count();
            let typed = more <= 2 || more > n;
            let item = if typed { words.datatype()? } else { words.item };
            let other = if typed { words.datatype()? } else { words.item };
            if verb == "allgatherv" && more > 2 {
                words.counts(n)?;
            }
            let mut shares = scaled(&received, other)?;
            shares[rank as usize] = scaled(&[sent], item)?[0];
            row = Some(shares);
            let kind = if verb == "gatherv" { CollectiveKind::Gather } else { CollectiveKind::Allgather };
            (kind, 0)
        }
        "scatterv" => {
            let sent = words.counts(n)?;
            words.integer("a count to receive")?;
            root = words.root()?;
            row = Some(scaled(&sent, words.datatype()?)?);
            words.datatype()?;
            (CollectiveKind::Scatter, 0)
        }
        "alltoallv" => {
            words.integer("the size of the send buffer")?;
            let sent = words.counts(n)?;
            words.integer("the size of the receive buffer")?;
            words.counts(n)?;
            row = Some(scaled(&sent, words.datatype()?)?);
            words.datatype()?;
            (CollectiveKind::Alltoall, 0)
        }
        "reducescatter" => {
            let received = words.counts(n)?;
            flops = words.flops("the flops")?;
            let shares = scaled(&received, words.datatype()?)?;
            let even = shares.iter().all(|&share| share == shares[0]);
            let bytes = if even { shares[0] } else { 0 };
            row = (!even).then_some(shares);
            (CollectiveKind::ReduceScatter, bytes)
        }
        other => return Err(format!("expected an action that can be replayed, found \"{other}\"")),
    };
    Ok(Call { kind, root, bytes, flops, row })
}

/// Bytes of a row that a rank hands over itself.
pub(super) fn handed_over(kind: CollectiveKind, row: &[u64], rank: u32) -> u64 {
    match kind {
        CollectiveKind::Gather | CollectiveKind::Allgather => row[rank as usize],
        _ => row.iter().fold(0, |sum: u64, &bytes| sum.saturating_add(bytes)),
    }
}

/// A collective of some ranks, by the length of its lists: what, and how much this rank hands over. `None` if it is none.
pub(super) fn part(verb: &str, words: &Words) -> Option<(CollectiveKind, u64)> {
    let mut list = Vec::new();
    for word in words.words.clone() {
        list.push(word.parse::<i64>().ok().or_else(|| Some(word.parse::<f64>().ok()? as i64))?);
    }
    // Types stand at the end, two but behind a reduction.
    let types = if verb == "reducescatter" { 1 } else { 2 };
    let (list, typed) = list.split_at_checked(list.len().checked_sub(types)?)?;
    let size = super::DATATYPES.get(usize::try_from(typed[0]).ok()?)?;
    let (kind, counts) = match verb {
        "gatherv" => (CollectiveKind::Gather, list.get(..1)?),
        "allgatherv" => (CollectiveKind::Allgather, list.get(..1)?),
        "scatterv" => (CollectiveKind::Scatter, list.get(..list.len().checked_sub(2)?)?),
        "alltoallv" => (CollectiveKind::Alltoall, list.get(1..list.len() / 2)?),
        "reducescatter" => (CollectiveKind::ReduceScatter, list.get(..list.len().checked_sub(1)?)?),
        _ => return None,
    };
    let counts = counts.iter().map(|&count| u64::try_from(count).ok()).collect::<Option<Vec<_>>>()?;
    if counts.is_empty() {
        return None;
    }
    let bytes = counts.iter().try_fold(0u64, |sum, &count| sum.checked_add(count.checked_mul(*size)?));
    Some((kind, bytes?))
}
