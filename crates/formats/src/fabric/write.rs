//! Writers.
use crate::error::WriteError;
use netloom_model::Fabric;
/// ibsim.
pub fn write_ibsim_net(_: &Fabric) -> Result<String, WriteError> {
    Ok(String::new())
}
/// dump.
pub fn write_ibnetdiscover(_: &Fabric) -> Result<String, WriteError> {
    Ok(String::new())
}
