//! Bad input is named before anything runs.

use netloom_compose::{Routing, Scene, check_sound, tables};
use netloom_formats::read_scenario;
use netloom_formats::scenario::MODE_WORDS;
use netloom_model::{Control, Dest, DestId, Fabric, Lft, Routes, SwitchId};
use netloom_routing::Engine;
use netloom_sim::{ByMessage, Mode, Model, Modes, Scheme, simulate};
use netloom_testkit::cases::star;

use crate::common::Net;

const STREAM: &str = "program = { kind = \"stream\", pattern = \"bisection\", bytes = 8 }\n";

#[test]
fn jobs_that_do_not_fit_are_refused() {
    let net = Net::of(star(4));
    let job = |lines: &str| net.refusal(&format!("[[job]]\n{lines}\n"));
    assert!(job(&format!("ranks = 6\n{STREAM}")).contains("needs 6 hosts"));
    assert!(
        job("program = { kind = \"stencil\", shape = [2, 2, 2], bytes = 1 }").contains("needs 8 hosts"),
        "the grid says how many"
    );
    assert!(
        job("ranks = 3\nprogram = { kind = \"barrier-grid\", columns = 2, rows = 2 }")
            .contains("its program has 4 ranks, ranks = 3")
    );
    assert!(
        job(&format!("ranks = 2\nservice_level = 1\n{STREAM}"))
            .contains("service_level 1: expected one below 1")
    );
    assert!(job(&format!("hosts = \"nowhere\"\n{STREAM}")).contains("no host or machine \"nowhere\""));
    let name = net.fabric.host_name(netloom_model::HostId(1));
    let twins =
        format!("[[job]]\nhosts = [\"{name}\"]\nranks = 1\nprogram = {{ kind = \"incast\", bytes = 1 }}\n");
    let overlap = net.refusal(&format!("{twins}{twins}"));
    assert!(overlap.starts_with("s.toml:8: host"), "{overlap}");
    assert!(overlap.contains("is listed by job \"job1\" and by job \"job2\""), "{overlap}");
}

/// Of all jobs together; each job for itself would be small enough.
#[test]
fn more_ranks_than_fit_into_memory_are_refused_at_what_makes_them() {
    let net = Net::of(star(4));
    let dense = "name = \"dense\"\nhosts = [\"h0\"]\nranks_per_host = 2000000\n";
    let job = |lines: &str| net.refusal(&format!("[[job]]\n{dense}{STREAM}[[job]]\n{lines}\n"));
    let most = "expected at most 2097152, those of the jobs before it included";
    let given = job(&format!("ranks_per_host = 50000\nranks = 100000\n{STREAM}"));
    assert_eq!(given, format!("s.toml:10: job \"job2\": 100000 ranks: {most}"));
    let own = job("program = { kind = \"stencil\", shape = [50, 50, 50], bytes = 1 }");
    assert_eq!(own, format!("s.toml:9: job \"job2\": 125000 ranks: {most}"));
    let places = job(&format!("ranks_per_host = 4294967\n{STREAM}"));
    assert_eq!(places, format!("s.toml:9: job \"job2\": 17179868 ranks (4294967 on each host): {most}"));
}

/// A job that says nothing wants every host, and another one has some of them.
#[test]
fn a_job_that_finds_too_few_hosts_is_told_what_to_write() {
    let net = Net::of(star(4));
    let beside = |first: &str, lines: &str| {
        net.refusal(&format!("[[job]]\n{first}\n{STREAM}[[job]]\nname = \"b\"\n{lines}\n"))
    };
    let incast = "program = { kind = \"incast\", bytes = 1 }";
    let halo = "program = { kind = \"halo\", shape = [2, 2, 1], face_bytes = 1 }";
    let unsaid = beside("ranks = 2", incast);
    assert!(unsaid.starts_with("s.toml:6: job \"b\" needs 4 hosts"), "{unsaid}");
    assert!(unsaid.contains("2 of the fabric's 4 are free: give ranks = 2 or fewer (unless"), "{unsaid}");
    let said = beside("ranks = 2", &format!("ranks = 7\nranks_per_host = 2\n{incast}"));
    assert!(
        said.starts_with("s.toml:8: ") && said.ends_with("give ranks = 4 or fewer, or ranks_per_host = 4"),
        "{said}"
    );
    let own = beside("ranks = 2", halo);
    assert!(
        own.ends_with("its program has these ranks, so give ranks_per_host = 2, or the other jobs fewer"),
        "{own}"
    );
    assert!(beside("ranks = 4", incast).ends_with("give the other jobs fewer ranks"));
}

