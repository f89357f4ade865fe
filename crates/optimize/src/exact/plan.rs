//! Models that are solved one after the other, each made from the answers to those before.
//!
//! A [`Plan`] hands out [`Step`]s of independent models and takes their answers back; between steps it keeps, for every
//! hop of the fabric's own instance, whether it is still open. Who solves, and how long, is not its business. Whatever
//! is answered, and even if nothing is, a complete routing comes out: what no answer decided follows the routing that
//! the plan started from.
//!
//! | plan | steps |
//! |---|---|
//! | partitioned | core groups (eqs 3.3.5–3.3.7); up level by level ([`climb`](super::climb)); then all the way down |
//! | multilevel | from the coarsest picture to the fabric: within what the coarser answer allows, then free |
//!
//! Sources: dissertation, Algorithm 7 and sec. 3.3.3; sec. 3.3.4 ("Multi-level").

use std::collections::BTreeMap;
use std::sync::Arc;

use netloom_model::Fabric;
use netloom_topology::Structure;

use crate::exact::instance::{Choice, Instance, NONE};
use crate::exact::model::{Model, Name, Objective, Var};
use crate::exact::objective::{Goal, max_load};
use crate::exact::{basic, climb, coarse};

/// Models that may be solved at once.
#[derive(Clone, Debug)]
pub struct Step {
    /// For messages.
    pub name: String,
    /// The models.
    pub models: Vec<Model>,
    /// A value for every column to start each model from, where one is known.
    pub starts: Vec<Option<Vec<f64>>>,
}

/// What is asked next.
#[derive(Clone, Debug)]
enum Ask {
    /// Core groups, on the coarse instance; the image of every hop in it.
    Groups(Vec<u32>),
    /// A climb from a level: the reduced instance's hops, by their numbers in the fabric's own instance.
    Climb(u16, Vec<u32>),
    /// Everything that is still open, likewise.
    Rest(Vec<u32>),
    /// A picture of the fabric (how often merged) and whether hops are limited to the coarser answer.
    Picture { depth: usize, limited: bool, image: Vec<u32> },
}

/// A sequence of models. See the module.
#[derive(Debug)]
pub struct Plan {
    fabric: Fabric,
    structure: Structure,
    root: Arc<Instance>,
    least: f64,
    /// Hops that are still open.
    open: Vec<bool>,
    choice: Choice,
    todo: Vec<Ask>,
}

impl Plan {
    /// Partitioned Binary. `start` decides what no answer decides.
    pub fn partitioned(
        fabric: &Fabric,
        structure: &Structure,
        root: &Arc<Instance>,
        start: Choice,
        least: f64,
    ) -> Self {
        let mut todo = vec![Ask::Rest(Vec::new())];
        todo.extend(
            (0..structure.ranks().saturating_sub(1)).rev().map(|level| Ask::Climb(level, Vec::new())),
        );
        todo.push(Ask::Groups(Vec::new()));
        Self::new(fabric, structure, root, start, least, todo)
    }

    /// Multi-level. `start` decides what no answer decides.
    pub fn multilevel(
        fabric: &Fabric,
        structure: &Structure,
        root: &Arc<Instance>,
        start: Choice,
        least: f64,
    ) -> Self {
        let mut depth = 0;
        while picture(fabric, structure, depth) != picture(fabric, structure, depth + 1) {
            depth += 1;
        }
        let mut todo = Vec::new();
        for at in 0..=depth {
            todo.push(Ask::Picture { depth: at, limited: false, image: Vec::new() });
            if at < depth {
                todo.push(Ask::Picture { depth: at, limited: true, image: Vec::new() });
            }
        }
        Self::new(fabric, structure, root, start, least, todo)
    }

    fn new(
        fabric: &Fabric,
        structure: &Structure,
        root: &Arc<Instance>,
        start: Choice,
        least: f64,
        todo: Vec<Ask>,
    ) -> Self {
        let open = vec![true; root.hops.len()];
        let (fabric, structure) = (fabric.clone(), structure.clone());
        Self { fabric, structure, root: Arc::clone(root), least, open, choice: start, todo }
    }

    /// The next step with anything to decide; `None` at the end.
    pub fn step(&mut self) -> Option<Step> {
        while let Some(ask) = self.todo.pop() {
            let (ask, step) = match ask {
                Ask::Groups(_) => self.groups(),
                Ask::Climb(level, _) => self.climb(level),
                Ask::Rest(_) => self.rest(),
                Ask::Picture { depth, limited, .. } => self.picture(depth, limited),
            };
            let choices = |m: &Model| m.columns.iter().any(|c| matches!(c.what, Var::Choice(_)));
            if step.models.iter().any(choices) {
                self.todo.push(ask);
                return Some(step);
            }
        }
        None
    }

