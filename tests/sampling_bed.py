"""Sampled runs that tests make and alter."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from netloom import sampling
from netloom.errors import FormatError
from netloom.runs import folder as runs

SMALL = """\
name = "small"
fabric = "two-level:leaves=8,hosts=4,spines=4"
routes = ["ftree", "adaptive"]
seed = 1
[[job]]
name = "shuffle"
program = { kind = "stream", pattern = "bisection-shuffle:seed=1", messages = 4, bytes = 262144 }
"""

TWO = """\
name = "two"
fabric = "two-level:leaves=8,hosts=4,spines=4"
[[job]]
name = "solver"
ranks = 16
program = { kind = "halo", shape = [4, 2, 2], face_bytes = "32KiB", iterations = 4 }
[[job]]
name = "sums"
ranks = 8
program = { kind = "collective", collective = "allreduce", bytes = 65536, iterations = 3 }
"""


MANY = """\
name = "many"
fabric = "two-level:leaves=8,hosts=4,spines=4"
[[job]]
name = "everybody"
program = { kind = "all-to-all", bytes = 60000, iterations = 16 }
"""


def scenario(netloom, text: str = SMALL, name: str = "s.toml") -> str:
    (netloom.folder / name).write_text(text)
    return name


def sampled(netloom, *options: object, text: str = SMALL) -> sampling.Samples:
    netloom.ok("sample", "run", scenario(netloom, text), "-o", "run", "-q", *options)
    return sampling.read(netloom.folder / "run")


def reseal(folder) -> None:
    """Makes a run believe what it holds now."""
    manifest = json.loads((folder / runs.MANIFEST).read_text())
    for entry in manifest["runs"]:
        place = folder / entry["folder"]
        entry["sha256"] = {name: runs.digest((place / name).read_bytes()) for name in entry["files"]}
    (folder / runs.MANIFEST).write_bytes(runs.sealed(manifest))


def altered(netloom, table: str, **columns) -> str:
    """What is said of a run whose table has other columns."""
    place = netloom.folder / "run" / "0-ftree" / f"{table}.parquet"
    found = pq.read_table(place)
    for name, change in columns.items():
        values = change(np.asarray(found[name]).copy())
        found = found.set_column(found.column_names.index(name), name, [values])
    pq.write_table(found, place)
    reseal(netloom.folder / "run")
    with pytest.raises(FormatError) as error:
        sampling.read(netloom.folder / "run")
    return str(error.value)


def put(row: int, value):
    def change(values):
        values[row] = value
        return values

    return change


FABRIC = "two-level:leaves=8,hosts=4,spines=4"


def kept(netloom, method: str):
    """A run's own packets, and its samples."""
    samples = sampled(netloom, "--method", method, "--packets", "--routings", "ftree")
    return samples, "run/0-ftree/packets.parquet"
