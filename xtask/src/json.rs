//! Schemas are JSON (RFC 8259), and say which schema they are.
//!
//! A recogniser, not a parser: it finds the first byte that is not JSON. Depth is bounded.

use crate::tree::Tree;

const SCHEMAS: &str = "docs/schemas/";
const MAX_DEPTH: usize = 64;

/// Schema files that are not JSON, or lack `$schema`.
pub fn check(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for file in tree.ending(".json").filter(|f| f.path.starts_with(SCHEMAS)) {
        match recognise(file.text.as_bytes()) {
            Err((at, expected)) => {
                let line = 1 + file.text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count();
                findings.push(format!("{}:{line}: expected {expected}", file.path));
            }
            Ok(()) if !file.text.contains("\"$schema\"") => {
                findings.push(format!("{}: expected a \"$schema\"", file.path));
            }
            Ok(()) => {}
        }
    }
    findings
}

type Failure = (usize, &'static str);

fn recognise(text: &[u8]) -> Result<(), Failure> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.value(0)?;
    cursor.space();
    if cursor.at < text.len() { Err((cursor.at, "the end of the file")) } else { Ok(()) }
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn value(&mut self, depth: usize) -> Result<(), Failure> {
        self.space();
        match self.peek() {
            _ if depth > MAX_DEPTH => Err((self.at, "fewer levels of nesting")),
            Some(b'{') => self.members(b'}', |c| {
                c.space();
                c.string()?;
                c.space();
                c.byte(b':', "':'")?;
                c.value(depth + 1)
            }),
            Some(b'[') => self.members(b']', |c| c.value(depth + 1)),
            Some(b'"') => self.string(),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err((self.at, "a value")),
        }
    }

    fn members(
        &mut self,
        close: u8,
        mut member: impl FnMut(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.at += 1;
        self.space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            member(self)?;
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b) if b == close => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err((self.at, "',' or the end of the list")),
            }
        }
    }

    fn string(&mut self) -> Result<(), Failure> {
        self.byte(b'"', "a string")?;
        while let Some(b) = self.peek() {
            self.at += 1;
            match b {
                b'"' => return Ok(()),
                b'\\' => self.at += 1,
                0..0x20 => return Err((self.at - 1, "no control character in a string")),
                _ => {}
            }
        }
        Err((self.text.len(), "the end of the string"))
    }

    fn number(&mut self) -> Result<(), Failure> {
        let start = self.at;
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).unwrap_or("");
        text.parse::<f64>().map(drop).map_err(|_| (start, "a number"))
    }

    fn word(&mut self, word: &'static [u8]) -> Result<(), Failure> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        Err((self.at, "true, false or null"))
    }

    fn byte(&mut self, byte: u8, expected: &'static str) -> Result<(), Failure> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err((self.at, expected))
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_recognised() {
        for good in ["{}", "[]", " {\"a\": [1, -2.5e3, \"\\\"\", true, null]} ", "0"] {
            assert_eq!(recognise(good.as_bytes()), Ok(()), "{good}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused_where_it_breaks() {
        for (bad, at) in [
            ("{,}", 1),
            ("[1,]", 3),
            ("{\"a\" 1}", 5),
            ("[1", 2),
            ("\"a", 2),
            ("{} {}", 3),
            ("nul", 0),
            ("", 0),
        ] {
            assert_eq!(recognise(bad.as_bytes()).unwrap_err().0, at, "{bad}");
        }
        assert!(recognise("[".repeat(100).as_bytes()).is_err());
    }

    #[test]
    fn a_broken_schema_is_named_with_its_line() {
        let tree = Tree::of(&[
            ("docs/schemas/a.json", "{\n\"$schema\": 1,\n}"),
            ("docs/schemas/b.json", "{}"),
            ("examples/c.json", "not ours to judge"),
        ]);
        let found = check(&tree);
        assert_eq!(
            found,
            ["docs/schemas/a.json:3: expected a string", "docs/schemas/b.json: expected a \"$schema\""]
        );
    }
}
