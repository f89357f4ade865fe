#!/usr/bin/env bash
# Fuzzes every parser in turn with libFuzzer, built by the stable compiler: `fuzz/run.sh [SECONDS] [TARGET …]`.
#
# Coverage instrumentation comes from LLVM's own pass, so neither nightly nor cargo-fuzz is needed; a C++ compiler is
# (libFuzzer is C++). The corpus grows in fuzz/corpus/TARGET (not committed), seeded from tests/data, examples and
# fuzz/seeds. A crash is written to fuzz/artifacts/TARGET-…: make it a test of the parser, then fix it.
set -euo pipefail
cd "$(dirname "$0")"

seconds=${1:-60}
shift || true
targets=("$@")
if ((${#targets[@]} == 0)); then
    for file in targets/*.rs; do
        targets+=("$(basename "$file" .rs)")
    done
fi
command -v c++ >/dev/null || { echo "fuzz: a C++ compiler (c++) is missing: apt install g++" >&2; exit 1; }

host=$(rustc -vV | sed -n 's/^host: //p')
built=${CARGO_TARGET_DIR:-target}/$host/release
export RUSTFLAGS="--cfg fuzzing -Ccodegen-units=1 -Cpasses=sancov-module \
-Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
# --target keeps the flags away from build scripts.
cargo build --release --quiet --target "$host" "${targets[@]/#/--bin=}"

data=../tests/data/opensm
mkdir -p artifacts
seed() { # seed TARGET FILE …: plain text, gzip undone, at most 64 KiB of each
    local target=$1 file name
    shift
    for file in "$@"; do
        [[ -f $file ]] || continue
        name=$(echo "$file" | tr '/.' '__')
        { gzip -cdf "$file" 2>/dev/null || true; } | head -c 65536 >"corpus/$target/$name" || true
    done
}

failed=()
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target"
    case $target in
    ibnetdiscover) seed "$target" "$data"/*/ibnetdiscover*.txt* ;;
    aries) seed "$target" ../tests/data/aries/* ;;
    cables) seed "$target" ../tests/data/cases/foreign-plans/* ;;
    ibdiagnet) seed "$target" ../tests/data/ibdiagnet/small.* ;;
    ibsim_net) seed "$target" "$data"/*/*.net* ;;
    lfts) seed "$target" "$data"/ft2_32/{opensm-lfts.dump,dump_fts*} "$data"/ft2_32_lmc1/*lfts* ;;
    mtx) seed "$target" ../examples/data/*.mtx.gz ;;
    jobs) seed "$target" ../examples/jobs/*.toml ;;
    perfquery) seed "$target" "$data"/ft2_32/perfquery*.gz ;;
    ibqueryerrors) seed "$target" "$data"/ft2_32/ibqueryerrors*.gz ;;
    scenario) seed "$target" ../examples/ch5/*.toml ;;
    dumpi) seed "$target" ../tests/data/traces/dumpi-*/*-0000.bin ;;
    goal_binary) seed "$target" ../tests/data/cases/goal-binary/*.bin ;;
    chakra) seed "$target" ../tests/data/traces/chakra-*/*.0.et ;;
    plan) seed "$target" ../examples/plan/*.toml ;;
    esac
    seed "$target" seeds/"$target"/*
    log=artifacts/$target.log
    status=ok
    "$built/$target" "corpus/$target" -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2048 \
        -artifact_prefix="artifacts/$target-" -print_final_stats=1 >"$log" 2>&1 || status=FAILED
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
    covered=$(grep -oE 'cov: [0-9]+' "$log" | tail -1)
    printf '%-14s %-6s %10s runs  %s\n' "$target" "$status" "${runs:-?}" "${covered:-}"
    [[ $status == ok ]] || failed+=("$target")
done
if ((${#failed[@]})); then
    echo "fuzz: see fuzz/artifacts/ for ${failed[*]}" >&2
    exit 1
fi
