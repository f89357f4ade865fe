//! GOAL: tasks of every rank that depend on each other. The text is read and written here, the binary form in `binary`.
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! l1: calc 100 cpu 0            nanoseconds; on processor 0 unless said
//! l2: send 10b to 1 tag 0
//! l2 requires l1                starts when l1 is complete; irequires: when l1 has started
//! }
//! rank 1 {
//! recv 10b from 0 tag 0         a label is needed only to refer to
//! }
//! ```
//! One statement a line; `//` and `/* */` are comments. `nic` plays no part: a host has one adapter here. A label may be
//! used before the line that sets it. Every rank has a block. As in `txt2bin`, no blank is needed behind a number (`cpu 1nic 0`), and tags
//! have 32 bits: of longer ones, as ATLAHS' NCCL traces have them, the lowest 32 count.
//!
//! The size of a receive is read and plays no part, as in LogGOPSim: messages are matched by sender and tag, and as long as they were
//! sent. (MPI would refuse one that is longer than its receive.)
//!
//! Source: T. Hoefler, C. Siebert, A. Lumsdaine, *Group Operation Assembly Language*, ICPP 2009; the grammar as LogGOPSim's and
//! ATLAHS' `txt2bin` have it. Receives from any source or with any tag (-1) are refused.

mod binary;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use netloom_model::{MAX_ENDPOINTS, Requirement, Schedule, Task};

use crate::FormatError;
use crate::error::excerpt;
use crate::text::{last_line, text};

pub use binary::is_binary;

/// The largest message, bytes: 1 TB.
const MAX_BYTES: u64 = 1_000_000_000_000;

/// What the blocks of all ranks say.
#[derive(Default)]
struct Statements {
    /// By rank.
    ranks: Vec<Vec<Line>>,
    /// Rank by rank.
    requirements: Vec<Requirement>,
}

/// A task as it stands in its block.
struct Line {
    task: Task,
    /// What a receive says that it gets.
    bytes: u64,
    processor: u8,
    adapter: u8,
    /// From 1; 0 where there are no lines.
    line: u32,
}

/// Reads a schedule, text or binary.
///
/// # Errors
/// [`FormatError`] names the line: what is no statement, a number that is missing or out of range, a rank that there is not or
/// that has two blocks, a label that is set twice or never, a block that does not end, tasks that require each other. Of the
/// binary form it names the byte.
pub fn read_goal(bytes: &[u8], label: &str) -> Result<Schedule, FormatError> {
    let statements = statements(bytes, label)?;
    let mut ranks: Vec<Vec<(Task, u8)>> = Vec::with_capacity(statements.ranks.len());
    let mut lines: Vec<Vec<u32>> = Vec::with_capacity(statements.ranks.len());
    for tasks in statements.ranks {
        lines.push(tasks.iter().map(|task| task.line).collect());
        ranks.push(tasks.into_iter().map(|task| (task.task, task.processor)).collect());
    }
    let schedule = Schedule::new(&ranks, &statements.requirements).map_err(|(rank, task)| {
        match lines[rank as usize][task as usize] as usize {
            0 => FormatError::whole(
                label,
                format!(
                    "expected tasks of rank {rank} without cycles, found that task {task} requires itself"
                ),
            ),
            line => FormatError::at(
                label,
                line,
                format!("expected tasks of rank {rank} without cycles, found that this one requires itself"),
            ),
        }
    })?;
    let lines = lines.concat();
    Ok(if lines.contains(&0) { schedule } else { schedule.with_lines(lines) })
}

/// A schedule, text or binary, in either form: tasks and requirements stay as they are, labels become `l1`, `l2`, …
///
/// # Errors
/// As [`read_goal`], but for tasks that require each other.
pub fn rewrite_goal(bytes: &[u8], label: &str, as_binary: bool) -> Result<Vec<u8>, FormatError> {
    let statements = statements(bytes, label)?;
    Ok(if as_binary { binary::write(&statements) } else { statements.to_text().into_bytes() })
}

fn statements(bytes: &[u8], label: &str) -> Result<Statements, FormatError> {
    if is_binary(bytes) { binary::read(bytes, label) } else { of_text(bytes, label) }
}

