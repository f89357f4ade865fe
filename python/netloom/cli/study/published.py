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
    """

    name: str
    basis: str
    best_basis: tuple[float, ...]
    dictionary: tuple[float, ...]
    coefficients: tuple[float | None, ...]


_NEKBONE = Published(
    "Nekbone",
    "symmetric-differences",
    (22.8, 10.6, 9.1, 10.2, 7.4, 7.1, 7.1, 7.2),
    (16.5, 4.8, 3.2, 4.9, 4.8, 2.4, 1.4, 1.4),
    (29.06, 20.24, 20.38, 20.64, 16.13, 13.06, 11.33),
)
_AMG = Published(
    "AMG",
    "symmetric-differences",
    (49.2, 8.8, 6.0, 7.8, 2.2, 1.8, 1.7, 1.7),
    (50.2, 12.0, 3.3, 11.2, 9.9, 1.8, 1.7, 1.6),
    (79.22, 61.88, 108.85, 85.86, None, None, 69.21),
)
_CNS = Published(
    "BoxLib CNS",
    "symmetric",
    (97.6, 97.1, 97.5, 97.4, 94.6, 88.1, 84.2, 83.9),
    (118.0, 97.6, 92.1, 96.2, 96.1, 86.9, 84.5, 83.9),
    (72.57, 39.03, 118.76, 62.25, 84.13, 44.59, 44.32),
)
_BOXLIB_MG = Published(
    "BoxLib MG C",
    "copy-shift",
    (66.1, 19.0, 13.6, 11.1, 9.9, 3.3, 0.0, 0.1),
    (68.7, 5.2, 0.7, 1.1, 1.1, 0.4, 0.2, 0.4),
    (20.74, 10.37, 27.78, 13.89, 2.86, 1.43, 1.43),
)
_LULESH = Published(
    "LULESH",
    "symmetric-differences",
    (58.6, 7.3, 4.0, 7.2, 0.4, 0.0, 0.0, 0.0),
    (29.4, 0.9, 0.6, 0.8, 0.7, 0.4, 0.5, 0.5),
    (19.80, 9.90, 3.93, 1.97, 5.94, 2.97, 1.29),
)
_PARTISN = Published(
    "PARTISN",
    "symmetric-differences",
    (30.6, 0.1, 0.1, 0.1, 0.0, 0.0, 0.0, 0.0),
    (23.4, 5.7, 5.2, 0.2, 0.2, 0.2, 0.2, 0.2),
    (5.65, 3.82, 4.23, 4.10, None, None, 2.13),
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
