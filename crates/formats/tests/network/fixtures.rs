//! What real tools printed of simulated fabrics.

use netloom_formats::FabricKind;
use netloom_model::LinkId;

use super::{fabric, file, tables, text};

#[test]
fn three_forms_of_a_fabric_are_the_same_fabric() {
    for (name, hosts, switches, links) in [("ft2_32", 32, 12, 128), ("ft3_32", 32, 16, 112)] {
        let dump = fabric(&format!("opensm/{name}/ibnetdiscover.txt"));
        assert_eq!((dump.host_count(), dump.switch_count(), dump.link_count()), (hosts, switches, links));
        let net = fabric(&format!("opensm/{name}/{name}.net"));
        let ports = fabric(&format!("opensm/{name}/ibnetdiscover-p.txt"));
        for other in [&net, &ports] {
            assert_eq!(other.hosts_hash(), dump.hosts_hash());
            assert_eq!(other.cabling_hash(), dump.cabling_hash());
            let same =
                |l: LinkId| other.bandwidth_bytes_per_s(l) == 12.5e9 && other.link(l).to == dump.link(l).to;
            assert!(dump.links().all(same));
        }
        // The net file and the dump agree in GUIDs; the -p form knows those of ports only.
        assert!(dump.hosts().all(|h| net.host_guid(h) == dump.host_guid(h)));
        assert!(dump.hosts().all(|h| net.host_port_guid(h) == dump.host_port_guid(h)));
        assert!(dump.hosts().all(|h| ports.host_port_guid(h) == dump.host_port_guid(h)));
        assert!(dump.hosts().all(|h| ports.host_lid(h) == dump.host_lid(h) && dump.host_lid(h).is_some()));
        assert!(dump.hosts().all(|h| net.host_lid(h).is_none()));
    }
}

#[test]
fn kinds_are_recognised() {
    for (path, kind) in [
        ("opensm/ft2_32/ibnetdiscover.txt", FabricKind::Ibnetdiscover),
        ("opensm/ft2_32/ibnetdiscover-p.txt", FabricKind::IbnetdiscoverPorts),
        ("opensm/ft2_32/ft2_32.net", FabricKind::IbsimNet),
        ("opensm/quartz1/ibnetdiscover.txt.gz", FabricKind::Ibnetdiscover),
    ] {
        assert_eq!(file(path).kind, kind, "{path}");
    }
}

#[test]
fn lids_are_those_that_opensm_assigned() {
    let dump = fabric("opensm/ft2_32/ibnetdiscover.txt");
    for line in text("opensm/ft2_32/switch_lids.txt").lines() {
        let [lid, _, name] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let switch = dump.switches().find(|&s| dump.switch_name(s) == name).unwrap();
        assert_eq!(dump.switch_lid(switch), lid.parse().ok(), "{name}");
    }
    for line in text("opensm/ft2_32/guid2lid").lines().filter(|l| !l.is_empty()) {
        let mut words = line.split(' ').map(|w| u64::from_str_radix(&w[2..], 16).unwrap());
        let (guid, lid) = (words.next().unwrap(), words.next().unwrap());
        let host = dump.hosts().find(|&h| dump.host_port_guid(h) == guid);
        assert!(host.is_none_or(|h| dump.host_lid(h).map(u64::from) == Some(lid)), "{line}");
    }
}

#[test]
fn a_pulled_cable_is_missing_from_the_dump() {
    let whole = fabric("opensm/ft3_32/ibnetdiscover.txt");
    let cut = fabric("opensm/ft3_32/fault_p0leaf0_port5_down/ibnetdiscover.txt");
    assert_eq!(whole.hosts_hash(), cut.hosts_hash());
    assert_eq!(cut.link_count() + 2, whole.link_count());
    let leaf = cut.switches().find(|&s| cut.switch_name(s) == "p0leaf0").unwrap();
    assert!(cut.link_at(leaf, 5).is_none() && whole.link_at(leaf, 5).is_some());
}

