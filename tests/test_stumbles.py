"""What a stranger stumbled over: late Ctrl-C, outputs over inputs, closed streams, words that mislead."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

LATE = """
import os, signal, sys
from netloom.cli import main
from netloom.cli.shared.run import Run
real = Run.write
def write(run, *given, **named):
    run.finishing()
    os.kill(os.getpid(), signal.SIGINT)
    return real(run, *given, **named)
Run.write = write
sys.exit(main())
"""


def sh(netloom, script: str, **options) -> subprocess.CompletedProcess[str]:
    """A shell line in which `netloom` is the command under test."""
    line = f'netloom() {{ {netloom.command[0]} "$@"; }}; {script}'
    return subprocess.run(
        ["bash", "-c", line], cwd=netloom.folder, capture_output=True, text=True, timeout=60, **options
    )


@pytest.mark.parametrize(
    "verb",
    [
        ["optimize", "SMALL", "bisection", "-o", "r.lfts", "--write-certificate", "c.json"],
        ["route", "afar", "SMALL", "bisection", "-o", "r.lfts"],
        ["loads", "SMALL", "ftree", "bisection", "-o", "l.csv"],
    ],
)
def test_a_late_interrupt_finishes_what_was_begun(netloom, paths, verb):
    arguments = [paths.small if word == "SMALL" else word for word in verb]
    python = os.path.join(os.path.dirname(netloom.command[0]), "python")
    done = subprocess.run(
        [python, "-c", LATE, *arguments], cwd=netloom.folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 130, done.stderr
    assert done.stderr == "netloom: interrupted\n"
    assert "maximum load" in done.stdout
    for name in arguments:
        if name.endswith((".lfts", ".json", ".csv")):
            assert (netloom.folder / name).stat().st_size > 0


@pytest.mark.parametrize("delay", [0.06, 0.09])
def test_an_early_interrupt_is_no_traceback(netloom, delay):
    process = subprocess.Popen(
        [*netloom.command, "optimize", "xgft:m=18x18x36,w=1x18x18", "random:partners=40,seed=1"],
        cwd=netloom.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    # Before Python runs anything of ours it has words, and an exit code, of its own.
    assert process.returncode in (130, -signal.SIGINT) or (process.returncode == 1 and "site" in err)
    assert "netloom/" not in err


def test_outputs_are_different_files_and_none_is_an_input(netloom, paths):
    small = paths.small
    assert "same file" in netloom.refused(
        "optimize", small, "bisection", "-o", "x", "--write-certificate", "./x", code=2
    )
    assert "needs -q" in netloom.refused("optimize", small, "bisection", "--write-certificate", "-", code=2)
    assert "both write" in netloom.refused(
        "optimize", small, "bisection", "-q", "-o", "-", "--write-certificate", "-", code=2
    )
    proof = netloom.ok("optimize", small, "bisection", "-q", "--write-certificate", "-")
    assert proof.startswith("{")
    netloom.ok("fabric", "new", small, "-q", "-o", "net.txt")
    (netloom.folder / "link.txt").symlink_to("net.txt")
    for output in ("./net.txt", "link.txt"):
        word = netloom.refused("fabric", "convert", "net.txt", "-o", output, code=2)
        assert "it is the fabric that is read" in word


def test_a_name_with_a_slash_and_an_empty_one_are_no_files(netloom, paths):
    assert netloom.refused("route", "ftree", paths.small, "-o", "new/").endswith(
        "is a folder, expected a file"
    )
    for arguments in (["-o", ""], ["--output="]):
        word = netloom.refused("route", "ftree", paths.small, *arguments, code=2)
        assert "expected a file" in word
    assert "empty" in netloom.refused("fabric", "show", "", code=2)


def test_the_demo_makes_one_folder_and_no_path_to_it(netloom):
    netloom.refused("demo", "-o", "missing/demo")
    assert not (netloom.folder / "missing").exists()


@pytest.mark.parametrize(
    ("script", "code", "word"),
    [
        ("netloom fabric show cab >&-", 3, "netloom: error: standard output: Bad file descriptor"),
        ("netloom --help >&-", 3, "netloom: error: standard output: Bad file descriptor"),
        ("netloom fabric show cab >/dev/full", 3, "netloom: error: standard output: No space left on device"),
        ("netloom traffic show - <&-", 3, "netloom: error: standard input: Bad file descriptor"),
        ("netloom fabric show missing 2>&-", 3, ""),
        ("netloom fabric new cab -q -o net.txt >&- <&-", 0, ""),
        ("netloom --help | true; exit ${PIPESTATUS[0]}", 0, ""),
        ("netloom --version | true; exit ${PIPESTATUS[0]}", 0, ""),
    ],
)
def test_closed_streams_and_broken_pipes_are_no_tracebacks(netloom, script, code, word):
    done = sh(netloom, script)
    assert (done.returncode, done.stderr.strip()) == (code, word)


def test_what_damage_was_asked_for_is_no_finding(netloom, paths):
    text = netloom.ok("fabric", "damage", paths.small, "--random-links", 2)
    assert "dead cables between switches: 2" in text
    assert "findings" not in text
    assert "nothing to take out" in netloom.refused("fabric", "damage", paths.small, code=2)


def test_findings_about_a_dump_are_told_once_by_the_verbs_that_use_it(netloom, paths):
    netloom.ok("fabric", "new", paths.small, "-q", "-o", "net.txt")
    text = (netloom.folder / "net.txt").read_text()
    (netloom.folder / "odd.txt").write_text(text + "what is this\n")
    number = len(netloom.result("fabric", "show", "odd.txt")["findings"])
    noun = "finding" if number == 1 else "findings"
    warning = f"netloom: note: {number} {noun} about odd.txt; `netloom fabric show` lists them\n"
    for verb in (
        ["route", "ftree", "odd.txt"],
        ["loads", "odd.txt", "ftree", "bisection"],
        ["optimize", "odd.txt", "bisection"],
        ["check", "odd.txt", "ftree"],
    ):
        assert netloom(*verb).err == warning
        quiet = netloom(*verb, "--quiet")
        assert (quiet.code, quiet.err) == (0, "")


def test_words_about_an_interrupt_are_about_an_interrupt():
    from netloom.cli.optimize import report
    from netloom.cli.shared import results

    assert results.stopped_text("interrupted") == "interrupted: the best so far"
    assert "proven" in results.stopped_text("interrupted", proven=True)
    assert "so far" not in results.stopped_text("time-limit", proven=True)
    assert report.why_not_reproducible("interrupted") == "no: it was interrupted"
    assert report.why_not_reproducible("time-limit") == "no: use --work instead of a time limit"


def test_only_what_is_possible_is_suggested(netloom, paths):
    word = netloom.refused("check", paths.small, "afar")
    assert "did you mean" not in word
    assert "expected one of minhop, updn, ftree, d-mod-k, s-mod-k, random" in word
    assert netloom.refused("check", paths.small, "ftre").endswith("did you mean ftree?")
    assert netloom.refused("loads", paths.small, "ftree", "bisectoin").endswith("did you mean bisection?")
    assert "did you mean" not in netloom.refused("loads", paths.small, "ftree", "bisectoin.mtx")


@pytest.mark.parametrize(
    "line", ['matrix = "no.mtx"', 'pattern = "bisection:ranks=4"\nmapping = "file:no.mtx"']
)
def test_a_missing_file_of_a_job_is_told_with_the_job(netloom, paths, line):
    (netloom.folder / "jobs.toml").write_text(f'[[job]]\nname = "lulesh"\n{line}\n')
    for verb in (
        ["loads", paths.small, "ftree", "jobs.toml"],
        ["traffic", "place", paths.small, "jobs.toml"],
    ):
        word = netloom.refused(*verb)
        assert word == 'jobs.toml: job "lulesh": no.mtx: No such file or directory'


def test_findings_name_their_file(netloom, paths):
    netloom.ok("fabric", "new", paths.small, "-q", "-o", "net.txt")
    (netloom.folder / "names").write_text("what is this\n")
    assert netloom.refused("fabric", "show", "net.txt", "--name-map", "names").startswith("names:1: ")
    netloom.ok("route", "ftree", paths.small, "-q", "-o", "r.lfts")
    text = (netloom.folder / "r.lfts").read_text()
    (netloom.folder / "r.lfts").write_text(text + "what is this\n")
    lines = text.count("\n") + 1
    done = netloom("check", paths.small, "r.lfts")
    assert f"r.lfts:{lines}: " in done.out + done.err


def test_unreachable_pairs_say_whom_they_count(netloom, paths):
    assert "unreachable management  0" in netloom.ok("check", paths.small, "ftree")


def test_foreign_traffic_is_refused_in_our_words(tmp_path):
    from netloom import interop
    from netloom.errors import FormatError

    (tmp_path / "junk.npz").write_bytes(b"hello")
    np.savez(tmp_path / "objects.npz", format="csr", data=np.array([{}], dtype=object))
    for name in ("junk.npz", "objects.npz"):
        with pytest.raises(FormatError) as error:
            interop.read_traffic_npz(tmp_path / name)
        assert "pickle" not in str(error.value)
        assert "BytesIO" not in str(error.value)
    pq.write_table(
        pa.table({"source": [1, -3], "destination": [1, 1], "bytes": [1.0, 2.0]}), tmp_path / "n.parquet"
    )
    with pytest.raises(FormatError, match=r"n\.parquet: entry 1: source -3: expected endpoints below 2"):
        interop.read_traffic_parquet(tmp_path / "n.parquet")
