"""JSON that others wrote, as Python objects.

Python's parser calls itself for every level, so what is nested deeply ends in a `RecursionError` that nobody
expects of a file: here it is what is wrong with the file.
"""

from __future__ import annotations

import json
from typing import Any


def of_json(data: bytes | str) -> Any:
    """What a JSON text says.

    Raises
    ------
    ValueError
        If it is none, or is nested too deeply.

    Examples
    --------
    >>> of_json(b'{"ranks": 4}')
    {'ranks': 4}
    """
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None
