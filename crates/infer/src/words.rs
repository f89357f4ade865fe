//! Atoms in words.

use crate::dictionary::Atom;
use crate::grid::Grid;

/// What an atom is, for people; offsets have as many components as the grid has sides.
pub fn in_words(atom: &Atom, grid: &Grid) -> String {
    let sides = grid.sides.iter().filter(|&&s| s > 1).count().max(1);
    let offset = |offset: &[i64; 3], signs: bool| {
        let part = |v: &i64| if signs && *v > 0 { format!("+{v}") } else { v.to_string() };
        let parts: Vec<String> = offset[..sides].iter().map(part).collect();
        format!("({})", parts.join(", "))
    };
    match atom {
        Atom::Offset(o) => format!("offset {}", offset(o, true)),
        Atom::BothWays(o) => format!("offset {} and back", offset(o, true)),
        Atom::Alike(o) => {
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
        Atom::Tree { down: true } => "binomial tree from rank 0".into(),
        Atom::Tree { down: false } => "binomial tree to rank 0".into(),
        Atom::Root { out: true } => "rank 0 to all".into(),
        Atom::Root { out: false } => "all to rank 0".into(),
        Atom::All => "all pairs".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Order;

    #[test]
    fn offsets_have_as_many_components_as_the_grid() {
        let grid = |sides| Grid { sides, order: Order::Rows };
        assert_eq!(in_words(&Atom::Offset([1, -2, 0]), &grid([4, 4, 1])), "offset (+1, -2)");
        assert_eq!(in_words(&Atom::BothWays([0, 0, 1]), &grid([4, 4, 4])), "offset (0, 0, +1) and back");
        assert_eq!(in_words(&Atom::Alike([0, 0, 1]), &grid([4, 4, 4])), "all offsets like (0, 0, 1)");
        assert_eq!(in_words(&Atom::Exchange { bit: 3 }, &grid([8, 1, 1])), "ranks r and r xor 8");
    }
}
