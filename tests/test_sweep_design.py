"""Sweeps over points of ranges: Latin hypercubes, Sobol's sets, and what matters by variance shares."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from netloom.errors import FormatError, NotInstalledError
from netloom.sweeps import spec, summary

pytest.importorskip("scipy")

SCENARIO = """
fabric = "two-level:leaves=2,hosts=4,spines=2"
routes = ["ftree"]

[[job]]
name = "ring"
ranks = 4
program = { kind = "stream", pattern = "bisection", messages = 2, bytes = 65536 }
"""
SWEEP = """
scenario = "scenario.toml"
keep = ["completion_ms"]
design = "sobol"
samples = 16

[ranges]
"job.ring.program.bytes" = [1024, 65536, "log"]
"job.ring.program.messages" = [1, 8]

[over]
seed = "1..2"
"""


def parsed(text: str) -> spec.Spec:
    return spec.parse(f'scenario = "s.toml"\n{text}', Path("s.toml"))


def test_a_latin_hypercube_has_one_point_in_every_slice_of_every_range():
    text = 'design = "latin-hypercube"\nsamples = 40\n'
    text += '[ranges]\na = [0.0, 40.0]\nb.c = [1, 40]\nd = [1.0, 2.0, "log"]\n'
    found = parsed(text)
    assert found.size == 40
    assert sorted(math.floor(value) for value in found.of("a")) == list(range(40))
    assert sorted(found.of("b.c")) == list(range(1, 41))
    assert sorted(math.floor(40 * math.log2(value)) for value in found.of("d")) == list(range(40))
    assert found.of("a") == parsed(text).of("a") != parsed(f"design_seed = 1\n{text}").of("a")


def test_ishigami_s_function_has_its_known_shares():
    """Ishigami and Homma 1990: first order 0.314, 0.442, 0; total 0.558, 0.442, 0.244."""
    ranges = "".join(f"x{number} = [{-math.pi}, {math.pi}]\n" for number in (1, 2, 3))
    found = parsed(f'keep = ["completion_ms"]\ndesign = "sobol"\nsamples = 4096\n[ranges]\n{ranges}')
    x = np.array([found.of(name) for name in ("x1", "x2", "x3")])
    y = np.sin(x[0]) + 7.0 * np.sin(x[1]) ** 2 + 0.1 * x[2] ** 4 * np.sin(x[0])
    columns = {f"x{number + 1}": x[number] for number in range(3)} | {"completion_ms": y}
    rows = len(y)
    columns |= {"routing": ["r"] * rows, "job": ["j"] * rows, "run": [str(n) for n in range(rows)]}
    table = pa.table({**columns, "error": pa.array([None] * rows, pa.string())})
    (one,) = summary.sensitivity(table, found, 0)
    known = {"x1": (0.3139, 0.5576), "x2": (0.4424, 0.4424), "x3": (0.0, 0.2437)}
    assert [share["name"] for share in one["indices"]] == list(known)
    for share in one["indices"]:
        for word, truth in zip(("first", "total"), known[share["name"]], strict=True):
            assert abs(share[word] - truth) < 0.02
            assert share[f"{word}_low"] <= truth <= share[f"{word}_high"]
            assert share[f"{word}_high"] - share[f"{word}_low"] < 0.1
    assert summary.sensitivity(table, found, 0) == [one]


def test_a_sweep_of_points_says_what_matters(netloom):
    (netloom.folder / "scenario.toml").write_text(SCENARIO)
    (netloom.folder / "sweep.toml").write_text(SWEEP)
    result = netloom.result("sweep", "run", "sweep.toml", "-o", "swept")
    assert result["runs"] == result["done"] == result["rows"] == 16 * 4 * 2
    rows = pq.read_table(netloom.folder / "swept" / "table.parquet").to_pylist()
    sizes = [row["job.ring.program.bytes"] for row in rows]
    assert min(sizes) >= 1024
    assert max(sizes) <= 65536
    assert all(row["error"] is None for row in rows)
    (one,) = result["sensitivity"]
    assert (one["by"], one["key"]) == ({"routing": "ftree", "job": "ring"}, "completion_ms")
    assert [share["name"] for share in one["indices"]] == [
        "job.ring.program.bytes",
        "job.ring.program.messages",
    ]
    assert all(share["first_low"] <= share["first"] <= share["first_high"] for share in one["indices"])
    (group,) = result["groups"]
    # Points of A, B and A with a key from B are not independent: taken as draws they covered 78 %.
    value = group["values"]["completion_ms"]
    assert (value["low"], value["no_interval"], value["draws"], value["cluster"]) == (
        None,
        "points",
        None,
        None,
    )
    again = netloom.ok("sweep", "run", "sweep.toml", "-o", "swept")
    assert "128 of 128 done, 128 of them before" in again
    assert "share of the variance and its 95 % interval" in again
    assert "are one" not in again
    assert "points of sobol depend on each other: the indices have intervals of their own" in again
    (netloom.folder / "sweep.toml").write_text(SWEEP.replace("sobol", "latin-hypercube"))
    (group,) = netloom.result("sweep", "run", "sweep.toml", "-o", "lhs")["groups"]
    value = group["values"]["completion_ms"]
    assert value["low"] is not None
    assert (value["draws"], value["cluster"]) == (16, list(spec.parse(SWEEP, Path("s")).design.ranges))
    # Points that are alike, as whole numbers often are, are run once.
    runs = {row["run"] for row in rows}
    parts = [pq.read_table(part)["run"].to_pylist() for part in (netloom.folder / "swept/parts").iterdir()]
    assert sorted(key for part in parts for key in part) == sorted(runs)
    assert len(runs) < 128


def test_parts_of_a_design_give_the_same_bytes(netloom):
    (netloom.folder / "scenario.toml").write_text(SCENARIO)
    (netloom.folder / "sweep.toml").write_text(SWEEP.replace("[1, 8]", "[1, 3]"))
    netloom.ok("sweep", "run", "sweep.toml", "-o", "local")
    netloom.ok("sweep", "run", "sweep.toml", "-o", "swept", "--slurm", "job.sh", "-q")
    for number in range(3):
        netloom.ok("sweep", "part", "sweep.toml", "swept", number, 3)
    netloom.ok("sweep", "merge", "sweep.toml", "swept")
    tables = [(netloom.folder / name / "table.parquet").read_bytes() for name in ("local", "swept")]
    assert tables[0] == tables[1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            'design = "lhs"\nsamples = 4\nranges = { a = [1, 2] }',
            "s.toml:2: design: expected latin-hypercube",
        ),
        ('design = "sobol"\nsamples = 100\nranges = { a = [1, 2] }', "s.toml:3: samples: a Sobol sequence"),
        ('design = "sobol"\nranges = { a = [1, 2] }', "s.toml:2: samples: expected how many points"),
        ('design = "sobol"\nsamples = 4', "s.toml:2: ranges: expected 1 to 100 keys"),
        (
            'design = "sobol"\nsamples = 4\nranges = { a = [2, 1] }',
            "s.toml:4: a: expected two finite numbers",
        ),
        ('design = "sobol"\nsamples = 4\nranges = { a = [0, 1, "log"] }', "s.toml:4: a: a logarithm needs"),
        ('design = "sobol"\nsamples = 4\nranges = { a = 3 }', "s.toml:4: a: expected [LOW, HIGH], or"),
        (
            'design = "sobol"\nsamples = 4\nranges = { seed = [1, 9] }',
            "seed has no values between two others",
        ),
        (
            'design = "sobol"\nsamples = 4\nranges = { a = [1, 2] }\nover = { a = [1] }',
            "a is in [over] and in [ranges]: expected it in one",
        ),
        (
            'design = "sobol"\nsamples = 4\nranges = { a = [1, 2] }\npaired = { b = [1] }',
            "s.toml:5: a design has",
        ),
        (
            "ranges = { a = [1, 2] }",
            's.toml:2: design: expected design = "latin-hypercube" or "sobol" with [ranges]',
        ),
        (
            'design = "sobol"\nsamples = 1048576\nranges = { a = [1, 2] }',
            "s.toml:3: expected at most 1,000,000",
        ),
    ],
)
def test_a_wrong_design_is_refused_with_its_line(text, told):
    with pytest.raises(FormatError) as error:
        parsed(text)
    assert told in str(error.value)


def test_a_design_without_scipy_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(
        NotInstalledError, match=r"SciPy is not installed: pip install 'netloom-hpc\[scipy\]'"
    ):
        parsed('design = "latin-hypercube"\nsamples = 4\nranges = { a = [1, 2] }\n')


def test_values_of_a_design_that_can_never_work_are_refused(netloom):
    (netloom.folder / "scenario.toml").write_text(SCENARIO)
    (netloom.folder / "sweep.toml").write_text(SWEEP.replace("[1, 8]", "[-8, 8]"))
    word = netloom.refused("sweep", "run", "sweep.toml", "-o", "swept")
    assert word.startswith("sweep.toml:9: job.ring.program.messages=-")
