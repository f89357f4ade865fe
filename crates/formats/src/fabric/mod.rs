//! Fabrics as the InfiniBand tools print them: `ibnetdiscover`, `ibnetdiscover -p`, `iblinkinfo`, ibsim's net files, and ibdiagnet's
//! `db_csv` and `net_dump`; as plain tables of cables, of which UFM's plan is one; and the wiring that a Cray XC prints.
//!
//! Idea: a parser a form turns text into the same raw records (`raw`); one assembly (`assemble`)
//! turns records into a checked [`Fabric`]. What real hardware shows and a simulator does not (messages in
//! between, unknown speeds, aggregation nodes, cables from a switch to itself, ...) becomes a [`Finding`]
//! with its line; only what cannot be a fabric is refused.
//!
//! What is a host: each port of a channel adapter with a cable to a switch. Aggregation nodes (SHARP) and
//! routers are neither hosts nor switches and are left out, with a finding.

mod aries;
mod assemble;
mod block;
mod cables;
mod db_csv;
mod dot;
mod foreign;
mod linkinfo;
mod names;
mod net_dump;
mod pairs;
mod planes;
mod ports;
mod rate;
mod raw;
mod write;

pub use cables::write_cables;
pub use dot::write_dot;
pub(crate) use names::is_adapter;
pub use names::machine_of;
pub use write::{write_ibnetdiscover, write_ibsim_net};

use netloom_model::Fabric;

use crate::error::{FormatError, excerpt};
use crate::text::text;

/// Something odd that did not keep a file from being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A word for what is odd; `netloom.findings` says how bad each is.
    pub kind: &'static str,
    /// Line, from 1, where there is one to name.
    pub line: Option<usize>,
    /// What is odd, and what was made of it.
    pub text: String,
}

/// Which tool's form a fabric was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricKind {
    /// `ibnetdiscover`: a record a node.
    Ibnetdiscover,
    /// `ibnetdiscover -p`: a line a port.
    IbnetdiscoverPorts,
    /// A net file for ibsim.
    IbsimNet,
    /// `ibdiagnet2.db_csv`: sections.
    IbdiagnetDbCsv,
    /// `ibdiagnet2.net_dump`: a table a switch.
    IbdiagnetNetDump,
    /// `iblinkinfo`: a row a port.
    Iblinkinfo,
    /// A plain table of cables, by names.
    Cables,
    /// UFM's cabling plan (NDT), by names.
    UfmPlan,
    /// A Cray XC's wiring: a line a tile.
    Aries,
}

impl FabricKind {
    /// The kind as files and tables spell it.
    pub fn name(self) -> &'static str {
        match self {
            FabricKind::Ibnetdiscover => "ibnetdiscover",
            FabricKind::IbnetdiscoverPorts => "ibnetdiscover -p",
            FabricKind::IbsimNet => "ibsim",
            FabricKind::IbdiagnetDbCsv => "ibdiagnet db_csv",
            FabricKind::IbdiagnetNetDump => "ibdiagnet net_dump",
            FabricKind::Iblinkinfo => "iblinkinfo",
            FabricKind::Cables => "cables",
            FabricKind::UfmPlan => "UFM plan",
            FabricKind::Aries => "Aries interconnect",
        }
    }
}

/// A fabric as read.
#[derive(Clone, Debug)]
pub struct FabricFile {
    /// The fabric.
    pub fabric: Fabric,
    /// What was odd, in order of lines.
    pub findings: Vec<Finding>,
    /// The form it had.
    pub kind: FabricKind,
}

/// Reads a fabric, plain or gzip; the form is recognised by its lines.
///
/// `name_map`: a node-name-map (`0xGUID "name"` lines) and its label; its names win over the file's.
///
/// # Errors
/// What cannot be a fabric: truncated or binary input, a port above the radix, a cable whose two ends
/// disagree, the same GUID twice, hosts that cannot reach each other, nothing that looks like a dump.
pub fn read_fabric(
    bytes: &[u8],
    label: &str,
    name_map: Option<(&[u8], &str)>,
) -> Result<FabricFile, FormatError> {
    read_plane(bytes, label, name_map, None)
}

