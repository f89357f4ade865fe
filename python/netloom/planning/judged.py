"""Designs judged: what the applications of a plan take on them by loads and by packets, beside the estimate.

Every application runs in every order of the plan (of one that is drawn, its first draw) on each design with
the tables of `ftree`, adaptively, and with tables that are optimised for it; on a dragonfly with `dla`,
`ugal` and `minimal`. All are against one run: on the same hosts of the cheapest tree without taper,
adaptively. As many copies run as fit, fewer where they would send too much to wait for. A trace whose share
the plan does not tell runs as it was recorded, and the ratio of the run times is its slowdown. Of all else
the messages of a phase are sent at once, and what is no wire time takes as long as before: 1 - f + f (ratio).

Where packets and the estimate are more than `APART` apart, `because` says why, by what is measured:
`collisions` (the loads of the tables, or of random minimal ways, say as much as the packets do), `rounds`
(they do not, but added up round by round they do: what every rank sends to the next one, to the one after
that, and so on, as exchanges of all with all go), `blocking` (neither does, and adaptively routed packets are
as quick as estimated), `bursts` (adaptively routed packets are slow, too), `quicker` (than estimated: a
recorded run waits, and transfers take place meanwhile; or the run that it is against had queues of its own;
or, on a dragonfly, `ugal` splits better than random ways do; or messages are so small that latency fills
the run, and less of it is on the wire than the share that was given).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from netloom.errors import FabricError, NetloomError
from netloom.planning.dragonflies import loaded, preferred
from netloom.planning.placed import Application, Network, busiest_host, time_left
from netloom.planning.pool import each
from netloom.planning.runs import scenario_of
from netloom.simulating.skipping import Skipping, told_of

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes

ROUTINGS = ("ftree", "adaptive", "optimized")
"""Tables of every day, the least loaded way packet by packet, and tables made for the application."""
OF_DRAGONFLIES = ("dla", "ugal", "minimal")
"""Tables of minimal ways; minimal way or detour, packet by packet; minimal ways drawn packet by packet."""
_TABLES = ("ftree", "optimized", "dla")
_ADAPTIVE = ("adaptive", "ugal")
MOST_PACKETS = 1_000_000
"""Packets that the copies of an application may send in a run, unless one copy sends more."""
APART = 0.15
"""How far packets may be from the estimate before a reason is looked for."""
_PACKET = 4096


@dataclass
class _Cell:
    """An application on some hosts of a network: seconds of its bytes, seconds of its runs."""

    bound_s: float | None = None
    exact: bool = True
    host_s: float | None = None
    loads_s: dict[str, float] = field(default_factory=dict)
    ran_s: dict[str, float] = field(default_factory=dict)
    rounds_s: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    skipped: Skipping | None = None


@dataclass(frozen=True)
class _Design:
    """What is judged: which it is, its spec or path, the network, hosts that applications lie on."""

    which: str
    spec: str
    network: Network
    hosts: int
    routings: tuple[str, ...] = ROUTINGS


def judged(
    source: str | os.PathLike[str],
    result: Mapping[str, Any],
    *,
    today: tuple[str, Fabric] | None = None,
    skip_repeats: float | None = None,
    threads: int = 0,
    until: float | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any] | None:
    """A plan's chosen design, its neighbours on the front, what it compares with, the full one, and today's.

    Parameters
    ----------
    source : path
        The plan (.toml).
    result : mapping
        What `netloom.plan` answers to it.
    today : (str, Fabric), optional
        The fabric that the site has, and its spec or path: judged as it is, no design of this plan.
    skip_repeats : float, optional
        The error allowed where iterations are not simulated again; None: all are.
    threads : int, default 0
        Runs side by side; 0 is one a core.
    until : float, optional
        When to stop, by `time.monotonic`; what was not run by then is None.
    progress : callable, optional
        Called with the applications on networks that are done and all that are to do.

    Returns
    -------
    dict, or None
        `judged` in `docs/schemas/plan.json`; None if no design is without taper.

    Raises
    ------
    FabricError
        If an application has no room on the present fabric.
    SimulationError, RoutingError
        If a run cannot go on.

    Examples
    --------
    >>> result = netloom.plan("plan.toml")
    >>> judged("plan.toml", result)["designs"][0]["slowdown"]["adaptive"]
    1.021...
    """
    full = result["full"]
    if full is None:
        return None
    speed = result["speed_gbps"]
    applications = Application.all_of(source, result)
    designs = [
        _Design(which, one["spec"], Network.of(one["spec"], speed), result["hosts"])
        for which, one in named(result)
    ]
    if (dragonfly := preferred(result)) is not None:
        network = Network.of(dragonfly["spec"], speed)
        designs.append(_Design("dragonfly", dragonfly["spec"], network, result["hosts"], OF_DRAGONFLIES))
    if today is not None:
        designs.append(_of_today(*today, applications, result["hosts"]))
    reference = next(one for one in designs if one.spec == full["spec"])
    places = {
        (a.name, order, n): _places(a, order, n, result)
        for a in applications
        for order in result["orders"]
        for n in dict.fromkeys(design.hosts for design in designs)
    }
    # The chosen design comes first: a time limit shall leave what matters most.
    first = sorted(designs, key=lambda one: _FIRST.get(one.which, len(_FIRST)))
    work: dict[tuple[str, str, str, int], tuple[_Design, Application]] = {}
    for design in first:
        for a in applications:
            for order in result["orders"]:
                for on in (reference, design):
                    work[on.spec, a.name, order, design.hosts] = (on, a)

    def run(key: tuple[str, str, str, int]) -> _Cell:
        on, a = work[key]
        return _measured(on, a, places[key[1:]], until, skip_repeats)

    cells = each(work, run, threads=threads, progress=progress)
    rows = []
    for design in designs:
        of = [
            _row(design, a, order, places[a.name, order, design.hosts], here, there)
            for a in applications
            for order in result["orders"]
            for here, there in [
                [cells[spec, a.name, order, design.hosts] for spec in (design.spec, full["spec"])]
            ]
        ]
        rows.append(
            {
                "which": design.which,
                "spec": design.spec,
                **_mix(of, applications, design.routings),
                "applications": of,
            }
        )
    routings = dict.fromkeys(routing for design in designs for routing in design.routings)
    skipped = told_of([cell.skipped for cell in cells.values()])
    return {"routings": list(routings), "designs": rows, **skipped}


_FIRST = {"chosen": 0, "today": 1, "dragonfly": 2}


def named(result: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The designs of a plan that are judged: the chosen one, its neighbours, those compared, the full one."""
    found: dict[str, tuple[str, Mapping[str, Any]]] = {}
    if (chosen := result["chosen"]) is not None:
        front = result["designs"]
        for at, which in ((chosen - 1, "cheaper"), (chosen, "chosen"), (chosen + 1, "dearer")):
            if 0 <= at < len(front):
                found[front[at]["spec"]] = (which, front[at])
    for one in result["compared"]:
        found.setdefault(one["spec"], ("compared", one))
    if result["full"] is not None:
        found.setdefault(result["full"]["spec"], ("full", result["full"]))
    return list(found.values())


