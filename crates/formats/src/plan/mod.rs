//! Plans: a machine to be bought, its catalogue, and the applications that it is for. TOML.
//!
//! ```toml
//! name = "quartz"
//! seed = 1                             # of fragmented and random orders; 0 unless given
//! compare = ["quartz1"]                # specs to count and price beside what is found
//!
//! [machine]
//! hosts = 3072
//! radix = 48                           # ports of a switch, an even number, or a list; all of the catalogue unless given
//! levels = [2, 3]                      # of switches; 2, 3 or both (both unless given); one switch where it does
//! bundles = "any"                      # of cables to spines of two levels; or "equal"
//! speed_gbps = 40                      # which of the catalogue's, if it has several
//!
//! [catalogue]
//! file = "slimfly-2014.toml"           # the path is relative to the plan
//!
//! [cables]                             # of hosts, from leaves up, from spines up
//! hosts = { kind = "copper", length_m = 2 }
//! leaves = { length_m = 20 }           # without a kind: the cheapest that is long enough
//! spines = { kind = "optical", length_m = 20 }
//!
//! [nodes]
//! price = 10000                        # of a host, without network: what taper saves buys more of them
//!
//! [budget]
//! network = 5e6                        # the most that the network may cost: the quickest is chosen
//! # [target]
//! # slowdown = 1.05                    # or the largest slowdown: the cheapest is chosen
//!
//! [placement]
//! orders = ["block", "fragmented", "random"]   # block and fragmented unless given
//! draws = 3                            # of each order that is drawn; 3 unless given
//!
//! [[application]]
//! name = "lulesh"                      # unique; application1, application2, … unless given
//! matrix = "lulesh-512.mtx.gz"         # rank to rank; or pattern = "…", or trace = "…"
//! weight = 0.7                         # share of node hours, in any unit; 1 unless given
//! wire_share = 0.4                     # share of its run time on a full tree that the busiest host's bytes take; or
//! # run_s = 12.5                       # that run time, seconds, at the speed of the plan; 1 unless either is given
//! # flops_per_s = 1e9                  # of a trace without either: how fast it computes; in no time unless given
//! ranks_per_host = 1
//! copies = "fill"                      # as many as fit (unless given), or a number
//! ```
//! Every key is known or refused, with the nearest known one; every error names its line.

mod application;

use netloom_model::names::nearest;
use toml_edit::{Table, Value};

use crate::catalogue::{SPEED, is_speed, text};
use crate::error::excerpt;
use crate::keys::{Keys, Place, list};
use application::read_applications;
pub use application::{PlanApplication, PlanRun, PlanSource};

use crate::{FormatError, decompress};

/// A plan, read.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanFile {
    /// Its name; empty if it has none.
    pub name: String,
    /// Seed of all orders.
    pub seed: u64,
    /// Specs to count beside.
    pub compare: Vec<String>,
    /// Hosts of the machine, at least 2.
    pub hosts: u32,
    /// Ports of switches, even, rising; empty for all that the catalogue has.
    pub radices: Vec<u32>,
    /// Levels of switches: 2, 3 or both, rising.
    pub levels: Vec<u32>,
    /// Whether every leaf of two levels has equally many cables to every spine.
    pub equal_bundles: bool,
    /// Speed of all cables, Gb/s, if the plan says it.
    pub speed_gbps: Option<f64>,
    /// Path of the catalogue, as written.
    pub catalogue: String,
    /// Cables of hosts, of leaves, of spines.
    pub cables: [PlanCable; 3],
    /// Price of a host without network.
    pub node_price: Option<f64>,
    /// The most that the network may cost.
    pub budget: Option<f64>,
    /// The largest slowdown.
    pub slowdown: Option<f64>,
    /// Words for orders, each once, at least one.
    pub orders: Vec<String>,
    /// Draws of every order that is drawn.
    pub draws: u32,
    /// The applications; at least one, with a positive sum of weights.
    pub applications: Vec<PlanApplication>,
    /// Where keys stand: `machine.hosts`, `application.0.matrix`.
    lines: Vec<(String, usize)>,
}

/// The cables of a level.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanCable {
    /// The kind; `None` for the cheapest that is long enough.
    pub kind: Option<String>,
    /// Length, m.
    pub length_m: f64,
}

