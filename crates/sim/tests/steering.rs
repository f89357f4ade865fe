//! `native/steering/netloom_modes.h` decides what `Aware` decides.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use netloom_model::rng::{below, stream};
use netloom_sim::{Aware, Mode, Sample, Size};

const PROGRAM: &str = r#"
#include <inttypes.h>
#include <stdio.h>
#include "netloom_modes.h"

int main(void)
{
    struct netloom_modes state = netloom_modes_start();
    uint64_t bytes, latency, stalls;
    int kind, all_to_all, counts, told;
    while (scanf("%d %" SCNu64 " %" SCNu64 " %" SCNu64 " %d", &kind, &bytes, &latency, &stalls, &all_to_all) == 5) {
        enum netloom_mode mode;
        if (kind == 0) {
            state = netloom_modes_start();
            state.packet_bytes = (uint32_t)bytes;
            state.header_bytes = (uint32_t)latency;
            state.window = (uint32_t)stalls;
            printf("\n");
            continue;
        }
        mode = netloom_modes_select(&state, bytes, all_to_all & 2, all_to_all & 1, &counts);
        printf("%d%c", (int)mode, counts ? '+' : '.');
        told = counts && kind == 2;
        if (told)
            netloom_modes_sample(&state, mode, (double)latency / 7.0, (double)stalls / 1000.0);
    }
    return 0;
}
"#;

fn number(mode: Mode) -> u8 {
    mode.number()
}

/// 10,000 sequences of up to 60 messages: sizes about the threshold and far above it, counters from nothing to a jam.
#[test]
fn decisions_are_the_same_in_c() {
    let mut random = stream(3, 0);
    let (mut input, mut expected) = (String::new(), String::new());
    let (mut switched, mut by_mode) = (0, [0; 7]);
    for sequence in 0..10_000 {
        let (packet, header, window) = [(64, 16, 1024), (64, 16, 4), (2_048, 512, 32)][sequence % 3];
        writeln!(input, "0 {packet} {header} {window} 0").unwrap();
        expected += "\n";
        let (mut aware, mut before) = (Aware::default(), None);
        for _ in 0..1 + below(&mut random, 60) {
            let bytes = match below(&mut random, 4) {
                0 => 1 + below(&mut random, 64),
                1 => 4_096 - 2 + below(&mut random, 5),
                2 => 1 + below(&mut random, 30_000),
                _ => 1 << below(&mut random, 27),
            };
            // Whole numbers, so that both read the same.
            let latency =
                [0, below(&mut random, 10_000), below(&mut random, 1 << 22)][below(&mut random, 3) as usize];
            let stalls =
                [0, below(&mut random, 300), below(&mut random, 30_000)][below(&mut random, 3) as usize];
            let (told, all_to_all) = (below(&mut random, 5) > 0, below(&mut random, 6) == 0);
            let is_get = below(&mut random, 4) == 0;
            let bits = 2 * u8::from(is_get) + u8::from(all_to_all);
            writeln!(input, "{} {bytes} {latency} {stalls} {bits}", 1 + u8::from(told)).unwrap();
            let put = Size::of(bytes, packet, header, window);
            let (mode, counts) = aware.select(if is_get { put.fetched() } else { put }, all_to_all);
            write!(expected, "{}{}", number(mode), if counts { '+' } else { '.' }).unwrap();
            by_mode[usize::from(number(mode))] += 1;
            if counts {
                let high = mode == Mode::HighBias;
                switched += u32::from(before.is_some_and(|before| before != high));
                before = Some(high);
            }
            if counts && told {
                aware.sample(mode, Sample { latency: latency as f64 / 7.0, stalls: stalls as f64 / 1000.0 });
            }
        }
    }
    assert!(
        switched > 10_000 && by_mode.iter().filter(|&&n| n > 1_000).count() == 3,
        "{switched} {by_mode:?}"
    );
    let folder = std::env::temp_dir().join(format!("netloom-modes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [source, binary, lines] = ["modes.c", "modes", "modes.txt"].map(|name| folder.join(name));
    std::fs::write(&source, PROGRAM).unwrap();
    std::fs::write(&lines, &input).unwrap();
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../native/steering");
    let built = Command::new("cc")
        .args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-I"])
        .arg(&headers)
        .arg(&source)
        .arg("-o")
        .arg(&binary)
        .output()
        .expect("a C compiler, which Rust links with");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(&binary).stdin(std::fs::File::open(&lines).unwrap()).output().unwrap();
    assert!(ran.status.success());
    std::fs::remove_dir_all(&folder).unwrap();
    let found = String::from_utf8(ran.stdout).unwrap();
    for (sequence, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "sequence {sequence}");
    }
    assert_eq!(found.len(), expected.len());
}
