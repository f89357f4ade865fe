"""Dragonflies for the machine of a plan: counted, priced, and set in one front with its trees.

A dragonfly has g groups of a switches, p hosts and h ports for global cables a switch, every two switches of
a group joined by a local cable, every two groups by k global ones; p + a - 1 + h is at most the switches'
ports. As few groups as hold the hosts, and as few ports for hosts as make these enough. Of all such shapes
those are kept for which no other is both as cheap and as well balanced (Kim et al., sec. 3: a = 2p = 2h; the
balance is the smaller of k (g - 1) / (a p) and a / 2p, at most 1), and `MOST` of these, evenly by price, get
their loads.

The model of levels does not hold here: a packet may take a detour through a third group, over two global
cables. T is the fullest link's load over the busiest host's: for the estimate, phase by phase, with random
minimal ways or with Valiant's random detours, whichever is less; for the bound, what any ways need. The best
split of ways is not the estimate, as it is for trees: `ugal` does not find it (`docs/methods/planning.md`).
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from netloom import reading
from netloom.errors import FormatError
from netloom.planning.placed import Application, Network, busiest_host, time_left
from netloom.planning.pool import each

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SCHEMES: tuple[Literal["minimal", "valiant"], ...] = ("minimal", "valiant")
"""Ways of packets whose loads are told; the estimate has the better of them in every phase."""
MOST = 24
"""Dragonflies whose loads are computed."""


@dataclass(frozen=True)
class _Shape:
    """Numbers of a dragonfly: hosts a switch, switches a group, groups, cables between two groups."""

    hosts: int
    switches: int
    groups: int
    cables: int
    radix: int

    @property
    def global_ports(self) -> int:
        """Ports of a switch for global cables."""
        return -(-self.cables * (self.groups - 1) // self.switches)

    @property
    def spec(self) -> str:
        """As `netloom fabric new` takes it."""
        ports = f"p={self.hosts},a={self.switches},h={self.global_ports}"
        return f"dragonfly:{ports},g={self.groups},links={self.cables}"

    @property
    def counts(self) -> tuple[int, int, int]:
        """Switches, local cables, global cables."""
        local = self.groups * math.comb(self.switches, 2)
        return self.groups * self.switches, local, self.cables * math.comb(self.groups, 2)

    @property
    def balance(self) -> float:
        """Of global cables, or of switches a group, what Kim et al. ask for; 1 is all of it."""
        out = self.cables * (self.groups - 1) / (self.switches * self.hosts)
        return min(1.0, out, self.switches / (2 * self.hosts))


def dragonflies(
    source: str | os.PathLike[str],
    result: Mapping[str, Any],
    *,
    local_m: float,
    threads: int = 0,
    until: float | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any]:
    """Dragonflies for a plan's machine, and the front of price against estimate of them and the trees.

    Parameters
    ----------
    source : path
        The plan (.toml).
    result : mapping
        What `netloom.plan` answers to it.
    local_m : float
        Length of a cable within a group, m: the cheapest of the catalogue that is long enough.
    threads : int, default 0
        Applications side by side; 0 is one a core.
    until : float, optional
        When to stop, by `time.monotonic`; dragonflies that are not done by then are named in `late`.
    progress : callable, optional
        Called with the applications on dragonflies that are done and all that are to do.

    Returns
    -------
    dict
        `dragonflies` in `docs/schemas/plan.json`.

    Raises
    ------
    FormatError
        If the catalogue has no cable that is so long.

    Examples
    --------
    >>> result = netloom.plan("plan.toml")
    >>> dragonflies("plan.toml", result, local_m=5)["front"][0]["family"]
    'tree'
    """
    from netloom import _core

    own = {one["level"]: one for one in result["catalogue"]["cables"]}
    # Plans of two levels have no spines' cables.
    between = own.get("spines", own["leaves"])
    cables = {
        "hosts": own["hosts"],
        "local": _cheapest(result, local_m),
        "global": {key: between[key] for key in ("kind", "length_m", "price", "power_w")},
    }
    shapes = [
        shape for one in result["catalogue"]["switches"] for shape in _shapes(result["hosts"], one["radix"])
    ]
    kept = _balanced([_priced(shape, result, cables) for shape in shapes])
    applications = Application.all_of(source, result)
    at = {
        (a.name, order): _core.plan_hosts(
            order, result["hosts"], a.copies, a.each, seed=result["seed"], draw=0
        )
        for a in applications
        for order in result["orders"]
    }
    networks = {one["spec"]: Network.of(one["spec"], result["speed_gbps"]) for one in kept}
    work = {
        (one["spec"], a.name, order): a for one in kept for a in applications for order in result["orders"]
    }

    def run(key: tuple[str, str, str]) -> dict[str, float] | None:
        spec, name, order = key
        try:
            time_left(until)
            return loaded(networks[spec], work[key], at[name, order], until)
        except TimeoutError:
            return None

    found = each(work, run, threads=threads, progress=progress)
    designs, late = [], []
    for one in kept:
        rows = [
            (a, order, found[one["spec"], a.name, order]) for a in applications for order in result["orders"]
        ]
        if any(row is None for _, _, row in rows):
            late.append(one["spec"])
            continue
        listed = [_row(a, order, row, result) for a, order, row in rows if row is not None]
        designs.append({**one, "slowdown": _mix(listed, applications), "applications": listed})
    front = _front(result, designs)
    return {
        "cables": [{"level": level, **cables[level]} for level in ("local", "global")],
        "counted": len(shapes),
        "designs": designs,
        "late": late,
        "front": front,
        "chosen": _chosen(result, front),
    }


def preferred(result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The dragonfly that the plan's goal prefers to the others; the least estimate where none meets it."""
    found = result["dragonflies"]
    if found is None or not found["designs"]:
        return None
    rows = [_told("dragonfly", n, one) for n, one in enumerate(found["designs"])]
    best = _chosen(result, rows)
    if best is None:
        best = min(range(len(rows)), key=lambda k: (rows[k]["estimate"], rows[k]["price"]))
    chosen: Mapping[str, Any] = found["designs"][best]
    return chosen


