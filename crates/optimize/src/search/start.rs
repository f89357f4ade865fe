//! First routings: today's tables, coloured, greedy.
//!
//! The coloured start (three-level trees without holes). Sort what a leaf sends by size and cut it into
//! tuples of as many items as it has spines; likewise what a leaf receives. Tuples are the vertices of a
//! bipartite graph, items its edges. A proper colouring with that many colours sends exactly one item of
//! every tuple over every link, so up and down sides are balanced at once: colour `i` climbs to spine `i`
//! and comes down by spine `i` of the other pod. The same again between spines with the cores as colours.
//! What two flows to one destination that meet at a core forbid is inserted afterwards, cheapest first.

use netloom_model::rng::Stream;
use netloom_model::{Lft, SwitchId};
use rand_core::Rng;

use crate::search::budget::Budget;
use crate::search::colour::edge_colours;
use crate::search::state::State;
use crate::search::state::slots::NONE;

/// The paths that an admissible table gives; the first item it does not deliver otherwise.
pub(crate) fn from_tables(state: &State, lft: &Lft) -> Result<Vec<u32>, usize> {
    let (view, items) = (state.view, state.items);
    let mut path = vec![NONE; items.len() * view.stride];
    for item in 0..items.len() {
        let g = items.group[item] as usize;
        let (target, address) = (items.target[g], items.address[g]);
        let mut at = items.leaf[item];
        for k in 0..view.stride {
            if at == target {
                break;
            }
            let slot = match lft.get(SwitchId(at), address) {
                Some(port) => view.slot_at(at, port),
                None => NONE,
            };
            if slot == NONE {
                return Err(item);
            }
            path[item * view.stride + k] = slot;
            at = view.to[slot as usize];
        }
        if at != target {
            return Err(item);
        }
    }
    Ok(path)
}

/// Inserts every unplaced item by its lightest path, largest first. False if one has no path, or the
/// budget ended first.
pub(crate) fn insert_rest(state: &mut State, alpha: f64, budget: &Budget) -> bool {
    state.set_alpha(alpha);
    let items = state.items;
    let mut rest: Vec<u32> = (0..items.len() as u32).filter(|&i| !state.placed(i as usize)).collect();
    rest.sort_by(|&a, &b| items.bytes[b as usize].total_cmp(&items.bytes[a as usize]).then(a.cmp(&b)));
    rest.into_iter().all(|item| {
        state.fix(items.group[item as usize] as usize);
        !budget.over(state.work) && state.insert(item as usize)
    })
}

/// Replaces the state by one tree a destination: all of its traffic climbs to one spine of every pod and
/// meets at one core. Where everybody sends to everybody nothing is better. Only on a full layout.
///
/// Consecutive addresses of a leaf take spines in turn; every time round, and from leaf to leaf, the next core.
pub(crate) fn by_destination(state: &mut State) {
    let (view, items) = (state.view, state.items);
    let layout = view.layout.as_ref().filter(|l| l.full).expect("trees need a full layout");
    let mut path = vec![NONE; items.len() * view.stride];
    // Every leaf of a pod starts where the one before ended.
    let hosts = |leaf: u32| view.fabric.hosts_on(SwitchId(leaf));
    let addresses = |leaf: u32| hosts(leaf).len() * items.addresses_a_host;
    let turns = |leaf: u32| addresses(leaf).div_ceil(layout.spines);
    for g in 0..items.groups() {
        let target = items.target[g];
        let b = layout.leaf_place[target as usize] as usize;
        let rank = hosts(target).iter().position(|&h| h == items.host[g]).expect("a host is on its leaf");
        let rank = rank * items.addresses_a_host + items.address[g].index() % items.addresses_a_host;
        let i = rank % layout.spines;
        let core = (b * turns(target) + rank / layout.spines) % layout.cores;
        for item in items.of(g) {
            let a = layout.leaf_place[items.leaf[item] as usize] as usize;
            let (p, q) = (layout.pod[items.leaf[item] as usize], layout.pod[target as usize]);
            let at = &mut path[item * view.stride..];
            at[0] = layout.leaf_up(a, i) as u32;
            if p == q {
                at[1] = layout.leaf_down(b, i) as u32;
            } else {
                at[1] = layout.core_up(p as usize * layout.spines + i, core) as u32;
                at[2] = layout.core_down(q as usize * layout.spines + i, core) as u32;
                at[3] = layout.leaf_down(b, i) as u32;
            }
        }
    }
    state.set_paths(path);
}

