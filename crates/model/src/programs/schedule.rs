//! What every rank of a run does, as tasks that depend on each other: several are open at once.
//!
//! Tasks of all ranks lie in one flat array; a rank's tasks are numbered from 0. A task may start when those that it requires
//! are complete, and those that it requires *at the start* have started; tasks that compute or call for a message occupy a
//! processor of their rank, one task at a time.
//!
//! Invariants: receivers and senders are ranks; tags are below 2^31; no task requires itself, directly or not.

/// What a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Occupies its processor.
    Calc {
        /// For so long, in the units of the schedule (GOAL: nanoseconds).
        units: u64,
    },
    /// Sends; complete when the message has left, at once if it need not ask first.
    Send {
        /// The receiver.
        to: u32,
        /// Payload.
        bytes: u64,
        /// What a receive must ask for.
        tag: u32,
    },
    /// Receives; complete when the message is there.
    Recv {
        /// The sender.
        from: u32,
        /// As sent.
        tag: u32,
    },
}

/// That a task requires another of its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The rank.
    pub rank: u32,
    /// The task that waits.
    pub task: u32,
    /// The task that it waits for.
    pub requires: u32,
    /// It is enough that the other one has started.
    pub started: bool,
}

/// The tasks of every rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    offsets: Vec<usize>,
    tasks: Vec<Task>,
    /// Line of each task, from 1; empty where they are of no file.
    lines: Vec<u32>,
    /// Processor of each task.
    processors: Vec<u8>,
    /// Requirements of each task.
    needs: Vec<u32>,
    /// Who waits for a task: its number within the rank, and whether the start is enough.
    followers: Vec<(u32, bool)>,
    followers_of: Vec<usize>,
}

impl Schedule {
    /// A schedule of tasks with their processors, rank by rank.
    ///
    /// # Errors
    /// A task that requires itself, by rank and number: the smallest of a cycle.
    ///
    /// # Panics
    /// If a requirement names a task that there is not, or a message a rank.
    pub fn new(ranks: &[Vec<(Task, u8)>], requirements: &[Requirement]) -> Result<Self, (u32, u32)> {
        let count = ranks.len() as u32;
        let mut offsets = vec![0];
        let (mut tasks, mut processors) = (Vec::new(), Vec::new());
        for rank in ranks {
            for &(task, processor) in rank {
                if let Task::Send { to: peer, .. } | Task::Recv { from: peer, .. } = task {
                    assert!(peer < count, "{task:?} of {count} ranks");
                }
                tasks.push(task);
                processors.push(processor);
            }
            offsets.push(tasks.len());
        }
        let at = |rank: u32, task: u32| {
            let at = offsets[rank as usize] + task as usize;
            assert!(at < offsets[rank as usize + 1], "task {task} of rank {rank}");
            at
        };
        let mut needs = vec![0; tasks.len()];
        let mut followers_of = vec![0usize; tasks.len() + 1];
        for r in requirements {
            needs[at(r.rank, r.task)] += 1;
            followers_of[at(r.rank, r.requires) + 1] += 1;
        }
        for i in 0..tasks.len() {
            followers_of[i + 1] += followers_of[i];
        }
        let mut next = followers_of.clone();
        let mut followers = vec![(0, false); requirements.len()];
        for r in requirements {
            let slot = &mut next[at(r.rank, r.requires)];
            followers[*slot] = (r.task, r.started);
            *slot += 1;
        }
        let lines = Vec::new();
        let schedule = Self { offsets, tasks, lines, processors, needs, followers, followers_of };
        match (0..count).find_map(|rank| Some((rank, schedule.first_in_cycle(rank)?))) {
            Some(cycle) => Err(cycle),
            None => Ok(schedule),
        }
    }

    /// Tasks stand in a file at these lines, rank by rank.
    ///
    /// # Panics
    /// If they are not as many as the tasks.
    #[must_use]
    pub fn with_lines(self, lines: Vec<u32>) -> Self {
        assert_eq!(lines.len(), self.tasks.len(), "every task has a line");
        Self { lines, ..self }
    }

