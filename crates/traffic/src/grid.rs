//! Process grids and the patterns that live on them. Endpoint numbers count x fastest.

use netloom_model::Traffic;

use crate::rows::Rows;

/// A grid of any dimension, x fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Sizes: x, y, z, ….
    pub sizes: Vec<u32>,
}

impl Grid {
    /// Number of points; `None` above what a `u32` holds.
    pub(crate) fn points(&self) -> Option<u32> {
        self.sizes.iter().try_fold(1u32, |product, &size| product.checked_mul(size))
    }

    /// Coordinates of a point.
    pub(crate) fn coordinates(&self, mut point: u32) -> Vec<u32> {
        self.sizes
            .iter()
            .map(|&size| {
                let c = point % size;
                point /= size;
                c
            })
            .collect()
    }

    /// The point at `coordinates + offset`; `None` beyond an edge that does not wrap.
    fn neighbour(&self, coordinates: &[u32], offset: &[i32], periodic: bool) -> Option<u32> {
        let (mut point, mut stride) = (0, 1);
        for (axis, &size) in self.sizes.iter().enumerate() {
            let mut c = i64::from(coordinates[axis]) + i64::from(offset[axis]);
            if periodic {
                c = c.rem_euclid(i64::from(size));
            } else if c < 0 || c >= i64::from(size) {
                return None;
            }
            point += c as u32 * stride;
            stride = stride.wrapping_mul(size);
        }
        Some(point)
    }
}

/// One step along one axis, each way, or only as `axis` says: `(axis, signs)`.
pub(crate) fn faces(dimensions: usize, axis: Option<(usize, &[i32])>) -> Vec<Vec<i32>> {
    let mut offsets = Vec::new();
    for a in 0..dimensions {
        for sign in [-1, 1] {
            if axis.is_none_or(|(only, signs)| only == a && signs.contains(&sign)) {
                let mut offset = vec![0; dimensions];
                offset[a] = sign;
                offsets.push(offset);
            }
        }
    }
    offsets
}

/// Every neighbour that differs by at most one in each coordinate: `3^d - 1` of them.
pub(crate) fn surroundings(dimensions: usize) -> Vec<Vec<i32>> {
    let mut offsets = vec![Vec::new()];
    for _ in 0..dimensions {
        offsets = offsets
            .into_iter()
            .flat_map(|offset: Vec<i32>| [-1, 0, 1].map(|step| [offset.as_slice(), &[step]].concat()))
            .collect();
    }
    offsets.retain(|offset| offset.iter().any(|&step| step != 0));
    offsets
}

/// Everybody sends `bytes` along each of `offsets`. Where a periodic axis is 2 long both neighbours are
/// the same and get both messages; where it is 1 long nothing is sent along it.
pub(crate) fn stencil(grid: &Grid, offsets: &[Vec<i32>], periodic: bool, bytes: f64) -> Traffic {
    let points = grid.points().expect("checked by the caller");
    let mut rows = Rows::new(points, points as usize * offsets.len());
    for point in 0..points {
        let coordinates = grid.coordinates(point);
        for offset in offsets {
            if let Some(to) = grid.neighbour(&coordinates, offset, periodic) {
                rows.push(to, bytes);
            }
        }
        rows.end_row();
    }
    rows.finish()
}

/// All-to-all within every line of the grid along `axis`.
pub(crate) fn all_to_all_along(grid: &Grid, axis: usize, bytes: f64) -> Traffic {
    let points = grid.points().expect("checked by the caller");
    let (size, stride) = (grid.sizes[axis], grid.sizes[..axis].iter().product::<u32>());
    let mut rows = Rows::new(points, points as usize * (size as usize - 1));
    for point in 0..points {
        let first = point - point / stride % size * stride;
        for k in 0..size {
            rows.push(first + k * stride, bytes);
        }
        rows.end_row();
    }
    rows.finish()
}

/// A barrier of every line of the grid along every axis, and one of all points. A barrier reduces to the first
/// member up a binary tree (member m to member (m - 1) / 2) and broadcasts back down it; everybody sends `bytes`
/// to each *partner*, however many barriers they share.
pub(crate) fn barriers(grid: &Grid, bytes: f64) -> Traffic {
    let points = grid.points().expect("checked by the caller");
    let mut rows = Rows::new(points, points as usize * 3 * (grid.sizes.len() + 1));
    let mut partners = Vec::new();
    for point in 0..points {
        partners.clear();
        tree_partners(point, points, |to| partners.push(to));
        let mut stride = 1;
        for &size in &grid.sizes {
            let member = point / stride % size;
            tree_partners(member, size, |to| partners.push(point - member * stride + to * stride));
            stride *= size;
        }
        partners.sort_unstable();
        partners.dedup();
        partners.iter().for_each(|&to| rows.push(to, bytes));
        rows.end_row();
    }
    rows.finish()
}

/// Parent and children of a member of a binary tree of `size`.
fn tree_partners(member: u32, size: u32, mut found: impl FnMut(u32)) {
    if member > 0 {
        found((member - 1) / 2);
    }
    // Below MAX_ENDPOINTS nothing here overflows.
    [2 * member + 1, 2 * member + 2].into_iter().filter(|&child| child < size).for_each(&mut found);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x_is_fastest() {
        let grid = Grid { sizes: vec![4, 3, 2] };
        assert_eq!(grid.coordinates(1), [1, 0, 0]);
        assert_eq!(grid.coordinates(4), [0, 1, 0]);
        assert_eq!(grid.coordinates(23), [3, 2, 1]);
        assert_eq!(Grid { sizes: vec![1 << 16, 1 << 16] }.points(), None);
    }

    #[test]
    fn surroundings_of_a_point_in_space_are_26() {
        assert_eq!(surroundings(3).len(), 26);
        assert_eq!(surroundings(1), [vec![-1], vec![1]]);
        assert_eq!(faces(3, None).len(), 6);
        assert_eq!(faces(3, Some((1, &[1]))), [vec![0, 1, 0]]);
    }

    #[test]
    fn a_ring_of_two_hears_its_neighbour_twice() {
        let grid = Grid { sizes: vec![2, 1] };
        let m = stencil(&grid, &faces(2, None), true, 1.0).total().into_owned();
        assert_eq!(m.iter().collect::<Vec<_>>(), [(0, 1, 2.0), (1, 0, 2.0)]);
    }

    #[test]
    fn lines_along_y_talk_among_themselves() {
        let grid = Grid { sizes: vec![2, 3, 2] };
        let m = all_to_all_along(&grid, 1, 1.0).total().into_owned();
        assert_eq!(m.row(0).0, [2, 4]);
        assert_eq!(m.row(9).0, [7, 11]);
        assert_eq!(m.entry_count(), 12 * 2);
    }

    /// On 2 x 2 points the tree of all is 0-1, 0-2, 1-3; the rows add 2-3, the columns nothing new.
    #[test]
    fn barriers_climb_binary_trees_and_come_down() {
        let m = barriers(&Grid { sizes: vec![2, 2] }, 1.0).total().into_owned();
        let pairs: Vec<_> = m.iter().collect();
        let both = [(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 3), (3, 1), (3, 2)];
        assert_eq!(pairs, both.map(|(i, j)| (i, j, 1.0)));
        let line = barriers(&Grid { sizes: vec![7] }, 2.0).total().into_owned();
        assert_eq!(line.row(1), (&[0, 3, 4][..], &[2.0; 3][..]));
        assert_eq!(line.entry_count(), 2 * 6);
    }
}
