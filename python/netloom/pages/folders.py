"""Folders of a loop and of a sweep as results on a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from netloom.loop import journal
from netloom.manifest import MANIFEST
from netloom.sweeps.store import TABLE


def kind(folder: Path) -> str:
    """What a folder holds: `loop`, `sweep`, or else a `run`."""
    if (folder / journal.FILE).is_file():
        return "loop"
    return "sweep" if (folder / MANIFEST).is_file() and (folder / TABLE).is_file() else "run"


def looped(folder: Path) -> dict[str, Any]:
    """What a page tells of a loop's journal.

    Raises
    ------
    FormatError
        If it is damaged, or something else.
    """
    rows = journal.read(folder)
    rounds = [one.result() for one in journal.rounds_of(rows)]
    live = ("mads", "journal_id")
    rounds = [
        one | {key: row[key] for key in live if row.get(key) is not None}
        for one, row in zip(rounds, rows, strict=True)
    ]
    return _part("loop", {"loop": folder.resolve().name, "rounds": rounds})


def swept(folder: Path, seed: int = 0) -> dict[str, Any]:
    """What a page tells of a sweep's folder, as far as it ran.

    Parameters
    ----------
    folder : Path
        What `netloom sweep run -o` wrote.
    seed : int, default 0
        Of the intervals.

    Raises
    ------
    FormatError
        If it has no table yet, or was altered.
    """
    from netloom.sweeps import summary
    from netloom.sweeps.store import table_of

    table, spec = table_of(folder)
    errors = table["error"].to_pylist()
    result = {
        "scenario": Path(spec.scenario).stem,
        "runs": spec.size,
        "done": len(set(table["run"].to_pylist())),
        "failed": sum(error is not None for error in errors),
        "groups": summary.groups(table, spec, seed),
        "sensitivity": summary.sensitivity(table, spec, seed),
        "errors": [
            {"at": None, "error": error, "runs": errors.count(error)}
            for error in dict.fromkeys(errors)
            if error is not None
        ],
    }
    return _part("sweep", result)


def _part(verb: str, result: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "result", "verb": verb, "document": {"schema": f"netloom.{verb}/1", "result": result}}
