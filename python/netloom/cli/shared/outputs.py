"""Where results go: refused before anything is computed if it cannot be, and named by its ending."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import FolderPath, Options
from netloom.session.sources import ending as ending


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths are one file, there already or not; devices do not count."""
    if one.exists() and other.exists():
        return one.is_file() and one.samefile(other)
    return one.resolve() == other.resolve()


def check_writable(path: Path) -> None:
    """Refuses an output path that cannot work, before anything is computed.

    Raises
    ------
    OSError
        Naming the path.
    """
    from netloom import files

    if isinstance(path, FolderPath):
        raise OSError(errno.EISDIR, "is a folder, expected a file", str(path))
    try:
        files.check_file(path)
    except (FileNotFoundError, NotADirectoryError):
        raise OSError(errno.ENOENT, f"there is no folder {path.parent}", str(path)) from None


def scalars(result: Mapping[str, Any]) -> dict[str, Any]:
    """What of a result fits in one row: no lists, no objects."""
    return {key: value for key, value in result.items() if not isinstance(value, list | dict)}


_OTHERS = (".csv", ".json", ".mtx", ".npz", ".parquet", ".toml", ".svg", ".png", ".pdf", ".html", ".net")
"""Endings that name other formats than that of routes, whose files have all sorts of names."""


def check_routes(options: Options) -> None:
    """Refuses a name for a file of routes that says another format.

    Raises
    ------
    UsageError
        Naming the file.
    """
    if ending(options.output) in _OTHERS:
        raise UsageError(
            f"{options.output}: routes are text as OpenSM dumps them: expected an ending such as .lfts"
        )


def need_output(verb: str, options: Options) -> None:
    """Refuses a verb that only makes sense with `-o`.

    Raises
    ------
    UsageError
        If there is no `-o`.
    """
    if options.output is None:
        raise UsageError(f"{verb} needs -o FILE: its ending names the format")
