"""Numbers with units, as tables, pictures and the terminal tell them."""

from __future__ import annotations

import math
from collections.abc import Sequence

_NONE = "unknown"
"""For a number that is not finite: a bound of which nothing is known."""

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def seconds(value: float) -> str:
    """A short time: `1.6 ns`, `12 ms`.

    Parameters
    ----------
    value : float
        Seconds.

    Examples
    --------
    >>> seconds(10e-6)
    '10 µs'
    """
    for factor, unit in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms")):
        if value * factor < 1000:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.3g} s"


def size(value: float) -> str:
    """Bytes with a decimal unit and three or four digits: `83.89 MB`."""
    if not math.isfinite(value):
        return _NONE
    unit = 0
    while abs(value) >= 999.95 and unit < len(_UNITS) - 1:
        value /= 1000.0
        unit += 1
    digits = 0 if unit == 0 and value == int(value) else 2 if abs(value) < 99.995 else 1
    return f"{value:.{digits}f} {_UNITS[unit]}"


def sizes(values: Sequence[float]) -> list[str]:
    """Bytes, each as `size` tells it, with more digits where two that differ would read alike.

    At most six digits after the point; beyond that values differ by less than a byte in a megabyte.

    Examples
    --------
    >>> sizes([2_481_900.0, 2_480_100.0])
    ['2.482 MB', '2.480 MB']
    """
    told = [size(value) for value in values]
    for digits in range(3, 7):
        if len(set(told)) == len(set(values)):
            break
        told = [_sized(value, digits) for value in values]
    return told


def _sized(value: float, digits: int) -> str:
    unit = 0
    while abs(value) >= 999.95 and unit < len(_UNITS) - 1:
        value /= 1000.0
        unit += 1
    return f"{value:.{0 if unit == 0 and value == int(value) else digits}f} {_UNITS[unit]}"


def count(value: float) -> str:
    """A number with thousands separated: `9,434,112`."""
    return f"{value:,}"


def percent(value: float) -> str:
    """A percentage with two decimals: `0.00 %`. A number that is not 0 never reads as 0.00."""
    if not math.isfinite(value):
        return _NONE
    if 0 < abs(value) < 0.005:
        return "< 0.01 %" if value > 0 else "> -0.01 %"
    return f"{value + 0.0:.2f} %"


def measured(value: float, error: float) -> str:
    """A percentage and its error, both rounded to the error's first digit: `77 ± 10 %`.

    Without an error as `percent` tells it.
    """
    if not (math.isfinite(error) and error > 0):
        return percent(value)
    digits = min(max(-math.floor(math.log10(error)), 0), 2)
    told = f"{error:.{digits}f}"
    if float(told) == 0:
        return f"{value + 0.0:.{digits}f} ± < 0.01 %"
    return f"{value + 0.0:.{digits}f} ± {told} %"


def _of_ps(value: float) -> str:
    """Picoseconds in the largest unit of which there is one: `338.7 µs`."""
    for factor, word in ((1e12, "s"), (1e9, "ms"), (1e6, "µs"), (1e3, "ns")):
        if abs(value) >= factor:
            return told(value / factor, word)
    return told(value, "n") + " ps"


def told(value: object, unit: str) -> str:
    """A value with its unit, in four digits; what is not known is a dash.

    Parameters
    ----------
    value : number, bool, str or None
        In that unit.
    unit : str
        `B` and `B/s` (with k, M, …), `ps` (as ns, µs, …), `%`, `share` (0 to 1, shown in percent), `n` (a
        count), `text`, or any other, which follows it.

    Examples
    --------
    >>> told(0.26056488, "ms"), told(2_481_900, "B"), told(0.973, "share"), told(None, "ms"), told(12345, "n")
    ('0.2606 ms', '2.48 MB', '97.30 %', '–', '12,345')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or unit == "text" or not isinstance(value, int | float):
        return "–" if value is None else str(value)
    if not math.isfinite(value):
        return _NONE
    if unit in ("B", "B/s"):
        return size(value) + unit[1:]
    if unit == "ps":
        return _of_ps(value)
    if unit in ("%", "share"):
        return percent(value * (100.0 if unit == "share" else 1.0))
    if isinstance(value, float) and not value.is_integer():
        digits = min(max(3 - math.floor(math.log10(abs(value))), 0), 12)
        shown = f"{value:,.{digits}f}"
    else:
        shown = f"{int(value):,}"
    return shown if unit == "n" else f"{shown} {unit}"
