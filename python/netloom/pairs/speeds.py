"""Names of InfiniBand's widths and speeds, by rate."""

from __future__ import annotations

_GBIT = {
    "SDR": 2.0,
    "DDR": 4.0,
    "QDR": 8.0,
    "FDR10": 10.0,
    "FDR": 13.6375,
    "EDR": 25.0,
    "HDR": 50.0,
    "NDR": 100.0,
    "XDR": 200.0,
}
"""Data of a lane, Gb/s: signalling without its coding (InfiniBand architecture, volume 2)."""
_WIDTHS = (4, 2, 1)
_NEAR = 0.06
"""A rate that is off by more has no name."""


def name(bytes_per_s: float) -> str | None:
    """The width and speed of a port that carries so much; the widest, if several do; None if none does.

    Parameters
    ----------
    bytes_per_s : float
        The rate, greater than 0.

    Examples
    --------
    >>> name(12.5e9), name(3.1e9), name(9e9)
    ('4xEDR', '1xEDR', None)
    """
    named = {f"{width}x{speed}": width * lane / 8 * 1e9 for width in _WIDTHS for speed, lane in _GBIT.items()}
    # Two widths with one rate (4xEDR, 2xHDR): four lanes are what is built.
    best = min(
        named, key=lambda one: (abs(named[one] / bytes_per_s - 1) > 1e-3, abs(named[one] / bytes_per_s - 1))
    )
    near = abs(named[best] / bytes_per_s - 1)
    return best if near <= _NEAR else None
