//! `xtask bench OLD NEW [NAME…]`: the gate for the speed of commands, two builds on one machine.
//!
//! Every command runs with both builds in turn: OLD NEW, NEW OLD, OLD NEW, …, so that what else the machine does
//! meets both alike. A command is *suspect* if NEW takes over [`RATIO`] of OLD's time and over [`LEAST_S`] more, both
//! by the median over the pairs. Only suspects are measured again, with more pairs; one that is no suspect then is
//! cleared. Who is still suspect after [`ROUNDS`] rounds is slower: exit 1. The geometric mean over all commands is
//! told. Absolute times are of this machine at this hour, and nothing is compared with them.
//!
//! Model: DuckDB's regression runner (`scripts/regression/test_runner.py`: 10 %, 50 ms, suspects again).
//! The commands are those of `make bench`'s families, on fabrics by spec and files of the repository.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// NEW beside OLD, above which a command is suspect.
const RATIO: f64 = 1.10;
/// And so many seconds more.
const LEAST_S: f64 = 0.050;
/// Pairs of each round.
const ROUNDS: [usize; 3] = [3, 5, 9];

/// Name and command; `{here}` is the repository.
const COMMANDS: [(&str, &str); 12] = [
    ("start", "--version"),
    ("parse", "fabric show {here}/tests/data/opensm/quartz1/ibnetdiscover.txt.gz"),
    ("route", "route ftree quartz1 -o r.lfts --quiet"),
    ("check", "check quartz1 ftree"),
    ("loads", "loads quartz1 ftree all-to-all"),
    ("optimise", "optimize quartz1 all-to-all"),
    ("optimise jobs", "optimize quartz1 {here}/examples/jobs/lulesh6.toml"),
    ("synth", "counters synth quartz1 ftree {here}/examples/jobs/lulesh6.toml -o c.csv --quiet"),
    ("infer", "infer quartz1 ftree c.csv --jobs {here}/examples/jobs/lulesh6.toml --quiet"),
    ("simulate", "simulate {here}/examples/scenarios/lulesh.toml"),
    ("sample", "sample run {here}/examples/scenarios/neighbour.toml -o run --quiet"),
    ("health", "health {here}/tests/data/opensm/quartz1/ibnetdiscover.txt.gz"),
];

/// Seconds of both builds, a pair a run.
#[derive(Clone, Debug, Default, PartialEq)]
struct Pairs(Vec<(f64, f64)>);

impl Pairs {
    /// The median of NEW over OLD, pair by pair: what disturbs one pair disturbs one ratio.
    fn ratio(&self) -> f64 {
        median(self.0.iter().map(|(old, new)| new / old).collect())
    }

    /// By how many seconds NEW's median is above OLD's.
    fn more(&self) -> f64 {
        self.seconds_new() - self.seconds_old()
    }

    fn seconds_old(&self) -> f64 {
        median(self.0.iter().map(|pair| pair.0).collect())
    }

    fn seconds_new(&self) -> f64 {
        median(self.0.iter().map(|pair| pair.1).collect())
    }

