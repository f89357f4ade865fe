//! Something odd or wrong that keeps nobody from going on: a word for what kind it is, and a sentence.
//!
//! Which kinds there are, how bad each is and whom it concerns is told in one place, `python/netloom/findings.py`:
//! whoever makes a kind enters it there, and a test looks for those that are not.

/// What is odd, for people and for scripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A word that scripts may rely on, such as `dead-cable`.
    pub kind: &'static str,
    /// Where and what, one line.
    pub text: String,
}
