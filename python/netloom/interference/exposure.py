"""How far a run is exposed to neighbours: for what share of its time their bytes are on a link of its own.

Counters do not say whose bytes a link carries. They are shared out as gravity has it: what a job's hosts
send goes to its other hosts in proportion to what these receive, along the routes; a link's bytes are every
job's in proportion to that. So a job whose hosts send nothing exposes nobody, and one whose routes share no
link with another is not exposed to it, whatever it sends.

Bytes of hosts on which no run of the list is are those of one more neighbour, which is not listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.interference.accounts import Array, Carried, JobRun
from netloom.interference.alone import Place
from netloom.interference.presence import Presence

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes


UNLISTED = -1
"""In the place of a run: bytes of none of the list."""


@dataclass(frozen=True)
class Exposure:
    """Of one run.

    Attributes
    ----------
    share : float
        Of its time, in which its neighbours' bytes were on the link where they were most.
    link : int or None
        That link; None where it has no neighbours on any.
    neighbours : tuple of (int, float)
        Places of these runs in the list, `UNLISTED` for those that are in none, and their shares of the
        neighbours' bytes there; largest first.
    covered : float
        The share of its time for which it is known what its hosts' links and those on its ways carried.
    place : Place
        What its hosts' places mean for what it takes alone.
    sent : float
        What its hosts sent, bytes.
    estimated : float
        The same share where neighbours' bytes are most by gravity alone, whatever the links counted: what
        routes that were not in force can be compared by.
    across : float, default 0
        The share of its time in intervals of counters that reach beyond its start or its end.
    contradicted : bool, default False
        Its counters cannot be right: a host of its neither sent nor received, nothing went between its
        switches, or one on its ways sent far more than it received, or far less.
    """

    share: float
    link: int | None
    neighbours: tuple[tuple[int, float], ...]
    covered: float
    place: Place
    sent: float
    estimated: float
    across: float = 0.0
    contradicted: bool = False


CONTRADICTION_SHARE = 0.05
"""Of the bytes that a switch received; what it sent differs by more only where counters are wrong."""


def exposures(
    fabric: Fabric, routes: Routes, runs: Sequence[JobRun], carried: Carried, *, threads: int = 0
) -> list[Exposure]:
    """How far each run is exposed.

    Parameters
    ----------
    fabric : Fabric
    routes : Routes
        Those in force.
    runs : sequence of JobRun
        All that ran, or neighbours are missing.
    carried : Carried
        What links carried meanwhile.
    threads : int, default 0
    """
    table = fabric.link_table()
    between = np.asarray(table["between_switches"], dtype=bool)
    rate = np.asarray(table["bandwidth_bytes_per_s"], dtype=np.float64)
    receiving = _receiving(fabric)
    presence = Presence.of(runs, carried, receiving)
    doubtful = _contradicted(fabric, carried)
    found = []
    for at, run in enumerate(runs):
        total, known = carried.during(run.start_s, run.end_s)
        own = _gravity(fabric, routes, run.hosts, total, receiving, threads)
        others: dict[int, Array] = {}
        for number, other in enumerate(runs):
            start, end = max(run.start_s, other.start_s), min(run.end_s, other.end_s)
            if number != at and end > start:
                meanwhile, _ = carried.during(start, end)
                others[number] = _gravity(fabric, routes, other.hosts, meanwhile, receiving, threads)
        hosts_of_none, theirs_of_none = presence.unlisted(run, float(rate.max()))
        if hosts_of_none:
            others[UNLISTED] = _gravity(fabric, routes, hosts_of_none, theirs_of_none, receiving, threads)
        # Links of hosts too: runs may share a host.
        used = own > 0
        hosts = np.array(run.hosts)
        covered = float(known[[*hosts, *receiving[hosts], *np.flatnonzero(used)]].min())
        theirs = sum(others.values(), np.zeros_like(own))
        share = np.divide(theirs, own + theirs, out=np.zeros_like(own), where=used)
        exposed = np.where(used, total * share / (rate * run.seconds), 0.0)
        # Loads are bytes over a link's rate in that of the fastest.
        estimated = float(np.where(used, theirs, 0.0).max(initial=0.0)) / (float(rate.max()) * run.seconds)
        place = _place(own, theirs, np.where(used, total, 0.0), share, between, rate, hosts)
        sent = float(total[hosts].sum())
        across = carried.across(run.start_s, run.end_s)
        ways = [*hosts, *receiving[hosts], *np.flatnonzero(used)]
        # A host that neither sends nor receives, leaves between which nothing went: those were not counted.
        silent = not (total[hosts] + total[receiving[hosts]]).all()
        cut = used & between
        silent = silent or (bool(cut.any()) and not total[cut].any())
        doubt = across, silent or bool(doubtful[ways].any())
        link = int(np.argmax(exposed))
        if exposed[link] <= 0:
            found.append(Exposure(0.0, None, (), covered, place, sent, estimated, *doubt))
            continue
        parts = sorted(
            ((number, float(one[link] / theirs[link])) for number, one in others.items() if one[link] > 0),
            key=lambda part: (-part[1], part[0]),
        )
        share_s = float(exposed[link])
        found.append(Exposure(share_s, link, tuple(parts), covered, place, sent, estimated, *doubt))
    return found


def _contradicted(fabric: Fabric, carried: Carried) -> np.ndarray:
    """The links at switches that sent more than they received, or less, over all intervals that are known."""
    table = fabric.link_table()
    source, target = np.asarray(table["source"]), np.asarray(table["target"])
    nodes = int(max(source.max(), target.max())) + 1
    # An interval counts at a switch where all of its links were read.
    unknown = ~carried.known
    missing = np.zeros((len(carried.bytes), nodes), dtype=bool)
    for ends in (source, target):
        for link in np.flatnonzero(unknown.any(axis=0)):
            missing[:, ends[link]] |= unknown[:, link]
    sums = []
    for ends in (source, target):
        by_node = np.zeros((nodes, len(carried.bytes)))
        np.add.at(by_node, ends, carried.bytes.T)
        sums.append(np.where(missing.T, 0.0, by_node).sum(axis=1))
    sent, received = sums
    wrong = np.abs(sent - received) > CONTRADICTION_SHARE * np.maximum(sent, received)
    wrong[: fabric.hosts] = False
    return np.asarray(wrong[source] | wrong[target])


def unlisted_percent(fabric: Fabric, runs: Sequence[JobRun], carried: Carried) -> float:
    """How much of all that hosts sent was sent while no run of the list was on them."""
    return Presence.of(runs, carried, _receiving(fabric)).unlisted_percent()


def _place(
    own: Array,
    theirs: Array,
    total: Array,
    share: Array,
    between: np.ndarray,
    rate: Array,
    hosts: np.ndarray,
) -> Place:
    """By what its links carried less its neighbours' share; less what they send by gravity, and by what it
    sends by gravity itself, it would be another: so far off it may be.
    """
    fastest, sent = float(rate.max()), float(total[hosts].sum())
    if not sent:
        return Place(0.0, 0.0, 0.0, 0.0, 0.0)
    sent_s = float((total[hosts] / rate[hosts]).mean())
    kept = total * (1 - share)
    less = np.maximum(total - theirs * rate / fastest, 0.0)
    busiest, *guesses = (
        float(one.max(initial=0.0)) / sent_s for one in (kept / rate, less / rate, own / fastest)
    )
    hops, other = (float(one[between].sum()) / sent for one in (kept, less))
    if not theirs.any():
        return Place(sent_s, busiest, 0.0, hops, 0.0)
    # Three guesses in one interval: its half over the square root of 3 is an even distribution's deviation.
    error = max(abs(guess - busiest) for guess in guesses) / 3**0.5
    return Place(sent_s, busiest, error, hops, abs(other - hops))


def _receiving(fabric: Fabric) -> np.ndarray:
    """By host, the link to it."""
    targets = np.asarray(fabric.link_table()["target"])
    links = np.nonzero(targets < fabric.hosts)[0]
    found = np.zeros(fabric.hosts, dtype=np.int64)
    found[targets[links]] = links
    return found


def _gravity(
    fabric: Fabric, routes: Routes, among: Sequence[int], total: Array, receiving: np.ndarray, threads: int
) -> Array:
    """What hosts send each other over each link by what they send and receive, over relative capacity."""
    from netloom import _core

    hosts = np.array(among)
    # A host's own link has its number.
    sent, received = total[hosts], total[receiving[hosts]]
    pairs = np.outer(sent, received)
    np.fill_diagonal(pairs, 0.0)
    to = pairs.sum(axis=1, keepdims=True)
    pairs = np.divide(pairs * sent[:, None], to, out=np.zeros_like(pairs), where=to > 0)
    here, there = np.nonzero(pairs > 0)
    if not len(here):
        return np.zeros_like(total)
    traffic = _core.Traffic.from_triples(fabric, hosts[here], hosts[there], pairs[here, there])
    found = _core.loads(fabric, routes, traffic, threads=threads, work=0)
    return np.asarray(found.per_link, dtype=np.float64)
