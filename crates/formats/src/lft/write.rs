//! Forwarding tables for OpenSM's `file` engine.
//!
//! ```text
//! Unicast lids [0-44] of switch Lid 2 guid 0x0002c90200000000 ('leaf00'):
//! 0x002c 008 # Channel Adapter portguid 0x0002c903000007c1: 'host0031'
//! 44 lids dumped
//! ```
//!
//! The comments are not decoration: by the port GUID OpenSM finds the LID that the host has *now*. Entries for
//! the switches' own LIDs stay, because management traffic uses them.

use std::fmt::Write as _;

use netloom_model::{Dest, DestId, Fabric, Lft, Routes, SwitchId};

use crate::error::WriteError;

use super::lids::Lids;

/// The tables in the form of OpenSM's own dump, whole: what [`lft_texts`] gives, joined.
///
/// # Errors
/// As [`lft_texts`].
pub fn write_lfts(fabric: &Fabric, routes: &Routes) -> Result<String, WriteError> {
    let texts = lft_texts(fabric, routes)?;
    let mut out = String::with_capacity(texts.bytes() * fabric.switch_count());
    for text in texts {
        out.push_str(&text);
    }
    Ok(out)
}

/// The tables in the form of OpenSM's own dump, switch by switch; entries without a port are left out.
///
/// Routes with fewer addresses a host than the fabric's LMC gives are repeated over a host's LIDs, so that none
/// is left without a way.
///
/// # Errors
/// Routes by source, routes of another fabric, more than 49,151 LIDs, a radix above 254.
pub fn lft_texts<'a>(fabric: &'a Fabric, routes: &'a Routes) -> Result<LftTexts<'a>, WriteError> {
    let lft = routes.lft().ok_or(WriteError::BySource)?;
    let space = fabric.dests(routes.lmc);
    if lft.switches() != fabric.switch_count() || lft.dests() != space.count() {
        return Err(WriteError::Mismatch(format!(
            "the routes are for {} switches and {} destinations, the fabric has {} and {}",
            lft.switches(),
            lft.dests(),
            fabric.switch_count(),
            space.count()
        )));
    }
    check_radix(fabric)?;
    let lids = Lids::of(fabric, routes.lmc)?;
    let wide = fabric.dests(lids.lmc);
    let extra = lids.lmc - routes.lmc;

    let mut lines = Vec::with_capacity(wide.count());
    for (lid, dest) in lids.entries() {
        let (dest, comment) = match wide.resolve(dest) {
            Dest::Host(h, path) => {
                let guid = fabric.host_port_guid(h);
                let name = fabric.host_name(h);
                // A base address stands for 2^extra LIDs.
                (
                    space.host(h, path >> extra),
                    format!(" # Channel Adapter portguid 0x{guid:016x}: '{name}'\n"),
                )
            }
            Dest::Switch(s) => {
                let (guid, name) = (fabric.switch_guid(s), fabric.switch_name(s));
                (space.switch(s), format!(" # Switch portguid 0x{guid:016x}: '{name}'\n"))
            }
        };
        lines.push((format!("0x{lid:04x} "), dest, comment));
    }
    let ports = (0..=254).map(|p| format!("{p:03}")).collect();
    let top = lids.entries().last().map_or(0, |e| e.0);
    Ok(LftTexts { fabric, lft, lids, lines, ports, top, next: 0 })
}

/// The text of every switch's table, in order.
pub struct LftTexts<'a> {
    fabric: &'a Fabric,
    lft: &'a Lft,
    lids: Lids,
    /// What stands before the port and after it, once a LID.
    lines: Vec<(String, DestId, String)>,
    ports: Vec<String>,
    top: u16,
    next: usize,
}

impl LftTexts<'_> {
    /// Bytes of a switch's text at most, but for its own name.
    fn bytes(&self) -> usize {
        self.lines.iter().map(|l| l.0.len() + 3 + l.2.len()).sum::<usize>() + 120
    }
}

impl Iterator for LftTexts<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if self.next == self.fabric.switch_count() {
            return None;
        }
        let switch = SwitchId::from_index(self.next);
        self.next += 1;
        let mut out = String::with_capacity(self.bytes());
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "Unicast lids [0-{}] of switch Lid {} guid 0x{:016x} ('{}'):",
            self.top,
            self.lids.switches[switch.index()],
            self.fabric.switch_guid(switch),
            self.fabric.switch_name(switch)
        );
        let row = self.lft.row(switch);
        for (lid, dest, comment) in &self.lines {
            if let Some(port) = self.ports.get(usize::from(row.port(*dest))) {
                out.push_str(lid);
                out.push_str(port);
                out.push_str(comment);
            }
        }
        let _ = writeln!(out, "{} lids dumped", self.top);
        Some(out)
    }
}

/// Files number ports in one byte, 255 meaning "none".
pub(crate) fn check_radix(fabric: &Fabric) -> Result<(), WriteError> {
    match fabric.switches().find(|&s| fabric.radix(s) > 254) {
        Some(s) => {
            Err(WriteError::Radix { switch: fabric.switch_name(s).to_owned(), radix: fabric.radix(s) })
        }
        None => Ok(()),
    }
}
