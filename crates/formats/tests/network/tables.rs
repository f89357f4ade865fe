//! Forwarding tables, written and read.

use netloom_formats::{
    WriteError, read_fabric, read_lfts, read_pair_paths, write_ibnetdiscover, write_lfts, write_pair_paths,
};
use netloom_model::{DestId, Fabric, HostId, Lft, PairPaths, PathChoice, Routes, SwitchId, Table};

use super::{data, fabric, tables, text};

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn what_is_written_is_what_opensm_wrote() {
    for name in ["ft2_32", "ft3_32"] {
        let fabric = fabric(&format!("opensm/{name}/ibnetdiscover.txt"));
        let path = format!("opensm/{name}/opensm-lfts.dump");
        let written = write_lfts(&fabric, &tables(&path, &fabric).routes).unwrap();
        // The same lines; OpenSM visits switches in another order.
        assert_eq!(sorted(&written), sorted(&text(&path)));
    }
}

#[test]
fn written_tables_read_back_equal() {
    let quartz1 = fabric("opensm/quartz1/ibnetdiscover.txt.gz");
    let routes = tables("opensm/quartz1/dump_fts-n_ftree.txt.gz", &quartz1).routes;
    let back = read_lfts(write_lfts(&quartz1, &routes).unwrap().as_bytes(), "r", &quartz1).unwrap();
    assert_eq!((back.routes == routes, back.faults_total), (true, 0));
    // LMC 1 on a fabric without LIDs.
    let net = fabric("opensm/ft2_32/ft2_32.net");
    let routes = tables("opensm/ft2_32_lmc1/opensm-lfts_updn.dump", &net).routes;
    let back = read_lfts(write_lfts(&net, &routes).unwrap().as_bytes(), "r", &net).unwrap();
    assert_eq!((back.routes == routes, back.faults_total), (true, 0));
}

/// Tables as real subnet managers with LMC 1 and 2 wrote them, and a choice of path beside them.
#[test]
fn tables_with_several_addresses_and_their_paths_read_back_equal() {
    for (net, dump, lmc) in [
        ("opensm/ft2_32/ft2_32.net", "opensm/ft2_32_lmc1/routes_two_uplinks.lfts", 1),
        ("opensm-engines/quartz36.ibnetdiscover.gz", "opensm-engines/quartz36-minhop-lmc1.lfts.gz", 1),
        ("opensm-engines/quartz36.ibnetdiscover.gz", "opensm-engines/quartz36-updn-lmc2.lfts.gz", 2),
        ("opensm-engines/uneven2.ibnetdiscover.gz", "opensm-engines/uneven2-minhop-lmc1.lfts.gz", 1),
    ] {
        let net = fabric(net);
        let read = tables(dump, &net);
        assert_eq!((read.routes.lmc, read.faults_total), (lmc, 0), "{dump}");
        let entries: Vec<_> = net
            .hosts()
            .flat_map(|s| {
                net.hosts().filter(move |&d| d != s).map(move |d| (s, d, (s.0 * 3 + d.0) % (1 << lmc)))
            })
            .collect();
        let paths = PairPaths::new(net.host_count(), lmc, &entries).unwrap();
        let routes = read.routes.with_paths(&net, paths).unwrap();
        let lfts = write_lfts(&net, &routes).unwrap();
        let csv = write_pair_paths(&net, &routes.pair_paths(&net));
        let back = read_lfts(lfts.as_bytes(), "r", &net).unwrap().routes;
        let back = back.with_paths(&net, read_pair_paths(&csv, "p", &net, lmc).unwrap()).unwrap();
        assert!(back == routes, "{dump}");
    }
}

#[test]
fn stale_lids_are_remapped_by_port_guid() {
    // The dump's LIDs against those of the rule: hosts 1.., then switches.
    let dump = fabric("opensm/ft2_32/ibnetdiscover.txt");
    let net = fabric("opensm/ft2_32/ft2_32.net");
    let anew = read_fabric(write_ibnetdiscover(&net).unwrap().as_bytes(), "x", None).unwrap().fabric;
    assert_ne!(anew.host_lid(HostId(1)), dump.host_lid(HostId(1)));
    let lfts = data("opensm/ft2_32/opensm-lfts.dump");
    let [old, new] = [&dump, &anew].map(|f| read_lfts(&lfts, "r", f).unwrap());
    assert_eq!((old.routes == new.routes, new.faults_total), (true, 0));
}

