//! Names that do not come back: a reader brings along the field's word, not ours.
//!
//! A name is an identifier as a whole, in sources of crates and of the Python package; comments and strings are not
//! looked at. docs/glossary.md has the names in use.

use crate::tree::Tree;

/// What was called so, and what the field calls it.
#[rustfmt::skip]
const WORDS: &[(&str, &str)] = &[
    // Inference: compressed sensing, network tomography
    ("estimate_again", "estimate, given earlier answers"),
    ("evenly", "gravity"),
    ("told_between", "independent_rows"),
    ("lopsided", "split_imbalance"),
    ("alike_as_one", "merge_equivalent_links"),
    ("repeats_as_one", "merge_repeated_rows"),
    ("any_pattern_fits", "is_underdetermined"),
    ("all_are_told_by_hosts", "hosts_identify_all"),
    ("no_surer_than", "limited_by_distance"),
    ("no_better_than_its_worst", "limited_by_jobs"),
    ("where_by_chance", "limited_by_chance"),
    ("partly_at_best", "at_most_partly"),
    ("Doubt", "Alternative"),
    ("DULL", "gain_over_gravity"),
    ("FAMILIAR", "loss_of_earlier"),
    ("LITTLE", "worth"),
    ("LOUDER", "magnitude_ratio"),
    ("DEARER", "rival_cost"),
    ("HARDLY", "empty_bytes"),
    ("UNREAD", "unknown_rows"),
    ("FORETOLD", "held_out_limit"),
    ("PLENTY", "rival_flow_rows"),
    ("SOMETHING", "idle_host"),
    ("SOON", "collectives_half"),
    ("AS_WELL", "equal_residual"),
    ("TILT", "perturbation"),
    ("OTHERWISE", "cost_spread"),
    ("TOWARDS", "truth_of_distance"),
    ("EVENLY", "gravity_floor"),
    ("BY_CHANCE", "chance_floor"),
    ("TOLD_LITTLE", "new_rows"),
    ("OF_ROW", "deviations"),
    ("SURE", "STANDARD_ERRORS, or the likelihood ratio"),
    // Search: local search, simulated annealing
    ("MELT", "FIRST_SHARPNESS"),
    ("SHARPEST", "LAST_SHARPNESS"),
    ("COURTESY", "WORK_ONCE_GOOD_ENOUGH"),
    ("PAYS", "GAP_LEFT_TO_REPEAT"),
    ("GRACE", "SEARCHES_AFTER_STOP"),
    ("WARM", "FIRST_TEMPERATURE"),
    ("COLD", "LAST_TEMPERATURE"),
    ("Dice", "Uniform"),
    ("dice", "uniform"),
    ("anew", "restart"),
    ("peel", "single_changes"),
    ("riders", "items_on"),
    ("DUST", "ROUNDING"),
    ("STRETCHES", "DESTINATION_BLOCKS"),
    ("STEPS_A_SEARCH", "STEPS_PER_SEARCH"),
    ("PAIRS_AT_A_TIME", "PAIRS_PER_PASS"),
    // Bounds, linear programs, fabrics
    ("NUDGE", "STEP_ROUNDING"),
    ("MOST_PIGEONS", "MOST_PIGEONHOLE_ITEMS"),
    ("TURN", "NECESSARY_DECREASE"),
    ("FIRM", "UNPRICED_ROW_SCALE"),
    ("FOLLOW", "WEIGHT_SMOOTHING"),
    ("WORTH_IT", "LEAST_GAIN"),
    ("OF_USUAL_SIZE", "USUAL_SIZE_PERCENT"),
    ("SETTLED", "UNAIDED_PERCENT"),
    ("FAR_BELOW", "LEAST_OF_WIDTH"),
    ("A_LOOK", "DESIGNS_PER_CHECK"),
    ("MATTERS", "LEAST_SHARE"),
    // Diagnosis, loop, interference
    ("MEETING", "CONGESTED_HOPS"),
    ("MEANWHILE", "BUSY_UTILISATION"),
    ("MOSTLY", "INCAST_SHARE"),
    ("HELD_UP", "DELAYED_HOPS"),
    ("WAITED", "DELAYED_HOPS"),
    ("AS_FULL", "HOST_LINK_SHARE"),
    ("AS_GUILTY", "BLAME_SHARE"),
    ("TOUCHED", "VICTIM_HOPS"),
    ("MOST_OF_IT", "MOST_CANARY_PERCENT"),
    ("MOST_FALLEN", "MOST_RESET_SHARE"),
    ("NO_PART", "NO_CANARY"),
    ("FARTHEST", "MOST_OVER_EXPOSURE"),
    ("ACROSS", "MOST_INTERVAL_SHARE"),
    ("_SHARPER", "_SMOOTHING_FACTOR"),
    // Live fabrics, command line
    ("with_strangers", "with_foreign_entries"),
    ("is_stranger", "is_foreign"),
    ("STRANGERS", "CROSS_TRAFFIC_HOSTS"),
    ("patience", "critical section, or time left"),
    ("Doubtful", "UnverifiedProcess"),
    ("Little", "RoutesInForce"),
    ("_WORTH", "_REMEMBERED_VERDICTS"),
];