    /// Takes the answers to the last step: a solution a model, in its order, or `None` where there is none.
    pub fn answer(&mut self, models: &[&Model], solutions: &[Option<Vec<f64>>]) {
        let Some(ask) = self.todo.pop() else { return };
        for (&model, solution) in models.iter().zip(solutions) {
            let Some(solution) = solution else {
                // The steps after a climb rest on what arrives.
                if let Ask::Climb(_, old) = &ask {
                    asked(model).iter().for_each(|&n| {
                        let first = model.instance.nodes[n as usize].first;
                        let tail = self.root.hops[old[first as usize] as usize].tail;
                        self.decide(self.chosen(tail as usize));
                    });
                }
                continue;
            };
            let choice = model.read(solution);
            match &ask {
                Ask::Groups(image) => self.keep_images(&model.instance, &choice, image),
                Ask::Climb(_, old) => {
                    asked(model).iter().for_each(|&n| self.decide(old[choice[n as usize] as usize]));
                }
                Ask::Rest(old) => choice.iter().for_each(|&hop| self.decide(old[hop as usize])),
                Ask::Picture { image, .. } => {
                    self.open.fill(true);
                    self.keep_images(&model.instance, &choice, image);
                }
            }
        }
    }

    /// The routing that the answers give, on the fabric's own instance.
    pub fn choice(&self) -> Choice {
        (0..self.root.nodes.len()).map(|n| self.chosen(n)).collect()
    }

    /// What a node does: what the start did if that is still open, else the first open hop.
    fn chosen(&self, node: usize) -> u32 {
        let wish = self.choice[node];
        if self.open[wish as usize] {
            return wish;
        }
        self.root.of(node).find(|&k| self.open[k]).expect("a node keeps a hop") as u32
    }

    fn decide(&mut self, hop: u32) {
        let tail = self.root.hops[hop as usize].tail as usize;
        for k in self.root.of(tail) {
            self.open[k] = k == hop as usize;
        }
        self.choice[tail] = hop;
    }

    /// Closes hops whose image was not chosen, where a node keeps another.
    fn keep_images(&mut self, coarse: &Instance, choice: &Choice, image: &[u32]) {
        for n in 0..self.root.nodes.len() {
            let taken = |k: usize| {
                let of = image[k];
                of != NONE && choice[coarse.hops[of as usize].tail as usize] == of
            };
            if self.root.of(n).any(|k| self.open[k] && taken(k)) {
                for k in self.root.of(n) {
                    self.open[k] &= taken(k);
                }
            }
        }
    }

    fn groups(&self) -> (Ask, Step) {
        let (instance, image) = self.root.merged(&coarse::whole(&self.fabric, &self.structure));
        let instance = Arc::new(instance);
        let mut model = Model::new(&instance, "core-groups");
        let flows = basic::flows(&mut model, false);
        max_load(&mut model, flows, 0.0);
        balance(&mut model);
        let start = model.start(&self.image_choice(&instance, &image), 0.0);
        (Ask::Groups(image), Step { name: "core groups".into(), models: vec![model], starts: vec![start] })
    }

    fn climb(&self, level: u16) -> (Ask, Step) {
        let (instance, old) = self.root.only(&self.open);
        let instance = Arc::new(instance);
        let parts = climb::parts(&instance, &self.structure, level);
        let models: Vec<Model> =
            parts.iter().map(|part| climb::climb(&instance, &self.structure, level, part)).collect();
        let starts = vec![None; models.len()];
        (Ask::Climb(level, old), Step { name: format!("up from level {level}"), models, starts })
    }

    fn rest(&self) -> (Ask, Step) {
        let (instance, old) = self.root.only(&self.open);
        let instance = Arc::new(instance);
        let model = Model { kind: "core-down", ..basic::basic(&instance, self.goal(), false) };
        let choice = self.choice();
        let own = |n: usize| {
            let taken = |k: &usize| choice[self.root.hops[old[*k] as usize].tail as usize] == old[*k];
            let found = instance.of(n).find(taken);
            found.unwrap_or(instance.nodes[n].first as usize) as u32
        };
        let start = model.start(&(0..instance.nodes.len()).map(own).collect(), 0.0);
        (Ask::Rest(old), Step { name: "down".into(), models: vec![model], starts: vec![start] })
    }

