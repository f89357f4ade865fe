//! Delays of cables and switches, and virtual lanes, as scenarios set them.

use netloom_model::LinkId;
use netloom_sim::{Outcome, Profile};
use netloom_testkit::cases::star;

use crate::common::Net;

const STREAM: &str = "program = { kind = \"stream\", pattern = \"bisection\", bytes = 1000 }\n";

fn run(net: &Net, lines: &str, job: &str) -> Outcome {
    let scene = net.scene(&format!("{lines}\n[[job]]\n{job}\n{STREAM}")).unwrap();
    net.run(&scene, "ftree")
}

/// Lanes that carry something, by link.
fn lanes(outcome: &Outcome, link: LinkId) -> Vec<usize> {
    let lanes = outcome.counters.lanes;
    let of_link = &outcome.counters.sent[link.index() * lanes..][..lanes];
    (0..lanes).filter(|&lane| of_link[lane].bytes > 0).collect()
}

/// Four cables lie between hosts of two leaves, two of them hosts' own.
#[test]
fn cables_of_hosts_have_a_delay_of_their_own() {
    let net = Net::new("two-level:leaves=2,hosts=1,spines=1");
    let end = |lines: &str| run(&net, lines, "").jobs[0].times.end_ps().expect("it ends");
    let bare = end("");
    assert_eq!(end("hardware.cable_delay_ns = 10"), bare + 4 * 10_000);
    assert_eq!(end("hardware.host_cable_delay_ns = 3"), bare + 2 * 3_000);
    assert_eq!(
        end("hardware.host_cable_delay_ns = 3\nhardware.cable_delay_ns = 10"),
        bare + 2 * 3_000 + 2 * 10_000
    );
    let error = net.refusal(&format!(
        "hardware.credit_bytes = 0\nhardware.cable_delay_ns = 5\nhardware.host_cable_delay_ns = 0\n[[job]]\n{STREAM}"
    ));
    assert!(error.starts_with("s.toml:3: hardware: credit_bytes: expected above 0"), "{error}");
}

/// From leaf to leaf by the spine: two cables of hosts, two between switches; three switches.
#[test]
fn single_switches_and_cables_by_level_have_delays_of_their_own() {
    let net = Net::new("two-level:leaves=2,hosts=1,spines=1");
    let end = |lines: &str| run(&net, lines, "").jobs[0].times.end_ps().expect("it ends");
    let bare = end("");
    let names: Vec<&str> = net.fabric.switches().map(|s| net.fabric.switch_name(s)).collect();
    let spine = names.iter().find(|name| name.starts_with("spine")).unwrap();
    // The profile's switches take 90 ns.
    assert_eq!(end(&format!("hardware.switch_delays_ns = {{ {spine} = 130 }}")), bare + 40_000);
    let other = format!("hardware.switch_delays_ns = {{ {spine} = 130 }}\nhardware.switch_delay_ns = 100");
    assert_eq!(end(&other), bare + 2 * 10_000 + 40_000);
    assert_eq!(
        end("hardware.cable_delays_ns = { leaf-spine = 50, host-leaf = 10 }"),
        bare + 2 * 50_000 + 2 * 10_000
    );
    assert_eq!(end("hardware.cable_delays_ns = { spine-leaf = 50 }"), bare + 2 * 50_000, "either end first");
    let over = "hardware.cable_delay_ns = 7\nhardware.host_cable_delay_ns = 3\nhardware.cable_delays_ns = { leaf-spine = 50 }";
    assert_eq!(end(over), bare + 2 * 50_000 + 2 * 3_000, "the most particular counts");
    let refused = |lines: &str| net.refusal(&format!("[hardware]\n{lines}\n[[job]]\n{STREAM}"));
    let place = "s.toml:4: hardware:";
    let wrong = format!("{spine}x");
    assert_eq!(
        refused(&format!("switch_delays_ns = {{ {wrong} = 1 }}")),
        format!("{place} switch_delays_ns: the fabric has no switch \"{wrong}\", did you mean \"{spine}\"?")
    );
    assert_eq!(
        refused("cable_delays_ns = { core-super = 1 }"),
        format!(
            "{place} cable_delays_ns: the fabric has no cables \"core-super\": expected host-leaf, leaf-spine"
        )
    );
    let typed = refused("cable_delays_ns = { leaf-spin = 1 }");
    assert!(typed.ends_with("did you mean \"leaf-spine\"?"), "{typed}");
    let twice = refused("cable_delays_ns = { leaf-spine = 1, spine-leaf = 2 }");
    assert!(twice.contains("\"leaf-spine\" is given twice"), "{twice}");
}