/// Replaces the state by a coloured start. Only on a full three-level layout.
pub(crate) fn coloured(state: &mut State, random: &mut Stream, budget: &Budget) -> bool {
    let (view, items) = (state.view, state.items);
    let layout = view.layout.as_ref().filter(|l| l.full).expect("colouring needs a full layout");
    state.work += items.len() as u64 / 4;
    let spine = spines_by_colour(state, random);

    // What items of one destination that climb to one spine become: a flow.
    let mut flows: Vec<Flow> = Vec::new();
    let mut flow_of = vec![NONE; items.len()];
    for g in 0..items.groups() {
        let target_pod = layout.pod[items.target[g] as usize];
        let from = flows.len();
        for item in items.of(g) {
            let pod = layout.pod[items.leaf[item] as usize];
            if pod == target_pod {
                continue;
            }
            let i = u32::from(spine[item]);
            let up = pod * layout.spines as u32 + i;
            let found = flows[from..].iter().position(|f| f.up == up);
            let at = found.map_or(flows.len(), |k| from + k);
            if found.is_none() {
                let down = target_pod * layout.spines as u32 + i;
                flows.push(Flow { group: g as u32, up, down, bytes: 0.0, core: 0, meets: false });
            }
            flows[at].bytes += items.bytes[item];
            flow_of[item] = at as u32;
        }
    }
    cores_by_colour(&mut flows, layout.cores, layout.pods * layout.spines, random);
    settle_meetings(&mut flows, layout.spines, layout.group_spines);

    let mut path = vec![NONE; items.len() * view.stride];
    for item in 0..items.len() {
        let a = layout.leaf_place[items.leaf[item] as usize] as usize;
        let b = layout.leaf_place[items.target_of(item) as usize] as usize;
        let i = usize::from(spine[item]);
        let at = &mut path[item * view.stride..];
        match flow_of[item] {
            NONE => {
                at[0] = layout.leaf_up(a, i) as u32;
                at[1] = layout.leaf_down(b, i) as u32;
            }
            flow => {
                let flow = &flows[flow as usize];
                if !flow.meets {
                    at[0] = layout.leaf_up(a, i) as u32;
                    at[1] = layout.core_up(flow.up as usize, flow.core as usize) as u32;
                    at[2] = layout.core_down(flow.down as usize, flow.core as usize) as u32;
                    at[3] = layout.leaf_down(b, i) as u32;
                }
            }
        }
    }
    state.set_paths(path);
    insert_rest(state, 100.0, budget)
}

struct Flow {
    group: u32,
    /// Spine place (pod and spine) where it climbs, and where it comes down.
    up: u32,
    down: u32,
    bytes: f64,
    core: u32,
    /// Meets a larger flow of its group at its core and would leave it by another link.
    meets: bool,
}

fn spines_by_colour(state: &State, random: &mut Stream) -> Vec<u16> {
    let items = state.items;
    let layout = state.view.layout.as_ref().expect("a layout");
    let place = |leaf: u32| layout.leaf_place[leaf as usize];
    let count = items.len();
    let (left, lefts) = tuples(count, |i| place(items.leaf[i]), |i| items.bytes[i], layout.spines, random);
    let (right, rights) =
        tuples(count, |i| place(items.target_of(i)), |i| items.bytes[i], layout.spines, random);
    let edges: Vec<(u32, u32)> = left.into_iter().zip(right).collect();
    edge_colours(&edges, lefts, rights, layout.spines, random)
}