#[test]
fn a_missing_file_is_named_with_the_key_that_names_it() {
    let net = Net::of(star(4));
    let trace = net.refusal("[[job]]\nname = \"a\"\ntrace = \"no.ti\"\n");
    assert!(trace.starts_with("s.toml:5: job \"a\": trace: no.ti: "), "{trace}");
    let mapping = net.refusal(&format!("[[job]]\nranks = 4\nmapping = \"file:no.txt\"\n{STREAM}"));
    assert!(mapping.starts_with("s.toml:5: job \"job1\": mapping: no.txt: "), "{mapping}");
}

#[test]
fn programs_that_do_not_fit_their_ranks_are_refused() {
    let net = Net::of(star(4));
    let program =
        |text: &str, ranks: u32| net.refusal(&format!("[[job]]\nranks = {ranks}\nprogram = {{ {text} }}\n"));
    assert!(
        program("kind = \"pairs\", bytes = 1", 3)
            .contains("expected an even number of ranks for pairs, found 3")
    );
    assert!(
        program("kind = \"stream\", pattern = \"all-to-all\", bytes = 1", 3).contains("several partners")
    );
    assert!(
        program("kind = \"stream\", pattern = \"pairs\", bytes = 1", 4).contains("send or receive, not both")
    );
    assert!(
        program("kind = \"stream\", pattern = \"bisektion\", bytes = 1", 4)
            .contains("job \"job1\": pattern: there is no")
    );
    assert!(
        program("kind = \"collective\", collective = \"barrier\", root = 4", 4)
            .contains("root 4: expected a rank below 4")
    );
    assert!(
        program("kind = \"uniform\", bytes = \"1GiB\", load = 1e-9", 4)
            .contains("expected every 10 s or more often")
    );
    assert_eq!(
        program("kind = \"collective\", collective = \"barier\"", 4),
        "s.toml:5: job \"job1\": there is no collective \"barier\", did you mean \"barrier\"?"
    );
    assert_eq!(
        program("kind = \"collective\", collective = \"barrier\", algorithm = \"ring\"", 4),
        "s.toml:5: job \"job1\": algorithm: expected dissemination or binary-tree for barrier, found \"ring\""
    );
}

#[test]
fn jobs_that_wait_for_each_other_are_refused() {
    let net = Net::of(star(4));
    let circle = format!(
        "[[job]]\nname = \"a\"\nuntil = \"b\"\nranks = 2\n{STREAM}[[job]]\nname = \"b\"\nuntil = \"a\"\nranks = 2\n{STREAM}"
    );
    assert!(net.refusal(&circle).starts_with("s.toml:5: job \"a\": until: expected a job that ends"));
}

#[test]
fn words_that_name_no_routing_name_the_nearest() {
    let refusal = |word: &str| Routing::parse(word).unwrap_err().to_string();
    assert_eq!(refusal("ftre"), "routes: there is no routing \"ftre\": did you mean \"ftree\"?");
    assert_eq!(refusal("adaptiv"), "routes: there is no routing \"adaptiv\": did you mean \"adaptive\"?");
    assert!(refusal("zzzzzzzzzz").contains("expected one of minhop, updn, ftree"));
    let file = Routing::File { tables: "mine.lfts".into(), paths: None, lanes: None };
    assert_eq!(Routing::parse("mine.lfts").unwrap(), file);
    assert_eq!(Routing::parse("d-mod-k").unwrap(), Routing::Engine(Engine::Dmodk));
}

#[test]
fn a_receive_without_a_send_names_the_ranks() {
    let net = Net::of(star(3));
    let mut scene = net.scene("[[job]]\nranks = 2\nprogram = { kind = \"pairs\", bytes = 8 }\n").unwrap();
    let missing = vec![vec![], vec![netloom_sim::Op::Recv { from: 0, tag: 7 }]];
    scene.jobs[0].script = std::sync::Arc::new(missing);
    let outcome = net.run(&scene, "ftree");
    assert_eq!(outcome.stuck.len(), 1);
    assert!(
        outcome.stuck[0].starts_with("job1 rank 1 (step 1) in receive from rank 0 tag 7"),
        "{:?}",
        outcome.stuck
    );
}

