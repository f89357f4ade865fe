"""Reports on a terminal: none is wider than it, and what had to go is named; pipes get everything."""

from __future__ import annotations

import re
import time

import pytest

from netloom.cli.shared import fit, render
from netloom.findings import finding

SCENARIO = """
name = "s"
fabric = "two-level:leaves=8,hosts=4,spines=4"
routes = ["ftree", "random", "optimized"]
[measure]
queues_every_us = 1
[[job]]
name = "solver"
program = { kind = "stream", pattern = "bisection-shuffle:seed=1", bytes = "64KiB", messages = 4 }
"""
LONG = [f"a-leaf-with-a-long-name-in-rack-{i:02}-of-hall-seven" for i in range(3)]


def test_columns_go_in_order_and_are_named():
    head = ["routing", "time", "packets", "note"]
    rows = [["ftree", "1.0", "12,345", "as it was"], ["random", "2.0", "9", ""]]
    whole = render.table(head, rows, right=[1, 2])
    with fit.within(40):
        assert render.table(head, rows, right=[1, 2], spare=[2]) == whole
    rows = [[*row[:3], row[3] * 3] for row in rows]
    with fit.within(40):
        told = render.table(head, rows, right=[1, 2], spare=[2]).splitlines()
    assert told[0] == "routing  time  note"
    assert told[-1] == "(no room in 40 columns for: packets)"
    assert max(map(len, told)) <= 40


def test_names_lose_their_middles_and_numbers_never_a_digit():
    rows = [[name, "123,456,789", name[::-1]] for name in LONG]
    for width in range(40, 130):
        with fit.within(width):
            told = render.table(["from", "bytes", "to"], rows, right=[1]).splitlines()
        assert max(map(len, told)) <= width
        gone = told[-1].startswith("(no room")
        assert gone == ("to" not in told[0].split())
        if "bytes" in told[0]:
            assert sum("123,456,789" in line for line in told) == 3
    with fit.within(60):
        told = render.table(["from", "bytes", "to"], rows, right=[1]).splitlines()
    assert told[1] == "a-leaf-wit…-hall-seven  123,456,789  neves-llah-…htiw-fael-a"


def test_sentences_break_between_words_and_lose_none():
    said = "runs at 4.00 GB/s, the other 17 cables of its stage at 12.50"
    rows = [["1", "leaf03[7] 0x2c9020000c0 lid 34", "spine02[4] 0x2c902000280 lid 25", "warning", said]]
    with fit.within(80):
        text = render.table(["", "from", "to", "", "what"], rows, right=[0], sentences=4)
    assert max(map(len, text.split("\n"))) <= 80
    lines = text.split("\n")[1:]
    column = text.split("\n")[0].index("what")
    assert " ".join(line[column:].strip() for line in lines) == said
    assert "no room" not in text


def test_without_a_terminal_nothing_is_left_out():
    rows = [[name] * 5 for name in LONG]
    told = render.table(["a", "b", "c", "d", "e"], rows)
    assert told.splitlines()[1] == "  ".join([LONG[0]] * 5)
    assert fit.wrapped("x " * 500) == "x " * 500


def test_lines_break_between_words_below_what_they_belong_to():
    with fit.within(40):
        assert fit.wrapped("verdict  one two three four five six seven eight") == (
            "verdict  one two three four five six\n         seven eight"
        )
        assert fit.wrapped("  warning  dead-cable: leaf00[5] joins spine03[1]").splitlines() == [
            "  warning  dead-cable: leaf00[5] joins",
            "           spine03[1]",
        ]
        path = "/a/very/long/path/that/is/copied/from/the/terminal/net.txt"
        assert path in fit.wrapped(f"written  {path}")


def put(netloom, paths) -> None:
    """Files that commands below read."""
    folder = netloom.folder
    (folder / "s.toml").write_text(SCENARIO)
    (folder / "net.txt").symlink_to(paths.ft2)
    (folder / "examples").symlink_to(paths.examples)
    for when in ("before", "after"):
        (folder / f"{when}.gz").symlink_to(paths.opensm / "ft2_32" / f"perfquery_x_{when}.txt.gz")
    netloom.ok("route", "ftree", "net.txt", "-o", "a.lfts")
    netloom.ok("counters", "synth", "net.txt", "a.lfts", "bisection", "-o", "c.csv")
    netloom.ok("sample", "run", "s.toml", "--every-us", 20, "--packets", "-o", "sampled")


