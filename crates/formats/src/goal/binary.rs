//! GOAL, the binary form: what LogGOPSim's `txt2bin` makes of the text, and LogGOPSim reads.
//!
//! ```text
//! cookie:u64                                  4223; 2342 once a run of LogGOPSim --save-mem has used it up
//! ranks:u32 processors:u8 adapters:u8         the highest numbers of these
//! (begins:u64 ends:u64) a rank                where its tasks are, from behind the cookie
//! tasks:u32 free:u32 task:u32 …               of a rank: how many; those that require nothing
//! needs:u32 kind:u8 peer:u32 size:u64 tag:u32 processor:u8 adapter:u8
//! (followers:u32 from:u32) twice              of a task: who waits for its end, and who for its start
//! task:u32 …                                  the lists of followers, one behind another
//! ```
//! Numbers have the lowest byte first. Kinds: 1 sends, 2 receives, 3 computes.
//!
//! Invariant: memory is bounded by the file: ranks and lists lie one behind another, without gaps, so that no byte is of two.
//!
//! Source: LogGOPSim, `Parser.hpp` and `Goal.hpp` (github.com/spcl/LogGOPSim); ATLAHS' copy has the same layout.

use netloom_model::{MAX_ENDPOINTS, Requirement, Task};

use super::{Line, MAX_BYTES, Statements};
use crate::FormatError;
use crate::traces::bytes::Bytes;

const COOKIE: u64 = 4223;
/// LogGOPSim writes over a schedule that it runs with `--save-mem`.
const USED_UP: u64 = 2342;
const SENDS: u8 = 1;
const RECEIVES: u8 = 2;
const COMPUTES: u8 = 3;
/// Bytes of a task.
const TASK: u64 = 39;

/// Whether these bytes begin as a schedule does.
pub fn is_binary(bytes: &[u8]) -> bool {
    [COOKIE, USED_UP].iter().any(|cookie| bytes.starts_with(&cookie.to_le_bytes()))
}

/// Reads the tasks of all ranks.
pub(super) fn read(data: &[u8], label: &str) -> Result<Statements, FormatError> {
    let mut bytes = Bytes::new(data, label);
    if bytes.le64("a cookie")? != COOKIE {
        bytes.at = 0;
        let message = "a schedule that is whole, found one that a run of LogGOPSim --save-mem has used up";
        return Err(bytes.wrong(message));
    }
    let count = bytes.le32("a number of ranks")?;
    if !(1..=MAX_ENDPOINTS).contains(&count) {
        bytes.at -= 4;
        return Err(bytes.wrong(&format!("1 to {MAX_ENDPOINTS} ranks, found {count}")));
    }
    bytes.take(2, "numbers of processors and adapters")?;
    let mut places = bytes.split(16 * count as usize)?;
    let mut found = Statements::default();
    for rank in 0..count {
        let [begins, ends] = [places.le64("a place")?, places.le64("a place")?];
        let here = bytes.at as u64;
        if begins.saturating_add(8) != here || ends < begins || ends.saturating_add(8) > data.len() as u64 {
            places.at -= 16;
            return Err(places.wrong(&format!(
                "tasks of rank {rank} from {} on, at most to {}, found places {begins} to {ends}: is it cut short?",
                here - 8,
                data.len() - 8
            )));
        }
        let own = bytes.split((ends - begins) as usize)?;
        found.ranks.push(of_rank(own, rank, count, &mut found.requirements)?);
    }
    if bytes.left() > 0 {
        let message = format!("the end of the file behind the last rank, found {} bytes more", bytes.left());
        return Err(bytes.wrong(&message));
    }
    Ok(found)
}

