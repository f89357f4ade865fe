"""Which cable to look at first: everything that dumps and counters say of cables, as one ranked table.

| module | |
|---|---|
| `siblings` | cables that run slower than their siblings |
| `places` | adapters and uplinks that are elsewhere than their siblings |
| `error_counters` | error counters by port, from every form of reading |
| `expected` | cables of a plan that are not there |
| `stages` | uplinks, over-subscription and bisection by level |

`examine` puts them together. The order is by what a cable costs: one that is not there; one that goes up and
down; one that runs slow; one with errors, the more above what is told the earlier; counters that are full,
so that nobody knows; then what one reading alone says, since it does not say when. Notes come after warnings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from netloom.findings import KINDS, SEVERITIES, Finding, finding
from netloom.health.error_counters import Count, Errors, counts
from netloom.health.expected import Differences, compare
from netloom.health.places import findings_of
from netloom.health.siblings import slow_cables
from netloom.nodes import Nodes

if TYPE_CHECKING:
    from netloom._core import Fabric

__all__ = ["Cable", "Health", "Problem", "examine"]

_ORDER = {
    "cable-missing": 0,
    "link-downed": 1,
    "slow-cable": 2,
    "slower-cable": 2,
    "symbol-errors": 3,
    "receive-errors": 3,
    "link-recovered": 3,
    "link-integrity": 3,
    "buffer-overruns": 3,
    "errors-full": 4,
    "slow-host-cable": 5,
    "host-restarted": 6,
    "errors-since-reset": 7,
}
"""What costs most first; other kinds come last."""
_OF_FABRIC = (
    "unlinked-host",
    "one-ended-cable",
    "speeds-differ",
    "dead-cable",
    "dead-host-cable",
    "cut-off-switch",
    "parts",
)
"""Findings of a dump that are of cables."""
_HOUR = 3600.0
_OF_RESTARTS, _RESTARTS = ("link-downed", "link-recovered"), 2
"""What a host's cable counts when its machine starts anew, and how often at most."""
Ends = tuple[dict[str, Any], dict[str, Any]]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a cable."""

    kind: str
    text: str
    severity: str
    end: int | None = None
    """The end that counted it: 0 or 1; None where it is the cable's."""
    counter: str | None = None
    count: int | None = None
    """None where the counter is full or holds no count."""
    per_hour: float | None = None
    """None where nobody knows how long it counted."""
    per_bit: float | None = None
    """Symbol errors over the bits that the cable could carry in that time: a bit error rate's order."""
    full: bool = False
    excess: float = 0.0
    """How many times the least that is told."""

    @property
    def rank(self) -> tuple[int, int, float]:
        """The smaller the worse."""
        return SEVERITIES.index(self.severity), _ORDER.get(self.kind, 9), -self.excess

    def told(self) -> dict[str, Any]:
        """For a result."""
        keys = ("kind", "text", "severity", "end", "counter", "count", "per_hour", "per_bit", "full")
        return {key: getattr(self, key) for key in keys}


@dataclass
class Cable:
    """A cable with all that is wrong with it."""

    ends: Ends
    name: str
    bytes_per_s: float
    """What it runs at; what it should, if it is not there."""
    problems: list[Problem] = field(default_factory=list)

    @property
    def rank(self) -> tuple[Any, ...]:
        """The smaller the worse."""
        ranks = sorted(one.rank for one in self.problems)
        return *ranks[0], -len(ranks), self.name

    @property
    def worst(self) -> Problem:
        """What it is ranked by."""
        return min(self.problems, key=lambda one: one.rank)

    def told(self, rank: int) -> dict[str, Any]:
        """For a result: the cable that is `rank`th to look at, counted from 1."""
        return {
            "rank": rank,
            "severity": self.worst.severity,
            "kind": self.worst.kind,
            "ends": list(self.ends),
            "bytes_per_second": self.bytes_per_s,
            "problems": [one.told() for one in self.problems],
        }


@dataclass
class Health:
    """The cables with problems, worst first, and findings of no single cable."""

    cables: list[Cable]
    findings: list[Finding]
    plan: Differences | None = None


def examine(
    fabric: Fabric,
    before: Errors | None = None,
    after: Errors | None = None,
    *,
    seconds: float | None = None,
    plan: Fabric | None = None,
    plan_label: str = "the plan",
) -> Health:
    """Everything that is wrong with cables, worst first.

    Parameters
    ----------
    fabric : Fabric
        As it is.
    before, after : Errors, optional
        Error counters of two readings, or of one (`after`).
    seconds : float, optional
        The time between them, for rates.
    plan : Fabric, optional
        What should be there.
    plan_label : str
        What messages call it.

    Raises
    ------
    FabricError
        If the plan is another fabric's.

    Examples
    --------
    >>> import netloom as nl
    >>> whole = nl.Fabric.generate("two-level:leaves=4,hosts=2,spines=2")
    >>> damaged, _ = whole.damage(links=["leaf01[3]"])
    >>> [cable.name for cable in examine(damaged, plan=whole).cables]
    ['leaf01[3] -> spine00[2]']
    """
    found = _Found(fabric)
    for slow in slow_cables(fabric):
        found.add(
            slow.link, _problem(slow.kind, slow.text, excess=slow.expected_bytes_per_s / slow.bytes_per_s)
        )
    differences = None
    if plan is not None:
        differences = compare(fabric, plan, label=plan_label)
        for slower in differences.slower:
            text = (
                f"runs at {slower.bytes_per_s / 1e9:.2f} GB/s, "
                f"in {plan_label} at {slower.expected_bytes_per_s / 1e9:.2f}"
            )
            excess = slower.expected_bytes_per_s / slower.bytes_per_s
            found.add(slower.link, _problem("slower-cable", text, excess=excess))
        for missing in differences.missing:
            found.missing(missing.ends, missing.bytes_per_s, missing.text)
    told = [] if after is None else counts(before, after)
    for count in told:
        for problem in _of_count(count, seconds, found.bits_per_s(count.link), found.of_host(count.link)):
            found.add(count.link, problem)
    cables = sorted(found.cables.values(), key=lambda one: one.rank)
    for cable in cables:
        cable.problems.sort(key=lambda one: one.rank)
    findings = [one for one in _of_dump(fabric) if one["kind"] in _OF_FABRIC]
    # Of uplinks that are not there a plan knows better.
    findings += findings_of(fabric, found.nodes, uplinks=plan is None)
    findings += [] if differences is None else differences.findings
    return Health(cables, findings, differences)


