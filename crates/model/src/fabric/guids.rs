//! Hosts by GUID, as tools print them: `0xe41d2d0300001234`.

use std::collections::HashMap;

use crate::fabric::Fabric;
use crate::ids::HostId;

/// Hosts by the GUIDs of their ports and of their adapters (all its ports).
pub struct HostGuids(HashMap<u64, Vec<HostId>>);

impl HostGuids {
    /// Of all hosts.
    pub fn of(fabric: &Fabric) -> Self {
        let mut hosts: HashMap<u64, Vec<HostId>> = HashMap::with_capacity(2 * fabric.host_count());
        for host in fabric.hosts() {
            hosts.entry(fabric.host_guid(host)).or_default().push(host);
        }
        for host in fabric.hosts() {
            // An adapter whose only port has its own GUID is one host all the same.
            let of_port = hosts.entry(fabric.host_port_guid(host)).or_default();
            if !of_port.contains(&host) {
                of_port.push(host);
            }
        }
        Self(hosts)
    }

    /// Whose GUID this is; empty if it is nobody's, or no GUID (`0x` and up to 16 digits).
    pub fn find(&self, text: &str) -> &[HostId] {
        guid(text).and_then(|guid| self.0.get(&guid)).map_or(&[], Vec::as_slice)
    }
}

/// The number in `0xe41d2d0300001234`.
pub fn guid(text: &str) -> Option<u64> {
    let digits = text.trim().strip_prefix("0x").filter(|digits| !digits.starts_with('+'))?;
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::build::{End, FabricBuilder, HostSpec, SwitchSpec};

    #[test]
    fn ports_and_adapters_are_found_and_nothing_else() {
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec::new("s", 0xabc, 4));
        for (port, name) in [(1, "h1 mlx5_0"), (2, "h1 mlx5_1")] {
            let spec = HostSpec { port, port_guid: 0x10 + u64::from(port), ..HostSpec::new(name, 0x10) };
            let h = b.host(spec);
            b.cable(End::Switch(s, port), End::Host(h), 1e9);
        }
        let guids = HostGuids::of(&b.build().unwrap());
        assert_eq!(guids.find("0x10"), [HostId(0), HostId(1)]);
        assert_eq!(guids.find(" 0x0000000000000012 "), [HostId(1)]);
        for none in ["0xabc", "10", "0x", "0x+10", "0x11111111111111111", "h1 mlx5_0"] {
            assert!(guids.find(none).is_empty(), "{none}");
        }
    }
}
