//! Forwarding tables as OpenSM writes and loads them.
//!
//! | module | idea |
//! |---|---|
//! | [`read`] | `opensm-lfts.dump`, `dump_fts`, `dump_fts -n`, the minimal form |
//! | [`write`](mod@write) | what OpenSM's `file` engine loads |
//! | [`lids`] | which LID stands for which destination |
//!
//! LIDs live here, at the edge. They change when a subnet manager restarts, so OpenSM's own dumps name the
//! port GUID behind every LID, and OpenSM goes by it; so do we.

pub mod lids;
pub mod read;
pub mod write;

pub use lids::Lids;
pub use read::{LftFault, LftFaultKind, LftFile, read_lfts};
pub use write::{LftTexts, lft_texts, write_lfts};
