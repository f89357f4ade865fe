//! What scenarios say, and what is refused.

use super::*;

fn read(text: &str) -> Scenario {
    read_scenario(text.as_bytes(), "s.toml", &[]).unwrap()
}

fn refusal(text: &str) -> String {
    read_scenario(text.as_bytes(), "s.toml", &[]).unwrap_err().to_string()
}

const SMALL: &str =
    "fabric = \"quartz1\"\n[[job]]\nprogram = { kind = \"stream\", pattern = \"bisection\", bytes = 8 }\n";

fn overridden(overrides: &[&str]) -> Result<Scenario, String> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    read_scenario(SMALL.as_bytes(), "s.toml", &overrides).map_err(|e| e.to_string())
}

#[test]
fn every_key_is_read() {
    let scenario = read(
        r#"
        name = "all"
        fabric = "net.txt"
        profile = "codes"
        routes = ["ftree", "adaptive", "mine.lfts"]
        model = "fluid"
        seed = 7
        optimize_work = 5000
        allow_credit_loops = true
        max_time_ms = 1.5
        [hardware]
        lanes = 2
        lane_weights = [1, 4]
        sl2vl = [1, 0, 1]
        packet_bytes = "2KiB"
        forwarding = "cut-through"
        head_of_line = false
        switch_delay_ns = 90.5
        switch_delays_ns = { "spine 1" = 130, spine2 = 0.5 }
        input_buffer_bytes = "unlimited"
        [software]
        eager_bytes = "8KiB"
        copy_ns_per_byte = 0.01
        [measure]
        counters_every_us = 100
        queues_every_us = 0.5
        longest_queues = "all"
        trace = { from_us = 1, to_us = 20 }
        [[job]]
        name = "barrier"
        allocation = "random"
        mapping = "cyclic"
        ranks_per_host = 2
        [job.program]
        kind = "barrier-grid"
        columns = 32
        rows = 64
        iterations = 100
        [[job]]
        name = "bully"
        hosts = "node[1-4]"
        program = { kind = "pairs", pairing = "adjacent", rounds = 16, messages = 100, bytes = "200 KB" }
        until = "barrier"
        start_us = 2
        weight = 0.5
        service_level = 1
        [[job]]
        trace = "lulesh.ti.gz"
        flops_per_s = 1e9
        ranks = 64
        "#,
    );
    assert_eq!((scenario.name.as_str(), scenario.fabric.as_str()), ("all", "net.txt"));
    assert_eq!((scenario.profile.as_str(), scenario.model.as_str()), ("codes", "fluid"));
    assert_eq!(scenario.routes, ["ftree", "adaptive", "mine.lfts"]);
    assert_eq!(scenario.optimize_work, Some(5000));
    assert_eq!(
        (scenario.seed, scenario.allow_credit_loops, scenario.max_time_ps),
        (7, true, Some(1_500_000_000))
    );
    assert_eq!(
        scenario.hardware,
        [
            ("packet_bytes", Knob::Count(2048)),
            ("forwarding", Knob::Word("cut-through")),
            ("lanes", Knob::Count(2)),
            ("lane_weights", Knob::Weights(vec![1, 4])),
            ("sl2vl", Knob::LaneOfLevel(vec![1, 0, 1])),
            ("input_buffer_bytes", Knob::Word("unlimited")),
            ("head_of_line", Knob::Flag(false)),
            ("switch_delay_ns", Knob::Time(90_500.0)),
            ("switch_delays_ns", Knob::Times(vec![("spine 1".into(), 130_000.0), ("spine2".into(), 500.0)])),
        ]
    );
    assert_eq!(
        scenario.software,
        [("eager_bytes", Knob::Count(8192)), ("copy_ns_per_byte", Knob::Time(10.0))]
    );
    assert_eq!(
        scenario.measure,
        Measures {
            counters_every_ps: Some(100_000_000),
            queues_every_ps: Some(500_000),
            longest_queues: Some(usize::MAX),
            trace_ps: Some((1_000_000, 20_000_000))
        }
    );
    let [barrier, bully, trace] = &scenario.jobs[..] else { panic!("three jobs") };
    assert_eq!((barrier.name.as_str(), barrier.ranks_per_host), ("barrier", Some(2)));
    assert_eq!(
        barrier.work,
        Work::Program(Program::BarrierGrid { columns: 32, rows: 64, iterations: 100, bytes: 8 })
    );
    assert_eq!((bully.until, bully.start_ps, bully.weight), (Some(0), 2_000_000, 0.5));
    assert_eq!((barrier.service_level, bully.service_level), (0, 1));
    assert_eq!(bully.allocation, Allocation::Hosts((1..=4).map(|i| format!("node{i}")).collect()));
    assert_eq!(
        bully.work,
        Work::Program(Program::Pairs {
            pairing: Pairing::Adjacent,
            rounds: 16,
            messages: 100,
            bytes: 200_000
        })
    );
    assert_eq!((trace.name.as_str(), trace.ranks), ("job3", Some(64)));
    assert_eq!(
        trace.work,
        Work::Trace {
            path: "lulesh.ti.gz".into(),
            algorithms: String::new(),
            compute_scale: 1.0,
            flops_per_s: Some(1e9)
        }
    );
}