def loaded(
    network: Network, a: Application, hosts: Sequence[Sequence[int]], until: float | None
) -> dict[str, float]:
    """How many times as long bytes take as those of the busiest host: by each scheme, and at least."""
    from netloom import _core

    total = dict.fromkeys((*SCHEMES, "better", "bound", "host"), 0.0)
    for often, traffic in a.on(network, hosts):
        found = []
        for scheme in SCHEMES:
            left = time_left(until)
            found.append(_core.scheme_loads(network.fabric, traffic, scheme, threads=1, time_limit=left))
            if found[-1].stopped is not None:
                raise TimeoutError
            total[scheme] += often * found[-1].max
        total["better"] += often * min(one.max for one in found)
        total["bound"] += often * max(one.any_bound for one in found)
        total["host"] += often * busiest_host(traffic)
    host = total.pop("host")
    return {what: load / host if host else 1.0 for what, load in total.items()}


def _cheapest(result: Mapping[str, Any], metres: float) -> dict[str, Any]:
    """The cable that is bought for a length; the core has read this catalogue before."""
    path = Path(result["catalogue"]["file"])
    try:
        document = tomllib.loads(reading.gunzip(reading.whole(path), str(path)).decode())
    except tomllib.TOMLDecodeError as error:
        # The core reads TOML 1.1, Python 1.0.
        raise FormatError(f"{path}: {error}", str(path)) from None
    fit = [
        one
        for one in document["cable"]
        if one["speed_gbps"] == result["speed_gbps"] and one.get("most_m", math.inf) >= metres
    ]
    if not fit:
        speed = f"{result['speed_gbps']:g} Gb/s"
        text = f"{path}: expected a cable of {metres:g} m for dragonflies, {speed}; found none"
        raise FormatError(text, str(path))
    told = [
        {
            "kind": one["kind"],
            "length_m": float(metres),
            "price": one.get("price", 0.0) + one.get("price_per_m", 0.0) * metres,
            "power_w": float(one.get("power_w", 0.0)),
        }
        for one in fit
    ]
    return min(told, key=lambda one: float(one["price"]))