/// The call that waits, and where what it waits for was asked for: the second of two alike, since one has come.
#[test]
fn a_receive_without_a_send_names_the_lines_of_a_recorded_run() {
    let net = Net::of(star(3));
    let stuck = |name: &str, text: &str| {
        let scene = net.scene_with(&format!("[[job]]\ntrace = \"{name}\"\n"), text.as_bytes()).unwrap();
        net.run(&scene, "ftree").stuck
    };
    let trace = "0 init\n1 init\n0 isend 1 7 10 6\n1 irecv 0 7 10 6\n\n1 compute 5\n1 irecv 0 7 10 6\n1 waitall 2\n\
                 \n1 barrier\n0 barrier\n0 finalize\n1 finalize\n";
    // First the rank to begin with: the other one waits for it, in the barrier.
    let [one, other] = &stuck("app.ti", trace)[..] else { panic!("two ranks wait") };
    let receives = "open receives: rank 0 tag 7 (app.ti:7; never sent)";
    assert_eq!(one, &format!("job1 rank 1 (step 4, app.ti:8) in waitall; {receives}"));
    assert!(other.starts_with("job1 rank 0 (step 1, app.ti:11) in barrier"), "{other}");
    assert!(!other.contains("never"), "{other}");
    let schedule = "num_ranks 2\nrank 0 { }\nrank 1 {\n// one\nrecv 8b from 0\n}\n";
    assert_eq!(
        stuck("app.goal", schedule),
        ["job1 rank 1 (step 0) with 1 task to do; open receives: rank 0 tag 0 (app.goal:5; never sent)"]
    );
}

/// As in LogGOPSim; MPI would fail.
#[test]
fn a_message_of_a_schedule_may_be_longer_than_its_receive() {
    let net = Net::of(star(2));
    let text = "num_ranks 2\nrank 0 { send 10b to 1 }\nrank 1 { recv 0b from 0 }\n";
    let scene = net.scene_with("[[job]]\ntrace = \"app.goal\"\n", text.as_bytes()).unwrap();
    let outcome = net.run(&scene, "ftree");
    assert_eq!((outcome.jobs[0].messages, outcome.jobs[0].bytes), (1, 10));
    assert!(outcome.jobs[0].times.end_ps().is_some());
}

fn routes(net: &Net, engine: Engine) -> Routes {
    let mut nothing = |_: &'static str, _: &str| Err(std::io::ErrorKind::NotFound.into());
    tables(&Routing::Engine(engine), &net.fabric, &net.structure, 0, &mut nothing).unwrap()
}

fn unsound(net: &Net, routes: &Routes) -> String {
    check_sound(&net.fabric, &net.structure, routes, false).unwrap_err().to_string()
}

#[test]
fn routes_that_must_not_be_run_are_refused() {
    let net = Net::new("two-level:leaves=2,hosts=4,spines=2");
    let good = routes(&net, Engine::Ftree);
    check_sound(&net.fabric, &net.structure, &good, false).unwrap();
    let mut lft = good.lft().unwrap().clone();
    lft.set(SwitchId(0), DestId(7), None);
    let holes = unsound(&net, &Routes::by_dest(&net.fabric, 0, lft));
    assert!(holes.starts_with("1 entries are missing"), "{holes}");
    assert!(!holes.contains("another fabric"), "{holes}");
    let few = tables_of_half(&net, good.lft().unwrap());
    let few = unsound(&net, &Routes::by_dest(&net.fabric, 0, few));
    assert!(
        few.ends_with("2 of the fabric's 4 switches have no table at all: are these another fabric's?"),
        "{few}"
    );
    let by_source = unsound(&net, &routes(&net, Engine::Smodk));
    assert!(by_source.contains("choose the way up by the source"), "{by_source}");
}

/// The tables of the first half of the switches.
fn tables_of_half(net: &Net, lft: &Lft) -> Lft {
    let mut half = lft.clone();
    for s in net.fabric.switches().skip(net.fabric.switch_count() / 2) {
        net.fabric.dests(0).iter().for_each(|dest| half.set(s, dest, None));
    }
    half
}

/// Tables that send everything clockwise round a ring of `n` switches with one host each.
fn clockwise(fabric: &Fabric, n: u32) -> Lft {
    let space = fabric.dests(0);
    let mut lft = Lft::empty(n as usize, space.count(), fabric.max_radix());
    for s in fabric.switches() {
        let next = SwitchId((s.0 + 1) % n);
        let on = fabric.switch_links(s).find(|&l| fabric.link_to_switch(l) == Some(next)).unwrap();
        for dest in space.iter() {
            let port = match space.resolve(dest) {
                Dest::Host(host, _) if fabric.leaf(host) == s => {
                    fabric.link_port(fabric.reverse(fabric.host_link(host)))
                }
                Dest::Switch(to) if to == s => 0,
                _ => fabric.link_port(on),
            };
            lft.set(s, dest, Some(port));
        }
    }
    lft
}

