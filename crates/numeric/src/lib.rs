//! Numbers without a fabric: what inference needs of linear algebra.
//!
//! | module | what |
//! |---|---|
//! | [`nnls`] | non-negative least squares over a few columns |
//! | [`pdhg`] | linear programs, through products with the matrix only |

pub mod nnls;
pub mod pdhg;

pub use nnls::NonNegative;
pub use pdhg::{LinearMap, LinearProgram, LpAnswer, LpEffort, LpEnd, solve_lp};
