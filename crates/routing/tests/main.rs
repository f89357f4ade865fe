//! What routing promises across files: engines against real tables, loads against arithmetic.

mod opensm;
mod properties;
