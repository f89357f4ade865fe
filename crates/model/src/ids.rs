//! Dense identifiers, valid within one [`Fabric`](crate::Fabric).
//!
//! Invariants: ids count from 0 without holes; a [`NodeId`] numbers hosts first, then switches;
//! a [`DestId`] numbers `(host, path)` first, then one entry per switch. Names, GUIDs and LIDs live
//! at the edge: no algorithm looks at a LID.

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an array index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of array position `i`.
            ///
            /// # Panics
            /// In debug builds if `i` does not fit 32 bits.
            #[inline]
            pub fn from_index(i: usize) -> Self {
                debug_assert!(i <= u32::MAX as usize);
                Self(i as u32)
            }
        }
    };
}

id! {
    /// A host: one cabled port of a channel adapter. 0..H, in natural name order.
    HostId
}
id! {
    /// A switch. 0..S, in natural name order.
    SwitchId
}
id! {
    /// A host or a switch: hosts first (0..H), then switches (H..H+S).
    NodeId
}
id! {
    /// A directed link: `first[node] + rank of its port` of the sending node. Every cable is two links.
    LinkId
}
id! {
    /// A destination of forwarding tables: `(host << lmc) + path`, then one per switch.
    DestId
}

/// What a [`DestId`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dest {
    /// One of the `2^lmc` addresses of a host.
    Host(HostId, u32),
    /// A switch's own (management) address.
    Switch(SwitchId),
}

/// The numbering of destinations for a fabric and an LMC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DestSpace {
    /// Number of hosts.
    pub hosts: usize,
    /// Number of switches.
    pub switches: usize,
    /// LID mask control: every host has `2^lmc` addresses (0..=7).
    pub lmc: u8,
}

impl DestSpace {
    /// Number of destinations: `hosts * 2^lmc + switches`.
    #[inline]
    pub fn count(self) -> usize {
        (self.hosts << self.lmc) + self.switches
    }

    /// Address number `path` of a host.
    #[inline]
    pub fn host(self, host: HostId, path: u32) -> DestId {
        debug_assert!(path < 1 << self.lmc);
        DestId((host.0 << self.lmc) + path)
    }

    /// The address of a switch.
    #[inline]
    pub fn switch(self, switch: SwitchId) -> DestId {
        DestId(((self.hosts << self.lmc) + switch.index()) as u32)
    }

    /// What `dest` stands for.
    #[inline]
    pub fn resolve(self, dest: DestId) -> Dest {
        let hosts = (self.hosts << self.lmc) as u32;
        if dest.0 < hosts {
            Dest::Host(HostId(dest.0 >> self.lmc), dest.0 & ((1 << self.lmc) - 1))
        } else {
            Dest::Switch(SwitchId(dest.0 - hosts))
        }
    }

    /// All destinations in order.
    pub fn iter(self) -> impl Iterator<Item = DestId> {
        (0..self.count() as u32).map(DestId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_number_hosts_paths_then_switches() {
        let space = DestSpace { hosts: 3, switches: 2, lmc: 1 };
        assert_eq!(space.count(), 8);
        assert_eq!(space.host(HostId(2), 1), DestId(5));
        assert_eq!(space.switch(SwitchId(1)), DestId(7));
        for d in space.iter() {
            let back = match space.resolve(d) {
                Dest::Host(h, p) => space.host(h, p),
                Dest::Switch(s) => space.switch(s),
            };
            assert_eq!(back, d);
        }
    }
}
