//! The grammar of pattern specs.
//!
//! ```text
//! spec   = name [ ":" part { "," part } ]
//! part   = positional | flag | key "=" value       the positional, if any, comes first
//! ```
//! Every part must be used: [`Spec::finish`] names what is left over and the nearest known word.

use netloom_model::names::nearest;

use crate::PatternError;

/// A spec taken apart; parts are taken out one by one.
#[derive(Debug)]
pub(crate) struct Spec<'a> {
    /// The whole text, for messages.
    pub text: &'a str,
    /// The name before the colon.
    pub name: &'a str,
    parts: Vec<&'a str>,
    known: Vec<&'static str>,
}

impl<'a> Spec<'a> {
    pub(crate) fn parse(text: &'a str) -> Self {
        let text = text.trim();
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let parts = rest.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        Self { text, name: name.trim(), parts, known: Vec::new() }
    }

    /// The first part, if it is neither `key=value` nor a word of letters (a flag).
    pub(crate) fn positional(&mut self) -> Option<&'a str> {
        let first = *self.parts.first()?;
        let value = first.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
        (value && !first.contains('=')).then(|| self.parts.remove(0))
    }

    /// Takes a flag.
    pub(crate) fn flag(&mut self, name: &'static str) -> bool {
        self.known.push(name);
        let found = self.parts.iter().position(|part| *part == name);
        found.map(|i| self.parts.remove(i)).is_some()
    }

    /// Takes the value of a key.
    pub(crate) fn text_of(&mut self, key: &'static str) -> Option<&'a str> {
        self.known.push(key);
        let value =
            |part: &'a str| part.split_once('=').filter(|(k, _)| k.trim() == key).map(|(_, v)| v.trim());
        let i = self.parts.iter().position(|part| value(part).is_some())?;
        value(self.parts.remove(i))
    }

    /// Takes the number behind a key.
    pub(crate) fn number<T: std::str::FromStr>(
        &mut self,
        key: &'static str,
        expected: &'static str,
    ) -> Result<Option<T>, PatternError> {
        let Some(value) = self.text_of(key) else { return Ok(None) };
        value.parse().map(Some).map_err(|_| self.bad(key, value, expected))
    }

    /// The error for a value that is not what `key` wants.
    pub(crate) fn bad(&self, key: &'static str, found: &str, expected: &'static str) -> PatternError {
        PatternError::BadValue { spec: self.text.into(), key, expected, found: found.into() }
    }

    /// Everything must have been taken by now.
    pub(crate) fn finish(self) -> Result<(), PatternError> {
        let Some(part) = self.parts.first() else { return Ok(()) };
        let word = part.split('=').next().unwrap_or(part).trim();
        let hint = nearest(word, self.known.iter().copied());
        let help = match hint {
            // The right word twice, or a flag with a value, or a key without one.
            Some(known) if known == word => format!(": \"{word}\" is given twice, or wrongly"),
            Some(known) => format!(", did you mean \"{known}\"?"),
            None => format!(": expected one of {}", self.known.join(", ")),
        };
        Err(PatternError::UnknownPart { pattern: self.name.into(), part: (*part).into(), help })
    }
}

/// `16x16x12` as sizes, each at least 1.
pub(crate) fn sizes(text: &str) -> Option<Vec<u32>> {
    let sizes: Option<Vec<u32>> = text.split(['x', 'X']).map(|n| n.trim().parse().ok()).collect();
    sizes.filter(|sizes| sizes.iter().all(|&n| n > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_apart() {
        let mut spec = Spec::parse("stencil:4x4, periodic,axis=+x");
        assert_eq!(spec.name, "stencil");
        assert_eq!(spec.positional(), Some("4x4"));
        assert!(spec.flag("periodic"));
        assert_eq!(spec.text_of("axis"), Some("+x"));
        spec.finish().unwrap();
        assert_eq!(Spec::parse("shift:-3").positional(), Some("-3"));
        assert_eq!(Spec::parse("pairs:seed=1").positional(), None);
    }

    #[test]
    fn leftovers_name_the_nearest_word() {
        let mut spec = Spec::parse("stencil:4x4,periodc");
        spec.positional();
        spec.flag("periodic");
        let message = spec.finish().unwrap_err().to_string();
        assert_eq!(message, "pattern \"stencil\" has no option \"periodc\", did you mean \"periodic\"?");
    }

    #[test]
    fn sizes_are_positive() {
        assert_eq!(sizes("16x16x12"), Some(vec![16, 16, 12]));
        assert_eq!(sizes("16x0"), None);
        assert_eq!(sizes("16x"), None);
    }
}