fn of_text(bytes: &[u8], label: &str) -> Result<Statements, FormatError> {
    let text = text(bytes, label)?;
    let plain = without_comments(&text).map_err(|line| {
        FormatError::at(label, line, "expected the end of this comment (*/), found the end of the file")
    })?;
    let mut reader = Reader::default();
    for (number, line) in (1..).zip(plain.lines()) {
        reader.line(number, line).map_err(|(line, message)| FormatError::at(label, line, message))?;
    }
    let Some(count) = reader.count else {
        return Err(FormatError::whole(label, "expected num_ranks and blocks of ranks, found none"));
    };
    if let Some(block) = reader.block {
        let message = format!("expected a closing brace of the block of rank {}, found the end", block.rank);
        return Err(FormatError::at(label, last_line(&plain).max(1), message));
    }
    if let Some(rank) = reader.seen.iter().position(|&seen| !seen) {
        let message = format!("expected a block of every rank below {count}, found none of rank {rank}");
        return Err(FormatError::whole(label, message));
    }
    reader.done.sort_by_key(|&(rank, _)| rank);
    reader.requirements.sort_by_key(|one| one.rank);
    Ok(Statements {
        ranks: reader.done.into_iter().map(|(_, tasks)| tasks).collect(),
        requirements: reader.requirements,
    })
}

impl Statements {
    fn to_text(&self) -> String {
        let mut out = format!("num_ranks {}\n", self.ranks.len());
        let mut requirements = self.requirements.iter().peekable();
        for (rank, lines) in self.ranks.iter().enumerate() {
            // Writing to a text does not fail.
            let _ = writeln!(out, "rank {rank} {{");
            let mut before: Vec<Vec<(u32, bool)>> = vec![Vec::new(); lines.len()];
            while let Some(one) = requirements.next_if(|one| one.rank as usize == rank) {
                before[one.task as usize].push((one.requires, one.started));
            }
            for (number, line) in (1..).zip(lines) {
                let _ = match line.task {
                    Task::Calc { units } => write!(out, "l{number}: calc {units}"),
                    Task::Send { to, bytes, tag } => {
                        write!(out, "l{number}: send {bytes}b to {to} tag {tag}")
                    }
                    Task::Recv { from, tag } => {
                        write!(out, "l{number}: recv {}b from {from} tag {tag}", line.bytes)
                    }
                };
                for (word, value) in [("cpu", line.processor), ("nic", line.adapter)] {
                    if value > 0 {
                        let _ = write!(out, " {word} {value}");
                    }
                }
                out.push('\n');
            }
            for (number, mut before) in (1..).zip(before) {
                before.sort_unstable();
                for (other, started) in before {
                    let how = if started { "irequires" } else { "requires" };
                    let _ = writeln!(out, "l{number} {how} l{}", other + 1);
                }
            }
            out.push_str("}\n");
        }
        out
    }
}

/// Comments become blanks, lines stay. The error is the line where a comment begins that does not end.
fn without_comments(text: &str) -> Result<Cow<'_, str>, usize> {
    if !text.contains('/') {
        return Ok(Cow::Borrowed(text));
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if let Some(comment) = rest.strip_prefix("/*") {
            let line = 1 + plain.bytes().filter(|&b| b == b'\n').count();
            let end = comment.find("*/").ok_or(line)?;
            plain.push(' ');
            plain.extend(comment[..end].chars().filter(|&c| c == '\n'));
            rest = &comment[end + 2..];
        } else {
            plain.push('/');
            rest = &rest[1..];
        }
    }
    plain.push_str(rest);
    Ok(Cow::Owned(plain))
}

#[derive(Default)]
struct Reader {
    count: Option<u32>,
    seen: Vec<bool>,
    block: Option<Block>,
    done: Vec<(u32, Vec<Line>)>,
    requirements: Vec<Requirement>,
}

#[derive(Default)]
struct Block {
    rank: u32,
    tasks: Vec<Line>,
    labels: HashMap<String, u32>,
    /// The one that waits, the one it requires, the start is enough, the line.
    requirements: Vec<(String, String, bool, usize)>,
}

impl Reader {
    /// The error names a line, usually this one.
    fn line(&mut self, number: usize, line: &str) -> Result<(), (usize, String)> {
        let mut words = Words { rest: line };
        let here = |message| (number, message);
        while let Some(word) = words.next() {
            let Some(block) = &mut self.block else {
                self.outside(word, &mut words).map_err(here)?;
                continue;
            };
            if word == "}" {
                self.close()?;
            } else {
                block.statement(word, &mut words, self.count.unwrap_or(0), number).map_err(here)?;
                if !matches!(words.peek(), None | Some("}")) {
                    return Err(here(words.found("the end of the line")));
                }
            }
        }
        Ok(())
    }

