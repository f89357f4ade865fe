//! What real hardware and real terminals show, each in a small example under `tests/data/quirks`.

use netloom_formats::{FabricFile, FabricKind, read_fabric};
use netloom_model::{Fabric, HostId};

use super::{data, fabric, file};

fn findings(file: &FabricFile) -> Vec<(usize, &str)> {
    file.findings.iter().map(|f| (f.line.unwrap_or(0), f.text.as_str())).collect()
}

fn host_names(fabric: &Fabric) -> Vec<&str> {
    fabric.hosts().map(|h| fabric.host_name(h)).collect()
}

fn gigabytes(fabric: &Fabric) -> Vec<f64> {
    fabric.hosts().map(|h| fabric.bandwidth_bytes_per_s(fabric.host_link(h)) / 1e9).collect()
}

#[test]
fn a_terminal_log_is_read_and_its_extra_lines_are_findings() {
    // CRLF, lost tabs, a log's head, stderr in between, a prompt at the end.
    let file = file("quirks/terminal_log.txt");
    assert_eq!(host_names(&file.fabric), ["node1 mlx5_0", "node2 mlx5_0"]);
    assert_eq!(file.fabric.radix(netloom_model::SwitchId(0)), 41);
    let lines: Vec<usize> = findings(&file).iter().map(|f| f.0).collect();
    assert_eq!(lines, [1, 2, 3, 31]);
    assert_eq!(file.findings[3].text, "not a line of ibnetdiscover's output, ignored: \"[root@sm1 ~]#\"");
}

#[test]
fn aggregation_nodes_and_routers_are_left_out() {
    let file = file("quirks/aggregation_and_router.txt");
    assert_eq!(host_names(&file.fabric), ["node1 HCA-1", "node2 HCA-1"]);
    assert_eq!(file.fabric.link_count(), 4);
    assert_eq!(
        findings(&file),
        [
            (
                20,
                "aggregation node \"Mellanox Technologies Aggregation Node\": left out (neither a host nor a switch; routes written from here have no entry for its LID)"
            ),
            (
                41,
                "router \"MF0;mamba:Q3400_RA/U2/RT\": left out (neither a host nor a switch; routes written from here have no entry for its LID)"
            ),
        ]
    );
}

#[test]
fn rails_share_a_machine_and_names_are_whatever_people_write() {
    let file = file("quirks/rails_and_names.txt");
    let fabric = &file.fabric;
    let machines: Vec<&str> = fabric.hosts().map(|h| fabric.machine(h)).collect();
    assert_eq!(host_names(fabric)[0], "0xb8599f0300bb0040");
    assert_eq!(host_names(fabric)[3..], ["node1 mlx5_0", "node1 mlx5_1", "node2 HCA-1"]);
    assert_eq!(machines[3..], ["node1", "node1", "node2"]);
    // Factory names tell nothing: the GUID does.
    assert_ne!(machines[1], machines[2]);
    assert_eq!(fabric.switch_name(netloom_model::SwitchId(0)), "Quantum Mellanox Technologies");
    assert_eq!(fabric.switch_name(netloom_model::SwitchId(1)), "rail \"A\" switch");
    // Only port 2 of node2's adapter is cabled.
    assert_eq!((fabric.host_port(HostId(5)), fabric.host_port_guid(HostId(5))), (2, 0xb859_9f03_00bb_0022));
    assert_eq!(
        findings(&file),
        [
            (51, "a channel adapter without a description: named 0xb8599f0300bb0040"),
            (
                58,
                "2 nodes share the name \"MT4129 ConnectX7   Mellanox Technologies\": a node-name-map would tell \
                 them apart"
            ),
        ]
    );
}

#[test]
fn unknown_speeds_are_taken_as_the_most_common() {
    let file = file("quirks/speeds.txt");
    // 4x???, 4xHDR, 1xHDR, 4xFDR10, 4xHDR against 4xEDR, ?????.
    assert_eq!(gigabytes(&file.fabric), [25.0, 25.0, 6.25, 5.0, 12.5, 25.0]);
    assert_eq!(
        findings(&file),
        [
            (11, "unknown speed of a cable: taken as 4xHDR"),
            (
                15,
                "the ends of a cable tell different speeds (25000000000 and 12500000000 bytes/s): the slower is taken"
            ),
            (16, "unknown speed of a cable: taken as 4xHDR"),
        ]
    );
}

#[test]
fn split_ports_and_chassis_lines_are_nothing_odd() {
    let fabric = fabric("quirks/split_ports.txt");
    assert_eq!((fabric.host_count(), fabric.switch_count(), fabric.max_radix()), (3, 2, 129));
    assert!(fabric.link_at(netloom_model::SwitchId(0), 128).is_some());
    assert_eq!(gigabytes(&fabric), [25.0; 3]);
}

#[test]
fn loops_and_lonely_hosts_are_left_out() {
    let file = file("quirks/loops_and_loners.txt");
    assert_eq!(host_names(&file.fabric), ["node1", "node2"]);
    assert_eq!(
        findings(&file),
        [
            (13, "a cable from \"leaf1\"[5] to itself[6]: left out"),
            (20, "switch \"spare\" has no cable"),
            (40, "host \"node3\" has no cable to a switch: left out"),
            (41, "a cable between the hosts \"node3\" and \"node4\": left out"),
            (47, "host \"node4\" has no cable to a switch: left out"),
            (54, "host \"node5\" has no link: left out"),
        ]
    );
}

