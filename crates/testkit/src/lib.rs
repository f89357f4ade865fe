//! Fabrics and traffic for tests: random ones by seed, and small ones that can be checked by hand.
//!
//! A dev-dependency only, and only for tests in `tests/` folders. Everything is deterministic: a property
//! test draws a `u64`, and the seed in its failure message is the whole counterexample.
//!
//! | module | idea |
//! |---|---|
//! | [`cases`] | the smallest fabrics that show something |
//! | [`dragonflies`] | dragonflies with cables cut |
//! | [`random`] | trees of two to four levels: uneven, cabled in parallel, damaged, of unequal speeds |
//! | [`shapes`] | ten kinds of fabrics, trees and others: tori, meshes, dragonflies, HyperX, random graphs |
//! | [`traffic`] | sparse, dense and lopsided traffic |
//! | [`mod@trials`] | how many random cases a property test looks at |

pub mod cases;
pub mod dragonflies;
pub mod random;
pub mod shapes;
pub mod traffic;
pub mod trials;

pub use dragonflies::{CutDragonfly, cut_aries, cut_dragonfly};
pub use random::{Recipe, Sample, any_fabric, broken_fabric, damaged_sample, perfect_fabric, sample};
pub use shapes::{SHAPES, shape};
pub use traffic::{matrix, random_matrix, random_traffic};
pub use trials::trials;
