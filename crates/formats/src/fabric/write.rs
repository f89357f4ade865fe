//! Fabrics as files: ibsim's net form, and `ibnetdiscover`'s.
//!
//! Dead cables are left out, so a damaged fabric can be saved. Both forms are read back by
//! [`read_fabric`](super::read_fabric) to the same fabric, and a real ibsim takes both; the second also has the
//! LIDs (made up by the rule of [`Lids`] where the fabric has none).

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use netloom_model::{Fabric, HostId, LinkId, Node, SwitchId};

use crate::error::WriteError;
use crate::lft::Lids;
use crate::lft::write::check_radix;

use super::rate::{SPEEDS, Speed, name_of};

/// The longest node id that ibsim takes.
const MAX_ID_BYTES: usize = 63;

/// A net file for ibsim.
///
/// Node ids are names where ibsim can take them (unique, short, without `"`, `#`, `@`), else made from GUIDs;
/// `caguid` is such that ibsim gives every port the GUID that it has in the fabric. ibsim knows FDR, EDR and HDR of
/// the newer speeds: others are given to it as HDR, and the true one stands in the comment.
///
/// # Errors
/// A radix above 254, more than 49,151 LIDs, a speed that is none of InfiniBand's.
pub fn write_ibsim_net(fabric: &Fabric) -> Result<String, WriteError> {
    check_radix(fabric)?;
    // Refuses what no subnet manager could address.
    Lids::of(fabric, fabric.lmc())?;
    let rates = rates(fabric)?;
    let usual = most_common(&rates);
    let adapters = adapters(fabric);
    let ids = Ids::new(fabric, &adapters);
    let guids = simulated_guids(fabric, &adapters);
    let of_host = adapter_of_hosts(fabric, &adapters);

    let mut out = String::with_capacity(fabric.link_count() * 24 + fabric.node_count() * 80);
    let (width, speed, extended) = masks(usual);
    let _ = writeln!(out, "width={width}\nspeed={speed}\nextspeed={extended}");
    let port = |out: &mut String, l: LinkId| {
        let link = fabric.link(l);
        let peer = match fabric.node(link.to) {
            Node::Host(h) => &ids.adapters[of_host[h.index()]],
            Node::Switch(s) => &ids.switches[s.index()],
        };
        let _ = write!(out, "[{}]\t\"{peer}\"[{}]", link.from_port, link.to_port);
        let rate = rates[l.index()];
        if rate != usual || SPEEDS[rate.1 as usize].0 != simulated(rate.1) {
            let (width, speed, extended) = masks(rate);
            let name = SPEEDS[rate.1 as usize].1;
            let _ = write!(out, " w={width} s={speed} e={extended}\t# {}x{name}", rate.0);
        }
        out.push('\n');
    };
    for s in fabric.switches() {
        let (guid, radix, name) = (fabric.switch_guid(s), fabric.radix(s), fabric.switch_name(s));
        let id = &ids.switches[s.index()];
        let _ = write!(
            out,
            "\nvendid=0x2c9\ndevid=0xd2f0\nswitchguid=0x{guid:x}\nSwitch\t{radix} \"{id}\"\t\t# \"{name}\" base port 0\n"
        );
        fabric.switch_links(s).filter(|&l| fabric.alive(l)).for_each(|l| port(&mut out, l));
    }
    for ((hosts, id), guid) in adapters.iter().zip(&ids.adapters).zip(guids) {
        let (ports, name) = (ports_of(fabric, hosts), fabric.host_name(hosts[0]));
        let _ = write!(
            out,
            "\nvendid=0x2c9\ndevid=0x1017\ncaguid=0x{guid:x}\nCa\t{ports} \"{id}\"\t\t# \"{name}\"\n"
        );
        let links = hosts.iter().map(|&h| fabric.host_link(h));
        links.filter(|&l| fabric.alive(l)).for_each(|l| port(&mut out, l));
    }
    Ok(out)
}