/// A ring of switches on which all go clockwise: every link waits for the next.
#[test]
fn a_credit_loop_is_refused_or_run_until_packets_wait_for_each_other() {
    let net = Net::of(netloom_testkit::cases::ring(6));
    let lft = clockwise(&net.fabric, 6);
    let routes = Routes::by_dest(&net.fabric, 0, lft);
    let refused = unsound(&net, &routes);
    assert!(refused.contains("1 credit loops") && refused.contains("wait for each other"), "{refused}");
    check_sound(&net.fabric, &net.structure, &routes, true).unwrap();
    // Everybody sends to the host three switches on: full buffers wait for each other.
    let text = "fabric = \"it\"\nallow_credit_loops = true\nsoftware.eager_bytes = \"1MiB\"\n\
                [[job]]\nprogram = { kind = \"stream\", pattern = \"shift:3\", bytes = \"1MiB\" }\n";
    let scenario = read_scenario(text.as_bytes(), "s", &[]).unwrap();
    let mut nothing = |_: &'static str, _: &str| Err(std::io::ErrorKind::NotFound.into());
    let scene = Scene::new(&net.fabric, scenario, &mut nothing).unwrap();
    let scheme = Scheme::Tables(&routes);
    let outcome = simulate(scene.setup(&net.fabric, scheme, Model::Packet, 1), &Control::new()).unwrap();
    let deadlock = outcome.deadlock.expect("the ring is full");
    assert_eq!(deadlock.cycle.len(), 6, "{deadlock:?}");
    let words = deadlock.describe(&net.fabric, 1);
    assert_eq!(words.split(", ").count(), 6, "{words}");
    assert!(!words.contains("lane") && deadlock.describe(&net.fabric, 2).contains(" on lane 0, "), "{words}");
    assert!(deadlock.packets >= 6);
    assert_eq!(outcome.jobs[0].times.end_ps(), None);
}

#[test]
fn what_does_not_fit_names_its_line_or_the_override_that_brought_it() {
    let net = Net::of(star(4));
    let weights = net.refusal(&format!("[hardware]\nlanes = 2\nlane_weights = [1, 2, 3]\n[[job]]\n{STREAM}"));
    assert!(weights.starts_with("s.toml:5: hardware: lane_weights: expected 2 numbers"), "{weights}");
    let text = format!("fabric = \"it\"\n[[job]]\nname = \"a\"\nranks = 2\n{STREAM}");
    let with = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        let scenario = read_scenario(text.as_bytes(), "s.toml", &overrides).unwrap();
        let mut nothing = |_: &'static str, _: &str| Err(std::io::ErrorKind::NotFound.into());
        Scene::new(&net.fabric, scenario, &mut nothing).unwrap_err().to_string()
    };
    let level = with(&["seed=1", "job.a.service_level=3"]);
    assert!(level.starts_with("--set job.a.service_level=3: job \"a\": service_level 3"), "{level}");
    // What was not given stands where it would stand.
    let buffer = with(&["hardware.packet_bytes=60000"]);
    assert!(
        buffer.starts_with("s.toml: hardware: output_buffer_bytes: expected at least one packet"),
        "{buffer}"
    );
}

/// The words of a scenario's `mode` and those of the simulator are one list, the latter without "adaptive:".
#[test]
fn words_of_modes_are_those_that_the_simulator_knows() {
    let known = Mode::ALL.map(Mode::word).into_iter().chain(ByMessage::ALL.map(ByMessage::word));
    let mut known: Vec<&str> = known.map(|word| word.strip_prefix("adaptive:").unwrap_or(word)).collect();
    known.push("default");
    let mut read = MODE_WORDS.to_vec();
    known.sort_unstable();
    read.sort_unstable();
    assert_eq!(read, known);
    assert!(read.iter().all(|word| Modes::parse(word).is_some()));
}

#[test]
fn modes_are_asked_of_routings_that_have_them() {
    let net = Net::of(star(4));
    let job = |routes: &str, mode: &str| {
        net.refusal(&format!("routes = [\"{routes}\"]\n[[job]]\nranks = 2\nmode = {mode}\n{STREAM}"))
    };
    assert!(
        job("adaptive", "0").contains("such as adaptive:0 on a dragonfly or by-mode, found \"adaptive\"")
    );
    let refused = job("by-mode:updn", "[\"in-order below 4KiB\", 3]");
    assert!(
        refused.contains("by-mode:updn has 0 (adaptive) and in-order (by its tables), found 3"),
        "{refused}"
    );
    assert_eq!(Routing::parse("by-mode").unwrap(), Routing::ByMode(Engine::Ftree));
    assert_eq!(Routing::parse("by-mode:minhop").unwrap(), Routing::ByMode(Engine::Minhop));
    assert!(
        Routing::parse("by-mode:s-mod-k")
            .unwrap_err()
            .to_string()
            .contains("an engine's name behind \"by-mode:\"")
    );
}
