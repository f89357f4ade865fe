//! ibdiagnet's `db_csv` and `net_dump`: the same fabric as `ibnetdiscover` of the same machine, and what is refused.

use std::fmt::Write;

use netloom_formats::{FabricKind, read_fabric};
use netloom_model::{Fabric, LinkId, Node, NodeId, SwitchId};

use super::{data, fabric, file, refusal, text};

const SMALL: &str = "ibdiagnet/small.db_csv";
const TABLES: &str = "ibdiagnet/small.net_dump";

fn guid(fabric: &Fabric, node: NodeId) -> u64 {
    match fabric.node(node) {
        Node::Switch(switch) => fabric.switch_guid(switch),
        Node::Host(host) => fabric.host_guid(host),
    }
}

/// The port at which a link arrives.
fn far(fabric: &Fabric, link: LinkId) -> (NodeId, u16) {
    (fabric.link_to(link), fabric.link_port(fabric.reverse(link)))
}

/// A fabric of EDR as ibdiagnet's database.
fn db_csv(fabric: &Fabric) -> String {
    let mut text =
        String::from("# INDEX_TABLE\n\nSTART_NODES\nNodeDesc,NumPorts,NodeType,NodeGUID,DeviceID\n");
    let switches = fabric.switches().map(|s| (fabric.switch_node(s), 2, fabric.radix(s)));
    let hosts = fabric.hosts().map(|h| (fabric.host_node(h), 1, fabric.host_port(h)));
    for (node, kind, ports) in switches.chain(hosts) {
        let name = fabric.node_name(node);
        writeln!(text, "\"{name}\",{ports},{kind},0x{:016x},0x1011", guid(fabric, node)).unwrap();
    }
    text += "END_NODES\n\nSTART_PORTS\nNodeGuid,PortGuid,PortNum,LID,LinkWidthActv,LinkSpeedActv,LMC\n";
    for switch in fabric.switches() {
        let (guid, lid) = (fabric.switch_guid(switch), fabric.switch_lid(switch).unwrap());
        writeln!(text, "0x{guid:x},0x{guid:x},0,{lid},2,1,0").unwrap();
        for link in fabric.switch_links(switch) {
            let port = fabric.link_port(link);
            writeln!(text, "0x{guid:x},0x{guid:x},{port},0,2,{},0", 0x204).unwrap();
        }
    }
    for host in fabric.hosts() {
        let (guid, port_guid) = (fabric.host_guid(host), fabric.host_port_guid(host));
        let (port, lid, lmc) = (fabric.host_port(host), fabric.host_lid(host).unwrap(), fabric.lmc());
        writeln!(text, "0x{guid:x},0x{port_guid:x},{port},{lid},2,512,{lmc}").unwrap();
    }
    text += "END_PORTS\n\nSTART_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n";
    for link in fabric.links().filter(|&l| l < fabric.reverse(l)) {
        let (from, (to, port)) = (guid(fabric, fabric.link_from(link)), far(fabric, link));
        writeln!(text, "0x{from:x},{},0x{:x},{port}", fabric.link_port(link), guid(fabric, to)).unwrap();
    }
    text + "END_LINKS\n"
}

fn port_label(fabric: &Fabric, node: NodeId, port: u16) -> String {
    match fabric.node(node) {
        Node::Switch(_) => format!("1/{}/{}", port.div_ceil(2), 2 - port % 2),
        Node::Host(_) => format!("B18D0F0/0/0/{port}"),
    }
}

/// A fabric of EDR as ibdiagnet's tables, a row for every port.
fn net_dump(fabric: &Fabric) -> String {
    let mut text = String::from("# File created at : now\n\n");
    let row = |switch: SwitchId, port: u16| {
        let own = port_label(fabric, fabric.switch_node(switch), port);
        let Some(link) = fabric.link_at(switch, port) else {
            return format!("  {own} : {port} : DOWN : POLL : N/A : N/A : N/A : N/A : N/A : : : :\n");
        };
        let (peer, peer_port) = far(fabric, link);
        let (guid, lid) = match fabric.node(peer) {
            Node::Switch(s) => (fabric.switch_guid(s), fabric.switch_lid(s)),
            Node::Host(h) => (fabric.host_port_guid(h), fabric.host_lid(h)),
        };
        let (label, name) = (port_label(fabric, peer, peer_port), fabric.node_name(peer));
        let state = "ACT : LINK UP : 5 : 4x : 25 : NO-FEC : NO-RTR";
        format!("  {own} : {port} : {state} : 0x{guid:016x} : {label} : {} : \"{name}\"\n", lid.unwrap())
    };
    for switch in fabric.switches() {
        let (name, guid) = (fabric.switch_name(switch), fabric.switch_guid(switch));
        writeln!(text, "\"{name}\", Mellanox, 0x{guid:016x}, LID {}", fabric.switch_lid(switch).unwrap())
            .unwrap();
        text += "  # : IB# : Sta : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid : N# : NLID : Neighbor Description\n";
        for port in 1..=fabric.radix(switch) {
            text += &row(switch, port);
        }
        text += "\n";
    }
    text + "# File closed at : now\n"
}