#[test]
fn modes_are_read_by_size_and_nothing_is_said_twice() {
    let with = |mode: &str| {
        overridden(&[&format!("job.job1.mode={mode}")]).map(|scenario| {
            let settings = &scenario.jobs[0].modes;
            settings.iter().map(|it| (it.word, it.of)).collect::<Vec<_>>()
        })
    };
    assert_eq!(with("3"), Ok(vec![("3", Of::Others)]));
    assert_eq!(with("[\"3 below 4KiB\", 0]"), Ok(vec![("3", Of::Below(4096)), ("0", Of::Others)]));
    assert_eq!(
        with("[\"3 below 4KiB\", \"2 below 8192\", \"1 in all-to-all\", \"aware\"]"),
        Ok(vec![("3", Of::Below(4096)), ("2", Of::Below(8192)), ("1", Of::AllToAll), ("aware", Of::Others)])
    );
    for word in MODE_WORDS {
        assert_eq!(with(&format!("\"{word}\"")), Ok(vec![(word, Of::Others)]));
    }
    for (mode, expected) in [
        ("7", "expected a mode, 0 (no bias), 1, 2, 3 (high bias), min-hash"),
        ("\"MIN_HASH\"", "found \"MIN_HASH\""),
        ("[\"aware below 4KiB\", 0]", "expected one mode for some messages"),
        ("[\"1 in barrier\", 0]", "expected messages in all-to-all, found \"barrier\""),
        ("[]", "expected a mode"),
        ("true", "found boolean"),
        ("[\"3 below 0\", 0]", "at least 1, such as 4KiB, found \"0\""),
        ("[\"3 below\"]", "found \"3 below\""),
        ("[\"3 below 4KiB\", \"0 below 4096\"]", "two settings for messages below 4096 bytes"),
        ("[3, 0]", "two settings for all other messages"),
    ] {
        let error = with(mode).unwrap_err();
        assert!(error.contains(expected) && error.contains("mode"), "{mode}: {error}");
    }
}

#[test]
fn a_small_scenario_has_defaults() {
    let scenario = read(SMALL);
    assert_eq!((scenario.profile.as_str(), scenario.model.as_str()), ("infiniband", "packet"));
    assert_eq!(scenario.routes, ["ftree"]);
    let stream = Program::Stream { pattern: "bisection".into(), messages: 1, bytes: 8 };
    assert_eq!(scenario.jobs[0].work, Work::Program(stream));
    assert_eq!(read(&SMALL.replace("8 }", "8 }\nweight = 2")).jobs[0].weight, 2.0);
}

