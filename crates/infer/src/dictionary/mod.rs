//! Sets of pairs of ranks that may carry the same bytes.
//!
//! | atom | pairs |
//! |---|---|
//! | offset | all that have one offset on the grid |
//! | both ways | those of an offset and of its opposite |
//! | alike | those of all offsets with the same components, whatever their signs and axes |
//! | mirror | rank r and first + last - r, in all segments of a level of halving, or in one (crystal routers, recursive halving) |
//! | exchange | r and r xor 2^k (recursive halving, butterflies) |
//! | collective | the messages of a collective over all ranks, or in all rows or columns of the grid ([`Collective`]) |
//! | wrapped | all that have one offset on a grid whose ends meet |
//! | transposed | rank (x, y) and the rank that (y, x) has where y runs fastest |
//! | all | every pair (all-to-all) |
//!
//! Atoms overlap: the dictionary is overcomplete, and what is simple wins because it needs fewer atoms.
//!
//! Knows process grids, collectives and patterns of whole applications, and which rows an atom's pairs cross; it has seen no counter.
//!
//! Source: measured on recorded applications (docs/methods/inference.md).

mod collective;
mod describe;
mod grid;
mod pattern;

pub use self::collective::{Collective, Lines, Way};
pub use self::describe::in_words;
pub use self::grid::{Grid, Order};
pub use self::pattern::{Hypothesis, Pattern};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use netloom_model::Control;

use crate::operator::{Operator, Pair, Participants};
use crate::settings::DictionarySettings;

/// What an atom is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Atom {
    /// An offset.
    Offset([i64; 3]),
    /// An offset and its opposite.
    BothWays([i64; 3]),
    /// Offsets with these components up to sign and axis (rising).
    Alike([i64; 3]),
    /// Mirrored ranks of all segments after so many halvings.
    Mirror {
        /// Halvings.
        level: u32,
    },
    /// Mirrored ranks of one segment.
    MirrorIn {
        /// Halvings.
        level: u32,
        /// Which segment.
        segment: u32,
    },
    /// Ranks that differ in one bit.
    Exchange {
        /// Which.
        bit: u32,
    },
    /// The messages of a collective.
    Collective {
        /// How it goes.
        what: Collective,
        /// Among whom.
        lines: Lines,
    },
    /// An offset on a grid whose ends meet.
    Wrapped([i64; 3]),
    /// Rank (x, y) of the grid and the rank that (y, x) has where y runs fastest.
    Transposed,
    /// Every pair.
    All,
}

/// The atoms of a job on a grid.
#[derive(Clone, Debug)]
pub struct Dictionary<'a> {
    operator: &'a Operator,
    job: u32,
    participants: &'a Participants,
    settings: &'a DictionarySettings,
    grid: Grid,
    /// `[rank]`
    places: Vec<[u32; 3]>,
    codes: Vec<i64>,
    /// Ranks by code; `u32::MAX`: none.
    rank_of_code: Vec<u32>,
    /// Atoms of whole offsets, as classes.
    by_class: Vec<(Atom, Vec<i64>, f64)>,
    /// Atoms of other pairs, as numbers of pairs.
    by_pair: Vec<(Atom, Vec<u32>)>,
    /// Those of them of which some pairs are no unknowns.
    parts: BTreeSet<Atom>,
    /// Whether the atoms that don't look at the grid are among them.
    mechanisms: bool,
    /// `[row]`: how many pairs of ranks cross it.
    crossing: Arc<Vec<f64>>,
}

impl<'a> Dictionary<'a> {
    /// All atoms.
    pub fn new(
        operator: &'a Operator,
        job: u32,
        participants: &'a Participants,
        grid: Grid,
        settings: &'a DictionarySettings,
    ) -> Self {
        let weight = |pair: Pair| {
            let ranks = |host: u32| participants.ranks_of_host[host as usize].len() as f64;
            if pair.job == job { ranks(pair.source) * ranks(pair.destination) } else { 0.0 }
        };
        let all: Vec<f64> = operator.iter().map(weight).collect();
        Self::with((operator, job, participants), settings, grid, Arc::new(operator.forward(&all)))
    }

    /// The same on another grid.
    pub fn on(&self, grid: Grid) -> Self {
        let of = (self.operator, self.job, self.participants);
        Self::with(of, self.settings, grid, Arc::clone(&self.crossing))
    }

