//! Generators: `name:key=value,…` in, a fabric out.
//!
//! A spec is user input: every mistake is answered with what was expected, and sizes are checked before
//! anything is allocated. Generated names, GUIDs and ports are those of the ibsim files in `tests/data`, so
//! that a generated fabric and its discovered dump are the same fabric.
//!
//! | spec | fabric |
//! |---|---|
//! | `quartz1` | 3072 hosts, three levels (Taffet, dissertation) |
//! | `cab` | 1296 hosts, three levels (Smith et al., SC18) |
//! | `fattree:pods=4,leaves=24,hosts=32,spines=16,groups=2,cores=24` | three levels, counts a pod, a leaf, a group |
//! | `two-level:leaves=8,hosts=4,spines=4` | every leaf to every spine |
//! | `xgft:m=18x18x36,w=1x9x18` | extended generalised fat tree of any height |

mod cab;
mod fattree;
mod quartz1;
mod spec;
mod two_level;
mod xgft;

use netloom_model::names::nearest;
use netloom_model::{Fabric, FabricError};

use spec::Spec;

/// Most hosts that a generator makes.
pub const MAX_HOSTS: u64 = 4_000_000;
/// Most switches that a generator makes.
pub const MAX_SWITCHES: u64 = 1_000_000;
/// Most cables that a generator makes, host cables included.
pub const MAX_CABLES: u64 = 20_000_000;
/// Most ports of one switch (65535 means "no port" in tables).
pub const MAX_RADIX: u64 = 65_534;

/// Why a spec makes no fabric.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// No generator of this name.
    #[error("there is no generator \"{name}\"{}: expected one of {}", hint(nearest), GENERATORS.join(", "))]
    UnknownGenerator {
        /// What was given.
        name: String,
        /// The nearest known name.
        nearest: Option<&'static str>,
    },
    /// A key that this generator does not have.
    #[error("{generator}: unknown key \"{key}\"{}: expected {}", hint(nearest), known.join(", "))]
    UnknownKey {
        /// The generator.
        generator: &'static str,
        /// What was given.
        key: String,
        /// The nearest known key.
        nearest: Option<&'static str>,
        /// All its keys.
        known: &'static [&'static str],
    },
    /// A key that must be there.
    #[error("{generator}: \"{key}\" is missing, as in {example}")]
    MissingKey {
        /// The generator.
        generator: &'static str,
        /// The missing key.
        key: &'static str,
        /// A spec that works.
        example: &'static str,
    },
    /// Anything else that is wrong with the value of a key, or with a part of the spec.
    #[error("{generator}: {place}: expected {expected}, found \"{found}\"")]
    BadValue {
        /// The generator.
        generator: &'static str,
        /// The key.
        place: String,
        /// What would do.
        expected: String,
        /// What was given.
        found: String,
    },
    /// A size above the limits ([`MAX_HOSTS`] and its neighbours).
    #[error("{generator}: {found} {what}: expected at most {limit}")]
    TooLarge {
        /// The generator.
        generator: &'static str,
        /// "hosts", "switches", "cables" or "ports of a switch".
        what: &'static str,
        /// How many the spec asks for.
        found: String,
        /// How many may be.
        limit: u64,
    },
    /// The generator's own fabric is refused: a mistake in the generator.
    #[error(transparent)]
    Fabric(#[from] FabricError),
}

/// `, did you mean "x"?`, or nothing.
fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |word| format!(" (did you mean \"{word}\"?)"))
}

/// The names of all generators.
pub const GENERATORS: [&str; 5] = ["quartz1", "cab", "fattree", "two-level", "xgft"];

/// Whether a command line's FABRIC means a generator, well written or not, rather than a file.
pub fn is_generator(spec: &str) -> bool {
    let name = spec.split_once(':').map_or(spec, |(name, _)| name);
    GENERATORS.contains(&name)
}

/// Makes the fabric that `spec` describes.
///
/// # Errors
/// [`SpecError`] says what was expected.
pub fn generate(spec: &str) -> Result<Fabric, SpecError> {
    let (name, rest) = spec.split_once(':').map_or((spec, ""), |(name, rest)| (name, rest));
    match name {
        "quartz1" => quartz1::generate(&Spec::parse("quartz1", "quartz1", rest, &["speed"])?),
        "cab" => cab::generate(&Spec::parse("cab", "cab", rest, &["speed"])?),
        "fattree" => fattree::generate(&Spec::parse("fattree", fattree::EXAMPLE, rest, fattree::KEYS)?),
        "two-level" => {
            two_level::generate(&Spec::parse("two-level", two_level::EXAMPLE, rest, two_level::KEYS)?)
        }
        "xgft" => xgft::generate(&Spec::parse("xgft", xgft::EXAMPLE, rest, xgft::KEYS)?),
        _ => Err(SpecError::UnknownGenerator { name: name.into(), nearest: nearest(name, GENERATORS) }),
    }
}