impl PlanFile {
    /// The line of a key such as `machine.hosts` or `application.0.matrix`, else that of what it is in.
    pub fn line(&self, key: &str) -> Option<usize> {
        let of = |key: &str| self.lines.iter().find(|(name, _)| name == key).map(|&(_, line)| line);
        let outer = || key.rsplit_once('.').and_then(|(outer, _)| self.line(outer));
        of(key).or_else(outer)
    }
}

const FILE_KEYS: [&str; 11] = [
    "name",
    "seed",
    "compare",
    "machine",
    "catalogue",
    "cables",
    "nodes",
    "budget",
    "target",
    "placement",
    "application",
];
const MACHINE_KEYS: [&str; 5] = ["hosts", "radix", "levels", "bundles", "speed_gbps"];
const BUNDLES: [&str; 2] = ["any", "equal"];
const CABLES: [&str; 3] = ["hosts", "leaves", "spines"];
/// The orders that a plan may name.
pub const ORDERS: [&str; 3] = ["block", "fragmented", "random"];

/// More hosts than this are refused.
const MOST_HOSTS: i64 = 1_000_000;
/// More ports of a switch than this are refused: all ways to use them are looked at.
const MOST_PORTS: i64 = 256;
/// More draws of an order, or designs to compare with, than this are refused.
const MOST_DRAWS: i64 = 100;

/// Reads a plan.
///
/// # Errors
/// [`FormatError`] names the line: TOML that is none, an unknown key (with the nearest known one), an odd radix, a
/// communication share outside 0 to 1, weights that are all zero, an application without traffic.
pub fn read_plan(bytes: &[u8], label: &str) -> Result<PlanFile, FormatError> {
    let bytes = decompress(bytes, label)?;
    let at = Place::of(&bytes, label)?;
    let document = at.document()?;
    let root = document.as_table();
    let file = Keys::new(&at, root, &FILE_KEYS, "a plan")?;
    let machine = section(&file, "machine", &MACHINE_KEYS, label)?;
    let catalogue = section(&file, "catalogue", &["file"], label)?;
    let path = text(&catalogue, "file")?;
    let cables = section(&file, "cables", &CABLES, label)?;
    let levels = read_levels(&machine)?;
    let cable = |key| read_cable(&cables, key);
    // Trees of two levels have no cables up from spines.
    let of_spines = if levels.contains(&3) || cables.item("spines").is_some() { "spines" } else { "leaves" };
    let placement = file.table("placement", &["orders", "draws"], "placement")?;
    let money = |section: &str, key: &str| match file.table(section, &[key], section)? {
        Some(keys) => {
            match keys.number(key, "an amount, above 0 and at most 1e15", |x| x > 0.0 && x <= 1e15)? {
                Some(amount) => Ok(Some(amount)),
                None => Err(keys.whole_error(format!("expected {key} = an amount"))),
            }
        }
        None => Ok(None),
    };
    let (budget, slowdown) = (money("budget", "network")?, read_target(&file)?);
    if budget.is_some() && slowdown.is_some() {
        return Err(file.error("target", "expected either a budget or a target, found both".into()));
    }
    let (orders, draws) = match placement {
        Some(keys) => (read_orders(&keys)?, keys.whole("draws", 1..=MOST_DRAWS)?.unwrap_or(3)),
        None => (default_orders(), 3),
    };
    Ok(PlanFile {
        name: text(&file, "name")?.unwrap_or_default(),
        seed: file.whole("seed", 0..=i64::MAX)?.unwrap_or(0) as u64,
        compare: read_compare(&file)?,
        hosts: needed(&machine, "hosts", 2..=MOST_HOSTS)?,
        radices: read_radices(&machine)?,
        equal_bundles: read_bundles(&machine)?,
        levels,
        speed_gbps: machine.number("speed_gbps", SPEED, is_speed)?,
        catalogue: path.ok_or_else(|| catalogue.whole_error("expected file = \"…\", a catalogue".into()))?,
        cables: [cable("hosts")?, cable("leaves")?, cable(of_spines)?],
        node_price: money("nodes", "price")?,
        budget,
        slowdown,
        orders,
        draws: draws as u32,
        applications: read_applications(&at, &file, label)?,
        lines: lines(&at, root),
    })
}