def _shapes(hosts: int, radix: int) -> Iterator[_Shape]:
    """All shapes that hold the hosts; three groups at least, as two have no detours."""
    for switches in range(2, radix):
        for down in range(1, radix - switches + 1):
            groups = -(-hosts // (switches * down))
            if groups < 3 or -(-hosts // (switches * groups)) != down:
                continue
            # Of h ports k cables to each of the other groups.
            most = (radix - down - switches + 1) * switches // (groups - 1)
            for cables in range(1, most + 1):
                yield _Shape(down, switches, groups, cables, radix)


def _priced(
    shape: _Shape, result: Mapping[str, Any], cables: Mapping[str, Mapping[str, Any]]
) -> tuple[float, dict[str, Any]]:
    """How well balanced a shape is; what it has, costs and takes."""
    (switch,) = [one for one in result["catalogue"]["switches"] if one["radix"] == shape.radix]
    switches, local, between = shape.counts
    count = {"hosts": result["hosts"], "local": local, "global": between}
    price = switches * switch["price"] + sum(count[level] * cables[level]["price"] for level in count)
    power = switches * switch["power_w"] + sum(count[level] * cables[level]["power_w"] for level in count)
    used = shape.hosts + shape.switches - 1
    told = {
        "spec": shape.spec,
        "radix": shape.radix,
        "hosts_per_switch": shape.hosts,
        "switches_per_group": shape.switches,
        "groups": shape.groups,
        "cables_between_groups": shape.cables,
        "host_ports": switches * shape.hosts,
        "switches": switches,
        "cables": [{"level": level, "kind": cables[level]["kind"], "count": count[level]} for level in count],
        "spare_ports": switches * (shape.radix - used) - 2 * between,
        "price": price,
        "price_per_host": price / result["hosts"],
        "power_w": power,
        "pays_below": None,
    }
    if result["node_price"] is not None and result["full"] is not None:
        node = result["node_price"]
        told["pays_below"] = (node + result["full"]["price_per_host"]) / (node + told["price_per_host"])
    return shape.balance, told


def _balanced(priced: Sequence[tuple[float, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Those that no other is as cheap and as well balanced as; `MOST` of them, evenly by price."""
    front: list[dict[str, Any]] = []
    best = 0.0
    for balance, one in sorted(priced, key=lambda of: (of[1]["price"], -of[0], of[1]["spec"])):
        if balance > best:
            front.append(one)
            best = balance
    if len(front) <= MOST:
        return front
    least, most = front[0]["price"], front[-1]["price"]
    kept = {
        min(range(len(front)), key=lambda k: (abs(front[k]["price"] - wanted), k))
        for wanted in (least + (most - least) * step / (MOST - 1) for step in range(MOST))
    }
    return [front[k] for k in sorted(kept)]


def _row(a: Application, order: str, ratio: Mapping[str, float], result: Mapping[str, Any]) -> dict[str, Any]:
    """An application in an order: T by each scheme as slowdowns."""
    told = next(one for one in result["applications"] if one["name"] == a.name)
    share = a.wire_share
    if told["reference"] is not None:
        # The bound is against the run in this order.
        runs = [
            one["run_s"] for one in told["reference"]["runs"] if (one["order"], one["draw"]) == (order, 0)
        ]
        share = min(1.0, share * told["run_s"] / runs[0])
    slowdown = {"bound": max(1.0, share * ratio["bound"]), "estimate": a.estimate(max(1.0, ratio["better"]))}
    slowdown |= {scheme: a.estimate(max(1.0, ratio[scheme])) for scheme in SCHEMES}
    return {"name": a.name, "order": order, "slowdown": slowdown}


def _mix(rows: Sequence[Mapping[str, Any]], applications: Sequence[Application]) -> dict[str, float]:
    weight = {a.name: a.weight for a in applications}
    total = sum(weight[row["name"]] for row in rows)
    return {
        what: sum(weight[row["name"]] * row["slowdown"][what] for row in rows) / total
        for what in ("bound", "estimate", *SCHEMES)
    }


def _told(family: str, number: int, one: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "family": family,
        "number": number,
        "spec": one["spec"],
        "price": one["price"],
        "price_per_host": one["price_per_host"],
        "bound": one["slowdown"]["bound"],
        "estimate": one["slowdown"]["estimate"],
    }


def _front(result: Mapping[str, Any], designs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """All that nothing else is both as cheap and as quick as by the estimates."""
    rows = [_told("tree", n, one) for n, one in enumerate(result["designs"])]
    rows += [_told("dragonfly", n, one) for n, one in enumerate(designs)]
    front: list[dict[str, Any]] = []
    for row in sorted(rows, key=lambda one: (one["price"], one["estimate"])):
        if not front or row["estimate"] < front[-1]["estimate"]:
            front.append(row)
    return front


def _chosen(result: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> int | None:
    """Which the plan's goal prefers, as among trees; None if it has no goal or none meets it."""
    budget, target, node = (result[key] for key in ("budget", "target_slowdown", "node_price"))
    if budget is not None:
        able = [k for k, one in enumerate(rows) if one["price"] <= budget]
        return min(able, key=lambda k: (rows[k]["estimate"], rows[k]["price"]), default=None)
    if target is not None:
        able = [k for k, one in enumerate(rows) if one["estimate"] <= target]
        return min(able, key=lambda k: (rows[k]["price"], rows[k]["estimate"]), default=None)
    if node is None:
        return None
    return min(
        range(len(rows)), key=lambda k: rows[k]["estimate"] * (node + rows[k]["price_per_host"]), default=None
    )
