"""What `netloom simulate` refuses: one line with what is wrong and where, exit 3, nothing half-written."""

from __future__ import annotations

import gzip

import pytest

HEAD = 'fabric = "two-level:leaves=8,hosts=4,spines=4"\n'
JOB = '[[job]]\nname = "a"\nprogram = { kind = "stream", pattern = "bisection", bytes = 65536 }\n'


def refused(netloom, text: str, *arguments: object) -> str:
    (netloom.folder / "s.toml").write_text(text)
    word: str = netloom.refused("simulate", "s.toml", "-o", "run", "--checkpoint", "kept", *arguments)
    assert not (netloom.folder / "run").exists()
    assert not (netloom.folder / "kept").exists()
    return word


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sed = 1\n" + HEAD + JOB, ["s.toml:1", '"sed"', 'did you mean "seed"?']),
        (HEAD + JOB + "alocation = 'random'\n", ["s.toml:5", 'did you mean "allocation"?']),
        (HEAD + "[hardware]\nlane = 2\n" + JOB, ["s.toml:3", 'did you mean "lanes"?']),
        (HEAD + JOB.replace("bytes", "byte"), ['did you mean "bytes"?']),
        (HEAD + JOB.replace("stream", "steam"), ['did you mean "stream"?']),
        (HEAD + JOB.replace("65536", "0"), ["s.toml:4", "bytes", "found 0"]),
        (HEAD + JOB.replace("65536", "-1"), ["s.toml:4", "bytes"]),
        (HEAD + JOB.replace("65536", "'9 EiB'"), ["s.toml:4", "bytes"]),
        (HEAD + JOB.replace("65536", "1.5"), ["s.toml:4", "bytes"]),
        (HEAD, ["expected at least one [[job]]"]),
        (JOB, ["expected fabric"]),
        ("# a fabric\nfabric = 'missing.txt'\n" + JOB, ["s.toml:2: fabric: missing.txt: No such file"]),
        ("# a fabric\nfabric = 'quartz2'\n" + JOB, ["s.toml:2: fabric: ", 'did you mean "quartz1"?']),
        ("fabric = 'quartz1:speed=ED'\n" + JOB, ["s.toml:1: fabric: quartz1: speed", 'found "ED"']),
        ("fabric = 'two-levle:leaves=8'\n" + JOB, ["s.toml:1: fabric: ", 'did you mean "two-level"?']),
        (
            HEAD + "[hardware]\nlanes = 2\nlane_weights = [1, 2, 3]\n" + JOB,
            ["s.toml:4: hardware: lane_weights: expected 2 numbers from 1 to 255"],
        ),
        (HEAD + "[hardware]\nlane_weights = [256]\n" + JOB, ["s.toml:3: lane_weights: ", "1 to 255"]),
        (
            "profile = 'codes'\n" + HEAD + "[hardware]\ninput_buffer_bytes = '64KiB'\n" + JOB,
            ["s.toml:4: hardware: input_buffer_bytes: ", 'release = "admitted"', "found 65536"],
        ),
        (HEAD + JOB + "[[job", ["s.toml:5", "expected TOML"]),
        (HEAD + "[hardware]\noutput_buffer_bytes = 4000\n" + JOB, ["output_buffer_bytes", "4122"]),
        (HEAD + "[hardware]\ninput_buffer_bytes = 100\n" + JOB, ["input_buffer_bytes"]),
        (HEAD + "[hardware]\npacket_bytes = 0\n" + JOB, ["packet_bytes"]),
        (HEAD + "max_time_ms = 1e9\n" + JOB, ["max_time_ms", "281000"]),
        ("routes = 'ftre'\n" + HEAD + JOB, ["s.toml:1: routes: ", 'did you mean "ftree"?']),
        ("routes = 'missing.lfts'\n" + HEAD + JOB, ["s.toml:1: routes: missing.lfts: No such file"]),
        (HEAD + JOB + "mapping = 'file:no.txt'\n", ["s.toml:5: ", 'job "a": mapping: no.txt: No such file']),
        (HEAD + "[[job]]\ntrace = 'no.ti'\n", ["s.toml:3: ", 'job "job1": trace: no.ti: No such file']),
        (
            HEAD + JOB + "ranks = 14\n" + JOB.replace('"a"', '"b"'),
            [
                "s.toml:6: ",
                '"b" needs 32 hosts',
                "18 of the fabric's 32 are free",
                "give ranks = 18 or fewer",
            ],
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(netloom, text, words):
    word = refused(netloom, text)
    for part in words:
        assert part in word


def test_more_ranks_than_hosts_are_refused(netloom):
    word = refused(netloom, HEAD + JOB + "ranks = 34\n")
    assert word.startswith("s.toml:5: ")
    assert '"a"' in word
    assert "32" in word


def test_more_ranks_than_fit_into_memory_are_refused_with_their_line(netloom):
    """32 hosts with a million ranks each: the process was aborted."""
    job = '[[job]]\nname = "big"\nranks_per_host = 1000000\nprogram = { kind = "incast", bytes = 1 }\n'
    word = refused(netloom, HEAD + job)
    most = "expected at most 2097152"
    line = HEAD.count("\n") + 3
    assert word.startswith(f's.toml:{line}: job "big": ')
    assert word.endswith(f"ranks (1000000 on each host): {most}")
    word = refused(netloom, HEAD + job, "--set", "job.big.ranks=2097153")
    assert word == f'--set job.big.ranks=2097153: job "big": 2097153 ranks: {most}'
    # A few ranks of so many places are no problem, and neither is as much as there may be.
    (netloom.folder / "few.toml").write_text(HEAD + job + "ranks = 4\n")
    netloom.ok("simulate", "few.toml")


def test_jobs_that_overlap_are_refused(netloom):
    other = JOB.replace('"a"', '"b"')
    text = HEAD + JOB + 'hosts = "host[0000-0003]"\n' + other + 'hosts = "host[0003-0006]"\n'
    word = refused(netloom, text)
    assert "host0003" in word
    assert '"a"' in word
    assert '"b"' in word


def trace(netloom, lines: list[str]) -> str:
    (netloom.folder / "t.ti.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return HEAD + '[[job]]\nname = "app"\ntrace = "t.ti.gz"\n'


def test_a_truncated_trace_is_refused_with_its_line(netloom):
    word = refused(netloom, trace(netloom, ["0 init", "1 init", "0 send 1 7 10 6", "1 recv 0"]))
    assert "t.ti.gz:4" in word
    (netloom.folder / "t.ti.gz").write_bytes(gzip.compress(b"0 init\n" * 1000)[:30])
    (netloom.folder / "s.toml").write_text(HEAD + '[[job]]\nname = "app"\ntrace = "t.ti.gz"\n')
    assert "t.ti.gz" in netloom.refused("simulate", "s.toml")
    # The ranks' files follow each other: the last ranks are missing, and others write to them.
    word = refused(netloom, trace(netloom, ["0 init", "0 isend 2 7 10 6", "0 finalize", "1 init", "1 is"]))
    assert "t.ti.gz:2" in word
    assert "is the trace cut short?" in word


@pytest.mark.parametrize(
    ("algorithms", "words"),
    [
        ("allredue=ring", 'there is no collective "allredue", did you mean "allreduce"?'),
        ("allreduce=rings", 'there is no algorithm "rings", did you mean "ring"?'),
        ("allreduce=bruck", 'expected recursive-doubling or ring for allreduce, found "bruck"'),
        ("ring", 'expected COLLECTIVE=ALGORITHM such as allreduce=ring, found "ring"'),
    ],
)
def test_an_unknown_collective_or_algorithm_is_refused_with_its_line(netloom, algorithms, words):
    text = trace(netloom, ["0 init", "0 finalize"])
    word = refused(netloom, text + f'algorithms = "{algorithms}"\n')
    assert word == f's.toml:5: job "app": algorithms: {words}'
    word = refused(netloom, text, "--set", f"job.app.algorithms={algorithms}")
    assert word == f'--set job.app.algorithms={algorithms}: job "app": algorithms: {words}'


def test_a_receive_without_a_send_names_the_ranks_and_their_calls(netloom):
    word = refused(
        netloom, trace(netloom, ["0 init", "1 init", "1 recv 0 7 10 6", "0 finalize", "1 finalize"])
    )
    assert "app rank 1 (step 1, t.ti.gz:3) in receive from rank 0 tag 7" in word


def test_time_that_overflows_is_refused(netloom):
    """A computation of 300 s is beyond what the clock of picoseconds holds."""
    lines = ["0 init", "0 compute 300000000000", "0 finalize"]
    word = refused(netloom, trace(netloom, lines) + "flops_per_s = 1e9\n")
    assert "281 s" in word


OVERFLOW = """
[[job]]
name = "early"
ranks = 4
program = { kind = "pairs", bytes = 8 }
[[job]]
name = "late"
ranks = 4
program = { kind = "halo", shape = [2, 2, 1], face_bytes = 8, iterations = 3, compute_us = 1e8 }
"""


@pytest.mark.parametrize("model", ["packet", "fluid"])
@pytest.mark.parametrize("threads", [1, 2])
def test_time_that_overflows_names_scenario_routing_job_and_rank(netloom, model, threads):
    """Three rounds of 100 s. Whichever of several routings is faster, the first in order is told."""
    routes = ["updn", "adaptive", "ftree"]
    (netloom.folder / "s.toml").write_text(HEAD + OVERFLOW)
    for order in (routes, routes[::-1]):
        asked = ["--model", model, "--routings", ",".join(order), "--threads", threads]
        word = netloom.refused("simulate", "s.toml", "-o", "run", *asked)
        assert word == f's.toml: {order[0]}: job "late" rank 0: simulated time exceeds 281 s'


def test_the_line_of_a_trace_is_told_with_time_that_overflows(netloom):
    lines = ["0 init", "1 init", "1 compute 1e9", "1 compute 300e9", "0 finalize", "1 finalize"]
    word = refused(netloom, trace(netloom, lines) + "flops_per_s = 1e9\n")
    assert word == 's.toml: ftree: job "app" rank 1 (t.ti.gz:4): simulated time exceeds 281 s'


def test_a_long_message_that_sped_up_does_not_exceed_the_time(netloom):
    """At a quarter of its rate it would end after 352 s; the others end soon, and alone it takes 88 s."""
    job = '[[job]]\nname = "{}"\nhosts = ["{}", "{}"]\nprogram = {{ kind = "incast", bytes = "{}" }}\n'
    fabric = 'fabric = "two-level:leaves=2,hosts=4,spines=1"\nmodel = "fluid"\n'
    pairs = [(f"host{at:04}", f"host{at + 4:04}") for at in range(4)]
    jobs = [job.format(f"job{at}", *pair, "1TiB" if at == 0 else "1MiB") for at, pair in enumerate(pairs)]
    (netloom.folder / "s.toml").write_text(fabric + "".join(jobs))
    run = netloom.result("simulate", "s.toml")["runs"][0]
    assert run["stopped"] is None
    assert run["jobs"][0]["completion_ms"] == pytest.approx(2**40 / 12.5e9 * 1e3, rel=0.02)


def test_ranks_that_wait_for_ever_are_counted_and_the_one_to_begin_with_comes_first(netloom):
    """Of 32 ranks 31 are in a barrier; one waits for a message that its other rank sends with another tag."""
    lines = [f"{rank} init" for rank in range(32)] + ["20 send 21 7 10 6", "21 recv 20 8 10 6"]
    lines += [f"{rank} barrier" for rank in range(32)] + [f"{rank} finalize" for rank in range(32)]
    word = refused(netloom, trace(netloom, lines))
    assert word.startswith("s.toml: ftree: ranks wait for ever for messages that nobody sends, or takes: ")
    ranks = word.partition(" takes: ")[2].split("; app ")
    first = "app rank 21 (step 1, t.ti.gz:34) in receive from rank 20 tag 8; "
    assert word.partition(" takes: ")[2].startswith(
        first
        + "open receives: rank 20 tag 8 (t.ti.gz:34; never sent); app rank 0 (step 0, t.ti.gz:35) in barrier"
    )
    assert len(ranks) == 8
    assert word.endswith("; and 24 more")


@pytest.mark.parametrize("model", ["packet", "fluid"])
def test_a_send_without_a_receive_is_named_with_its_line(netloom, model):
    lines = ["0 init", "1 init", "0 isend 1 7 100000 6", "0 waitall 1", "0 finalize", "1 finalize"]
    word = refused(netloom, trace(netloom, lines), "--model", model)
    rank = "app rank 0 (step 2, t.ti.gz:4) in waitall; open sends: rank 1 tag 7 (t.ti.gz:3; never received)"
    assert f"{rank}; messages above software.eager_bytes = 16384 leave only once" in word


def broken(netloom, paths, change) -> str:
    """Routes of ftree on the small tree with some lines changed, as a scenario's routing."""
    netloom.ok("route", "ftree", paths.small, "-q", "-o", "mine.lfts")
    path = netloom.folder / "mine.lfts"
    path.write_text(change(path.read_text()))
    return "routes = 'mine.lfts'\n" + HEAD + JOB


def test_routes_with_missing_entries_are_refused(netloom, paths):
    def without(text: str) -> str:
        lines = text.splitlines(keepends=True)
        first = next(i for i, line in enumerate(lines) if "host0031" in line)
        return "".join(lines[:first] + lines[first + 1 :])

    word = refused(netloom, broken(netloom, paths, without))
    assert "mine.lfts" in word
    assert "host0031" in word or "missing" in word


def test_tables_that_cannot_be_used_are_refused_before_another_routing_has_run(netloom, paths):
    netloom.ok("route", "ftree", paths.small, "-q", "-o", "mine.lfts")
    lines = (netloom.folder / "mine.lfts").read_text().splitlines(keepends=True)
    (netloom.folder / "hole.lfts").write_text("".join(line for line in lines if "host0031" not in line))
    word = refused(netloom, HEAD + JOB, "--routings", "ftree,hole.lfts", "--threads", "1")
    assert word.startswith("hole.lfts: ")
    word = refused(netloom, HEAD + JOB, "--routings", "ftree,dla", "--threads", "1")
    assert "not a dragonfly" in word


def test_routes_of_another_fabric_are_refused_as_such(netloom):
    """Those of half of the leaves: their switches are in the fabric, the others have no tables."""
    netloom.ok("route", "ftree", "two-level:leaves=4,hosts=4,spines=4", "-q", "-o", "small.lfts")
    word = refused(netloom, HEAD + JOB, "--routings", "small.lfts")
    assert word.startswith("small.lfts: ")
    assert "4 of the fabric's 12 switches have no table at all" in word


def test_a_checkpoint_that_is_a_file_is_refused_before_anything_runs(netloom):
    (netloom.folder / "s.toml").write_text(HEAD + JOB)
    for path in ("s.toml", "s.toml/kept"):
        word = netloom.refused("simulate", "s.toml", "--checkpoint", path)
        assert "s.toml: is a file, expected a folder" in word


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("job.2.ranks=2", 'no job is called "2", and numbers are 1 to 1'),
        ("measure.counters_every_us=0.05", "microseconds, 0.1 to 1e8, found 0.05"),
        ("measure.longest_queues=al", 'or "all", found "al"'),
        ("hardware.input_buffer_bytes=unlimitd", 'bytes, or "unlimited", found "unlimitd"'),
        ("seed=99999999999999999999", "0 to 2^63 - 1"),
        ("job.a.weight=1e300", "found 1e300"),
    ],
)
def test_a_value_is_refused_with_what_it_may_be(netloom, override, words):
    word = refused(netloom, HEAD + JOB, "--set", override)
    assert word.startswith(f"--set {override}: ")
    assert words in word


