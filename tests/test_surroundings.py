"""What lies around a command: names that are no UTF-8, settings of others in the folder, little memory."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import threading

import pytest

from netloom.live.manager import Manager


@pytest.mark.parametrize("words", [("fabric", "show"), ("traffic", "show"), ("simulate",), ("plan",)])
def test_a_name_that_is_no_utf8_is_refused_in_a_line(netloom, words):
    done = subprocess.run(
        [*netloom.command, *words, b"odd\xff.txt"], cwd=netloom.folder, capture_output=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert done.stderr.startswith(b"netloom: error: odd")
    assert done.stderr.endswith(b"expected names of files in UTF-8\n")


def test_a_folder_with_such_a_name_in_it_is_read(netloom, paths):
    folder = netloom.folder / "textfiles"
    folder.mkdir()
    sample = b'node_infiniband_port_data_transmitted_bytes_total{device="mlx5_0",port="1"} 100\n'
    (folder / "host0003.prom").write_bytes(sample)
    with open(os.fsencode(folder) + b"/odd\xff.prom", "wb") as file:
        file.write(sample)
    assert netloom.result("counters", "show", paths.ft2, "textfiles")["kind"] == "node_exporter"


def test_an_error_without_a_file_does_not_blame_standard_output(netloom):
    (netloom.folder / "t.parquet").write_bytes(b"PAR1" + b"x" * 100 + b"PAR1")
    word = netloom.refused("traffic", "show", "t.parquet")
    assert word.startswith("t.parquet: ")


def test_settings_of_matplotlib_in_the_folder_are_not_obeyed(netloom, paths):
    netloom.ok("plot", "loads", paths.small, "shift:1", "ftree", "-o", "plain.svg")
    (netloom.folder / "matplotlibrc").write_text(
        "axes.facecolor: red\nfigure.facecolor: red\nlines.linewidth: 20\nbackend: module://evil\nodd\n"
    )
    done = netloom("plot", "loads", paths.small, "shift:1", "ftree", "-o", "other.svg", env={"TZ": "UTC"})
    assert done.code == 0
    assert "matplotlibrc" not in done.err
    assert (netloom.folder / "plain.svg").read_bytes() == (netloom.folder / "other.svg").read_bytes()


def test_a_command_that_gets_no_memory_says_so(netloom):
    """Memory for its own parts is there, for the file it is not."""
    with (netloom.folder / "t.mtx").open("wb") as file:
        file.truncate(250 << 20)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (330 * 1024_000, 330 * 1024_000))

    done = subprocess.run(
        [*netloom.command, "traffic", "show", "t.mtx"],
        cwd=netloom.folder,
        capture_output=True,
        text=True,
        preexec_fn=limit,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "memory" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("answer", [b"x" * 65536, b"y"])
def test_a_console_of_opensm_that_never_ends_is_given_up(answer):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            sock, _ = listening.accept()
            with sock:
                try:
                    while True:
                        sock.sendall(answer)
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        manager = Manager(os.getpid(), {"console_port": str(listening.getsockname()[1])}, None)
        with pytest.raises(OSError, match=r"timed out|more than"):
            manager.type("reroute", seconds=0.5)
