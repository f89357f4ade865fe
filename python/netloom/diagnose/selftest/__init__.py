"""How often the rules are right: runs of known cause, simulated, sampled and diagnosed.

The generator and the rules share no code but the simulator: the rules see samples, counters and jobs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from netloom.diagnose.selftest.cases import CAUSES, Case, spread
from netloom.files import Scratch

NONE = "none"


@dataclass(frozen=True)
class Tested:
    """What was said of the cases, in their order."""

    known: list[str]
    said: list[str]

    @property
    def correct(self) -> int:
        return sum(a == b for a, b in zip(self.known, self.said, strict=True))

    @property
    def false_alarms(self) -> int:
        """Cases without a fault of which something was said."""
        return sum(a == NONE != b for a, b in zip(self.known, self.said, strict=True))

    def confusion(self) -> dict[str, dict[str, int]]:
        """[known][said] cases."""
        said = [*CAUSES, *sorted(set(self.said) - set(CAUSES))]
        pairs = list(zip(self.known, self.said, strict=True))
        return {cause: {other: pairs.count((cause, other)) for other in said} for cause in CAUSES}


def first_finding(case: Case, **how: Any) -> str:
    """The cause that a diagnosis of a case puts first, or `none`; `how` it is sampled."""
    from netloom import _core
    from netloom.diagnose.rules import diagnose
    from netloom.diagnose.sampled import sampled

    with Scratch.private() as scratch:
        path = scratch.path / "case.toml"
        for name, text in {"case.toml": case.scenario, **case.files}.items():
            scratch.write(name, text.encode())
        # Some ten windows, to tell phases apart.
        every_us = max(round(case.expected_us / 8, 1), 1.0)
        scenario = _core.Scenario.read(path, [f"measure.counters_every_us={every_us}"])
        found = diagnose(sampled(scenario, every_us, **how)).findings
    return found[0].cause if found else NONE


def self_test(
    cases: int,
    seed: int,
    *,
    threads: int = 0,
    ended: Callable[[int], None] = lambda _: None,
    **how: Any,
) -> Tested:
    """Diagnoses `cases` generated runs, spread evenly over the causes; the same for any number of threads."""
    made = spread(cases, seed)
    said: list[str] = []
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        for answer in pool.map(partial(first_finding, **how), made):
            said.append(answer)
            ended(len(said))
    return Tested([case.cause for case in made], said)


def table(tested: Tested) -> tuple[list[str], Sequence[Sequence[str]]]:
    """The confusion table: header and rows."""
    confusion = tested.confusion()
    said = list(next(iter(confusion.values())))
    rows = [[cause, *(str(row[other] or "") for other in said)] for cause, row in confusion.items()]
    return ["cause", *said], rows
