"""Files that claim more than they hold: refused in a line, and without the memory that they ask for.

`NETLOOM_TRIALS` asks for all kinds and readers, with larger bombs, and for so many mutated files.
"""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lying_bed
import netloom as nl
from netloom import reading
from netloom.errors import FormatError, LiveError
from netloom.reading import arrays, parquet

TRIALS = int(os.environ.get("NETLOOM_TRIALS", "0"))
MOST = 1 << 30
"""How much memory bad input may take."""
QUICK = ("gzip-lines", "npy-elements", "npz-claims", "npz-bzip2", "parquet-text", "parquet-zeros")


def refused(folder: Path, *words: object) -> str:
    """What a command says of bad input; it must say it in a line, with exit code 3, in little memory."""
    result = folder / "peak"
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("peak.py"), result, *map(str, words)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"signal or exit {done.returncode}: {done.stderr}"
    code, peak = map(int, result.read_text().split())
    print(f"{' '.join(map(str, words))}: exit {code}, {peak >> 20} MiB: {done.stderr.strip()[:200]}")
    assert code == 3, done.stderr
    assert peak < MOST, f"{peak >> 20} MiB"
    assert len(done.stderr.splitlines()) == 1
    assert len(done.stderr) < 2000
    assert done.stdout == ""
    return done.stderr


@pytest.mark.parametrize("kind", sorted(lying_bed.LYING) if TRIALS else QUICK)
def test_traffic_that_claims_too_much_is_refused_hostile(tmp_path, kind):
    ending, make = lying_bed.LYING[kind]
    (tmp_path / f"t.{ending}").write_bytes(make())
    said = refused(tmp_path, "traffic", "show", f"t.{ending}")
    assert f"t.{ending}" in said


READERS = {
    "fabric": ("fabric", "show", "FILE"),
    "name-map": ("fabric", "show", "NET", "--name-map", "FILE"),
    "routes": ("check", "NET", "FILE"),
    "matrix": ("loads", "NET", "ftree", "FILE.mtx"),
    "jobs": ("loads", "NET", "ftree", "FILE.toml"),
    "counters": ("counters", "show", "NET", "FILE"),
    "hose": ("optimize", "NET", "FILE.csv", "--hose"),
    "scenario": ("simulate", "FILE"),
    "plan": ("plan", "FILE"),
    "loop": ("loop", "run", "FILE"),
    "watched jobs": ("watch", "NET", "--counters-from", "COUNTERS", "--once", "--jobs", "FILE"),
    "lanes": ("lanes", "load", "FILE", "NET", "--sim", "nobody"),
    "trace": ("traffic", "show", "FILE.ti"),
}
BAD = ("gzip", "zeros", "device", "hole")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", BAD if TRIALS else ("device",))
def test_no_reader_takes_what_has_no_end_hostile(tmp_path, paths, reader, kind):
    words = [
        word.replace("NET", str(paths.ft2)).replace(
            "COUNTERS", str(paths.ft2.with_name("perfquery_x_before.txt.gz"))
        )
        for word in READERS[reader]
    ]
    name = next(word for word in words if word.startswith("FILE"))
    file = tmp_path / name
    if kind == "gzip":
        file.write_bytes(lying_bed.bomb(b"x = 1\n"))
    elif kind == "zeros":
        file.write_bytes(lying_bed.bomb_of_one_member())
    elif kind == "device":
        file.symlink_to("/dev/zero")
    else:
        lying_bed.sparse_file(file, b"# netloom\n")
    said = refused(tmp_path, *words)
    if reader == "lanes" or (reader == "loop" and kind in ("gzip", "zeros")):
        return  # The one asks for the fabric first, the other reads no gzip.
    assert {"device": "no regular file", "hole": "sparse"}.get(kind, "expand") in said