/// What `ibnetdiscover` would print, LIDs included.
///
/// # Errors
/// A radix above 254, more than 49,151 LIDs, a speed that is none of InfiniBand's.
pub fn write_ibnetdiscover(fabric: &Fabric) -> Result<String, WriteError> {
    check_radix(fabric)?;
    let lids = Lids::of(fabric, fabric.lmc())?;
    let rates = rates(fabric)?;
    let mut out = String::with_capacity(fabric.link_count() * 90 + fabric.node_count() * 160);
    out.push_str("#\n# Topology file: written by netloom\n#\n");
    for s in fabric.switches() {
        let (guid, radix, name) = (fabric.switch_guid(s), fabric.radix(s), fabric.switch_name(s));
        let lid = lids.switches[s.index()];
        let _ = write!(
            out,
            "\nvendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x{guid:x}\nswitchguid=0x{guid:x}({guid:x})\n\
             Switch\t{radix} \"S-{guid:016x}\"\t\t# \"{name}\" base port 0 lid {lid} lmc 0\n"
        );
        for l in fabric.switch_links(s).filter(|&l| fabric.alive(l)) {
            let link = fabric.link(l);
            let peer_name = fabric.node_name(link.to);
            let _ = match fabric.node(link.to) {
                Node::Host(h) => write!(
                    out,
                    "[{}]\t\"H-{:016x}\"[{}]({:x}) \t\t# \"{peer_name}\" lid {}",
                    link.from_port,
                    fabric.host_guid(h),
                    link.to_port,
                    fabric.host_port_guid(h),
                    lids.hosts[h.index()]
                ),
                Node::Switch(t) => write!(
                    out,
                    "[{}]\t\"S-{:016x}\"[{}]\t\t# \"{peer_name}\" lid {}",
                    link.from_port,
                    fabric.switch_guid(t),
                    link.to_port,
                    lids.switches[t.index()]
                ),
            };
            push_rate(&mut out, rates[l.index()]);
        }
    }
    for hosts in adapters(fabric) {
        let (guid, ports) = (fabric.host_guid(hosts[0]), ports_of(fabric, &hosts));
        let name = fabric.host_name(hosts[0]);
        let _ = write!(
            out,
            "\nvendid=0x2c9\ndevid=0x1017\nsysimgguid=0x{guid:x}\ncaguid=0x{guid:x}\n\
             Ca\t{ports} \"H-{guid:016x}\"\t\t# \"{name}\"\n"
        );
        for &h in hosts.iter().filter(|&&h| fabric.alive(fabric.host_link(h))) {
            let (link, leaf) = (fabric.link(fabric.host_link(h)), fabric.leaf(h));
            let _ = write!(
                out,
                "[{}]({:x}) \t\"S-{:016x}\"[{}]\t\t# lid {} lmc {} \"{}\" lid {}",
                link.from_port,
                fabric.host_port_guid(h),
                fabric.switch_guid(leaf),
                link.to_port,
                lids.hosts[h.index()],
                lids.lmc,
                fabric.switch_name(leaf),
                lids.switches[leaf.index()]
            );
            push_rate(&mut out, rates[fabric.host_link(h).index()]);
        }
    }
    Ok(out)
}

fn push_rate(out: &mut String, (width, speed): (u8, Speed)) {
    let _ = writeln!(out, " {width}x{}", SPEEDS[speed as usize].1);
}

/// Width and speed of every link.
pub(super) fn rates(fabric: &Fabric) -> Result<Vec<(u8, Speed)>, WriteError> {
    let mut known: Vec<(f64, (u8, Speed))> = Vec::new();
    fabric
        .links()
        .map(|l| {
            let bytes_per_s = fabric.bandwidth_bytes_per_s(l);
            if let Some(rate) = known.iter().find(|k| k.0 == bytes_per_s) {
                return Ok(rate.1);
            }
            let rate = name_of(bytes_per_s)
                .ok_or_else(|| WriteError::Speed { link: fabric.describe_link(l), bytes_per_s })?;
            known.push((bytes_per_s, rate));
            Ok(rate)
        })
        .collect()
}

fn most_common(rates: &[(u8, Speed)]) -> (u8, Speed) {
    let mut counts: Vec<((u8, Speed), usize)> = Vec::new();
    for &rate in rates {
        match counts.iter_mut().find(|c| c.0 == rate) {
            Some(count) => count.1 += 1,
            None => counts.push((rate, 1)),
        }
    }
    counts.into_iter().max_by_key(|c| c.1).map_or((4, Speed::Edr), |c| c.0)
}

/// The speed that ibsim is given instead.
fn simulated(speed: Speed) -> Speed {
    match speed {
        Speed::Fdr10 => Speed::Qdr,
        Speed::Ndr | Speed::Xdr => Speed::Hdr,
        other => other,
    }
}

