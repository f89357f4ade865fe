//! Groups that are cliques of one size, every two of them joined by equally many cables: the search for a division of
//! all switches into such groups.
//!
//! Shared neighbours do not tell them where switches have more cables to other groups than within their own. The first switch without a group
//! takes some of its neighbours, all joined to each other, so that no group before has more or fewer cables to the new one than it
//! should. How many that are follows from the size: what is not within groups is shared by the pairs. Where nobody fits, the group
//! before is chosen anew. Cables within groups are single. Work is bounded: what is not found until then is not found.

/// Most switches, and most switches looked at for a place in a group, a size of groups.
const SWITCHES: usize = 400;
const WORK: usize = 200_000;

/// The group of every switch, three groups of three at least, from the cables to its neighbours (switch, cables), in order; `None`: there
/// is no such division, or it takes too long to find.
pub(crate) fn find(near: &[Vec<(u32, u32)>]) -> Option<Vec<u32>> {
    let switches = near.len();
    if switches > SWITCHES {
        return None;
    }
    let cables = near.iter().flatten().map(|&(_, cables)| cables as usize).sum::<usize>() / 2;
    let sizes = (3..=switches / 3).filter(|size| switches.is_multiple_of(*size));
    sizes.rev().find_map(|size| {
        let groups = switches / size;
        let between = cables.checked_sub(groups * size * (size - 1) / 2)?;
        let pairs = groups * (groups - 1) / 2;
        // Of groups that are joined nearly as densely as they are inside, others would do as well: in a clique any.
        let few = 2 * between <= size * size * pairs;
        if between == 0 || !between.is_multiple_of(pairs) || !few {
            return None;
        }
        let of = vec![u32::MAX; switches];
        let mut search = Search { near, size, each: between / pairs, of, groups: 0, work: WORK };
        search.next_group().then_some(search.of)
    })
}

struct Search<'a> {
    near: &'a [Vec<(u32, u32)>],
    size: usize,
    /// Cables between two groups.
    each: usize,
    of: Vec<u32>,
    groups: u32,
    work: usize,
}

impl Search<'_> {
    /// Gives all switches without a group one.
    fn next_group(&mut self) -> bool {
        let Some(first) = self.of.iter().position(|&group| group == u32::MAX) else { return true };
        let free = |&&(t, cables): &&(u32, u32)| self.of[t as usize] == u32::MAX && cables == 1;
        let open: Vec<u32> = self.near[first].iter().filter(free).map(|&(t, _)| t).collect();
        let mut towards = vec![0; self.groups as usize];
        self.add(first as u32, &mut towards) && self.complete(&mut vec![first as u32], &open, &towards)
    }

    /// Completes a group by some of `open`, who are joined to all of it, then all others.
    fn complete(&mut self, group: &mut Vec<u32>, open: &[u32], towards: &[usize]) -> bool {
        if group.len() == self.size {
            if towards.iter().any(|&cables| cables < self.each) {
                return false;
            }
            group.iter().for_each(|&s| self.of[s as usize] = self.groups);
            self.groups += 1;
            if self.next_group() {
                return true;
            }
            self.groups -= 1;
            group.iter().for_each(|&s| self.of[s as usize] = u32::MAX);
            return false;
        }
        for (i, &s) in open.iter().enumerate() {
            if self.work == 0 || group.len() + open.len() - i < self.size {
                return false;
            }
            self.work -= 1;
            let mut towards = towards.to_vec();
            if !self.add(s, &mut towards) {
                continue;
            }
            let near = &self.near[s as usize];
            let joined = |t: &&u32| near.binary_search(&(**t, 1)).is_ok();
            let open: Vec<u32> = open[i + 1..].iter().filter(joined).copied().collect();
            group.push(s);
            if self.complete(group, &open, &towards) {
                return true;
            }
            group.pop();
        }
        false
    }

    /// Counts a switch's cables to the groups that there are; whether none has too many.
    fn add(&self, s: u32, towards: &mut [usize]) -> bool {
        let mut fits = true;
        for &(t, cables) in &self.near[s as usize] {
            if let Some(count) = towards.get_mut(self.of[t as usize] as usize) {
                *count += cables as usize;
                fits &= *count <= self.each;
            }
        }
        fits
    }
}