fn cores_by_colour(flows: &mut [Flow], cores: usize, places: usize, random: &mut Stream) {
    let count = flows.len();
    debug_assert!(flows.iter().all(|f| (f.up.max(f.down) as usize) < places));
    let (left, lefts) = tuples(count, |i| flows[i].up, |i| flows[i].bytes, cores, random);
    let (right, rights) = tuples(count, |i| flows[i].down, |i| flows[i].bytes, cores, random);
    let edges: Vec<(u32, u32)> = left.into_iter().zip(right).collect();
    let colours = edge_colours(&edges, lefts, rights, cores, random);
    for (flow, colour) in flows.iter_mut().zip(colours) {
        flow.core = u32::from(colour);
    }
}

/// At every core the largest flow of a group stays; those that would leave by another link are marked.
fn settle_meetings(flows: &mut [Flow], spines: usize, group_spines: usize) {
    let mut at = 0;
    let mut order: Vec<usize> = Vec::new();
    while at < flows.len() {
        let end = at + flows[at..].iter().take_while(|f| f.group == flows[at].group).count();
        order.clear();
        order.extend(at..end);
        let core = |f: &Flow| (f.up as usize % spines / group_spines, f.core);
        order.sort_by(|&x, &y| {
            let (x, y) = (&flows[x], &flows[y]);
            core(x).cmp(&core(y)).then(y.bytes.total_cmp(&x.bytes)).then(x.up.cmp(&y.up))
        });
        let mut leader: Option<((usize, u32), u32)> = None;
        for &i in &order {
            match leader {
                Some((at, down)) if at == core(&flows[i]) => flows[i].meets = flows[i].down != down,
                _ => leader = Some((core(&flows[i]), flows[i].down)),
            }
        }
        at = end;
    }
}

/// Vertices of the tuple graph: the elements at each place by falling size (ties at random), cut into
/// tuples of `k`. Returns the vertex of every element, and the number of vertices.
fn tuples(
    count: usize,
    place: impl Fn(usize) -> u32,
    bytes: impl Fn(usize) -> f64,
    k: usize,
    random: &mut Stream,
) -> (Vec<u32>, usize) {
    let tie: Vec<u32> = (0..count).map(|_| random.next_u32()).collect();
    let mut order: Vec<u32> = (0..count as u32).collect();
    order.sort_unstable_by(|&x, &y| {
        let (a, b) = (x as usize, y as usize);
        place(a)
            .cmp(&place(b))
            .then_with(|| bytes(b).total_cmp(&bytes(a)))
            .then_with(|| (tie[a], x).cmp(&(tie[b], y)))
    });
    let mut vertex = vec![0u32; count];
    let (mut last, mut filled, mut next) = (NONE, 0, 0u32);
    for &e in &order {
        let p = place(e as usize);
        if p != last || filled == k {
            (last, filled) = (p, 0);
            next += 1;
        }
        vertex[e as usize] = next - 1;
        filled += 1;
    }
    (vertex, next as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_model::rng::stream;

    #[test]
    fn tuples_hold_items_of_like_size() {
        // One place, sizes 5 1 4 2 3 0: tuples of two are {5,4}, {3,2}, {1,0}.
        let bytes = [5.0, 1.0, 4.0, 2.0, 3.0, 0.0];
        let (vertex, n) = tuples(6, |_| 0, |i| bytes[i], 2, &mut stream(1, 1));
        assert_eq!((vertex, n), (vec![0, 2, 0, 1, 1, 2], 3));
    }

    #[test]
    fn the_larger_of_two_flows_that_meet_stays() {
        // One pod side of 2 spines in 1 group; both flows of group 0 use core 1 and come down by spines 0, 1.
        let flow = |up, down, bytes| Flow { group: 0, up, down, bytes, core: 1, meets: false };
        let mut flows = [flow(0, 4, 1.0), flow(3, 5, 2.0)];
        settle_meetings(&mut flows, 2, 2);
        assert_eq!(flows.map(|f| f.meets), [true, false]);
    }
}
