//! Groups of two hops: rows and columns of switches, each of which is a clique, as in a Cray XC (16 columns by 6 rows).
//!
//! In such a grid every triangle lies in one row or one column. So cables that share triangles are of one line; where two lines
//! meet, one is a row and the other a column. Cables that are absent take triangles away and add none: what is found together is
//! together. A cable without a triangle is in the line that both of its ends have, else it joins two rows to a column, or two
//! columns to a row. The longer lines are the rows.
//!
//! It is a grid if every switch has a place of its own, and in at least half of the groups no place is empty.

use std::collections::BTreeMap;

use crate::graph::Sets;

/// Rows and columns of the groups of a dragonfly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Row of every switch, numbered through all groups.
    pub row: Vec<u32>,
    /// Column of every switch, likewise.
    pub column: Vec<u32>,
    /// Rows and columns of most groups.
    pub size: (u32, u32),
}

impl Grid {
    /// Pairs of switches of one row or of one column.
    pub(crate) fn pairs(&self) -> usize {
        let of = |lines: &[u32]| {
            let mut size = vec![0usize; lines.len()];
            lines.iter().for_each(|&line| size[line as usize] += 1);
            size.into_iter().map(|n| n * n.saturating_sub(1) / 2).sum::<usize>()
        };
        of(&self.row) + of(&self.column)
    }
}

/// The grid of groups, from `near`: neighbours of every switch, in order; `None` if groups are none.
pub(crate) fn find(near: &[Vec<u32>], of: &[u32], groups: usize) -> Option<Grid> {
    let inside = |s: usize| near[s].iter().copied().filter(move |&t| of[t as usize] == of[s]);
    // Cables within groups, each once, numbered; from a switch to the numbers of its cables.
    let mut number: Vec<Vec<(u32, u32)>> = vec![Vec::new(); near.len()];
    let mut ends: Vec<(usize, usize)> = Vec::new();
    for s in 0..near.len() {
        for t in inside(s).filter(|&t| t as usize > s) {
            number[s].push((t, ends.len() as u32));
            number[t as usize].push((s as u32, ends.len() as u32));
            ends.push((s, t as usize));
        }
    }
    number.iter_mut().for_each(|cables| cables.sort_unstable());
    let mut lines = Sets::new(ends.len());
    for (cable, &(s, t)) in ends.iter().enumerate() {
        for &(u, one) in &number[s] {
            if let Ok(at) = number[t].binary_search_by_key(&u, |&(v, _)| v) {
                lines.join(cable, one as usize);
                lines.join(cable, number[t][at].1 as usize);
            }
        }
    }
    // Lines of three switches and more, and where they meet.
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut cables_of: BTreeMap<usize, u32> = BTreeMap::new();
    for (cable, &(s, t)) in ends.iter().enumerate() {
        let line = lines.find(cable);
        members.entry(line).or_default().extend([s, t]);
        *cables_of.entry(line).or_default() += 1;
    }
    members.retain(|line, _| cables_of[line] > 1);
    let mut lines_of: Vec<Vec<usize>> = vec![Vec::new(); near.len()];
    for (&line, members) in &mut members {
        members.sort_unstable();
        members.dedup();
        members.iter().for_each(|&s| lines_of[s].push(line));
    }
    if lines_of.iter().any(|lines| lines.len() > 2) {
        return None;
    }
    let rows = rows(&members, &lines_of)?;
    let (mut row, mut column) = (Sets::new(near.len()), Sets::new(near.len()));
    let (mut has_row, mut has_column) = (vec![false; near.len()], vec![false; near.len()]);
    for (line, members) in &members {
        let (sets, has) = if rows[line] { (&mut row, &mut has_row) } else { (&mut column, &mut has_column) };
        for &s in members {
            sets.join(members[0], s);
            has[s] = true;
        }
    }
    for (cable, &(s, t)) in ends.iter().enumerate() {
        if members.contains_key(&lines.find(cable))
            || row.find(s) == row.find(t)
            || column.find(s) == column.find(t)
        {
            continue;
        }
        if has_row[s] && has_row[t] {
            column.join(s, t);
        } else if has_column[s] && has_column[t] {
            row.join(s, t);
        } else {
            return None;
        }
    }
    let grid = |mut sets: Sets| -> Vec<u32> { (0..near.len()).map(|s| sets.find(s) as u32).collect() };
    let (row, column) = (grid(row), grid(column));
    let size = check(&row, &column, of, groups)?;
    Some(Grid { row: numbered(&row), column: numbered(&column), size })
}

/// Whether each line is a row: of lines that meet directly or by others, the longer kind. `None`: lines meet that cannot be of two kinds.
fn rows(members: &BTreeMap<usize, Vec<usize>>, lines_of: &[Vec<usize>]) -> Option<BTreeMap<usize, bool>> {
    let mut kind: BTreeMap<usize, bool> = BTreeMap::new();
    for &first in members.keys() {
        if kind.contains_key(&first) {
            continue;
        }
        kind.insert(first, true);
        let mut joined = vec![first];
        let mut at = 0;
        while let Some(&line) = joined.get(at) {
            at += 1;
            let other = !kind[&line];
            for &next in members[&line].iter().flat_map(|&s| &lines_of[s]).filter(|&&next| next != line) {
                match kind.insert(next, other) {
                    None => joined.push(next),
                    Some(before) if before != other => return None,
                    Some(_) => {}
                }
            }
        }
        // Switches and lines of either kind.
        let total = |of: bool| {
            let own = joined.iter().filter(|line| kind[line] == of).map(|line| members[line].len());
            own.fold((0, 0), |(switches, lines), length| (switches + length, lines + 1))
        };
        let ((first_switches, first_lines), (switches, lines)) = (total(true), total(false));
        if first_switches * lines < switches * first_lines {
            joined.iter().for_each(|line| *kind.get_mut(line).expect("it was met") ^= true);
        }
    }
    Some(kind)
}

/// Rows and columns of most groups, if every switch has a place of its own and half of the groups have no empty ones.
fn check(row: &[u32], column: &[u32], of: &[u32], groups: usize) -> Option<(u32, u32)> {
    if distinct_pairs(row, column).len() < row.len() {
        return None;
    }
    let count = |lines: &[u32]| {
        let mut number = vec![0u32; groups];
        let found = distinct_pairs(of, lines);
        found.into_iter().for_each(|(group, _)| number[group as usize] += 1);
        number
    };
    let (rows, columns) = (count(row), count(column));
    let mut size = vec![0u32; groups];
    of.iter().for_each(|&g| size[g as usize] += 1);
    let full = |g: &usize| rows[*g] > 1 && columns[*g] > 1 && rows[*g] * columns[*g] == size[*g];
    let mut usual: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    (0..groups).filter(full).for_each(|g| *usual.entry((rows[g], columns[g])).or_default() += 1);
    let (size, often) = usual.into_iter().max_by_key(|&(_, often)| often)?;
    (2 * often >= groups).then_some(size)
}

/// The pairs of two lists, each once.
fn distinct_pairs(a: &[u32], b: &[u32]) -> Vec<(u32, u32)> {
    let mut pairs: Vec<(u32, u32)> = a.iter().copied().zip(b.iter().copied()).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The same lines, numbered by their first switch.
fn numbered(lines: &[u32]) -> Vec<u32> {
    let mut number = BTreeMap::new();
    lines
        .iter()
        .map(|&line| {
            let next = number.len() as u32;
            *number.entry(line).or_insert(next)
        })
        .collect()
}
