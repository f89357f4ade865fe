"""Who slows a job down, and where: links by the time spent behind others' bytes, and other jobs left out.

One more run records packets at every hop, whole or where messages are delayed the most. It tells on which
link a job waited behind whom. Then runs without one of the others tell what the job would gain. A job that
starts later than any run lasts is as good as none: its hosts stay its own, and all others are as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from netloom.noise import joined
from netloom.noise.ran import Ran
from netloom.noise.waits import MOST_HOPS, Hops, behind, told, window_us

if TYPE_CHECKING:
    from netloom._core import Scenario, Simulation

LeaveOut = Literal["likely", "all", "none"]
LIKELY = 3
"""Jobs left out for each job: those behind whose bytes it waits longest, then those that hold these up;
all if there are no more."""
LINKS = 10
"""Links that are told of each job."""
_NEVER_US = 281_000_000
"""The latest start of a job: no run lasts as long."""


@dataclass(frozen=True)
class Beside:
    """The run with all jobs.

    Attributes
    ----------
    scene : Scenario
        What was run.
    again : callable
        The same with keys of the scenario set.
    simulate : callable
        Runs a scene, with the messages of some jobs.
    ended : Simulation
        How it ended.
    ran, alone : dict
        By name, the measured jobs in it, and alone.
    """

    scene: Scenario
    again: Callable[[Sequence[str]], Scenario]
    simulate: Callable[[Scenario, Sequence[str]], Simulation]
    ended: Simulation
    ran: Mapping[str, Ran]
    alone: Mapping[str, Ran]

    @property
    def names(self) -> list[str]:
        """All jobs, by number."""
        return [one.name for one in self.scene.jobs]


def recorded(beside: Beside) -> tuple[dict[tuple[int, int, int], int], dict[str, Any]] | None:
    """Runs it once more to see packets; what jobs waited behind, and from when to when that is.

    None in the fluid model, which has no packets, or where the run was given up.
    """
    if beside.scene.model == "fluid":
        return None
    import numpy as np

    pairs = [joined(beside.ran[name].messages, beside.alone[name].messages) for name in beside.ran]
    posted = np.concatenate([one.beside.posted_ps[one.in_beside] for one in pairs])
    late = np.concatenate([one.difference_ps for one in pairs])
    end_ps = beside.ended.end_ps
    hops = int(beside.ended.result()["packet_hops"])
    from_us, to_us = window_us(posted, late, 0, end_ps, hops)
    window = f"measure.trace={{from_us={from_us!r},to_us={to_us!r}}}"
    scene = beside.again([window, f"max_time_ms={to_us / 1e3!r}"])
    seen = beside.simulate(scene, [])
    trace = seen.trace()
    if seen.stopped in ("interrupted", "time-limit") or trace is None:
        return None
    found = Hops.of(trace, beside.names)
    to_us = min(to_us, end_ps / 1e6)
    if len(found) >= MOST_HOPS:
        to_us = min(to_us, float(found.start_ps.max()) / 1e6)
    looked = {"from_us": from_us, "to_us": to_us, "whole": from_us == 0.0 and to_us * 1e6 >= end_ps - 1}
    return behind(found, len(beside.names)), looked


def links_of(waits: Mapping[tuple[int, int, int], int], job: int, scene: Scenario) -> list[dict[str, Any]]:
    """Where a job waited behind others' bytes, the worst first: both ends and ports, and whose bytes."""
    names = [one.name for one in scene.jobs]
    nodes = [*scene.fabric.host_names, *scene.fabric.switch_names]
    table = scene.fabric.link_table()
    return [
        {
            "link": row["link"],
            "from": nodes[int(table["source"][row["link"]])],
            "from_port": int(table["source_port"][row["link"]]),
            "to": nodes[int(table["target"][row["link"]])],
            "to_port": int(table["target_port"][row["link"]]),
            "behind_ps": row["behind_ps"],
            "jobs": [{"job": names[sender], "behind_ps": ps} for sender, ps in row["jobs"]],
        }
        for row in told(waits, job)[:LINKS]
    ]


