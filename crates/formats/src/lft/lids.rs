//! Which LID stands for which destination.
//!
//! Invariants: a host has `2^lmc` LIDs in a row, the first a multiple of `2^lmc`; LIDs are 1..=0xbfff and
//! nobody shares one. A fabric without LIDs (a generator's, an ibsim net) gets them by rule: hosts in order from
//! the lowest, then switches; where some are known, those stay and the others fill the gaps in that order.

use netloom_model::{DestId, Fabric, HostId};

use crate::error::WriteError;

/// The highest unicast LID.
pub const MAX_LID: u16 = 0xbfff;

/// Base LIDs of all hosts and switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lids {
    /// LID mask control: hosts have `2^lmc` LIDs.
    pub lmc: u8,
    /// First LID of every host.
    pub hosts: Vec<u16>,
    /// LID of every switch.
    pub switches: Vec<u16>,
}

impl Lids {
    /// The LIDs of `fabric` with at least `lmc`, made up where it has none.
    ///
    /// The fabric's own LIDs count unless `lmc` asks for more addresses than its LMC gives.
    ///
    /// # Errors
    /// [`WriteError::TooManyLids`].
    pub fn of(fabric: &Fabric, lmc: u8) -> Result<Self, WriteError> {
        let own = lmc <= fabric.lmc();
        let lmc = lmc.max(fabric.lmc());
        let width = 1usize << lmc;
        let known_hosts: Vec<Option<u16>> =
            fabric.hosts().map(|h| fabric.host_lid(h).filter(|_| own)).collect();
        let known_switches: Vec<Option<u16>> =
            fabric.switches().map(|s| fabric.switch_lid(s).filter(|_| own)).collect();
        let mut free = Free { taken: vec![false; usize::from(MAX_LID) + 1] };
        free.taken[0] = true;
        for lid in known_hosts.iter().flatten() {
            free.mark(*lid, width);
        }
        for lid in known_switches.iter().flatten() {
            free.mark(*lid, 1);
        }
        let too_many = || WriteError::TooManyLids {
            needed: fabric.host_count() * width + fabric.switch_count() + width - 1,
            hosts: fabric.host_count(),
            paths: width,
            switches: fabric.switch_count(),
        };
        let mut fill = |known: Vec<Option<u16>>, width: usize| -> Result<Vec<u16>, WriteError> {
            let mut from = width;
            known
                .into_iter()
                .map(|lid| match lid {
                    Some(lid) => Ok(lid),
                    None => free.take(&mut from, width).ok_or_else(too_many),
                })
                .collect()
        };
        let hosts = fill(known_hosts, width)?;
        let switches = fill(known_switches, 1)?;
        Ok(Self { lmc, hosts, switches })
    }

    /// Every LID with its destination in `fabric.dests(self.lmc)`, by LID.
    pub fn entries(&self) -> Vec<(u16, DestId)> {
        let paths = 1u32 << self.lmc;
        let mut entries = Vec::with_capacity((self.hosts.len() << self.lmc) + self.switches.len());
        for (h, &lid) in self.hosts.iter().enumerate() {
            let first = HostId::from_index(h).0 << self.lmc;
            entries.extend((0..paths).map(|p| (lid + p as u16, DestId(first + p))));
        }
        let first = self.hosts.len() << self.lmc;
        entries
            .extend(self.switches.iter().enumerate().map(|(s, &lid)| (lid, DestId::from_index(first + s))));
        entries.sort_unstable();
        entries
    }
}

/// Which LIDs are taken.
struct Free {
    taken: Vec<bool>,
}

impl Free {
    fn mark(&mut self, lid: u16, width: usize) {
        let first = usize::from(lid);
        let last = (first + width).min(self.taken.len());
        self.taken[first.min(last)..last].fill(true);
    }

    /// The next free range of `width`, aligned, at or after `from`; `from` moves behind it.
    fn take(&mut self, from: &mut usize, width: usize) -> Option<u16> {
        while *from + width <= self.taken.len() {
            let range = *from..*from + width;
            *from += width;
            if !self.taken[range.clone()].contains(&true) {
                self.taken[range.clone()].fill(true);
                return Some(range.start as u16);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, SwitchSpec};

    use super::*;

    fn pair(lids: [Option<u16>; 2], switch: Option<u16>, lmc: u8) -> Fabric {
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec { lid: switch, ..SwitchSpec::new("s", 1, 4) });
        for (i, lid) in lids.into_iter().enumerate() {
            let h = b.host(HostSpec { lid, ..HostSpec::new(format!("h{i}"), 16 * (i as u64 + 1)) });
            b.cable(End::Switch(s, 1 + i as u16), End::Host(h), 1e9);
        }
        b.lmc(lmc);
        b.build().unwrap()
    }

    #[test]
    fn made_up_lids_number_hosts_then_switches_and_are_aligned() {
        let fabric = pair([None, None], None, 0);
        let lids = Lids::of(&fabric, 0).unwrap();
        assert_eq!((lids.hosts, lids.switches), (vec![1, 2], vec![3]));
        // LMC 1: hosts own 2-3 and 4-5, the switch takes the lowest LID left, 1.
        let lids = Lids::of(&fabric, 1).unwrap();
        assert_eq!((&lids.hosts, &lids.switches), (&vec![2, 4], &vec![1]));
        assert_eq!(lids.entries().len(), 5);
    }

    #[test]
    fn known_lids_stay() {
        let lids = Lids::of(&pair([Some(9), None], Some(1), 0), 0).unwrap();
        assert_eq!((lids.hosts, lids.switches), (vec![9, 2], vec![1]));
    }

    #[test]
    fn more_addresses_than_the_fabric_has_need_new_lids() {
        let lids = Lids::of(&pair([Some(9), Some(8)], Some(1), 0), 2).unwrap();
        assert_eq!(lids.hosts, [4, 8]);
    }
}
