//! What the tests share: a fabric ready for a search, what must hold of every result, and all tables of a small fabric.

use netloom_model::{Control, Csr, Fabric, HostId, LinkId, Routes, SwitchId};
use netloom_optimize::{Layer, OptimizeError, OptimizeOptions, Optimized, optimize};
use netloom_routing::{Engine, EngineOptions, PathSet, loads, route};
use netloom_topology::{Structure, detect, generate};

/// A fabric and what every search on it needs.
pub struct Case {
    pub fabric: Fabric,
    pub structure: Structure,
    pub paths: PathSet,
}

impl Case {
    pub fn new(fabric: Fabric) -> Self {
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        Self { fabric, structure, paths }
    }

    pub fn generated(spec: &str) -> Self {
        Self::new(generate(spec).unwrap())
    }

    pub fn routes(&self, engine: Engine) -> Routes {
        self.routes_with(engine, 3, 0)
    }

    pub fn routes_with(&self, engine: Engine, seed: u64, lmc: u8) -> Routes {
        route(engine, &self.fabric, &self.structure, &EngineOptions { seed, lmc }).unwrap()
    }

    pub fn optimize(&self, traffic: &Csr, background: &Routes, work: u64) -> Optimized {
        let options = OptimizeOptions { seed: 1, work: Some(work), tail: true, ..OptimizeOptions::default() };
        self.optimize_with(traffic, background, &options, &Control::new()).unwrap()
    }

    pub fn optimize_with(
        &self,
        traffic: &Csr,
        background: &Routes,
        options: &OptimizeOptions,
        control: &Control,
    ) -> Result<Optimized, OptimizeError> {
        optimize(&self.fabric, &self.structure, &self.paths, traffic, background, options, control)
    }

    /// Largest load between switches, by the routing crate's arithmetic.
    pub fn switch_max(&self, routes: &Routes, traffic: &Csr) -> f64 {
        loads(&self.fabric, routes, traffic).unwrap().max_between_switches(&self.fabric)
    }

    /// Everything that must hold of any result.
    pub fn assert_sound(&self, traffic: &Csr, background: &Routes, result: &Optimized) {
        let load = loads(&self.fabric, &result.routes, traffic).unwrap().load;
        assert_eq!(load, result.loads.load, "what is reported is what the tables do, to the last bit");
        let max = load.iter().copied().fold(0.0, f64::max);
        assert!(max >= result.bound.claim * (1.0 - 1e-9), "{max} is below the bound {}", result.bound.claim);
        assert_eq!(result.proven_optimal, max <= result.bound.claim * (1.0 + 1e-9));
        assert!(result.switch_max_load >= result.switch_bound * (1.0 - 1e-9));
        let start = self.switch_max(background, traffic);
        assert!(result.switch_max_load <= start * (1.0 + 1e-9), "{} from {start}", result.switch_max_load);
        self.assert_admissible(&result.routes);
    }

    /// Every entry towards a host is admissible, none is missing where there is a way.
    pub fn assert_admissible(&self, routes: &Routes) {
        let (lft, space) = (routes.lft().unwrap(), routes.dests(&self.fabric));
        for switch in self.fabric.switches() {
            for host in self.fabric.hosts() {
                let leaf = self.fabric.leaf(host);
                let links = self.paths.links(switch, leaf);
                for path in 0..1 << routes.lmc {
                    let port = lft.get(switch, space.host(host, path));
                    if switch == leaf {
                        let back = self.fabric.reverse(self.fabric.host_link(host));
                        assert_eq!(port, self.fabric.alive(back).then(|| self.fabric.link_port(back)));
                    } else {
                        let link = port.and_then(|p| self.fabric.link_at(switch, p));
                        assert_eq!(link.is_none(), links.is_empty());
                        assert!(link.is_none_or(|l| links.contains(&l)));
                    }
                }
            }
        }
    }
}

/// Layers of equal weight.
pub fn layers(matrices: &[Csr]) -> Vec<Layer<'_>> {
    matrices.iter().map(|matrix| Layer { name: "phase".into(), matrix, weight: 1.0 }).collect()
}

/// For every destination all ways, as bytes per link, that what other leaves send to it can take; `None` if one has more
/// than `most` or together they make more than `most_tables`.
pub fn all_ways(case: &Case, traffic: &Csr, most: usize, most_tables: f64) -> Option<Vec<Vec<Vec<f64>>>> {
    let fabric = &case.fabric;
    let mut all = Vec::new();
    let mut tables = 1.0;
    for d in fabric.hosts() {
        let senders: Vec<(SwitchId, f64)> = (traffic.iter())
            .filter(|&(i, j, _)| j == d.0 && fabric.leaf(HostId(i)) != fabric.leaf(d))
            .map(|(i, _, b)| (fabric.leaf(HostId(i)), b))
            .collect();
        let mut ways = Vec::new();
        ways_to(case, fabric.leaf(d), &senders, &mut vec![None; fabric.switch_count()], most, &mut ways);
        tables *= ways.len() as f64;
        if ways.len() > most || tables > most_tables {
            return None;
        }
        all.push(ways);
    }
    Some(all)
}

fn ways_to(
    case: &Case,
    leaf: SwitchId,
    senders: &[(SwitchId, f64)],
    table: &mut Vec<Option<LinkId>>,
    most: usize,
    ways: &mut Vec<Vec<f64>>,
) {
    if ways.len() > most {
        return;
    }
    // Walk every sender; branch at the first switch without an entry.
    let mut way = vec![0.0; case.fabric.link_count()];
    for &(from, bytes) in senders {
        let mut at = from;
        while at != leaf {
            let Some(link) = table[at.index()] else {
                for &link in case.paths.links(at, leaf) {
                    table[at.index()] = Some(link);
                    ways_to(case, leaf, senders, table, most, ways);
                }
                table[at.index()] = None;
                return;
            };
            way[link.index()] += bytes;
            at = case.fabric.link_to_switch(link).unwrap();
        }
    }
    ways.push(way);
}
