//! Routings by way ([`netloom_routing::Ways`]): a host has an address for each way up the tree, and senders pick.

use netloom_model::{Control, Fabric, Routes};
use netloom_routing::{Ways, coloured};
use netloom_topology::Structure;

use crate::{ComposeError, Scene, traffic};

/// How a pair's way is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByWay {
    /// The source's number modulo the number of ways.
    Smodk,
    /// The digits of the source's label, each modulo the up links of its level (paper 002).
    SmodkDigit,
    /// The same of the destination: one address is enough.
    DmodkDigit,
    /// Offline, by colouring the phases of the jobs' own traffic (paper 002).
    Coloured,
}

impl ByWay {
    /// All of them, in the order lists show them.
    pub const ALL: [Self; 4] = [Self::Smodk, Self::SmodkDigit, Self::DmodkDigit, Self::Coloured];

    /// As scenarios spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smodk => "s-mod-k",
            Self::SmodkDigit => "s-mod-k:digit",
            Self::DmodkDigit => "d-mod-k:digit",
            Self::Coloured => "coloured",
        }
    }

    /// The routing of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|which| which.name() == name)
    }

    /// The tables, and the paths by pair where there are several addresses.
    ///
    /// # Errors
    /// [`ComposeError`] for fabrics that are no trees or have too many ways; of coloured routes also as [`traffic::phases`].
    pub fn routes(
        self,
        fabric: &Fabric,
        structure: &Structure,
        scene: &Scene,
        control: &Control,
    ) -> Result<Routes, ComposeError> {
        if self == Self::Coloured {
            let phases = traffic::phases(fabric, &scene.jobs, control)?;
            return Ok(coloured(fabric, structure, &phases)?);
        }
        let ways = Ways::new(fabric, structure)?;
        Ok(match self {
            Self::DmodkDigit => ways.by_destination(fabric, structure),
            Self::SmodkDigit => ways.by_pair(fabric, structure, |from, _| ways.by_digit(from))?,
            Self::Smodk | Self::Coloured => {
                ways.by_pair(fabric, structure, |from, _| ways.by_number(from))?
            }
        })
    }
}
