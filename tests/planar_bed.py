"""Clients of ibsim that see it as a planarized (XDR) fabric: `planar.c`, compiled and preloaded."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import MutableMapping
from pathlib import Path

SOURCE = Path(__file__).with_suffix("").with_name("planar.c")
LOG = "PLANAR_LOG"


def missing() -> list[str]:
    """What this needs and the machine lacks."""
    return [] if shutil.which("cc") else ["cc"]


def build(folder: Path) -> Path:
    """Compiles the library."""
    library = folder / "planar.so"
    command = ["cc", "-shared", "-fPIC", "-Wall", "-Werror", str(SOURCE), "-o", str(library), "-ldl"]
    subprocess.run(command, check=True)
    return library


def preload(environment: MutableMapping[str, str], library: Path, log: Path) -> None:
    """Has children of this environment load it, before ibsim's own library."""
    before = environment.get("LD_PRELOAD", "")
    environment["LD_PRELOAD"] = os.pathsep.join([str(library), *([before] if before else [])])
    environment[LOG] = str(log)


def losses(log: Path) -> list[str]:
    """What was lost, a line each."""
    return log.read_text().splitlines() if log.exists() else []
