//! Keys of a job that say where its ranks are: `allocation`, `hosts`, `adapters`, `storage`, `mapping`, `grid`. The same in jobs files and
//! scenarios.

use netloom_model::names::nearest;
use netloom_model::{AdapterChoice, Allocation, Mapping, Selector};
use toml_edit::{Item, Value};

use crate::FormatError;
use crate::error::excerpt;
use crate::hostlist::expand_hostlist;
use crate::keys::Keys;

const ALLOCATIONS: [&str; 3] = ["contiguous", "random", "fragmented"];
const MAPPINGS: [&str; 8] =
    ["block", "cyclic", "cyclic-in-leaf", "random", "tiled", "fill-leaves", "file", "linear"];

pub(crate) fn read_allocation(keys: &Keys) -> Result<Allocation, FormatError> {
    if keys.item("hosts").is_some() {
        if keys.item("allocation").is_some() {
            return Err(keys.error("hosts", "expected either allocation or hosts, found both".into()));
        }
        return read_hosts(keys).map(Allocation::Hosts);
    }
    match keys.text("allocation")? {
        None => Ok(Allocation::Contiguous(0)),
        Some(text) => parse_allocation(text).map_err(|message| keys.error("allocation", message)),
    }
}

/// An allocation as jobs files spell it: `contiguous:START`, `random`, `random:MOST` or `fragmented`.
///
/// # Errors
/// What was expected.
pub fn parse_allocation(text: &str) -> Result<Allocation, String> {
    let (word, start) = text.split_once(':').map_or((text, None), |(word, start)| (word, Some(start)));
    match (word.trim(), start) {
        ("contiguous", None) => Ok(Allocation::Contiguous(0)),
        ("contiguous", Some(start)) => {
            start.trim().parse().map(Allocation::Contiguous).map_err(|_| {
                format!("expected a host number as in contiguous:10, found \"{}\"", excerpt(start))
            })
        }
        ("random", None) => Ok(Allocation::Random),
        ("random", Some(most)) => match most.trim().parse() {
            Ok(most) if most > 0 => Ok(Allocation::RandomAtMost(most)),
            _ => Err(format!("expected hosts a leaf as in random:15, found \"{}\"", excerpt(most))),
        },
        ("fragmented", None) => Ok(Allocation::Fragmented),
        ("hosts", _) => Err("expected the hosts in a key of their own: hosts = \"node[1-4]\"".to_owned()),
        (word, _) => Err(unknown("contiguous:START, random, random:MOST or fragmented", word, &ALLOCATIONS)),
    }
}

/// `adapters` and `storage`: which adapters of its machines a job uses.
pub(crate) fn read_adapters(keys: &Keys) -> Result<AdapterChoice, FormatError> {
    Ok(AdapterChoice { only: read_selectors(keys, "adapters")?, storage: read_selectors(keys, "storage")? })
}

/// A hostlist of adapters, or a list of them.
fn read_selectors(keys: &Keys, key: &str) -> Result<Vec<Selector>, FormatError> {
    let expected =
        || keys.error(key, "expected adapters such as \"mlx5_0\", \"mlx5_[0-3]\" or [\"rail:0\"]".into());
    let names: Vec<String> = match keys.item(key).map(Item::as_value) {
        None => return Ok(Vec::new()),
        Some(Some(Value::String(text))) => {
            return parse_adapters(text.value()).map_err(|message| keys.error(key, message));
        }
        Some(Some(Value::Array(list))) if !list.is_empty() => {
            let names = list.iter().map(|name| name.as_str().map(str::to_owned).ok_or_else(expected));
            names.collect::<Result<_, _>>()?
        }
        _ => return Err(expected()),
    };
    names.iter().map(|name| name.parse().map_err(|message| keys.error(key, message))).collect()
}

/// Adapters as a hostlist: `mlx5_[0-3],rail:7,switch:leaf09`.
///
/// # Errors
/// What was expected.
pub fn parse_adapters(text: &str) -> Result<Vec<Selector>, String> {
    expand_hostlist(text).map_err(|e| e.to_string())?.iter().map(|name| name.parse()).collect()
}

