"""Inputs that come with netloom: for first tries, and for the examples of docstrings.

They are files of the package, so that an installed wheel has them too.
"""

from __future__ import annotations

from pathlib import Path

from netloom.errors import ArgumentError

_FOLDER = Path(__file__).parents[1] / "data" / "demo"


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
