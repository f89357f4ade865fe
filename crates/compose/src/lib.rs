//! A scenario put together: fabric, routes, jobs on their hosts and their programs become a run.
//!
//! | module | idea |
//! |---|---|
//! | `error` | what does not fit together |

mod error;

pub use error::ComposeError;