def cable_findings(cables: Sequence[Cable]) -> list[Finding]:
    """A finding a cable: of its worst kind, with all that is wrong with it."""
    return [
        finding(cable.worst.kind, f"{cable.name}: {'; '.join(one.text for one in cable.problems)}")
        for cable in cables
    ]


class _Found:
    """Cables with problems, by what joins their two directions."""

    def __init__(self, fabric: Fabric) -> None:
        self.nodes = Nodes(fabric)
        self.cables: dict[Any, Cable] = {}
        self._table = fabric.link_table()
        switch = fabric.switch_table()
        self._level = [*[-1] * fabric.hosts, *switch["level"].tolist()]

    def _ends(self, link: int) -> tuple[tuple[int, int], tuple[int, int]]:
        row = self._table
        return (
            (int(row["source"][link]), int(row["source_port"][link])),
            (int(row["target"][link]), int(row["target_port"][link])),
        )

    def bits_per_s(self, link: int) -> float:
        return 8.0 * float(self._table["bandwidth_bytes_per_s"][link])

    def of_host(self, link: int) -> bool:
        return bool(min(self._table["source"][link], self._table["target"][link]) < self.nodes.hosts)

    def add(self, link: int, problem: Problem) -> None:
        """Adds a problem of a cable, told by the port that a link leaves."""
        one, other = self._ends(link)
        low, high = sorted((one, other), key=lambda end: (self._level[end[0]], end))
        cable = self.cables.get((low, high))
        if cable is None:
            ends = self.nodes.end(*low), self.nodes.end(*high)
            name = f"{self.nodes.port(*low)} -> {self.nodes.port(*high)}"
            cable = Cable(ends, name, float(self._table["bandwidth_bytes_per_s"][link]))
            self.cables[low, high] = cable
        if problem.counter is not None:
            problem = replace(problem, end=0 if low == one else 1)
        cable.problems.append(problem)

    def missing(self, ends: Ends, bytes_per_s: float, text: str) -> None:
        """Adds a cable that is not there."""

        def place(end: dict[str, Any]) -> str:
            return f"{end['name']}[{'?' if end['port'] is None else end['port']}]"

        name = f"{place(ends[0])} -> {place(ends[1])}"
        key = ("missing", name, len(self.cables))
        self.cables[key] = Cable(ends, name, bytes_per_s, [_problem("cable-missing", f"missing: {text}")])


def _problem(kind: str, text: str, **more: Any) -> Problem:
    return Problem(kind, text, KINDS[kind][0], **more)


def _of_count(count: Count, seconds: float | None, bits_per_s: float, of_host: bool) -> list[Problem]:
    """What is told of a counter: nothing where it is below what is told."""
    rule = count.rule
    common: dict[str, Any] = {"counter": rule.counter}
    if count.impossible:
        below = count.value - 2**64 if count.value >= 2**63 else count.value
        text = f"{rule.counter} holds no count ({below:,})"
        return [_problem("errors-impossible", text, **common)]
    found = []
    if count.full:
        since = "set it back to see what is new"
        text = f"{rule.counter} is full at {(1 << rule.bits) - 1:,}: there may be more ({since})"
        kind = "errors-full" if rule.of_cable else "errors-since-reset"
        found.append(_problem(kind, text, full=True, excess=float((1 << rule.bits) - 1), **common))
    least = rule.least if count.between else rule.least_since_reset
    if count.value < least or (count.full and not count.between):
        return found
    common |= {"count": count.value, "excess": count.value / least}
    if not count.between:
        text = f"{count.value:,} {rule.what} since the counter was set back"
        found.append(_problem("errors-since-reset", text, **common))
        return found
    text = f"{count.value:,}{' or more' if count.full else ''} {rule.what}"
    if seconds:
        hourly = count.value * _HOUR / seconds
        text += f" ({hourly:,.3g} an hour)" if hourly < 1000 else f" ({hourly:,.0f} an hour)"
        common["per_hour"] = hourly
        if rule.kind == "symbol-errors":
            common["per_bit"] = count.value / (bits_per_s * seconds)
    kind = rule.kind
    if of_host and kind in _OF_RESTARTS and count.value <= _RESTARTS:
        kind, text = "host-restarted", f"{text}: a machine that starts anew does that"
    found.append(_problem(kind, text, **common))
    return found


def _of_dump(fabric: Fabric) -> list[Finding]:
    return [finding(one["kind"], one["text"]) for one in fabric.findings]