#[test]
fn unknown_keys_name_the_nearest_and_their_line() {
    let at = |line: &str| refusal(&format!("{line}\n{SMALL}"));
    assert_eq!(at("sed = 1"), "s.toml:1: a scenario has no key \"sed\", did you mean \"seed\"?");
    let job = |line: &str| refusal(&format!("{SMALL}{line}\n"));
    assert_eq!(
        job("alocation = \"random\""),
        "s.toml:4: a job has no key \"alocation\", did you mean \"allocation\"?"
    );
    let table = |lines: &str| refusal(&SMALL.replace("[[job]]", &format!("{lines}\n[[job]]")));
    assert_eq!(
        table("[hardware]\nlane = 2"),
        "s.toml:3: hardware has no key \"lane\", did you mean \"lanes\"?"
    );
    assert_eq!(
        table("[software]\ncal_ns = 2"),
        "s.toml:3: software has no key \"cal_ns\", did you mean \"call_ns\"?"
    );
    assert!(table("[measure]\ncounters_every_ms = 2").contains("did you mean \"counters_every_us\"?"));
    let program = |text: &str| refusal(&format!("fabric = \"f\"\n[[job]]\nprogram = {{ {text} }}\n"));
    assert_eq!(
        program("kind = \"stream\", byte = 3"),
        "s.toml:3: a program has no key \"byte\", did you mean \"bytes\"?"
    );
    assert!(
        program("kind = \"stream\", rounds = 3")
            .contains("a program of kind \"stream\" has no key \"rounds\"")
    );
    assert!(program("kind = \"steam\"").ends_with("found \"steam\", did you mean \"stream\"?"));
}

#[test]
fn values_that_make_no_sense_are_refused_with_their_line() {
    let top = |line: &str| refusal(&format!("{line}\n{SMALL}"));
    assert!(
        top("profile = \"code\"")
            .starts_with("s.toml:1: profile: expected infiniband, codes or aries, found \"code\", did")
    );
    assert!(top("model = \"packets\"").contains("did you mean \"packet\"?"));
    assert!(top("routes = []").contains("s.toml:1: routes: expected a routing"));
    assert!(top("routes = [\"a\", 3]").contains("routes: expected a routing"));
    assert!(top("routes = [\"ftree\", \"ftree\"]").contains("\"ftree\" is given twice"));
    assert!(top("max_time_ms = 0").contains("expected milliseconds, 1e-9 to 281000, found 0"));
    assert!(top("max_time_ms = 1e9").contains("milliseconds, 1e-9 to 281000, found 1e9"));
    assert!(top("max_time_ms = nan").contains("expected milliseconds"));
    assert!(top("seed = -1").contains("s.toml:1: seed: expected a whole number"));
    let program = |text: &str| refusal(&format!("fabric = \"f\"\n[[job]]\nprogram = {{ {text} }}\n"));
    assert!(program("kind = \"stream\", pattern = \"bis\", bytes = 0").starts_with(
        "s.toml:3: bytes: expected bytes (1 to 1099511627776) such as 4096 or \"2MiB\", found 0"
    ));
    assert!(
        program("kind = \"stream\", pattern = \"bis\", bytes = \"2 apples\"").contains("found \"2 apples\"")
    );
    assert!(program("kind = \"stream\", pattern = \"bis\", bytes = 1.5").contains("found 1.5"));
    assert!(program("kind = \"stream\", pattern = \"bis\"").contains("s.toml:3: expected bytes"));
    assert!(program("kind = \"stream\", bytes = 8").contains("expected pattern"));
    assert!(program("kind = \"stencil\", shape = [1, 0], bytes = 8").contains("expected 1 to 3 sizes"));
    assert!(
        program("kind = \"stencil\", shape = [100000, 100000], bytes = 8").contains("at most 10000000 ranks")
    );
    assert!(program("kind = \"halo\", shape = [4]").contains("expected face_bytes"));
    assert!(program("kind = \"uniform\", bytes = 8, load = 0").contains("load: expected a share"));
    let uniform = |text: &str| program(&format!("kind = \"uniform\", bytes = 8, load = 0.5, {text}"));
    assert!(uniform("messages = 5, measure_us = 7").contains("expected measure_us or messages, not both"));
    assert!(uniform("measure_us = 0").contains("measure_us: expected more than 0"));
    assert!(uniform("warmup_us = -1").contains("warmup_us: expected microseconds"));
    assert!(program("kind = \"pairs\", bytes = 8, rounds = 0").contains("1 to 1000000000, found 0"));
    assert!(program("bytes = 8").contains("expected a kind: stream, pairs"));
    assert!(program("kind = \"minighost\", shape = [2, 2]").contains("expected face_bytes"));
    let ghost = |text: &str| program(&format!("kind = \"minighost\", shape = [2], face_bytes = 8, {text}"));
    assert!(ghost("strategy = \"svf\"").contains("found \"svf\", did you mean \"svaf\"?"));
    assert!(ghost("noise = 1.5").contains("noise: expected a share of the stencils, 0 to 1, found 1.5"));
    assert!(ghost("pack_us = -1").contains("pack_us: expected microseconds"));
    assert!(ghost("variables = 0").contains("variables: expected"));
    assert!(program("kind = \"slabs\", shape = [2, 2, 2]").contains("expected bytes"));
}