/// All that a fabric says of its links, hosts and switches; `guids`: of adapters' nodes too.
fn says(fabric: &Fabric, guids: bool) -> Vec<String> {
    let link = |l: LinkId| format!("{} {}", fabric.describe_link(l), fabric.bandwidth_bytes_per_s(l));
    let host = |h| {
        let node = if guids { fabric.host_guid(h) } else { 0 };
        let (name, machine) = (fabric.host_name(h), fabric.machine(h));
        format!("{name} {machine} {node} {} {:?}", fabric.host_port_guid(h), fabric.host_lid(h))
    };
    let switch = |s| {
        let (name, guid) = (fabric.switch_name(s), fabric.switch_guid(s));
        format!("{name} {guid} {} {:?}", fabric.radix(s), fabric.switch_lid(s))
    };
    let all = fabric.links().map(link).chain(fabric.hosts().map(host)).chain(fabric.switches().map(switch));
    all.collect()
}

#[test]
fn a_database_and_tables_are_the_fabric_of_ibnetdiscover() {
    for path in [
        "opensm/ft2_32/ibnetdiscover.txt",
        "opensm/ft3_32/ibnetdiscover.txt",
        "opensm/quartz1/ibnetdiscover.txt.gz",
    ] {
        let dump = fabric(path);
        let database = read_fabric(db_csv(&dump).as_bytes(), "d", None).unwrap();
        assert_eq!((database.kind, database.findings), (FabricKind::IbdiagnetDbCsv, vec![]), "{path}");
        assert_eq!(says(&database.fabric, true), says(&dump, true), "{path}");
        assert_eq!(database.fabric.lmc(), dump.lmc());
        assert_eq!(database.fabric.cabling_hash(), dump.cabling_hash());
        let tables = read_fabric(net_dump(&dump).as_bytes(), "n", None).unwrap();
        assert_eq!((tables.kind, tables.findings), (FabricKind::IbdiagnetNetDump, vec![]), "{path}");
        // Adapters are known by their ports' GUIDs there, as from `ibnetdiscover -p`.
        assert_eq!(says(&tables.fabric, false), says(&dump, false), "{path}");
        assert_eq!(tables.fabric.hosts_hash(), dump.hosts_hash());
    }
}

#[test]
fn the_small_samples_are_one_fabric_without_its_aggregation_node() {
    let [one, two] = [SMALL, TABLES].map(file);
    assert_eq!((one.fabric.host_count(), one.fabric.switch_count(), one.fabric.link_count()), (4, 3, 16));
    assert_eq!(says(&one.fabric, true), says(&two.fabric, true));
    // 4 lanes of 100 Gb/s.
    assert!(one.fabric.links().all(|l| one.fabric.bandwidth_bytes_per_s(l) == 50e9));
    for found in [&one, &two] {
        assert_eq!(found.findings.iter().map(|f| f.kind).collect::<Vec<_>>(), ["aggregation-node"]);
    }
    // A node-name-map renames these too.
    let map = (b"0x0002c90200000080 \"top\"\n".as_slice(), "map");
    let named = read_fabric(&data(TABLES), "n", Some(map)).unwrap().fabric;
    assert!(named.switches().any(|s| named.switch_name(s) == "top"));
}

/// The refusal of the small database with `old` replaced.
fn spoilt(path: &str, old: &str, new: &str) -> String {
    let whole = text(path);
    assert!(whole.contains(old), "{old}");
    refusal(&whole.replacen(old, new, 1))
}