    fn picture(&self, depth: usize, limited: bool) -> (Ask, Step) {
        let (instance, image) = if depth > 0 {
            self.root.merged(&picture(&self.fabric, &self.structure, depth))
        } else {
            // Merging nothing would still merge cables between two switches.
            (Instance::clone(&self.root), (0..self.root.hops.len() as u32).collect())
        };
        let start = self.image_choice(&instance, &image);
        let (instance, image, start) = if limited {
            // A hop of the picture is open if any of its hops in the fabric is.
            let mut keep = vec![false; instance.hops.len()];
            (0..image.len()).filter(|&k| self.open[k]).for_each(|k| keep[image[k] as usize] = true);
            let (fewer, old) = instance.only(&keep);
            let mut new = vec![NONE; instance.hops.len()];
            (0..).zip(&old).for_each(|(k, &o): (u32, &u32)| new[o as usize] = k);
            let image: Vec<u32> = image.iter().map(|&k| new[k as usize]).collect();
            let start: Choice = (0..fewer.nodes.len())
                .map(|n| {
                    let taken = |k: &usize| start[instance.hops[old[*k] as usize].tail as usize] == old[*k];
                    let wish = fewer.of(n).find(taken);
                    wish.unwrap_or(fewer.nodes[n].first as usize) as u32
                })
                .collect();
            (fewer, image, start)
        } else {
            (instance, image, start)
        };
        let instance = Arc::new(instance);
        let model = Model { kind: "multilevel", ..basic::basic(&instance, self.goal(), false) };
        let start = model.start(&start, 0.0);
        let name = format!("merged {depth} times{}", if limited { ", as before the last" } else { "" });
        (Ask::Picture { depth, limited, image }, Step { name, models: vec![model], starts: vec![start] })
    }

    fn goal(&self) -> Goal {
        Goal::MaxLoad { least: self.least }
    }

    /// The routing so far, in a merged instance: of a class, what its lowest member does.
    fn image_choice(&self, merged: &Instance, image: &[u32]) -> Choice {
        let mut choice: Choice = merged.nodes.iter().map(|n| n.first).collect();
        for n in (0..self.root.nodes.len()).rev() {
            let hop = image[self.chosen(n) as usize];
            choice[merged.hops[hop as usize].tail as usize] = hop;
        }
        choice
    }
}

/// The nodes that a model decides.
fn asked(model: &Model) -> Vec<u32> {
    let tails = model.columns.iter().filter_map(|c| match c.what {
        Var::Choice(k) => Some(model.instance.hops[k as usize].tail),
        _ => None,
    });
    let mut nodes: Vec<u32> = tails.collect();
    nodes.dedup();
    nodes
}

/// The classes after `depth` rounds of merging pairs.
fn picture(fabric: &Fabric, structure: &Structure, depth: usize) -> Vec<u32> {
    (0..depth).fold(coarse::alone(fabric), |class, _| coarse::pairs(fabric, structure, &class))
}

