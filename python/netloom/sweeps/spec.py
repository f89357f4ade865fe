"""What a sweep's file says: a scenario, what varies, what is kept; and its runs, by number.

`[over]` is a grid: every value of every key with every value of the others, the last key fastest. The lists
of `[paired]` are as long as each other and go side by side; together they are one more key of the grid, the
slowest. A value is as `netloom simulate --set` takes it; of `routes`, each value is one routing.

Invariants: a run's number gives its values; runs are never listed. Errors name file and line; unknown keys
are refused with the nearest known one.
"""

from __future__ import annotations

import difflib
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from netloom import reading
from netloom.errors import FormatError
from netloom.sweeps import design as designs
from netloom.sweeps import kept
from netloom.sweeps.design import Design

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MOST_RUNS = 1_000_000
"""More than these are a mistake: they are counted before any value is made."""
_MOST_PAIRED = 4 * MOST_RUNS
"""Values of all lists that go side by side."""
ROUTES, SEED, FABRIC = "routes", "seed", "fabric"
_TOP = ("scenario", "over", "paired", "keep", "by", "cluster", "design", "samples", "design_seed", "ranges")
_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:\.\.({_NUMBER}))?")
_BRACES = re.compile(rf"\{{({_NUMBER}\.\.{_NUMBER}(?:\.\.{_NUMBER})?)\}}")


@dataclass(frozen=True)
class Spec:
    """A sweep.

    Attributes
    ----------
    path : Path
        Its file.
    scenario : Path
        The scenario's file.
    written : str
        The same as the sweep's file has it.
    paired : mapping
        Keys and their values, side by side.
    over : mapping
        Keys and their values, each with each; `routes` is always among them once the scenario is known.
    keep : tuple of str
        Result keys.
    by : tuple of str, optional
        What the summary is grouped by; None: all that varies but the seed.
    cluster : tuple of str, optional
        Runs that agree in these keys are one draw; None: the summary finds out.
    lines : mapping
        Where keys stand, for messages.
    design : Design, optional
        Where the values of `paired` come from, if these are points of ranges.
    skip_repeats : float, optional
        The error allowed where iterations that repeat are not simulated again; None: all are. No key of the
        file: whoever runs the sweep says it.

    Examples
    --------
    >>> text = 'scenario = "s.toml"\\nover = { seed = "1..3", model = ["fluid"] }\\n'
    >>> spec = parse(text, Path("sweep.toml"))
    >>> spec.size, spec.values(1)
    (3, {'seed': 2, 'model': 'fluid'})
    """

    path: Path
    scenario: Path
    written: str
    paired: Mapping[str, Sequence[Any]]
    over: Mapping[str, Sequence[Any]]
    keep: tuple[str, ...]
    by: tuple[str, ...] | None
    cluster: tuple[str, ...] | None
    lines: Mapping[str, int]
    design: Design | None = None
    skip_repeats: float | None = None

    @property
    def varied(self) -> list[str]:
        """The keys that vary, as written."""
        return [*self.paired, *self.over]

    @property
    def columns(self) -> tuple[str, ...]:
        """The same as columns of the table: `routing` for `routes`, last, whether it varies or not."""
        return (*(key for key in self.varied if key != ROUTES), "routing")

    @property
    def pairs(self) -> int:
        """How long the lists of `[paired]` are; 1 if there are none."""
        return len(next(iter(self.paired.values()))) if self.paired else 1

    @property
    def size(self) -> int:
        """How many runs there are."""
        return math.prod([self.pairs, *map(len, self.over.values())])

    def values(self, number: int) -> dict[str, Any]:
        """What the keys of a run are, by its number from 0."""
        found: dict[str, Any] = {}
        for key, values in reversed(list(self.over.items())):
            number, at = divmod(number, len(values))
            found[key] = values[at]
        return {key: values[number] for key, values in self.paired.items()} | dict(
            reversed(list(found.items()))
        )

    def of(self, key: str) -> Sequence[Any]:
        """The values of a key."""
        return self.paired[key] if key in self.paired else self.over[key]

    def place(self, key: str) -> str:
        """Where a key stands, `FILE:LINE`."""
        return _place(self.path, self.lines.get(key))

    def error(self, key: str, message: str) -> FormatError:
        """An error at a key."""
        return _error(self.path, self.lines.get(key), message)