COMMANDS = [
    "fabric show net.txt",
    "fabric diff net.txt two-level:leaves=8,hosts=4,spines=4",
    "fabric damage net.txt --random-links 5 -o cut.txt",
    "traffic show examples/jobs/mix.toml quartz1",
    "traffic show bisection net.txt",
    "counters show net.txt c.csv",
    "counters diff net.txt before.gz after.gz",
    "counters check net.txt c.csv",
    "health net.txt before.gz after.gz",
    "diagnose pairs two-level:leaves=8,hosts=4,spines=4 d-mod-k examples/pairs/rounds.csv",
    "traffic pairs net.txt ftree",
    "interference examples/interference/runs.csv two-level:leaves=4,hosts=4,spines=2 ftree "
    "examples/interference/counters.csv.gz",
    "infer net.txt a.lfts c.csv",
    "route minhop net.txt bisection",
    "check net.txt a.lfts",
    "path net.txt a.lfts host0000 host0031",
    "loads net.txt random bisection",
    "loads net.txt ftree examples/jobs/small.toml --users-of leaf00[5]",
    "optimize net.txt examples/jobs/boxlib.toml --background ftree --compare",
    "optimize net.txt examples/jobs/boxlib.toml --also bisection --also permutation:seed=3",
    "optimize net.txt bisection-shuffle:seed=1 --judge fluid",
    "optimize net.txt bisection-shuffle:seed=1 --from a.lfts --front",
    "plan examples/plan/quartz.toml",
    "simulate s.toml -o run",
    "simulate examples/scenarios/load.toml --loads 0.1,0.9 --routings ftree",
    "simulate examples/scenarios/neighbour.toml --routings ftree --mappings block,random --alone",
    "simulate examples/congestion/qcn-victim.toml",
    "noise examples/scenarios/neighbour.toml --routings ftree,random",
    "sample run s.toml",
    "sample decode net.txt sampled/0-ftree/packets.parquet",
    "diagnose sampled",
    "loop run examples/loop/small.toml",
    "sweep run examples/sweeps/shuffle.toml -o sweep",
    "study list",
    "study list table 5.1",
    "study hashes",
    "study bandwidth",
    "study table32 bisection --fabric two-level:leaves=2,hosts=2,spines=2",
    "lanes write net.txt a.lfts --vl-scheme 5sl5vl:seed=1 -o lanes",
    "dataplane plan examples/dataplane/net.txt",
    "watch net.txt --counters-from c.csv --once",
    "plot run run -o x.svg",
    "plot loads net.txt bisection ftree optimize -o x.svg",
    "plot congestion sampled -o x.svg",
    "plot tail run -o x.svg",
    "plot cables net.txt bisection ftree -o x.svg",
    "report net.txt bisection ftree -o x.html",
]
EXEMPT = {
    "record": "runs MPI programs",
    "trace": "of recorded MPI programs",
    "apply": "needs a live fabric; tests/test_apply.py",
    "demo": "minutes; its tables go through the same `render.table`",
    "completion": "prints what a shell reads",
    "examples": "a list of files",
}


def test_every_verb_is_looked_at():
    from test_docs import VERBS

    assert {command.split()[0] for command in COMMANDS} | set(EXEMPT) == set(VERBS)


def test_every_report_fits_80_columns_or_says_what_it_left_out(netloom, paths):
    put(netloom, paths)
    wide = {}
    for command in COMMANDS:
        done = netloom.on_terminal(*command.split())
        if done.code not in (0, 1):
            wide[command] = [done.err]
            continue
        lines = [line for line in done.out.splitlines() if len(line) > 80]
        # A path stays whole.
        lines = [line for line in lines if len(max(line.split(), key=len)) < 60]
        if lines:
            wide[command] = lines
        assert not re.search(r"^\(no room in \d+ columns for: .*the last", done.out, re.MULTILINE), command
    assert wide == {}


@pytest.mark.parametrize(("columns", "fits"), [(80, False), (140, True)])
def test_a_wide_terminal_and_a_pipe_have_all_columns(netloom, write, columns, fits):
    write("s.toml", SCENARIO)
    narrow = netloom.on_terminal("simulate", "s.toml", "--routings", "ftree", columns=columns).out
    piped = netloom.ok("simulate", "s.toml", "--routings", "ftree", env={"COLUMNS": "80"})
    assert "Mhops/CPU s" in piped.splitlines()[3]
    assert ("Mhops/CPU s" in narrow.splitlines()[3]) == fits
    assert ("(no room in 80 columns for: p99, packets, Mhops/CPU s)" in narrow) != fits


def test_a_report_in_a_file_is_whole_whatever_the_terminal(netloom, paths):
    (netloom.folder / "net.txt").symlink_to(paths.ft2)
    netloom.ok("route", "ftree", "net.txt", "-o", "a.lfts")
    told = ("path", "net.txt", "a.lfts", "host0000", "host0031")
    assert "no room" in netloom.on_terminal(*told, columns=40).out
    netloom.on_terminal(*told, "-o", "report.txt", columns=40)
    assert (netloom.folder / "report.txt").read_text() == netloom.ok(*told)


def test_help_has_what_is_minimised_before_what_all_verbs_have(netloom):
    heads = [
        line.split("─ ")[1].split(" ─")[0]
        for line in netloom.ok("help", "optimize").splitlines()
        if line[:1] == "╭"
    ]
    assert heads == [
        "Arguments",
        "Parameters",
        "What to minimise",
        "Changing little",
        "Several addresses a host",
        "A simulation as the judge",
        "An exact model as the judge",
        "Common options",
    ]


def test_many_findings_of_a_kind_end_in_how_many_more_there_are():
    found = [finding("dead-cable", f"leaf{i:03}[1] is cut") for i in range(324)]
    found.append(finding("no-traffic", "nobody sends"))
    told = render.findings(found).strip().splitlines()
    assert len(told) == 1 + 10 + 1 + 1
    assert told[11] == "  warning  dead-cable: +314 more (--format json has all)"
    assert told[12] == "  warning  no-traffic: nobody sends"
    # A dozen are all told: a line that stands for two saves nothing.
    assert "more" not in render.findings(found[:12])


def test_progress_tells_no_rate_before_time_has_passed():
    from netloom.session.side_by_side import rate_text

    now = time.monotonic()
    assert rate_text(97_000_000, (97_000_000, now - 1)) == "0.097 ms simulated"
    assert rate_text(5, (10, now - 1)) == "0.000 ms simulated"
    assert rate_text(2_000_000_000, (0, now - 1)).endswith(" ms a second")
