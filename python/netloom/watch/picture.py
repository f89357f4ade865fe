"""What the counters of an interval say of a fabric, as figures that a screen or Prometheus shows.

A link's utilisation is what it carried over what it could have. Bytes are those on which both ends agree, or
the end that can be trusted (`Counters.measure`). Ticks of waiting are the sender's, in the device's own unit:
they are compared, not converted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.live.polling import column
from netloom.nodes import Nodes

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Counters, Fabric, Job

    Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Level:
    """The links from one level to another, in one direction."""

    name: str
    links: int
    known: int
    """Links of which a counter was read."""
    bytes_per_s: float
    mean_utilisation: float
    max_utilisation: float
    wait_ticks_per_s: float | None


@dataclass(frozen=True)
class Link:
    """A link and how busy it was."""

    source: str
    source_port: int
    target: str
    target_port: int
    bytes_per_s: float
    utilisation: float
    wait_ticks_per_s: float | None


@dataclass(frozen=True)
class JobLoad:
    """What a job's hosts sent and received."""

    name: str
    hosts: int
    sent_bytes_per_s: float
    received_bytes_per_s: float
    max_utilisation: float


@dataclass(frozen=True)
class Picture:
    """A fabric over an interval."""

    seconds: float
    hosts: int
    switches: int
    links: int
    links_unknown: int
    levels: list[Level]
    hottest: list[Link]
    waiting: list[Link]
    """Links on which packets waited most."""
    idle: bool = False
    """Whether hosts sent no more than management does, in small packets."""
    jobs: list[JobLoad] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    """The first links of which no counter was read."""

    def result(self) -> dict[str, Any]:
        """The same for a result."""
        return asdict(self)


def picture(
    fabric: Fabric,
    counters: Counters,
    seconds: float,
    *,
    interval: int = 0,
    jobs: Sequence[Job] = (),
    most: int = 10,
) -> Picture:
    """What an interval of counters shows.

    Parameters
    ----------
    fabric, counters : Fabric, Counters
        The fabric, and what was counted.
    seconds : float
        How long the interval is.
    interval : int
        Which one.
    jobs : sequence of Job
        Whose hosts are added up.
    most : int
        How many links are listed.
    """
    table = fabric.link_table()
    alive = np.asarray(table["alive"], bool)
    found = counters.measure(interval)
    known = (np.asarray(found["ends"]) > 0) & alive
    rate = np.where(known, np.asarray(found["value"], float), 0.0) / seconds
    busy = rate / np.asarray(table["bandwidth_bytes_per_s"], float)
    waits = column(fabric, counters, "wait_ticks", interval=interval)
    ticks = None if waits is None else waits / seconds
    names = Nodes(fabric).labels

    def link(index: int) -> Link:
        waited = None if ticks is None or np.isnan(ticks[index]) else float(ticks[index])
        return Link(
            source=names[table["source"][index]],
            source_port=int(table["source_port"][index]),
            target=names[table["target"][index]],
            target_port=int(table["target_port"][index]),
            bytes_per_s=float(rate[index]),
            utilisation=float(busy[index]),
            wait_ticks_per_s=waited,
        )

    hot = [link(index) for index in np.argsort(-busy, kind="stable")[:most].tolist() if busy[index] > 0]
    waiting: list[Link] = []
    if ticks is not None:
        order = np.argsort(-np.nan_to_num(ticks), kind="stable")[:most].tolist()
        waiting = [link(index) for index in order if ticks[index] > 0]
    return Picture(
        seconds=seconds,
        hosts=fabric.hosts,
        switches=fabric.switches,
        links=int(alive.sum()),
        links_unknown=int((alive & ~known).sum()),
        levels=_levels(fabric, alive, known, rate, busy, ticks),
        hottest=hot,
        waiting=waiting,
        jobs=[_job(fabric, job, rate, busy) for job in jobs],
        unread=[
            f"{names[table['source'][index]]}[{table['source_port'][index]}] → "
            f"{names[table['target'][index]]}[{table['target_port'][index]}]"
            for index in np.flatnonzero(alive & ~known)[:10].tolist()
        ],
        idle=counters.idle_bytes is not None,
    )


