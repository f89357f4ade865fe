//! Slurm hostlists: `node[0010-0521],x[1,3-5]y[01-02]`; and two things that Slurm has not: one rail of a machine, and any name at all.
//!
//! ```text
//! list  = name { "," name }
//! name  = part [ blank part ] | quoted                     the part behind a blank is an adapter: node[1-4] mlx5_0
//! part  = { character | "[" range { "," range } "]" }      several brackets multiply, the last fastest
//! range = number [ "-" number ]                            the first number's width pads with zeros
//! quoted = '"' { character | '""' } '"'                    as it stands; a quote in it is doubled
//! ```
//! Source: Slurm, `man scontrol` (show hostnames).

use std::borrow::Cow;

use crate::error::excerpt;
use crate::fabric::is_adapter;

/// More names than this are refused.
pub const MAX_NAMES: usize = 1_000_000;

/// What is wrong with a hostlist, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column} of the hostlist: {message}")]
pub struct HostlistError {
    /// Column, from 1, in characters.
    pub column: usize,
    /// What was expected, and what was found.
    pub message: String,
}

/// The names that a hostlist stands for, in its order. Blanks around names are ignored; a name given
/// twice comes out twice.
///
/// # Errors
/// [`HostlistError`] for unmatched or empty brackets, empty names, ranges that fall or are not numbers, and
/// lists of more than [`MAX_NAMES`] names.
pub fn expand_hostlist(text: &str) -> Result<Vec<String>, HostlistError> {
    let mut reader = Reader { text, at: 0 };
    let mut names = Vec::new();
    loop {
        reader.skip_blanks();
        let start = reader.at;
        let parts = reader.name()?;
        if reader.text[start..reader.at].trim().is_empty() {
            return Err(reader.error(start, "expected a host name, found none".into()));
        }
        let count = parts.iter().map(Part::count).fold(1u64, u64::saturating_mul);
        if count > (MAX_NAMES - names.len()) as u64 {
            return Err(reader.error(start, format!("expected at most {MAX_NAMES} names, found more")));
        }
        expand(&parts, &mut names, count as usize);
        match reader.peek() {
            Some(',') => reader.at += 1,
            _ => return Ok(names),
        }
    }
}

/// A piece of a name: fixed text, or the numbers of a bracket.
enum Part<'a> {
    Text(Cow<'a, str>),
    Ranges(Vec<Range>),
}

struct Range {
    first: u64,
    last: u64,
    width: usize,
}

impl Part<'_> {
    fn count(&self) -> u64 {
        match self {
            Part::Text(_) => 1,
            Part::Ranges(ranges) => {
                ranges.iter().map(|r| (r.last - r.first).saturating_add(1)).fold(0, u64::saturating_add)
            }
        }
    }
}