    fn with(
        (operator, job, participants): (&'a Operator, u32, &'a Participants),
        settings: &'a DictionarySettings,
        grid: Grid,
        crossing: Arc<Vec<f64>>,
    ) -> Self {
        let places = grid.places();
        let codes: Vec<i64> = places.iter().map(|place| grid.code(place.map(i64::from))).collect();
        let most = grid.most();
        let mut rank_of_code = vec![u32::MAX; most as usize + 1];
        for (rank, &code) in codes.iter().enumerate() {
            rank_of_code[code as usize] = rank as u32;
        }
        let (by_class, by_pair, parts) = (Vec::new(), Vec::new(), BTreeSet::new());
        let mechanisms = false;
        #[rustfmt::skip]
        let mut dictionary = Self {
            operator, job, participants, settings, grid, places, codes, rank_of_code, by_class, by_pair, parts, mechanisms, crossing,
        };
        dictionary.add_offsets();
        dictionary
    }

    /// The grid.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// How many atoms there are.
    pub fn len(&self) -> usize {
        self.by_class.len() + self.by_pair.len()
    }

    /// Whether there are none (one rank).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What an atom is.
    pub fn atom(&self, at: usize) -> Atom {
        match self.by_class.get(at) {
            Some(found) => found.0,
            None => self.by_pair[at - self.by_class.len()].0,
        }
    }

    /// Pairs of ranks of an offset.
    fn size(&self, offset: [i64; 3]) -> f64 {
        (0..3).map(|i| (i64::from(self.grid.sides[i]) - offset[i].abs()).max(0) as f64).product()
    }

    fn add_offsets(&mut self) {
        let most = self.grid.most();
        let mut alike = BTreeMap::<[i64; 3], Vec<i64>>::new();
        for class in (-most..=most).filter(|&class| class != 0) {
            let offset = self.grid.offset(class);
            let size = self.size(offset);
            if size == 0.0 {
                continue;
            }
            self.by_class.push((Atom::Offset(offset), vec![class], size));
            if class > 0 {
                self.by_class.push((Atom::BothWays(offset), vec![class, -class], 2.0 * size));
            }
            let mut parts = offset.map(i64::abs);
            parts.sort_unstable();
            alike.entry(parts).or_default().push(class);
        }
        let ranks = self.codes.len() as f64;
        let classes = (-most..=most).filter(|&class| class != 0).collect();
        self.by_class.push((Atom::All, classes, (ranks * (ranks - 1.0)).max(1.0)));
        for (parts, classes) in alike.into_iter().filter(|(_, classes)| classes.len() > 2) {
            let size = classes.iter().map(|&class| self.size(self.grid.offset(class))).sum();
            self.by_class.push((Atom::Alike(parts), classes, size));
        }
    }

    /// Adds the atoms that don't look at the grid.
    pub fn add_mechanisms(&mut self) {
        if self.mechanisms {
            return;
        }
        self.mechanisms = true;
        let ranks = self.participants.ranks() as u32;
        self.add_bits(true);
        let rows = Some(self.grid.sides).filter(|_| self.grid.order == Order::Rows);
        let lines = std::iter::once(Lines::whole(ranks)).chain(rows.into_iter().flat_map(Lines::of_grid));
        lines.for_each(|lines| self.add_collectives(lines));
    }

    /// Adds mirrored ranks, of single segments too if asked for, and ranks that differ in a bit.
    pub(crate) fn add_bits(&mut self, single: bool) {
        let ranks = self.participants.ranks() as u32;
        let mut found = BTreeMap::<Atom, Vec<u32>>::new();
        let mut parts = BTreeSet::new();
        let mut add = |atom: Atom, from: u32, to: u32| match self.pair(from, to) {
            Some(pair) => found.entry(atom).or_default().push(pair),
            None if self.apart(from, to) => _ = parts.insert(atom),
            None => {}
        };
        let mut segments = vec![(0u32, 0u32, 0u32, ranks)];
        while let Some((level, segment, first, end)) = segments.pop() {
            for rank in first..end {
                let other = first + end - 1 - rank;
                if other != rank {
                    add(Atom::Mirror { level }, rank, other);
                    if single {
                        add(Atom::MirrorIn { level, segment }, rank, other);
                    }
                }
            }
            let middle = first + (end - first).div_ceil(2);
            if end - first > 2 {
                segments.push((level + 1, 2 * segment, first, middle));
                segments.push((level + 1, 2 * segment + 1, middle, end));
            }
        }
        for bit in 0..u32::BITS - ranks.leading_zeros() {
            for rank in 0..ranks {
                let other = rank ^ 1 << bit;
                if other < ranks {
                    add(Atom::Exchange { bit }, rank, other);
                }
            }
        }
        self.by_pair.extend(found);
        self.parts.append(&mut parts);
    }

    /// Adds an atom if all pairs that `each` tells are unknowns; `each` ends where told that one is not.
    pub(crate) fn add_whole(
        &mut self,
        atom: Atom,
        each: impl FnOnce(&mut dyn FnMut(u32, u32) -> bool) -> bool,
    ) {
        let mut pairs = Vec::new();
        let whole = each(&mut |from, to| {
            let pair = self.pair(from, to);
            pairs.extend(pair);
            pair.is_some() || !self.apart(from, to)
        });
        if whole && !pairs.is_empty() {
            self.by_pair.push((atom, pairs));
        }
    }