    fn outside(&mut self, word: &str, words: &mut Words) -> Result<(), String> {
        match (word, self.count) {
            ("num_ranks", None) => {
                let most = u64::from(MAX_ENDPOINTS);
                let count = words.number("a number of ranks", 1..=most)? as u32;
                (self.count, self.seen) = (Some(count), vec![false; count as usize]);
                Ok(())
            }
            ("num_ranks", Some(_)) => Err("expected num_ranks once, found it again".into()),
            ("rank", Some(count)) => {
                let rank = words.number("a rank", 0..=u64::from(count) - 1)? as u32;
                words.literal("{")?;
                if std::mem::replace(&mut self.seen[rank as usize], true) {
                    return Err(format!("expected one block of rank {rank}, found another"));
                }
                self.block = Some(Block { rank, ..Block::default() });
                Ok(())
            }
            (_, None) => Err(format!("expected num_ranks first, found \"{}\"", excerpt(word))),
            _ => Err(format!("expected rank N {{, found \"{}\"", excerpt(word))),
        }
    }

    fn close(&mut self) -> Result<(), (usize, String)> {
        let Some(block) = self.block.take() else { return Ok(()) };
        for (task, requires, started, line) in block.requirements {
            let known = |name: &String| {
                let unknown = || {
                    let rank = block.rank;
                    (line, format!("expected a label of rank {rank}, found \"{}\"", excerpt(name)))
                };
                block.labels.get(name).copied().ok_or_else(unknown)
            };
            let (task, requires) = (known(&task)?, known(&requires)?);
            self.requirements.push(Requirement { rank: block.rank, task, requires, started });
        }
        self.done.push((block.rank, block.tasks));
        Ok(())
    }
}

impl Block {
    fn statement(&mut self, word: &str, words: &mut Words, ranks: u32, line: usize) -> Result<(), String> {
        const VERBS: [&str; 3] = ["calc", "send", "recv"];
        if VERBS.contains(&word) {
            return self.task(word, words, ranks, line);
        }
        if !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(format!("expected a label, calc, send, recv or }}, found \"{}\"", excerpt(word)));
        }
        match words.next() {
            Some(":") => {
                if self.labels.insert(word.into(), self.tasks.len() as u32).is_some() {
                    return Err(format!("expected label {} once, found it again", excerpt(word)));
                }
                match words.next() {
                    Some(verb) if VERBS.contains(&verb) => self.task(verb, words, ranks, line),
                    other => Err(found("calc, send or recv", other)),
                }
            }
            Some(how @ ("requires" | "irequires")) => {
                let other = words.next().ok_or_else(|| found("a label", None))?;
                self.requirements.push((word.into(), other.into(), how == "irequires", line));
                Ok(())
            }
            other => Err(found("a colon, requires or irequires behind a label", other)),
        }
    }

    fn task(&mut self, verb: &str, words: &mut Words, ranks: u32, line: usize) -> Result<(), String> {
        let mut bytes = 0;
        let mut task = if verb == "calc" {
            Task::Calc { units: words.number("nanoseconds", 0..=u64::MAX)? }
        } else {
            bytes = words.bytes()?;
            words.literal(if verb == "send" { "to" } else { "from" })?;
            let peer = words.number("a rank", 0..=u64::from(ranks) - 1)? as u32;
            match verb {
                "send" => Task::Send { to: peer, bytes, tag: 0 },
                _ => Task::Recv { from: peer, tag: 0 },
            }
        };
        let (mut processor, mut adapter) = (0, 0);
        while let Some(word @ ("tag" | "cpu" | "nic")) = words.peek() {
            words.next();
            match (word, &mut task) {
                ("tag", Task::Send { tag, .. } | Task::Recv { tag, .. }) => {
                    *tag = words.tag()?;
                }
                ("tag", _) => return Err("expected cpu or the end of the line, found \"tag\"".into()),
                ("cpu", _) => processor = words.number("a processor", 0..=255)? as u8,
                _ => adapter = words.number("an adapter", 0..=255)? as u8,
            }
        }
        self.tasks.push(Line { task, bytes, processor, adapter, line: line as u32 });
        Ok(())
    }
}