#[test]
fn generators_give_the_fabrics_of_the_dumps() {
    for (spec, path) in [
        ("two-level:leaves=8,hosts=4,spines=4", "opensm/ft2_32/ibnetdiscover.txt"),
        ("fattree:pods=2,leaves=4,hosts=4,spines=2,groups=2,cores=2", "opensm/ft3_32/ibnetdiscover.txt"),
        ("quartz1", "opensm/quartz1/ibnetdiscover.txt.gz"),
        ("quartz1", "opensm/quartz1/quartz1.net.gz"),
    ] {
        let generated = netloom_topology::generate(spec).unwrap();
        let read = fabric(path);
        assert_eq!(generated.host_count(), read.host_count(), "{spec}");
        assert_eq!(generated.hosts_hash(), read.hosts_hash(), "{spec}: host names");
        assert_eq!(generated.cabling_hash(), read.cabling_hash(), "{spec}: cabling");
    }
}

#[test]
fn tables_of_two_tools_are_the_same() {
    for name in ["ft2_32", "ft3_32"] {
        let fabric = fabric(&format!("opensm/{name}/ibnetdiscover.txt"));
        let opensm = tables(&format!("opensm/{name}/opensm-lfts.dump"), &fabric);
        let dump_fts = tables(&format!("opensm/{name}/dump_fts.txt"), &fabric);
        assert_eq!((opensm.faults_total, dump_fts.faults_total), (0, 0));
        assert_eq!(opensm.routes, dump_fts.routes);
        // leaf00 (p0leaf0): its own LID by port 0, its first host by port 1.
        let lft = opensm.routes.lft().unwrap();
        let leaf = fabric.leaf(netloom_model::HostId(0));
        let space = fabric.dests(0);
        assert_eq!(lft.get(leaf, space.switch(leaf)), Some(0));
        assert_eq!(lft.get(leaf, space.host(netloom_model::HostId(0), 0)), Some(1));
    }
}

#[test]
fn a_dump_without_destinations_is_read_by_the_fabrics_lids() {
    let fabric = fabric("opensm/quartz1/ibnetdiscover.txt.gz");
    let bare = tables("opensm/quartz1/dump_fts-n_ftree.txt.gz", &fabric);
    assert_eq!((bare.routes.lmc, bare.faults_total), (0, 0));
    let lft = bare.routes.lft().unwrap();
    let space = fabric.dests(0);
    // Every switch has a port for every host: 208 x 3072 entries.
    let hosts = fabric.hosts().map(|h| space.host(h, 0));
    assert!(hosts.flat_map(|d| fabric.switches().map(move |s| (s, d))).all(|(s, d)| lft.get(s, d).is_some()));
    // OpenSM's own dump of the same routing, of two switches.
    let two = tables("opensm/quartz1/opensm-lfts_first2switches.dump.gz", &fabric);
    let mut same = 0;
    for s in fabric.switches() {
        for d in space.iter().filter(|&d| two.routes.lft().unwrap().get(s, d).is_some()) {
            assert_eq!(two.routes.lft().unwrap().get(s, d), lft.get(s, d));
            same += 1;
        }
    }
    // 3072 hosts and 208 switches, less the leaves' way to switches that ftree leaves out.
    assert_eq!(same, 2 * 3280);
}

#[test]
fn with_lmc_a_host_has_several_addresses() {
    // The net has no LIDs: hosts are known by the port GUIDs in the file.
    let fabric = fabric("opensm/ft2_32/ft2_32.net");
    let two = tables("opensm/ft2_32_lmc1/routes_two_uplinks.lfts", &fabric);
    assert_eq!((two.routes.lmc, two.faults_total), (1, 0));
    let (leaf, space) = (fabric.leaf(netloom_model::HostId(0)), fabric.dests(1));
    let lft = two.routes.lft().unwrap();
    let far = netloom_model::HostId(4);
    assert_ne!(lft.get(leaf, space.host(far, 0)), lft.get(leaf, space.host(far, 1)));
    assert!(fabric.hosts().all(|h| (0..2).all(|p| lft.get(leaf, space.host(h, p)).is_some())));
}
