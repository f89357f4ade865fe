//! Coordinates of a HyperX, a torus or a mesh, found from its cables alone.
//!
//! In a product of lines, two neighbours of a switch that lie in different dimensions have exactly one other common
//! neighbour: the fourth corner of a *square*. Neighbours in one clique are joined themselves; neighbours in one ring
//! or path have none. So: cables of a triangle are of one dimension, opposite sides of a square are of one, and two
//! cables that meet without a square are of one, where half of those that are parallel to them say the same (a missing
//! cable takes squares away). With the dimension of every cable known, the coordinate in one dimension is the piece that all
//! other dimensions' cables join.
//!
//! None of this is believed: what is found is a lattice only if coordinates name every switch once, every cable joins
//! two switches that differ in one coordinate, the places of a dimension are joined as a clique, a ring or a path, and
//! at most [`MISSING_PERCENT`] of the neighbours have no cable. Dead cables count, as they do for groups.
//!
//! A product has one factorisation, so what is found is the fabric's only shape. A ring of three is a clique, and a
//! ring of four is a square of two by two: a torus of 4 x 5 is one of 2 x 2 x 5. Groups of a dragonfly that are joined
//! place by place are a HyperX of two dimensions: `detect` calls them groups where cables between them are more.
//! Source: T. Feder, "Product graph representations", J. Graph Theory 16 (1992), for squares that tell the factors of a
//! Cartesian product; votes for what is missing are ours.

use std::collections::{BTreeMap, HashMap};

use netloom_model::{Fabric, LinkId, SwitchId};

use crate::generate::Line;
use crate::graph::Sets;

/// Pairs of neighbours, in hundredths, that may lack a cable.
const MISSING_PERCENT: usize = 5;

/// Lines of a switch, at most: two directions of as many dimensions as a generator makes.
const MOST_LINES: usize = 32;

/// A dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Places.
    pub size: u32,
    /// How they are joined: a clique where there are two or three.
    pub line: Line,
    /// Fewest and most working cables of two neighbours.
    pub cables: (u32, u32),
}

/// The coordinates of a product of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coordinates {
    /// Dimensions, in the order of the ports that lead along them from the first switch.
    pub dimensions: Vec<Dimension>,
    /// What is not as in a whole one, in sentences.
    pub deviations: Vec<String>,
    /// `[switch][dimension]`.
    at: Vec<u32>,
    /// `[number by coordinates]`, the last dimension counting fastest.
    switch: Vec<SwitchId>,
}

impl Coordinates {
    /// Its name in results: `fullmesh`, `hyperx`, `torus`, `mesh`, or `lattice` where dimensions are of several kinds.
    pub fn name(&self) -> &'static str {
        let all = |fits: fn(&Dimension) -> bool| self.dimensions.iter().all(fits);
        match self.dimensions.len() {
            _ if all(|d| d.line == Line::Clique) => match self.dimensions.len() {
                1 => "fullmesh",
                _ => "hyperx",
            },
            // A ring of three is a clique.
            _ if all(|d| d.line == Line::Ring || (d.line == Line::Clique && d.size <= 3)) => "torus",
            _ if all(|d| d.line == Line::Path || d.size == 2) => "mesh",
            _ => "lattice",
        }
    }

    /// Whether it could be meant as groups: cliques of two dimensions, with more cables side by side in one of them.
    pub(crate) fn may_be_groups(&self) -> bool {
        match self.dimensions[..] {
            [a, b] => a.line == Line::Clique && b.line == Line::Clique && a.cables.1 != b.cables.1,
            _ => false,
        }
    }

    /// The coordinates of a switch.
    #[inline]
    pub fn of(&self, s: SwitchId) -> &[u32] {
        let d = self.dimensions.len();
        &self.at[s.index() * d..][..d]
    }

    /// The switch that differs from another one in one coordinate.
    pub fn moved(&self, s: SwitchId, dimension: usize, place: u32) -> SwitchId {
        let other = |(d, (&at, dim)): (usize, (&u32, &Dimension))| {
            let place = if d == dimension { place } else { at };
            (place as usize, dim.size as usize)
        };
        let places = self.of(s).iter().zip(&self.dimensions).enumerate().map(other);
        self.switch[places.fold(0, |number, (place, size)| number * size + place)]
    }
}

/// The coordinates of a fabric, `None` if it is no lattice; two switches are two levels.
pub fn coordinates(fabric: &Fabric) -> Option<Coordinates> {
    let graph = Cables::new(fabric)?;
    let dimension = graph.dimensions()?;
    graph.describe(fabric, &dimension)
}

