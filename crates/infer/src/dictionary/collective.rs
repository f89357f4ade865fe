//! Whom ranks talk to in collectives.
//!
//! A collective runs over all ranks of a job, or in every row or column of its grid at once: over all *lines* of ranks of one length whose
//! ranks are equally far apart. Most algorithms send the same bytes along all of their pairs, so that a collective is one atom of the
//! dictionary, wherever it comes from (`MPI_Comm_split`, `MPI_Cart_sub`).
//!
//! Sources: Thakur, Rabenseifner and Gropp, *Optimization of collective communication operations in MPICH*, 2005; Taffet, dissertation,
//! Algorithm 8 (barriers of rows and columns in binary trees) and sec. 6.1.2 (columns of collectives).

/// An algorithm: the pairs that carry the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Collective {
    /// Rank r and its children 2 r + 1 and 2 r + 2 (barrier).
    BinaryTree(Way),
    /// A rank and its parent in a binomial tree, which is the rank without its lowest bit (broadcast, reduce, allreduce).
    Binomial(Way),
    /// The same with a share for every rank below (scatter, gather).
    Shares(Way),
    /// r and r xor 2^k for all k; ranks beyond the last power of two talk to those that they fold on (allreduce).
    Doubling,
    /// r to r + 2^k, round the end, for all k (barrier).
    Dissemination,
    /// r to r + 2^k, round the end, for one k (Bruck's allgather and all-to-all).
    Shift {
        /// Which k.
        bit: u32,
    },
    /// r to r + 1, round the end.
    Ring,
    /// The first rank and all others (gather, scatter).
    Root(Way),
    /// Every rank and every other (all-to-all, as of Fourier transforms in rows and columns).
    Everybody,
}

/// Which way bytes go in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// From the first rank.
    Down,
    /// To it.
    Up,
    /// Both, alike.
    Both,
}

impl Way {
    const ALL: [Self; 3] = [Self::Down, Self::Up, Self::Both];
}

/// The groups of ranks that do the same at once: so many, so far apart. All that have the same `rank mod stride` and `rank / (stride count)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lines {
    /// From one rank of a group to the next.
    pub stride: u32,
    /// Ranks of a group.
    pub count: u32,
}

impl Lines {
    /// One group of all ranks.
    pub fn whole(ranks: u32) -> Self {
        Self { stride: 1, count: ranks }
    }

    /// All ways to divide ranks into lines of more than two, and less than all.
    pub fn all(ranks: u32) -> impl Iterator<Item = Self> {
        let divisors = move |of: u32| (1..=of).filter(move |d| of.is_multiple_of(*d));
        divisors(ranks).flat_map(move |stride| {
            let counts = divisors(ranks / stride).filter(move |&count| count > 2 && count < ranks);
            counts.map(move |count| Self { stride, count })
        })
    }

    /// The rows of a grid along every axis on which it has more than two and less than all ranks, x fastest.
    pub fn of_grid(sides: [u32; 3]) -> impl Iterator<Item = Self> {
        let [x, y, z] = sides;
        let lines = [(1, x), (x, y), (x * y, z)];
        let lines = lines.into_iter().filter(move |&(_, count)| count > 2 && count < x * y * z);
        lines.map(|(stride, count)| Self { stride, count })
    }

    /// The first rank of every group.
    fn firsts(self, ranks: u32) -> impl Iterator<Item = u32> {
        let block = self.stride * self.count;
        (0..ranks / block).flat_map(move |b| (0..self.stride).map(move |r| b * block + r))
    }
}

impl Collective {
    /// What is tried in lines of all the ranks; everybody in no longer lines than `most`, nor among all: that is an atom of its own.
    pub fn all(Lines { count, .. }: Lines, ranks: u32, most: u32) -> impl Iterator<Item = Self> {
        let trees = [Self::BinaryTree, Self::Binomial, Self::Shares, Self::Root];
        let trees = trees.into_iter().flat_map(|tree| Way::ALL.map(tree));
        let shifts = (1..rounds(count)).map(|bit| Self::Shift { bit });
        let everybody = (count < ranks && count <= most).then_some(Self::Everybody);
        trees.chain([Self::Doubling, Self::Dissemination, Self::Ring]).chain(shifts).chain(everybody)
    }

