//! Jobs files: which applications run, on which hosts, with which rank where. TOML.
//!
//! ```toml
//! seed = 1                             # of every random choice; 0 unless given
//! [[job]]
//! name = "lulesh"                      # unique; job1, job2, ... unless given
//! matrix = "lulesh-512.mtx.gz"         # a rank matrix; the path is relative to the jobs file
//! # pattern = "stencil:8x8x8"          # or a pattern (those without a grid take ranks=)
//! # ranks = 512                        # or only who was there; with `hosts` alone a rank an adapter, or ranks_per_host on each machine
//! # trace = "lulesh-64.ti.gz"          # or a run's trace, cut into phases
//! # phases = "collectives"             # where all wait for all (the default); or "one"
//! # collectives = "all"                # its collectives count (the default); or "none"
//! # algorithms = "allreduce=ring"      # how they are done; by size unless said
//! # tolerance = 0.01                   # phases that differ by at most so large a part are one that repeats
//! allocation = "fragmented"            # contiguous:START (the default: contiguous:0) | random | fragmented
//! # hosts = "node[0010-0521]"          # or these machines: a Slurm hostlist, or a list of names
//! # adapters = "mlx5_[0-3]"            # of its machines these alone: a name, a list, rail:0, switch:leaf09
//! # storage = "mlx5_8"                 # all but these
//! mapping = "tiled:4x4x2"              # block (unless given) | cyclic | cyclic-in-leaf | random | tiled:4x4x2 |
//!                                      # tiled:3x3x4/4x4x2 | fill-leaves:1,2,3 | file:PATH
//! grid = [8, 8, 8]                     # the process grid that tiles cut, x fastest; else the pattern's
//! ranks_per_host = 1                   # ranks on a machine; unless given spread over the machines, at most one an adapter
//! copies = 6                           # instances side by side, each on its own hosts
//! cross_copies = false                 # true: rank i of each copy sends to rank j of each copy
//! [[job.phase]]                        # instead of matrix or pattern: phases, in order
//! name = "halo"
//! pattern = "stencil:8x8x8,periodic,axis=+x"
//! repeats = 10                         # how often it happens; 1 unless given
//! ```
//! Every key is known or refused, with the nearest known one; every error names its line.

pub mod placing;

use netloom_model::traffic::{REPEATS, is_repeats};
use netloom_model::{Allocation, Cut, JobSpec, PhaseSpec, Source};
use toml_edit::{Item, Table};

use self::placing::{read_adapters, read_allocation, read_grid, read_mapping, unknown};
use crate::keys::{Keys, Place};
use crate::{FormatError, decompress};

/// A jobs file, read.
#[derive(Clone, Debug, PartialEq)]
pub struct JobsFile {
    /// The seed of every random choice.
    pub seed: u64,
    /// The jobs, in order; at least one.
    pub jobs: Vec<JobSpec>,
    /// Of every job where its keys stand; under no key where it begins.
    lines: Vec<Vec<(String, usize)>>,
}

impl JobsFile {
    /// The line of a job's key, else that on which the job begins; `job` counts from 0.
    pub fn line(&self, job: usize, key: &str) -> Option<usize> {
        let keys = self.lines.get(job)?;
        let of = |key: &str| keys.iter().find(|(name, _)| name == key).map(|&(_, line)| line);
        of(key).or_else(|| of(""))
    }
}

const FILE_KEYS: [&str; 2] = ["seed", "job"];
const JOB_KEYS: [&str; 19] = [
    "name",
    "matrix",
    "pattern",
    "trace",
    "phases",
    "tolerance",
    "collectives",
    "algorithms",
    "ranks",
    "phase",
    "allocation",
    "hosts",
    "adapters",
    "storage",
    "mapping",
    "grid",
    "ranks_per_host",
    "copies",
    "cross_copies",
];
const PHASE_KEYS: [&str; 4] = ["name", "matrix", "pattern", "repeats"];