/// A section that must be there.
fn section<'a>(file: &Keys<'a>, key: &str, known: &[&str], label: &str) -> Result<Keys<'a>, FormatError> {
    let missing = || FormatError::whole(label, format!("expected [{key}] with {}, found none", list(known)));
    file.table(key, known, key)?.ok_or_else(missing)
}

fn needed(keys: &Keys, key: &str, range: std::ops::RangeInclusive<i64>) -> Result<u32, FormatError> {
    let (least, most) = (*range.start(), *range.end());
    let missing = || keys.whole_error(format!("expected {key} = a whole number of {least} to {most}"));
    keys.whole(key, range)?.map(|n| n as u32).ok_or_else(missing)
}

fn read_radices(machine: &Keys) -> Result<Vec<u32>, FormatError> {
    let Some(item) = machine.item("radix") else { return Ok(Vec::new()) };
    let list = match item.as_value() {
        Some(Value::Array(list)) if !list.is_empty() => list.iter().map(Value::as_integer).collect(),
        Some(Value::Array(_)) => {
            return Err(machine.error("radix", "expected a number of ports, or a list of them".into()));
        }
        _ => vec![machine.whole("radix", 2..=MOST_PORTS)?],
    };
    let mut radices = Vec::with_capacity(list.len());
    for ports in list {
        match ports {
            Some(ports) if (2..=MOST_PORTS).contains(&ports) && ports % 2 == 0 => radices.push(ports as u32),
            Some(ports) => {
                let message = format!(
                    "expected an even number of ports of 2 to {MOST_PORTS}, as trees without taper have half of them \
                     up, found {ports}"
                );
                return Err(machine.error("radix", message));
            }
            None => return Err(machine.error("radix", "expected whole numbers of ports".into())),
        }
    }
    radices.sort_unstable();
    radices.dedup();
    Ok(radices)
}

fn read_bundles(machine: &Keys) -> Result<bool, FormatError> {
    match text(machine, "bundles")?.as_deref() {
        None | Some("any") => Ok(false),
        Some("equal") => Ok(true),
        Some(word) => {
            let message = format!("expected {}, found \"{}\"", list(&BUNDLES), excerpt(word));
            Err(machine.error("bundles", message))
        }
    }
}

fn read_levels(machine: &Keys) -> Result<Vec<u32>, FormatError> {
    let Some(item) = machine.item("levels") else { return Ok(vec![2, 3]) };
    let one = |n: Option<i64>| n.filter(|n| (2..=3).contains(n)).map(|n| n as u32);
    let levels = match item.as_value() {
        Some(Value::Array(list)) => list.iter().map(|n| one(n.as_integer())).collect(),
        Some(value) => one(value.as_integer()).map(|n| vec![n]),
        None => None,
    };
    match levels {
        Some(mut levels) if !levels.is_empty() => {
            levels.sort_unstable();
            levels.dedup();
            Ok(levels)
        }
        _ => Err(machine.error("levels", "expected 2, 3 or [2, 3]".into())),
    }
}

fn read_cable(cables: &Keys, key: &str) -> Result<PlanCable, FormatError> {
    let what = format!("{key} = {{ kind = \"…\", length_m = … }}");
    let missing = || cables.whole_error(format!("expected {what}"));
    let keys = cables.table(key, &["kind", "length_m"], "a cable")?.ok_or_else(missing)?;
    let length = keys.number("length_m", "metres, above 0 and at most 1e6", |x| x > 0.0 && x <= 1e6)?;
    Ok(PlanCable {
        kind: text(&keys, "kind")?,
        length_m: length.ok_or_else(|| keys.whole_error("expected length_m = metres".into()))?,
    })
}

fn read_target(file: &Keys) -> Result<Option<f64>, FormatError> {
    let Some(keys) = file.table("target", &["slowdown"], "target")? else { return Ok(None) };
    let found = keys.number("slowdown", "a slowdown of 1 to 1e6", |x| (1.0..=1e6).contains(&x))?;
    found.map(Some).ok_or_else(|| keys.whole_error("expected slowdown = a number of at least 1".into()))
}

fn default_orders() -> Vec<String> {
    ORDERS[..2].iter().map(|&order| order.to_owned()).collect()
}