/// Reads the tasks of a rank.
fn of_rank(
    mut bytes: Bytes,
    rank: u32,
    ranks: u32,
    requirements: &mut Vec<Requirement>,
) -> Result<Vec<Line>, FormatError> {
    let (tasks, free) = (bytes.le32("a number of tasks")?, bytes.le32("a number of tasks")?);
    if u64::from(tasks) * TASK + u64::from(free) * 4 > bytes.left() as u64 {
        bytes.at -= 8;
        let message =
            format!("tasks of rank {rank} that the file has, found {tasks}, and {free} that are free");
        return Err(bytes.wrong(&message));
    }
    let frees = bytes.at;
    let listed = (0..free).map(|_| bytes.le32("a task")).collect::<Result<Vec<_>, _>>()?;
    let (mut lines, mut needs, mut followers) = (Vec::new(), Vec::new(), Vec::new());
    let mut lists = 0u64;
    for number in 0..tasks {
        let at = bytes.at;
        needs.push(bytes.le32("a task")?);
        let kind = bytes.u8("a task")?;
        let (peer, size) = (bytes.le32("a task")?, bytes.le64("a task")?);
        let tag = bytes.le32("a task")?;
        let (processor, adapter) = (bytes.u8("a task")?, bytes.u8("a task")?);
        for started in [false, true] {
            let (count, from) = (bytes.le32("a task")?, bytes.le32("a task")?);
            if count > 0 && u64::from(from) != lists {
                let message = format!("followers of task {number} from {lists} on, found from {from}");
                return Err(bytes.wrong(&message));
            }
            lists += u64::from(count);
            followers.push((count, started));
        }
        let wrong = |expected: String| {
            let mut bytes = bytes.clone();
            bytes.at = at;
            bytes.wrong(&expected)
        };
        if kind == SENDS || kind == RECEIVES {
            if peer >= ranks {
                return Err(wrong(format!(
                    "a rank below {ranks} in task {number} of rank {rank}, found {peer}"
                )));
            }
            if size > MAX_BYTES {
                return Err(wrong(format!(
                    "at most {MAX_BYTES} bytes in task {number} of rank {rank}, found {size}"
                )));
            }
        }
        let task = match kind {
            SENDS => Task::Send { to: peer, bytes: size, tag },
            RECEIVES => Task::Recv { from: peer, tag },
            COMPUTES => Task::Calc { units: size },
            _ => {
                return Err(wrong(format!(
                    "1, 2 or 3 as the kind of task {number} of rank {rank}, found {kind}"
                )));
            }
        };
        lines.push(Line { task, bytes: size, processor, adapter, line: 0 });
    }
    if lists * 4 != bytes.left() as u64 {
        let message =
            format!("{lists} followers of tasks of rank {rank}, found {} bytes of them", bytes.left());
        return Err(bytes.wrong(&message));
    }
    let mut counted = vec![0; tasks as usize];
    for (list, &(count, started)) in (0..).zip(&followers) {
        for _ in 0..count {
            let task = bytes.le32("a task")?;
            let Some(needs) = counted.get_mut(task as usize) else {
                bytes.at -= 4;
                return Err(bytes.wrong(&format!("a task of rank {rank} below {tasks}, found {task}")));
            };
            *needs += 1;
            requirements.push(Requirement { rank, task, requires: list / 2, started });
        }
    }
    if let Some(task) = (0..tasks as usize).find(|&task| counted[task] != needs[task]) {
        bytes.at = frees + 4 * listed.len() + TASK as usize * task;
        let message = format!(
            "as many requirements of task {task} of rank {rank} as tasks that it follows, {}, found {}",
            counted[task], needs[task]
        );
        return Err(bytes.wrong(&message));
    }
    if !(0..tasks).filter(|&task| needs[task as usize] == 0).eq(listed) {
        bytes.at = frees;
        return Err(bytes.wrong(&format!("the tasks of rank {rank} that require nothing, found others")));
    }
    Ok(lines)
}

