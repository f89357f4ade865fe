//! What must be fast, measured: one table.
fn main() {}