/// More copies of a job, or ranks, than this are refused.
pub(crate) const MAX_RANKS: u32 = 10_000_000;

/// Reads a jobs file.
///
/// # Errors
/// [`FormatError`] names the line: TOML that is none, an unknown key (with the nearest known one), a value of
/// the wrong type, a job without traffic, a bad allocation, mapping or hostlist.
pub fn read_jobs(bytes: &[u8], label: &str) -> Result<JobsFile, FormatError> {
    let bytes = decompress(bytes, label)?;
    let at = Place::of(&bytes, label)?;
    let document = at.document()?;
    let root = document.as_table();
    Keys::new(&at, root, &FILE_KEYS, "a jobs file")?;
    of_table(&at, root)
}

/// Whether a job has keys that only jobs files know.
pub(crate) fn is_of_jobs_file(job: &Table) -> bool {
    OF_JOBS_FILES.iter().any(|key| job.contains_key(key))
}

const OF_JOBS_FILES: [&str; 8] =
    ["matrix", "pattern", "phase", "phases", "tolerance", "collectives", "copies", "cross_copies"];

/// The jobs of a file whose other keys are known.
pub(crate) fn of_table(at: &Place, root: &Table) -> Result<JobsFile, FormatError> {
    let known: Vec<&str> = root.iter().map(|(key, _)| key).collect();
    let file = Keys::new(at, root, &known, "a jobs file")?;
    let seed = file.whole("seed", 0..=i64::MAX)?.unwrap_or(0);
    let (jobs, lines): (Vec<_>, Vec<_>) = match root.get("job") {
        Some(Item::ArrayOfTables(tables)) => tables
            .iter()
            .enumerate()
            .map(|(i, table)| Ok((read_job(at, table, i)?, lines(at, table))))
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .unzip(),
        Some(other) => return Err(at.error(other.span(), "expected [[job]], with two brackets".into())),
        None => return Err(FormatError::whole(at.label, "expected at least one [[job]], found none")),
    };
    for (i, job) in jobs.iter().enumerate() {
        if jobs[..i].iter().any(|other| other.name == job.name) {
            let span = root
                .get("job")
                .and_then(Item::as_array_of_tables)
                .and_then(|t| t.get(i))
                .and_then(Table::span);
            return Err(
                at.error(span, format!("two jobs are called \"{}\": expected names that differ", job.name))
            );
        }
    }
    Ok(JobsFile { seed: seed as u64, jobs, lines })
}

fn lines(at: &Place, table: &Table) -> Vec<(String, usize)> {
    let whole = table.span().map(|span| (String::new(), at.line(&span)));
    let spans = table.iter().filter_map(|(key, item)| {
        let span = table.key(key).and_then(|k| k.span()).or_else(|| item.span())?;
        Some((key.to_owned(), at.line(&span)))
    });
    whole.into_iter().chain(spans).collect()
}

fn read_job(at: &Place, table: &Table, index: usize) -> Result<JobSpec, FormatError> {
    let keys = Keys::new(at, table, &JOB_KEYS, "a job")?;
    let name = keys.text("name")?.map_or_else(|| format!("job{}", index + 1), str::to_owned);
    if name.is_empty() || name.contains(char::is_control) {
        return Err(keys.error("name", "expected a name of printable characters".into()));
    }
    let allocation = read_allocation(&keys)?;
    let ranks_per_host = keys.whole("ranks_per_host", 1..=i64::from(MAX_RANKS))?.map(|n| n as u32);
    let source = match &allocation {
        // Who was there, and nothing else.
        Allocation::Hosts(hosts) if SOURCES.iter().chain(&OF_TRACES).all(|key| keys.item(key).is_none()) => {
            ranks_per_host.map_or(Source::Adapters, |ranks_per_host| {
                let ranks = (hosts.len() as u64 * u64::from(ranks_per_host)).min(u64::from(MAX_RANKS));
                Source::Ranks(ranks.max(1) as u32)
            })
        }
        _ => read_source(at, &keys)?,
    };
    Ok(JobSpec {
        source,
        allocation,
        adapters: read_adapters(&keys)?,
        ranks_per_host,
        copies: keys.whole("copies", 1..=i64::from(MAX_RANKS))?.unwrap_or(1) as u32,
        cross_copies: keys.flag("cross_copies")?.unwrap_or(false),
        grid: read_grid(&keys)?,
        mapping: read_mapping(&keys)?,
        name,
    })
}

