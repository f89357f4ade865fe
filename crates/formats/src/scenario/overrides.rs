//! Overrides: `hardware.lanes=2` put into a document before it is read.
//!
//! A path is keys with dots between. In `job.bully.program.rounds` the second is a job's name (or its number from 1). What is
//! behind the first `=` is a TOML value; what is none is taken as text, so that quotes are rarely needed. Values put in have no
//! line: whoever reads the document names the override instead.

use netloom_model::names::nearest;
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

use crate::FormatError;
use crate::error::excerpt;

/// What errors call an override.
pub(super) fn label(text: &str) -> String {
    format!("--set {}", excerpt(text))
}

/// Puts one override into the root table; returns the path of its key, with jobs by number from 0.
pub(super) fn apply(root: &mut Table, text: &str) -> Result<String, FormatError> {
    let refuse = |message: String| FormatError::whole(&label(text), message);
    let (path, value) =
        text.split_once('=').ok_or_else(|| refuse("expected key=value, such as hardware.lanes=2".into()))?;
    let mut keys: Vec<&str> = path.split('.').map(str::trim).collect();
    if keys.iter().any(|key| key.is_empty()) {
        return Err(refuse("expected keys with dots between, such as hardware.lanes=2".into()));
    }
    let last = keys.pop().expect("a split has a part");
    let mut at: &mut dyn TableLike = root;
    let mut rest = &keys[..];
    let mut whole: Vec<String> = keys.iter().chain([&last]).map(|&key| key.to_owned()).collect();
    if let ["job", job, deeper @ ..] = rest {
        let (number, table) = find_job(at, job).map_err(refuse)?;
        whole[1] = number.to_string();
        (at, rest) = (table, deeper);
    } else if rest.is_empty() && last == "job" {
        return Err(refuse("expected a job and its key, such as job.bully.start_us=10".into()));
    } else if rest == ["job"] {
        return Err(refuse(format!("expected a key of job \"{last}\", such as job.{last}.start_us=10")));
    }
    for key in rest {
        let item = at.entry(key).or_insert_with(|| Item::Table(Table::new()));
        at = item.as_table_like_mut().ok_or_else(|| {
            refuse(format!("expected keys of a table: \"{}\" has a value, not keys", excerpt(key)))
        })?;
    }
    // The key goes too, with the line that it stood on.
    at.remove(last);
    at.insert(last, Item::Value(parse(value.trim())));
    Ok(whole.join("."))
}

/// A job by its name, or by its number from 1; with its number from 0.
fn find_job<'t>(root: &'t mut dyn TableLike, job: &str) -> Result<(usize, &'t mut dyn TableLike), String> {
    let jobs = root.get_mut("job").and_then(Item::as_array_of_tables_mut);
    let Some(jobs) = jobs else { return Err("the scenario has no [[job]]".into()) };
    let name = |(i, table): (usize, &Table)| match table.get("name").and_then(Item::as_str) {
        Some(name) => name.to_owned(),
        None => format!("job{}", i + 1),
    };
    let names: Vec<String> = jobs.iter().enumerate().map(name).collect();
    let number = job.parse::<usize>().ok().filter(|n| (1..=names.len()).contains(n));
    let found = names.iter().position(|name| name == job).or(number.map(|n| n - 1));
    match found.and_then(|i| jobs.get_mut(i).map(|table| (i, table))) {
        Some((i, table)) => Ok((i, table)),
        None => {
            let near = nearest(job, names.iter().map(String::as_str));
            let hint = match near {
                _ if job.parse::<i64>().is_ok() => format!(", and numbers are 1 to {}", names.len()),
                Some(name) => format!(", did you mean \"{name}\"?"),
                None => String::new(),
            };
            Err(format!("no job is called \"{}\"{hint}", excerpt(job)))
        }
    }
}

/// A TOML value, or text.
fn parse(text: &str) -> Value {
    let value = || {
        let mut document: DocumentMut = format!("value = {text}").parse().ok()?;
        if document.len() != 1 {
            return None;
        }
        document.remove("value")?.into_value().ok()
    };
    value().unwrap_or_else(|| Value::from(text))
}