#[test]
fn the_minimal_form_is_enough() {
    let fabric = fabric("opensm/ft2_32/ibnetdiscover.txt");
    // LID 5 is host0004's; the second table has 2007's header.
    let text = "Unicast lids guid 0x0002c90200000000\n0x5 7\n\
                Unicast lids [0x0-0x2c] of switch Lid 4 guid 0x0002c90200000200 (spine00)\n 0x0005 002\n";
    let file = read_lfts(text.as_bytes(), "r", &fabric).unwrap();
    let lft = file.routes.lft().unwrap();
    let dest = fabric.dests(0).host(HostId(4), 0);
    assert_eq!(lft.get(fabric.leaf(HostId(0)), dest), Some(7));
    let entries = fabric.switches().flat_map(|s| fabric.dests(0).iter().map(move |d| (s, d)));
    assert_eq!(entries.filter(|&(s, d)| lft.get(s, d).is_some()).count(), 2);
    assert_eq!(file.faults_total, 0);
}

#[test]
fn one_route_a_host_serves_all_its_lids() {
    // A fabric with LMC 1 and routes of LMC 0: both LIDs of a host get the port.
    let net = fabric("opensm/ft2_32/ft2_32.net");
    let lmc1 = write_ibnetdiscover(&net).unwrap().replace("lmc 0 \"", "lmc 1 \"").replace(" lid ", " lid 0");
    let routes = tables("opensm/ft2_32/opensm-lfts.dump", &net).routes;
    let fabric = read_fabric(lmc1.as_bytes(), "x", None).unwrap().fabric;
    assert_eq!(fabric.lmc(), 1);
    let back = read_lfts(write_lfts(&fabric, &routes).unwrap().as_bytes(), "r", &fabric).unwrap();
    let (one, two) = (routes.lft().unwrap(), back.routes.lft().unwrap());
    for s in fabric.switches() {
        for h in fabric.hosts() {
            for path in 0..2 {
                assert_eq!(two.get(s, fabric.dests(1).host(h, path)), one.get(s, fabric.dests(0).host(h, 0)));
            }
        }
    }
}

#[test]
fn routes_by_source_and_of_another_fabric_are_refused() {
    let fabric = fabric("opensm/ft2_32/ibnetdiscover.txt");
    let empty = Lft::empty(12, 44, 8);
    let by_source = Routes {
        lmc: 0,
        table: Table::UpBySource { up: empty.clone(), down: empty },
        path: PathChoice::Base,
        cabling_hash: None,
        lanes: None,
    };
    assert_eq!(write_lfts(&fabric, &by_source), Err(WriteError::BySource));
    let other = Routes { table: Table::ByDest(Lft::empty(3, 44, 8)), ..by_source };
    assert_eq!(
        write_lfts(&fabric, &other).unwrap_err().to_string(),
        "the routes are for 3 switches and 44 destinations, the fabric has 12 and 44"
    );
}

#[test]
fn more_lids_than_infiniband_has_are_refused() {
    let big = netloom_topology::generate("two-level:leaves=220,hosts=225,spines=2").unwrap();
    let routes = Routes::by_dest(&big, 0, Lft::empty(222, 49_722, 254));
    let e = write_lfts(&big, &routes).unwrap_err().to_string();
    assert_eq!(
        e,
        "49722 LIDs are needed (49500 hosts x 1, 222 switches): InfiniBand has 49,151 unicast LIDs"
    );
}

#[test]
fn a_missing_entry_stays_missing() {
    let fabric: Fabric = fabric("opensm/ft2_32/ft2_32.net");
    let mut lft = Lft::empty(12, 44, 8);
    lft.set(SwitchId(3), DestId(7), Some(2));
    let routes = Routes::by_dest(&fabric, 0, lft);
    let text = write_lfts(&fabric, &routes).unwrap();
    assert_eq!(text.lines().filter(|l| l.starts_with("0x")).count(), 1);
    assert_eq!(read_lfts(text.as_bytes(), "r", &fabric).unwrap().routes, routes);
}
