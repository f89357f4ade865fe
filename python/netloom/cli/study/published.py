"""What the dissertation gives for its applications: tables 4.1 to 4.3 of chapter 4.

Its runs are not ours: an application stands for the recorded one of its kind, on other numbers of ranks.
Source: Taffet, dissertation, sec. 4.3.6 and 4.7.
"""

from __future__ import annotations

from dataclasses import dataclass

SCHEMES = ("1sl1vl", "2sl2vl", "4sl4vl", "4vl:random", "2sl5vl", "5sl5vl", "5vl:random", "5vl:galois")
"""The columns of tables 4.2 and 4.3: how pairs are spread over lanes."""
BASES = (
    "identity",
    "symmetric",
    "differences",
    "symmetric-differences",
    "copy-shift",
    "symmetric-copy-shift",
    "dictionary",
)
"""The columns of table 4.1."""


@dataclass(frozen=True)
class Published:
    """An application of the dissertation.

    Attributes
    ----------
    name : str
        As it is called there.
    basis : str
        The best one, used in table 4.2.
    best_basis, dictionary : tuple of float
        Relative errors in percent by scheme: by an interior-point solver without a limit of time in that
        basis (table 4.2), by first-order steps in six minutes on a GPU in the dictionary (table 4.3).
    coefficients : tuple of float or None
        That are not zero, a rank, by basis (table 4.1); None where a basis is not defined.
    within_10_percent, with_90_percent : tuple of float or None
        Those that leave an error of 10 % at most, and those that have 90 % of the power.
    """

    name: str
    basis: str
    best_basis: tuple[float, ...]
    dictionary: tuple[float, ...]
    coefficients: tuple[float | None, ...]
    within_10_percent: tuple[float | None, ...]
    with_90_percent: tuple[float | None, ...]


_NEKBONE = Published(
    "Nekbone",
    "symmetric-differences",
    (22.8, 10.6, 9.1, 10.2, 7.4, 7.1, 7.1, 7.2),
    (16.5, 4.8, 3.2, 4.9, 4.8, 2.4, 1.4, 1.4),
    (29.06, 20.24, 20.38, 20.64, 16.13, 13.06, 11.33),
    (6.15, 3.07, 5.49, 0.87, 4.03, 1.98, 0.41),
    (3.63, 1.81, 1.73, 0.87, 0.75, 0.38, 0.41),
)
_AMG = Published(
    "AMG",
    "symmetric-differences",
    (49.2, 8.8, 6.0, 7.8, 2.2, 1.8, 1.7, 1.7),
    (50.2, 12.0, 3.3, 11.2, 9.9, 1.8, 1.7, 1.6),
    (79.22, 61.88, 108.85, 85.86, None, None, 69.21),
    (5.50, 2.75, 0.36, 0.18, None, None, 0.18),
    (5.50, 2.72, 0.36, 0.18, None, None, 0.18),
)
_CNS = Published(
    "BoxLib CNS",
    "symmetric",
    (97.6, 97.1, 97.5, 97.4, 94.6, 88.1, 84.2, 83.9),
    (118.0, 97.6, 92.1, 96.2, 96.1, 86.9, 84.5, 83.9),
    (72.57, 39.03, 118.76, 62.25, 84.13, 44.59, 44.32),
    (19.34, 9.67, 118.76, 62.25, 29.71, 14.86, 44.32),
    (19.34, 9.67, 32.79, 16.39, 22.16, 11.08, 10.11),
)
_BOXLIB_MG = Published(
    "BoxLib MG C",
    "copy-shift",
    (66.1, 19.0, 13.6, 11.1, 9.9, 3.3, 0.0, 0.1),
    (68.7, 5.2, 0.7, 1.1, 1.1, 0.4, 0.2, 0.4),
    (20.74, 10.37, 27.78, 13.89, 2.86, 1.43, 1.43),
    (5.38, 2.69, 6.37, 3.18, 0.41, 0.21, 0.21),
    (5.38, 2.69, 3.75, 1.87, 0.41, 0.21, 0.21),
)
_LULESH = Published(
    "LULESH",
    "symmetric-differences",
    (58.6, 7.3, 4.0, 7.2, 0.4, 0.0, 0.0, 0.0),
    (29.4, 0.9, 0.6, 0.8, 0.7, 0.4, 0.5, 0.5),
    (19.80, 9.90, 3.93, 1.97, 5.94, 2.97, 1.29),
    (5.25, 2.63, 0.56, 0.28, 0.86, 0.43, 0.04),
    (5.25, 2.63, 0.56, 0.28, 0.86, 0.43, 0.04),
)
_PARTISN = Published(
    "PARTISN",
    "symmetric-differences",
    (30.6, 0.1, 0.1, 0.1, 0.0, 0.0, 0.0, 0.0),
    (23.4, 5.7, 5.2, 0.2, 0.2, 0.2, 0.2, 0.2),
    (5.65, 3.82, 4.23, 4.10, None, None, 2.13),
    (3.69, 1.85, 0.29, 0.14, None, None, 0.14),
    (3.69, 1.85, 0.27, 0.14, None, None, 0.14),
)

LIKE = {
    "lulesh-512": _LULESH,
    "snap-168": _PARTISN,
    "hpcg-216": None,
    "boxlibmg-64": _BOXLIB_MG,
    "nekbone-256": _NEKBONE,
    "amg-125": _AMG,
    "cns-512": _CNS,
    "miniamr-512": None,
}
"""The recorded applications, and the dissertation's of their kind. SNAP is PARTISN's proxy; nothing in the
dissertation is like miniAMR, which is refined adaptively (BoxLib CNS is not)."""

ELSE = "symmetric-differences"
"""The best basis where there is nothing to go by: stencils are sparse in it."""
