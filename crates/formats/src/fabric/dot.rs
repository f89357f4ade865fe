//! DOT.
use netloom_model::Fabric;
/// DOT.
pub fn write_dot(_: &Fabric, _: &[u8]) -> String {
    String::new()
}