/// Pairs of switches that are cabled, dead cables too.
struct Cables {
    /// By switch: neighbours in order, each with the number of the pair.
    near: Vec<Vec<(u32, u32)>>,
    /// The two ends of every pair.
    ends: Vec<(u32, u32)>,
}

impl Cables {
    fn new(fabric: &Fabric) -> Option<Self> {
        let mut near: Vec<Vec<(u32, u32)>> = vec![Vec::new(); fabric.switch_count()];
        let mut ends = Vec::new();
        for s in fabric.switches() {
            let links = fabric.switch_links(s).filter_map(|l| fabric.link_to_switch(l));
            let mut others: Vec<u32> = links.filter(|&t| t > s).map(|t| t.0).collect();
            others.sort_unstable();
            others.dedup();
            for t in others {
                let number = ends.len() as u32;
                near[s.index()].push((t, number));
                near[t as usize].push((s.0, number));
                ends.push((s.0, t));
            }
        }
        near.iter_mut().for_each(|list| list.sort_unstable());
        (near.len() > 2 && near.iter().all(|list| !list.is_empty())).then_some(Self { near, ends })
    }

    fn pair(&self, s: u32, t: u32) -> Option<u32> {
        let near = &self.near[s as usize];
        near.binary_search_by_key(&t, |&(other, _)| other).ok().map(|at| near[at].1)
    }

    /// By pair: its dimension, numbered from 0; `None` if there are too many to be one of a lattice.
    fn dimensions(&self) -> Option<Vec<u32>> {
        let switches = self.near.len();
        if self.near.iter().all(|near| near.len() == switches - 1) {
            return Some(vec![0; self.ends.len()]);
        }
        let mut sets = Sets::new(self.ends.len());
        self.join_triangles(&mut sets);
        // At a switch: one cable of each line that meets there.
        let mut lines: Vec<Vec<(u32, u32)>> = Vec::with_capacity(switches);
        for near in &self.near {
            let mut of_line: Vec<(usize, (u32, u32))> = Vec::new();
            for &(t, pair) in near {
                let line = sets.find(pair as usize);
                if !of_line.iter().any(|&(other, _)| other == line) {
                    of_line.push((line, (t, pair)));
                }
                if of_line.len() > MOST_LINES {
                    return None;
                }
            }
            lines.push(of_line.into_iter().map(|(_, one)| one).collect());
        }
        // Pairs that meet at a switch, and whether they are sides of a square.
        let mut meetings: Vec<(u32, u32, bool)> = Vec::new();
        for (x, lines) in lines.iter().enumerate() {
            for (i, &(y, xy)) in lines.iter().enumerate() {
                for &(z, xz) in &lines[i + 1..] {
                    let corner = self.corner(x as u32, y, z);
                    meetings.push((xy, xz, corner.is_some()));
                    if let Some(w) = corner {
                        sets.join(xy as usize, self.pair(z, w)? as usize);
                        sets.join(xz as usize, self.pair(y, w)? as usize);
                    }
                }
            }
        }
        let mut votes: BTreeMap<(usize, usize), (usize, usize)> = BTreeMap::new();
        for (a, b, square) in meetings {
            let (a, b) = (sets.find(a as usize), sets.find(b as usize));
            if a != b {
                let (squares, all) = votes.entry((a.min(b), a.max(b))).or_default();
                (*squares, *all) = (*squares + usize::from(square), *all + 1);
            }
        }
        let mut size = vec![0; self.ends.len()];
        (0..self.ends.len()).for_each(|pair| size[sets.find(pair)] += 1);
        for ((a, b), (squares, all)) in votes {
            // Next to each other on one line they meet at an end of each cable; a missing cable takes a square of two.
            if 2 * squares < all && 2 * (all - squares) > size[a].min(size[b]) {
                sets.join(a, b);
            }
        }
        let mut number: HashMap<usize, u32> = HashMap::new();
        let of = |pair| {
            let next = number.len() as u32;
            *number.entry(sets.find(pair)).or_insert(next)
        };
        let dimension: Vec<u32> = (0..self.ends.len()).map(of).collect();
        (number.len() <= MOST_LINES / 2).then_some(dimension)
    }

    /// The three cables of every triangle are of one line.
    fn join_triangles(&self, sets: &mut Sets) {
        let mut own = vec![(u32::MAX, 0); self.near.len()];
        for (s, near) in self.near.iter().enumerate() {
            near.iter().for_each(|&(t, pair)| own[t as usize] = (s as u32, pair));
            for &(t, pair) in near.iter().filter(|&&(t, _)| t as usize > s) {
                for &(u, _) in &self.near[t as usize] {
                    if own[u as usize].0 == s as u32 {
                        sets.join(pair as usize, own[u as usize].1 as usize);
                    }
                }
            }
        }
    }