fn found(expected: &str, word: Option<&str>) -> String {
    match word {
        Some(word) => format!("expected {expected}, found \"{}\"", excerpt(word)),
        None => format!("expected {expected}, found the end of the line"),
    }
}

/// What is left of a line: words, and the signs `:`, `{`, `}`.
#[derive(Clone)]
struct Words<'a> {
    /// What is left.
    rest: &'a str,
}

impl<'a> Words<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.clone().next()
    }

    fn found(&self, expected: &str) -> String {
        found(expected, self.peek())
    }

    fn number(&mut self, what: &str, range: std::ops::RangeInclusive<u64>) -> Result<u64, String> {
        let word = self.number_word();
        let value = word.and_then(|word| word.parse().ok()).filter(|value| range.contains(value));
        value.ok_or_else(|| {
            let (low, high) = range.into_inner();
            let limits = if high < u64::MAX { format!(" of {low} to {high}") } else { String::new() };
            found(&format!("{what}{limits}"), word)
        })
    }

    /// The lowest 32 bits of a number, however long.
    fn tag(&mut self) -> Result<u32, String> {
        let word = self.number_word();
        let digits = word.filter(|word| word.bytes().all(|b| b.is_ascii_digit()));
        let digits = digits.ok_or_else(|| found("a tag from 0", word))?;
        Ok(digits.bytes().fold(0, |tag: u32, b| tag.wrapping_mul(10).wrapping_add(u32::from(b - b'0'))))
    }

    /// The next word, or the digits that it begins with, where the next keyword follows them without a blank.
    fn number_word(&mut self) -> Option<&'a str> {
        let before = self.rest;
        let word = self.next()?;
        let digits = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 && ["tag", "cpu", "nic"].contains(&&word[digits..]) {
            self.rest = &before[before.find(word).unwrap_or(0) + digits..];
            return Some(&word[..digits]);
        }
        Some(word)
    }

    /// `10b` or `10 b`.
    fn bytes(&mut self) -> Result<u64, String> {
        let what = format!("a size such as 10b, at most {MAX_BYTES}b");
        let word = self.next().ok_or_else(|| found(&what, None))?;
        let digits = match word.strip_suffix('b') {
            Some(digits) => digits,
            None => {
                self.literal("b")?;
                word
            }
        };
        let value = digits.parse().ok().filter(|&bytes: &u64| bytes <= MAX_BYTES);
        value.ok_or_else(|| found(&what, Some(word)))
    }

    fn literal(&mut self, sign: &str) -> Result<(), String> {
        match self.next() {
            Some(word) if word == sign => Ok(()),
            other => Err(found(&format!("\"{sign}\""), other)),
        }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        const SIGNS: [char; 3] = [':', '{', '}'];
        self.rest = self.rest.trim_ascii_start();
        let first = self.rest.chars().next()?;
        let end = if SIGNS.contains(&first) {
            1
        } else {
            let ends = |c: char| c.is_ascii_whitespace() || SIGNS.contains(&c);
            self.rest.find(ends).unwrap_or(self.rest.len())
        };
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        read_goal(text.as_bytes(), "x.goal").unwrap_err().to_string()
    }

    /// A block of rank 0 of two, from line 3.
    fn block(statements: &str) -> String {
        refusal(&format!("num_ranks 2\nrank 0 {{\n{statements}\n}}\nrank 1 {{ }}\n"))
    }

    /// Of ATLAHS' NCCL traces: tags of ten digits and more, and a keyword right behind a number.
    #[test]
    fn tags_have_32_bits_and_numbers_need_no_blank() {
        let text = "num_ranks 2\nrank 0 {\nsend 8b to 1 tag 30100041201cpu 1nic 0\ncalc 12cpu 3\n}\n\
                    rank 1 { recv 8b from 0 tag 3010004120\n}\n";
        let schedule = read_goal(text.as_bytes(), "x.goal").unwrap();
        let tags: Vec<_> = (0..schedule.ranks()).flat_map(|rank| schedule.tasks(rank)).collect();
        // 30100041201 mod 2^32.
        assert!(tags.contains(&&Task::Send { to: 1, bytes: 8, tag: 35_270_129 }), "{tags:?}");
        assert!(tags.contains(&&Task::Recv { from: 0, tag: 3_010_004_120 }), "{tags:?}");
    }

    #[test]
    fn tasks_and_requirements_are_read() {
        let text = "num_ranks 3\n\n/* two\n ranks */ rank 0 {\nl3 requires l1 // before it is set\nl1: calc 100 cpu 2\n\
                    l2 : send 10b to 1 tag 7 cpu 1 nic 3\nl3: recv 8 b from 2\nl2 irequires l1\n}\nrank 1 { }\nrank 2{\nsend 8b to 0 }\n";
        let schedule = read_goal(text.as_bytes(), "x.goal").unwrap();
        assert_eq!(schedule.ranks(), 3);
        assert_eq!(
            schedule.tasks(0),
            [
                Task::Calc { units: 100 },
                Task::Send { to: 1, bytes: 10, tag: 7 },
                Task::Recv { from: 2, tag: 0 }
            ]
        );
        assert_eq!(schedule.processors(0), [2, 1, 0]);
        assert_eq!(schedule.needs(0), [0, 1, 1]);
        assert_eq!([0, 1, 2].map(|task| schedule.line(0, task)), [Some(6), Some(7), Some(8)]);
        assert_eq!(schedule.line(2, 0), Some(13));
        assert_eq!(schedule.followers(0, 0), [(2, false), (1, true)]);
        assert_eq!(schedule.tasks(1), []);
        assert_eq!(schedule.tasks(2), [Task::Send { to: 0, bytes: 8, tag: 0 }]);
    }

    #[test]
    fn truncated_and_wrong_lines_are_named() {
        assert_eq!(refusal(""), "x.goal: expected num_ranks and blocks of ranks, found none");
        assert_eq!(refusal("\nrank 0 {\n"), "x.goal:2: expected num_ranks first, found \"rank\"");
        assert_eq!(
            refusal("num_ranks 2\nrank 1 { }"),
            "x.goal: expected a block of every rank below 2, found none of rank 0"
        );
        assert!(refusal("num_ranks 0\n").contains("x.goal:1: expected a number of ranks of 1 to "));
        assert_eq!(refusal("num_ranks 2\nrank 2 {\n"), "x.goal:2: expected a rank of 0 to 1, found \"2\"");
        assert_eq!(
            refusal("num_ranks 2\nrank 1 {\nl1: calc 5\n"),
            "x.goal:3: expected a closing brace of the block of rank 1, found the end"
        );
        assert_eq!(
            refusal("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}"),
            "x.goal:4: expected one block of rank 0, found another"
        );
        assert_eq!(
            block("l1: send 10b to"),
            "x.goal:3: expected a rank of 0 to 1, found the end of the line"
        );
        assert_eq!(block("l1: send 10 to 1"), "x.goal:3: expected \"b\", found \"to\"");
        assert!(block("l1: send").contains("expected a size such as 10b"));
        assert!(block("recv 1b from -1 tag 0").contains("expected a rank of 0 to 1, found \"-1\""));
        assert!(block("recv 1b from 1 tag -1").contains("expected a tag from 0, found \"-1\""));
        assert!(block("recv 1b from 1 tag 1cpux 0").contains("expected a tag from 0, found \"1cpux\""));
        assert!(block("recv 1b from 1 cpu 1nic").contains("expected an adapter of 0 to 255, found the end"));
        assert!(block("calc 1 cpu 256").contains("expected a processor of 0 to 255"));
        assert!(block("calc 1 tag 2").contains("found \"tag\""));
        assert!(block("calc 1 calc 2").contains("expected the end of the line, found \"calc\""));
        assert!(block("l1: clac 5").contains("expected calc, send or recv, found \"clac\""));
        assert!(block("l1 needs l2").contains("expected a colon, requires or irequires"));
        assert!(block("/* open").contains("x.goal:3: expected the end of this comment"));
    }

    #[test]
    fn labels_are_set_once_and_not_in_circles() {
        assert!(block("l1: calc 1\nl1: calc 2").contains("x.goal:4: expected label l1 once"));
        assert_eq!(block("l1: calc 1\nl1 requires l9"), "x.goal:4: expected a label of rank 0, found \"l9\"");
        let circle = "l0: calc 1\nl1: calc 1\nl2: calc 1\nl1 requires l2\nl2 irequires l1";
        assert_eq!(
            block(circle),
            "x.goal:4: expected tasks of rank 0 without cycles, found that this one requires itself"
        );
    }
}
