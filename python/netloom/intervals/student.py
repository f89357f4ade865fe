"""Student's quantile of 97.5 %, without SciPy, which takes a second to import."""

from __future__ import annotations

from netloom.intervals.level import NORMAL

_EXACT = {
    1: 12.706205,
    2: 4.302653,
    3: 3.182446,
    4: 2.776445,
    5: 2.570582,
    6: 2.446912,
    7: 2.364624,
    8: 2.306004,
    9: 2.262157,
}
"""By degrees of freedom."""


def student(degrees: int) -> float:
    """The quantile of 97.5 % of Student's distribution.

    From ten degrees of freedom on by its expansion around the normal quantile (Abramowitz, Stegun, *Handbook
    of mathematical functions*, 26.7.5), right to four digits.

    Parameters
    ----------
    degrees : int
        Of freedom, at least 1.

    Examples
    --------
    >>> round(student(4), 3), round(student(30), 3)
    (2.776, 2.042)
    """
    if degrees in _EXACT:
        return _EXACT[degrees]
    z = NORMAL
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / float(degrees ** (power + 1)) for power, term in enumerate(terms))
