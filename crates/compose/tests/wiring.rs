//! Cables of hosts and virtual lanes, as scenarios set them.

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
    assert!(level.contains("service_level 2: expected 0..2"), "{level}");
    let random = refused("hardware.lanes = 2\nhardware.sl2vl = { levels = 4 }\n[[job]]\nservice_level = 1");
    assert!(random.contains("service_level 1: expected 0..1"), "{random}");
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
    let default =
        |seed: u32| run(&net, &format!("seed = {seed}\nhardware.lanes = 4\nhardware.sl2vl.levels = 8"), "");
    let explicit = run(&net, "seed = 3\nhardware.lanes = 4\nhardware.sl2vl = { levels = 8, seed = 3 }", "");
    assert_eq!(default(3), explicit);
    assert_ne!(default(4).counters, explicit.counters);
}
