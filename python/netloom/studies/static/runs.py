"""Basic MCF, Partitioned Binary and both combined, each from ftree's tables, never from the search."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from netloom import _core, exact
from netloom.errors import OptimizeError
from netloom.studies.static.published import like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom._core import Fabric, Traffic

MODELS = ("basic", "partitioned", "combined")
"""The columns of table 3.2: Basic MCF (sec. 3.3.2), Partitioned Binary (3.3.3), both combined (3.4)."""
TREES = (
    "fattree:pods=2,leaves=2,hosts=4,spines=2,groups=2,cores=2",
    "fattree:pods=4,leaves=2,hosts=4,spines=2,groups=2,cores=2",
    "fattree:pods=4,leaves=4,hosts=8,spines=4,groups=2,cores=4",
)
"""Trees of quartz1's shape, tapered 2:1 at the leaves, with 16, 32 and 128 hosts."""


def patterns(hosts: int) -> list[str]:
    """The five synthetic rows of the table, for so many hosts."""
    grid = "x".join(map(str, _grid(hosts)))
    return [
        f"stencil:{grid}",
        "bisection",
        "bisection-shuffle:seed=1",
        "all-to-all",
        "bisection-shuffle:seed=1,noise=0.05",
    ]


def _grid(hosts: int) -> tuple[int, int, int]:
    """Three factors as near to each other as can be, the largest first."""
    found = [
        (hosts // (z * y), y, z)
        for z in range(1, hosts + 1)
        if hosts % z == 0
        for y in range(z, hosts // z + 1)
        if hosts // z % y == 0 and hosts // (z * y) >= y
    ]
    return min(found, key=lambda sides: (sides[0] - sides[2], sides))


@dataclass(frozen=True)
class Row:
    """A cell of the table: a model on a traffic.

    Attributes
    ----------
    fabric, traffic : str
        As given.
    hosts : int
        Of the fabric.
    model : str
        One of `MODELS`.
    ftree_gap_percent : float
        The largest load of ftree's tables over the adaptive-routing bound, less 1: where the model starts.
    own_gap_percent : float or None
        The same of the routes that the model itself gave; None where it gave none.
    possible_gap_percent : float
        The same of netloom's certified lower bound for tables by destination.
    bound_gap_percent : float or None
        The same of the bound that the solver proved; None where it proved none.
    status : str
        `optimal`, `feasible` (a heuristic that ended), `time-limit`, `interrupted`, `too-large`.
    seconds : float or None
        For building and solving.
    variables, constraints : int or None
        Of the largest model that was solved.
    published_as : str or None
        The row of table 3.2 that has this shape.
    published_percent : float or None
        Its AR gap there.
    published_possible : str or None
        What tables by destination can reach, as far as it was known there.
    """

    fabric: str
    hosts: int
    traffic: str
    model: str
    ftree_gap_percent: float
    own_gap_percent: float | None
    possible_gap_percent: float
    bound_gap_percent: float | None
    status: str
    seconds: float | None
    variables: int | None
    constraints: int | None
    published_as: str | None
    published_percent: float | None
    published_possible: str | None

    def result(self) -> dict[str, Any]:
        """As results tell it."""
        return asdict(self)


def solved(
    spec: str,
    fabric: Fabric,
    source: str,
    traffic: Traffic,
    model: str,
    *,
    time_limit: float | None,
    threads: int = 0,
    seed: int = 0,
) -> Row:
    """Runs one model from ftree's tables.

    Parameters
    ----------
    spec, source : str
        Names of the fabric and of the traffic.
    time_limit : float, optional
        Seconds by the clock for the solver; of `combined`, half for each part.

    Raises
    ------
    OptimizeError
        If no solver is installed.
    """
    start = _core.route("ftree", fabric, threads=threads)
    began = _core.loads(fabric, start, traffic, threads=threads)
    bound = began.ar_bound

    def gap(load: float | None) -> float | None:
        return None if load is None else (load / bound - 1) * 100 if bound > 0 else 0.0

    known = like(source)
    told: dict[str, Any] = {
        "own_gap_percent": None,
        "bound_gap_percent": None,
        "status": "too-large",
        "seconds": None,
        "variables": None,
        "constraints": None,
    }
    try:
        found = exact.solve(
            fabric, traffic, model, start=start, time_limit=time_limit, threads=threads, seed=seed
        )
    except OptimizeError as error:
        if "small fabrics" not in str(error):
            raise
    else:
        told = {
            "own_gap_percent": gap(found.own_objective),
            "bound_gap_percent": gap(found.bound),
            "status": found.status,
            "seconds": round(found.seconds, 3),
            "variables": found.variables,
            "constraints": found.constraints,
        }
    return Row(
        fabric=spec,
        hosts=fabric.hosts,
        traffic=source,
        model=model,
        ftree_gap_percent=gap(began.max) or 0.0,
        possible_gap_percent=gap(began.lower_bound) or 0.0,
        published_as=None if known is None else known.name,
        published_percent=None if known is None else known.of(model),
        published_possible=None if known is None else known.possible,
        **told,
    )


def known_models(names: Sequence[str]) -> list[str]:
    """Those of `MODELS` that are named, in their order.

    Raises
    ------
    ValueError
        If a name is none of them.
    """
    for name in names:
        if name not in MODELS:
            raise ValueError(f"expected some of {', '.join(MODELS)}, found {name!r}")
    return [model for model in MODELS if model in names]
