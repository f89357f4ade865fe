//! The changelog's fragments: `changelog.d/AREA-SLUG.md`, one a change, put together at a release.
//!
//! Two changes never write into one file, so that no merge collides. A fragment is one or more items of a list, each
//! beginning with `- `, as they will stand in CHANGELOG.md; a first line `### Changed` (or Added, Removed, Fixed,
//! Deprecated, Security) says under which heading of [Keep a Changelog](https://keepachangelog.com/en/1.1.0/), without
//! one it is Added. AREA is one of [`AREAS`]: the heading `**Fabrics** (…)` of CHANGELOG.md.
//!
//! `xtask changelog` puts them into `## Unreleased` and removes them.

use std::path::Path;

use crate::tree::Tree;

const FOLDER: &str = "changelog.d/";
/// What fragments are called by, and the heading of that area.
const AREAS: [(&str, &str); 11] = [
    ("fabrics", "Fabrics"),
    ("traffic", "Traffic"),
    ("routes", "Routes"),
    ("optimiser", "Optimiser"),
    ("live", "A live fabric"),
    ("inference", "Inference and diagnosis"),
    ("simulator", "Simulator"),
    ("planning", "Planning and accounting"),
    ("pictures", "Studies, pictures, pages"),
    ("python", "Python"),
    ("commands", "Every command"),
];
const KINDS: [&str; 6] = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

/// A change as it will be told.
#[derive(Debug, PartialEq, Eq)]
struct Fragment {
    kind: &'static str,
    area: &'static str,
    items: String,
}

/// Fragments that are none, for `tidy`.
pub fn check(tree: &Tree) -> Vec<String> {
    let fragments = tree.files.iter().filter(|file| is_fragment(&file.path));
    fragments.filter_map(|file| read(&file.path, &file.text).err()).collect()
}

/// Whether a path is a fragment's.
pub fn is_fragment(path: &str) -> bool {
    path.strip_prefix(FOLDER).is_some_and(|name| name != "README.md")
}

fn read(path: &str, text: &str) -> Result<Fragment, String> {
    let name = path.trim_start_matches(FOLDER).trim_end_matches(".md");
    let words: Vec<&str> = AREAS.iter().map(|area| area.0).collect();
    let slug = |rest: &str| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    let found = AREAS
        .iter()
        .find(|(word, _)| name.strip_prefix(word).and_then(|rest| rest.strip_prefix('-')).is_some_and(slug));
    let Some(&(_, area)) = found.filter(|_| path.ends_with(".md")) else {
        return Err(format!(
            "{path}: expected changelog.d/AREA-SLUG.md, with an area {} and a slug of a-z, 0-9 and -",
            words.join(", ")
        ));
    };
    let (kind, body, first) = match text.strip_prefix("### ") {
        None => ("Added", text, 1),
        Some(rest) => {
            let (word, body) = rest.split_once('\n').unwrap_or((rest, ""));
            let kind = KINDS.into_iter().find(|kind| *kind == word.trim());
            let expected = || format!("{path}:1: expected ### and one of {}", KINDS.join(", "));
            (kind.ok_or_else(expected)?, body, 2)
        }
    };
    let blank = body.len() - body.trim_start().len();
    let first = first + body[..blank].matches('\n').count();
    let items = body.trim();
    for (number, line) in items.lines().enumerate() {
        let item = line.starts_with("- ") || number > 0 && line.starts_with("  ");
        if !item {
            let found = line.chars().take(40).collect::<String>();
            return Err(format!(
                "{path}:{}: expected an item, \"- …\", or its next line, \"  …\", found \"{found}\"",
                first + number
            ));
        }
    }
    if items.is_empty() {
        return Err(format!("{path}:1: expected an item, \"- …\", found nothing"));
    }
    Ok(Fragment { kind, area, items: items.to_owned() })
}