/// A hostlist, or a list of hostlists.
fn read_hosts(keys: &Keys) -> Result<Vec<String>, FormatError> {
    let expected =
        || keys.error("hosts", "expected a Slurm hostlist such as \"node[1-4]\", or a list of names".into());
    match keys.item("hosts").and_then(Item::as_value).ok_or_else(expected)? {
        Value::String(text) => expand_hostlist(text.value()).map_err(|e| keys.error("hosts", e.to_string())),
        Value::Array(list) => {
            let names = list.iter().map(|name| name.as_str().map(str::to_owned).ok_or_else(expected));
            let names = names.collect::<Result<Vec<_>, _>>()?;
            if names.is_empty() { Err(expected()) } else { Ok(names) }
        }
        _ => Err(expected()),
    }
}

pub(crate) fn read_mapping(keys: &Keys) -> Result<Mapping, FormatError> {
    let Some(text) = keys.text("mapping")? else { return Ok(Mapping::Block) };
    parse_mapping(text).map_err(|message| keys.error("mapping", message))
}

/// The process grid. Only tiles have a use for it; under another mapping it stays, so that mappings can be compared.
pub(crate) fn read_grid(keys: &Keys) -> Result<Vec<u32>, FormatError> {
    let Some(item) = keys.item("grid") else { return Ok(Vec::new()) };
    let sizes = match item.as_value() {
        Some(Value::Array(list)) => list
            .iter()
            .map(|n| n.as_integer().and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0))
            .collect::<Option<Vec<_>>>(),
        Some(Value::String(text)) => sizes(text.value()),
        _ => None,
    };
    let Some(sizes) = sizes.filter(|sizes| (1..=6).contains(&sizes.len())) else {
        return Err(keys.error("grid", "expected 1 to 6 sizes such as [8, 8, 8]".into()));
    };
    Ok(sizes)
}

/// A mapping as jobs files spell it: `block`, `cyclic`, `cyclic-in-leaf`, `random`, `tiled:4x4x2[/…]`,
/// `fill-leaves:1,2` or `file:PATH`.
///
/// # Errors
/// What was expected.
pub fn parse_mapping(text: &str) -> Result<Mapping, String> {
    let (word, rest) = text.split_once(':').map_or((text, None), |(word, rest)| (word, Some(rest.trim())));
    match (word.trim(), rest) {
        ("block" | "linear", None) => Ok(Mapping::Block),
        ("cyclic", None) => Ok(Mapping::Cyclic),
        ("cyclic-in-leaf", None) => Ok(Mapping::CyclicInLeaf),
        ("random", None) => Ok(Mapping::Random),
        ("tiled", rest) => {
            let rest = rest.unwrap_or_default();
            let levels: Option<Vec<_>> = rest.split('/').map(sizes).collect();
            let levels = levels.filter(|l| l.len() <= 2 && l.iter().all(|t| t.len() == l[0].len()));
            levels.map(Mapping::Tiled).ok_or_else(|| {
                let expected =
                    "expected tiles such as tiled:4x4x2, or tiled:3x3x4/4x4x2 (ranks, then tiles of tiles)";
                format!("{expected}, found \"{}\"", excerpt(text))
            })
        }
        ("fill-leaves", rest) => {
            let leaves: Option<Vec<u32>> =
                rest.unwrap_or_default().split(',').map(|n| n.trim().parse().ok()).collect();
            leaves.map(Mapping::FillLeaves).ok_or_else(|| {
                format!("expected leaves such as fill-leaves:1,2,3, found \"{}\"", excerpt(text))
            })
        }
        ("file", Some(path)) if !path.is_empty() => Ok(Mapping::File(path.to_owned())),
        ("file", _) => Err("expected a path as in file:mapping.txt".to_owned()),
        ("block" | "linear" | "cyclic" | "cyclic-in-leaf" | "random", Some(rest)) => {
            Err(format!("expected nothing after \"{word}\", found \":{}\"", excerpt(rest)))
        }
        (word, _) => Err(unknown(
            "block, cyclic, cyclic-in-leaf, random, tiled:…, fill-leaves:… or file:…",
            word,
            &MAPPINGS,
        )),
    }
}

/// `4x4x2` as sizes, each at least 1.
fn sizes(text: &str) -> Option<Vec<u32>> {
    text.split('x').map(|n| n.trim().parse().ok().filter(|&n: &u32| n > 0)).collect()
}

pub(crate) fn unknown(expected: &str, found: &str, known: &[&str]) -> String {
    let hint =
        nearest(found, known.iter().copied()).map(|k| format!(", did you mean \"{k}\"?")).unwrap_or_default();
    format!("expected {expected}, found \"{}\"{hint}", excerpt(found))
}
