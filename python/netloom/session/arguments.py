"""Real arguments of functions written in Python: within their range, never a truth value, a text or NaN."""

from __future__ import annotations

import contextlib
import math
from typing import Any

from netloom.errors import ArgumentError

_BELOW_1 = math.nextafter(1.0, 0.0)


def real(name: str, value: Any, expected: str, least: float = 0.0, most: float = math.inf) -> float:
    """A number of a range.

    Parameters
    ----------
    name : str
        The argument's.
    value : float
        What was given.
    expected : str
        What the range is, in words.
    least, most : float
        The range.

    Returns
    -------
    float

    Raises
    ------
    ArgumentError
        With the argument's name and what was given.

    Examples
    --------
    >>> real("seconds", 2, "seconds, 0 or more")
    2.0
    """
    number = math.nan
    if not type(value).__name__.startswith("bool") and not isinstance(value, str | bytes):
        with contextlib.suppress(TypeError, ValueError, ArithmeticError):
            number = float(value)
    if not least <= number <= most:
        text = repr(value) if not isinstance(value, int) or abs(value) < 10**60 else "a huge number"
        raise ArgumentError(f"{name}: expected {expected}, found {text[:60]}")
    return number


def error_allowed(skip_repeats: float | None) -> float | None:
    """The error that is allowed where iterations are not simulated again; None: all are simulated.

    Raises
    ------
    ArgumentError
        If it is no share below 1.

    Examples
    --------
    >>> error_allowed(0)
    0.0
    """
    if skip_repeats is None:
        return None
    return real("skip_repeats", skip_repeats, "a share, 0 to below 1", most=_BELOW_1)
