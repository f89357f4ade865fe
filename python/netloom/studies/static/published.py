"""Table 3.2 of Taffet's dissertation: AR gaps in percent after 12 minutes of Gurobi on 48 cores."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """A row.

    Attributes
    ----------
    name : str
        As it is called there; a star is its "trace*".
    basic, partitioned, combined : float or None
        AR gaps in percent; None where nothing was found.
    possible : str
        What tables by destination can reach, as far as it was known there.
    """

    name: str
    basic: float | None
    partitioned: float | None
    combined: float | None
    possible: str

    def of(self, model: str) -> float | None:
        """The gap of a model, by its name here."""
        return {"basic": self.basic, "partitioned": self.partitioned, "combined": self.combined}.get(model)


ROWS = {
    "stencil": Published("Stencil", 16.67, 0.0, 0.0, "0.00 %"),
    "bisection": Published("Bisection", 100.0, 0.0, 0.0, "0.00 %"),
    "bisection-shuffle": Published("BS Rand Shuf", 100.0, 0.0, 0.0, "0.00 %"),
    "all-to-all": Published("All-to-all", None, 0.0, 0.0, "0.00 %"),
    "bisection-shuffle+noise": Published("BS RS+noise", 92.75, 1.83, 1.83, "0.88-1.64 %"),
    "boxlibmg": Published("BoxLib MG C", 1.85, 12.68, 1.85, "0.06-0.67 %"),
    "amg": Published("AMG", 0.0, 0.0, 0.0, "0.00 %"),
    "cns": Published("BoxLib CNS", None, 0.37, 0.24, "<= 0.08 %"),
    "snap": Published("PARTISN", 7.98, 13.12, 7.98, "7.98 %"),
    "mg": Published("MultiGrid C", 5.58, 5.28, 5.28, "4.14-5.00 %"),
    "nekbone": Published("Nekbone", 7.78, 6.13, 5.32, "<= 0.02 %"),
    "lulesh": Published("LULESH", 3.92, 4.58, 3.92, "2.52-2.97 %"),
    "boxlibmg-star": Published("BoxLib MG C*", 1.20, 6.03, 1.20, "<= 0.28 %"),
    "amg-star": Published("AMG*", 0.0, 0.0, 0.0, "0.00 %"),
    "cns-star": Published("BoxLib CNS*", None, 0.29, 0.13, "<= 0.03 %"),
    "snap-star": Published("PARTISN*", 3.50, 0.17, 0.17, "<= 0.09 %"),
    "mg-star": Published("MultiGrid C*", 6.68, 2.02, 2.02, "1.94-2.01 %"),
    "nekbone-star": Published("Nekbone*", 3.55, 0.54, 0.54, "<= 0.01 %"),
    "lulesh-star": Published("LULESH*", 0.67, 0.41, 0.47, "<= 0.07 %"),
}
"""By the name of a pattern here, or of a jobs file in `examples/jobs/table`, with or without `-random`. SNAP
is PARTISN's proxy."""


def like(source: str) -> Published | None:
    """The row that a pattern or a jobs file has the shape of."""
    if source.endswith(".toml"):
        return ROWS.get(
            source.replace("\\", "/").rpartition("/")[2].removesuffix(".toml").removesuffix("-random")
        )
    name, _, options = source.partition(":")
    noisy = "noise=" in options and "noise=0," not in f"{options},"
    return ROWS.get(f"{name}+noise" if noisy else name)
