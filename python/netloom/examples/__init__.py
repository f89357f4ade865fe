"""Inputs that come with netloom: for first tries, and for the examples of help, documents and docstrings.

They are files of the package, so that an installed wheel has them too; `write` copies them.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path, PurePosixPath

from netloom import reading
from netloom.errors import ArgumentError
from netloom.files import Folder

_FOLDER = Path(__file__).parents[1] / "data" / "demo"
_PLACES = {
    "ft2_32/ibnetdiscover.txt": "net.txt",
    "ft2_32/perfquery_x_before.txt.gz": "before.txt.gz",
    "ft2_32/perfquery_x_after.txt.gz": "after.txt.gz",
    "quartz1/ibnetdiscover.txt.gz": "quartz1.txt.gz",
}
"""Where `write` puts what documents call otherwise; all else is in its folder `examples`."""


def names() -> list[str]:
    """The files, as [`path`] takes them.

    Returns
    -------
    list of str

    Examples
    --------
    >>> "jobs/boxlib.toml" in names()
    True
    """
    files = (path for path in _FOLDER.rglob("*") if path.is_file())
    return sorted(path.relative_to(_FOLDER).as_posix() for path in files)


def path(name: str) -> Path:
    """Where a file is.

    Parameters
    ----------
    name : str
        One of [`names`].

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ArgumentError
        If there is no such file.

    Examples
    --------
    >>> path("data/hpcg-216.mtx.gz").name
    'hpcg-216.mtx.gz'
    """
    if name not in names():
        raise ArgumentError(f"name: expected one of {', '.join(names())}, found {name!r}")
    return _FOLDER / name


def write(folder: str | os.PathLike[str]) -> list[str]:
    """Copies all files into a folder, under the names that help and documents use.

    Parameters
    ----------
    folder : path
        A new or an empty folder; made with its parents.

    Returns
    -------
    list of str
        The files, as seen from the folder: `net.txt`, `examples/jobs/boxlib.toml`, …

    Raises
    ------
    OSError
        If something is in the folder already, or it cannot be written.

    Examples
    --------
    >>> "net.txt" in write("first")
    True
    """
    placed = {name: PurePosixPath(_PLACES.get(name, f"examples/{name}")) for name in names()}
    with Folder.open(Path(folder), make=True) as top:
        if top.names():
            raise OSError(errno.ENOTEMPTY, "is not empty: expected a new or an empty folder", str(folder))
        for name, place in placed.items():
            with _below(top, place.parent.parts) as there:
                there.write(place.name, reading.whole(str(_FOLDER / name)))
    return sorted(map(str, placed.values()))


def _below(top: Folder, parts: tuple[str, ...]) -> Folder:
    """A folder below another, made if need be."""
    there = Folder(top.path, os.dup(top.fd))
    for part in parts:
        with there as above:
            there = above.folder(part, make=True)
    return there