const SOURCES: [&str; 5] = ["matrix", "pattern", "trace", "ranks", "phase"];
const OF_TRACES: [&str; 4] = ["phases", "tolerance", "collectives", "algorithms"];

/// Exactly one of matrix, pattern, trace, ranks and phases.
fn read_source(at: &Place, keys: &Keys) -> Result<Source, FormatError> {
    let given: Vec<&str> = SOURCES.into_iter().filter(|key| keys.item(key).is_some()).collect();
    let [only] = given[..] else {
        let expected = "expected one of matrix, pattern, trace, ranks and [[job.phase]]";
        return Err(match given.get(1) {
            Some(second) => keys.error(second, format!("{expected}, found {}", given.join(" and "))),
            None => keys.whole_error(format!("{expected}, found none")),
        });
    };
    if let Some(key) = OF_TRACES.into_iter().find(|key| only != "trace" && keys.item(key).is_some()) {
        return Err(keys.error(key, format!("expected this with a trace only, found {only}")));
    }
    match only {
        "trace" => Ok(Source::Trace {
            path: named(keys, "trace")?,
            cut: read_cut(keys)?,
            collectives: read_collectives(keys)?,
        }),
        "ranks" => Ok(Source::Ranks(keys.whole("ranks", 1..=i64::from(MAX_RANKS))?.unwrap_or(1) as u32)),
        "phase" => match keys.item("phase") {
            Some(Item::ArrayOfTables(tables)) => {
                let phases = tables.iter().map(|table| {
                    let keys = Keys::new(at, table, &PHASE_KEYS, "a phase")?;
                    let name = keys.text("name")?.unwrap_or_default().to_owned();
                    match (keys.item("matrix"), keys.item("pattern")) {
                        (Some(_), None) | (None, Some(_)) => {
                            let repeats = keys.number("repeats", REPEATS, is_repeats)?.unwrap_or(1.0);
                            Ok(PhaseSpec { name, source: file_or_pattern(&keys)?, repeats })
                        }
                        _ => Err(keys.whole_error("expected a phase with either matrix or pattern".into())),
                    }
                });
                Ok(Source::Phases(phases.collect::<Result<_, _>>()?))
            }
            _ => Err(keys.error("phase", "expected [[job.phase]], with two brackets".into())),
        },
        _ => file_or_pattern(keys),
    }
}

fn file_or_pattern(keys: &Keys) -> Result<Source, FormatError> {
    for (key, source) in [("matrix", Source::Matrix as fn(String) -> Source), ("pattern", Source::Pattern)] {
        if keys.item(key).is_some() {
            return named(keys, key).map(source);
        }
    }
    unreachable!("the caller has seen one of both")
}

/// A text that must not be empty, of a key that is there.
fn named(keys: &Keys, key: &str) -> Result<String, FormatError> {
    match keys.text(key)? {
        Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
        _ => Err(keys.error(key, format!("expected a {key}, found an empty text"))),
    }
}

/// How a trace becomes phases.
fn read_cut(keys: &Keys) -> Result<Cut, FormatError> {
    let tolerance = keys.number("tolerance", "a number of 0 to below 1", |t| (0.0..1.0).contains(&t))?;
    match (keys.text("phases")?, tolerance) {
        (None | Some("collectives"), None) => Ok(Cut::default()),
        (None | Some("collectives"), Some(tolerance)) => Ok(Cut::Collectives { tolerance }),
        (Some("one"), None) => Ok(Cut::One),
        (Some("one"), Some(_)) => Err(keys.error("tolerance", "expected none with phases = \"one\"".into())),
        (Some(word), _) => {
            Err(keys.error("phases", unknown("collectives or one", word, &["collectives", "one"])))
        }
    }
}

