"""Numbers with units, as tables, pictures and the terminal tell them."""

from __future__ import annotations


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


def amount(value: float) -> str:
    """Bytes: `454.7 kB`, `1.2 GB`.

    Parameters
    ----------
    value : float
        Bytes.

    Examples
    --------
    >>> amount(454656)
    '454.7 kB'
    """
    for factor, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= factor:
            return f"{value / factor:.4g} {unit}"
    return f"{value:.4g} B"