#[test]
fn a_database_that_cannot_be_is_refused_with_its_line() {
    let bad = |old: &str, new: &str| spoilt(SMALL, old, new);
    let cable = "0x0002c90200000000,1,0x0002c90300000100,1";
    assert_eq!(
        bad(cable, "0x0002c90200000000,9,0x0002c90300000100,1"),
        "net.txt:53: expected port 1 to 4 of \"leaf00\", found 9"
    );
    assert_eq!(
        bad(cable, "0x0002c90200000000,1,0x00000000deadbeef,1"),
        "net.txt:53: expected a node of START_NODES, found 0x00000000deadbeef"
    );
    assert_eq!(
        bad(cable, "0x0002c90200000000,2,0x0002c90300000100,1"),
        "net.txt:54: expected one cable in port 2 of \"leaf00\", found another on line 53"
    );
    assert_eq!(
        bad(cable, "0x0002c90200000000,x,0x0002c90300000100,1"),
        "net.txt:53: expected a port's number as a number below 2^64, found \"x\""
    );
    assert!(
        bad("START_LINKS", "START_OTHER").contains("expected a section START_LINKS (its cables), found none")
    );
    assert!(
        bad("START_NODES", "START_OTHER").contains("expected a section START_NODES (the fabric's nodes)")
    );
    assert_eq!(
        bad("NodeGuid1,PortNum1", "Guid,Port"),
        "net.txt:52: expected a column NodeGuid1 in START_LINKS, found none"
    );
    assert_eq!(
        bad("\"leaf01\",4,2", "\"leaf01\",4,7"),
        "net.txt:13: expected NodeType 1 (adapter), 2 (switch) or 3 (router), found 7"
    );
    assert_eq!(
        bad("\"leaf01\",4,2", "\"leaf01\",400,2"),
        "net.txt:13: expected NumPorts 1 to 254, found 400"
    );
    assert_eq!(
        bad("0x0002c90200000000,0x0002c90200000000,2,0", "0x0002c90200000000,0x0002c90200000000,1,0"),
        "net.txt:29: expected port 1 of \"leaf00\" once, found it again: line 28 has it"
    );
    assert!(
        bad("0x0002c90200000040,0x0002c90200000040,0x0002c90200000040", "0x1,0x0002c90200000000,0x1")
            .contains("net.txt:13: expected every GUID once")
    );
    let whole = text(SMALL);
    let half = refusal(&whole[..whole.find("END_LINKS").unwrap()]);
    assert_eq!(half, "net.txt:61: truncated file: expected END_LINKS, found the end");
}

#[test]
fn a_database_without_ports_has_cables_of_a_speed_that_is_not_known() {
    let whole = text(SMALL).replace("_PORTS", "_OTHER");
    let found = read_fabric(whole.as_bytes(), "d", None).unwrap();
    assert_eq!((found.fabric.link_count(), found.fabric.host_lid(netloom_model::HostId(0))), (16, None));
    assert!(found.findings.iter().any(|f| f.kind == "missing-section" && f.line == Some(51)), "{found:?}");
    assert_eq!(found.findings.iter().filter(|f| f.kind == "unknown-speed").count(), 8);
}

#[test]
fn tables_that_cannot_be_are_refused_with_their_line() {
    let bad = |old: &str, new: &str| spoilt(TABLES, old, new);
    assert!(bad(" : 4x  ", "  ").starts_with("net.txt:13: expected 13 columns, found 12"));
    assert_eq!(
        bad(": IB# ", ": XX# "),
        "net.txt:13: expected the title row of a table (# : IB# : Sta : …), found \"1/1/1      : 1   : ACT  : LINK UP    : 5   : 4x      : 10...\""
    );
    assert_eq!(bad(": LSA ", ": XXX "), "net.txt:12: expected a column \"LSA\", found none");
    assert_eq!(bad(" : 1   :", " : 0   :"), "net.txt:13: expected IB# 1 to 254, found \"0\"");
    assert_eq!(
        bad("0x0002c90300000100", "0x0002c9030000010g"),
        "net.txt:13: expected the neighbour's GUID, found \"0x0002c9030000010g\""
    );
    assert_eq!(
        bad("0x0002c90200000080 : 1/1/1", "0x0002c90200000080 : 1/9/1"),
        "net.txt:15: expected a port of \"MF0;spine:MQM9700/U1\" (in the first column of its table), found \"1/9/1\""
    );
    assert!(
        bad("0x0002c90200000080 : 1/1/1", "0x0002c90200000080 : 1/2/2")
            .contains("expected the two ends of a cable to agree")
    );
    assert!(bad("\"node0 mlx5_0\"", "node0").contains("expected the neighbour's description in quotes"));
    assert!(
        bad("# File closed", "# File").contains("truncated dump: expected \"# File closed at\" at the end")
    );
}