    /// The line of a task, if it is of a file.
    pub fn line(&self, rank: u32, task: u32) -> Option<u32> {
        self.lines.get(self.offsets[rank as usize] + task as usize).copied()
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        (self.offsets.len() - 1) as u32
    }

    /// The tasks of a rank.
    pub fn tasks(&self, rank: u32) -> &[Task] {
        &self.tasks[self.range(rank)]
    }

    /// The processor of each of its tasks.
    pub fn processors(&self, rank: u32) -> &[u8] {
        &self.processors[self.range(rank)]
    }

    /// How many requirements each of its tasks has.
    pub fn needs(&self, rank: u32) -> &[u32] {
        &self.needs[self.range(rank)]
    }

    /// The tasks that require `task`, and whether its start is enough.
    pub fn followers(&self, rank: u32, task: u32) -> &[(u32, bool)] {
        let at = self.offsets[rank as usize] + task as usize;
        &self.followers[self.followers_of[at]..self.followers_of[at + 1]]
    }

    fn range(&self, rank: u32) -> std::ops::Range<usize> {
        self.offsets[rank as usize]..self.offsets[rank as usize + 1]
    }

    /// Takes tasks away whose requirements are gone; of what remains each requires another.
    fn first_in_cycle(&self, rank: u32) -> Option<u32> {
        let mut needs = self.needs(rank).to_vec();
        let mut free: Vec<u32> = (0..needs.len() as u32).filter(|&task| needs[task as usize] == 0).collect();
        while let Some(task) = free.pop() {
            for &(follower, _) in self.followers(rank, task) {
                needs[follower as usize] -= 1;
                if needs[follower as usize] == 0 {
                    free.push(follower);
                }
            }
        }
        // Those behind a cycle remain as well: walk backwards from one, long enough to be in the cycle, then round it.
        let start = needs.iter().position(|&n| n > 0)? as u32;
        let mut before = vec![0; needs.len()];
        for task in (0..needs.len() as u32).filter(|&task| needs[task as usize] > 0) {
            for &(follower, _) in self.followers(rank, task) {
                before[follower as usize] = task;
            }
        }
        let within = (0..needs.len()).fold(start, |task, _| before[task as usize]);
        let (mut least, mut task) = (within, before[within as usize]);
        while task != within {
            least = least.min(task);
            task = before[task as usize];
        }
        Some(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALC: (Task, u8) = (Task::Calc { units: 1 }, 0);

    fn edge(task: u32, requires: u32) -> Requirement {
        Requirement { rank: 0, task, requires, started: task == 3 }
    }

    #[test]
    fn followers_and_needs_are_both_sides_of_the_requirements() {
        let schedule =
            Schedule::new(&[vec![CALC; 4], vec![]], &[edge(1, 0), edge(3, 1), edge(3, 0), edge(2, 0)])
                .unwrap();
        assert_eq!(schedule.ranks(), 2);
        assert_eq!(schedule.needs(0), [0, 1, 1, 2]);
        assert_eq!(schedule.followers(0, 0), [(1, false), (3, true), (2, false)]);
        assert_eq!(schedule.followers(0, 1), [(3, true)]);
        assert_eq!(schedule.tasks(1), []);
    }

    /// 0 and 4 hang on the cycle 1 -> 3 -> 2 -> 1 and are not named.
    #[test]
    fn a_cycle_is_named_by_a_task_in_it() {
        let edges = [edge(1, 3), edge(3, 2), edge(2, 1), edge(0, 2), edge(4, 0)];
        assert_eq!(Schedule::new(&[vec![CALC; 5]], &edges), Err((0, 1)));
        assert_eq!(Schedule::new(&[vec![CALC]], &[edge(0, 0)]), Err((0, 0)));
    }
}