def left_out(
    beside: Beside,
    waits: Mapping[tuple[int, int, int], int] | None,
    which: LeaveOut,
    says: Callable[[str], None],
) -> dict[str, dict[str, Ran]] | None:
    """The measured jobs in runs without one of the others, by the one that is left out; None if given up."""
    names = beside.names
    found: dict[str, dict[str, Ran]] = {}
    if len(names) == 2:
        # Without the other a job is alone.
        for name in beside.ran:
            [other] = [one for one in names if one != name]
            found[other] = {name: beside.alone[name]}
        return found
    for number in _to_leave_out(beside, waits, which):
        says(f"without {names[number]}")
        scene = _without(beside, number)
        if scene is None:
            continue
        others = [name for name in beside.ran if name != names[number]]
        ended = beside.simulate(scene, others)
        if ended.stopped in ("interrupted", "time-limit"):
            return None
        messages = ended.messages() or {}
        found[names[number]] = {name: Ran.of(ended, messages, names.index(name)) for name in others}
    return found


def _to_leave_out(
    beside: Beside, waits: Mapping[tuple[int, int, int], int] | None, which: LeaveOut
) -> list[int]:
    """Numbers of jobs that are left out in turn."""
    names = beside.names
    if which == "none" or len(names) < 2 or beside.scene.jobs_of_file is not None:
        return []
    if which == "all" or waits is None or len(names) <= LIKELY + 1:
        return list(range(len(names)))
    chosen: set[int] = set()
    for name in beside.ran:
        direct, indirect = _sums(waits, names.index(name)), _indirect(waits, names.index(name))
        others = (number for number, other in enumerate(names) if other != name)
        chosen.update(
            sorted(others, key=lambda one: (-direct.get(one, 0), -indirect.get(one, 0), one))[:LIKELY]
        )
    return sorted(chosen)


def _sums(waits: Mapping[tuple[int, int, int], int], job: int) -> dict[int, int]:
    """How long a job waited behind each other one, over all links."""
    sums: dict[int, int] = {}
    for (waited, _, sender), ps in waits.items():
        if waited == job:
            sums[sender] = sums.get(sender, 0) + ps
    return sums


def _indirect(waits: Mapping[tuple[int, int, int], int], job: int) -> dict[int, int]:
    """How long those behind whom a job waited waited behind each other one, themselves."""
    sums: dict[int, int] = {}
    for middle in _sums(waits, job):
        for sender, ps in _sums(waits, middle).items():
            sums[sender] = sums.get(sender, 0) + ps
    return sums


def _without(beside: Beside, number: int) -> Scenario | None:
    """The scene without a job; None if all others start over until it ends."""
    waited_for = [
        other
        for other, name in enumerate(beside.names)
        if other != number and name not in beside.scene.repeating
    ]
    if not waited_for:
        return None
    key = f"job.{number + 1}"
    return beside.again(
        [f"{key}.until={json.dumps(beside.names[waited_for[0]])}", f"{key}.start_us={_NEVER_US}"]
    )


def neighbours_of(
    name: str,
    beside: Beside,
    waits: Mapping[tuple[int, int, int], int] | None,
    without: Mapping[str, Mapping[str, Ran]],
) -> list[dict[str, Any]]:
    """The other jobs, the one without which a job would gain most first."""
    mine = beside.ran[name]
    # Offered load ends with the run, and that goes on as long as what is left out would be waited for.
    timeless = name in beside.scene.repeating or (name in beside.scene.offering and len(beside.names) > 2)
    alone_ps = beside.alone[name].took_ps
    sums = None if waits is None else _sums(waits, beside.names.index(name))
    rows = []
    for number, other in enumerate(beside.names):
        if other == name:
            continue
        ran = without.get(other, {}).get(name)
        took_ps = None if ran is None or timeless else ran.took_ps
        known = took_ps is not None and mine.took_ps is not None
        gain = None if ran is None else joined(mine.messages, ran.messages).difference_ps
        rows.append(
            {
                "job": other,
                "behind_ps": None if sums is None else sums.get(number, 0),
                "without_ps": took_ps,
                "gain_ps": mine.took_ps - took_ps if known and mine.took_ps and took_ps else None,
                "slowdown_without": took_ps / alone_ps if took_ps is not None and alone_ps else None,
                "message_gain_us": float(gain.mean()) / 1e6 if gain is not None and gain.size else None,
            }
        )

    def rank(row: Mapping[str, Any]) -> tuple[float, float, float]:
        return -(row["gain_ps"] or 0), -(row["message_gain_us"] or 0), -(row["behind_ps"] or 0)

    return sorted(rows, key=rank)
