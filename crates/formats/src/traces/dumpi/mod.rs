//! DUMPI, of SST: a binary file a rank, with every call and its arguments, and a metafile beside them.
//!
//! ```text
//! ff aa dd DUMPI                     magic, 8 bytes
//! cpu:u32 wall:u32                   seconds that all times are told from
//! call:u16 mask:u8 thread:u16 times… arguments…      until the end of the stream
//! header, footer, sizes of types, …  and an index of these: the last 4 to 7 words behind the magic again
//! ```
//! Numbers have the highest byte first. Handles are numbers of the file's own; communicators are told from the
//! calls that made them. Seconds have 16 bits, and start over after 18 hours.
//!
//! Invariant: memory is bounded by the files: a list is reserved once it is seen to be there.
//!
//! Source: sst-dumpi a4c8bf5, `docs/traceformat.dox`, `common/dumpiio.c`, `common/constants.h`.

mod call;
mod calls;
mod rank;

use netloom_model::{Events, MAX_ENDPOINTS};

use super::communicators::known;
use super::{Open, RecordingError, file};
use crate::FormatError;
use crate::error::excerpt;

/// How a file of a rank begins.
const MAGIC: &[u8] = b"\xff\xaa\xddDUMPI";

/// Whether these bytes are one rank's file.
pub fn is_rank(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Whether this text is a metafile.
pub fn is_meta(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&text[..text.len().min(4096)]);
    ["fileprefix=", "numprocs="].iter().all(|key| text.lines().any(|line| line.starts_with(key)))
}

/// Reads a trace, whose metafile is `text`; the files of ranks lie beside it.
///
/// # Errors
/// [`RecordingError`] names the file, and the byte in it: no number of ranks, a file that is not there, cut short
/// or of another version, a type without a size, more bytes in a call than there can be.
pub fn read(path: &str, text: &[u8], open: &mut Open) -> Result<(Events, Vec<String>), RecordingError> {
    let (ranks, prefix) = meta(path, text)?;
    let folder = path.rfind('/').map_or("", |at| &path[..=at]);
    let (mut events, mut files) = (Events::default(), Vec::new());
    let (mut makings, mut alone) = (Vec::new(), Vec::new());
    for number in 0..ranks {
        let name = format!("{folder}{prefix}-{number:04}.bin");
        let found = rank::read(&file(&name, open)?, &name, &mut events)?;
        if number == 0 {
            events.tool = found.version;
        }
        makings.push(found.makings);
        alone.push(found.alone);
        events.hosts.push(found.host);
        events.ranks.push(found.events);
        files.push(name);
    }
    let known = known(ranks, &makings, &alone);
    events.communicators = known.members;
    let mut untold = 0;
    for (own, of_rank) in events.ranks.iter().zip(&known.of_rank) {
        untold +=
            own.events.iter().filter(|event| of_rank[event.communicator as usize].is_none()).count() as u64;
    }
    if untold > 0 {
        events.lack("calls on communicators whose members are not told", untold);
        // Those have no members that are known.
        events.communicators.push(Vec::new());
    }
    rank::place(&mut events, &known.of_rank).map_err(|message| FormatError::whole(path, message))?;
    Ok((events, files))
}

/// The number of ranks, and how names of their files begin.
fn meta(path: &str, text: &[u8]) -> Result<(u32, String), FormatError> {
    let text = String::from_utf8_lossy(text);
    let value = |key: &str| {
        let lines = (1..).zip(text.lines());
        let mut found = lines.filter_map(|(number, line)| Some((number, line.strip_prefix(key)?.trim())));
        found
            .next()
            .ok_or_else(|| FormatError::whole(path, format!("expected a line \"{key}…\", found none")))
    };
    let (line, ranks) = value("numprocs=")?;
    let count = ranks.parse().ok().filter(|ranks| (1..=MAX_ENDPOINTS).contains(ranks));
    let count = count.ok_or_else(|| {
        let message = format!("expected 1 to {MAX_ENDPOINTS} ranks, found \"{}\"", excerpt(ranks));
        FormatError::at(path, line, message)
    })?;
    let (line, prefix) = value("fileprefix=")?;
    // As it was named where the program ran: the folder is that of the metafile.
    let name = prefix.rsplit('/').next().unwrap_or_default();
    if name.is_empty() {
        return Err(FormatError::at(
            path,
            line,
            "expected how names of the ranks' files begin, found nothing",
        ));
    }
    Ok((count, name.to_owned()))
}
