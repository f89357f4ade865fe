//! Relative links of Markdown files lead to files, and `#anchors` to headings.

use crate::changelog;
use crate::tree::{File, Tree};

/// Links to nowhere.
pub fn check(tree: &Tree) -> Vec<String> {
    tree.ending(".md").flat_map(|file| broken(tree, file)).collect()
}

fn broken(tree: &Tree, file: &File) -> Vec<String> {
    let mut findings = Vec::new();
    // A fragment is text of CHANGELOG.md, and its links are seen from there.
    let seen_from = if changelog::is_fragment(&file.path) { "CHANGELOG.md" } else { &file.path };
    for (line, target) in links(&file.text) {
        let (path, anchor) = target.split_once('#').map_or((target.as_str(), None), |(p, a)| (p, Some(a)));
        let resolved = if path.is_empty() { Some(file.path.clone()) } else { resolve(seen_from, path) };
        let Some(resolved) = resolved.filter(|p| p.is_empty() || tree.paths.contains(p)) else {
            findings.push(format!("{}:{line}: {target} leads nowhere", file.path));
            continue;
        };
        let page = tree.get(&resolved).filter(|f| f.path.ends_with(".md"));
        if let (Some(page), Some(anchor)) = (page, anchor)
            && !prose(&page.text).any(|(_, l)| l.starts_with('#') && slug(l) == anchor)
        {
            findings.push(format!("{}:{line}: {resolved} has no heading #{anchor}", file.path));
        }
    }
    findings
}

/// Lines outside fenced code, with their numbers.
pub fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        (!fenced).then_some((number + 1, line))
    })
}

/// `(line, target)` of every relative `[text](target)`, images and `src="…"` included; code spans are no links.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let visible: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for (open, close) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
            for rest in visible.split(open).skip(1) {
                let target = rest.split(close).next().unwrap_or("");
                let target = target.split_whitespace().next().unwrap_or("");
                let elsewhere = target.contains("://") || target.starts_with("mailto:");
                if !target.is_empty() && !elsewhere {
                    found.push((number, target.to_owned()));
                }
            }
        }
    }
    found
}

/// The path that `target`, seen from the file `from`, names; `None` outside the repository.
fn resolve(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    if let Some(rooted) = target.strip_prefix('/') {
        return Some(rooted.trim_end_matches('/').to_owned());
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// A heading's anchor as GitHub makes it.
fn slug(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            c if c.is_alphanumeric() => Some(c),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_somewhere() {
        let tree = Tree::of(&[
            ("README.md", "[a](docs/a.md) [b](docs/b.md#the-map) ![p](docs/p.svg) [x](https://e.org/y)\n"),
            ("docs/a.md", "[up](../README.md) `[not](a-link)` [self](#here)\n## Here\n"),
            ("docs/b.md", "# The map\n```\n[in](code)\n```\n"),
        ]);
        assert_eq!(check(&tree), ["README.md:1: docs/p.svg leads nowhere"]);
    }

    #[test]
    fn a_wrong_anchor_is_named() {
        let tree = Tree::of(&[("a.md", "\n[b](b.md#there)\n"), ("b.md", "# Here\n")]);
        assert_eq!(check(&tree), ["a.md:2: b.md has no heading #there"]);
    }

    #[test]
    fn anchors_are_made_as_git_forges_make_them() {
        assert_eq!(slug("## Files, and `formats`: 2 of them"), "files-and-formats-2-of-them");
    }

    #[test]
    fn nothing_outside_the_repository() {
        assert_eq!(resolve("a.md", "../../x"), None);
        assert_eq!(resolve("docs/verbs/a.md", "../b.md").as_deref(), Some("docs/b.md"));
    }
}
