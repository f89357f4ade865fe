//! Scripts: the programs of ranks, step by step, of whatever they are made.

use netloom_model::Task;

use super::offered::OpenLoop;
use super::op::Op;
use super::tasks::Tasks;

/// A period that comes fewer times is none.
pub(super) const LEAST_TIMES: u64 = 4;

/// Steps from `from` to `to`, of which each does what the one `steps` before it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The first step.
    pub from: u64,
    /// Steps after which they come again.
    pub steps: u64,
    /// The first step that is no more one of them.
    pub to: u64,
}

impl Cycle {
    /// Nothing comes again.
    pub const NONE: Self = Self { from: 0, steps: 0, to: 0 };

    /// A program of so many steps, so many times.
    pub fn every(steps: u64, times: u64) -> Self {
        Self { from: 0, steps, to: steps.saturating_mul(times) }
    }

    /// The same so many steps later.
    #[must_use]
    pub fn after(self, steps: u64) -> Self {
        Self { from: self.from + steps, to: self.to.saturating_add(steps), ..self }
    }

    /// How often it comes, whole.
    pub fn times(&self) -> u64 {
        (self.to - self.from).checked_div(self.steps).unwrap_or(0)
    }

    /// Whether it comes often enough to be looked for in a run.
    pub fn is_enough(&self) -> bool {
        self.times() >= LEAST_TIMES
    }
}

/// The program of a job, as a function of the step: nothing is unrolled in memory.
pub trait Script: Send + Sync {
    /// Step number `step` of `rank`; `None` at its end.
    fn op(&self, rank: u32, step: u64) -> Option<Op>;

    /// Bytes by rank of the collective of step `step`, as `rank` knows them ([`Collective::step`](netloom_traffic::collective::Collective::step)); empty if all are equal.
    fn shares(&self, _rank: u32, _step: u64) -> &[u64] {
        &[]
    }

    /// Where `rank` does the same again and again, if the program knows that without being read; `None`: who wants to know must read it.
    fn cycle(&self, _rank: u32) -> Option<Cycle> {
        None
    }

    /// Where a step (a task, if there are tasks) stands in the file that it was read from, `trace.ti:41`; `None`: in none.
    fn place(&self, _rank: u32, _step: u64) -> Option<String> {
        None
    }

    /// The tasks, if this is a graph of them: then they are run, not the steps.
    fn tasks(&self) -> Option<&Tasks> {
        None
    }

    /// The window that is measured, if all its messages are offered at their own times: then it only computes (pauses) and sends.
    fn open_loop(&self) -> Option<OpenLoop> {
        None
    }
}

impl<S: Script + ?Sized> Script for std::sync::Arc<S> {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        (**self).op(rank, step)
    }

    fn shares(&self, rank: u32, step: u64) -> &[u64] {
        (**self).shares(rank, step)
    }

    fn cycle(&self, rank: u32) -> Option<Cycle> {
        (**self).cycle(rank)
    }

    fn place(&self, rank: u32, step: u64) -> Option<String> {
        (**self).place(rank, step)
    }

    fn tasks(&self) -> Option<&Tasks> {
        (**self).tasks()
    }

    fn open_loop(&self) -> Option<OpenLoop> {
        (**self).open_loop()
    }
}

impl Script for Vec<Vec<Op>> {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        self.get(rank as usize)?.get(step as usize).copied()
    }
}

/// To whoever only adds up messages a graph of tasks is one task after another.
impl Script for Tasks {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        let tasks = self.schedule().tasks(rank);
        let Some(&task) = tasks.get(step as usize) else {
            return (step == tasks.len() as u64).then_some(Op::WaitAll);
        };
        Some(match task {
            Task::Calc { .. } => Op::Compute { ps: self.occupies_ps(task, 0) },
            Task::Send { to, bytes, tag } => Op::Isend { to, bytes, tag },
            Task::Recv { from, tag } => Op::Irecv { from, tag },
        })
    }

    fn place(&self, rank: u32, step: u64) -> Option<String> {
        let line = self.schedule().line(rank, u32::try_from(step).ok()?)?;
        Some(self.file.told(line as usize))
    }

    fn tasks(&self) -> Option<&Tasks> {
        Some(self)
    }
}