/// Puts the fragments into CHANGELOG.md and removes them.
///
/// # Errors
/// The first fragment that is none, or what the file system says; then nothing has changed.
pub fn run(root: &Path) -> Result<(), String> {
    let tree = Tree::read(root).map_err(|error| error.to_string())?;
    let files: Vec<_> = tree.files.iter().filter(|file| is_fragment(&file.path)).collect();
    let fragments = files.iter().map(|file| read(&file.path, &file.text)).collect::<Result<Vec<_>, _>>()?;
    let page = &tree.get("CHANGELOG.md").ok_or("there is no CHANGELOG.md")?.text;
    let text = put(page, &fragments)?;
    let path = root.join("CHANGELOG.md");
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    for file in &files {
        let path = root.join(&file.path);
        std::fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    println!("changelog: {} fragments are in CHANGELOG.md", files.len());
    Ok(())
}

/// The page with the fragments at the ends of their areas in `## Unreleased`; a heading or an area that is not there
/// is made.
fn put(page: &str, fragments: &[Fragment]) -> Result<String, String> {
    let start = page.find("## Unreleased\n").ok_or("CHANGELOG.md: expected \"## Unreleased\"")?;
    let end = page[start + 3..].find("\n## ").map_or(page.len(), |at| start + 3 + at + 1);
    let mut part = page[start..end].trim_end().to_owned();
    for fragment in fragments {
        part = put_one(&part, fragment);
    }
    let rest = &page[end..];
    let gap = if rest.is_empty() { "\n" } else { "\n\n" };
    Ok(format!("{}{part}{gap}{rest}", &page[..start]))
}

fn put_one(part: &str, fragment: &Fragment) -> String {
    let Fragment { kind, area, items } = fragment;
    let heading = format!("\n### {kind}\n");
    let Some(at) = part.find(&heading) else {
        // What is not a change stands last.
        let (before, after) = part.split_at(part.find("\n### Known limits").unwrap_or(part.len()));
        let gap = if after.is_empty() { "" } else { "\n" };
        return format!("{}\n\n### {kind}\n\n**{area}**\n{items}{gap}{after}", before.trim_end());
    };
    let from = at + heading.len();
    let to = part[from..].find("\n### ").map_or(part.len(), |next| from + next);
    let section = &part[from..to];
    let mark = format!("\n**{area}**");
    let section = match section.find(&mark) {
        None => format!("{}\n\n**{area}**\n{items}\n", section.trim_end()),
        Some(found) => {
            let after = found + mark.len();
            let next = section[after..].find("\n\n**").map_or(section.len(), |next| after + next);
            format!("{}\n{items}{}", section[..next].trim_end(), &section[next..])
        }
    };
    let gap = if to < part.len() { "\n" } else { "" };
    format!("{}{}{gap}{}", &part[..from], section.trim_end_matches('\n'), &part[to..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Changelog\n\nWords.\n\n## Unreleased\n\n### Added\n\n**Fabrics** ([fabric](docs/verbs/fabric.md))\n\
                        - Read: dumps.\n\n**Routes**\n- Engines.\n\n## 0.1.0\n\n- The first.\n";

    fn put_all(files: &[(&str, &str)]) -> Result<String, String> {
        let found = files.iter().map(|(path, text)| read(path, text)).collect::<Result<Vec<_>, _>>()?;
        put(PAGE, &found)
    }

    #[test]
    fn a_fragment_goes_to_the_end_of_its_area() {
        let text = put_all(&[("changelog.d/fabrics-tori.md", "- Tori,\n  of any size.\n")]).unwrap();
        assert_eq!(text, PAGE.replace("dumps.\n", "dumps.\n- Tori,\n  of any size.\n"));
        let text = put_all(&[("changelog.d/routes-x.md", "- One.\n- Two.\n")]).unwrap();
        assert_eq!(text, PAGE.replace("Engines.\n", "Engines.\n- One.\n- Two.\n"));
    }

    #[test]
    fn areas_and_headings_that_are_not_there_are_made() {
        let text = put_all(&[
            ("changelog.d/traffic-x.md", "- Traffic.\n"),
            ("changelog.d/live-y.md", "### Fixed\n\n- A fault.\n"),
            ("changelog.d/traffic-z.md", "- More.\n"),
        ])
        .unwrap();
        let added =
            "Engines.\n\n**Traffic**\n- Traffic.\n- More.\n\n### Fixed\n\n**A live fabric**\n- A fault.\n";
        assert_eq!(text, PAGE.replace("Engines.\n", added));
    }

    #[test]
    fn without_fragments_nothing_changes() {
        assert_eq!(put(PAGE, &[]).unwrap(), PAGE);
        let last = PAGE.split("\n## 0.1.0").next().unwrap();
        assert_eq!(put(last, &[]).unwrap(), last);
    }

    #[test]
    fn bad_fragments_are_told_with_their_line() {
        let tree = Tree::of(&[
            ("changelog.d/README.md", "# Fragments\n"),
            ("changelog.d/fabrics-good.md", "- Good.\n"),
            ("changelog.d/things-x.md", "- x\n"),
            ("changelog.d/fabrics.md", "- x\n"),
            ("changelog.d/fabrics-Big.md", "- x\n"),
            ("changelog.d/fabrics-a.md", "### Broken\n- x\n"),
            ("changelog.d/fabrics-b.md", "### Fixed\n\n- x\nmore\n"),
            ("changelog.d/fabrics-c.md", "\n"),
        ]);
        let found = check(&tree);
        assert_eq!(found.len(), 6, "{found:?}");
        assert!(found[0].starts_with("changelog.d/things-x.md: expected changelog.d/AREA-SLUG.md"));
        assert!(found[3].starts_with("changelog.d/fabrics-a.md:1: expected ### and one of Added"));
        assert!(found[4].starts_with("changelog.d/fabrics-b.md:4: expected an item"), "{}", found[4]);
        assert!(found[5].starts_with("changelog.d/fabrics-c.md:1: expected an item"));
    }
}
