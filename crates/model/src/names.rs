//! Names as people order and mistype them.
//!
//! Hosts are numbered in natural order (`node2` before `node10`), so that a dump of a fabric and its
//! generator give the same ids whatever order the discovery visited the nodes in.

use std::cmp::Ordering;

/// Compares two names with runs of digits taken as numbers: `node2 < node10`. Names that differ only
/// in leading zeros are told apart by plain order, so the order is total.
pub fn natural_cmp(a: &str, b: &str) -> Ordering {
    let (mut x, mut y) = (a.as_bytes(), b.as_bytes());
    loop {
        match (x.first(), y.first()) {
            (None, None) => return a.cmp(b),
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(p), Some(q)) if p.is_ascii_digit() && q.is_ascii_digit() => {
                let (m, rest_x) = split_number(x);
                let (n, rest_y) = split_number(y);
                let order = m.len().cmp(&n.len()).then_with(|| m.cmp(n));
                if order != Ordering::Equal {
                    return order;
                }
                (x, y) = (rest_x, rest_y);
            }
            (Some(p), Some(q)) => {
                if p != q {
                    return p.cmp(q);
                }
                (x, y) = (&x[1..], &y[1..]);
            }
        }
    }
}

/// Splits a leading run of digits off, without its leading zeros.
fn split_number(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let start = text[..end].iter().position(|&b| b != b'0').unwrap_or(end);
    (&text[start..end], &text[end..])
}

/// The known word nearest to what somebody typed, if one is near enough to suggest.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (typed.chars().count() / 3).max(1) + 1;
    known
        .into_iter()
        .map(|word| (edit_distance(typed, word), word))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, word)| word)
}

/// Levenshtein distance in characters, ignoring case.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let substitution = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substitution.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_by_value() {
        assert_eq!(natural_cmp("node2", "node10"), Ordering::Less);
        assert_eq!(natural_cmp("r1n10", "r1n9"), Ordering::Greater);
        assert_eq!(natural_cmp("node02", "node2"), Ordering::Less);
        assert_eq!(natural_cmp("node", "node0"), Ordering::Less);
        assert_eq!(natural_cmp("node7", "node7"), Ordering::Equal);
    }

    #[test]
    fn nearest_word_is_suggested_only_when_near() {
        assert_eq!(nearest("alocation", ["allocation", "mapping"]), Some("allocation"));
        assert_eq!(nearest("zzz", ["allocation", "mapping"]), None);
    }
}
