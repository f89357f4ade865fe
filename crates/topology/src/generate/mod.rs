//! Generators: `name:key=value,…` in, a fabric out.
//!
//! A spec is user input: every mistake is answered with what was expected, and sizes are checked before
//! anything is allocated. Generated names, GUIDs and ports are those of the ibsim files in `tests/data`, so
//! that a generated fabric and its discovered dump are the same fabric.
//!
//! [`GENERATORS`] lists them: a new one is a file and an entry there.

mod aries;
mod cab;
mod dragonfly;
mod fattree;
mod lattice;
mod megafly;
mod quartz1;
mod rail;
mod spec;
mod speed;
mod two_level;
mod xgft;

use netloom_model::names::nearest;
use netloom_model::{Fabric, FabricError};

pub use aries::Aries;
pub use dragonfly::{Arrangement, Dragonfly};
pub use fattree::FatTree;
pub use lattice::{Lattice, Line};
pub use megafly::Megafly;
use spec::Spec;
pub use two_level::TwoLevel;
pub use xgft::Xgft;

/// Most hosts that a generator makes.
pub const MAX_HOSTS: u64 = 500_000;
/// Most switches that a generator makes.
pub const MAX_SWITCHES: u64 = 100_000;
/// Most cables that a generator makes, host cables included.
pub const MAX_CABLES: u64 = 2_000_000;
/// Most ports of one switch (65535 means "no port" in tables).
pub const MAX_RADIX: u64 = 65_534;

/// Why a spec makes no fabric.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// No generator of this name.
    #[error("there is no generator \"{name}\"{}: expected one of {}", hint(nearest), generator_names().join(", "))]
    UnknownGenerator {
        /// What was given.
        name: String,
        /// The nearest known name.
        nearest: Option<&'static str>,
    },
    /// A key that this generator does not have.
    #[error("{generator}: unknown key \"{key}\"{}: expected {}", hint(nearest), listed(known))]
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

/// All keys of a generator, in words.
fn listed(known: &[&str]) -> String {
    if known.is_empty() { "none".into() } else { known.join(", ") }
}

/// One generator of fabrics.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    /// Its name: what a spec begins with.
    pub name: &'static str,
    /// A spec that works.
    pub example: &'static str,
    /// What it makes, in one line.
    pub about: &'static str,
    /// The keys that its specs may have.
    pub keys: &'static [&'static str],
    parse: fn(&Spec) -> Result<Fabric, SpecError>,
}

/// All generators, in the order messages list them.
pub static GENERATORS: [Generator; 15] = [
    Generator {
        name: "quartz1",
        example: "quartz1",
        about: "3072 hosts, three levels (Taffet, dissertation)",
        keys: &["speed"],
        parse: quartz1::generate,
    },
    Generator {
        name: "cab",
        example: "cab",
        about: "1296 hosts, three levels (Smith et al., SC18)",
        keys: &["speed"],
        parse: cab::generate,
    },
    Generator {
        name: fattree::NAME,
        example: fattree::EXAMPLE,
        about: "three levels; counts a pod, a leaf, a group",
        keys: fattree::KEYS,
        parse: fattree::generate,
    },
    Generator {
        name: two_level::NAME,
        example: two_level::EXAMPLE,
        about: "every leaf to every spine",
        keys: two_level::KEYS,
        parse: two_level::generate,
    },
    Generator {
        name: xgft::NAME,
        example: xgft::EXAMPLE,
        about: "extended generalised fat tree of any height",
        keys: xgft::KEYS,
        parse: xgft::generate,
    },
    Generator {
        name: rail::NAME,
        example: rail::EXAMPLE,
        about: "machines of several adapters, adapter r of every machine of a unit on its leaf r",
        keys: rail::KEYS,
        parse: rail::generate,
    },
    Generator {
        name: dragonfly::NAME,
        example: dragonfly::EXAMPLE,
        about: "cliques of switches as groups, cables between every two groups",
        keys: dragonfly::KEYS,
        parse: dragonfly::generate,
    },
    Generator {
        name: megafly::NAME,
        example: megafly::EXAMPLE,
        about: "dragonfly+: groups of leaves and spines, cables between spines of every two groups",
        keys: megafly::KEYS,
        parse: megafly::generate,
    },
    Generator {
        name: "hyperx",
        example: "hyperx:shape=16x6,hosts=4",
        about: "every switch to each that differs in one coordinate",
        keys: lattice::KEYS,
        parse: lattice::hyperx,
    },
    Generator {
        name: "torus",
        example: "torus:shape=6x6x6,hosts=1",
        about: "rings in every dimension",
        keys: lattice::KEYS,
        parse: lattice::torus,
    },
    Generator {
        name: "mesh",
        example: "mesh:shape=4x4,hosts=2",
        about: "rows in every dimension, without a cable from the last to the first",
        keys: lattice::KEYS,
        parse: lattice::mesh,
    },
    Generator {
        name: "fullmesh",
        example: "fullmesh:switches=12,hosts=8",
        about: "every switch to every other",
        keys: lattice::FULL_KEYS,
        parse: lattice::full_mesh,
    },
    Generator {
        name: aries::NAME,
        example: aries::EXAMPLE,
        about: "Cray XC: groups of 16 slots by 6 chassis, cables between every two groups",
        keys: aries::KEYS,
        parse: aries::generate,
    },
    Generator {
        name: "edison",
        example: "edison",
        about: "5760 hosts, 15 groups of a Cray XC, wired as the machine was",
        keys: &[],
        parse: aries::edison,
    },
    Generator {
        name: "theta",
        example: "theta",
        about: "3456 hosts, 9 groups of a Cray XC, wired as the machine was",
        keys: &[],
        parse: aries::theta,
    },
];

/// The names of all generators.
pub fn generator_names() -> Vec<&'static str> {
    GENERATORS.iter().map(|generator| generator.name).collect()
}

/// The generator that a spec begins with, and the rest of the spec.
fn generator(spec: &str) -> Result<(&'static Generator, &str), &str> {
    let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
    GENERATORS.iter().find(|generator| generator.name == name).map(|found| (found, rest)).ok_or(name)
}

/// Whether a command line's FABRIC means a generator, well written or not, rather than a file.
pub fn is_generator(spec: &str) -> bool {
    generator(spec).is_ok()
}

/// Makes the fabric that `spec` describes.
///
/// # Errors
/// [`SpecError`] says what was expected.
///
/// # Examples
/// ```
/// let fabric = netloom_topology::generate("two-level:leaves=4,hosts=2,spines=2,speed=10G")?;
/// assert_eq!((fabric.host_count(), fabric.switch_count()), (8, 6));
/// # Ok::<(), netloom_topology::SpecError>(())
/// ```
pub fn generate(spec: &str) -> Result<Fabric, SpecError> {
    let (found, rest) = generator(spec).map_err(|name| SpecError::UnknownGenerator {
        name: name.into(),
        nearest: nearest(name, generator_names()),
    })?;
    (found.parse)(&Spec::parse(found, rest)?)
}
