//! Where lines are: of one file, or of several that were read as one text.

use std::sync::Arc;

/// Names of files by the lines of a text that they make up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The file and how many lines are before it.
    files: Vec<(Arc<str>, usize)>,
}

impl Lines {
    /// All lines are of one file.
    pub fn of(file: &str) -> Self {
        Self { files: vec![(file.into(), 0)] }
    }

    /// The lines of files that follow each other, with how many each has.
    ///
    /// # Panics
    /// If there are none.
    pub fn joined<'a>(files: impl IntoIterator<Item = (&'a str, usize)>) -> Self {
        let mut before = 0;
        let of = |(name, lines): (&str, usize)| {
            let file = (name.into(), before);
            before += lines;
            file
        };
        let files: Vec<_> = files.into_iter().map(of).collect();
        assert!(!files.is_empty(), "there is a file");
        Self { files }
    }

    /// The file of a line of the text, from 1, and its number there.
    pub fn find(&self, line: usize) -> (&str, usize) {
        let at = self.files.partition_point(|(_, before)| *before < line).max(1) - 1;
        let (name, before) = &self.files[at];
        (name, line - before)
    }

    /// The files, in order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(name, _)| &**name)
    }

    /// As errors name it: `run.ti:41`.
    pub fn told(&self, line: usize) -> String {
        let (name, line) = self.find(line);
        format!("{name}:{line}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_told_by_its_own_file() {
        let lines = Lines::joined([("a", 3), ("empty", 0), ("b", 2)]);
        let told: Vec<String> = (1..=6).map(|line| lines.told(line)).collect();
        assert_eq!(
            told,
            ["a:1", "a:2", "a:3", "b:1", "b:2", "b:3"],
            "what is missing is at the last one's end"
        );
        assert_eq!(Lines::of("x").told(7), "x:7");
    }
}