    /// Where a rank is on the grid.
    pub(crate) fn place_of(&self, rank: u32) -> [i64; 3] {
        self.places[rank as usize].map(i64::from)
    }

    /// The rank at a place of the grid.
    pub(crate) fn rank_at(&self, place: [i64; 3]) -> u32 {
        self.rank_of_code[self.grid.code(place) as usize]
    }

    /// Nothing but collectives, in lines of ranks of all lengths and distances, whatever the grid. When stopped, those that
    /// came first.
    pub fn of_collectives(&self, control: &Control) -> Self {
        let ranks = self.participants.ranks() as u32;
        let mut dictionary = Self { by_class: Vec::new(), by_pair: Vec::new(), ..self.clone() };
        let lines = std::iter::once(Lines::whole(ranks)).chain(Lines::all(ranks));
        let lines = lines.take_while(|_| control.stopped().is_none());
        lines.for_each(|lines| dictionary.add_collectives(lines));
        // What a collective's pairs carry, all of them carry.
        let Self { by_pair, parts, .. } = &mut dictionary;
        by_pair.retain(|(atom, _)| !parts.contains(atom));
        dictionary
    }

    /// Adds all collectives among these ranks.
    fn add_collectives(&mut self, lines: Lines) {
        let ranks = self.participants.ranks() as u32;
        for what in Collective::all(lines, ranks, self.settings.all_pairs_ranks) {
            let (mut pairs, mut part) = (Vec::new(), false);
            what.in_lines(lines, ranks, |from, to| {
                let pair = self.pair(from, to);
                part |= pair.is_none() && self.apart(from, to);
                pairs.extend(pair);
            });
            if part {
                self.parts.insert(Atom::Collective { what, lines });
            }
            if !pairs.is_empty() {
                self.by_pair.push((Atom::Collective { what, lines }, pairs));
            }
        }
    }

    /// The pair of hosts of two ranks, if it is an unknown.
    fn pair(&self, from: u32, to: u32) -> Option<u32> {
        let hosts = &self.participants.host_of_rank;
        let (source, destination) = (hosts[from as usize], hosts[to as usize]);
        let pair = Pair { job: self.job, source, destination };
        (source != destination).then(|| self.operator.find(pair)).flatten().map(|pair| pair as u32)
    }

    /// Whether ranks are on different hosts.
    fn apart(&self, from: u32, to: u32) -> bool {
        let hosts = &self.participants.host_of_rank;
        hosts[from as usize] != hosts[to as usize]
    }

    /// The pairs of hosts of an atom, with repeats where hosts have several ranks.
    pub fn pairs(&self, at: usize) -> Vec<u32> {
        match self.by_class.get(at) {
            Some((_, classes, _)) => classes.iter().flat_map(|&class| self.pairs_of_class(class)).collect(),
            None => self.by_pair[at - self.by_class.len()].1.clone(),
        }
    }

    /// The pairs of hosts of an atom, and how many pairs of ranks of it each time.
    pub fn each_pair(&self, at: usize, mut each: impl FnMut(usize, f64)) {
        if self.atom(at) != Atom::All {
            return self.pairs(at).into_iter().for_each(|pair| each(pair as usize, 1.0));
        }
        let ranks = |host: u32| self.participants.ranks_of_host[host as usize].len() as f64;
        for (p, pair) in self.operator.iter().enumerate().filter(|(_, pair)| pair.job == self.job) {
            each(p, ranks(pair.source) * ranks(pair.destination));
        }
    }

    /// Whether all pairs of ranks of an atom can carry something, or are of one host.
    pub fn is_whole(&self, at: usize) -> bool {
        let Some((atom, classes, _)) = self.by_class.get(at) else {
            return !self.parts.contains(&self.atom(at));
        };
        let mut whole = true;
        for &class in classes.iter().filter(|_| *atom != Atom::All) {
            self.each_of_class(class, |from, to| {
                whole &= self.pair(from, to).is_some() || !self.apart(from, to);
            });
        }
        whole
    }

