"""Errors for places that others read: what they say of a file's content is left out.

A sweep's folder is often one that a group shares, and so is where Slurm puts what its tasks print. An error
that quotes the line that it cannot read would publish it, and who may change the scenario's folder chooses
which file that is a line of.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from netloom.errors import InternalError

_LONGEST = 1000


def public(error: Exception) -> str:
    """What an error says, on one line; for one that no file's content is in.

    Examples
    --------
    >>> public(FileNotFoundError(2, "No such file or directory", "net.txt"))
    'net.txt: No such file or directory'
    """
    told = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        named = "" if error.filename is None else f"{os.fspath(error.filename)}: "
        told = f"{named}{error.strerror}"
    return (f"internal error: {told}" if isinstance(error, InternalError) else told)[:_LONGEST]


def private(error: Exception, named: Sequence[str] = ()) -> str:
    """What kind of error it is and, of a file that is named publicly, where.

    Parameters
    ----------
    error : Exception
        Whose text may hold what a file holds.
    named : sequence of str
        Paths as they are written publicly.

    Returns
    -------
    str
        On one line.

    Examples
    --------
    >>> from netloom.errors import FormatError
    >>> private(FormatError("/home/me/net:3: expected a cable, found \"secret\"", "/home/me/net", 3), ["net"])
    'FormatError, net:3'
    """
    kind = type(error).__name__
    path, line = str(getattr(error, "path", None) or ""), getattr(error, "line", None)
    name = next((name for name in named if name and (path == name or path.endswith(f"/{name}"))), None)
    if name is None:
        return kind
    return f"{kind}, {name}" + (f":{line}" if isinstance(line, int) else "")
