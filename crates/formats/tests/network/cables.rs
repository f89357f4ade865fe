//! Plain tables of cables, UFM's plan, and `iblinkinfo`: what each says of the same fabric.

use std::collections::BTreeSet;

use netloom_formats::{FabricKind, read_fabric, write_cables};
use netloom_model::Fabric;

use super::{data, fabric, file, refusal};

/// Every cable by the names and ports of its ends, with its speed; sorted.
fn cables(fabric: &Fabric) -> Vec<(String, u64)> {
    let mut found: Vec<(String, u64)> =
        fabric.links().map(|l| (fabric.describe_link(l), fabric.bandwidth_bytes_per_s(l) as u64)).collect();
    found.sort();
    found
}

fn read(text: &str) -> Fabric {
    read_fabric(text.as_bytes(), "c.csv", None).unwrap_or_else(|e| panic!("{e}")).fabric
}

#[test]
fn iblinkinfo_tells_the_fabric_that_ibnetdiscover_does() {
    let dump = fabric("cases/foreign-plans/net.txt");
    for name in ["iblinkinfo.txt", "iblinkinfo-l.txt"] {
        let read = file(&format!("cases/foreign-plans/{name}"));
        assert_eq!((read.kind, &read.findings[..]), (FabricKind::Iblinkinfo, &[][..]), "{name}");
        assert_eq!(cables(&read.fabric), cables(&dump), "{name}");
        assert_eq!(read.fabric.cabling_hash(), dump.cabling_hash(), "{name}");
        let lids: Vec<_> = read.fabric.hosts().map(|h| read.fabric.host_lid(h)).collect();
        assert_eq!(lids, [1, 6, 7, 8].map(Some), "{name}: another subnet manager gave them");
    }
}

#[test]
fn a_row_of_iblinkinfo_that_is_cut_is_refused_with_its_line() {
    let whole = String::from_utf8(data("cases/foreign-plans/iblinkinfo.txt")).unwrap();
    let mut refused = 0;
    for at in (0..whole.len()).step_by(37) {
        if let Err(e) = read_fabric(&whole.as_bytes()[..at], "x", None) {
            refused += 1;
            assert!(e.to_string().starts_with("x"), "{e}");
        }
    }
    assert!(refused > 20);
    let e =
        refusal("Switch: 0x10 leaf1:\n 4 1[ ] ==( 4X 53.125 Gbps Active/ LinkUp)==> 8 1[ ] \"n03\" ( )\n");
    assert!(e.contains(":2: truncated dump: expected the ports of LID 8 (\"n03\")"), "{e}");
    let e = refusal(
        "Switch: 0x10 leaf1:\n 4 999[ ] ==( 4X 53.125 Gbps Active/ LinkUp)==> 8 1[ ] \"n03\" ( )\n x\n",
    );
    assert!(e.contains("expected port 1 to 254, found 999"), "{e}");
}

#[test]
fn a_table_of_cables_is_a_fabric() {
    let net = read(
        "# a tree of four hosts\nfrom,port,to,port,speed\nleaf0,1,n00,1,4xHDR\nleaf0,2,\"n01 mlx5_0\",1,HDR\nleaf1,1,n02,1,200Gb/s\nn03,1,leaf1,2,\n\
         leaf0,20,spine0,1,4xHDR\nspine0,2,leaf1,20,4xHDR\nleaf1,20,spine0,2,4xHDR\nleaf0,21,spine0,3,2xHDR\n",
    );
    let counts = (net.host_count(), net.switch_count(), net.link_count());
    assert_eq!(counts, (4, 3, 2 * 7));
    let speeds: Vec<u64> = cables(&net).iter().map(|cable| cable.1).collect();
    assert_eq!(speeds.iter().filter(|&&speed| speed == 12_500_000_000).count(), 2);
    assert_eq!(speeds.iter().filter(|&&speed| speed == 25_000_000_000).count(), 12);
    assert_eq!(net.machine(net.hosts().nth(1).unwrap()), "n01");
}

/// Tables of another place are read by GUID, so no port may have the GUID of another node.
#[test]
fn made_up_guids_are_of_one_node_or_port() {
    let fabric = read(&write_cables(&file("cases/slow-cable/net.txt").fabric).unwrap());
    let hosts = fabric.hosts().flat_map(|h| [fabric.host_guid(h), fabric.host_port_guid(h)]);
    let all: Vec<u64> = hosts.chain(fabric.switches().map(|s| fabric.switch_guid(s))).collect();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
}