#[test]
fn skeletons_of_applications_are_read() {
    let one = |text: &str| {
        let scenario = read(&format!("fabric = \"f\"\n[[job]]\nprogram = {{ {text} }}\n"));
        match scenario.jobs[0].work.clone() {
            Work::Program(program) => program,
            Work::Trace { .. } => unreachable!(),
        }
    };
    let ghost =
        one("kind = \"minighost\", shape = [4, 3, 2], strategy = \"svafp\", face_bytes = 100, pack_us = 2, \
                     compute_us = 5, noise = 0.5, noise_us = 3");
    let expected = Program::MiniGhost {
        shape: [4, 3, 2],
        strategy: Strategy::Svafp,
        variables: 40,
        face_bytes: 100,
        iterations: 1,
        pack_ps: 2_000_000,
        compute_ps: 5_000_000,
        noise: 0.5,
        noise_ps: 3_000_000,
    };
    assert_eq!(ghost, expected);
    assert_eq!((ghost.ranks(), ghost.grid()), (Some(24), vec![4, 3, 2]));
    let slabs =
        one("kind = \"slabs\", shape = [4, 3, 2], bytes = 100, beside_bytes = \"1KiB\", iterations = 3");
    assert_eq!(
        slabs,
        Program::Slabs { shape: [4, 3, 2], bytes: 100, beside_bytes: 1024, iterations: 3, compute_ps: 0 }
    );
    assert_eq!(slabs.ranks(), Some(24));
}

#[test]
fn jobs_have_one_kind_of_work_and_names_that_differ() {
    let job = |lines: &str| refusal(&format!("fabric = \"f\"\n[[job]]\n{lines}\n"));
    assert!(job("name = \"a\"").starts_with("s.toml:2: expected a job with program or trace, found neither"));
    assert!(job("trace = \"t\"\nprogram = {}").contains("s.toml:3: trace: expected either program or trace"));
    assert!(job("trace = \"\"").contains("expected a path"));
    assert!(job("program = 3").contains("program: expected a table"));
    assert!(job("program = { kind = \"incast\", bytes = 1 }\nflops_per_s = 1").contains("with a trace only"));
    assert!(job("trace = \"t\"\nuntil = \"x\"").contains("s.toml:4: until: expected another job's name"));
    assert!(job("name = \"a\"\ntrace = \"t\"\nuntil = \"a\"").contains("expected another job's name"));
    let twins = "[[job]]\nname = \"a\"\ntrace = \"t\"\n".repeat(2);
    assert_eq!(
        refusal(&format!("fabric = \"f\"\n{twins}")),
        "s.toml:5: two jobs are called \"a\": expected names that differ"
    );
    assert!(refusal("fabric = \"f\"\n").contains("expected at least one [[job]]"));
    assert!(refusal("[[job]]\ntrace = \"t\"\n").contains("expected fabric"));
    assert!(
        refusal("fabric = \"f\"\n[job]\ntrace = \"t\"\n")
            .contains("s.toml:2: job: expected [[job]], with two brackets")
    );
}