    /// The only switch but `x` that is a neighbour of both `y` and `z`.
    fn corner(&self, x: u32, y: u32, z: u32) -> Option<u32> {
        let (near, far) = (&self.near[y as usize], &self.near[z as usize]);
        let (mut i, mut j, mut found) = (0, 0, None);
        while i < near.len() && j < far.len() {
            match near[i].0.cmp(&far[j].0) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    if near[i].0 != x && found.replace(near[i].0).is_some() {
                        return None;
                    }
                    (i, j) = (i + 1, j + 1);
                }
            }
        }
        found
    }

    /// What dimensions of pairs make of the fabric, if that is a lattice.
    fn describe(&self, fabric: &Fabric, dimension: &[u32]) -> Option<Coordinates> {
        let switches = self.near.len();
        let count = dimension.iter().max()? + 1;
        let mut order: Vec<u32> = (0..count).collect();
        let first = |d: u32| {
            let mut links = fabric.switch_links(SwitchId(0));
            links.position(|l| {
                let other = fabric.link_to_switch(l).and_then(|t| self.pair(0, t.0));
                other.is_some_and(|pair| dimension[pair as usize] == d)
            })
        };
        order.sort_by_key(|&d| (first(d).unwrap_or(usize::MAX), d));
        let mut places: Vec<(Vec<u32>, Quotient)> = Vec::new();
        for &d in &order {
            let mut others = Sets::new(switches);
            for (pair, &(s, t)) in self.ends.iter().enumerate() {
                if dimension[pair] != d {
                    others.join(s as usize, t as usize);
                }
            }
            let roots: Vec<usize> = (0..switches).map(|s| others.find(s)).collect();
            let piece = numbered(&roots);
            let own = self.ends.iter().zip(dimension).filter(|&(_, &of)| of == d).map(|(&ends, _)| ends);
            let quotient = Quotient::new(&piece, own)?;
            let place = piece.iter().map(|&p| quotient.place[p as usize]).collect();
            places.push((place, quotient));
        }
        let product = places.iter().map(|(_, q)| q.place.len()).try_fold(1usize, usize::checked_mul)?;
        if product != switches {
            return None;
        }
        let mut switch = vec![None; switches];
        for s in 0..switches {
            let number = places.iter().fold(0, |n, (place, q)| n * q.place.len() + place[s] as usize);
            if switch[number].replace(SwitchId::from_index(s)).is_some() {
                return None;
            }
        }
        let switch: Vec<SwitchId> = switch.into_iter().collect::<Option<_>>()?;
        let mut at = Vec::with_capacity(switches * places.len());
        (0..switches).for_each(|s| at.extend(places.iter().map(|(place, _)| place[s])));
        let dimensions = places
            .iter()
            .map(|(_, q)| Dimension { size: q.place.len() as u32, line: q.line, cables: (0, 0) })
            .collect();
        let mut found = Coordinates { dimensions, deviations: Vec::new(), at, switch };
        // Every cable of a dimension joins neighbours: the quotients have no other pairs. Now those that lack one.
        let expected: usize = places.iter().map(|(_, q)| q.pairs * (switches / q.place.len())).sum();
        if 100 * (expected - self.ends.len()) > MISSING_PERCENT * expected {
            return None;
        }
        found.count_cables(fabric);
        Some(found)
    }
}