def _levels(
    fabric: Fabric,
    alive: npt.NDArray[np.bool_],
    known: npt.NDArray[np.bool_],
    rate: Array,
    busy: Array,
    ticks: Array | None,
) -> list[Level]:
    """Every pair of levels with links, from the hosts up and down again."""
    table = fabric.link_table()
    level = np.concatenate([np.full(fabric.hosts, -1), np.asarray(fabric.switch_table()["level"], int)])
    ends = np.stack([level[table["source"]], level[table["target"]]])
    names: dict[tuple[int, int], str] = {}
    if "groups" in fabric.shape:
        ends, names = _kinds(fabric), _KINDS
    elif "dimensions" in fabric.shape or fabric.shape["kind"] == "graph":
        # Levels are a guess there.
        ends, names = np.minimum(ends, 0), _FLAT
    found = []
    for below, above in sorted({tuple(sorted(pair)) for pair in ends[:, alive].T.tolist()}):
        for start, end in dict.fromkeys([(below, above), (above, below)]):
            of = alive & (ends[0] == start) & (ends[1] == end)
            seen = of & known
            waited = None
            if ticks is not None and not np.isnan(ticks[of]).all():
                waited = float(np.nansum(ticks[of]))
            found.append(
                Level(
                    name=names[start, end] if names else _between(start, end, fabric.levels),
                    links=int(of.sum()),
                    known=int(seen.sum()),
                    bytes_per_s=float(rate[seen].sum()),
                    mean_utilisation=float(busy[seen].mean()) if seen.any() else 0.0,
                    max_utilisation=float(busy[seen].max()) if seen.any() else 0.0,
                    wait_ticks_per_s=waited,
                )
            )
    return found


_KINDS = {(-1, 0): "host → group", (0, -1): "group → host", (0, 0): "within groups", (1, 1): "between groups"}
"""The links of a dragonfly or megafly, by what `_kinds` says of their ends."""

_FLAT = {(-1, 0): "host → switch", (0, -1): "switch → host", (0, 0): "between switches"}
"""Those of a fabric without levels and groups."""


def _kinds(fabric: Fabric) -> npt.NDArray[np.int64]:
    """Both ends of every link: -1 a host, 0 a switch, 1 both ends of a link between groups."""
    table = fabric.link_table()
    group = np.concatenate([np.full(fabric.hosts, -1), np.asarray(fabric.switch_table()["group"], np.int64)])
    ends = np.stack([group[table["source"]], group[table["target"]]])
    other = (ends[0] != ends[1]) & (ends >= 0).all(axis=0)
    kinds = np.where(ends < 0, -1, 0)
    kinds[:, other] = 1
    return kinds


def _between(start: int, end: int, levels: int) -> str:
    return f"{_level_name(start, levels)} → {_level_name(end, levels)}"


def _level_name(level: int, levels: int) -> str:
    if level < 0:
        return "host"
    named = {1: ("leaf",), 2: ("leaf", "spine"), 3: ("leaf", "spine", "core")}.get(levels)
    return f"level {level}" if named is None or level >= len(named) else named[level]


def _job(fabric: Fabric, job: Job, rate: Array, busy: Array) -> JobLoad:
    # Host h's outgoing link is link h.
    sends = np.asarray(job.hosts, int)
    table = fabric.link_table()
    receives = np.isin(np.asarray(table["target"]), sends)
    return JobLoad(
        name=job.name,
        hosts=len(sends),
        sent_bytes_per_s=float(rate[sends].sum()),
        received_bytes_per_s=float(rate[receives].sum()),
        max_utilisation=float(max(busy[sends].max(initial=0.0), busy[receives].max(initial=0.0))),
    )
