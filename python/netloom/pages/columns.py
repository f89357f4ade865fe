"""Long columns in JSON: `{"int32": …}`, `{"float64": …}` or `{"texts": …}`, of zlib in base64.

Whole numbers are differences, each from the one before it, little-endian; texts are a JSON list.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def whole(values: npt.ArrayLike) -> dict[str, str]:
    """A column of whole numbers."""
    return {"int32": _packed(np.diff(np.asarray(values, np.int64), prepend=0).astype("<i4").tobytes())}


def numbers(values: npt.ArrayLike) -> dict[str, str]:
    """A column of numbers, to the last digit."""
    return {"float64": _packed(np.asarray(values, "<f8").tobytes())}


def texts(values: Sequence[str]) -> dict[str, str]:
    """A column of texts."""
    return {"texts": _packed(json.dumps(list(values)).encode())}


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 6)).decode()
