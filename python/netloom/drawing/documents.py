"""Results that other verbs printed as JSON, read back to be drawn."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from netloom.errors import FormatError
from netloom.session.session import Session
from netloom.session.sources import name_of


def read(
    session: Session,
    source: str,
    expected: str,
    is_known: Callable[[dict[str, Any]], object],
    *,
    csv: Callable[[str], dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """A document that has all that is drawn.

    Parameters
    ----------
    session : Session
        Whose input it is.
    source : str
        A file, or `-`.
    expected : str
        What the error says: `expected what netloom … --format json prints`.
    is_known : callable
        Whether the document is of that kind; it may stumble over what is not there.
    csv : callable, optional
        Makes a document of the text of a table, where that is drawn too.

    Raises
    ------
    FormatError
        If it is not.
    """
    data = session.read("result", source)
    try:
        table = csv is not None and data.lstrip()[:1] != b"{"
        document: dict[str, Any] = csv(data.decode()) if csv and table else json.loads(data)
        known = bool(is_known(document))
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError, IndexError):
        known = False
    if not known:
        raise FormatError(f"{name_of(source)}: {expected}")
    return document
