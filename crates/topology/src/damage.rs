//! Damage: cables and switches die. Ids, ports and hashes stay, so routes and traffic still fit.
//!
//! A dead switch is one whose cables are all dead. Random cables are drawn among the alive cables
//! between switches after the named damage is done, then random switches; host cables die only by name or
//! with their switch, or where [`Damage::random_host_links`] asks for it. Equal seeds give equal damage.

use std::collections::{HashMap, HashSet};

use netloom_model::names::nearest;
use netloom_model::{Fabric, LinkId, NodeId, SwitchId, rng};

/// What to break.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Cables by one end: the name of a switch or host, and a port.
    pub links: Vec<(String, u16)>,
    /// Switches by name.
    pub switches: Vec<String>,
    /// How many alive cables between switches die at random.
    pub random_links: usize,
    /// How many switches with an alive cable die at random.
    pub random_switches: usize,
    /// How many alive host cables die at random.
    pub random_host_links: usize,
}

/// A damaged fabric and what was broken.
#[derive(Clone, Debug)]
pub struct Damaged {
    /// The same fabric with more dead links.
    pub fabric: Fabric,
    /// Newly dead cables, each by the smaller of its two link ids, in order (those of switches included).
    pub cables: Vec<LinkId>,
    /// The switches that died, in order.
    pub switches: Vec<SwitchId>,
}

/// Why damage cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DamageError {
    /// A name that no node has.
    #[error("there is no {kind} \"{name}\"{}", nearest.as_ref().map_or(String::new(), |n| format!(" (did you mean \"{n}\"?)")))]
    UnknownName {
        /// "switch" or "switch or host".
        kind: &'static str,
        /// What was given.
        name: String,
        /// The nearest name, if any is near.
        nearest: Option<String>,
    },
    /// A name that several nodes have.
    #[error("\"{name}\" is the name of {count} nodes: expected a name of one")]
    AmbiguousName {
        /// The name.
        name: String,
        /// How many have it.
        count: usize,
    },
    /// A port without a cable.
    #[error("port {port} of \"{name}\" has no cable: expected one of {}", ranges(ports))]
    NoCable {
        /// The node.
        name: String,
        /// The port given.
        port: u16,
        /// The ports with a cable.
        ports: Vec<u16>,
    },
    /// More than there is.
    #[error("{asked} random {what} asked for: expected at most {available}, which is all that is alive")]
    TooMany {
        /// "cables between switches", "switches" or "host cables".
        what: &'static str,
        /// How many were asked for.
        asked: usize,
        /// How many there are.
        available: usize,
    },
}

/// `1..=4, 7`: ports as ranges.
fn ranges(ports: &[u16]) -> String {
    let mut runs: Vec<(u16, u16)> = Vec::new();
    for &p in ports {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == p => *last = p,
            _ => runs.push((p, p)),
        }
    }
    let text = |&(a, b): &(u16, u16)| if a == b { a.to_string() } else { format!("{a} to {b}") };
    runs.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Breaks what `what` names or counts; naming what is dead already is no error.
