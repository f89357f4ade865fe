"""Type checkers find wrong names of the package, of its classes and of their arguments."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

WRONG = """\
import netloom as nl

fabric = nl.Fabric.generate("quartz1")
traffic = nl.Traffic.read("shift:4", fabric)
nl.optimise(fabric, traffic)
nl.Fabric.genrate("quartz1")
print(fabric.host)
nl.loads(fabric, "ftree", traffic, thread=1)
print(nl.optimize(fabric, traffic).max_load)
"""
"""Five names that there are not, in lines 5 to 9."""
RIGHT = WRONG.replace("optimise", "optimize").replace("genrate", "generate").replace(".host)", ".hosts)")
RIGHT = RIGHT.replace("thread=", "threads=").replace(".max_load", ".loads.max")


def test_mypy_finds_each(tmp_path):
    for name, script in (("wrong", WRONG), ("right", RIGHT)):
        (tmp_path / f"{name}.py").write_text(script)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    both = ["wrong.py", "right.py"]
    done = subprocess.run([*command, *both], capture_output=True, text=True, cwd=tmp_path, check=False)
    found = [line.split(":")[:2] for line in done.stdout.splitlines() if ": error:" in line]
    assert found == [["wrong.py", str(line)] for line in (5, 6, 7, 8, 9)], done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("pyright") is None, reason="needs pyright")
@pytest.mark.parametrize(("script", "lines"), [(WRONG, [5, 6, 7, 8, 9]), (RIGHT, [])], ids=["wrong", "right"])
def test_pyright_finds_each(tmp_path, script, lines):
    path = tmp_path / "script.py"
    path.write_text(script)
    command = ["pyright", "--outputjson", "--pythonpath", sys.executable, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    told = json.loads(done.stdout)["generalDiagnostics"]
    assert [one["range"]["start"]["line"] + 1 for one in told if one["severity"] == "error"] == lines