#[test]
fn tables_of_cables_are_written_and_read_back() {
    for name in ["cases/foreign-plans/net.txt", "cases/slow-cable/net.txt", "cases/rail-swapped/net.txt"] {
        let fabric = file(name).fabric;
        let text = write_cables(&fabric).unwrap();
        assert!(text.starts_with("from,port,to,port,speed\n"));
        assert_eq!(text.lines().count(), 1 + fabric.link_count() / 2);
        assert_eq!(cables(&read(&text)), cables(&fabric), "{name}");
    }
    let shared = file("cases/same-names/net.txt").fabric;
    let message = write_cables(&shared).unwrap_err().to_string();
    assert!(message.contains("several nodes have this name"), "{message}");
}

#[test]
fn speeds_that_infiniband_has_not_are_read_and_written_in_gigabits() {
    let rows = "from,port,to,port,speed\nleaf0,1,n00,1,42Gb/s\nleaf0,2,n01,1,37.6Gb/s\n";
    let fabric = read(rows);
    let speeds: Vec<f64> =
        fabric.hosts().map(|h| fabric.bandwidth_bytes_per_s(fabric.host_link(h))).collect();
    assert_eq!(speeds, [5.25e9, 4.7e9]);
    assert_eq!(write_cables(&fabric).unwrap(), rows);
}

#[test]
fn ufms_plan_is_a_table_of_cables() {
    let plan = file("cases/foreign-plans/plan.ndt");
    assert_eq!(
        (plan.kind, plan.fabric.host_count(), plan.fabric.switch_count()),
        (FabricKind::UfmPlan, 1, 1)
    );
    assert_eq!(cables(&plan.fabric)[0].1, 50_000_000_000);
}

#[test]
fn headers_of_spreadsheets_and_of_other_versions_are_read() {
    let plain = read("from,port,to,port,speed\nleaf0,1,n00,1,EDR\nleaf0,2,n01,1,EDR\n");
    let all = read(
        "\"from\",\"port\",\"to\",\"port\",\"speed\"\r\n\"leaf0\",\"1\",\"n00\",\"1\",\"EDR\"\r\nleaf0,2,n01,1,EDR\r\n",
    );
    assert_eq!(cables(&all), cables(&plain));
    let ndt = "rack #,U height,#Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort,EndDeviceLocation,U height_1,LinkType,Speed,_2,\
               Cable Length,_3,_4,_5,_6,_7,State,Domain\n\
               ,,leaf0,Port 1,,n00,Port 1,,,,EDR,,,,,,,,Active,In-Scope\n\
               ,,leaf0,Port 2,,n01,Port 1,,,,EDR,,,,,,,,Active,In-Scope\n\
               ,,leaf0,Port 3,,,,,,,,,,,,,,,Disabled,In-Scope\n";
    assert_eq!(cables(&read(ndt)), cables(&plain));
    assert_eq!(
        cables(&read(
            "Start Device,Start Port,End Device,End Port,Speed\nleaf0,1,n00,1,EDR\nleaf0,2,n01,1,EDR\n"
        )),
        cables(&plain)
    );
}

#[test]
fn a_table_that_was_cut_is_refused() {
    let message = refusal("from,port,to,port\nleaf0,1,n00,1\nleaf0,2,n01,1");
    assert!(message.contains(":3: truncated table: expected the last row to end"), "{message}");
}

#[test]
fn tables_that_are_wrong_are_refused_with_their_line() {
    let table = |rows: &str| refusal(&format!("from,port,to,port,speed\n{rows}\n"));
    for (rows, told) in [
        ("leaf0,1,n00", ":2: expected 5 fields, found 3"),
        ("leaf0,0,n00,1,", ":2: expected a port 1 to 254, found \"0\""),
        ("leaf0,one,n00,1,", ":2: expected a port 1 to 254, found \"one\""),
        ("leaf0,1,n00,1,fast", ":2: expected a speed as 4xEDR or 100Gb/s, found \"fast\""),
        ("leaf0,1,n00,1,0Gb/s", ":2: expected a speed as 4xEDR or 100Gb/s, found \"0Gb/s\""),
        ("leaf0,1,n00,1,1e9Gb/s", ":2: expected a speed as 4xEDR or 100Gb/s, found \"1e9Gb/s\""),
        ("leaf0,1,n00,1,", ":2: expected a host and a switch, or two switches, found a cable between"),
        (",1,n00,1,", ":2: expected the name of a node, found nothing"),
        ("leaf0,1,\"n00,1,", ":2: expected a closing quote"),
        (
            "leaf0,1,n00,1,\nleaf0,1,n01,1,",
            ":3: expected one cable in port 1 of \"leaf0\", found another on line 2",
        ),
    ] {
        let message = table(rows);
        assert!(message.contains(told), "{rows}: {message}");
    }
}
