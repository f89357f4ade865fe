"""`netloom.read_run`: a folder of runs, as `netloom simulate -o` and `netloom sample run -o` write them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.errors import ArgumentError
from netloom.manifest import content, read_manifest

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class RunFolder:
    """A folder of runs. A file that was altered since is refused when it is read.

    Attributes
    ----------
    path : Path
        The folder.
    manifest : mapping
        What its `manifest.json` says: the scenario, netloom's version, the inputs with their sums, and a row
        a routing (`runs`), each with its `result`.
    """

    path: Path
    manifest: Mapping[str, Any]

    @property
    def routings(self) -> list[str]:
        """The routings that were simulated, in the scenario's order."""
        return [str(entry["routing"]) for entry in self.manifest["runs"]]

    def result(self, routing: str) -> dict[str, Any]:
        """What a routing came to, as its entry of `result.runs` of `netloom simulate --format json`.

        Parameters
        ----------
        routing : str
            One of `routings`.

        Returns
        -------
        dict

        Raises
        ------
        ArgumentError
            If it is none of them.
        """
        return dict(self._entry(routing)["result"])

    def files(self, routing: str) -> list[str]:
        """Names of a routing's files: tables of counters and recordings, tables of forwarding.

        Parameters
        ----------
        routing : str
            One of `routings`.

        Returns
        -------
        list of str

        Raises
        ------
        ArgumentError
            If it is none of them.
        """
        return list(self._entry(routing)["files"])

    def read(self, routing: str, name: str) -> bytes:
        """The content of a file, if it is what was written.

        Parameters
        ----------
        routing : str
            One of `routings`.
        name : str
            One of its `files`.

        Returns
        -------
        bytes

        Raises
        ------
        ArgumentError
            If there is no such routing, or no such file of it.
        FormatError
            If it was altered since.
        OSError
            If it cannot be read.
        """
        entry = self._entry(routing)
        if name not in entry["files"]:
            raise ArgumentError(f"name: expected one of {', '.join(entry['files'])}, found {name}")
        return content(self.path, entry, name)

    def table(self, routing: str, name: str) -> pa.Table:
        """A table of a routing: `links`, `ranks`, `intervals`, …

        Parameters
        ----------
        routing : str
            One of `routings`.
        name : str
            A file of its `files` without the ending.

        Returns
        -------
        pyarrow.Table
            Units are in the columns' names.

        Raises
        ------
        ArgumentError
            If there is no such table.
        FormatError
            If it was altered since.
        OSError
            If it cannot be read.
        """
        from netloom import extras

        extras.need("arrow")
        file = f"{name}.parquet"
        if f"{name}.csv" in self.files(routing):
            import io

            from pyarrow import csv

            return csv.read_csv(io.BytesIO(self.read(routing, f"{name}.csv")))
        from netloom.reading import parquet

        return parquet.table(self.read(routing, file), str(self.path / file))

    def _entry(self, routing: str) -> Mapping[str, Any]:
        found = next((entry for entry in self.manifest["runs"] if entry["routing"] == routing), None)
        if found is None:
            raise ArgumentError(f"routing: expected one of {', '.join(self.routings)}, found {routing}")
        return dict(found)


def read_run(path: str | os.PathLike[str]) -> RunFolder:
    """Reads a folder of runs, as `simulate_routings(…, output=…)` writes it.

    Parameters
    ----------
    path : path
        The folder.

    Returns
    -------
    RunFolder
        Its routings, results and tables.

    Raises
    ------
    FormatError
        If it is no such folder, or its manifest was altered since. Files are looked at as they are read.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import netloom as nl
    >>> from netloom import examples
    >>> path = examples.path("scenarios/shuffle.toml")
    >>> result = nl.simulate_routings(path, routings=["ftree"], output="shuffled")
    >>> run = nl.read_run("shuffled")
    >>> run.routings, run.result("ftree") == result["runs"][0]
    (['ftree'], True)
    """
    folder = Path(path)
    return RunFolder(folder, read_manifest(folder))
