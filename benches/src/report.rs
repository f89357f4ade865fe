//! What is printed and kept: Markdown tables, the machine and the date, and their place in a page.
//!
//! A page of the documentation has stretches between `<!-- TARGET FAMILY: begin … -->` and `<!-- TARGET FAMILY: end -->`, each
//! written whole by one family of one target; everything else in the page stays as it is. The first mark ends in the stretch's CRC-32,
//! so that a figure put in by hand is found by a test: what a page says was printed was printed.

use std::time::{SystemTime, UNIX_EPOCH};

use flate2::Crc;

/// No line of a page is longer, in characters.
const WIDEST: usize = 200;
/// Where longer lines of prose go on in the next line.
const PROSE: usize = 120;

/// A Markdown table; its columns are aligned where the lines stay within [`WIDEST`].
pub fn grid(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |line: &[String], column: usize| line.get(column).cloned().unwrap_or_default();
    let mut widths: Vec<usize> = (0..columns)
        .map(|column| lines.iter().map(|line| cell(line, column).chars().count()).max().unwrap_or(0).max(3))
        .collect();
    if widths.iter().sum::<usize>() + 3 * columns + 1 > WIDEST {
        widths.fill(1);
    }
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        for (column, width) in widths.iter().enumerate() {
            text += &format!("| {:width$} ", cell(line, column));
        }
        text += "|\n";
        if number == 0 {
            for width in &widths {
                text += &format!("|{}", "-".repeat(width + 2));
            }
            text += "|\n";
        }
    }
    text
}

/// `2 cores of an AMD EPYC, 24 GB`.
pub fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let value = |text: &str, key: &str| {
        let line = text.lines().find(|line| line.starts_with(key));
        line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let model = value(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| std::env::consts::ARCH.into());
    let memory = value(&read("/proc/meminfo"), "MemTotal")
        .and_then(|v| v.split(' ').next()?.parse::<u64>().ok())
        .map_or(String::new(), |kib| format!(", {} GB", (kib + (1 << 19)) >> 20));
    format!("{cores} core{} of {model}{memory}", if cores == 1 { "" } else { "s" })
}

/// Today in Greenwich, `2026-11-21`.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (year, month, day) = civil(seconds as i64 / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day so many days after 1970-01-01 (Gregorian; years of 400 count from March).
fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

/// Puts `text` between the marks `name` of a page.
///
/// # Errors
/// What is wrong with the page, in words.
pub fn write(page: &str, name: &str, text: &str) -> Result<(), String> {
    let old = std::fs::read_to_string(page).map_err(|e| format!("{page}: {e}"))?;
    let new = between(&old, name, text).ok_or(format!("{page} has no marks of \"{name}\""))?;
    std::fs::write(page, new).map_err(|e| format!("{page}: {e}"))
}

fn between(page: &str, name: &str, text: &str) -> Option<String> {
    let begin = page.find(&format!("<!-- {name}: begin"))?;
    let stretch = begin + page[begin..].find("-->")? + 3;
    let end = stretch + page[stretch..].find(&format!("<!-- {name}: end"))?;
    let text = &broken(text.trim());
    let target = name.split(' ').next()?;
    let mark = format!("<!-- {name}: begin (by `make {target}`), sum {:08x} -->", sum(text));
    Some(format!("{}{mark}\n\n{text}\n\n{}", &page[..begin], &page[end..]))
}

/// The text with its lines of prose above [`WIDEST`] broken between words.
fn broken(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with('|') || line.chars().count() <= WIDEST {
            lines.push(line.to_owned());
            continue;
        }
        let mut part = String::new();
        for word in line.split(' ') {
            // A line that begins so would be an item of a list.
            let item = matches!(word, "-" | "+" | "*");
            if !part.is_empty() && !item && part.chars().count() + 1 + word.chars().count() > PROSE {
                lines.push(std::mem::take(&mut part));
            }
            if !part.is_empty() {
                part.push(' ');
            }
            part += word;
        }
        lines.push(part);
    }
    lines.join("\n")
}

/// The CRC-32 of a stretch.
fn sum(text: &str) -> u32 {
    let mut crc = Crc::new();
    crc.update(text.as_bytes());
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        // 30 years, 7 of them leap (72 … 96), then January and the 29th of February.
        assert_eq!(civil(30 * 365 + 7 + 59), (2000, 2, 29));
        assert_eq!(civil(30 * 365 + 7 + 366), (2001, 1, 1));
    }

    #[test]
    fn no_line_is_too_long_for_a_page() {
        let long = ["word"; 50].join(" ");
        assert!(long.chars().count() > WIDEST);
        let page = broken(&format!("{long}\n| {long} |"));
        let lines: Vec<&str> = page.lines().collect();
        // 24 words and the blanks between them are 119 characters.
        assert_eq!(lines[0], ["word"; 24].join(" "));
        assert_eq!(lines[..3].join(" "), long);
        assert_eq!(lines[3], format!("| {long} |"));
        let narrow = grid(&[vec!["a".into(), "b".into()], vec![long, "c".repeat(100)]]);
        assert!(narrow.starts_with("| a | b |\n|---|---|\n| word word"));
    }

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let page = "a\n<!-- x y: begin -->\nold\n<!-- x y: end -->\nb\n";
        // The sum is zlib.crc32(b"new") of Python.
        let new = "a\n<!-- x y: begin (by `make x`), sum 6be34445 -->\n\nnew\n\n<!-- x y: end -->\nb\n";
        assert_eq!(between(page, "x y", "new\n").as_deref(), Some(new));
        assert_eq!(between(new, "x y", "new\n").as_deref(), Some(new));
        assert_eq!(between(page, "z", "new"), None);
    }

    /// The stretches of a page: name, sum in the mark, text.
    fn stretches(page: &str) -> Vec<(String, String, String)> {
        let mut found = Vec::new();
        let mut rest = page;
        while let Some((_, after)) = rest.split_once("<!-- ") {
            rest = after;
            let Some((mark, body)) = after.split_once(" -->") else { break };
            let Some((name, told)) = mark.split_once(": begin") else { continue };
            let end = format!("<!-- {name}: end -->");
            let (text, after) = body.split_once(&end).unwrap_or_else(|| panic!("no {end}"));
            let told = told.rsplit_once("sum ").map_or("none", |(_, told)| told);
            found.push((name.to_owned(), told.to_owned(), text.trim().to_owned()));
            rest = after;
        }
        found
    }

    #[test]
    fn every_family_has_its_stretch_and_nobody_wrote_into_one() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/");
        for (page, target, families) in crate::pages() {
            let text = std::fs::read_to_string(format!("{docs}{page}")).expect("a page");
            let found = stretches(&text);
            let names: Vec<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
            for family in families {
                let name = format!("{target} {family}");
                assert_eq!(names.iter().filter(|&&n| n == name).count(), 1, "{page}: marks of {name}");
            }
            for (name, told, text) in found {
                let by_hand = "was changed by hand: write beside it, or run its target again";
                assert_eq!(told, format!("{:08x}", sum(&text)), "{page}: \"{name}\" {by_hand}");
            }
        }
    }
}
