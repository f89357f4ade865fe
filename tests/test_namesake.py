"""Another project's `netloom` in the same folder is told in one line; nothing is where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "python"
LINE = (
    "another project's distribution, netloom 0.3.0, is in the same folder: "
    "pip uninstall netloom, then install netloom-hpc again"
)


@pytest.fixture
def site(tmp_path):
    """A folder of installed packages that has ours and the other distribution's record."""
    folder = tmp_path / "site-packages"
    (folder / "netloom").mkdir(parents=True)
    for child in (PACKAGE / "netloom").iterdir():
        (folder / "netloom" / child.name).symlink_to(child)
    (folder / "netloom_start").symlink_to(PACKAGE / "netloom_start")
    (folder / "netloom_hpc-0.1.0.dist-info").mkdir()
    (folder / "netloom-0.3.0.dist-info").mkdir()
    return folder


def run(folder: Path, code: str, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(folder)}
    # Without what else is installed here: a namespace package would lose against the one of this environment.
    return subprocess.run(
        [sys.executable, "-S", "-c", code, *words], capture_output=True, text=True, env=env, check=False
    )


COMMAND = "import sys, netloom_start; sys.exit(netloom_start.main())"


def test_the_command_says_it_and_goes_on(site):
    done = run(site, COMMAND, "--version")
    assert (done.returncode, done.stderr) == (0, f"netloom: warning: {LINE}\n")
    assert done.stdout.strip()


def test_the_first_name_of_the_library_warns_once(site):
    done = run(site, "import netloom as nl; print('imported'); nl.engines(); nl.Fabric")
    assert done.returncode == 0
    assert done.stderr.count(LINE) == 1
    assert "UserWarning" in done.stderr
    assert run(site, "import netloom").stderr == ""


@pytest.mark.parametrize("other", ["class Topology: pass\n", "import a_library_that_only_they_have\n", None])
def test_a_package_that_is_not_whole_is_an_error_of_one_line(site, other):
    """The other's `__init__.py` in the place of ours; or none, after the other was removed."""
    (site / "netloom" / "__init__.py").unlink()
    if other is not None:
        (site / "netloom" / "__init__.py").write_text(other)
    done = run(site, COMMAND, "fabric", "show", "cab")
    assert (done.returncode, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("netloom: error: ")
    assert line.endswith("pip uninstall netloom netloom-hpc, then install netloom-hpc again")


def test_ours_alone_says_nothing(site):
    (site / "netloom-0.3.0.dist-info").rmdir()
    (site / "netloom_tool-1.0.dist-info").mkdir()
    assert run(site, COMMAND, "--version").stderr == ""