    /// An atom's column: rows, rising, and how many of its pairs cross them.
    pub fn column(&self, at: usize) -> Vec<(u32, f64)> {
        if self.atom(at) == Atom::All {
            let rows = self.crossing.iter().enumerate().filter(|(_, crossing)| **crossing > 0.0);
            return rows.map(|(row, &crossing)| (row as u32, crossing)).collect();
        }
        if self.operator.splits() {
            // Split ways are long: all pairs at once are quicker.
            let mut x = vec![0.0; self.operator.pairs()];
            self.pairs(at).into_iter().for_each(|pair| x[pair as usize] += 1.0);
            let rows = self.operator.forward(&x).into_iter().enumerate().filter(|(_, sum)| *sum > 0.0);
            return rows.map(|(row, sum)| (row as u32, sum)).collect();
        }
        let mut rows = Vec::new();
        for pair in self.pairs(at) {
            self.operator.way(pair as usize, |row| rows.push(row as u32));
        }
        rows.sort_unstable();
        let mut column: Vec<(u32, f64)> = Vec::new();
        for row in rows {
            match column.last_mut() {
                Some((last, value)) if *last == row => *value += 1.0,
                _ => column.push((row, 1.0)),
            }
        }
        column
    }

    fn pairs_of_class(&self, class: i64) -> Vec<u32> {
        let mut pairs = Vec::new();
        self.each_of_class(class, |from, to| pairs.extend(self.pair(from, to)));
        pairs
    }

    /// The ranks of every pair of a class: from, to.
    fn each_of_class(&self, class: i64, mut each: impl FnMut(u32, u32)) {
        let offset = self.grid.offset(class);
        let sides = self.grid.sides.map(i64::from);
        for (to, (&code, place)) in self.codes.iter().zip(&self.places).enumerate() {
            // A code less a class may be another place's code: look at the place itself.
            let place = place.map(i64::from);
            if (0..3).all(|i| (0..sides[i]).contains(&(place[i] - offset[i]))) {
                each(self.rank_of_code[(code - class) as usize], to as u32);
            }
        }
    }

    /// How much every atom's column is like a residual, `[atom]`: the sum of `R' u` over its pairs over the root of their number, which is
    /// about the column's norm.
    pub fn correlation(&self, u: &[f64]) -> Vec<f64> {
        let most = self.grid.most();
        let mut sums = vec![0.0; 2 * most as usize + 1];
        let ranks = &self.participants.ranks_of_host;
        let each = |pair: Pair, sum: f64| {
            for &to in &ranks[pair.destination as usize] {
                for &from in &ranks[pair.source as usize] {
                    sums[(self.codes[to as usize] - self.codes[from as usize] + most) as usize] += sum;
                }
            }
        };
        let of_pairs = if self.by_pair.is_empty() {
            self.operator.each(self.job, u, each);
            Vec::new()
        } else {
            let of_pairs = self.operator.adjoint(u);
            let pairs = self.operator.iter().zip(&of_pairs).filter(|(pair, _)| pair.job == self.job);
            pairs.map(|(pair, &sum)| (pair, sum)).for_each({
                let mut each = each;
                move |(pair, sum)| each(pair, sum)
            });
            of_pairs
        };
        let classes = self.by_class.iter().map(|(_, classes, size)| {
            classes.iter().map(|&class| sums[(class + most) as usize]).sum::<f64>() / size.sqrt()
        });
        let pairs = self.by_pair.iter().map(|(_, pairs)| {
            pairs.iter().map(|&p| of_pairs[p as usize]).sum::<f64>() / (pairs.len() as f64).sqrt()
        });
        classes.chain(pairs).collect()
    }

    /// How much an atom is liked beforehand, 0 to 1: neighbours more than what is far.
    pub fn prior(&self, at: usize) -> f64 {
        let sides = self.grid.sides.map(i64::from);
        let tier = |offset: [i64; 3]| {
            let of = |i: usize| match offset[i].abs() {
                0 | 1 => 0,
                o if o == sides[i] - 1 => 1,
                o if o.count_ones() == 1 => 2,
                _ => 3,
            };
            (0..3).map(of).max().unwrap_or(0)
        };
        let weight = self.settings;
        let far = [1.0, weight.weight_of_ends, weight.weight_of_powers, weight.weight_of_far];
        match self.atom(at) {
            Atom::Offset(offset) | Atom::BothWays(offset) | Atom::Alike(offset) => far[tier(offset)],
            Atom::Mirror { .. } | Atom::Exchange { .. } => weight.weight_of_exchanges,
            Atom::MirrorIn { .. } => weight.weight_of_segments,
            Atom::Collective { .. } | Atom::Wrapped(_) | Atom::Transposed | Atom::All => {
                weight.weight_of_collectives
            }
        }
    }

    /// The atom of all pairs.
    pub fn all(&self) -> Option<usize> {
        self.by_class.iter().position(|found| found.0 == Atom::All)
    }

    /// Atoms of neighbours on the grid.
    pub fn neighbours(&self) -> impl Iterator<Item = usize> + '_ {
        let near = |atom: Atom| match atom {
            Atom::Offset(offset) => offset.iter().all(|o| o.abs() <= 1),
            _ => false,
        };
        (0..self.by_class.len()).filter(move |&at| near(self.by_class[at].0))
    }
}
