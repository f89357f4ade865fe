"""What a loop's scenario says: phases of simulated work, how they are counted, the rule.

A file beside the simulation scenarios that it names. Unknown keys are refused with the nearest known one;
errors name file and line.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from netloom import reading
from netloom.errors import FormatError, NetloomError
from netloom.loop.decision import Rule

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from netloom._core import Scenario

Weight = Literal["bytes", "packets", "mixed"]

MOST_ROUNDS = 1000
_PHASE = ("name", "scenario", "set", "rounds", "counters_every_us", "job_weights")
_TABLE = ("number", "column", "beside", "alone", "measure")
_TOP = (
    "name",
    "routes",
    "seed",
    "vl_scheme",
    "weight",
    "mtu_bytes",
    "noise",
    "skew",
    "missing",
    "canary_percent",
    "rule",
    "phase",
    "table",
)


@dataclass(frozen=True, kw_only=True)
class Phase:
    """Work that runs for some rounds.

    Attributes
    ----------
    name : str
        Of the phase.
    scenario : Scenario
        What is simulated.
    file, sets : Path, sequence of str
        Where it comes from, and what was set in it.
    rounds : int
        How often.
    counters_every_us : float, optional
        Counters are read so often while it runs; None: once, at the end.
    job_weights : mapping
        What a byte of a job counts where routes are made, by its name; 1 unless given.
    """

    name: str
    scenario: Scenario
    file: Path
    sets: Sequence[str]
    rounds: int
    counters_every_us: float | None
    job_weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Where a scenario stands in the dissertation's tables.

    Attributes
    ----------
    number, column : str
        `5.1`, `shuffle`.
    beside : sequence of str
        Other routings to measure.
    alone : sequence of str
        What to `--set` so that the measured job runs alone; empty if it does anyway.
    measure : str
        What the table has: `time` (ms) or `gap` (percent).
    """

    number: str
    column: str
    beside: Sequence[str]
    alone: Sequence[str]
    measure: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A loop to be run."""

    name: str
    path: Path
    routes: str
    seed: int
    vl_scheme: str | None
    weight: Weight
    mtu_bytes: float
    noise: float
    skew: float
    missing: float
    canary_percent: float
    rule: Rule
    phases: Sequence[Phase]
    table: Table | None
    files: Sequence[tuple[str, Path]]


def read_plan(path: Path, *, seed: int | None = None) -> Plan:
    """Reads a loop's scenario and the simulation scenarios that it names.

    Raises
    ------
    FormatError
        With file and line.
    """
    text = reading.whole(path).decode(errors="replace")
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        place = f":{line.group(1)}" if line else ""
        raise FormatError(f"{path}{place}: {error}", str(path)) from None
    except RecursionError:
        raise FormatError(f"{path}: expected TOML that is less deeply nested", str(path)) from None
    keys = _Keys(path, text, found)
    keys.known("", found, _TOP)
    number = seed if seed is not None else keys.whole("seed", 0, 0, 2**63 - 1)
    rule = _rule(keys)
    start = keys.text("routes", "ftree") or "ftree"
    phases, files = _phases(keys, number, start)
    weight = keys.text("weight", "bytes")
    if weight not in ("bytes", "packets", "mixed"):
        raise keys.error("weight", f'expected bytes, packets or mixed, found "{weight}"')
    vl_scheme = keys.text("vl_scheme", None)
    if vl_scheme is not None:
        from netloom import _core

        try:
            # Any traffic will do: schemes are read before they are used.
            fabric = phases[0].scenario.fabric
            none = _core.Traffic.from_triples(fabric.hosts, [], [], [])
            _core.synth_counters(fabric, start_routes(phases[0].scenario, start), none, vl_scheme=vl_scheme)
        except NetloomError as error:
            raise keys.error("vl_scheme", str(error)) from None
    return Plan(
        name=keys.text("name", None) or path.stem,
        path=path,
        routes=start,
        seed=number,
        vl_scheme=vl_scheme,
        weight=cast(Weight, weight),
        mtu_bytes=keys.number("mtu_bytes", 4096.0, 1.0, 65536.0),
        noise=keys.number("noise", 0.0, 0.0, 1.0),
        skew=keys.number("skew", 0.0, 0.0, 1.0),
        missing=keys.number("missing", 0.0, 0.0, 0.99),
        canary_percent=keys.number("canary_percent", 0.0, 0.0, 100.0),
        rule=rule,
        phases=phases,
        table=_table(keys),
        files=files,
    )


def start_routes(scenario: Scenario, start: str) -> Any:
    """The routes in force at the beginning."""
    routes = scenario.routes(start)
    if routes is None:
        raise FormatError(f'expected tables, found "{start}", which chooses packet by packet')
    return routes


def _rule(keys: _Keys) -> Rule:
    table = keys.table("rule")
    names = [one.name for one in fields(Rule)]
    keys.known("rule", table, names)
    values = {name: keys.number(f"rule.{name}", float(getattr(Rule, name)), 0.0, 1e9) for name in names}
    if values["interval_seconds"] <= 0:
        raise keys.error("rule.interval_seconds", "expected seconds above 0")
    return Rule(**{**values, "memory_rounds": int(values["memory_rounds"])})  # type: ignore[arg-type]


def _phases(keys: _Keys, seed: int, start: str) -> tuple[list[Phase], list[tuple[str, Path]]]:
    from netloom import _core

    entries = keys.found.get("phase", [])
    if not isinstance(entries, list) or not entries or not all(isinstance(one, dict) for one in entries):
        raise keys.error("phase", "expected at least one [[phase]]")
    phases: list[Phase] = []
    files: list[tuple[str, Path]] = []
    for at, entry in enumerate(entries):
        place = f"phase.{at}"
        keys.known(place, entry, _PHASE)
        name = keys.text(f"{place}.scenario", None)
        if name is None:
            raise keys.error(place, 'expected scenario = "../ch5/bisection-shuffle.toml" or another file')
        file = keys.path.parent / name
        if not file.is_file():
            raise keys.error(f"{place}.scenario", f"there is no file {file}")
        sets = entry.get("set", [])
        if not isinstance(sets, list) or not all(isinstance(one, str) and "=" in one for one in sets):
            raise keys.error(f"{place}.set", 'expected a list such as ["job.barrier.program.iterations=10"]')
        try:
            scenario = _core.Scenario.read(file, sets)
        except NetloomError as error:
            if str(error).startswith("--set "):
                raise keys.error(f"{place}.set", str(error).removeprefix("--set ")) from None
            if str(file) in str(error):
                raise
            raise keys.error(f"{place}.scenario", f"{file}: {error}") from None
        try:
            start_routes(scenario, start)
        except NetloomError as error:
            why = str(error).removeprefix(f"{file}: ").removeprefix("routes: ")
            raise keys.error("routes", why) from None
        if phases and scenario.fabric.cabling_hash != phases[0].scenario.fabric.cabling_hash:
            raise keys.error(f"{place}.scenario", f"{file} has another fabric than {phases[0].name}")
        every = keys.number(f"{place}.counters_every_us", 0.0, 0.1, 1e8)
        phases.append(
            Phase(
                name=keys.text(f"{place}.name", None) or scenario.name,
                scenario=scenario,
                file=file,
                sets=sets,
                rounds=keys.whole(f"{place}.rounds", 1, 1, MOST_ROUNDS),
                counters_every_us=every or None,
                job_weights=_weights(keys, f"{place}.job_weights", entry, scenario),
            )
        )
        files.append(("scenario", file))
        files += [(role, Path(other)) for role, other in scenario.files]
    return phases, list(dict.fromkeys(files))


def _weights(keys: _Keys, place: str, entry: Mapping[str, Any], scenario: Scenario) -> dict[str, float]:
    found = entry.get("job_weights", {})
    if not isinstance(found, dict):
        raise keys.error(place, "expected a table such as { barrier = 4096 }")
    names = [job.name for job in scenario.jobs]
    for name, weight in found.items():
        if name not in names:
            raise keys.error(place, f'there is no job "{name}": expected {", ".join(names)}')
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight <= 1e9:
            raise keys.error(place, f"{name}: expected a number above 0, found {weight!r}")
    return {name: float(weight) for name, weight in found.items()}


def _table(keys: _Keys) -> Table | None:
    if "table" not in keys.found:
        return None
    table = keys.table("table")
    keys.known("table", table, _TABLE)
    measure = keys.text("table.measure", "time")
    if measure not in ("time", "gap"):
        raise keys.error("table.measure", f'expected time or gap, found "{measure}"')
    return Table(
        number=keys.text("table.number", "") or "",
        column=keys.text("table.column", "") or "",
        beside=[str(one) for one in table.get("beside", [])],
        alone=[str(one) for one in table.get("alone", [])],
        measure=measure,
    )


class _Keys:
    """Keys with their lines. A key's place is `rule.margin_percent`, `phase.0.scenario`."""

    def __init__(self, path: Path, text: str, found: dict[str, Any]) -> None:
        self.path = path
        self.found = found
        self._lines = _lines(text)

    def error(self, place: str, message: str) -> FormatError:
        """An error at a key, or at the table that it is missing from."""
        line = self._lines.get(place, self._lines.get(place.rpartition(".")[0]))
        key = place.rpartition(".")[2]
        said = message if key.isdecimal() or place == "phase" else f"{key}: {message}"
        where = f"{self.path}:{line}" if line else str(self.path)
        return FormatError(f"{where}: {said}", str(self.path), line)

    def known(self, place: str, table: Mapping[str, Any], names: Sequence[str]) -> None:
        """Refuses keys that nobody knows."""
        for key in table:
            if key not in names:
                near = difflib.get_close_matches(key, names, 1, 0.5)
                hint = f', did you mean "{near[0]}"?' if near else f": expected {', '.join(names)}"
                what = re.sub(r"\.\d+$", "", place) or "a loop"
                line = self._lines.get(f"{place}.{key}".lstrip("."))
                where = f"{self.path}:{line}" if line else str(self.path)
                raise FormatError(f'{where}: {what} has no key "{key}"{hint}', str(self.path), line)

    def table(self, name: str) -> dict[str, Any]:
        """A table; empty if there is none."""
        table = self.found.get(name, {})
        if not isinstance(table, dict):
            raise self.error(name, f"expected a table [{name}]")
        return table

    def _get(self, place: str) -> Any:
        at: Any = self.found
        for key in place.split("."):
            at = at[int(key)] if isinstance(at, list) else at.get(key)
            if at is None:
                return None
        return at

    def text(self, place: str, default: str | None) -> str | None:
        """A text that is not empty."""
        value = self._get(place)
        if value is None:
            return default
        if not isinstance(value, str) or not value.strip():
            raise self.error(place, f"expected a text that is not empty, found {value!r}")
        return value

    def number(self, place: str, default: float, least: float, most: float) -> float:
        """A number in a range."""
        value = self._get(place)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise self.error(place, f"expected a number from {least:g} to {most:g}, found {value!r}")
        return float(value)

    def whole(self, place: str, default: int, least: int, most: int) -> int:
        """A whole number in a range."""
        value = self._get(place)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.error(place, f"expected a whole number from {least} to {most}, found {value!r}")
        return value


def _lines(text: str) -> dict[str, int]:
    """Where keys and tables stand, as far as that is seen without a parser."""
    found: dict[str, int] = {}
    table = ""
    counts: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"\s*\[\[\s*([\w-]+)\s*\]\]", line):
            name = head.group(1)
            table = f"{name}.{counts.get(name, 0)}"
            counts[name] = counts.get(name, 0) + 1
            found.setdefault(table, number)
        elif head := re.match(r"\s*\[\s*([\w-]+)\s*\]", line):
            table = head.group(1)
            found.setdefault(table, number)
        elif key := re.match(r"\s*([\w-]+)\s*=", line):
            found.setdefault(f"{table}.{key.group(1)}".lstrip("."), number)
    return found