    fn is_suspect(&self) -> bool {
        self.ratio() > RATIO && self.more() > LEAST_S
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { 0.5 * (values[half - 1] + values[half]) }
}

/// A command's last round, and how many rounds it had.
#[derive(Clone, Debug, PartialEq)]
struct Judged {
    pairs: Pairs,
    rounds: usize,
}

impl Judged {
    fn is_slower(&self) -> bool {
        self.pairs.is_suspect()
    }
}

/// Which build of a pair runs first: OLD NEW, NEW OLD, OLD NEW, …
fn is_old_first(pair: usize) -> bool {
    pair.is_multiple_of(2)
}

/// Measures all commands, and suspects again. `pair(command, old_first)` runs a command with both builds.
///
/// # Errors
/// What `pair` says of a command that failed.
fn judge(
    commands: usize,
    mut pair: impl FnMut(usize, bool) -> Result<(f64, f64), String>,
) -> Result<Vec<Judged>, String> {
    let mut judged: Vec<Judged> = vec![Judged { pairs: Pairs::default(), rounds: 0 }; commands];
    for (round, pairs) in ROUNDS.into_iter().enumerate() {
        for (command, one) in judged.iter_mut().enumerate() {
            if round > 0 && !one.is_slower() {
                continue;
            }
            let runs = (0..pairs).map(|n| pair(command, is_old_first(n))).collect::<Result<_, _>>()?;
            *one = Judged { pairs: Pairs(runs), rounds: round + 1 };
        }
    }
    Ok(judged)
}

/// The geometric mean of NEW over OLD.
fn geometric_mean(judged: &[Judged]) -> f64 {
    (judged.iter().map(|one| one.pairs.ratio().ln()).sum::<f64>() / judged.len() as f64).exp()
}

/// The table, and what follows from it.
fn told(names: &[&str], judged: &[Judged]) -> String {
    let mut text = String::from("command            old (s)   new (s)   ratio  rounds\n");
    for (name, one) in names.iter().zip(judged) {
        let mark = if one.is_slower() { "  slower" } else { "" };
        let (old, new, ratio) = (one.pairs.seconds_old(), one.pairs.seconds_new(), one.pairs.ratio());
        let _ = writeln!(text, "{name:16} {old:9.3} {new:9.3} {ratio:7.3} {:7}{mark}", one.rounds);
    }
    let slower = judged.iter().filter(|one| one.is_slower()).count();
    let verdict = if slower > 0 { format!("{slower} slower: NOT OK") } else { "ok".into() };
    let _ = write!(text, "\ngeometric mean {:.3}\n{verdict}", geometric_mean(judged));
    text
}

/// Runs the gate: 0 if no command is slower, 1 if one is, 2 for words that are none, 3 if a command fails.
pub fn run(root: &Path, words: &[&str]) -> ExitCode {
    let [old, new, wanted @ ..] = words else { return usage("expected OLD and NEW, two netloom commands") };
    let names: Vec<&str> = COMMANDS.iter().map(|(name, _)| *name).collect();
    if let Some(unknown) = wanted.iter().find(|name| !names.contains(name)) {
        return usage(&format!("no command is called \"{unknown}\": expected {}", names.join(", ")));
    }
    let chosen: Vec<usize> =
        (0..names.len()).filter(|&at| wanted.is_empty() || wanted.contains(&names[at])).collect();
    match measured(root, [Path::new(old), Path::new(new)], &chosen) {
        Ok(judged) => {
            println!("{}", told(&chosen.iter().map(|&at| names[at]).collect::<Vec<_>>(), &judged));
            ExitCode::from(u8::from(judged.iter().any(Judged::is_slower)))
        }
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::from(3)
        }
    }
}

fn usage(text: &str) -> ExitCode {
    eprintln!("bench: {text}");
    ExitCode::from(2)
}

fn measured(root: &Path, builds: [&Path; 2], chosen: &[usize]) -> Result<Vec<Judged>, String> {
    let home = std::env::temp_dir().join(format!("netloom-bench-{}", std::process::id()));
    let folders = ["old", "new"].map(|name| home.join(name));
    let made = folders.iter().try_for_each(std::fs::create_dir_all);
    made.map_err(|error| format!("{}: {error}", home.display()))?;
    let result = prepared(root, builds, &folders).and_then(|()| {
        judge(chosen.len(), |at, old_first| {
            let (name, command) = COMMANDS[chosen[at]];
            eprint!("\r{name}\x1b[K");
            let mut seconds = [0.0; 2];
            let order = if old_first { [0, 1] } else { [1, 0] };
            for which in order {
                seconds[which] = spent(root, builds[which], &folders[which], command)?;
            }
            Ok((seconds[0], seconds[1]))
        })
    });
    eprint!("\r\x1b[K");
    // What is left behind is in the temporary folder, and says nothing of the builds.
    let _ = std::fs::remove_dir_all(&home);
    result
}

/// Warms both builds, and makes the counters that `infer` reads.
fn prepared(root: &Path, builds: [&Path; 2], folders: &[PathBuf; 2]) -> Result<(), String> {
    let counters = COMMANDS.iter().find(|(name, _)| *name == "synth").map_or("--version", |found| found.1);
    for (build, folder) in builds.into_iter().zip(folders) {
        spent(root, build, folder, "--version")?;
        spent(root, build, folder, counters)?;
    }
    Ok(())
}

