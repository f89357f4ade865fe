//! No flat folder: at most 20 source files beside each other, so that a list of names is an overview.

use std::collections::BTreeMap;

use crate::tree::Tree;

/// The most source files in a folder.
const MOST: usize = 20;
/// Folders of sources with more than [`MOST`] files.
pub fn check(tree: &Tree) -> Vec<String> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for file in tree.ending(".rs").chain(tree.ending(".py")) {
        let Some((folder, _)) = file.path.rsplit_once('/') else { continue };
        let source =
            folder.starts_with("crates/") && folder.contains("/src") || folder.starts_with("python/");
        if source {
            *sizes.entry(folder).or_default() += 1;
        }
    }
    let crowded = sizes.into_iter().filter(|(_, files)| *files > MOST);
    let text =
        |(folder, files)| format!("{folder}: {files} source files, more than {MOST}: group them by idea");
    crowded.map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(folder: &str, files: usize) -> Vec<String> {
        let paths: Vec<String> = (0..files).map(|i| format!("{folder}/{i}.rs")).collect();
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
        check(&Tree::of(&files))
    }

    #[test]
    fn twenty_files_pass_and_one_more_does_not() {
        assert!(findings("crates/a/src/b", 20).is_empty());
        let found = findings("crates/a/src/b", 21);
        assert_eq!(found, ["crates/a/src/b: 21 source files, more than 20: group them by idea"]);
        assert!(findings("crates/a/tests", 21).is_empty());
    }
}
