//! What is wrong with an input, and where: `net.txt:41: expected port 1 to 36, found 40`.
//!
//! Readers get bytes and a *label* (a file's name, or `-`); no path is opened here. Invariant: a message
//! says what was expected and what was found, and fits one line whatever the input held.

use std::fmt;

/// Input that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// What the caller calls the input: a file's name, `-`.
    pub label: String,
    /// Line, from 1, where there is one to name.
    pub line: Option<usize>,
    /// What was expected, and what was found.
    pub message: String,
}

impl FormatError {
    /// An error at a line (from 1).
    pub fn at(label: &str, line: usize, message: impl Into<String>) -> Self {
        Self { label: label.into(), line: Some(line), message: message.into() }
    }

    /// An error of the input as a whole.
    pub fn whole(label: &str, message: impl Into<String>) -> Self {
        Self { label: label.into(), line: None, message: message.into() }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.label, self.message),
            None => write!(f, "{}: {}", self.label, self.message),
        }
    }
}

impl std::error::Error for FormatError {}

/// Why something cannot be written in a format.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WriteError {
    /// More addresses than InfiniBand's unicast LIDs.
    #[error(
        "{needed} LIDs are needed ({hosts} hosts x {paths}, {switches} switches): InfiniBand has 49,151 unicast LIDs"
    )]
    TooManyLids {
        /// LIDs needed, those lost to alignment included.
        needed: usize,
        /// Hosts.
        hosts: usize,
        /// Addresses of each host (2^LMC).
        paths: usize,
        /// Switches.
        switches: usize,
    },
    /// A switch with more ports than the format can number.
    #[error("switch \"{switch}\" has {radix} ports: expected at most 254 in files for OpenSM or ibsim")]
    Radix {
        /// The switch.
        switch: String,
        /// Its ports.
        radix: u16,
    },
    /// A speed that the format has no word for.
    #[error(
        "{link}: no InfiniBand width and speed give {bytes_per_s} bytes/s: expected a table of cables (.csv), which has any speed"
    )]
    Speed {
        /// The link, described.
        link: String,
        /// Its data rate.
        bytes_per_s: f64,
    },
    /// A node that a table of cables cannot tell.
    #[error("{node}: {why}")]
    Cables {
        /// Its name.
        node: String,
        /// Why not.
        why: &'static str,
    },
    /// Routes that no linear forwarding table can say.
    #[error(
        "these routes choose the way up by the source of a packet: an LFT holds one port a destination, so expected \
         destination-based routes"
    )]
    BySource,
    /// A service level for every pair, where there are too many.
    #[error(
        "{pairs} pairs of hosts have a service level each, and OpenSM would look through them for every query: expected at most {most}; \
         a scheme such as 5sl5vl:groups says it in some hundred rules"
    )]
    TooManyRules {
        /// Pairs of hosts.
        pairs: usize,
        /// How many would do.
        most: usize,
    },
    /// Routes of another fabric.
    #[error("{0}")]
    Mismatch(String),
}

/// A piece of input as a message may show it: one line, printable (blanks as spaces), at most 60 characters.
pub fn excerpt(text: &str) -> String {
    let show = |c: char| match c {
        c if c.is_whitespace() => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    let clean: String = text.trim().chars().map(show).collect();
    if clean.chars().count() <= 60 {
        return clean;
    }
    clean.chars().take(57).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_file_line_and_expectation() {
        let e = FormatError::at("net.txt", 41, "expected port 1 to 36, found 40");
        assert_eq!(e.to_string(), "net.txt:41: expected port 1 to 36, found 40");
        assert_eq!(FormatError::whole("-", "no hosts").to_string(), "-: no hosts");
    }

    #[test]
    fn excerpts_fit_a_line() {
        assert_eq!(excerpt(" a\t\u{1b}[0mb\n"), "a \u{fffd}[0mb");
        assert_eq!(excerpt(&"x".repeat(100)).len(), 60);
    }
}