/// Eq. 3.3.7: the largest share of a leaf's traffic that one of its (merged) links carries, as second objective.
fn balance(model: &mut Model) {
    let inst = Arc::clone(&model.instance);
    let mut of_leaf: BTreeMap<u32, (f64, BTreeMap<u32, Vec<u32>>)> = BTreeMap::new();
    for item in inst.items() {
        let sums = of_leaf.entry(inst.nodes[item].switch).or_default();
        sums.0 += inst.nodes[item].inject;
        for k in inst.of(item) {
            sums.1.entry(inst.hops[k].link).or_default().push(k as u32);
        }
    }
    // Flows are the model's first columns, in the order of the hops.
    let share = model.amount(Var::Imbalance);
    for (leaf, (sum, links)) in of_leaf.into_iter().filter(|(_, (_, links))| links.len() > 1) {
        for (link, hops) in links {
            let name = Name("share_s#_p#", [leaf, u32::from(inst.links[link as usize].port), 0]);
            let terms = hops.into_iter().map(|k| (k, 1.0)).chain([(share, -sum)]);
            model.at_most(name, 0.0, terms);
        }
    }
    model.objectives.push(Objective { name: "imbalance", terms: vec![(share, 1.0)] });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::cases::{instance, two_pods};
    use crate::exact::model::tests::obeys;

    /// Both hosts of leaf 0 send 1 to both hosts of leaf 2, in the other pod.
    const FOUR: [(u32, u32, f64); 4] = [(0, 4, 1.0), (1, 5, 1.0), (2, 6, 1.0), (3, 7, 1.0)];

    fn of(step: &Step) -> Vec<&Model> {
        step.models.iter().collect()
    }

    #[test]
    fn unanswered_plans_end_in_the_routing_they_started_from() {
        let ((fabric, structure), inst) = instance(&two_pods(), &FOUR);
        let inst = Arc::new(inst);
        let start: Choice = inst.nodes.iter().map(|n| n.end - 1).collect();
        for plan in [Plan::partitioned, Plan::multilevel] {
            let mut plan = plan(&fabric, &structure, &inst, start.clone(), 0.0);
            let mut names = Vec::new();
            while let Some(step) = plan.step() {
                plan.answer(&of(&step), &vec![None; step.models.len()]);
                names.push(step.name);
            }
            assert!(names.len() > 1, "{names:?}");
            assert_eq!(plan.choice(), start, "{names:?}");
        }
    }

    #[test]
    fn partitioned_asks_for_one_pod_at_a_time_on_the_way_up() {
        let ((fabric, structure), inst) = instance(&two_pods(), &FOUR);
        let inst = Arc::new(inst);
        let start: Choice = inst.nodes.iter().map(|n| n.first).collect();
        let mut plan = Plan::partitioned(&fabric, &structure, &inst, start, 0.0);
        // One core group: nothing to decide there. Only pod 0 sends: one part.
        let step = plan.step().unwrap();
        assert_eq!((step.name.as_str(), step.models.len()), ("up from level 0", 1));
        let model = &step.models[0];
        // Four destinations with two spines each, maxval, 4 maxperdestlid; no traffic stays in the pod.
        assert_eq!(model.columns.len(), 4 * 2 + 1 + 4);
        assert_eq!(
            model.objectives.iter().map(|o| o.name).collect::<Vec<_>>(),
            ["max_load", "per_leaf", "per_host"]
        );
        // Each leaf's first destination over the first spine, its second over the second.
        let mut solution = vec![0.0; model.columns.len()];
        let inst = &model.instance;
        let mut turn = vec![0; structure.level.len()];
        for n in inst.items() {
            let pick = &mut turn[inst.nodes[n].switch as usize];
            let hop = inst.nodes[n].first + *pick;
            *pick += 1;
            let at = model.columns.iter().position(|c| c.what == Var::Choice(hop)).unwrap();
            solution[at] = 1.0;
        }
        plan.answer(&of(&step), &[Some(solution)]);
        let step = plan.step().unwrap();
        assert_eq!(step.name, "up from level 1");
        // What arrived at a spine is known: each has two destinations, each with two cores.
        let binaries = step.models.iter().flat_map(|m| &m.columns).filter(|c| c.integer).count();
        assert_eq!(binaries, 2 * 2 * 2);
        assert!(step.models[0].objectives.iter().map(|o| o.name).eq(["max_load", "per_host", "per_pod"]));
        plan.answer(&of(&step), &vec![None; step.models.len()]);
        let step = plan.step().unwrap();
        assert_eq!(step.name, "down");
        let start = step.starts[0].as_ref().unwrap();
        assert!(obeys(&step.models[0], start));
        plan.answer(&of(&step), &[Some(start.clone())]);
        assert!(plan.step().is_none());
        assert!(plan.choice().len() == plan.root.nodes.len());
    }

    /// The last step took the two cables between leaf and spine for one of twice the capacity: its bound was half of the
    /// optimum and its answer said nothing of them.
    #[test]
    fn multilevel_ends_with_every_cable_on_its_own() {
        let fabric = netloom_topology::generate("two-level:leaves=2,hosts=2,spines=1,cables=2").unwrap();
        let ((fabric, structure), inst) = instance(&fabric, &[(0, 2, 1.0), (1, 3, 1.0)]);
        let inst = Arc::new(inst);
        let start: Choice = inst.nodes.iter().map(|n| n.first).collect();
        let mut plan = Plan::multilevel(&fabric, &structure, &inst, start, 0.0);
        let mut last = None;
        while let Some(step) = plan.step() {
            plan.answer(&of(&step), &[None]);
            last = Some(step);
        }
        let last = last.unwrap();
        assert_eq!(last.name, "merged 0 times");
        // Two items, two ways up and two down each; both cables of both leaves, both ways.
        let of_last = &last.models[0].instance;
        assert_eq!((of_last.hops.len(), of_last.links.len()), (inst.hops.len(), inst.links.len()));
        assert_eq!(of_last.hops.len(), 8);
    }

    #[test]
    fn multilevel_goes_from_coarse_to_fine_and_keeps_to_the_answer() {
        let ((fabric, structure), inst) = instance(&two_pods(), &FOUR);
        let inst = Arc::new(inst);
        let start: Choice = inst.nodes.iter().map(|n| n.end - 1).collect();
        let mut plan = Plan::multilevel(&fabric, &structure, &inst, start, 0.0);
        // Merged once there is one spine a pod and one core: no choice, so no step.
        let limited = plan.step().unwrap();
        assert_eq!(limited.name, "merged 0 times, as before the last");
        let first: Choice = limited.models[0].instance.nodes.iter().map(|n| n.first).collect();
        let solution = limited.models[0].start(&first, 0.0).unwrap();
        plan.answer(&of(&limited), &[Some(solution)]);
        let free = plan.step().unwrap();
        assert_eq!(free.name, "merged 0 times");
        let start = free.starts[0].as_ref().unwrap();
        assert!(obeys(&free.models[0], start));
        plan.answer(&of(&free), &[None]);
        assert!(plan.step().is_none());
        assert_eq!(plan.choice(), first, "the free step had no answer: the limited one counts");
    }
}