def read(path: Path) -> Spec:
    """Reads a sweep's file.

    Raises
    ------
    FormatError
        With file and line.
    OSError
        If it cannot be read.
    """
    return parse(reading.whole(path).decode(errors="replace"), path)


def parse(text: str, path: Path) -> Spec:
    """The sweep that a text is; `path` is its file, beside which the scenario is.

    Raises
    ------
    FormatError
        With file and line.
    """
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise _error(path, int(line.group(1)) if line else None, f"expected TOML: {error}") from None
    except RecursionError:
        raise _error(path, None, "expected TOML that is less deeply nested") from None
    lines = _lines(text)
    for key in found:
        if key not in _TOP:
            raise _error(path, lines.get(key), f'a sweep has no key "{key}"{_near(key, _TOP)}')
    scenario = found.get("scenario")
    if not isinstance(scenario, str) or not scenario or "\0" in scenario:
        raise _error(path, lines.get("scenario"), 'expected scenario = "FILE.toml", the scenario that is run')
    _refuse_many(path, lines, found)
    over = _keys(path, lines, found, "over")
    paired = _keys(path, lines, found, "paired")
    design = _design(path, lines, found, over)
    if design is not None:
        paired = design.values()
    twice = next((key for key in paired if key in over), None)
    if twice is not None:
        raise _error(path, lines.get(twice), f"{twice} is in [over] and in [paired]: expected it in one")
    if not over and not paired:
        raise _error(path, None, 'expected what varies, as in over = { seed = "0..9" }')
    lengths = {key: len(values) for key, values in paired.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{key} has {length}" for key, length in lengths.items())
        raise _error(path, lines.get("paired"), f"[paired]: expected lists of one length, found {told}")
    if (
        design is None
        and (at := _repeated(zip(*(map(_mark, some) for some in paired.values()), strict=True))) is not None
    ):
        told = ", ".join(f"{key}={some[at]!r:.80}" for key, some in paired.items())
        raise _error(path, lines.get("paired"), f"[paired]: expected different values, found {told} twice")
    keep = _texts(path, lines, found, "keep") or kept.DEFAULT
    for key in keep:
        try:
            kept.kind_of(key)
        except ValueError as error:
            raise _error(path, lines.get("keep"), f"keep: {error}") from None
    spec = Spec(
        path=path,
        scenario=path.parent / scenario,
        written=scenario,
        paired=paired,
        over=over,
        keep=keep,
        by=_texts(path, lines, found, "by"),
        cluster=_texts(path, lines, found, "cluster"),
        lines=lines,
        design=design,
    )
    _refuse_names(spec, "by", spec.by, (*spec.columns, "job"))
    _refuse_names(spec, "cluster", spec.cluster, spec.columns)
    return spec


def _refuse_names(spec: Spec, word: str, names: Sequence[str] | None, known: Sequence[str]) -> None:
    for name in names or ():
        if name not in known:
            raise spec.error(word, f'{word}: nothing varies "{name}"{_near(name, known)}')


def _design(
    path: Path, lines: Mapping[str, int], found: Mapping[str, Any], over: Mapping[str, Sequence[Any]]
) -> Design | None:
    """The design of experiments, if one is asked for."""
    asked = next((key for key in ("design", "ranges", "samples", "design_seed") if key in found), None)
    if asked is None:
        return None
    if "paired" in found:
        raise _error(path, lines.get("paired"), "a design has [ranges] in place of [paired]")
    ranges = found.get("ranges", {})
    if not isinstance(ranges, dict):
        raise _error(path, lines.get("ranges"), "ranges: expected a table of KEY = [LOW, HIGH]")
    try:
        design = designs.read(found, dict(_flat(ranges, "")))
    except ValueError as error:
        key, told = error.args
        raise _error(path, lines.get(key, lines.get(asked)), f"{key}: {told}") from None
    for key in design.ranges:
        if key in (SEED, ROUTES, FABRIC) or key in over:
            told = f"{key} has no values between two others: expected it in [over]"
            if key in over:
                told = f"{key} is in [over] and in [ranges]: expected it in one"
            raise _error(path, lines.get(key), told)
    runs = math.prod([design.points, *map(len, over.values())])
    if runs > MOST_RUNS:
        raise _error(path, lines.get("samples"), f"expected at most {MOST_RUNS:,} runs, found {runs:,}")
    return design


def _refuse_many(path: Path, lines: Mapping[str, int], found: Mapping[str, Any]) -> None:
    """Refuses more runs, or more values side by side, than there may be."""
    counts: dict[str, list[int]] = {"over": [], "paired": []}
    for table, numbers in counts.items():
        given = found.get(table)
        for key, value in _flat(given, "") if isinstance(given, dict) else ():
            try:
                numbers.append(_count(value))
            except ValueError as error:
                raise _error(path, lines.get(key, lines.get(table)), f"{key}: {error}") from None
    runs = math.prod([*counts["over"], max(counts["paired"], default=1)])
    if runs > MOST_RUNS:
        told = f"{runs:,}" if runs < 10**15 else "far more"
        raise _error(path, None, f"expected at most {MOST_RUNS:,} runs, found {told}")
    if sum(counts["paired"]) > _MOST_PAIRED:
        told = f"expected at most {_MOST_PAIRED:,} values, found {sum(counts['paired']):,}"
        raise _error(path, lines.get("paired"), f"[paired]: {told}")


def _count(value: Any) -> int:
    """How many values a list or a range stands for; what is neither is refused later."""
    if isinstance(value, list):
        return sum(_count(entry) if isinstance(entry, str) else 1 for entry in value)
    if not isinstance(value, str):
        return 1
    if _RANGE.fullmatch(value):
        return _bounds(value).numbers
    return math.prod(_bounds(matched[1]).numbers for matched in _BRACES.finditer(value))


def texts(value: Any) -> Iterator[str]:
    """All texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts(item)


def _keys(path: Path, lines: Mapping[str, int], found: Mapping[str, Any], table: str) -> dict[str, list[Any]]:
    """A table of what varies, with dotted keys and all values."""
    given = found.get(table, {})
    if not isinstance(given, dict):
        raise _error(path, lines.get(table), f"{table}: expected a table of keys and their values")
    keys = {}
    for key, value in _flat(given, ""):
        try:
            keys[key] = _values(key, value, again=table == "paired")
        except ValueError as error:
            raise _error(path, lines.get(key, lines.get(table)), f"{key}: {error}") from None
    return keys


def _flat(table: Mapping[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    """Keys with dots: without quotes TOML takes `hardware.lanes` for a table in a table."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _values(key: str, value: Any, *, again: bool) -> list[Any]:
    """All values that a list or a range stands for; `again`: of which some may be the same."""
    found: list[Any]
    if isinstance(value, str):
        if _RANGE.fullmatch(value):
            found = _range(value)
        elif _BRACES.search(value):
            found = _expanded(value)
        else:
            told = 'a list, or a range such as "0..9"'
            if re.search(r"\{[^{}]*\.\.[^{}]*\}", value):
                told = 'numbers in braces, as in "{1..9}" or "{1..9..2}"'
            raise ValueError(f'expected {told}, found "{value[:80]}"')
    elif isinstance(value, list):
        found = [
            item
            for entry in value
            for item in (_expanded(entry) if isinstance(entry, str) and _BRACES.search(entry) else [entry])
        ]
    else:
        raise ValueError(f'expected a list, or a range such as "0..9", found {value!r:.80}')
    if not found:
        raise ValueError("expected a value or more, found none")
    kinds = {bool: "truth", int: "number", float: "number", str: "text", list: "list", dict: "table"}
    named = {kinds.get(type(item)) for item in found}
    if None in named:
        raise ValueError("expected texts, numbers, truths, lists and tables")
    if len(named) > 1:
        raise ValueError(f"expected values of one kind, found {' and '.join(sorted(map(str, named)))}")
    if any(isinstance(item, float) and not math.isfinite(item) for item in found):
        raise ValueError("expected finite numbers")
    if any(isinstance(item, int) and abs(item) >= 2**63 for item in found):
        raise ValueError("expected whole numbers below 2^63")
    if not again and (at := _repeated(map(_mark, found))) is not None:
        raise ValueError(f"expected different values, found {found[at]!r:.80} twice")
    if key == SEED and any(not isinstance(item, int) or item < 0 for item in found):
        raise ValueError("expected whole numbers from 0 on")
    if key == ROUTES and named != {"text"}:
        raise ValueError('expected routings, as in ["ftree", "adaptive"]')
    return found


def _mark(value: Any) -> str:
    """The same of what is the same value, be it written 1 or 1.0."""
    return repr(float(value)) if isinstance(value, int | float) else repr(value)


def _repeated(marks: Iterable[Any]) -> int | None:
    """The place of the first that was there before."""
    seen = set()
    for at, mark in enumerate(marks):
        if mark in seen:
            return at
        seen.add(mark)
    return None


class _Bounds(NamedTuple):
    """A range: so many numbers from the first on, all whole or none."""

    first: Decimal
    step: Decimal
    numbers: int
    whole: bool


def _range(text: str) -> list[int | float]:
    """The numbers of `first..last` or `first..last..step`, both ends included."""
    first, step, count, whole = _bounds(text)
    return [int(first + at * step) if whole else float(first + at * step) for at in range(count)]


def _bounds(text: str) -> _Bounds:
    matched = _RANGE.fullmatch(text)
    assert matched is not None
    first, last = Decimal(matched[1]), Decimal(matched[2])
    whole = all("." not in part for part in matched.groups() if part is not None)
    if matched[3] is None and not whole:
        raise ValueError(f'"{text}": expected a step behind numbers with a point, as in "0.1..0.9..0.1"')
    step = Decimal(matched[3] or 1)
    if step <= 0:
        raise ValueError(f'"{text}": expected a step above 0')
    if first > last:
        raise ValueError(f'"{text}" is empty: expected the smaller number first')
    count = int((last - first) / step) + 1
    if count > MOST_RUNS:
        raise ValueError(f'"{text}": expected at most {MOST_RUNS:,} values, found {count:,}')
    return _Bounds(first, step, count, whole)


def _expanded(text: str) -> list[str]:
    """Texts for every number of the range in braces, as a shell's `{0..9}`; several: each with each."""
    matched = _BRACES.search(text)
    if matched is None:
        return [text]
    before, after = text[: matched.start()], text[matched.end() :]
    found: list[str] = []
    for number in _range(matched[1]):
        found += [f"{before}{number}{rest}" for rest in _expanded(after)]
        if len(found) > MOST_RUNS:
            raise ValueError(f'"{text[:80]}": expected at most {MOST_RUNS:,} values')
    return found


def _texts(
    path: Path, lines: Mapping[str, int], found: Mapping[str, Any], key: str
) -> tuple[str, ...] | None:
    """A list of different texts."""
    given = found.get(key)
    if given is None:
        return None
    texts = isinstance(given, list) and given and all(isinstance(item, str) for item in given)
    if not texts or len(set(given)) < len(given):
        raise _error(path, lines.get(key), f"{key}: expected a list of different texts, found {given!r:.80}")
    return tuple(given)


def _near(key: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(key, names, 1, 0.5)
    return f', did you mean "{near[0]}"?' if near else f": expected {', '.join(names)}"


def _error(path: Path, line: int | None, message: str) -> FormatError:
    return FormatError(f"{_place(path, line)}: {message}", str(path), line)


def _place(path: Path, line: int | None) -> str:
    return f"{path}:{line}" if line else str(path)


_KEY = re.compile(r"""(?:^|[{,])\s*("[^"]*"|'[^']*'|[\w.-]+)\s*=(?!=)""")


def _lines(text: str) -> dict[str, int]:
    """Where keys stand, as far as that is seen without a parser."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"\s*\[\s*([\w.-]+)\s*\]\s*(?:#.*)?$", line):
            found.setdefault(head[1], number)
            table = head[1].partition(".")[2]
            continue
        for key in _KEY.finditer(line.partition("#")[0]):
            name = key[1].strip("\"'")
            found.setdefault(f"{table}.{name}" if table else name, number)
    return found