/// ibsim's masks of widths, speeds and extended speeds up to a rate. Both ends of a cable get the same, so the
/// link takes the best of the mask.
fn masks((width, speed): (u8, Speed)) -> (u8, u8, u8) {
    let width = match width {
        1 => 1,
        2 => 16,
        4 => 3,
        8 => 4,
        _ => 8,
    };
    match simulated(speed) {
        Speed::Sdr => (width, 1, 0),
        Speed::Ddr => (width, 3, 0),
        Speed::Qdr | Speed::Fdr10 => (width, 7, 0),
        Speed::Fdr => (width, 7, 1),
        Speed::Edr => (width, 7, 3),
        Speed::Hdr | Speed::Ndr | Speed::Xdr => (width, 7, 7),
    }
}

/// Hosts by channel adapter, adapters by their first host.
fn adapters(fabric: &Fabric) -> Vec<Vec<HostId>> {
    let mut hosts: Vec<HostId> = fabric.hosts().collect();
    hosts.sort_by_key(|&h| (fabric.host_guid(h), fabric.host_port(h)));
    let mut adapters: Vec<Vec<HostId>> =
        hosts.chunk_by(|&a, &b| fabric.host_guid(a) == fabric.host_guid(b)).map(<[HostId]>::to_vec).collect();
    adapters.sort_by_key(|a| a[0]);
    adapters
}

fn adapter_of_hosts(fabric: &Fabric, adapters: &[Vec<HostId>]) -> Vec<usize> {
    let mut of_host = vec![0; fabric.host_count()];
    for (a, hosts) in adapters.iter().enumerate() {
        for h in hosts {
            of_host[h.index()] = a;
        }
    }
    of_host
}

/// How many ports an adapter has at least.
fn ports_of(fabric: &Fabric, hosts: &[HostId]) -> u16 {
    hosts.iter().map(|&h| fabric.host_port(h)).max().unwrap_or(1)
}

/// What ibsim calls the nodes.
struct Ids {
    switches: Vec<String>,
    adapters: Vec<String>,
}

impl Ids {
    fn new(fabric: &Fabric, adapters: &[Vec<HostId>]) -> Self {
        let switch_names = fabric.switches().map(|s| fabric.switch_name(s));
        let names: Vec<&str> = switch_names.chain(adapters.iter().map(|a| fabric.host_name(a[0]))).collect();
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for name in &names {
            *uses.entry(name).or_default() += 1;
        }
        let fits = |name: &str| {
            uses.get(name) == Some(&1)
                && !name.is_empty()
                && name.len() <= MAX_ID_BYTES
                && name == name.trim()
                && name.bytes().all(|b| (b.is_ascii_graphic() || b == b' ') && !b"\"#@".contains(&b))
                // Would be taken for an ibnetdiscover dump.
                && !["S-", "H-", "R-"].iter().any(|p| name.starts_with(p))
        };
        let id = |name: &str, kind: &str, guid: u64| {
            if fits(name) { name.to_owned() } else { format!("{kind}-0x{guid:016x}") }
        };
        let switch = |s: SwitchId| id(fabric.switch_name(s), "switch", fabric.switch_guid(s));
        Self {
            switches: fabric.switches().map(switch).collect(),
            adapters: adapters
                .iter()
                .map(|a| id(fabric.host_name(a[0]), "host", fabric.host_guid(a[0])))
                .collect(),
        }
    }
}

