//! Numbers without a fabric: what inference needs of linear algebra.
//!
//! | module | what |
//! |---|---|
//! | [`nnls`] | non-negative least squares over a few columns |

pub mod nnls;

pub use nnls::NonNegative;
