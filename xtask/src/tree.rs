//! The repository's text files, read once.
//!
//! Invariant: paths are relative to the root, with `/`, in rising order.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// Endings of the files whose text the checks look at.
const TEXT: [&str; 6] = [".rs", ".py", ".pyi", ".toml", ".md", ".json"];
/// Folders that hold nothing of ours.
const FOREIGN: [&str; 6] = ["target", "corpus", "artifacts", "__pycache__", "build", "dist"];

/// A text file.
#[derive(Clone, Debug)]
pub struct File {
    /// Path from the root.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// All text files, and the names of all files and folders.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Files whose text is looked at.
    pub files: Vec<File>,
    /// Every file and folder.
    pub paths: BTreeSet<String>,
}

impl Tree {
    /// Reads everything below `root` that is not hidden, ignored or foreign. `.ci` and `.gitignore` count as names.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.walk(root, "")?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    /// The files with this ending.
    pub fn ending<'a>(&'a self, ending: &'a str) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |f| f.path.ends_with(ending))
    }

    /// One file.
    pub fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|f| f.path == path)
    }

    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let file = |&(path, text): &(&str, &str)| File { path: path.into(), text: text.into() };
        Self {
            files: files.iter().map(file).collect(),
            paths: files.iter().map(|f| f.0.to_owned()).collect(),
        }
    }

    fn walk(&mut self, root: &Path, inside: &str) -> io::Result<()> {
        for entry in std::fs::read_dir(root.join(inside))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if inside.is_empty() { name.clone() } else { format!("{inside}/{name}") };
            let kind = entry.file_type()?;
            let hidden = name.starts_with('.') && !matches!(name.as_str(), ".ci" | ".gitignore");
            let foreign = FOREIGN.contains(&name.as_str()) || name.starts_with("demo-output");
            if hidden || (kind.is_dir() && foreign) {
                continue;
            }
            self.paths.insert(path.clone());
            if kind.is_dir() {
                self.walk(root, &path)?;
            } else if kind.is_file() && TEXT.iter().any(|ending| name.ends_with(ending)) {
                // A file that vanishes between listing and reading was not part of the repository.
                if let Ok(text) = std::fs::read_to_string(root.join(&path)) {
                    self.files.push(File { path, text });
                }
            }
        }
        Ok(())
    }
}
