"""Why no rank reported: no MPI in the program, a static program, a launcher that drops the environment.

A process that has the recorder leaves a link to its program in the folder, so it is known how far the
environment came; a program's own file says whether it is statically linked, when nothing can be preloaded.
"""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Sequence
from pathlib import Path

_PT_INTERP = 3
_MOST_HEADERS = 512


def why(command: Sequence[str], folder: Path) -> str:
    """One line that says why no rank of a command reported.

    Parameters
    ----------
    command : sequence of str
        As it was given.
    folder : Path
        Where ranks would have written.

    Returns
    -------
    str
    """
    reached = _reached(folder)
    programs = [path for word in command if (path := _program(word)) is not None]
    for path in programs:
        if is_static(path):
            return (
                f"no rank reported: {path} is statically linked, so nothing can be preloaded: link it "
                "with shared libraries"
            )
    last = os.path.realpath(programs[-1]) if programs else None
    if last is not None and last in reached:
        return (
            f"no rank reported: {programs[-1]} ran with the recorder and did not start MPI: expected a "
            "program that calls MPI_Init, with MPI as a shared library"
        )
    names = ", ".join(sorted({os.path.basename(path) for path in reached}))
    which = f"{names} only" if names else "no program"
    return (
        f"no rank reported: the recorder reached {which}: expected a launcher that passes LD_PRELOAD "
        "and NETLOOM_RECORD on to an MPI program"
    )


def is_static(path: str) -> bool:
    """Whether a file is an ELF program without a dynamic linker."""
    try:
        with open(path, "rb") as file:
            head = file.read(64)
            if head[:4] != b"\x7fELF" or len(head) < 64 or head[4] != 2:
                return False
            order = "<" if head[5] == 1 else ">"
            kind, at, size, count = (
                struct.unpack_from(f"{order}H", head, 16)[0],
                struct.unpack_from(f"{order}Q", head, 32)[0],
                struct.unpack_from(f"{order}H", head, 54)[0],
                struct.unpack_from(f"{order}H", head, 56)[0],
            )
            if kind not in (2, 3) or size < 4 or count > _MOST_HEADERS:
                return False
            file.seek(at)
            headers = file.read(size * count)
    except (OSError, OverflowError):
        return False
    kinds = [struct.unpack_from(f"{order}I", headers, i)[0] for i in range(0, len(headers) - size + 1, size)]
    return bool(kinds) and _PT_INTERP not in kinds


def _program(word: str) -> str | None:
    """The file that a word of a command may name as a program."""
    path = shutil.which(word)
    return path if path is not None and os.path.isfile(path) else None


def _reached(folder: Path) -> set[str]:
    """Programs that the recorder was loaded into."""
    found = set()
    for name in os.listdir(folder):
        if name.startswith("seen."):
            try:
                found.add(os.readlink(folder / name))
            except OSError:
                continue
    return found