#[test]
fn service_levels_have_the_lanes_that_are_listed() {
    let net = Net::of(star(2));
    assert_eq!(Profile::codes().config.lanes, 1);
    for (level, lane) in [(0, 2), (1, 0), (2, 2), (3, 1)] {
        let lines = "hardware.lanes = 3\nhardware.sl2vl = [2, 0, 2, 1]";
        let outcome = run(&net, lines, &format!("service_level = {level}"));
        for link in [LinkId(0), net.fabric.reverse(LinkId(1))] {
            assert_eq!(lanes(&outcome, link), [lane], "level {level}, link {link:?}");
        }
    }
    let refused = |lines: &str| net.refusal(&format!("{lines}\n{STREAM}"));
    let few = refused("hardware.sl2vl = [0, 1]\n[[job]]");
    assert!(few.starts_with("s.toml:3: hardware: lanes: expected at least 2"), "{few}");
    let level = refused("hardware.lanes = 2\nhardware.sl2vl = [0, 1]\n[[job]]\nservice_level = 2");
    assert!(level.contains("service_level 2: expected one below 2"), "{level}");
    let random = refused("hardware.lanes = 2\nhardware.sl2vl = { levels = 4 }\n[[job]]\nservice_level = 1");
    assert!(random.contains("service_level 1: expected one below 1"), "{random}");
}

/// What a pair of hosts sends stays on one lane of a link; seeds and pairs are spread over all lanes, evenly.
#[test]
fn random_lanes_are_one_a_link_and_pair() {
    let net = Net::new("two-level:leaves=2,hosts=8,spines=1");
    let mut used = [0; 4];
    for seed in 0..20 {
        let lines = format!("hardware.lanes = 4\nhardware.sl2vl = {{ levels = 8, seed = {seed} }}");
        let outcome = run(&net, &lines, "");
        // Hosts 0 to 7 send to 8 to 15.
        for host in 0..8 {
            let [lane] = lanes(&outcome, LinkId(host))[..] else { panic!("host {host}: one lane") };
            let to = net.fabric.reverse(LinkId(host + 8));
            assert_eq!(lanes(&outcome, to).len(), 1, "host {host}");
            used[lane] += 1;
        }
        assert_eq!(outcome, run(&net, &lines, ""), "the same again");
    }
    // 160 draws: 40 a lane, standard deviation 5.5.
    assert!(used.iter().all(|n| (18..=62).contains(n)), "{used:?}");
    let same = run(&net, "hardware.lanes = 4\nhardware.sl2vl = \"8sl4vl:seed=3\"", "");
    assert_eq!(same, run(&net, "hardware.lanes = 4\nhardware.sl2vl = { levels = 8, seed = 3 }", ""));
    let refused = |scheme: &str| {
        net.refusal(&format!("hardware.lanes = 4\nhardware.sl2vl = \"{scheme}\"\n[[job]]\n{STREAM}"))
    };
    assert!(
        refused("5vl:galois")
            .contains("hardware: sl2vl: VL scheme \"5vl:galois\": no SL-to-VL table can say it")
    );
    assert!(refused("5sl5vl:groups").contains("lanes: expected at least 5"));
    let default =
        |seed: u32| run(&net, &format!("seed = {seed}\nhardware.lanes = 4\nhardware.sl2vl.levels = 8"), "");
    let explicit = run(&net, "seed = 3\nhardware.lanes = 4\nhardware.sl2vl = { levels = 8, seed = 3 }", "");
    assert_eq!(default(3), explicit);
    assert_ne!(default(4).counters, explicit.counters);
}
