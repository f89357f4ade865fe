"""docs/testbed.md, every command as it stands: from nothing to a rollback on ibsim with OpenSM."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from netloom.live import missing_tools

PAGE = ROOT / "docs" / "testbed.md"


@pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}")
def test_the_page_leads_from_nothing_to_a_rollback(tmp_path):
    name = f"testbed{os.getpid()}"
    steps = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    script = "".join(steps).replace("=testbed\n", f"={name}\n").replace("@testbed:", f"@{name}:")
    script = script.replace("--sim testbed", f"--sim {name}")
    script = f"set -eux\n{script}"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin:/sbin"
    done = subprocess.Popen(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=(tmp_path / "out").open("w"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        code = done.wait(timeout=400)
    except subprocess.TimeoutExpired:
        code = None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(done.pid, signal.SIGKILL)
    out = (tmp_path / "out").read_text()
    assert code == 0, out[-4000:]
    assert "\n48\n" in out
    assert "proven optimal among any routes" in out
    assert "applied: change 1 is taken back" in out
    assert re.search(r"leaf00\[5\] .*missing: nothing is cabled there\n", out)
    assert "entries of the new routes were mended" in out
    assert not (tmp_path / "testbed").exists()