fn expand(parts: &[Part], names: &mut Vec<String>, count: usize) {
    let mut prefixes = vec![String::new()];
    for part in parts {
        match part {
            Part::Text(text) => prefixes.iter_mut().for_each(|p| p.push_str(text)),
            Part::Ranges(ranges) => {
                let mut next = Vec::with_capacity(prefixes.len().saturating_mul(part.count() as usize));
                for prefix in &prefixes {
                    for Range { first, last, width } in ranges {
                        next.extend((*first..=*last).map(|n| format!("{prefix}{n:0width$}")));
                    }
                }
                prefixes = next;
            }
        }
    }
    debug_assert_eq!(prefixes.len(), count);
    names.append(&mut prefixes);
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
    }

    fn error(&self, at: usize, message: String) -> HostlistError {
        HostlistError { column: self.text[..at].chars().count() + 1, message }
    }

    /// Up to the next comma outside brackets and quotes, or the end.
    fn name(&mut self) -> Result<Vec<Part<'a>>, HostlistError> {
        if self.peek() == Some('"') {
            return self.quoted();
        }
        let (mut parts, mut rail) = (Vec::new(), false);
        loop {
            let rest = &self.text[self.at..];
            let end = rest.find(['[', ']', ',']).unwrap_or(rest.len());
            let stop = rest[end..].chars().next();
            let fixed = if stop == Some('[') { &rest[..end] } else { rest[..end].trim_end() };
            if let Some(blank) = fixed.find(char::is_whitespace) {
                let adapter = fixed[blank..].trim_start();
                // Where a bracket follows, its number is a part of the adapter's name.
                let named = is_adapter(adapter) || stop == Some('[') && is_adapter(&format!("{adapter}0"));
                if rail || !named || adapter.contains(char::is_whitespace) || blank == 0 && parts.is_empty() {
                    let found = format!(
                        "expected \",\" between names, or quotes around a name with blanks, found a blank in \"{}\"",
                        excerpt(fixed)
                    );
                    return Err(self.error(self.at + blank, found));
                }
                rail = true;
            }
            if !fixed.is_empty() {
                parts.push(Part::Text(fixed.into()));
            }
            self.at += end;
            match stop {
                Some('[') => parts.push(Part::Ranges(self.brackets()?)),
                Some(']') => return Err(self.error(self.at, "found \"]\" without \"[\"".into())),
                _ => return Ok(parts),
            }
        }
    }

    /// `"rack 3, node 7"`
    fn quoted(&mut self) -> Result<Vec<Part<'a>>, HostlistError> {
        let open = self.at;
        let mut name = Cow::Borrowed("");
        loop {
            let inside = &self.text[self.at + 1..];
            let Some(length) = inside.find('"') else {
                return Err(self.error(open, "expected a closing quote after this one, found the end".into()));
            };
            name += &inside[..length];
            self.at += 1 + length;
            if !inside[length + 1..].starts_with('"') {
                break;
            }
            name += "\"";
            self.at += 1;
        }
        self.at += 1;
        self.skip_blanks();
        match self.peek() {
            _ if name.trim().is_empty() => Err(self.error(open, "expected a host name, found none".into())),
            None | Some(',') => Ok(vec![Part::Text(name)]),
            Some(found) => {
                Err(self.error(self.at, format!("expected \",\" after a name in quotes, found \"{found}\"")))
            }
        }
    }

    /// `[1,3-5]`
    fn brackets(&mut self) -> Result<Vec<Range>, HostlistError> {
        let open = self.at;
        let Some(length) = self.text[open..].find(']') else {
            return Err(self.error(open, "expected \"]\" after this \"[\", found the end".into()));
        };
        let mut ranges = Vec::new();
        let mut at = open + 1;
        for word in self.text[open + 1..open + length].split(',') {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let number = |digits: &str| -> Option<u64> {
                let plain =
                    !digits.is_empty() && digits.len() <= 18 && digits.bytes().all(|b| b.is_ascii_digit());
                plain.then(|| digits.parse().ok())?
            };
            match (number(first.trim()), number(last.trim())) {
                (Some(a), Some(b)) if a <= b => {
                    ranges.push(Range { first: a, last: b, width: first.trim().len() })
                }
                (Some(a), Some(b)) => {
                    return Err(self.error(at, format!("expected a range that rises, found {a}-{b}")));
                }
                _ => {
                    let found =
                        format!("expected a number or a range such as 3-5, found \"{}\"", excerpt(word));
                    return Err(self.error(at, found));
                }
            }
            at += word.len() + 1;
        }
        self.at = open + length + 1;
        Ok(ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Vec<String> {
        expand_hostlist(text).unwrap()
    }

    fn refusal(text: &str) -> String {
        expand_hostlist(text).unwrap_err().to_string()
    }

    #[test]
    fn ranges_expand_with_their_zeros() {
        assert_eq!(expanded("node[0009-0011]"), ["node0009", "node0010", "node0011"]);
        assert_eq!(expanded("n[8-10]"), ["n8", "n9", "n10"]);
        assert_eq!(
            expanded("x[1,3-4]y[01-02], z"),
            ["x1y01", "x1y02", "x3y01", "x3y02", "x4y01", "x4y02", "z"]
        );
        assert_eq!(expanded("rack[1-2]-ib"), ["rack1-ib", "rack2-ib"]);
        assert_eq!(expanded("node[0010-0521]").len(), 512);
    }

    #[test]
    fn one_rail_of_a_machine_can_be_said() {
        assert_eq!(expanded("node7 mlx5_0,node8"), ["node7 mlx5_0", "node8"]);
        assert_eq!(expanded("n[1-2] mlx5_0"), ["n1 mlx5_0", "n2 mlx5_0"]);
        assert_eq!(expanded("n1 mlx5_[0,2] , n[2] HCA-1"), ["n1 mlx5_0", "n1 mlx5_2", "n2 HCA-1"]);
        assert!(refusal("n1 node2").contains("expected \",\" between names"));
        assert!(refusal("n1 mlx5_0 mlx5_1").contains("expected \",\" between names"));
        assert!(refusal("n[1] mlx5_[0] mlx5_1").contains("expected \",\" between names"));
    }

    #[test]
    fn any_name_can_stand_in_quotes() {
        assert_eq!(
            expanded(r#""rack 3, node [7]" , b,"say ""hi""""#),
            ["rack 3, node [7]", "b", "say \"hi\""]
        );
        assert_eq!(expanded(r#"a"b"#), ["a\"b"]);
        assert_eq!(
            refusal(r#"a,"b"#),
            "column 3 of the hostlist: expected a closing quote after this one, found the end"
        );
        assert_eq!(
            refusal(r#""a"b"#),
            "column 4 of the hostlist: expected \",\" after a name in quotes, found \"b\""
        );
        assert_eq!(refusal(r#""""#), "column 1 of the hostlist: expected a host name, found none");
    }

    #[test]
    fn mistakes_have_a_column() {
        assert_eq!(refusal(""), "column 1 of the hostlist: expected a host name, found none");
        assert_eq!(refusal("a,,b"), "column 3 of the hostlist: expected a host name, found none");
        assert_eq!(refusal("a["), "column 2 of the hostlist: expected \"]\" after this \"[\", found the end");
        assert_eq!(refusal("a]"), "column 2 of the hostlist: found \"]\" without \"[\"");
        assert_eq!(refusal("n[1,5-3]"), "column 5 of the hostlist: expected a range that rises, found 5-3");
        assert!(refusal("n[]").contains("expected a number or a range such as 3-5, found \"\""));
        assert!(refusal("n[1-x]").contains("found \"1-x\""));
        assert!(refusal("n[[1]]").contains("found \"[1\""));
        assert!(refusal("a b").contains("expected \",\" between names"));
    }

    #[test]
    fn absurd_sizes_are_refused_before_they_are_built() {
        assert!(refusal("n[0-999999999999]").contains("at most 1000000 names"));
        assert!(refusal("a[1-99999]b[1-99999]c[1-99999]d[1-99999]e[1-99999]").contains("at most 1000000"));
        assert!(refusal(&"n[0-499999],".repeat(3)).contains("at most 1000000"));
        assert_eq!(expanded("n[0-999999]").len(), MAX_NAMES);
    }
}