#[test]
fn lids_that_cannot_be_are_ignored() {
    let file = file("quirks/lids.txt");
    let fabric = &file.fabric;
    assert_eq!(fabric.lmc(), 1);
    let lids: Vec<_> = fabric.hosts().map(|h| fabric.host_lid(h)).collect();
    assert_eq!(lids, [Some(2), Some(4), None, None]);
    assert_eq!(fabric.switch_lid(netloom_model::SwitchId(0)), None);
    assert_eq!(fabric.host_port_guid(HostId(1)), 0x2c90_3000_a1b3);
    assert_eq!(
        findings(&file),
        [
            (9, "expected a LID 1 to 49151, found 65535 of \"leaf1\": ignored"),
            (31, "expected every LID once, found 4 of \"node3\": ignored"),
        ]
    );
}

#[test]
fn ibdiagnets_labels_are_stepped_over() {
    let fabric = fabric("quirks/ibdiagnet.txt");
    assert_eq!(host_names(&fabric), ["node1 mlx5_0", "node2 mlx5_0"]);
    assert_eq!(gigabytes(&fabric), [50.0; 2]);
    assert_eq!(fabric.host_port_guid(HostId(1)), 0xb859_9f03_00bb_0010);
}

#[test]
fn a_cable_that_one_end_tells_of_is_believed() {
    let file = file("quirks/one_end.txt");
    assert_eq!(file.fabric.link_count(), 6);
    assert_eq!(
        findings(&file),
        [(12, "a cable that only one end tells of: \"leaf1\"[8] to \"leaf2\"[8]; taken as cabled")]
    );
}

#[test]
fn names_come_from_the_map_then_from_the_peers() {
    // The tool's own map renamed peers and switches, but not the headers of adapters.
    let fabric = fabric("quirks/renamed_peers.txt");
    assert_eq!(host_names(&fabric), ["blue", "red"]);
    let map = data("quirks/node-name-map");
    let named =
        read_fabric(&data("quirks/renamed_peers.txt"), "net.txt", Some((&map, "map"))).unwrap().fabric;
    assert_eq!(host_names(&named), ["first", "red"]);
    assert_eq!(named.switch_name(netloom_model::SwitchId(0)), "core one");
    let e = read_fabric(b"", "net.txt", Some((b"0x1 a\nleaf", "map"))).unwrap_err();
    assert_eq!(e.to_string(), "map:2: expected 0xGUID \"name\", found \"leaf\"");
}

#[test]
fn the_port_form_has_ports_without_cables_and_names_with_quotes() {
    let file = file("quirks/ports_form.txt");
    assert_eq!(file.kind, FabricKind::IbnetdiscoverPorts);
    assert_eq!(host_names(&file.fabric), ["node1 mlx5_0", "node2's mlx5_0"]);
    assert_eq!(file.fabric.switch_name(netloom_model::SwitchId(0)), "leaf 'A' - 1");
    assert_eq!(file.fabric.max_radix(), 41);
    assert_eq!(gigabytes(&file.fabric), [25.0, 25.0]);
    assert_eq!(
        findings(&file),
        [
            (2, "unknown speed of a cable: taken as 4xHDR"),
            (
                6,
                "router \"router\": left out (neither a host nor a switch; routes written from here have no entry for its LID)"
            ),
            (
                7,
                "aggregation node \"Mellanox Technologies Aggregation Node\": left out (neither a host nor a switch; routes written from here have no entry for its LID)"
            ),
            (8, "host \"node2's mlx5_1\" has no link: left out"),
        ]
    );
}

#[test]
fn a_net_may_tell_of_each_cable_once_and_has_ibsims_guids() {
    let fabric = fabric("quirks/minimal.net");
    assert_eq!(host_names(&fabric), ["b", "host a"]);
    // ibsim counts: a one-port adapter takes two GUIDs.
    assert_eq!((fabric.host_guid(HostId(1)), fabric.host_guid(HostId(0))), (0x10_0000, 0x10_0002));
    assert_eq!(fabric.switch_guid(netloom_model::SwitchId(1)), 0x20_0001);
    // The header allows 4xFDR, the cable between the switches 1xSDR.
    assert_eq!(gigabytes(&fabric), [6.82, 6.82]);
    let between = fabric.links().find(|&l| fabric.between_switches(l)).unwrap();
    assert_eq!(fabric.bandwidth_bytes_per_s(between), 0.25e9);
}

#[test]
fn control_characters_in_a_name_are_spaces_and_survive_being_written() {
    // Found by fuzzing: the writer replaced what the reader had kept, so the hash of the names changed.
    let text = String::from_utf8(data("opensm/ft2_32/ibnetdiscover.txt")).unwrap();
    let odd = text.replace("\"host0003\"", "\"host0003\u{8}x\"");
    assert_ne!(odd, text);
    let fabric = read_fabric(odd.as_bytes(), "odd", None).unwrap().fabric;
    assert!(host_names(&fabric).contains(&"host0003 x"));
    let written = netloom_formats::write_ibnetdiscover(&fabric).unwrap();
    let again = read_fabric(written.as_bytes(), "again", None).unwrap().fabric;
    assert_eq!(again.hosts_hash(), fabric.hosts_hash());
}