def _of_today(source: str, fabric: Fabric, applications: Sequence[Application], hosts: int) -> _Design:
    hosts = min(hosts, fabric.hosts)
    for a in applications:
        if a.each > hosts:
            text = f'{source}: expected room for application "{a.name}", {a.each} hosts; found {hosts} hosts'
            raise FabricError(text)
    return _Design("today", source, Network.today(source, fabric), hosts)


def _places(a: Application, order: str, hosts: int, result: Mapping[str, Any]) -> list[list[int]]:
    """The hosts of the copies that run: as many as fit, and as send no more than may be sent."""
    from netloom import _core

    fit = min(a.copies, hosts // a.each)
    placed = _core.plan_hosts(order, hosts, fit, a.each, seed=result["seed"], draw=0)
    packets = max(1.0, a.traffic.total_bytes / _PACKET)
    return placed[: max(1, min(fit, int(MOST_PACKETS / packets)))]


def _measured(
    design: _Design,
    a: Application,
    hosts: Sequence[Sequence[int]],
    until: float | None,
    skip_repeats: float | None,
) -> _Cell:
    """What one application takes on one network; what there was no time for is missing."""
    from netloom import _core

    skipping = None if skip_repeats is None else Skipping(skip_repeats)
    cell, network = _Cell(skipped=skipping), design.network
    own = design.which != "today"

    tables: dict[str, Routes] = {}
    try:
        time_left(until)
        placed = list(a.on(network, hosts))
        for routing in design.routings:
            if routing not in _TABLES:
                continue
            try:
                if routing != "optimized":
                    tables[routing] = _core.route(routing, network.fabric, threads=1)
                else:
                    whole = a.placed(a.traffic, network, hosts)
                    made = _core.optimize(network.fabric, whole, threads=1, time_limit=time_left(until))
                    tables[routing] = made.routes
                _load(cell, routing, network, tables[routing], placed, until)
            except NetloomError as error:
                if own:
                    raise
                cell.refused[routing] = str(error)
        if design.which == "dragonfly":
            # As its estimate on the front: the tables' bound is that of any ways at all.
            ratio, host = loaded(network, a, hosts, until), cell.host_s or 0.0
            cell.bound_s, cell.loads_s["minimal"] = host * ratio["better"], host * ratio["minimal"]
        for routing in design.routings:
            if routing in cell.refused:
                continue
            try:
                scenario = scenario_of(a.told, network.source, hosts=network.names(hosts))
                ran = _core.simulate(
                    scenario,
                    routing,
                    routes=tables.get(routing),
                    time_limit=time_left(until),
                    skip_repeats=skip_repeats,
                )
            except NetloomError as error:
                if own:
                    raise
                cell.refused[routing] = str(error)
                continue
            if cell.skipped is not None:
                cell.skipped.add(ran)
            if ran.stopped is None:
                ran_s = ran.end_ps / 1e12
                # A recorded run waits: its seconds are not those of its bytes.
                if not a.runs and routing in tables and ran_s > (1 + APART) * cell.loads_s[routing]:
                    cell.rounds_s[routing] = _in_rounds(a, network, hosts, tables[routing], until)
                cell.ran_s[routing] = ran_s
    except TimeoutError:
        pass
    return cell


def _load(
    cell: _Cell,
    routing: str,
    network: Network,
    tables: Routes,
    placed: Sequence[tuple[float, Any]],
    until: float | None,
) -> None:
    """Puts down what the tables' fullest link takes, phase by phase, and what the bound says."""
    from netloom import _core

    bound = load = host = 0.0
    # Of other shapes the bound is that of any routes at all: theirs may take detours.
    tree = network.fabric.shape["kind"] == "tree"
    speed = float(max(network.fabric.link_speeds())[0])
    for often, traffic in placed:
        loads = _core.loads(network.fabric, tables, traffic, threads=1, time_limit=time_left(until))
        if loads.stopped is not None:
            raise TimeoutError
        if loads.max > 0:
            seconds = loads.max_seconds / loads.max
            bound += often * (loads.ar_bound if tree else loads.any_bound) * seconds
            load += often * loads.max_seconds
            host += often * busiest_host(traffic) / speed
            cell.exact &= tree and loads.ar_bound_exact
    cell.bound_s, cell.host_s, cell.loads_s[routing] = bound, host, load


def _in_rounds(
    a: Application,
    network: Network,
    hosts: Sequence[Sequence[int]],
    tables: Routes,
    until: float | None,
) -> float:
    """Seconds of the fullest link of every round, rounds one after the other."""
    from netloom import _core

    total = 0.0
    for often, phase in a.phases:
        for sent in a.rounds(phase, network, hosts):
            loads = _core.loads(network.fabric, tables, sent, threads=1, time_limit=time_left(until))
            if loads.stopped is not None:
                raise TimeoutError
            total += often * loads.max_seconds
    return total


def _row(
    design: _Design,
    a: Application,
    order: str,
    places: Sequence[Sequence[int]],
    here: _Cell,
    there: _Cell,
) -> dict[str, Any]:
    """An application in an order: bound, loads and packets against the full tree, and why they are apart."""
    estimate = None
    if here.bound_s is not None and there.host_s:
        estimate = a.estimate(here.bound_s / there.host_s)
    loads = {
        routing: a.estimate(here.loads_s[routing] / there.host_s)
        if there.host_s and routing in here.loads_s
        else None
        for routing in design.routings
        if routing not in _ADAPTIVE
    }
    best = there.ran_s.get("adaptive")
    slowed = {
        routing: a.slowdown(here.ran_s[routing] / best) if best and routing in here.ran_s else None
        for routing in design.routings
    }
    (adaptive,) = (routing for routing in design.routings if routing in _ADAPTIVE)
    apart = {
        routing: None if estimate is None or slow is None else 100 * (slow / estimate - 1)
        for routing, slow in slowed.items()
    }
    because = {
        routing: _because(
            far, slowed[routing], loads.get(routing), apart[adaptive], _by_rounds(here, routing)
        )
        for routing, far in apart.items()
    }
    return {
        "name": a.name,
        "order": order,
        "copies": len(places),
        "estimate": estimate,
        "exact": here.exact,
        "loads": loads,
        "slowdown": slowed,
        "apart_percent": apart,
        "because": because,
        "refused": here.refused,
    }


def _by_rounds(cell: _Cell, routing: str) -> bool:
    """Whether a run takes as long as its rounds do, one after the other."""
    rounds_s = cell.rounds_s.get(routing, 0.0)
    return rounds_s > 0 and abs(cell.ran_s[routing] / rounds_s - 1) <= APART


def _because(
    far: float | None, slow: float | None, loads: float | None, adaptive: float | None, rounds: bool
) -> str | None:
    """Why packets and the estimate are apart; None if they are not."""
    most = 100 * APART
    if far is None or slow is None or abs(far) <= most:
        return None
    if far < 0:
        return "quicker"
    if loads is not None and abs(slow / loads - 1) <= APART:
        return "collisions"
    if rounds:
        return "rounds"
    return "blocking" if loads is not None and adaptive is not None and adaptive <= most else "bursts"


def _mix(
    rows: Sequence[Mapping[str, Any]], applications: Sequence[Application], routings: Sequence[str]
) -> dict[str, Any]:
    """The mix: every application by its weight, every order alike; None where one is missing."""
    weights = {a.name: a.weight for a in applications}
    orders = len(rows) / len(applications)

    def mean(values: Sequence[float | None]) -> float | None:
        known = [
            weights[row["name"]] * value for row, value in zip(rows, values, strict=True) if value is not None
        ]
        return sum(known) / orders / sum(weights.values()) if len(known) == len(rows) else None

    return {
        "estimate": mean([row["estimate"] for row in rows]),
        "slowdown": {routing: mean([row["slowdown"][routing] for row in rows]) for routing in routings},
    }
