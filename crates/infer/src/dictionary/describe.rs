//! Atoms in words.

use super::Atom;
use super::collective::{Collective, Lines, Way};
use super::grid::Grid;

/// What an atom is, for people; offsets have as many components as the grid has sides.
pub fn in_words(atom: &Atom, grid: &Grid) -> String {
    let sides = grid.sides.iter().filter(|&&s| s > 1).count().max(1);
    let offset = |offset: &[i64; 3], signs: bool| {
        let part = |v: &i64| if signs && *v > 0 { format!("+{v}") } else { v.to_string() };
        let parts: Vec<String> = offset[..sides].iter().map(part).collect();
        format!("({})", parts.join(", "))
    };
    match *atom {
        Atom::Offset(ref o) => format!("offset {}", offset(o, true)),
        Atom::BothWays(ref o) => format!("offset {} and back", offset(o, true)),
        Atom::Alike(ref o) => {
            // Components rise: the largest are those of real sides.
            let parts: Vec<String> = o[3 - sides..].iter().map(i64::to_string).collect();
            format!("all offsets like ({})", parts.join(", "))
        }
        Atom::Mirror { level: 0 } => "mirrored ranks".into(),
        Atom::Mirror { level } => format!("mirrored ranks of all {} segments", 1u64 << level),
        Atom::MirrorIn { level, segment } => {
            format!("mirrored ranks of segment {} of {}", segment + 1, 1u64 << level)
        }
        Atom::Exchange { bit } => format!("ranks r and r xor {}", 1u64 << bit),
        Atom::Collective { what, lines } => collective(what, lines, grid.sides.iter().product()),
        Atom::Wrapped(ref o) => format!("offset {}, round the ends", offset(o, true)),
        Atom::Transposed => "transposed ranks".into(),
        Atom::All => "all pairs".into(),
    }
}

/// A collective among so many ranks.
fn collective(what: Collective, lines: Lines, ranks: u32) -> String {
    let whole = lines.count == ranks;
    let first = if whole { "rank 0" } else { "the first" };
    let tree = |name: &str, way: Way| match way {
        Way::Down => format!("{name} from {first}"),
        Way::Up => format!("{name} to {first}"),
        Way::Both => format!("{name} to {first} and back"),
    };
    let what = match what {
        Collective::BinaryTree(way) => tree("binary tree", way),
        Collective::Binomial(way) => tree("binomial tree", way),
        Collective::Shares(way) => tree("shares in a binomial tree", way),
        Collective::Root(Way::Down) => format!("{first} to all"),
        Collective::Root(Way::Up) => format!("all to {first}"),
        Collective::Root(Way::Both) => format!("all to {first} and back"),
        Collective::Doubling => "recursive doubling".into(),
        Collective::Dissemination => "dissemination".into(),
        Collective::Shift { bit } => format!("ring by {}", 1u64 << bit),
        Collective::Ring => "ring".into(),
        Collective::Everybody => "all pairs".into(),
    };
    match lines {
        _ if whole => what,
        Lines { stride: 1, count } => format!("{what}, in rows of {count} ranks"),
        Lines { stride, count } => format!("{what}, in lines of {count} ranks {stride} apart"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::Order;

    #[test]
    fn offsets_have_as_many_components_as_the_grid() {
        let grid = |sides| Grid { sides, order: Order::Rows };
        assert_eq!(in_words(&Atom::Offset([1, -2, 0]), &grid([4, 4, 1])), "offset (+1, -2)");
        assert_eq!(in_words(&Atom::BothWays([0, 0, 1]), &grid([4, 4, 4])), "offset (0, 0, +1) and back");
        assert_eq!(in_words(&Atom::Alike([0, 0, 1]), &grid([4, 4, 4])), "all offsets like (0, 0, 1)");
        assert_eq!(in_words(&Atom::Wrapped([1, 0, 0]), &grid([4, 4, 1])), "offset (+1, 0), round the ends");
        assert_eq!(in_words(&Atom::Exchange { bit: 3 }, &grid([8, 1, 1])), "ranks r and r xor 8");
    }
    #[test]
    fn collectives_say_among_whom() {
        let grid = Grid { sides: [8, 4, 1], order: Order::Rows };
        let words =
            |what, stride, count| in_words(&Atom::Collective { what, lines: Lines { stride, count } }, &grid);
        assert_eq!(words(Collective::Binomial(Way::Down), 1, 32), "binomial tree from rank 0");
        assert_eq!(
            words(Collective::BinaryTree(Way::Both), 8, 4),
            "binary tree to the first and back, in lines of 4 ranks 8 apart"
        );
        assert_eq!(words(Collective::Everybody, 1, 8), "all pairs, in rows of 8 ranks");
    }
}