    /// Its messages in a group of so many ranks, as (from, to); several where a pair has several shares.
    fn messages(self, count: u32, mut add: impl FnMut(u32, u32)) {
        let mut tree = |way: Way, parent: u32, child: u32| {
            if way != Way::Up {
                add(parent, child);
            }
            if way != Way::Down {
                add(child, parent);
            }
        };
        let ranks = 1..count;
        match self {
            Self::BinaryTree(way) => ranks.for_each(|r| tree(way, (r - 1) / 2, r)),
            Self::Binomial(way) => ranks.for_each(|r| tree(way, r & (r - 1), r)),
            Self::Shares(way) => {
                for r in ranks {
                    let below = (1u32 << r.trailing_zeros()).min(count - r);
                    (0..below).for_each(|_| tree(way, r & (r - 1), r));
                }
            }
            Self::Root(way) => ranks.for_each(|r| tree(way, 0, r)),
            Self::Doubling => {
                let power = 1 << count.ilog2();
                (power..count).for_each(|r| tree(Way::Both, r - power, r));
                for bit in 0..power.ilog2() {
                    (0..power).for_each(|r| add(r, r ^ 1 << bit));
                }
            }
            Self::Dissemination => (0..rounds(count)).for_each(|bit| round(count, bit, &mut add)),
            Self::Shift { bit } => round(count, bit, &mut add),
            Self::Ring => round(count, 0, &mut add),
            Self::Everybody => {
                (0..count).for_each(|from| (0..count).filter(|&to| to != from).for_each(|to| add(from, to)));
            }
        }
    }

    /// Its messages in all groups at once.
    pub fn in_lines(self, lines: Lines, ranks: u32, mut add: impl FnMut(u32, u32)) {
        for first in lines.firsts(ranks) {
            let rank = |at: u32| first + at * lines.stride;
            self.messages(lines.count, |from, to| add(rank(from), rank(to)));
        }
    }
}

/// The least k with 2^k >= count.
fn rounds(count: u32) -> u32 {
    count.next_power_of_two().ilog2()
}

fn round(count: u32, bit: u32, add: &mut impl FnMut(u32, u32)) {
    let far = (1 << bit) % count;
    (0..count).filter(|_| far != 0).for_each(|r| add(r, (r + far) % count));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(what: Collective, lines: Lines, ranks: u32) -> Vec<(u32, u32)> {
        let mut all = Vec::new();
        what.in_lines(lines, ranks, |from, to| all.push((from, to)));
        all.sort_unstable();
        all
    }

    #[test]
    fn columns_of_a_grid_have_trees_of_their_own() {
        // 2 x 4: the columns are 0 2 4 6 and 1 3 5 7.
        let lines = Lines { stride: 2, count: 4 };
        assert_eq!(
            messages(Collective::BinaryTree(Way::Down), lines, 8),
            [(0, 2), (0, 4), (1, 3), (1, 5), (2, 6), (3, 7)]
        );
        assert_eq!(
            messages(Collective::Binomial(Way::Up), lines, 8),
            [(2, 0), (3, 1), (4, 0), (5, 1), (6, 4), (7, 5)]
        );
    }

    #[test]
    fn shares_are_those_of_all_ranks_below() {
        let all = messages(Collective::Shares(Way::Down), Lines::whole(6), 6);
        let of = |pair| all.iter().filter(|&&other| other == pair).count();
        assert_eq!([(0, 1), (0, 2), (2, 3), (0, 4), (4, 5)].map(of), [1, 2, 1, 2, 1]);
    }

    #[test]
    fn who_is_beyond_a_power_of_two_folds() {
        let all = messages(Collective::Doubling, Lines::whole(5), 5);
        assert_eq!(all, [(0, 1), (0, 2), (0, 4), (1, 0), (1, 3), (2, 0), (2, 3), (3, 1), (3, 2), (4, 0)]);
        assert_eq!(messages(Collective::Dissemination, Lines::whole(5), 5).len(), 15);
        assert_eq!(messages(Collective::Ring, Lines::whole(3), 3), [(0, 1), (1, 2), (2, 0)]);
    }

    /// 12: by 1 in rows of 3, 4 and 6; by 2 of 3 and 6; by 3 of 4; by 4 of 3.
    #[test]
    fn lines_divide_all_ranks() {
        let all: Vec<(u32, u32)> = Lines::all(12).map(|lines| (lines.stride, lines.count)).collect();
        assert_eq!(all, [(1, 3), (1, 4), (1, 6), (2, 3), (2, 6), (3, 4), (4, 3)]);
        let of_grid: Vec<Lines> = Lines::of_grid([3, 4, 1]).collect();
        assert_eq!(of_grid, [Lines { stride: 1, count: 3 }, Lines { stride: 3, count: 4 }]);
        assert_eq!(Lines::of_grid([12, 1, 1]).count(), 0);
    }
}