impl Coordinates {
    /// The switches next to one along a dimension.
    fn neighbours(&self, s: SwitchId, dimension: usize) -> impl Iterator<Item = SwitchId> + '_ {
        let (Dimension { size, line, .. }, at) = (self.dimensions[dimension], self.of(s)[dimension]);
        let next = move |&to: &u32| match line {
            Line::Clique => to != at,
            Line::Ring => to == (at + 1) % size || at == (to + 1) % size,
            Line::Path => to.abs_diff(at) == 1,
        };
        (0..size).filter(next).map(move |to| self.moved(s, dimension, to))
    }

    /// Working links from a switch to another.
    pub fn working<'a>(fabric: &'a Fabric, s: SwitchId, t: SwitchId) -> impl Iterator<Item = LinkId> + 'a {
        fabric.switch_links(s).filter(move |&l| fabric.alive(l) && fabric.link_to_switch(l) == Some(t))
    }

    /// Working cables of neighbours, and what of it is odd.
    fn count_cables(&mut self, fabric: &Fabric) {
        let mut lacking: Vec<(SwitchId, SwitchId)> = Vec::new();
        for d in 0..self.dimensions.len() {
            let mut numbers: Vec<(u32, SwitchId, SwitchId)> = Vec::new();
            for s in fabric.switches() {
                for t in self.neighbours(s, d).filter(|&t| t > s) {
                    numbers.push((Self::working(fabric, s, t).count() as u32, s, t));
                }
            }
            let least = numbers.iter().map(|n| n.0).min().unwrap_or(0);
            let most = numbers.iter().map(|n| n.0).max().unwrap_or(0);
            self.dimensions[d].cables = (least, most);
            lacking.extend(numbers.iter().filter(|n| n.0 == 0).map(|&(_, s, t)| (s, t)));
            let fewer = numbers.iter().filter(|n| n.0 > 0 && n.0 < most).count();
            if let Some(&(number, s, t)) = numbers.iter().find(|n| n.0 > 0 && n.0 < most) {
                self.deviations.push(format!(
                    "neighbours in dimension {} that fewer than {most} working cables join: {fewer}, such as \"{}\" and \"{}\" by {number}",
                    d + 1,
                    fabric.switch_name(s),
                    fabric.switch_name(t)
                ));
            }
        }
        if let Some(&(s, t)) = lacking.first() {
            self.deviations.insert(
                0,
                format!(
                    "neighbours that no working cable joins: {}, such as \"{}\" and \"{}\"",
                    lacking.len(),
                    fabric.switch_name(s),
                    fabric.switch_name(t)
                ),
            );
        }
    }

    /// The first two neighbours that no working cable joins.
    pub fn first_apart(&self, fabric: &Fabric) -> Option<(SwitchId, SwitchId)> {
        let pairs = fabric.switches().flat_map(|s| (0..self.dimensions.len()).map(move |d| (s, d)));
        let mut near = pairs.flat_map(|(s, d)| self.neighbours(s, d).map(move |t| (s, t)));
        near.find(|&(s, t)| s < t && Self::working(fabric, s, t).next().is_none())
    }
}

/// The pieces of a dimension, and which are joined.
struct Quotient {
    /// `[piece]`: its place on the line.
    place: Vec<u32>,
    line: Line,
    /// Pairs of places that are joined.
    pairs: usize,
}

impl Quotient {
    /// Of pieces of switches and the pairs of switches that this dimension joins; `None` if that is no line.
    fn new(piece: &[u32], joined: impl Iterator<Item = (u32, u32)>) -> Option<Self> {
        let size = *piece.iter().max()? as usize + 1;
        let mut often: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for (s, t) in joined {
            let (a, b) = (piece[s as usize], piece[t as usize]);
            if a == b {
                return None;
            }
            *often.entry((a.min(b), a.max(b))).or_default() += 1;
        }
        // A stray cable joins two places for one switch of many.
        if often.values().any(|&pairs| 2 * pairs < piece.len() / size) {
            return None;
        }
        let mut near: Vec<Vec<u32>> = vec![Vec::new(); size];
        for &(a, b) in often.keys() {
            near[a as usize].push(b);
            near[b as usize].push(a);
        }
        let of_degree = |degree| near.iter().filter(|near| near.len() == degree).count();
        let pairs = often.len();
        let by_first = (0..size as u32).collect();
        if pairs == size * (size - 1) / 2 {
            return Some(Self { place: by_first, line: Line::Clique, pairs });
        }
        let (line, start) = match (of_degree(2), of_degree(1)) {
            (twos, 0) if twos == size => (Line::Ring, 0),
            (twos, 2) if twos + 2 == size => (Line::Path, near.iter().position(|near| near.len() == 1)?),
            _ => return None,
        };
        // Pieces are numbered by their first switches: a ring begins at the first, towards the lower neighbour.
        let mut place = vec![u32::MAX; size];
        let mut here = start;
        for number in 0..size as u32 {
            place[here] = number;
            match near[here].iter().filter(|&&t| place[t as usize] == u32::MAX).min() {
                Some(&next) => here = next as usize,
                None => break,
            }
        }
        (!place.contains(&u32::MAX)).then_some(Self { place, line, pairs })
    }
}

/// The same pieces, numbered by their first switch.
fn numbered(roots: &[usize]) -> Vec<u32> {
    let mut number = HashMap::new();
    roots
        .iter()
        .map(|&root| {
            let next = number.len() as u32;
            *number.entry(root).or_insert(next)
        })
        .collect()
}
