"""What an input asks for is counted before it is made, waits are bounded, texts of others stay texts."""

from __future__ import annotations

import io
import json
import os
import socket
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import netloom as nl
from conftest import SMALL
from netloom import interop

DEEP = b"[" * 200_000 + b"]" * 200_000
JOB = '{ kind = "stream", pattern = "bisection", messages = 1, bytes = "1KiB" }'
FORMULA = "=cmd|' /C calc'!A0"


def npz(path: Path, kind: str, shape: tuple[int, int], **parts: object) -> Path:
    arrays = {name: np.asarray(part) for name, part in parts.items()}
    np.savez_compressed(path, format=kind.encode(), shape=np.array(shape), **arrays)
    return path


class TestSizes:
    HUGE = 2**31 - 1

    @pytest.mark.parametrize(
        ("kind", "parts"),
        [
            ("dia", {"data": np.ones((1, 1)), "offsets": [0]}),
            ("coo", {"data": [1.0], "row": [0], "col": [0]}),
            ("bsr", {"data": np.ones((1, 1, 1)), "indices": [0], "indptr": [0, 1]}),
            ("csr", {"data": [1.0], "indices": [0], "indptr": [0, 1]}),
            ("csc", {"data": [1.0], "indices": [0], "indptr": [0, 1]}),
        ],
    )
    def test_a_sparse_file_of_too_many_rows_is_refused_before_it_is_converted(self, tmp_path, kind, parts):
        file = npz(tmp_path / "t.npz", kind, (self.HUGE, self.HUGE), **parts)
        assert file.stat().st_size < 2000
        with pytest.raises(
            nl.FormatError, match="expected at most 10000000 rows and columns, found 2147483647"
        ):
            nl.Traffic.read(file)

    @pytest.mark.parametrize("kind", ["dia", "coo", "lil", "dok"])
    def test_so_is_an_object(self, kind):
        import scipy.sparse

        if kind in ("dia", "coo"):
            matrix = scipy.sparse.coo_array(([1.0], ([0], [0])), shape=(self.HUGE, self.HUGE)).asformat(kind)
        else:
            matrix = scipy.sparse.dok_array((1, 1)).asformat(kind)
            matrix._shape = (self.HUGE, self.HUGE)
        with pytest.raises(nl.TrafficError, match="expected at most 10000000 rows and columns"):
            interop.from_scipy(matrix)

    def test_a_fabric_that_nobody_has_is_refused_before_it_is_made(self, netloom):
        word = netloom.refused("fabric", "show", "two-level:leaves=4000,hosts=1000,spines=4")
        assert "4000000 hosts: expected at most 500000" in word
        word = netloom.refused("fabric", "show", "two-level:leaves=400,hosts=1,spines=200000")
        assert "switches: expected at most 100000" in word or "expected at most 65534" in word

    @pytest.mark.parametrize("where", ["a switch", "a host", "a map"])
    def test_a_name_that_no_node_has_is_refused_with_its_line(self, netloom, where):
        netloom.ok("fabric", "convert", SMALL, "-o", "small.net")
        file, long = netloom.folder / "small.net", "x" * 5_000_000
        if where == "a map":
            (netloom.folder / "names").write_text(f"0x1 {long}\n")
            word = netloom.refused("fabric", "show", "small.net", "--name-map", "names")
        else:
            file.write_text(file.read_text().replace("leaf00" if where == "a switch" else "host0000", long))
            word = netloom.refused("fabric", "show", "small.net")
        assert "a name of 5000000 bytes: expected at most 1024" in word
        assert len(word) < 200

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("".join(f'over.k{key} = "1..999999"\n' for key in range(8)), "runs, found far more"),
            (
                "over.a = [" + ", ".join(f'"{at}{{1..999999}}"' for at in range(8)) + "]",
                "runs, found 7,999,992",
            ),
            ('over.a = "{1..2000}{1..2000}{1..2000}"', "runs, found 8,000,000,000"),
            ("".join(f'paired.k{key} = "1..900000"\n' for key in range(8)), "values, found 7,200,000"),
        ],
    )
    def test_runs_of_a_sweep_are_counted_before_there_are_any(self, monkeypatch, text, told):
        from netloom.sweeps import spec

        monkeypatch.setattr(spec, "_values", lambda *_: pytest.fail("values were made"))
        with pytest.raises(nl.FormatError, match=told):
            spec.parse(f'scenario = "s.toml"\n{text}', Path("sweep.toml"))

    def test_packets_of_more_contexts_than_are_told_apart_are_refused(self, netloom):
        rows = "\n".join(f"{at},{at},0,0,9,4,0,1" for at in range(5000))
        (netloom.folder / "packets.csv").write_text(
            f"time_ps,context,id,source,destination,hops,congested,bit\n{rows}\n"
        )
        word = netloom.refused("sample", "decode", SMALL, "packets.csv")
        assert "packets.csv: 5,000 contexts: expected at most 4,096" in word


class TestDepth:
    def test_deep_json_of_a_trace_is_what_is_wrong_with_it(self, netloom):
        from netloom.recording import trace

        folder = netloom.folder / "run"
        folder.mkdir()
        for name in (trace.META, trace.COMMUNICATORS, trace.EVENTS):
            (folder / name).write_bytes(DEEP)
        assert "expected JSON: nested too deeply" in netloom.refused("trace", "show", "run")

    def test_so_is_deep_toml_of_a_loop(self, netloom):
        (netloom.folder / "plan.toml").write_bytes(b"x = " + DEEP)
        assert "expected TOML that is less deeply nested" in netloom.refused("loop", "run", "plan.toml")

    def test_so_is_that_of_a_table_of_packets(self):
        from netloom import hashes

        table = pa.table({"bit": [1]}, metadata={hashes._HOW: DEEP})
        with pytest.raises(nl.FormatError, match="nested too deeply"):
            hashes.how_kept(table, "packets.parquet")

    def test_a_nul_in_a_journal_is_no_event(self):
        from netloom.apply.journal import _event

        begin = {"id": 1, "event": "begin", "time": "t", "changed_entries": 0, "stages": 0}
        for key in ("old", "file", "time"):
            assert _event(json.dumps({**begin, key: "a\0b"}).encode(), set()) is None


