//! A fabric with what is derived from it, and scenarios on it.

use netloom_compose::{ComposeError, Routing, Scene, check_sound, optimized, tables};
use netloom_formats::read_scenario;
use netloom_model::{Control, Fabric, Routes};
use netloom_routing::PathSet;
use netloom_sim::{Model, Outcome, simulate};
use netloom_topology::{Structure, detect, generate};

pub struct Net {
    pub fabric: Fabric,
    pub structure: Structure,
    pub paths: PathSet,
}

impl Net {
    pub fn new(spec: &str) -> Self {
        Self::of(generate(spec).unwrap())
    }

    pub fn of(fabric: Fabric) -> Self {
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        Self { fabric, structure, paths }
    }

    pub fn scene(&self, jobs: &str) -> Result<Scene, ComposeError> {
        let text = format!("fabric = \"it\"\nprofile = \"codes\"\n{jobs}");
        let scenario = read_scenario(text.as_bytes(), "s.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        let mut nothing = |_: &'static str, _: &str| Err(std::io::ErrorKind::NotFound.into());
        Scene::new(&self.fabric, scenario, &mut nothing)
    }

    /// A scene every file of which holds `bytes`.
    pub fn scene_with(&self, jobs: &str, bytes: &[u8]) -> Result<Scene, ComposeError> {
        let text = format!("fabric = \"it\"\nprofile = \"codes\"\n{jobs}");
        let scenario = read_scenario(text.as_bytes(), "s.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        Scene::new(&self.fabric, scenario, &mut |_: &'static str, _: &str| {
            Ok(netloom_formats::Found::File(bytes.to_vec()))
        })
    }

    pub fn refusal(&self, jobs: &str) -> String {
        self.scene(jobs).expect_err("it is refused").to_string()
    }

    pub fn tables(&self, scene: &Scene, routing: &Routing) -> Option<Routes> {
        let Net { fabric, structure, paths } = self;
        let mut nothing = |_: &'static str, _: &str| Err(std::io::ErrorKind::NotFound.into());
        let control = Control::new();
        let routes = match routing {
            _ if !routing.has_tables() => return None,
            Routing::Optimized | Routing::OptimizedPhases => {
                optimized(routing, fabric, structure, paths, scene, None, 1, &control)
                    .unwrap()
                    .routes()
                    .clone()
            }
            _ => tables(routing, fabric, structure, scene.scenario.seed, &mut nothing).unwrap(),
        };
        check_sound(fabric, structure, &routes, false).unwrap();
        Some(routes)
    }

    pub fn run(&self, scene: &Scene, routing: &str) -> Outcome {
        let routing = Routing::parse(routing).unwrap();
        let routes = self.tables(scene, &routing);
        let scheme = routing.scheme(routes.as_ref(), || &self.paths, None);
        simulate(scene.setup(&self.fabric, scheme, Model::Packet, 1), &Control::new()).unwrap()
    }

    /// When each job ended, ps.
    pub fn ends(&self, jobs: &str, routing: &str) -> Vec<Option<u64>> {
        let outcome = self.run(&self.scene(jobs).unwrap(), routing);
        outcome.jobs.iter().map(|job| job.times.end_ps()).collect()
    }
}