/// Node GUIDs of the adapters such that `GUID + port`, as ibsim counts, is the port's GUID in the fabric; the
/// real node GUID where that would clash or not fit all ports.
fn simulated_guids(fabric: &Fabric, adapters: &[Vec<HostId>]) -> Vec<u64> {
    let base = |h: HostId| fabric.host_port_guid(h).wrapping_sub(u64::from(fabric.host_port(h)));
    let wanted = |hosts: &Vec<HostId>| {
        let first = base(hosts[0]);
        hosts.iter().all(|&h| base(h) == first).then_some(first)
    };
    let own: Vec<u64> = adapters.iter().map(|a| fabric.host_guid(a[0])).collect();
    let mut guids: Vec<u64> = adapters.iter().zip(&own).map(|(a, &own)| wanted(a).unwrap_or(own)).collect();
    let mut seen: HashSet<u64> = fabric.switches().map(|s| fabric.switch_guid(s)).collect();
    // One clash: all keep their own.
    if !guids.iter().all(|&g| g != 0 && seen.insert(g)) {
        guids = own;
    }
    guids
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, SwitchSpec};

    use super::*;
    use crate::fabric::read_fabric;

    /// Two switches of one name, a host with quotes, one two-port adapter, three speeds.
    fn odd() -> Fabric {
        let mut b = FabricBuilder::new();
        let s: Vec<usize> = (0..2).map(|i| b.switch(SwitchSpec::new("Quantum", 0x100 + i, 8))).collect();
        b.cable(End::Switch(s[0], 8), End::Switch(s[1], 7), 25e9);
        let two = |port| HostSpec { port, port_guid: 0x200 + u64::from(port), ..HostSpec::new("duo", 0x200) };
        let quoted = HostSpec::new("a \"b\" = #c", 0x300);
        for (i, spec) in [two(1), two(2), quoted].into_iter().enumerate() {
            let h = b.host(spec);
            b.cable(End::Host(h), End::Switch(s[i % 2], 1 + i as u16), [12.5e9, 50e9, 12.5e9][i]);
        }
        b.build().unwrap()
    }

    fn describe(fabric: &Fabric) -> Vec<(String, f64)> {
        fabric.links().map(|l| (fabric.describe_link(l), fabric.bandwidth_bytes_per_s(l))).collect()
    }

    #[test]
    fn both_forms_read_back_as_the_same_fabric() {
        let fabric = odd();
        for text in [write_ibsim_net(&fabric).unwrap(), write_ibnetdiscover(&fabric).unwrap()] {
            let back = read_fabric(text.as_bytes(), "x", None).unwrap();
            assert_eq!(describe(&back.fabric), describe(&fabric), "{text}");
            assert_eq!(back.fabric.cabling_hash(), fabric.cabling_hash());
            let guids = |f: &Fabric| f.hosts().map(|h| f.host_port_guid(h)).collect::<Vec<_>>();
            assert_eq!(guids(&back.fabric), guids(&fabric));
        }
    }

    #[test]
    fn ids_are_names_where_ibsim_can_take_them() {
        let text = write_ibsim_net(&odd()).unwrap();
        assert!(text.contains("Switch\t8 \"switch-0x0000000000000100\"\t\t# \"Quantum\""));
        assert!(text.contains("Ca\t2 \"duo\""));
        assert!(text.contains("Ca\t1 \"host-0x0000000000000300\"\t\t# \"a \"b\" = #c\""));
        // 50e9 bytes/s are 4xNDR: ibsim simulates HDR.
        assert!(text.contains("\"duo\"[2] w=3 s=7 e=7\t# 4xNDR"));
    }

    #[test]
    fn dead_cables_are_left_out() {
        let fabric = odd();
        let cut = fabric.with_dead([fabric.host_link(HostId(0))]);
        let back = read_fabric(write_ibnetdiscover(&cut).unwrap().as_bytes(), "x", None).unwrap();
        assert_eq!(back.fabric.host_count(), 2);
        assert!(back.findings.iter().any(|f| f.text.contains("no link")), "{:?}", back.findings);
    }

    #[test]
    fn what_infiniband_cannot_say_is_refused() {
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec::new("big", 1, 300));
        let h = b.host(HostSpec::new("h", 2));
        b.cable(End::Host(h), End::Switch(s, 1), 1e9);
        let message = write_ibsim_net(&b.build().unwrap()).unwrap_err().to_string();
        assert_eq!(
            message,
            "switch \"big\" has 300 ports: expected at most 254 in files for OpenSM or ibsim"
        );
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec::new("s", 1, 8));
        let h = b.host(HostSpec::new("h", 2));
        b.cable(End::Host(h), End::Switch(s, 1), 1.234e9);
        assert!(matches!(write_ibnetdiscover(&b.build().unwrap()), Err(WriteError::Speed { .. })));
    }

    /// Mutated dumps whose fabrics, written and read again, were others: hosts whose names hold "Aggregation Node", stray bytes.
    #[test]
    fn mutated_dumps_survive_being_written_and_read_again() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/broken/roundtrip");
        for number in 1..=5 {
            let bytes = std::fs::read(format!("{folder}/{number}.txt")).unwrap();
            let fabric = read_fabric(&bytes, "x", None).unwrap().fabric;
            let text = write_ibnetdiscover(&fabric).unwrap();
            let back = read_fabric(text.as_bytes(), "x", None).unwrap().fabric;
            let counts = |f: &Fabric| (f.host_count(), f.switch_count(), f.link_count());
            assert_eq!(counts(&back), counts(&fabric), "{number}\n{text}");
            assert_eq!(back.cabling_hash(), fabric.cabling_hash(), "{number}");
        }
    }
}
