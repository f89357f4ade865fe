//! The simulator beside the dissertation's chapter 5 (`make validate`).
//!
//! Everything runs with the profile `codes`, and no experiment has a number of its own. Simulated times don't depend
//! on the machine.
//!
//! | module | idea |
//! |---|---|
//! | [`field`] | quartz1, and one run of it |
//! | [`bisection`] | table 5.1 and the latencies of sec. 5.2 |
//! | [`stencil`] | table 5.2 |
//! | [`bully`] | tables 5.3 and 5.4 |

mod bisection;
mod bully;
mod field;
mod stencil;

use crate::study::Family;

/// All families, in the order of the page.
pub const FAMILIES: [(&str, Family); 3] =
    [("bisection", bisection::run), ("stencil", stencil::run), ("bully", bully::run)];
