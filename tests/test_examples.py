"""Whoever has the wheel alone: `netloom examples` writes what help names, and its examples run there."""

from __future__ import annotations

import os
import shutil
import subprocess

import mpi_bed
from netloom import examples
from netloom.cli.parser.usage import EXAMPLES, MADE_BY, NEEDS, TRACE, script
from netloom.cli.parser.verbs import VERBS

STUDIES = (
    *("study chapter4", "study sampling", "study afar", "study steps", "study modes", "loop table"),
    *("study table32", "study page"),
)
PICTURES = (
    "history",
    "slowdown",
    "tail",
    "noise",
    "cables",
    "congestion",
    "coefficients",
    "study",
    "load",
    "plan",
)
SLOW = {*STUDIES, "study recorder", "noise", *(f"plot {name}" for name in PICTURES)}
"""Examples that take a second of CPU time or minutes: run with NETLOOM_SLOW=1, before a release."""


def test_a_wheel_has_every_example_of_the_repository(paths):
    root = paths.examples
    ours = {file.relative_to(root).as_posix() for file in root.rglob("*") if file.is_file()}
    assert ours <= set(examples.names())
    for name in ours:
        assert examples.path(name).read_bytes() == (root / name).read_bytes()


def test_they_are_written_under_the_names_that_documents_use(netloom, paths):
    result = netloom.result("examples", "a/first")
    folder = netloom.folder / "a" / "first"
    assert (folder / "net.txt").read_bytes() == paths.ft2.read_bytes()
    assert (folder / "quartz1.txt.gz").read_bytes() == paths.quartz1.read_bytes()
    assert (folder / "commands.sh").read_text() == script()
    written = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    assert written == set(result["files"])
    assert not any(file.is_symlink() for file in folder.rglob("*"))


def test_a_folder_with_something_in_it_is_left_as_it_is(netloom, write):
    write("mine.txt", "mine")
    assert "is not empty: expected a new or an empty folder" in netloom.refused("examples", ".")
    assert "expected a folder's name" in netloom.refused("examples", "-", code=2)


def test_every_verb_has_an_example():
    commands = {
        name
        for verb, entry in VERBS.items()
        for name in ([verb] if isinstance(entry, str) else [f"{verb} {one}" for one in entry[1]])
    }
    assert commands - {"demo", "completion"} | {"diagnose pairs"} == set(EXAMPLES)
    assert NEEDS.keys() | MADE_BY.keys() <= EXAMPLES.keys()


def test_every_example_of_help_runs_in_the_folder_that_is_written(netloom):
    netloom.ok("examples", "first")
    folder = netloom.folder / "first"
    env = {**os.environ, "PATH": netloom.path(), "COLUMNS": "100", **mpi_bed.ENVIRONMENT}
    slow = bool(os.environ.get("NETLOOM_SLOW"))
    mpi = all(map(shutil.which, ("mpicc", "mpirun")))
    ran = 0
    for verb, example in EXAMPLES.items():
        if verb == "examples" or (verb in NEEDS and not (verb in ("record", *TRACE) and mpi)):
            continue
        if verb in SLOW and not slow:
            continue
        for command in filter(None, (MADE_BY.get(verb), example)):
            done = subprocess.run(
                ["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, check=False
            )
            # 1: done, with findings.
            assert done.returncode in (0, 1), f"$ {command}\n{done.stdout}\n{done.stderr}"
            assert "netloom: error" not in done.stderr, f"$ {command}\n{done.stderr}"
        ran += 1
    assert ran >= 40