///
/// # Errors
/// [`DamageError`]: an unknown or ambiguous name (with the nearest), a port without a cable, a count above
/// what is alive. Nothing is broken then.
pub fn damage(fabric: &Fabric, what: &Damage, seed: u64) -> Result<Damaged, DamageError> {
    let names = Names::new(fabric, what);
    let mut alive: Vec<bool> = fabric.links().map(|l| fabric.alive(l)).collect();
    let mut dead_switches: Vec<SwitchId> = Vec::new();
    let kill = |alive: &mut Vec<bool>, link: LinkId| {
        alive[link.index()] = false;
        alive[fabric.reverse(link).index()] = false;
    };

    for (name, port) in &what.links {
        let node = names.find(fabric, name, false)?;
        let mut cabled = fabric.out_links(node);
        let link = cabled.find(|&l| fabric.link_port(l) == *port).ok_or_else(|| DamageError::NoCable {
            name: name.clone(),
            port: *port,
            ports: fabric.out_links(node).map(|l| fabric.link_port(l)).collect(),
        })?;
        kill(&mut alive, link);
    }
    for name in &what.switches {
        let node = names.find(fabric, name, true)?;
        fabric.out_links(node).for_each(|l| kill(&mut alive, l));
        dead_switches.push(SwitchId(node.0 - fabric.host_count() as u32));
    }

    // One stream a kind, so that asking for more of one changes nothing of the others' draws.
    let cables = |alive: &[bool], between: bool| -> Vec<LinkId> {
        let once = |&l: &LinkId| l < fabric.reverse(l) && fabric.between_switches(l) == between;
        fabric.links().filter(once).filter(|l| alive[l.index()]).collect()
    };
    let pool = cables(&alive, true);
    for link in draw(seed, 0, pool, what.random_links, "cables between switches")? {
        kill(&mut alive, link);
    }
    let lives = |s: &SwitchId| fabric.switch_links(*s).any(|l| alive[l.index()]);
    let pool: Vec<SwitchId> = fabric.switches().filter(lives).collect();
    for switch in draw(seed, 1, pool, what.random_switches, "switches")? {
        fabric.switch_links(switch).for_each(|l| kill(&mut alive, l));
        dead_switches.push(switch);
    }
    let pool = cables(&alive, false);
    for link in draw(seed, 2, pool, what.random_host_links, "host cables")? {
        kill(&mut alive, link);
    }

    dead_switches.sort_unstable();
    dead_switches.dedup();
    let newly = |&l: &LinkId| l < fabric.reverse(l) && fabric.alive(l) && !alive[l.index()];
    let cables: Vec<LinkId> = fabric.links().filter(newly).collect();
    Ok(Damaged { fabric: fabric.with_dead(cables.iter().copied()), cables, switches: dead_switches })
}

fn draw<T>(
    seed: u64,
    id: u64,
    mut pool: Vec<T>,
    count: usize,
    what: &'static str,
) -> Result<Vec<T>, DamageError> {
    if count > pool.len() {
        return Err(DamageError::TooMany { what, asked: count, available: pool.len() });
    }
    rng::shuffle(&mut rng::stream(seed, id), &mut pool);
    pool.truncate(count);
    Ok(pool)
}

/// The nodes that have a name which the damage mentions.
struct Names<'a>(HashMap<&'a str, Vec<NodeId>>);

impl<'a> Names<'a> {
    fn new(fabric: &'a Fabric, what: &Damage) -> Self {
        let wanted: HashSet<&str> =
            what.links.iter().map(|(name, _)| name).chain(&what.switches).map(String::as_str).collect();
        let mut nodes: HashMap<&str, Vec<NodeId>> = HashMap::new();
        for node in (0..fabric.node_count()).filter(|_| !wanted.is_empty()).map(NodeId::from_index) {
            let name = fabric.node_name(node);
            if wanted.contains(name) {
                nodes.entry(name).or_default().push(node);
            }
        }
        Self(nodes)
    }

    fn find(&self, fabric: &Fabric, name: &str, switch: bool) -> Result<NodeId, DamageError> {
        let hosts = fabric.host_count();
        let found = self.0.get(name).map_or(&[][..], Vec::as_slice);
        let mut fitting = found.iter().copied().filter(|n| !switch || n.index() >= hosts);
        match (fitting.next(), fitting.count()) {
            (Some(node), 0) => Ok(node),
            (Some(_), more) => Err(DamageError::AmbiguousName { name: name.into(), count: more + 1 }),
            (None, _) => {
                let known = fabric.switches().map(|s| fabric.switch_name(s));
                let near = nearest(name, known).or_else(|| {
                    let hosts = fabric.hosts().filter(|_| !switch).map(|h| fabric.host_name(h));
                    nearest(name, hosts)
                });
                let kind = if switch { "switch" } else { "switch or host" };
                Err(DamageError::UnknownName { kind, name: name.into(), nearest: near.map(Into::into) })
            }
        }
    }
}
