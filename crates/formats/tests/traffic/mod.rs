//! Traffic formats: round trips, and bytes that mean nothing.

use netloom_formats::{
    expand_hostlist, read_catalogue, read_csv_triples, read_jobs, read_mtx, read_plan, write_csv_triples,
    write_mtx,
};
use netloom_model::Traffic;
use proptest::prelude::*;

fn example(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn any_traffic() -> impl Strategy<Value = Traffic> {
    let value = prop_oneof![(1u64..1 << 53).prop_map(|n| n as f64), 1e-100f64..1e90, Just(0.1)];
    (1u32..40).prop_flat_map(move |n| {
        let end = 0..u64::from(n);
        prop::collection::vec((end.clone(), end, value.clone()), 0..60).prop_map(move |entries| {
            let (from, rest): (Vec<u64>, Vec<(u64, f64)>) =
                entries.into_iter().map(|(i, j, b)| (i, (j, b))).unzip();
            let (to, bytes): (Vec<u64>, Vec<f64>) = rest.into_iter().unzip();
            Traffic::from_triples(n, &from, &to, &bytes, None).unwrap()
        })
    })
}

proptest! {
    #[test]
    fn mtx_reads_back_bit_for_bit(traffic in any_traffic(), hash: Option<u64>) {
        let traffic = traffic.with_hosts_hash(hash);
        prop_assert_eq!(&read_mtx(&write_mtx(&traffic.total(), hash), "t").unwrap(), &traffic);
    }

    #[test]
    fn csv_reads_back_bit_for_bit(traffic in any_traffic(), hash: Option<u64>) {
        let traffic = traffic.with_hosts_hash(hash);
        prop_assert_eq!(&read_csv_triples(&write_csv_triples(&traffic.total(), None, hash), "t", None).unwrap(), &traffic);
    }

    #[test]
    fn hostlists_give_as_many_names_as_their_ranges_say(first in 0u32..2000, more in 0u32..2000, width in 1usize..6) {
        let names = expand_hostlist(&format!("a[{first:0width$}-{}]b", first + more)).unwrap();
        prop_assert_eq!(names.len() as u32, more + 1);
        prop_assert_eq!(&names[0], &format!("a{first:0width$}b"));
    }

    #[test]
    fn arbitrary_bytes_are_no_reason_to_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_mtx(&bytes, "t");
        let _ = read_csv_triples(&bytes, "t", None);
        let _ = read_jobs(&bytes, "t");
        let _ = read_plan(&bytes, "t");
        let _ = read_catalogue(&bytes, "t");
        let _ = expand_hostlist(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn nearly_right_text_is_no_reason_to_panic(
        head in "(general|symmetric|skew-symmetric)", lines in prop::collection::vec("[0-4 .e%-]{0,9}", 0..8),
        csv in "[a-c0-3,\"\n# .-]{0,60}", list in "[a-c0-9,\\[\\]-]{0,24}", key in "[a-z_]{1,14}", value in "[0-9a-z\\[\\]\"={},.-]{0,12}",
    ) {
        let _ = read_mtx(format!("%%MatrixMarket matrix coordinate real {head}\n{}", lines.join("\n")).as_bytes(), "t");
        let _ = read_csv_triples(format!("source,destination,bytes\n{csv}").as_bytes(), "t", None);
        let _ = expand_hostlist(&list);
        let _ = read_jobs(format!("[[job]]\npattern = \"bis\"\n{key} = {value}\n").as_bytes(), "t");
        let _ = read_jobs(format!("[[job]]\npattern = \"bis\"\nmapping = \"tiled:{list}\"\nhosts = \"{list}\"").as_bytes(), "t");
    }

    #[test]
    fn nearly_right_plans_and_catalogues_are_no_reason_to_panic(
        line in 0usize..60, key in "(hosts|radix|levels|price|date|ports|weight|kind|orders|copies)", value in "[0-9a-z\\[\\]\"={},.:-]{0,12}",
    ) {
        for (name, plan) in [("plan/quartz.toml", true), ("plan/slimfly-2014.toml", false)] {
            let text = String::from_utf8(example(name)).unwrap();
            let mut lines: Vec<&str> = text.lines().collect();
            let wrong = format!("{key} = {value}");
            let at = line % lines.len();
            lines[at] = &wrong;
            let text = lines.join("\n");
            if plan {
                let _ = read_plan(text.as_bytes(), "t");
            } else {
                let _ = read_catalogue(text.as_bytes(), "t");
            }
        }
    }
}

#[test]
fn a_cut_file_is_an_error_wherever_it_is_cut() {
    let whole = example("data/lulesh-64.mtx.gz");
    for length in (0..whole.len()).step_by(97) {
        assert!(read_mtx(&whole[..length], "t").is_err(), "cut at {length}");
    }
    let text = write_mtx(&read_mtx(&whole, "t").unwrap().total(), None);
    for lines in 1..40 {
        let end = text.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(lines).unwrap().0;
        assert!(read_mtx(&text[..end], "t").is_err(), "cut after {lines} lines");
    }
}

#[test]
fn every_example_is_read() {
    for (name, jobs) in [("mix", 3), ("lulesh6", 1), ("small", 2), ("afar16", 16)] {
        let file = read_jobs(&example(&format!("jobs/{name}.toml")), name).unwrap();
        assert_eq!(file.jobs.len(), jobs, "{name}");
        assert_eq!(file.seed, 1);
    }
    let plan = read_plan(&example("plan/quartz.toml"), "quartz").unwrap();
    assert_eq!(
        (plan.hosts, plan.radices.clone(), plan.applications.len(), plan.compare.len()),
        (3072, vec![48], 5, 3)
    );
    let catalogue = read_catalogue(&example("plan/slimfly-2014.toml"), "slimfly").unwrap();
    assert_eq!((catalogue.switches.len(), catalogue.cables.len()), (1, 2));
    let lulesh = read_mtx(&example("data/lulesh-64.mtx.gz"), "lulesh").unwrap();
    assert_eq!(lulesh.total().row(0).0[..3], [1, 4, 5]);
    assert_eq!(lulesh.total().row(0).1[..3], [454_328.0, 454_328.0, 7_688.0]);
}
