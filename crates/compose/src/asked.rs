//! A job of a scenario and its place: what its program is made from, and where what does not fit is told.

use netloom_formats::FormatError;
use netloom_formats::scenario::{Scenario, ScenarioJob};
use netloom_model::rng::stream;
use netloom_model::{Fabric, HostId};
use netloom_sim::Config;
use netloom_traffic::PatternError;

use crate::ComposeError;
use crate::reader::{Reader, file};

/// Streams of random numbers of programs; those of placement lie below.
const PROGRAMS: u64 = 1 << 40;

/// A job of a scenario, for what is wrong with it.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The job's number.
    pub number: usize,
}

impl<'a> Asked<'a> {
    /// The job.
    pub fn job(self) -> &'a ScenarioJob {
        &self.scenario.jobs[self.number]
    }

    /// A key of the job that does not fit.
    pub fn refuse(self, key: &str, message: &dyn std::fmt::Display) -> ComposeError {
        ComposeError::Misfit(self.at(key, message))
    }

    /// Reads the file of a role that a key of the job names.
    ///
    /// # Errors
    /// [`ComposeError::File`].
    pub fn read(
        self,
        read: &mut Reader,
        role: &'static str,
        key: &str,
        path: &str,
    ) -> Result<Vec<u8>, ComposeError> {
        file(read, role, path).map_err(|error| error.at(self.at(key, &role)))
    }

    pub(crate) fn at(self, key: &str, message: &dyn std::fmt::Display) -> FormatError {
        let message = format!("job \"{}\": {message}", self.job().name);
        self.scenario.origins.error(&format!("job.{}.{key}", self.number), message)
    }

    pub(crate) fn pattern(self, error: &PatternError) -> ComposeError {
        ComposeError::Pattern(self.at("program.pattern", &format!("pattern: {error}")))
    }
}

/// What a program needs to know of its job.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The job.
    pub asked: Asked<'a>,
    /// Its ranks.
    pub ranks: u32,
    /// Where each is.
    pub host_of_rank: &'a [HostId],
    /// The fabric.
    pub fabric: &'a Fabric,
    /// The hardware.
    pub config: &'a Config,
}

impl Place<'_> {
    /// A key of the program that does not fit.
    pub(crate) fn refuse(&self, key: &str, message: &dyn std::fmt::Display) -> ComposeError {
        self.asked.refuse(&format!("program.{key}"), message)
    }

    pub(crate) fn check_root(&self, root: u32) -> Result<(), ComposeError> {
        let ranks = self.ranks;
        let message = || self.refuse("root", &format!("root {root}: expected a rank below {ranks}"));
        if root < ranks { Ok(()) } else { Err(message()) }
    }

    /// Its ranks, of which there must be 1, 2, 4, 8, …
    pub(crate) fn power_of_two(&self) -> Result<u32, ComposeError> {
        let ranks = self.ranks;
        let message = || self.refuse("kind", &format!("expected a power of two of ranks, found {ranks}"));
        if ranks.is_power_of_two() { Ok(ranks) } else { Err(message()) }
    }

    pub(crate) fn check_two(&self) -> Result<(), ComposeError> {
        if self.ranks > 1 { Ok(()) } else { Err(self.refuse("kind", &"expected at least 2 ranks")) }
    }

    /// A pattern with the scenario's seed, if it has none of its own.
    pub(crate) fn seeded(&self, spec: &str) -> String {
        let seed = self.asked.scenario.seed;
        match (spec.contains("seed="), spec.contains(':')) {
            (true, _) => spec.to_owned(),
            (false, true) => format!("{spec},seed={seed}"),
            (false, false) => format!("{spec}:seed={seed}"),
        }
    }

    pub(crate) fn random(&self) -> netloom_model::rng::Stream {
        stream(self.asked.scenario.seed, PROGRAMS + self.asked.number as u64)
    }
}