#[test]
fn overrides_come_before_reading() {
    let scenario = overridden(&[
        "hardware.lanes=2",
        "job.job1.program.messages=5",
        "job.1.program.bytes = 2MiB",
        "job.job1.start_us=0.5",
        "measure.counters_every_us=50",
        "routes=[\"ftree\", \"adaptive\"]",
        "model=fluid",
    ])
    .unwrap();
    assert_eq!(scenario.hardware, [("lanes", Knob::Count(2))]);
    let stream = Program::Stream { pattern: "bisection".into(), messages: 5, bytes: 2 << 20 };
    assert_eq!(scenario.jobs[0].work, Work::Program(stream));
    assert_eq!(scenario.jobs[0].start_ps, 500_000);
    assert_eq!(scenario.measure.counters_every_ps, Some(50_000_000));
    assert_eq!(scenario.routes, ["ftree", "adaptive"]);
    assert_eq!(scenario.model, "fluid");
    // The last one of a key stands.
    assert_eq!(overridden(&["seed=1", "seed=2"]).unwrap().seed, 2);
}

#[test]
fn errors_name_the_override_that_brought_them() {
    let refused = |text: &str| overridden(&["seed=3", text]).unwrap_err();
    assert_eq!(
        refused("hardware.lanes=99"),
        "--set hardware.lanes=99: lanes: expected a whole number of 1 to 15, found 99"
    );
    assert_eq!(
        refused("hardwre.lanes=2"),
        "--set hardwre.lanes=2: a scenario has no key \"hardwre\", did you mean \"hardware\"?"
    );
    assert!(refused("hardware.lane=2").contains("did you mean \"lanes\"?"));
    assert_eq!(
        refused("job.jop1.start_us=2"),
        "--set job.jop1.start_us=2: no job is called \"jop1\", did you mean \"job1\"?"
    );
    assert!(refused("job.2.start_us=2").ends_with("no job is called \"2\", and numbers are 1 to 1"));
    assert!(refused("job=2").contains("expected a job and its key"));
    assert!(refused("job.job1=2").contains("expected a key of job"));
    assert!(refused("seed.x=2").contains("\"seed\" has a value, not keys"));
    assert!(refused("seed").contains("expected key=value"));
    assert!(refused("a..b=2").contains("expected keys with dots"));
    assert!(refused("seed=1\nmodel=\"fluid\"").contains("found \"1 model"), "text, not two lines");
    assert!(refused("seed=99999999999999999999").ends_with("0 to 2^63 - 1, found \"99999999999999999999\""));
    assert!(refused("measure.counters_every_us=0.05").contains("microseconds, 0.1 to 1e8, found 0.05"));
    assert!(refused("measure.longest_queues=al").ends_with("a whole number or \"all\", found \"al\""));
    assert!(refused("hardware.input_buffer_bytes=unlimitd").contains("bytes, or \"unlimited\", found"));
    assert!(refused("job.1.weight=1e300").ends_with("1e-9 to 1e9, found 1e300"));
    // What is wrong in the file itself keeps its line.
    let own = read_scenario(b"sed = 1\n", "s.toml", &["seed=2".into()]).unwrap_err().to_string();
    assert!(own.starts_with("s.toml:1: a scenario has no key"), "{own}");
}

#[test]
fn text_that_is_not_toml_has_a_line() {
    assert!(refusal("fabric = \"f\"\n[[job]\n").starts_with("s.toml:2: expected TOML: "));
    assert!(read_scenario(b"a\n\xff", "s", &[]).unwrap_err().to_string().starts_with("s:2: expected UTF-8"));
}

