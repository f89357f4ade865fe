"""`netloom sweep` refuses keys that no scenario has, and values that no run can have, with their line."""

from __future__ import annotations

import json

import pytest

import netloom as nl
from netloom.errors import FormatError

FABRICS = ("two-level:leaves=2,hosts=4,spines=2", "two-level:leaves=4,hosts=4,spines=2")
SCENARIO = """
fabric = "two-level:leaves=2,hosts=4,spines=2"
routes = ["ftree", "adaptive"]

[[job]]
name = "ring"
ranks = 4
program = { kind = "stream", pattern = "bisection", messages = 2, bytes = "64KiB" }
"""
SWEEP = """
scenario = "scenario.toml"
over = { seed = "0..5" }
"""


@pytest.fixture
def written(netloom):
    """Writes a scenario and a sweep; returns the name of the latter."""

    def write(sweep: str = SWEEP, scenario: str = SCENARIO) -> str:
        (netloom.folder / "scenario.toml").write_text(scenario)
        (netloom.folder / "sweep.toml").write_text(sweep)
        return "sweep.toml"

    return write


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('"hardware.lanes" = [1, 2, 99]', "hardware.lanes=99: lanes: expected a whole number of 1 to 15"),
        ('"hardware.lanes" = ["a"]', 'hardware.lanes="a": lanes: expected a whole number'),
        ('model = ["packet", "flud"]', 'model="flud": model: expected packet or fluid'),
        ('"job.ring.ranks" = [2, 4000]', 'job.ring.ranks=4000: job "ring" needs 4000 hosts'),
        ('"job.ring.program.pattern" = ["bisection", "bisecton"]', 'did you mean "bisection"?'),
        ('"job.ring.program.messages" = "0..9"', "job.ring.program.messages=0: messages: expected"),
        (
            'fabric = ["two-level:leaves=2,hosts=4,spines=2", "gone.txt"]',
            "gone.txt: No such file or directory",
        ),
        ('fabric = ["two-level:leves=2"]', 'unknown key "leves" (did you mean "leaves"?)'),
        ('routes = ["ftree", "gone.lfts"]', "routes: gone.lfts: No such file or directory"),
    ],
)
def test_a_value_that_can_never_work_is_refused_before_the_first_run(netloom, written, line, told):
    """With the sweep's file and line; not an error of Python's, and no run is spent on it."""
    sweep = written(f'scenario = "scenario.toml"\n# A comment.\n[over]\nseed = [1, 2]\n{line}\n')
    word = netloom.refused("sweep", "run", sweep, "-o", "swept")
    assert word.startswith("sweep.toml:5: ")
    assert told in word
    assert "Errno" not in word
    netloom.refused("sweep", "run", sweep, "-o", "swept", "--slurm", "job.sh")
    with pytest.raises(FormatError, match=r"sweep\.toml:5: "):
        nl.sweep(netloom.folder / sweep, netloom.folder / "swept")


def test_a_value_that_works_beside_others_only_is_not_refused(netloom, written):
    """Sixteen ranks fit none but the fabric beside them."""
    sweep = 'scenario = "scenario.toml"\nover = { routes = ["ftree"] }\n[paired]\n'
    sweep += f'fabric = {json.dumps(FABRICS)}\n"job.ring.ranks" = [2, 12]\n'
    assert netloom.result("sweep", "run", written(sweep), "-o", "swept")["failed"] == 0


def test_side_by_side_a_value_may_stand_again_beside_another(netloom, written):
    """Only what stands side by side must differ."""
    sweep = 'scenario = "scenario.toml"\nover = { routes = ["ftree"] }\n[paired]\n'
    sweep += f'fabric = {json.dumps([FABRICS[0], *FABRICS])}\n"job.ring.ranks" = [4, 8, 8]\n'
    result = netloom.result("sweep", "run", written(sweep), "-o", "swept")
    assert (result["runs"], result["failed"]) == (3, 0)


def test_a_missing_scenario_is_told_with_the_line_that_names_it(netloom, written):
    sweep = written('# A comment.\nscenario = "nope.toml"\nover = { seed = [1] }\n')
    word = netloom.refused("sweep", "run", sweep, "-o", "swept")
    assert word.startswith("sweep.toml:2: scenario: nope.toml: No such file or directory")


def test_a_key_that_is_not_kept_is_told_with_those_that_are(netloom, written):
    sweep = written('scenario = "scenario.toml"\nkeep = ["ratio"]\nover = { seed = [1] }\n')
    word = netloom.refused("sweep", "run", sweep, "-o", "swept")
    assert word.startswith(
        'sweep.toml:2: keep: a sweep does not keep "ratio": expected some of ranks, start_ms'
    )


def test_a_missing_fabric_of_the_scenario_is_told_as_netloom_tells_it(netloom, written):
    sweep = written(scenario=SCENARIO.replace("two-level:leaves=2,hosts=4,spines=2", "gone.txt"))
    word = netloom.refused("sweep", "run", sweep, "-o", "swept")
    assert "gone.txt: No such file or directory" in word
    assert "Errno" not in word


@pytest.mark.parametrize(
    ("sweep", "told"),
    [
        ("[over]\nsede = [1]", 'sweep.toml:3: sede: a scenario has no key "sede", did you mean "seed"?'),
        ('"job.rng.ranks" = [1]', 'job.rng.ranks: no job is called "rng", did you mean "ring"?'),
        ('"hardware.lane" = [1]', 'did you mean "lanes"?'),
        ('routes = ["ftre"]', 'sweep.toml:3: routes: there is no routing "ftre"'),
        (
            '"job.ring.program.pattern" = "random:seed={1..x}"',
            'sweep.toml:3: job.ring.program.pattern: expected numbers in braces, as in "{1..9}"',
        ),
    ],
)
def test_keys_that_no_scenario_has_are_refused(netloom, written, sweep, told):
    text = sweep if sweep.startswith("[") else f"[over]\n{sweep}"
    word = netloom.refused("sweep", "run", written(f'scenario = "scenario.toml"\n{text}\n'), "-o", "swept")
    assert told in word


def test_a_part_with_columns_of_other_types_is_named(netloom, written):
    """Sizes as numbers, then as texts: what the numbers gave is not dropped without a word."""
    sweep = 'scenario = "scenario.toml"\nover = {{ "job.ring.program.bytes" = {}, routes = ["ftree"] }}\n'
    netloom.ok("sweep", "run", written(sweep.format("[1024, 2048]")), "-o", "swept")
    before = [path.name for path in (netloom.folder / "swept" / "parts").iterdir()]
    done = netloom("sweep", "run", written(sweep.format('["1KiB"]')), "-o", "swept")
    merged = netloom("sweep", "merge", "sweep.toml", "swept")
    assert done.code == merged.code == 0
    for name in before:
        told = f"{name}: its columns or their types are not this sweep's: not read"
        assert told in done.err
        assert told in merged.err
