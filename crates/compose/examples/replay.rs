//! Replays the recorded traces of examples/data on quartz1: times and the busiest link for block and random placement, with
//! ftree, adaptive and optimised routes. `cargo run --release -p netloom-compose --example replay [infiniband|codes]`.

use netloom_compose::{Routing, Scene, optimized, tables};
use netloom_formats::{Found, read_scenario};
use netloom_model::{Control, Routes};
use netloom_routing::PathSet;
use netloom_sim::{Model, simulate};
use netloom_topology::{detect, generate};

const TRACES: [&str; 5] = ["lulesh-64", "lulesh-512", "nekbone-64", "boxlibmg-64", "snap-168-short"];

fn main() {
    let profile = std::env::args().nth(1).unwrap_or_else(|| "infiniband".into());
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data");
    let fabric = generate("quartz1").expect("a known fabric");
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let control = Control::new();
    println!("{profile}: times in ms");
    println!("trace            placement      messages     ftree  adaptive optimized");
    for trace in TRACES {
        for (placement, lines) in [
            ("block", "allocation = \"contiguous:0\""),
            ("random", "allocation = \"random\"\nmapping = \"random\""),
        ] {
            let text = format!(
                "fabric = \"quartz1\"\nprofile = \"{profile}\"\n[[job]]\ntrace = \"{trace}.ti.gz\"\n{lines}\n"
            );
            let scenario = read_scenario(text.as_bytes(), "replay.toml", &[]).expect("a valid scenario");
            let mut read = |_: &'static str, path: &str| std::fs::read(folder.join(path)).map(Found::File);
            let scene = Scene::new(&fabric, scenario, &mut read).expect("it fits the fabric");
            let (mut times, mut messages) = (Vec::new(), 0);
            for word in ["ftree", "adaptive", "optimized"] {
                let routing = Routing::parse(word).expect("a known routing");
                let routes: Option<Routes> = match &routing {
                    Routing::PerPacket(_) | Routing::Hashed(_) | Routing::Steered(_) => None,
                    Routing::Optimized => {
                        let best =
                            optimized(&routing, &fabric, &structure, &paths, &scene, None, 1, &control);
                        Some(best.expect("routes").routes().clone())
                    }
                    _ => Some(tables(&routing, &fabric, &structure, 1, &mut read).expect("routes")),
                };
                let scheme = routing.scheme(routes.as_ref(), || &paths, None);
                let run = simulate(scene.setup(&fabric, scheme, Model::Packet, 1), &control).expect("a run");
                assert_eq!(run.stuck, Vec::<String>::new());
                messages = run.jobs[0].messages;
                times.push(run.jobs[0].times.end_ps().expect("it ends") as f64 / 1e9);
            }
            println!(
                "{trace:16} {placement:9} {messages:13} {:9.3} {:9.3} {:9.3}",
                times[0], times[1], times[2]
            );
        }
    }
}