#[test]
fn lanes_of_service_levels_are_a_list_or_random() {
    let set = |text: &str| overridden(&[&format!("hardware.sl2vl={text}")]);
    let knob = |text: &str| set(text).unwrap().hardware;
    assert_eq!(knob("[0, 14]"), [("sl2vl", Knob::LaneOfLevel(vec![0, 14]))]);
    let random = Knob::RandomLanes { levels: 16, seed: None };
    assert_eq!(knob("{ levels = 16 }"), [("sl2vl", random)]);
    let seeded = Knob::RandomLanes { levels: 2, seed: Some(5) };
    assert_eq!(knob("{ levels = 2, seed = 5 }"), [("sl2vl", seeded)]);
    let scheme = Knob::Lanes("5sl5vl:groups:seed=1".into());
    assert_eq!(knob("\"5sl5vl:groups:seed=1\""), [("sl2vl", scheme)]);
    for bad in
        ["[]", "[15]", "[-1]", "[0.5]", "3", "\"random\"", "[[0]]", &format!("[0{}]", ", 0".repeat(16))]
    {
        let error = set(bad).unwrap_err();
        assert!(error.contains("sl2vl: expected the lane (0 to 14) of each service level"), "{bad}: {error}");
    }
    assert!(set("{}").unwrap_err().contains("expected levels = 8"));
    assert!(set("{ levels = 17 }").unwrap_err().contains("levels: expected a whole number of 1 to 16"));
    assert!(set("{ level = 2 }").unwrap_err().contains("did you mean \"levels\"?"));
    let cable = |text: &str| overridden(&[&format!("hardware.host_cable_delay_ns={text}")]);
    assert_eq!(cable("2.5").unwrap().hardware, [("host_cable_delay_ns", Knob::Time(2_500.0))]);
    assert!(cable("-1").unwrap_err().contains("expected nanoseconds, 0 to 1e9, found -1"));
}

#[test]
fn delays_by_name_are_nanoseconds_each_refused_with_its_line() {
    let of = |lines: &str| refusal(&SMALL.replace("[[job]]", &format!("{lines}\n[[job]]")));
    assert_eq!(
        of("[hardware.switch_delays_ns]\na = 1\nb = -1"),
        "s.toml:4: b: expected nanoseconds, 0 to 1e9, found -1"
    );
    assert_eq!(
        of("[hardware]\ncable_delays_ns = 5"),
        "s.toml:3: cable_delays_ns: expected a table such as { \"a name\" = 1 }, found integer"
    );
}

#[test]
fn jobs_of_a_jobs_file_need_a_fabric_and_take_overrides() {
    let text = b"[[job]]\nname = \"a\"\nmatrix = \"m.mtx\"\ncopies = 2\n";
    assert!(has_jobs_of_jobs_file(text, "j.toml"));
    let read = |text: &[u8], overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        read_jobs_scenario(text, "j.toml", &overrides).map_err(|e| e.to_string())
    };
    let (scenario, jobs) = read(text, &["fabric=cab", "job.a.mapping=random", "hardware.lanes=2"]).unwrap();
    assert_eq!((scenario.fabric.as_str(), scenario.jobs.len(), scenario.hardware.len()), ("cab", 0, 1));
    assert_eq!((&jobs.jobs[0].mapping, jobs.jobs[0].copies), (&Mapping::Random, 2));
    assert_eq!(jobs.line(0, "copies"), Some(4));
    assert!(read(text, &[]).unwrap_err().starts_with("j.toml: a jobs file names no fabric"));
    let refused = read(text, &["fabric=cab", "job.a.start_us=3"]).unwrap_err();
    assert!(refused.starts_with("--set job.a.start_us=3: a job has no key \"start_us\""), "{refused}");
    assert_eq!(
        read(b"fabrik = \"cab\"\n[[job]]\nmatrix = \"m\"\n", &[]).unwrap_err(),
        "j.toml:1: a scenario has no key \"fabrik\", did you mean \"fabric\"?"
    );
    for other in [
        "[[job]]\nprogram = { kind = \"x\" }\nmatrix = \"m\"\n",
        "[[job]]\ntrace = \"t\"\n",
        "job = 3",
        "\u{0}",
        "",
    ] {
        assert!(!has_jobs_of_jobs_file(other.as_bytes(), "j.toml"), "{other}");
    }
}
