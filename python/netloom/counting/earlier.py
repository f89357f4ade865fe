"""What jobs showed before: a JSON file a job, written whole or not at all.

A file is used if it is of this version, of the job of that name and of as many ranks. One that is damaged is
not used and replaced by the next good answer; one that is something else is left alone.
"""

from __future__ import annotations

import hashlib
import json
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.errors import ArgumentError
from netloom.files import Folder

if TYPE_CHECKING:
    from netloom._core import Inferred
    from netloom.session.session import Session

SCHEMA = "netloom.memory/1"
_MOST_NAME = 100
"""Of a file's name, without its ending."""
_REMEMBERED_VERDICTS = ("identified", "partly")
"""Verdicts of answers that are worth remembering."""


@dataclass
class EarlierAnswers:
    """A folder of what jobs showed before."""

    folder: Path
    found: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What there is of this run's jobs, by name."""
    foreign: set[str] = field(default_factory=set)
    """Jobs whose file is something else."""
    notes: list[str] = field(default_factory=list)

    def file(self, job: str) -> Path:
        """The file of a job: its name, other characters than letters, digits and `_.-~` as `%41`."""
        name = urllib.parse.quote(job, safe="")
        if name.startswith("."):
            name = f"%2E{name[1:]}"
        if len(name) > _MOST_NAME:
            name = f"{name[: _MOST_NAME - 17]}-{hashlib.sha256(job.encode()).hexdigest()[:16]}"
        return self.folder / f"{name}.json"

    def recall(self, session: Session, jobs: Sequence[str]) -> None:
        """Reads what there is of these jobs.

        Raises
        ------
        ArgumentError, OSError
            If the folder is none, or a file cannot be read.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise ArgumentError(f"{self.folder}: expected a folder, found a file")
        for job in dict.fromkeys(jobs):
            path = self.file(job)
            if not path.exists():
                continue
            if not path.is_file():
                self._reject(job, f"{path}: not a file")
                continue
            with session.timed("read"):
                self._accept(job, path, session.read("memory", str(path)))

    def _accept(self, job: str, path: Path, data: bytes) -> None:
        try:
            document = json.loads(data)
        except (ValueError, RecursionError) as error:
            self.notes.append(f"{path}: damaged, not used: {error}")
            return
        schema = document.get("schema") if isinstance(document, dict) else None
        if not str(schema).startswith("netloom.memory/"):
            self._reject(job, f'{path}: not a memory of a job (expected "schema": "{SCHEMA}")')
        elif schema != SCHEMA:
            self._reject(job, f"{path}: of another version, {schema}, expected {SCHEMA}")
        elif document.get("job") != job:
            self._reject(job, f'{path}: of job "{document.get("job")}", not of "{job}"')
        else:
            self.found[job] = document

    def _reject(self, job: str, why: str) -> None:
        self.foreign.add(job)
        self.notes.append(f"{why}: not used, and not written over")

    def keep(
        self, session: Session, answer: Inferred, hypotheses: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Writes what this answer is worth remembering for; the result's rows.

        What was used and is surer than the answer stays: else every answer would wear it out.
        """
        rows = []
        memories = answer.memories()
        for job in hypotheses:
            name, new = job["job"], memories.get(job["job"])
            old = self.found.get(name)
            surer = (
                old is not None
                and new is not None
                and job["remembered"]
                and old["estimated_error_percent"] < new["estimated_error_percent"]
            )
            worth = answer.verdict in _REMEMBERED_VERDICTS and answer.stopped is None and new is not None
            stored = worth and not surer and name not in self.foreign
            if stored:
                document = {
                    "schema": SCHEMA,
                    "job": name,
                    "grid": job["grid"],
                    "verdict": answer.verdict,
                    **(new or {}),
                }
                session.finishing()
                with session.timed("write"), Folder.open(self.folder, make=True) as there:
                    there.write(self.file(name).name, _text(document))
            rows.append(
                {
                    "job": name,
                    "file": str(self.file(name)),
                    "found": old is not None,
                    "used": job["remembered"],
                    "stored": stored,
                }
            )
        return rows


def _text(document: Mapping[str, Any]) -> bytes:
    """JSON, a line an entry, and no digits that mean nothing."""

    def value(item: Any) -> str:
        if isinstance(item, float):
            return f"{item:.6g}"
        if isinstance(item, list | tuple):
            return f"[{', '.join(value(one) for one in item)}]"
        return json.dumps(item)

    def entry(key: str, item: Any) -> str:
        if key in ("offsets", "pairs"):
            rows = ",\n".join(f"    {value(row)}" for row in item)
            return f'  "{key}": [\n{rows}\n  ]' if rows else f'  "{key}": []'
        return f'  "{key}": {value(item)}'

    return ("{\n" + ",\n".join(entry(key, item) for key, item in document.items()) + "\n}\n").encode()