fn read_orders(keys: &Keys) -> Result<Vec<String>, FormatError> {
    let Some(item) = keys.item("orders") else { return Ok(default_orders()) };
    let expected = || keys.error("orders", format!("expected a list of {}, each once", list(&ORDERS)));
    let mut orders: Vec<String> = Vec::new();
    for word in item.as_array().ok_or_else(expected)? {
        let word = word.as_str().ok_or_else(expected)?;
        if !ORDERS.contains(&word) {
            let hint = nearest(word, ORDERS).map(|near| format!(", did you mean \"{near}\"?"));
            let message = format!(
                "expected {}, found \"{}\"{}",
                list(&ORDERS),
                excerpt(word),
                hint.unwrap_or_default()
            );
            return Err(keys.error("orders", message));
        }
        if orders.iter().any(|other| other == word) {
            return Err(expected());
        }
        orders.push(word.to_owned());
    }
    if orders.is_empty() { Err(expected()) } else { Ok(orders) }
}

fn read_compare(file: &Keys) -> Result<Vec<String>, FormatError> {
    let Some(item) = file.item("compare") else { return Ok(Vec::new()) };
    let expected = || file.error("compare", format!("expected a list of at most {MOST_DRAWS} specs"));
    let specs = item.as_array().ok_or_else(expected)?.iter();
    let specs: Vec<String> =
        specs.map(|spec| spec.as_str().map(str::to_owned).ok_or_else(expected)).collect::<Result<_, _>>()?;
    if specs.len() > MOST_DRAWS as usize { Err(expected()) } else { Ok(specs) }
}

