//! No flat folder: at most 20 source files beside each other, so that a list of names is an overview.

use std::collections::BTreeMap;

use crate::tree::Tree;

/// The most source files in a folder.
const MOST: usize = 20;
/// Folders that have more today, and how many. The list can only shrink, and so can the numbers.
const CROWDED: [(&str, usize); 3] =
    [("crates/infer/src", 39), ("crates/model/src", 26), ("crates/python/src", 32)];

/// Folders of sources with more than [`MOST`] files, and exceptions that are larger than needed.
pub fn check(tree: &Tree) -> Vec<String> {
    found(tree, &CROWDED)
}

fn found(tree: &Tree, crowded: &[(&str, usize)]) -> Vec<String> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for file in tree.ending(".rs").chain(tree.ending(".py")) {
        let Some((folder, _)) = file.path.rsplit_once('/') else { continue };
        let source =
            folder.starts_with("crates/") && folder.contains("/src") || folder.starts_with("python/");
        if source {
            *sizes.entry(folder).or_default() += 1;
        }
    }
    let allowed = |folder: &str| crowded.iter().find(|(name, _)| *name == folder).map(|(_, most)| *most);
    let mut findings = Vec::new();
    for (&folder, &files) in &sizes {
        let most = allowed(folder).unwrap_or(MOST);
        if files > most {
            findings.push(format!("{folder}: {files} source files, more than {most}: group them by idea"));
        }
    }
    for &(folder, most) in crowded {
        let files = sizes.get(folder).copied().unwrap_or(0);
        if files <= MOST {
            findings.push(format!("{folder}: {files} source files: drop it in xtask/src/folders.rs"));
        } else if files < most {
            findings.push(format!("{folder}: {files} source files: lower {most} in xtask/src/folders.rs"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(folder: &str, files: usize, crowded: &[(&str, usize)]) -> Vec<String> {
        let paths: Vec<String> = (0..files).map(|i| format!("{folder}/{i}.rs")).collect();
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
        found(&Tree::of(&files), crowded)
    }

    #[test]
    fn twenty_files_pass_and_one_more_does_not() {
        assert!(findings("crates/a/src/b", 20, &[]).is_empty());
        let found = findings("crates/a/src/b", 21, &[]);
        assert_eq!(found, ["crates/a/src/b: 21 source files, more than 20: group them by idea"]);
        assert!(findings("crates/a/tests", 21, &[]).is_empty());
    }

    #[test]
    fn an_exception_only_shrinks() {
        let crowded = [("crates/a/src", 25)];
        assert!(findings("crates/a/src", 25, &crowded).is_empty());
        assert!(findings("crates/a/src", 26, &crowded)[0].contains("more than 25"));
        assert!(findings("crates/a/src", 24, &crowded)[0].contains("lower 25"));
        assert!(findings("crates/a/src", 20, &crowded)[0].contains("drop it"));
    }
}