/// The same, of one of the planes in a file: its number from 1, the largest first, or the name of one of its nodes. Unless one is
/// asked for, the first is taken, with a finding that names them all.
///
/// # Errors
/// As [`read_fabric`], and where no plane is called so.
pub fn read_plane(
    bytes: &[u8],
    label: &str,
    name_map: Option<(&[u8], &str)>,
    plane: Option<&str>,
) -> Result<FabricFile, FormatError> {
    let map = match name_map {
        Some((bytes, label)) => names::NameMap::parse(&text(bytes, label)?, label)?,
        None => names::NameMap::default(),
    };
    let text = text(bytes, label)?;
    if let Some((i, _)) = text.lines().enumerate().find(|(_, line)| is_of_ibsim_dump(line)) {
        let message = "expected the net file that ibsim was started with, or ibnetdiscover's output, found ibsim's dump (its command \
                       dump): that does not tell both ends of cables by GUID";
        return Err(FormatError::at(label, i + 1, message));
    }
    let raw = match sniff(&text) {
        Some(Form::Records) => block::parse(&text, label)?,
        Some(Form::Ports) => ports::parse(&text, label)?,
        Some(Form::Sections) => db_csv::parse(&text, label)?,
        Some(Form::Tables) => net_dump::parse(&text, label)?,
        Some(Form::Rows) => linkinfo::parse(&text, label)?,
        Some(Form::Cables) => {
            let table = cables::Table::parse(&text, label)?;
            return assemble::assemble(table.raw(label)?, label, &map, plane);
        }
        Some(Form::Tiles) => {
            let wiring = aries::Wiring::parse(&text, label)?;
            let mut file = assemble::assemble(wiring.raw(), label, &map, plane)?;
            let groups = wiring.groups();
            let of: Vec<u32> = file.fabric.switches().map(|s| groups[&file.fabric.switch_guid(s)]).collect();
            file.fabric = file.fabric.with_groups(of);
            return Ok(file);
        }
        None => return Err(unknown(&text, label)),
    };
    assemble::assemble(raw, label, &map, plane)
}

/// `# Net status - …`, or `Switch 8 "SwA"      nodeguid 200000 sysimgguid 200000`.
fn is_of_ibsim_dump(line: &str) -> bool {
    line.starts_with("# Net status - ")
        || (line.starts_with("Switch ") || line.starts_with("Ca "))
            && line.contains(" nodeguid ")
            && !line.contains('#')
}

enum Form {
    Records,
    Ports,
    Sections,
    Tables,
    Rows,
    Cables,
    Tiles,
}

/// The first line that can only belong to one form decides.
fn sniff(text: &str) -> Option<Form> {
    text.lines().find_map(|line| {
        let line = line.trim_ascii();
        if ports::looks_like(line) {
            Some(Form::Ports)
        } else if block::looks_like(line) {
            Some(Form::Records)
        } else if crate::db_csv::begins(line) {
            Some(Form::Sections)
        } else if net_dump::looks_like(line) {
            Some(Form::Tables)
        } else if linkinfo::looks_like(line) {
            Some(Form::Rows)
        } else if cables::looks_like(line) {
            Some(Form::Cables)
        } else if aries::looks_like(line) {
            Some(Form::Tiles)
        } else {
            None
        }
    })
}

fn unknown(text: &str, label: &str) -> FormatError {
    let expected = "expected the output of ibnetdiscover (or ibnetdiscover -p) or iblinkinfo, ibdiagnet's db_csv or net_dump, a net file of \
                    ibsim, a Cray XC's interconnect, or a table of cables (from,port,to,port,speed)";
    let Some((i, first)) = text.lines().enumerate().find(|(_, l)| !l.trim_ascii().is_empty()) else {
        return FormatError::whole(label, format!("{expected}, found nothing: the input is empty"));
    };
    if let Some(name) = foreign::named(text) {
        return FormatError::at(label, i + 1, format!("{expected}, found {name}"));
    }
    FormatError::at(label, i + 1, format!("{expected}, found \"{}\"", excerpt(first)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_no_fabrics_are_named_for_what_they_are() {
        let refusal = |text: &str| read_fabric(text.as_bytes(), "x", None).unwrap_err().to_string();
        let dump = "Switch 8 \"SwA\"      nodeguid 200000 sysimgguid 200000\n200000  [1]     \"Ha\"[1]  4x  2.5G Active/LinkUp\n";
        for (text, line) in [(format!("# Net status - Sat Jun 20\n\n{dump}"), 1), (dump.to_owned(), 1)] {
            let told = refusal(&text);
            assert!(told.starts_with(&format!("x:{line}: expected the net file")), "{told}");
            assert!(told.contains("found ibsim's dump"), "{told}");
        }
        assert!(refusal("Unicast lids [0-4] of switch\n").contains("found forwarding tables"));
    }
}