/// Whether a trace's collectives count, and how they are done.
fn read_collectives(keys: &Keys) -> Result<Option<String>, FormatError> {
    let algorithms = keys.text("algorithms")?;
    match (keys.text("collectives")?, algorithms) {
        (None | Some("all"), algorithms) => Ok(Some(algorithms.unwrap_or_default().to_owned())),
        (Some("none"), None) => Ok(None),
        (Some("none"), Some(_)) => {
            Err(keys.error("algorithms", "expected none with collectives = \"none\"".into()))
        }
        (Some(word), _) => Err(keys.error("collectives", unknown("all or none", word, &["all", "none"]))),
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::{AdapterChoice, Mapping};

    use super::*;
    use crate::jobs::placing::parse_allocation;

    fn refusal(text: &str) -> String {
        read_jobs(text.as_bytes(), "jobs.toml").unwrap_err().to_string()
    }

    /// One job whose second line is `line`, with a pattern.
    fn job(line: &str) -> Result<JobSpec, String> {
        let text = format!("[[job]]\n{line}\npattern = \"stencil:4x4\"\n");
        read_jobs(text.as_bytes(), "jobs.toml").map(|file| file.jobs[0].clone()).map_err(|e| e.to_string())
    }

    #[test]
    fn every_key_is_read() {
        let text = r#"
            seed = 7
            [[job]]
            name = "lulesh"
            matrix = "data/lulesh-512.mtx.gz"
            allocation = "fragmented"
            mapping = "tiled:3x3x4/4x4x2"
            grid = [8, 8, 8]
            ranks_per_host = 2
            copies = 6
            cross_copies = true
            [[job]]
            hosts = "node[08-10]"
            [[job.phase]]
            name = "east"
            pattern = "stencil:3,axis=+x"
            [[job.phase]]
            matrix = "m.mtx"
            repeats = 2.5
        "#;
        let file = read_jobs(text.as_bytes(), "jobs.toml").unwrap();
        assert_eq!(file.seed, 7);
        assert_eq!(
            file.jobs[0],
            JobSpec {
                name: "lulesh".into(),
                source: Source::Matrix("data/lulesh-512.mtx.gz".into()),
                allocation: Allocation::Fragmented,
                mapping: Mapping::Tiled(vec![vec![3, 3, 4], vec![4, 4, 2]]),
                adapters: AdapterChoice::default(),
                ranks_per_host: Some(2),
                copies: 6,
                cross_copies: true,
                grid: vec![8, 8, 8],
            }
        );
        let second = &file.jobs[1];
        assert_eq!(second.name, "job2");
        assert_eq!(
            second.allocation,
            Allocation::Hosts(["node08", "node09", "node10"].map(String::from).to_vec())
        );
        let Source::Phases(phases) = &second.source else { panic!("two phases") };
        assert_eq!(phases[0].name, "east");
        assert_eq!(phases[1].source, Source::Matrix("m.mtx".into()));
        assert_eq!([phases[0].repeats, phases[1].repeats], [1.0, 2.5]);
    }

    #[test]
    fn allocations_and_mappings_are_read() {
        let allocation = |text: &str| job(&format!("allocation = \"{text}\"")).unwrap().allocation;
        assert_eq!(job("").unwrap().allocation, Allocation::Contiguous(0));
        // A grid stays where nothing cuts it: `block` is compared with `tiled` by one word.
        assert_eq!(job("grid = [4, 4]").unwrap().grid, [4, 4]);
        assert_eq!(allocation("contiguous:10"), Allocation::Contiguous(10));
        assert_eq!(allocation("random"), Allocation::Random);
        assert_eq!(allocation("random:15"), Allocation::RandomAtMost(15));
        assert!(parse_allocation("random:0").unwrap_err().contains("hosts a leaf"));
        let mapping = |text: &str| job(&format!("mapping = \"{text}\"")).unwrap().mapping;
        assert_eq!(mapping("block"), Mapping::Block);
        assert_eq!(mapping("cyclic"), Mapping::Cyclic);
        assert_eq!(mapping("cyclic-in-leaf"), Mapping::CyclicInLeaf);
        assert_eq!(mapping("random"), Mapping::Random);
        assert_eq!(mapping("tiled:4x4x2"), Mapping::Tiled(vec![vec![4, 4, 2]]));
        assert_eq!(mapping("fill-leaves:1,2,3"), Mapping::FillLeaves(vec![1, 2, 3]));
        assert_eq!(mapping("file:map.txt"), Mapping::File("map.txt".into()));
    }

    #[test]
    fn unknown_keys_name_the_nearest_and_their_line() {
        assert_eq!(
            refusal("[[job]]\nalocation = \"random\"\n"),
            "jobs.toml:2: a job has no key \"alocation\", did you mean \"allocation\"?"
        );
        assert_eq!(
            refusal("sed = 1\n"),
            "jobs.toml:1: a jobs file has no key \"sed\", did you mean \"seed\"?"
        );
        let phase = "[[job]]\n[[job.phase]]\npatern = \"bis\"\n";
        assert_eq!(refusal(phase), "jobs.toml:3: a phase has no key \"patern\", did you mean \"pattern\"?");
        assert!(refusal("[[job]]\nzzzzzz = 1\n").contains("expected one of name, matrix"));
    }

    #[test]
    fn values_of_the_wrong_kind_are_refused_with_their_line() {
        let refusal = |line: &str| job(line).unwrap_err();
        assert_eq!(
            refusal("copies = 0"),
            "jobs.toml:2: copies: expected a whole number of 1 to 10000000, found 0"
        );
        assert_eq!(
            refusal("copies = \"6\""),
            "jobs.toml:2: copies: expected a whole number of 1 to 10000000, found \"6\""
        );
        assert!(refusal("name = 3").contains("jobs.toml:2: name: expected a text in quotes, found integer"));
        assert!(refusal("cross_copies = 1").contains("expected true or false"));
        assert!(refusal("grid = [4, 0]").contains("expected 1 to 6 sizes"));
        assert!(refusal("allocation = \"contigous:3\"").contains("did you mean \"contiguous\"?"));
        assert!(refusal("allocation = \"contiguous:x\"").contains("expected a host number"));
        assert!(refusal("allocation = \"hosts:n1\"").contains("hosts = "));
        assert!(refusal("hosts = \"n[1-\"").contains("column 2 of the hostlist"));
        assert!(refusal("hosts = []").contains("expected a Slurm hostlist"));
        assert!(refusal("hosts = \"n1\"\nallocation = \"random\"").contains("found both"));
        assert!(refusal("mapping = \"cylic\"").contains("did you mean \"cyclic\"?"));
        assert!(refusal("mapping = \"tiled:4x4/2\"").contains("expected tiles such as"));
        assert!(refusal("mapping = \"block:3\"").contains("expected nothing after"));
        assert!(refusal("mapping = \"fill-leaves\"").contains("expected leaves"));
    }

    #[test]
    fn hosts_alone_are_a_rank_each() {
        let text = b"[[job]]\nhosts = \"n[1-3]\"\nranks_per_host = 2\n";
        assert_eq!(read_jobs(text, "jobs.toml").unwrap().jobs[0].source, Source::Ranks(6));
        let text = b"[[job]]\nhosts = \"n[1-3]\"\n";
        assert_eq!(read_jobs(text, "jobs.toml").unwrap().jobs[0].source, Source::Adapters);
    }

    #[test]
    fn adapters_are_names_lists_rails_and_switches() {
        let adapters = |lines: &str| {
            let choice = job(lines)?.adapters;
            let text =
                |list: &[netloom_model::Selector]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
            Ok::<_, String>((text(&choice.only), text(&choice.storage)))
        };
        let none: [&str; 0] = [];
        assert_eq!(adapters("adapters = \"mlx5_[0-1],rail:7\"").unwrap().0, ["mlx5_0", "mlx5_1", "rail:7"]);
        assert_eq!(adapters("storage = [\"switch:leaf 9\"]").unwrap().1, ["switch:leaf 9"]);
        assert_eq!(adapters("storage = \"mlx5_8\"").unwrap().0, none);
        for bad in ["3", "[]", "[1]", "\"\"", "\"rail:x\"", "\"switch:\"", "\"mlx5_[\"", "{a = 1}"] {
            let said = adapters(&format!("adapters = {bad}")).unwrap_err();
            assert!(said.starts_with("jobs.toml:2: adapters: "), "{bad}: {said}");
        }
        assert!(adapters("storage = \"rail:-1\"").unwrap_err().contains("storage: expected a rail's number"));
    }

    #[test]
    fn a_job_has_exactly_one_source() {
        assert_eq!(
            refusal("[[job]]\nname = \"a\"\n"),
            "jobs.toml:1: expected one of matrix, pattern, trace, ranks and [[job.phase]], found none"
        );
        let two = "[[job]]\nmatrix = \"m\"\npattern = \"bis\"\n";
        assert!(refusal(two).starts_with("jobs.toml:3: pattern: expected one of"));
        assert!(
            refusal("[[job]]\npattern = \"bis\"\nphases = \"one\"\n")
                .starts_with("jobs.toml:3: phases: expected this")
        );
        assert!(
            refusal("[[job]]\n[[job.phase]]\nname = \"p\"\n")
                .contains("jobs.toml:2: expected a phase with either")
        );
        assert_eq!(
            refusal("[[job]]\n[[job.phase]]\npattern = \"bis\"\nrepeats = 0\n"),
            "jobs.toml:4: repeats: expected a number of 1e-9 to 1e9, found 0"
        );
        assert!(refusal("").contains("expected at least one [[job]]"));
        assert!(refusal("[job]\nranks = 3\n").contains("jobs.toml:1: expected [[job]], with two brackets"));
        let twins = "[[job]]\nname = \"a\"\nranks = 1\n[[job]]\nname = \"a\"\nranks = 1\n";
        assert!(refusal(twins).starts_with("jobs.toml:4: two jobs are called \"a\""));
    }

    #[test]
    fn traces_say_how_they_are_cut() {
        let cut = |lines: &str| {
            let file =
                read_jobs(format!("[[job]]\ntrace = \"t.ti\"\n{lines}").as_bytes(), "jobs.toml").unwrap();
            let Source::Trace { path, cut, .. } = file.jobs[0].source.clone() else { panic!("a trace") };
            assert_eq!(path, "t.ti");
            cut
        };
        assert_eq!(cut(""), Cut::Collectives { tolerance: 0.01 });
        assert_eq!(cut("phases = \"collectives\"\ntolerance = 0"), Cut::Collectives { tolerance: 0.0 });
        assert_eq!(cut("phases = \"one\""), Cut::One);
        let refused = |lines: &str| refusal(&format!("[[job]]\ntrace = \"t.ti\"\n{lines}"));
        assert!(
            refused("phases = \"ones\"")
                .starts_with("jobs.toml:3: phases: expected collectives or one, found")
        );
        assert!(
            refused("tolerance = 1")
                .contains("jobs.toml:3: tolerance: expected a number of 0 to below 1, found 1")
        );
        assert!(refused("phases = \"one\"\ntolerance = 0.1").contains("expected none with"));
    }

    #[test]
    fn text_that_is_not_toml_has_a_line() {
        assert!(
            refusal("seed = 1\n[[job]\n").starts_with("jobs.toml:2: expected TOML: "),
            "{}",
            refusal("seed = 1\n[[job]\n")
        );
        assert!(read_jobs(b"a\n\xff", "j").unwrap_err().to_string().starts_with("j:2: expected UTF-8"));
    }
}
