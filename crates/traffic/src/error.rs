//! What can be wrong with a pattern spec.

/// Why a spec is not a pattern.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PatternError {
    /// No such pattern.
    #[error("there is no pattern \"{name}\"{help}")]
    UnknownPattern {
        /// What was given.
        name: String,
        /// The nearest known one, or all of them.
        help: String,
    },
    /// An option that the pattern does not have.
    #[error("pattern \"{pattern}\" has no option \"{part}\"{help}")]
    UnknownPart {
        /// The pattern.
        pattern: String,
        /// What was given.
        part: String,
        /// The nearest known one, or all of them.
        help: String,
    },
    /// Something that the pattern cannot do without.
    #[error("pattern \"{pattern}\" needs {what}: {example}")]
    Missing {
        /// The pattern.
        pattern: String,
        /// What it needs.
        what: &'static str,
        /// How it is written.
        example: &'static str,
    },
    /// A value of the wrong kind.
    #[error("{spec}: {key} must be {expected}, found \"{found}\"")]
    BadValue {
        /// The spec.
        spec: String,
        /// Which part of it.
        key: &'static str,
        /// What it wants.
        expected: &'static str,
        /// What was given.
        found: String,
    },
    /// The pattern's size is not the fabric's.
    #[error("{spec} needs {needed} endpoints, the fabric has {given} hosts")]
    Endpoints {
        /// The spec.
        spec: String,
        /// What it needs.
        needed: u32,
        /// What there is.
        given: u32,
    },
    /// Neither the spec nor a fabric says how many endpoints.
    #[error(
        "pattern \"{pattern}\" needs a number of endpoints: give a fabric, or ranks= as in {pattern}:ranks=64"
    )]
    NoEndpoints {
        /// The pattern.
        pattern: String,
    },
    /// Halves need an even number.
    #[error("{spec} needs an even number of endpoints, found {endpoints}")]
    Odd {
        /// The spec.
        spec: String,
        /// What there is.
        endpoints: u32,
    },
    /// Nobody to talk to.
    #[error("{spec} needs at least 2 endpoints, found {endpoints}")]
    TooFew {
        /// The spec.
        spec: String,
        /// What there is.
        endpoints: u32,
    },
    /// More partners than there are others.
    #[error("{spec}: partners must be 1 to {others}, found {partners}")]
    Partners {
        /// The spec.
        spec: String,
        /// What was given.
        partners: u32,
        /// How many others there are.
        others: u32,
    },
    /// An absurd grid.
    #[error("{spec} has {endpoints} endpoints: expected at most {}", netloom_model::MAX_ENDPOINTS)]
    TooManyEndpoints {
        /// The spec.
        spec: String,
        /// What it wants.
        endpoints: u64,
    },
    /// An absurd matrix.
    #[error("{spec} has {entries} entries, some {} GB: expected at most {limit}", entries * 12 / 1_000_000_000)]
    TooManyEntries {
        /// The spec.
        spec: String,
        /// What it wants.
        entries: u64,
        /// The most there may be.
        limit: u64,
    },
}

impl PatternError {
    pub(crate) fn unknown(name: &str, hint: Option<&str>, known: &[&str]) -> Self {
        let help = match hint {
            Some(hint) => format!(", did you mean \"{hint}\"?"),
            None => format!(": expected one of {}", known.join(", ")),
        };
        Self::UnknownPattern { name: name.into(), help }
    }
}
