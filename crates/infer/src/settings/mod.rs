//! What every step of the method is given: each constant that a figure of an answer depends on.
//!
//! A field says what it is, its unit, its default, the range in which it makes sense, and where it is from: the dissertation (Taffet), or
//! chosen by us on a day, from what docs/methods/inference.md tells. What only says how floating-point numbers are compared, or in what
//! pieces work is done, is a constant where it is used.

/// A struct of settings: `field: type = default, range, unit, source;`.
macro_rules! settings {
    ($(#[$about:meta])* $name:ident {
        $($(#[$field_about:meta])* $field:ident: $type:ty = $default:expr, $range:expr, $unit:expr, $source:expr;)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            $(
                $(#[$field_about])*
                #[doc = concat!(
                    "\n\nUnit: ", $unit, ". Default: ", stringify!($default), ". Range: ", stringify!($range),
                    ". Source: ", $source, "."
                )]
                pub $field: $type,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            /// The first field that is out of its range.
            ///
            /// # Errors
            /// Which, what was expected and what was found.
            pub fn check(&self) -> Result<(), String> {
                $(if !($range).contains(&self.$field) {
                    return Err(format!(
                        "{}: expected {}, found {:?}", stringify!($field), stringify!($range), self.$field
                    ));
                })*
                Ok(())
            }
        }
    };
}

mod confidence;
mod counters;
mod hypotheses;
mod solvers;

pub use self::confidence::{ConfidenceSettings, EarlierSettings, RetrySettings, VerdictSettings};
pub use self::counters::{CounterSettings, FitSettings};
pub use self::hypotheses::{DictionarySettings, GridSettings, ModelSettings, PursuitSettings, Shares};
pub use self::solvers::{ExtremeSettings, FlowSettings, LeastChangeSettings, NearestSettings};

/// All settings, in the order of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Of all random choices: rows that are held out, draws of noise, directions.
    ///
    /// Unit: none. Default: 1. Range: any. Source: chosen by us.
    pub seed: u64,
    /// Counters as rows, and how far each is believed.
    pub counters: CounterSettings,
    /// Whether an answer fits the counters.
    pub fit: FitSettings,
    /// Which atoms there are, and how likely each is beforehand.
    pub dictionary: DictionarySettings,
    /// Orthogonal matching pursuit.
    pub pursuit: PursuitSettings,
    /// The process grid of a job.
    pub grids: GridSettings,
    /// Models that are tried on rows held out.
    pub models: ModelSettings,
    /// The gravity model and the least change of a guess.
    pub least_change: LeastChangeSettings,
    /// The nearest traffic, solved exactly.
    pub nearest: NearestSettings,
    /// The fewest flows.
    pub flows: FlowSettings,
    /// Linear programs of what pairs carry at least and at most.
    pub extremes: ExtremeSettings,
    /// How far an answer is believed to be off.
    pub confidence: ConfidenceSettings,
    /// The verdict.
    pub verdict: VerdictSettings,
    /// A second attempt, with more noise.
    pub retry: RetrySettings,
    /// What is remembered of a job.
    pub earlier: EarlierSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 1,
            counters: Default::default(),
            fit: Default::default(),
            dictionary: Default::default(),
            pursuit: Default::default(),
            grids: Default::default(),
            models: Default::default(),
            least_change: Default::default(),
            nearest: Default::default(),
            flows: Default::default(),
            extremes: Default::default(),
            confidence: Default::default(),
            verdict: Default::default(),
            retry: Default::default(),
            earlier: Default::default(),
        }
    }
}

impl Settings {
    /// The least change where models are compared: fewer rounds and steps.
    pub(crate) fn of_trials(&self) -> LeastChangeSettings {
        LeastChangeSettings {
            rounds: self.models.trial_rounds,
            steps: self.models.trial_steps,
            ..self.least_change
        }
    }

    /// That all fields are in their ranges.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), String> {
        self.counters.check()?;
        self.fit.check()?;
        self.dictionary.check()?;
        self.pursuit.check()?;
        self.grids.check()?;
        self.models.check()?;
        self.least_change.check()?;
        self.nearest.check()?;
        self.flows.check()?;
        self.extremes.check()?;
        self.confidence.check()?;
        self.verdict.check()?;
        self.retry.check()?;
        self.earlier.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_in_their_ranges_and_what_is_not_is_named() {
        assert_eq!(Settings::default().check(), Ok(()));
        let mut settings = Settings::default();
        settings.models.hold_out = 1;
        assert_eq!(settings.check(), Err("hold_out: expected 2..=1_000, found 1".into()));
        settings = Settings::default();
        settings.verdict.identified = f64::NAN;
        assert!(settings.check().unwrap_err().starts_with("identified: expected 0.0..=1.0"));
    }
}
