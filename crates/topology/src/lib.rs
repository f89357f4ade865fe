//! Where fabrics come from and what shape they have.
//!
//! | module | idea |
//! |---|---|
//! | [`generate`] | a spec string in, a fabric out: one generator a file |
//! | [`detect`](mod@detect) | levels, pods and core groups of any fabric, found from its cables alone |
//! | [`regular`] | index tables of a perfect two- or three-level tree |
//! | [`damage`](mod@damage) | named or random cables and switches die; nothing is renumbered |

pub mod damage;
pub mod detect;
pub mod generate;
pub mod regular;

mod graph;
mod levels;
mod reach;

pub use damage::{Damage, DamageError, Damaged, damage};
pub use detect::{Direction, NO_GROUP, NO_LEVEL, NO_POD, Structure, detect};
pub use generate::{SpecError, generate, is_generator};
pub use regular::RegularTree;
