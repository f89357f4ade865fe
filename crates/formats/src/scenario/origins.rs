//! Where a scenario's keys stand: for what is found wrong only when the fabric and other files are there.

use std::collections::BTreeMap;

use toml_edit::{Table, TableLike};

use crate::FormatError;
use crate::keys::Place;

/// What brought a key.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    /// A line of the file, from 1.
    Line(usize),
    /// An override, as errors call it.
    Override(String),
}

/// What brought each key. Keys are paths such as `hardware.lanes` and `job.0.program.bytes`, jobs by number from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    label: String,
    keys: BTreeMap<String, Origin>,
}

impl Origins {
    /// Those of a document; keys without a place in the text came with the last of `overrides` (path, label) that covers them.
    pub(super) fn of(at: &Place, root: &Table, overrides: &[(String, String)]) -> Self {
        let newlines: Vec<usize> = at.text.match_indices('\n').map(|(i, _)| i).collect();
        let mut origins = Self { label: at.label.to_owned(), keys: BTreeMap::new() };
        origins.walk("", root, &|start| 1 + newlines.partition_point(|&i| i < start));
        for (path, label) in overrides {
            origins.keys.insert(path.clone(), Origin::Override(label.clone()));
        }
        origins
    }

    fn walk(&mut self, path: &str, table: &dyn TableLike, line: &dyn Fn(usize) -> usize) {
        for (key, item) in table.iter() {
            let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            if let Some(span) = table.key(key).and_then(|key| key.span()).or(item.span()) {
                self.keys.insert(path.clone(), Origin::Line(line(span.start)));
            }
            if let Some(table) = item.as_table_like() {
                self.walk(&path, table, line);
            }
            for (i, table) in item.as_array_of_tables().into_iter().flatten().enumerate() {
                let path = format!("{path}.{i}");
                if let Some(span) = table.span() {
                    self.keys.insert(path.clone(), Origin::Line(line(span.start)));
                }
                self.walk(&path, table, line);
            }
        }
    }

    /// An error at a key; at what it would lie in where it was not given.
    pub fn error(&self, key: &str, message: impl Into<String>) -> FormatError {
        let mut path = key;
        loop {
            match self.keys.get(path) {
                Some(Origin::Line(line)) => return FormatError::at(&self.label, *line, message),
                Some(Origin::Override(label)) => return FormatError::whole(label, message),
                None => {}
            }
            match path.rsplit_once('.') {
                Some((outer, _)) => path = outer,
                None => return FormatError::whole(&self.label, message),
            }
        }
    }
}
