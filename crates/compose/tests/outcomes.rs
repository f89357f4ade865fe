//! What scenarios show, with times worked out by hand: on a star with the `codes` profile, messages of one packet of `b` bytes take
//! `post + 2 x 80 b + switch` ps.

use netloom_sim::Profile;
use netloom_testkit::cases::star;

use crate::common::Net;

fn message_ps(bytes: u64) -> u64 {
    let Profile { config, software } = Profile::codes();
    software.call_ps + software.post_ps + 2 * 80 * bytes + config.switch_delay_ps
}

fn stream(bytes: u64) -> String {
    format!("program = {{ kind = \"stream\", pattern = \"bisection\", messages = 1, bytes = {bytes} }}\n")
}

#[test]
fn a_job_starts_when_it_is_told_to() {
    let net = Net::of(star(4));
    let two = |line: &str| {
        let (first, second) = ("[[job]]\nranks = 2\n", format!("[[job]]\nranks = 2\n{line}\n"));
        net.ends(&format!("{first}{}{second}{}", stream(1000), stream(2000)), "ftree")
    };
    let calls = Profile::codes().software.call_ps;
    assert_eq!(calls, 0, "the times below are without calls");
    assert_eq!(two(""), [Some(message_ps(1000)), Some(message_ps(2000))]);
    assert_eq!(two("start_us = 3"), [Some(message_ps(1000)), Some(3_000_000 + message_ps(2000))]);
}

#[test]
fn a_bully_starts_over_until_its_victim_ends() {
    let net = Net::of(star(4));
    let jobs = "[[job]]\nname = \"victim\"\nranks = 2\nstart_us = 50\nprogram = { kind = \"barrier-grid\", columns = 2, rows = 1 }\n\
                [[job]]\nranks = 2\nuntil = \"victim\"\nprogram = { kind = \"pairs\", messages = 3, bytes = 1000 }\n";
    let outcome = net.run(&net.scene(jobs).unwrap(), "ftree");
    // Messages of a round follow each other on the wire; 1000 bytes take 80 ns.
    let round = message_ps(1000) + 2 * 80_000;
    let end = outcome.jobs[0].times.end_ps().expect("the victim ends");
    assert_eq!(outcome.jobs[1].times.end_ps(), None);
    assert_eq!(u64::from(outcome.jobs[1].times.rounds), end / round);
}

/// Rank 1 computes for a microsecond before it receives.
#[test]
fn a_recorded_run_is_replayed() {
    let net = Net::of(star(2));
    let text =
        "0 init\n1 init\n0 send 1 7 1000 6\n1 compute 1000\n1 recv 0 7 1000 6\n0 finalize\n1 finalize\n";
    let ends = |lines: &str| {
        let scene =
            net.scene_with(&format!("[[job]]\ntrace = \"t.ti\"\n{lines}\n"), text.as_bytes()).unwrap();
        let outcome = net.run(&scene, "ftree");
        outcome.jobs[0].times.ranks_ps[1].expect("it ends")
    };
    assert_eq!(ends(""), message_ps(1000));
    assert_eq!(ends("flops_per_s = 1e9"), message_ps(1000).max(1_000_000));
    assert_eq!(ends("flops_per_s = 1e9\ncompute_scale = 5"), message_ps(1000).max(5_000_000));
    let torn =
        net.scene_with("[[job]]\ntrace = \"t.ti\"\n", &text.as_bytes()[..text.len() - 60]).unwrap_err();
    assert!(torn.to_string().starts_with("t.ti:"), "{torn}");
}

/// Rank 1 computes for 3 us before it answers.
#[test]
fn a_schedule_is_run() {
    let net = Net::of(star(2));
    let text = "num_ranks 2\nrank 0 {\nsend 1000b to 1 tag 1\nrecv 1000b from 1 tag 2\n}\n\
                rank 1 {\na: recv 1000b from 0 tag 1\nb: calc 3000\nc: send 1000b to 0 tag 2\nb requires a\nc requires b\n}\n";
    let end = |lines: &str| {
        let scene =
            net.scene_with(&format!("[[job]]\ntrace = \"t.txt\"\n{lines}\n"), text.as_bytes()).unwrap();
        net.run(&scene, "ftree").jobs[0].times.ranks_ps[0]
    };
    assert_eq!(end(""), Some(2 * message_ps(1000) + 3_000_000));
    assert_eq!(end("compute_scale = 2"), Some(2 * message_ps(1000) + 6_000_000));
    let refused = net.scene_with("[[job]]\ntrace = \"t\"\nflops_per_s = 1\n", text.as_bytes()).unwrap_err();
    assert!(refused.to_string().contains("expected none with a GOAL schedule"), "{refused}");
}

#[test]
fn a_run_ends_at_its_simulated_time() {
    let net = Net::of(star(2));
    let scene = net.scene(&format!("max_time_ms = 0.001\n[[job]]\n{}", stream(100_000))).unwrap();
    let outcome = net.run(&scene, "ftree");
    assert_eq!((outcome.end_ps, outcome.jobs[0].times.end_ps()), (1_000_000, None));
    assert!(outcome.stuck.is_empty(), "it was cut short, nobody waits for ever: {:?}", outcome.stuck);
    assert!(outcome.packets < 49);
}

#[test]
fn optimised_routes_beat_ftree_where_flows_collide() {
    // 16 hosts a side, a random matching across: ftree puts several flows on a link, the optimiser one.
    let net = Net::new("two-level:leaves=4,hosts=8,spines=8");
    let jobs = "seed = 3\nroutes = [\"ftree\", \"optimized\"]\n[[job]]\n\
                program = { kind = \"stream\", pattern = \"bisection-shuffle\", messages = 3, bytes = \"64KiB\" }\n";
    let scene = net.scene(jobs).unwrap();
    let time = |routing| net.run(&scene, routing).jobs[0].times.end_ps().expect("it ends");
    let (ftree, best) = (time("ftree"), time("optimized"));
    // One flow a link: three messages of 65536 bytes at 80 ps, each with its way through three switches in packets of 4096.
    let Profile { config, software } = Profile::codes();
    let packet = u64::from(config.packet_bytes) * 80;
    let alone = 3 * (software.post_ps + 65_536 * 80 + 3 * (packet + config.switch_delay_ps));
    assert_eq!(best, alone);
    assert!(ftree >= 2 * 3 * 65_536 * 80, "{ftree}");
}

#[test]
fn equal_scenarios_have_equal_outcomes_and_seeds_matter() {
    let net = Net::new("two-level:leaves=4,hosts=8,spines=4");
    let scene = |seed: u32| {
        let job = "allocation = \"random\"\nranks = 16\n";
        let program = "program = { kind = \"pairs\", messages = 4, bytes = 9000 }\n";
        net.scene(&format!("seed = {seed}\n[[job]]\n{job}{program}")).unwrap()
    };
    for routing in ["ftree", "random", "adaptive"] {
        assert_eq!(net.run(&scene(1), routing), net.run(&scene(1), routing), "{routing}");
        assert_ne!(net.run(&scene(1), routing), net.run(&scene(2), routing), "{routing}");
    }
}
