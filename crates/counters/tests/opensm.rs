//! Readings of a simulated fabric, its forwarding tables and what was really sent belong together.
//!
//! `truth_requests.csv` (source, destination, n): n requests from source to destination, and n answers back, of 72 units of four octets.

use std::io::Read;

use netloom_counters::{SynthOptions, Unit, measure, span, synth};
use netloom_formats::{CountersContent, decompress, read_counters, read_fabric, read_lfts};
use netloom_model::{DestId, Fabric, HostId, Interval, LinkId, Quantity, Reading, Routes, SwitchId, Traffic};

const OCTETS: f64 = 4.0 * 72.0;

fn data(name: &str) -> Vec<u8> {
    let path = format!("{}/../../tests/data/opensm/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn reading(folder: &str, file: &str, fabric: &Fabric) -> Reading {
    let file = read_counters(&data(&format!("{folder}/{file}.txt.gz")), file, fabric).unwrap();
    assert_eq!(file.notes, []);
    let CountersContent::Readings(mut readings) = file.content else { panic!("a reading") };
    readings.pop().unwrap()
}

struct Case {
    fabric: Fabric,
    routes: Routes,
    truth: Traffic,
    span: Interval,
}

fn case(folder: &str) -> Case {
    let fabric = read_fabric(&data(&format!("{folder}/ibnetdiscover.txt")), "net", None).unwrap().fabric;
    let routes = read_lfts(&data(&format!("{folder}/dump_fts.txt")), "lfts", &fabric).unwrap().routes;
    let packed = data(&format!("{folder}/truth_requests.csv.gz"));
    let mut text = String::new();
    decompress(&packed, "truth").unwrap().as_ref().read_to_string(&mut text).unwrap();
    let host = |name: &str| fabric.hosts().find(|&h| fabric.host_name(h) == name).unwrap();
    let (mut from, mut to, mut bytes, mut packets) = (vec![], vec![], vec![], vec![]);
    let numbers = |fields: &mut std::str::Split<char>| {
        (fields.next().unwrap().to_owned(), fields.next().unwrap().to_owned())
    };
    for line in text.lines().filter(|l| !l.starts_with("src")) {
        let mut fields = line.split(',');
        let (a, b) = numbers(&mut fields);
        let n: f64 = fields.next().unwrap().parse().unwrap();
        let (HostId(a), HostId(b)) = (host(&a), host(&b));
        for (a, b) in [(a, b), (b, a)] {
            from.push(a.into());
            to.push(b.into());
            packets.push(n);
            bytes.push(n * OCTETS);
        }
    }
    let truth = Traffic::from_triples(32, &from, &to, &bytes, Some(&packets)).unwrap();
    let before = reading(folder, "perfquery_x_before", &fabric);
    let after = reading(folder, "perfquery_x_after", &fabric);
    let span = span(&fabric, &before, &after).unwrap();
    Case { fabric, routes, truth, span }
}

/// The links on the way of a packet of `source` from `at` to `dest`.
fn way(case: &Case, source: HostId, mut at: SwitchId, dest: DestId) -> Vec<LinkId> {
    let mut links = Vec::new();
    loop {
        let port = case.routes.port(at, source, dest);
        let Some(link) = case.fabric.link_at(at, port) else { return links };
        links.push(link);
        match case.fabric.link_to_switch(link) {
            Some(next) => at = next,
            None => return links,
        }
    }
}

/// What reading all switches from the first host adds: a request and an answer for every port with a cable, and one more a switch.
fn reading_itself(case: &Case) -> Vec<f64> {
    let (fabric, reader) = (&case.fabric, HostId(0));
    let space = fabric.dests(0);
    let mut packets = vec![0.0; fabric.link_count()];
    for switch in fabric.switches() {
        let asked = 1.0 + fabric.switch_links(switch).len() as f64;
        let there = way(case, reader, fabric.leaf(reader), space.switch(switch));
        let back = way(case, reader, switch, space.host(reader, 0));
        for link in there.into_iter().chain(back).chain([fabric.host_link(reader)]) {
            packets[link.index()] += asked;
        }
    }
    packets
}

fn check(folder: &str) {
    let case = case(folder);
    let fabric = &case.fabric;
    let exact = synth(fabric, &case.routes, &case.truth.total(), None, &SynthOptions::default()).unwrap();
    let itself = reading_itself(&case);
    for (unit, quantity, size) in [
        (Unit::Bytes, Quantity::XmitBytes, OCTETS),
        (Unit::Packets { mtu_bytes: 4096.0 }, Quantity::XmitPackets, 1.0),
    ] {
        let measured = measure(fabric, &case.span, unit);
        let sent = &exact.column(quantity, None).unwrap().values;
        let of_reader = |l: LinkId| itself[l.index()] > 0.0;
        for link in fabric.links() {
            // Ports of hosts were not read: their links rest on the switch's end.
            assert_eq!(measured.whole.ends[link.index()], 1 + u8::from(fabric.between_switches(link)));
            let found = measured.whole.get(link.index()).unwrap();
            let wanted = sent[link.index()] as f64;
            assert_eq!(found, wanted + size * itself[link.index()], "{}", fabric.describe_link(link));
            assert!(of_reader(link) || (found - wanted).abs() <= 0.005 * wanted);
        }
        assert_eq!((measured.noise.relative, measured.noise.floor), (0.0, 0.0));
    }
}

#[test]
fn counters_of_two_levels_are_what_was_sent_and_the_reading_itself() {
    check("ft2_32");
}

#[test]
fn counters_of_three_levels_are_what_was_sent_and_the_reading_itself() {
    check("ft3_32");
}
