"""Runs a command in this process and tells its exit code and the most memory that it had.

    python tests/peak.py RESULT WORD …

The kernel's own account of a child (`ru_maxrss`) begins with what its parent had; this does not.
"""

from __future__ import annotations

import sys
from pathlib import Path


def peak_bytes() -> int:
    """The most memory that this process has had."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    from netloom.cli import main

    code = main(sys.argv[2:])
    Path(sys.argv[1]).write_text(f"{code} {peak_bytes()}")