def test_a_factor_on_no_time_is_refused(netloom):
    text = trace(netloom, ["0 init", "0 compute 1e9", "0 finalize"]) + "compute_scale = 2\n"
    assert "expected flops_per_s beside it" in refused(netloom, text)


def test_an_override_is_named_with_its_error(netloom):
    word = refused(netloom, HEAD + JOB, "--set", "hardware.lanes=99")
    assert word.startswith("--set hardware.lanes=99: ")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--set", "lanes"], "KEY=VALUE"),
        (["--routings", "ftree,"], "separated by commas"),
        (["--model", "packets"], '"packet", "fluid"'),
        (["-o", "-"], "folder"),
        (["--tables", "json"], '"parquet", "csv"'),
    ],
)
def test_usage_errors_exit_2(netloom, arguments, hint):
    (netloom.folder / "s.toml").write_text(HEAD + JOB)
    assert hint in netloom.refused("simulate", "s.toml", *arguments, code=2)


def test_a_scenario_that_is_not_there(netloom):
    assert "missing.toml" in netloom.refused("simulate", "missing.toml")
    netloom.refused("simulate", "-", code=2)


def around(text: str, hosts: int, leaves: int) -> str:
    """Tables in which packets go from leaf to leaf, each by the spine of its number, till they are there."""
    lines, switch = [], ""
    for line in text.splitlines():
        if line.startswith("Unicast"):
            switch = line.split("'")[1]
        elif "'host" in line:
            number, target = int(switch[-2:]), int(line.split("'host")[1][:4]) // hosts
            up = switch.startswith("leaf") and target != number
            port = hosts + 1 + number if up else 1 + (number + 1) % leaves
            if up or switch.startswith("spine"):
                line = f"{line[:7]}{port:03}{line[10:]}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def test_credit_loops_are_refused_or_run_until_packets_wait_for_each_other(netloom):
    """Buffers of one packet, and everybody sends round a ring of three leaves."""
    ring = "two-level:leaves=3,hosts=2,spines=3"
    netloom.ok("route", "ftree", ring, "-q", "-o", "mine.lfts")
    path = netloom.folder / "mine.lfts"
    path.write_text(around(path.read_text(), hosts=2, leaves=3))
    text = (
        f'fabric = "{ring}"\nroutes = "mine.lfts"\n[hardware]\ninput_buffer_bytes = 4122\n'
        "output_buffer_bytes = 4122\nhost_output_buffer_bytes = 4122\n[[job]]\n"
        'program = { kind = "all-to-all", bytes = 65536 }\n'
    )
    word = refused(netloom, text)
    assert word.startswith("mine.lfts: ")
    assert "credit loop" in word
    result = netloom.result("simulate", "s.toml", "--allow-credit-loops", code=1)
    (run,) = result["runs"]
    assert run["stopped"] == "deadlock"
    assert run["jobs"][0]["completion_ms"] is None
    assert "wait for each other" in run["stuck"][0]
    assert "leaf00" in run["stuck"][0]
    # Three leaves and the spines between them, each link from where the one before it ends.
    cycle = run["deadlock"]["cycle"]
    assert len(cycle) == 6
    assert all(one["to"] == after["from"] for one, after in zip(cycle, cycle[1:] + cycle[:1], strict=True))
    assert {one["lane"] for one in cycle} == {0}
    assert run["deadlock"]["packets"] >= 6
    assert "deadlock" in netloom.ok("simulate", "s.toml", "--allow-credit-loops", code=1)