class TestWaits:
    def test_a_jobs_file_that_is_read_again_is_no_pipe(self, netloom):
        from netloom.cli.loop import live
        from netloom.cli.shared import jobs
        from netloom.cli.shared.jobs import Adapters

        fifo = netloom.folder / "jobs.toml"
        os.mkfifo(fifo)
        nothing: object = None
        with pytest.raises(OSError, match="is no regular file"):
            live._who(nothing, fifo, Adapters())  # type: ignore[arg-type]
        with pytest.raises(OSError, match="is no regular file"):
            jobs.placed(nothing, nothing, fifo, again=True)  # type: ignore[arg-type]

    def test_nor_is_a_file_that_it_names(self, netloom):
        from netloom.session import placement

        os.mkfifo(netloom.folder / "matrix.mtx")
        file = netloom.folder / "jobs.toml"
        file.write_text('[[job]]\nname = "a"\nmatrix = "matrix.mtx"\n')
        with pytest.raises(OSError, match="is no regular file") as caught:
            placement._refuse_pipes(file)
        assert caught.value.filename == str(netloom.folder / "matrix.mtx")

    def test_a_pipe_that_comes_in_a_file_s_place_is_not_waited_for(self, tmp_path, monkeypatch):
        from netloom import reading
        from netloom.reading import plain

        file = tmp_path / "file"
        file.write_text("x")
        about = os.stat(file)
        file.unlink()
        os.mkfifo(file)
        monkeypatch.setattr(plain.os, "stat", lambda *_: about)
        for read in (lambda: reading.whole(file, pipes=True), lambda: reading.head(file, 10)):
            with pytest.raises(OSError, match="is no regular file"):
                read()

    @pytest.mark.parametrize("limit", [True, False])
    def test_what_is_no_scheduler_and_says_nothing_is_waited_for_in_vain_for_so_long(
        self, netloom, monkeypatch, limit
    ):
        pytest.importorskip("distributed")
        from netloom.errors import LiveError
        from netloom.sweeps import dask_client

        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
            if not limit:
                with (
                    pytest.raises(LiveError, match="no scheduler answers"),
                    dask_client.connected(address, seconds=1.0),
                ):
                    pass
                return
            (netloom.folder / "s.toml").write_text(
                f'fabric = "{SMALL}"\nroutes = ["ftree"]\n[[job]]\nprogram = {JOB}\n'
            )
            (netloom.folder / "sweep.toml").write_text('scenario = "s.toml"\nover.seed = "0..1"\n')
            words = ("sweep", "run", "sweep.toml", "-o", "swept", "--dask", address, "--time-limit", "1.5")
            done = netloom(*words)
        assert done.code == 124, done.err
        assert len(done.err.splitlines()) == 1

    def test_ctrl_c_ends_the_wait_for_a_scheduler(self):
        pytest.importorskip("distributed")
        from netloom.sweeps import dask_client

        pressed = threading.Event()
        pressed.set()
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
            with pytest.raises(KeyboardInterrupt), dask_client.connected(address, 5.0, pressed.is_set):
                pass


class TestFormulas:
    def test_results_as_csv_hold_none(self):
        from netloom.cli.shared import render

        text = render.as_csv([{"from": FORMULA, "load": -1.5, "source": "-", "to": "leaf01"}])
        assert text.splitlines()[1] == f"'{FORMULA},-1.5,-,leaf01"

    def test_tables_as_csv_hold_none(self):
        table = pa.table({"job": [FORMULA, "a"], "bytes": [-1, 2]})
        text = interop.table_bytes(table, ".csv").decode()
        assert text.splitlines()[1] == f'"\'{FORMULA}",-1'

    def test_counters_as_csv_hold_none_and_are_read_back(self, netloom):
        netloom.ok("fabric", "convert", SMALL, "-o", "small.net")
        net = netloom.folder / "small.net"
        net.write_text(net.read_text().replace("leaf00", "=1+1").replace("host0000", "@host"))
        netloom.ok("traffic", "new", "shift:3", "small.net", "-o", "t.mtx")
        for name in ("c.csv", "c.parquet"):
            netloom.ok("counters", "synth", "small.net", "ftree", "t.mtx", "-o", name)
        text = (netloom.folder / "c.csv").read_text()
        fields = {field for line in text.splitlines() for field in line.replace('"', "").split(",")}
        assert {"'@host", "'=1+1"} <= fields
        assert not {"@host", "=1+1"} & fields
        names = set(pq.read_table(netloom.folder / "c.parquet")["from"].to_pylist())
        assert {"@host", "=1+1"} <= names
        shown = [netloom.result("counters", "show", "small.net", name) for name in ("c.csv", "c.parquet")]
        assert shown[0] == shown[1]

    def test_numbers_and_plain_names_stay_as_they_are(self):
        table = pa.table({"name": ["leaf00", "a=b", "'tis", "-"], "x": [1, -2, 3, 4]})
        back = pyarrow.csv.read_csv(io.BytesIO(interop.table_bytes(table, ".csv")))
        assert back.equals(table)
