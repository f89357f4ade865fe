//! What can be wrong with a simulation.

use netloom_model::LinkId;

/// Why a simulation could not start, or not end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// A parameter of the hardware makes no sense.
    #[error("{what}: expected {expected}")]
    Config {
        /// The parameter.
        what: &'static str,
        /// What it must be.
        expected: String,
    },
    /// A switch has no way towards a host.
    #[error("no route: {switch} has no usable output towards {host}")]
    NoRoute {
        /// Name of the switch.
        switch: String,
        /// Name of the host.
        host: String,
    },
    /// Nothing can move any more.
    #[error("deadlock at {time_ps} ps: {packets} packets wait for each other, {} lanes of links in a cycle", .cycle.len())]
    Deadlock {
        /// When.
        time_ps: u64,
        /// Packets in the network.
        packets: usize,
        /// Links, with a lane of each, that wait for each other, in order; empty if no packet waits for an output.
        cycle: Vec<(LinkId, u8)>,
    },
    /// More of something at once than the engine can number.
    #[error("too many {what} at once: at most {most}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The limit.
        most: u32,
    },
    /// Something that this version can't do.
    #[error("{0}: not in this version")]
    Unsupported(&'static str),
    /// What was to be taken up is not the state of such a run, or was kept by another version.
    #[error("not the state of such a run, or one of another version")]
    State,
    /// Simulated time ran beyond what 48 bits of picoseconds hold.
    #[error("{}simulated time exceeds 281 s", who.as_ref().map_or_else(String::new, |who| format!("{who}: ")))]
    TimeOverflow {
        /// Who had something to do after its end, as the program says.
        who: Option<String>,
    },
}
