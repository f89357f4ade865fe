"""The manifest of a run's folder: what lies in it, with sums; what was altered since is not believed."""

from __future__ import annotations

import errno
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from netloom import reading
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
    # What of it is used later, it must have.
    expected = "expected a folder of netloom simulate -o or netloom sample run -o"
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, f"no such folder: {expected}", str(path))
    if not file.is_file():
        raise FormatError(f"{path}: has no {MANIFEST}: {expected}", str(path))
    document = document_of(file)
    if document["schema"] == RUN_SCHEMA and not _is_told(document):
        raise FormatError(f"{file}: lacks what netloom simulate -o writes of a run", str(file))
    if document["schema"] == UNSEALED:
        raise FormatError(
            f"{file}: {UNSEALED}, of an earlier version: expected {RUN_SCHEMA} (simulate it again)", str(file)
        )
    return document


class _Object(dict[str, Any]):
    """An object of a manifest: what is not there is bad input."""

    def __missing__(self, key: str) -> Any:
        raise FormatError(f'{MANIFEST}: has no "{key}": expected what netloom simulate -o writes', MANIFEST)


def document_of(file: Path, data: bytes | None = None) -> dict[str, Any]:
    """A manifest of either schema; what has sums agrees with its own. `data`: its content, if read."""
    try:
        document = json.loads(reading.whole(file) if data is None else data, object_hook=_Object)
        schema = document["schema"]
        known = schema in (RUN_SCHEMA, UNSEALED) and all(_entry_ok(entry) for entry in document["runs"])
    except (FormatError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
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
    folder: Path, entry: Mapping[str, Any], file: str, read: Callable[[Path], bytes] = reading.whole
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


def check(folder: Path) -> None:
    """Looks whether every file of a run's folder is as it was written.

    Raises
    ------
    FormatError
        Naming one that was altered, or is not whole.
    OSError
        Naming one that is not there.
    """
    for entry in read_manifest(folder)["runs"]:
        for name in entry["files"]:
            content(folder, entry, name)


def _is_told(document: Mapping[str, Any]) -> bool:
    """Whether a manifest tells of its scenario, its fabric and its routings what readers ask for."""
    scenario = document.get("scenario")
    if not isinstance(scenario, dict) or not isinstance(document.get("model"), str):
        return False
    texts = all(isinstance(scenario.get(key), str) for key in ("name", "source", "text"))
    overrides = scenario.get("overrides")
    given = isinstance(overrides, list) and all(isinstance(text, str) for text in overrides)
    sizes = all(isinstance(document.get(key), int) for key in ("hosts", "switches", "links"))
    return texts and given and sizes and all(_entry_told(entry) for entry in document["runs"])


def _entry_told(entry: Mapping[str, Any]) -> bool:
    result, sums = entry.get("result"), entry.get("sha256")
    return (
        isinstance(entry.get("routing"), str)
        and isinstance(sums, dict)
        and isinstance(result, dict)
        and isinstance(result.get("simulated_ms"), int | float)
        and isinstance(result.get("jobs"), list)
        and all(isinstance(job, dict) and isinstance(job.get("name"), str) for job in result["jobs"])
    )


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