/// Seconds of one run.
fn spent(root: &Path, build: &Path, folder: &Path, command: &str) -> Result<f64, String> {
    let build = std::path::absolute(build).map_err(|error| format!("{}: {error}", build.display()))?;
    // A run is written into a folder that is not there.
    let _ = std::fs::remove_dir_all(folder.join("run"));
    let here = root.display().to_string();
    let words: Vec<String> = command.split(' ').map(|word| word.replace("{here}", &here)).collect();
    let start = Instant::now();
    let status = Command::new(&build)
        .args(&words)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let seconds = start.elapsed().as_secs_f64();
    match status {
        // 1: there are findings.
        Ok(status) if matches!(status.code(), Some(0 | 1)) => Ok(seconds),
        Ok(status) => Err(format!("{} {command}: {status}", build.display())),
        Err(error) => Err(format!("{}: {error}", build.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(times: &[(f64, f64)]) -> Pairs {
        Pairs(times.to_vec())
    }

    #[test]
    fn a_command_is_suspect_by_ratio_and_by_seconds() {
        // A fifth slower, and 200 ms.
        assert!(pairs(&[(1.0, 1.2), (1.0, 1.2), (1.0, 1.2)]).is_suspect());
        // A fifth slower, but by 20 ms.
        assert!(!pairs(&[(0.1, 0.12), (0.1, 0.12), (0.1, 0.12)]).is_suspect());
        // By 500 ms, but a twentieth.
        assert!(!pairs(&[(10.0, 10.5), (10.0, 10.5), (10.0, 10.5)]).is_suspect());
        // At the thresholds: not above them.
        assert!(!pairs(&[(0.5, 0.55)]).is_suspect());
    }

    #[test]
    fn one_disturbed_pair_says_nothing() {
        assert!(!pairs(&[(1.0, 1.0), (1.0, 9.0), (1.0, 1.0)]).is_suspect());
        // A machine that is twice as slow for the last pairs disturbs both builds alike.
        let drifting = pairs(&[(1.0, 1.0), (1.0, 2.0), (2.0, 2.0), (2.0, 2.0), (2.0, 2.0)]);
        assert!((drifting.ratio() - 1.0).abs() < 1e-12 && !drifting.is_suspect());
        assert!((median(vec![3.0, 1.0, 2.0, 10.0]) - 2.5).abs() < 1e-12);
    }

    #[test]
    fn pairs_go_in_turn_and_only_suspects_again() {
        let mut seen: Vec<(usize, bool)> = Vec::new();
        // The first command is as fast, the second half as fast, the third looked slow in its first round only.
        let judged = judge(3, |command, old_first| {
            let runs = seen.iter().filter(|one| one.0 == command).count();
            seen.push((command, old_first));
            Ok(match command {
                0 => (1.0, 1.05),
                1 => (1.0, 2.0),
                _ => (1.0, if runs < 3 { 1.5 } else { 1.0 }),
            })
        })
        .unwrap();
        let of =
            |command| seen.iter().filter(move |one| one.0 == command).map(|one| one.1).collect::<Vec<_>>();
        assert_eq!(of(0), [true, false, true]);
        assert_eq!((of(1).len(), of(2).len()), (3 + 5 + 9, 3 + 5));
        let rounds: Vec<(usize, bool)> = judged.iter().map(|one| (one.rounds, one.is_slower())).collect();
        assert_eq!(rounds, [(1, false), (3, true), (2, false)]);
        // The third root of 1.05 times 2 times 1.
        assert!((geometric_mean(&judged) - 2.1_f64.cbrt()).abs() < 1e-12);
        let text = told(&["a", "b", "c"], &judged);
        assert!(text.contains("b                    1.000     2.000   2.000       3  slower\n"), "{text}");
        assert!(text.ends_with("geometric mean 1.281\n1 slower: NOT OK"), "{text}");
    }

    #[test]
    fn a_command_that_fails_ends_it() {
        assert_eq!(
            judge(1, |_, _| Err("netloom x: exit status: 3".into())),
            Err("netloom x: exit status: 3".into())
        );
    }
}