/// Names on the list, with their place and what to say.
pub fn check(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| is_source(&file.path)) {
        for (line, name) in names(&file.text, file.path.ends_with(".py")) {
            if let Some((word, instead)) = WORDS.iter().find(|(word, _)| *word == name) {
                findings.push(format!("{}:{line}: {word}: expected the field's word: {instead}", file.path));
            }
        }
    }
    findings
}

fn is_source(path: &str) -> bool {
    let rust = path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs");
    rust || path.starts_with("python/") && path.ends_with(".py")
}

/// Identifiers outside comments and strings, with their lines.
fn names(text: &str, python: bool) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (comment, quotes): (&str, &[&str]) =
        if python { ("#", &["\"\"\"", "'''", "\"", "'"]) } else { ("//", &["\""]) };
    let (mut line, mut rest) = (1, text);
    while let Some(first) = rest.chars().next() {
        let taken = if rest.starts_with(comment) {
            rest.find('\n').unwrap_or(rest.len())
        } else if !python && rest.starts_with("'\"'") {
            3
        } else if let Some(quote) = quotes.iter().find(|quote| rest.starts_with(**quote)) {
            quoted(rest, quote)
        } else if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push((line, rest[..end].to_owned()));
            end
        } else {
            first.len_utf8()
        };
        line += rest[..taken].matches('\n').count();
        rest = &rest[taken..];
    }
    found
}

/// The length of a string that begins here, quotes included.
fn quoted(text: &str, quote: &str) -> usize {
    let mut at = quote.len();
    while at < text.len() && !text[at..].starts_with(quote) {
        let escaped = usize::from(text[at..].starts_with('\\'));
        let length = text[at..].chars().take(1 + escaped).map(char::len_utf8).sum::<usize>();
        at += length;
    }
    (at + quote.len()).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_on_the_list_is_found_with_its_line_and_the_word_instead() {
        let rust =
            "/// As DULL as ever.\nconst DULL: f64 = 1.5;\nconst DULLER: &str = \"DULL // \\\" DULL\";\n";
        let python = "'''patience'''\nx = 'patience'  # patience\npatience = 1\n";
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", rust),
            ("crates/a/tests/main.rs", rust),
            ("python/netloom/a.py", python),
        ]);
        assert_eq!(
            check(&tree),
            [
                "crates/a/src/lib.rs:2: DULL: expected the field's word: gain_over_gravity",
                "python/netloom/a.py:3: patience: expected the field's word: critical section, or time left",
            ]
        );
    }

    #[test]
    fn no_word_is_listed_twice() {
        let mut words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), WORDS.len());
    }
}
