"""The manifest of a run's folder: what lies in it, with sums; what was altered since is not believed."""

from __future__ import annotations

import errno
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from netloom.errors import FormatError

MANIFEST = "manifest.json"
RUN_SCHEMA = "netloom.run/2"
UNSEALED = "netloom.run/1"
"""What had no sums: it is replaced like any other run, but not believed."""


def read_manifest(path: Path) -> dict[str, Any]:
    """Reads the manifest of a run's folder.

    Raises
    ------
    FormatError
        If it is something else, or was altered.
    OSError
        If there is none.
    """
    file = path / MANIFEST
    expected = "expected a folder of netloom simulate -o or netloom sample run -o"
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, f"no such folder: {expected}", str(path))
    if not file.is_file():
        raise FormatError(f"{path}: has no {MANIFEST}: {expected}", str(path))
    document = document_of(file)
    if document["schema"] == UNSEALED:
        raise FormatError(
            f"{file}: {UNSEALED}, of an earlier version: expected {RUN_SCHEMA} (simulate it again)", str(file)
        )
    return document


def document_of(file: Path) -> dict[str, Any]:
    """A manifest of either schema; what has sums agrees with its own."""
    try:
        document = json.loads(file.read_bytes())
        schema = document["schema"]
        known = schema in (RUN_SCHEMA, UNSEALED) and all(_entry_ok(entry) for entry in document["runs"])
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise FormatError(f"{file}: expected what netloom simulate -o writes", str(file))
    if schema == RUN_SCHEMA and not is_whole(document):
        raise damaged(file, "-o")
    return document  # type: ignore[no-any-return]


def damaged(file: Path, option: str, then: str = "") -> FormatError:
    """What is not as it was written, or not wholly."""
    expected = f"expected what netloom simulate {option} wrote"
    return FormatError(f"{file}: damaged, or altered: {expected}{then and f' ({then})'}", str(file))


def content(
    folder: Path, entry: Mapping[str, Any], file: str, read: Callable[[Path], bytes] = Path.read_bytes
) -> bytes:
    """Reads a file of a routing of a run's folder, if it is as it was written.

    Raises
    ------
    FormatError
        If it was altered, or is not whole.
    OSError
        If there is none.
    """
    path = folder / entry["folder"] / file
    data = read(path)
    if digest(data) != entry["sha256"].get(file):
        raise damaged(path, "-o")
    return data


def _entry_ok(entry: Mapping[str, Any]) -> bool:
    """Whether an entry names only what lies in the run's folder."""
    names = [entry["folder"], *entry["files"]]
    plain = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
    return all(isinstance(name, str) and re.fullmatch(plain, name) is not None for name in names)


def is_whole(document: Mapping[str, Any]) -> bool:
    """Whether what was read from such a file says what was written."""
    rest = {key: value for key, value in document.items() if key != "sha256"}
    return document.get("sha256") == total_sum(rest)


def total_sum(document: Mapping[str, Any]) -> str:
    """Of the content: the layout of the text does not count."""
    return digest(json.dumps(document, sort_keys=True, separators=(",", ":")).encode())


def digest(data: bytes) -> str:
    """The sum by which files are known."""
    return hashlib.sha256(data).hexdigest()
