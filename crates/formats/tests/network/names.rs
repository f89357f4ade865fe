//! Names as they should not be: quotes, commas, brackets, blanks, comments, numbers, the same twice. Whatever hosts and switches are called,
//! what is written is read back.

use netloom_formats::{
    CountersContent, expand_hostlist, read_counters, read_csv_triples, read_fabric, read_lfts,
    read_pair_paths, read_sl2vl, read_sums, write_counter_table, write_csv_triples, write_ibnetdiscover,
    write_ibsim_net, write_lfts, write_pair_paths, write_sl2vl, write_sums,
};
use netloom_model::{
    Column, Counters, End, Fabric, FabricBuilder, Hose, HostId, HostSpec, Interval, LaneMap, Lft, PairPaths,
    Quantity, Routes, SwitchSpec, Traffic,
};
use netloom_testkit::trials;
use proptest::prelude::*;

const PIECES: [&str; 30] = [
    "#",
    "-",
    "\"",
    "'",
    ",",
    "[",
    "]",
    " ",
    "\t",
    "\n",
    "é",
    "节点",
    "\u{feff}",
    "\u{a0}",
    "a",
    "7",
    "0",
    "1",
    "lid 5 ",
    "4xEDR",
    "@",
    "\\",
    "=",
    ";",
    "mlx5_0",
    "\"H-1\"[1]",
    "source",
    "(0)",
    "0x10",
    "# netloom ",
];

fn name() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), 1..5)
        .prop_map(|pieces| pieces.concat())
        .prop_filter("a node without a name is called by its GUID", |name| {
            !name.replace(char::is_control, " ").trim().is_empty()
        })
}

/// Two leaves of as many hosts each, and a spine.
fn fabric(hosts: &[String], switches: &[String]) -> Fabric {
    let mut b = FabricBuilder::new();
    let s: Vec<usize> =
        (0..).zip(switches).map(|(i, name)| b.switch(SwitchSpec::new(name.as_str(), 0x100 + i, 8))).collect();
    for leaf in 0..2 {
        b.cable(End::Switch(s[leaf], 8), End::Switch(s[2], 1 + leaf as u16), 25e9);
    }
    for (i, name) in hosts.iter().enumerate() {
        let h = b.host(HostSpec::new(name.as_str(), 0x1000 + 0x10 * i as u64));
        b.cable(End::Host(h), End::Switch(s[i % 2], 1 + i as u16 / 2), 25e9);
    }
    b.build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: trials(200) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_names_read_back_in_every_format(
        hosts in prop::collection::vec(name(), 4..9), switches in prop::collection::vec(name(), 3), seed: u64,
    ) {
        let fabric = fabric(&hosts, &switches);
        let n = fabric.host_count() as u32;
        for text in [write_ibnetdiscover(&fabric).unwrap(), write_ibsim_net(&fabric).unwrap()] {
            let back = read_fabric(text.as_bytes(), "x", None).unwrap().fabric;
            let links = |f: &Fabric| f.links().map(|l| f.describe_link(l)).collect::<Vec<_>>();
            prop_assert_eq!(links(&back), links(&fabric), "{}", text);
            prop_assert_eq!(back.hosts_hash(), fabric.hosts_hash());
            prop_assert_eq!(back.cabling_hash(), fabric.cabling_hash());
        }

        let (from, to): (Vec<u64>, Vec<u64>) = (0..u64::from(n)).map(|h| (h, (h + 1 + seed % 3) % u64::from(n))).unzip();
        let bytes: Vec<f64> = from.iter().map(|&h| 1.5 + h as f64).collect();
        let traffic = Traffic::from_triples(n, &from, &to, &bytes, None).unwrap().with_hosts_hash(Some(fabric.hosts_hash()));
        let text = write_csv_triples(&traffic.total(), Some(&fabric), None);
        prop_assert_eq!(read_csv_triples(&text, "t.csv", Some(&fabric)).unwrap(), traffic.clone());

        let hose = Hose::of(&traffic.total(), Some(fabric.hosts_hash()));
        prop_assert_eq!(read_sums(&write_sums(&fabric, &hose), "s.csv", Some(&fabric)).unwrap(), hose);

        let pairs = [(HostId(0), HostId(n - 1), 1), (HostId(2), HostId(1), 1)];
        let paths = PairPaths::new(n as usize, 1, &pairs).unwrap();
        prop_assert_eq!(read_pair_paths(&write_pair_paths(&fabric, &paths), "p.csv", &fabric, 1).unwrap(), paths);

        let space = fabric.dests(0);
        let row: Vec<u16> = (0..space.count() as u64).map(|d| 1 + (d + seed % 8) as u16 % 8).collect();
        let rows = vec![row; fabric.switch_count()];
        let routes = Routes::by_dest(&fabric, 0, Lft::from_rows(rows, space.count(), fabric.max_radix()));
        prop_assert_eq!(read_lfts(write_lfts(&fabric, &routes).unwrap().as_bytes(), "r", &fabric).unwrap().routes, routes);

        let lanes = LaneMap::random(&fabric, 5, 5, seed);
        // Who is on which service level is not in the file.
        let text = write_sl2vl(&fabric, &lanes, "0").unwrap();
        let back = read_sl2vl(text.as_bytes(), "l", &fabric).unwrap();
        prop_assert_eq!(write_sl2vl(&fabric, &back, "0").unwrap(), text);

        let mut counters = Counters::new(&fabric, None);
        let sent = Column::good(Quantity::XmitBytes, None, (0..fabric.link_count() as u64).collect());
        counters.push(Interval { start_ns: 0, end_ns: 9, routes: 0, columns: vec![sent] }).unwrap();
        let back = read_counters(&write_counter_table(&fabric, &counters), "c.csv", &fabric).unwrap().content;
        let CountersContent::Intervals(back) = back else { panic!("intervals") };
        prop_assert_eq!(back, counters);
    }

    #[test]
    fn hostile_names_stand_in_quotes_in_a_hostlist(names in prop::collection::vec(name(), 1..6)) {
        let names: Vec<String> = names.into_iter().filter(|name| !name.trim().is_empty()).collect();
        prop_assume!(!names.is_empty());
        let list: Vec<String> = names.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
        prop_assert_eq!(expand_hostlist(&list.join(", ")).unwrap(), names);
    }
}