/// Where keys stand: of the file, of its sections, of its applications.
fn lines(at: &Place, root: &Table) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut add = |name: String, span: Option<std::ops::Range<usize>>| {
        found.extend(span.map(|span| (name, at.line(&span))));
    };
    for (key, item) in root.iter() {
        add(key.to_owned(), root.key(key).and_then(|k| k.span()).or_else(|| item.span()));
        if let Some(table) = item.as_table_like() {
            for (inner, item) in table.iter() {
                let span = table.key(inner).and_then(|k| k.span()).or_else(|| item.span());
                add(format!("{key}.{inner}"), span);
            }
        }
        for (number, table) in item.as_array_of_tables().into_iter().flatten().enumerate() {
            add(format!("{key}.{number}"), table.span());
            for (inner, item) in table.iter() {
                let span = table.key(inner).and_then(|k| k.span()).or_else(|| item.span());
                add(format!("{key}.{number}.{inner}"), span);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"name = "p"
[machine]
hosts = 3072
radix = 48
[catalogue]
file = "c.toml"
[cables]
hosts = { kind = "copper", length_m = 2 }
leaves = { length_m = 20 }
spines = { kind = "optical", length_m = 20.5 }
[nodes]
price = 10000
[placement]
orders = ["block", "random"]
[[application]]
matrix = "m.mtx"
weight = 2
wire_share = 0.4
"#;

    fn wrong(text: &str) -> String {
        read_plan(text.as_bytes(), "p.toml").unwrap_err().to_string()
    }

    #[test]
    fn a_plan_is_read_with_its_defaults() {
        let plan = read_plan(GOOD.as_bytes(), "p.toml").unwrap();
        assert_eq!(
            (plan.hosts, plan.radices.as_slice(), plan.levels.as_slice(), plan.draws),
            (3072, &[48][..], &[2, 3][..], 3)
        );
        assert_eq!(plan.cables[1], PlanCable { kind: None, length_m: 20.0 });
        assert_eq!((plan.node_price, plan.budget, plan.slowdown), (Some(10_000.0), None, None));
        let expected = PlanApplication {
            name: "application1".into(),
            source: PlanSource::Matrix("m.mtx".into()),
            weight: 2.0,
            run: PlanRun::Share(0.4),
            ranks_per_host: 1,
            copies: None,
        };
        assert_eq!(plan.applications, [expected]);
        let lines = ["machine.hosts", "machine", "application.0.matrix", "application.0.copies", "budget"];
        assert_eq!(lines.map(|key| plan.line(key)), [Some(3), Some(2), Some(16), Some(15), None]);
    }

    #[test]
    fn bad_plans_are_refused_by_line() {
        let cases = [
            ("radix = 48", "radix = 47", "p.toml:4: radix: expected an even number of ports"),
            (
                "radix = 48",
                "radix = 1000",
                "p.toml:4: radix: expected a whole number of 2 to 256, found 1000",
            ),
            ("hosts = 3072\n", "", "p.toml:2: expected hosts = a whole number"),
            (
                "hosts = 3072",
                "hosts = -1",
                "p.toml:3: hosts: expected a whole number of 2 to 1000000, found -1",
            ),
            ("radix = 48", "radix = 48\nlevels = 4", "p.toml:5: levels: expected 2, 3 or [2, 3]"),
            ("radix = 48", "radix = 48\nlevels = []", "p.toml:5: levels: expected 2, 3 or [2, 3]"),
            ("radix = 48", "radix = 48\nspeed_gbps = 0", "p.toml:5: speed_gbps: expected a speed"),
            ("radix = 48", "radix = []", "p.toml:4: radix: expected a number of ports, or a list of them"),
            (
                "radix = 48",
                "radix = [36, 47]",
                "p.toml:4: radix: expected an even number of ports of 2 to 256, as trees",
            ),
            (
                "radix = 48",
                "radix = 48\nbundles = \"odd\"",
                "p.toml:5: bundles: expected any or equal, found \"odd\"",
            ),
            ("file = \"c.toml\"\n", "", "p.toml:5: expected file = "),
            ("leaves = { length_m = 20 }\n", "", "p.toml:7: expected leaves = "),
            ("length_m = 20.5", "length_m = 0", "p.toml:10: length_m: expected metres"),
            ("price = 10000", "price = 0", "p.toml:12: price: expected an amount, above 0"),
            ("\"random\"]", "\"blok\"]", "found \"blok\", did you mean \"block\"?"),
            (
                "\"random\"]",
                "\"block\"]",
                "p.toml:14: orders: expected a list of block, fragmented or random",
            ),
            ("weight = 2", "weight = 0", "p.toml:15: application: expected a weight above 0"),
            ("weight = 2", "weight = -1", "p.toml:17: weight: expected a weight of 0 to 1e9, found -1"),
            ("wire_share = 0.4", "wire_share = 1.5", "p.toml:18: wire_share: expected a share of 0 to 1"),
            ("wire_share = 0.4", "run_s = 0", "p.toml:18: run_s: expected seconds, above 0"),
            (
                "wire_share = 0.4",
                "wire_share = 0.4\nrun_s = 3",
                "p.toml:19: run_s: expected one of wire_share, run_s or flops_per_s, found wire_share and run_s",
            ),
            (
                "wire_share = 0.4",
                "flops_per_s = 1e9",
                "p.toml:18: flops_per_s: expected it with a trace only",
            ),
            ("matrix = \"m.mtx\"\n", "", "p.toml:15: expected one of matrix, pattern or trace, found none"),
            ("weight = 2", "trace = \"t\"", "p.toml:17: trace: expected one of matrix, pattern or trace"),
            ("weight = 2", "copies = \"all\"", "p.toml:17: copies: expected a whole number or \"fill\""),
            ("weight = 2", "wieght = 2", "an application has no key \"wieght\", did you mean \"weight\"?"),
            ("[nodes]\nprice", "[budget]\nmoney", "p.toml:12: budget has no key \"money\""),
            (
                "[nodes]\nprice",
                "[target]\nslowdown = 2\n[budget]\nnetwork",
                "expected either a budget or a target",
            ),
            ("name", "compare = 3\nname", "p.toml:1: compare: expected a list"),
            ("[[application]]", "[application]", "expected [[application]], with two brackets"),
            ("name = ", "name ", "expected TOML"),
        ];
        for (from, to, expected) in cases {
            assert!(GOOD.contains(from), "{from}");
            let error = wrong(&GOOD.replacen(from, to, 1));
            assert!(error.contains(expected), "{from} -> {to}: {error}");
        }
        assert!(
            wrong("")
                .contains("expected [machine] with hosts, radix, levels, bundles or speed_gbps, found none")
        );
        let twice = format!("{GOOD}[[application]]\npattern = \"shift:1\"\nname = \"application1\"\n");
        assert!(wrong(&twice).contains("p.toml:19: two applications are called \"application1\""));
        assert!(read_plan(&[0xff, 0x00], "p.toml").is_err());
    }
}