/// Writes the tasks of all ranks.
pub(super) fn write(statements: &Statements) -> Vec<u8> {
    let highest = |of: fn(&Line) -> u8| statements.ranks.iter().flatten().map(of).max().unwrap_or(0);
    let mut out = COOKIE.to_le_bytes().to_vec();
    out.extend((statements.ranks.len() as u32).to_le_bytes());
    out.extend([highest(|line| line.processor), highest(|line| line.adapter)]);
    let places = out.len();
    out.resize(places + 16 * statements.ranks.len(), 0);
    let mut requirements = statements.requirements.iter().peekable();
    for (rank, lines) in statements.ranks.iter().enumerate() {
        let begins = out.len() as u64 - 8;
        let mut needs = vec![0u32; lines.len()];
        let mut followers: Vec<[Vec<u32>; 2]> = vec![<[Vec<u32>; 2]>::default(); lines.len()];
        while let Some(one) = requirements.next_if(|one| one.rank as usize == rank) {
            needs[one.task as usize] += 1;
            followers[one.requires as usize][usize::from(one.started)].push(one.task);
        }
        let mut put = |number: u32| out.extend(number.to_le_bytes());
        let free: Vec<u32> = (0..).zip(&needs).filter(|one| *one.1 == 0).map(|one| one.0).collect();
        [lines.len() as u32, free.len() as u32].into_iter().chain(free).for_each(&mut put);
        let mut lists = 0;
        for ((line, needs), followers) in lines.iter().zip(needs).zip(&followers) {
            let (kind, peer, size, tag) = match line.task {
                Task::Send { to, bytes, tag } => (SENDS, to, bytes, tag),
                Task::Recv { from, tag } => (RECEIVES, from, line.bytes, tag),
                Task::Calc { units } => (COMPUTES, 0, units, 0),
            };
            out.extend(needs.to_le_bytes());
            out.push(kind);
            out.extend(peer.to_le_bytes());
            out.extend(size.to_le_bytes());
            out.extend(tag.to_le_bytes());
            out.extend([line.processor, line.adapter]);
            for own in followers {
                out.extend((own.len() as u32).to_le_bytes());
                out.extend(u32::to_le_bytes(lists));
                lists += own.len() as u32;
            }
        }
        followers.iter().flatten().flatten().for_each(|task| out.extend(task.to_le_bytes()));
        let ends = out.len() as u64 - 8;
        out[places + 16 * rank..][..8].copy_from_slice(&begins.to_le_bytes());
        out[places + 16 * rank + 8..][..8].copy_from_slice(&ends.to_le_bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{read_goal, rewrite_goal};

    const TEXT: &str = "num_ranks 3\nrank 0 {\nl1: calc 100 cpu 2\nl2: send 10b to 1 tag 7 cpu 1 nic 3\nl3: recv 8b from 2\n\
                        l2 requires l1\nl3 irequires l1\nl3 requires l2\n}\nrank 1 {\nl1: recv 10b from 0 tag 7\n}\n\
                        rank 2 {\nl1: send 8b to 0\n}\n";

    fn packed() -> Vec<u8> {
        rewrite_goal(TEXT.as_bytes(), "x.goal", true).unwrap()
    }

    #[test]
    fn a_schedule_is_the_same_in_both_forms() {
        let (text, binary) = (read_goal(TEXT.as_bytes(), "x").unwrap(), read_goal(&packed(), "x").unwrap());
        for rank in 0..3 {
            assert_eq!(binary.tasks(rank), text.tasks(rank));
            assert_eq!(binary.processors(rank), text.processors(rank));
            assert_eq!(binary.needs(rank), text.needs(rank));
            for task in 0..text.tasks(rank).len() as u32 {
                assert_eq!(binary.followers(rank, task), text.followers(rank, task));
            }
        }
        assert_eq!(binary.line(0, 0), None);
        let again = rewrite_goal(&packed(), "x.bin", false).unwrap();
        assert_eq!(rewrite_goal(&again, "y.goal", true).unwrap(), packed());
        assert_eq!(rewrite_goal(TEXT.as_bytes(), "x", false).unwrap(), again);
    }

    #[test]
    fn every_truncation_and_every_other_byte_is_a_schedule_or_an_error_that_names_the_byte() {
        let whole = packed();
        for cut in 8..whole.len() {
            let error = read_goal(&whole[..cut], "x.bin").unwrap_err().to_string();
            assert!(error.starts_with("x.bin: byte ") && error.contains("expected"), "{cut}: {error}");
        }
        for at in 8..whole.len() {
            for value in [0, 1, 2, 3, 0x7f, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                if let Err(error) = read_goal(&bytes, "x.bin") {
                    assert!(error.to_string().contains("expected"), "{at} {value}: {error}");
                }
            }
        }
    }

    #[test]
    fn damage_is_told_by_what_it_is() {
        let with = |at: usize, bytes: &[u8]| {
            let mut all = packed();
            all[at..at + bytes.len()].copy_from_slice(bytes);
            read_goal(&all, "x.bin").unwrap_err().to_string()
        };
        assert!(with(0, &2342u64.to_le_bytes()).contains("byte 0: expected a schedule that is whole"));
        assert_eq!(with(8, &[0; 4]), "x.bin: byte 8: expected 1 to 10000000 ranks, found 0");
        // Rank 1 has its tasks where rank 0 has them, and beyond the end.
        let told = with(14 + 16, &54u64.to_le_bytes());
        assert!(told.contains("byte 30: expected tasks of rank 1 from "), "{told}");
        let told = with(14 + 8, &u64::MAX.to_le_bytes());
        assert!(told.contains("byte 14: expected tasks of rank 0 from 54 on"), "{told}");
        // Rank 0: three tasks, one of them free, from byte 62; tasks from byte 74.
        assert!(with(62, &[255; 4]).contains("byte 62: expected tasks of rank 0 that the file has"));
        assert!(with(70, &[1]).contains("byte 70: expected the tasks of rank 0 that require nothing"));
        assert!(with(74, &[9]).contains("byte 74: expected as many requirements of task 0 of rank 0"));
        assert!(with(78, &[4]).contains("expected 1, 2 or 3 as the kind of task 0 of rank 0, found 4"));
        assert!(with(74 + 39 + 5, &[3]).contains("expected a rank below 3 in task 1 of rank 0, found 3"));
    }
}
