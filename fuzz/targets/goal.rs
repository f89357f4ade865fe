//! GOAL schedules: any bytes are a schedule or an error with its line; the tasks of a schedule can all be done, each once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use netloom_formats::read_goal;

fuzz_target!(|bytes: &[u8]| {
    let Ok(schedule) = read_goal(bytes, "fuzz") else { return };
    for rank in 0..schedule.ranks() {
        let mut needs = schedule.needs(rank).to_vec();
        let mut free: Vec<u32> = (0..needs.len() as u32).filter(|&task| needs[task as usize] == 0).collect();
        let mut done = 0;
        while let Some(task) = free.pop() {
            done += 1;
            for &(follower, _) in schedule.followers(rank, task) {
                needs[follower as usize] -= 1;
                if needs[follower as usize] == 0 {
                    free.push(follower);
                }
            }
        }
        assert_eq!(done, needs.len(), "rank {rank}");
    }
});
