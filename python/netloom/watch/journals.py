"""What the loop and changes of routes wrote down of themselves: rounds and changes, the last ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.errors import FormatError, LiveError

if TYPE_CHECKING:
    from netloom.live import Access


@dataclass(frozen=True)
class Told:
    """The last rounds of a loop and the last changes of routes."""

    rounds: list[dict[str, Any]] = field(default_factory=list)
    """`number`, `decision`, `reason`, gaps, gains, `changed_entries`."""
    changes: list[dict[str, Any]] = field(default_factory=list)
    """`id`, `time`, `state`, `changed_entries`, `why`."""
    odd: list[str] = field(default_factory=list)
    """What of the journals is damaged, and so not told."""


_OF_ROUND = (
    "number",
    "phase",
    "decision",
    "reason",
    "gap_before_percent",
    "gap_after_percent",
    "predicted_gain",
    "realised_gain",
    "changed_entries",
)


def check(folder: Path) -> None:
    """Refuses a folder that is no journal.

    Raises
    ------
    LiveError
        Saying what was expected.
    """
    if not (folder / "journal.parquet").is_file() and not (folder / "journal.jsonl").is_file():
        raise LiveError(
            f"{folder}: no journal: expected journal.parquet (of a loop) or journal.jsonl (of changes) in it"
        )


def read(folders: list[Path], *, last: int = 5) -> Told:
    """What is in journals now; a journal that is just being written counts as before."""
    from netloom.apply import Journal
    from netloom.loop import journal as loops

    told = Told()
    for folder in folders:
        if (folder / "journal.parquet").is_file():
            try:
                rows = loops.read(folder)[-last:]
            except FormatError as error:
                told.odd.append(str(error))
                rows = []
            told.rounds.extend({key: row.get(key) for key in _OF_ROUND} for row in rows)
        if (folder / "journal.jsonl").is_file():
            changes = Journal(folder)
            odd = changes.odd()
            if odd is not None:
                told.odd.append(odd)
            told.changes.extend(
                {
                    "id": change.id,
                    "time": change.time,
                    "state": change.state,
                    "changed_entries": change.changed_entries,
                    "why": change.why,
                }
                for change in changes.changes()[-last:]
            )
    return told


def beside_manager(access: Access) -> tuple[list[Path], str | None]:
    """The journal of the OpenSM that runs here, if there is one; a word on it where several run."""
    from netloom.apply import Journal
    from netloom.live import Manager

    several = Manager.all_running(access)
    if len(several) != 1:
        listed = ", ".join(map(str, several))
        word = (
            f"{len(several)} OpenSM run here (processes {listed}): --journal FOLDER says whose changes count"
        )
        return [], word if several else None
    try:
        file = Manager.of_process(several[0]).routes_file
    except LiveError as error:
        return [], f"changes of routes are not shown: {error}"
    if file is None:
        return [], None
    folder = Journal.beside(file).folder
    return ([folder] if (folder / "journal.jsonl").is_file() else []), None
