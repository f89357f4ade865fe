//! What happened when, on tracks: for viewers of traces.
//!
//! Invariants: spans of a track don't overlap and are in order of time.

/// Tracks that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrackGroup {
    /// Its name.
    pub name: String,
    /// Names of its tracks.
    pub tracks: Vec<String>,
}

/// Something that took time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The group, an index into [`Timeline::groups`].
    pub group: u32,
    /// The track, an index into the group's.
    pub track: u32,
    /// Its start, ps.
    pub start_ps: u64,
    /// Its end, ps.
    pub end_ps: u64,
    /// What it is.
    pub name: String,
    /// More about it: names and numbers.
    pub details: Vec<(&'static str, u64)>,
}

/// Spans on tracks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Groups of tracks.
    pub groups: Vec<TrackGroup>,
    /// What happened, in order of group, track and start.
    pub spans: Vec<Span>,
    /// What a reader should know, for example that it was cut.
    pub notes: Vec<String>,
}