class TestLimits:
    def test_the_option_and_the_variable_raise_them(self, netloom):
        data = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n" + b"% x\n" * 1000 + b"1 2 1\n"
        (netloom.folder / "t.mtx.gz").write_bytes(gzip.compress(data))
        netloom.ok("traffic", "show", "t.mtx.gz")
        word = netloom.refused("traffic", "show", "t.mtx.gz", "--max-input", "1K")
        assert "expand beyond 1024 bytes" in word
        assert "--max-input or NETLOOM_MAX_INPUT raises that" in word
        word = netloom.refused("traffic", "show", "t.mtx.gz", env={"NETLOOM_MAX_INPUT": "1K"})
        assert "expand beyond 1024 bytes" in word
        netloom.ok("traffic", "show", "t.mtx.gz", "--max-input", "8K", env={"NETLOOM_MAX_INPUT": "1K"})
        for value in ("0", "-1", "many", "1.5G"):
            assert "expected bytes, such as 8G" in netloom.refused(
                "traffic", "show", "t.mtx.gz", "--max-input", value, code=2
            )
        assert "NETLOOM_MAX_INPUT" in netloom.refused(
            "traffic", "show", "t.mtx.gz", env={"NETLOOM_MAX_INPUT": "x"}, code=2
        )

    def test_python_and_the_core_have_the_same_bounds(self, monkeypatch):
        """What the core refuses at a byte, Python refuses there too."""
        reading.allow(1000)
        try:
            assert reading.most_expanded(5) == reading.most_bytes() == 1000
            packed = gzip.compress(bytes(1000))
            assert reading.gunzip(packed, "x") == bytes(1000)
            with pytest.raises(FormatError, match="expand beyond 1000 bytes"):
                reading.gunzip(gzip.compress(bytes(1001)), "x")
        finally:
            reading.allow(0)
        sizes = (0, 5 << 20, 10 << 20, 100 << 20, 1 << 40)
        bounds = [256 << 20, 500 << 20, 768 << 20, 2000 << 20, 4 << 30]
        assert [reading.most_expanded(size) for size in sizes] == bounds

    def test_a_pipe_is_read_where_a_user_names_it(self, netloom, paths):
        command = f"{netloom.command[0]} fabric show <(cat {paths.ft2})"
        done = subprocess.run(["bash", "-c", command], cwd=netloom.folder, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


class TestParquet:
    def table(self, rows: int = 50):
        texts = [f"name {i % 7}" for i in range(rows)]
        return {"a": np.arange(rows), "b": np.linspace(0, 1, rows), "s": texts, "l": [[1, 2]] * rows}

    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"compression": "zstd"},
            {"compression": None},
            {"data_page_version": "2.0"},
            {"use_dictionary": False},
            {"row_group_size": 7},
            {"data_page_size": 64},
            {"write_page_index": True},
            {"write_page_checksum": True},
        ],
    )
    @pytest.mark.parametrize("rows", [0, 1, 50, 3000])
    def test_what_is_right_is_read_as_arrow_reads_it(self, options, rows):
        import pyarrow as pa
        import pyarrow.parquet as pq

        data = lying_bed.table(self.table(rows), **options)
        found = parquet.table(data, "x")
        expected = pq.read_table(pa.BufferReader(data))
        assert found.cast(expected.schema).equals(expected)
        assert parquet.table(data, "x", columns=["a"]).column_names == ["a"]

    @pytest.mark.parametrize("seed", range(TRIALS or 60))
    def test_a_hostile_mutation_is_refused_or_read(self, seed):
        draw = random.Random(seed)
        options = draw.choice([{}, {"compression": "zstd"}, {"use_dictionary": False}])
        data = bytearray(lying_bed.table(self.table(), **options))
        for _ in range(draw.randrange(1, 8)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        with_error(lambda: parquet.table(bytes(data), "x"))

    @pytest.mark.parametrize("seed", range(TRIALS or 60))
    def test_a_hostile_mutation_of_arrays_is_refused_or_read(self, seed, tmp_path):
        draw = random.Random(seed)
        data = bytearray(
            draw.choice([lying_bed.archive(lying_bed.sparse()), lying_bed.saved(np.ones((3, 3)))])
        )
        for _ in range(draw.randrange(1, 8)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        file = tmp_path / ("t.npz" if data[:2] == b"PK" else "t.npy")
        file.write_bytes(bytes(data))
        with_error(lambda: nl.Traffic.read(file))


def with_error(read) -> None:
    """Runs it; only errors of ours that name a file may come."""
    said = "x: read"
    try:
        read()
    except (FormatError, LiveError) as error:
        said = str(error)
    assert ":" in said
    assert len(said) < 1000


def test_an_array_is_as_long_as_its_header_says():
    good = lying_bed.saved(np.ones((2, 2)))
    assert arrays.npy(good, "x").tolist() == [[1, 1], [1, 1]]
    for bad in (good[:-1], good + b"x", lying_bed.member((2, 3), data=bytes(32))):
        with pytest.raises(FormatError):
            arrays.npy(bad, "x")


class TestClaims:
    """What a short text asks for, in rows and samples."""

    def test_a_short_list_of_intervals_stands_for_no_gigabytes(self, tmp_path, paths):
        """54 KB of intervals, each of all links of quartz1, were 4.7 GB."""
        rows = [f"{at},{at + 1},0,1\n" for at in range(3000)]
        (tmp_path / "c.csv").write_text("start_ns,end_ns,link,xmit_bytes\n" + "".join(rows))
        said = refused(tmp_path, "counters", "show", paths.quartz1, "c.csv")
        assert "expected at most 33554432 values (intervals x lanes x links x columns)" in said

    def test_samples_every_100_ns_are_refused_before_they_fill_memory(self, tmp_path):
        (tmp_path / "s.toml").write_text(
            'fabric = "two-level:leaves=16,hosts=8,spines=8"\nroutes = ["ftree"]\n'
            '[measure]\ncounters_every_us = 0.1\n[[job]]\nname = "a"\n'
            'program = { kind = "stream", pattern = "shift:9", messages = 400, bytes = "1MiB" }\n'
        )
        said = refused(tmp_path, "simulate", "s.toml")
        assert "counters_every" in said
        assert "over 16777216 rows" in said


@pytest.fixture(scope="module")
def originals(tmp_path_factory) -> dict[str, tuple[bytes, object]]:
    """Files that are right, and what reads each."""
    from netloom import manifest
    from netloom.apply import Journal
    from netloom.cli import main
    from netloom.simulating.checkpoint import Checkpoint

    home = tmp_path_factory.mktemp("originals")
    scenario = Path(__file__).resolve().parent.parent / "examples" / "scenarios" / "shuffle.toml"
    assert main(["simulate", str(scenario), "--routings", "ftree", "-q", "-o", str(home / "run")]) == 0
    journal = Journal(home / "journal")
    with journal.locked():
        journal.add(1, "begin", time="now", changed_entries=1, stages=1)
        journal.add(1, "loaded")
    (home / "journal" / "1").mkdir()
    (home / "journal" / "1" / "stage-1.lfts.gz").write_bytes(gzip.compress(b"Unicast lids\n" * 99))
    keeper = Checkpoint(home / "kept", {"netloom": "0"}, 0.0)
    file, head, _ = keeper.keep("ftree")
    file.parent.mkdir(parents=True)
    files: dict[Path, tuple[bytes, object]] = {
        home / "run" / manifest.MANIFEST: (
            (home / "run" / manifest.MANIFEST).read_bytes(),
            manifest.document_of,
        ),
        home / "t.mtx.gz": (gzip.compress(lying_bed.MATRIX + b"2 2 1\n1 2 5\n"), nl.Traffic.read),
        home / "journal" / "1" / "stage-1.lfts.gz": (
            (home / "journal" / "1" / "stage-1.lfts.gz").read_bytes(),
            lambda _: journal.tables(1),
        ),
        file: (head + gzip.compress(os.urandom(2000)), lambda _: keeper.state("ftree")),
    }
    events = next(path for path in (home / "journal").iterdir() if b"begin" in _content(path))
    files[events] = (events.read_bytes(), lambda _: (journal.changes(), journal.odd()))
    return {str(path): pair for path, pair in files.items()}


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


@pytest.mark.parametrize("seed", range(TRIALS or 60))
def test_a_hostile_mutation_of_what_we_wrote_is_refused_or_read(seed, originals):
    draw = random.Random(seed)
    name, (data, read) = draw.choice(sorted(originals.items(), key=lambda item: item[0]))
    broken = bytearray(data)
    for _ in range(draw.randrange(1, 8)):
        at = draw.randrange(len(broken))
        kind = draw.randrange(3)
        if kind == 0:
            broken[at] = draw.randrange(256)
        elif kind == 1:
            del broken[at : at + draw.randrange(1, 20)]
        else:
            broken[at:at] = broken[: draw.randrange(40)] * draw.randrange(1, 4)
        broken = broken or bytearray(b"\0")
    Path(name).write_bytes(broken)
    try:
        with_error(lambda: read(Path(name)))
    finally:
        Path(name).write_bytes(data)
