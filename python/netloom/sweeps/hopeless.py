"""Values that can never work, found before the first run.

A value is tried by itself, in the scenario as it is; one that is refused is tried with the values of the
other keys, for what does not fit one fabric may fit another. Where all are refused the sweep is, with the
line of its key. Only reading is tried: what routes and simulations refuse is found by its run, and so is a
value of which not everything could be tried.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from netloom.errors import FormatError, NetloomError
from netloom.sweeps.preparation import Prepared
from netloom.sweeps.private import public
from netloom.sweeps.spec import ROUTES, SEED, Spec
from netloom.sweeps.toml import inline
from netloom.sweeps.work import Plan, attributed, scenario_of

MOST_VALUES = 200
"""So many values of a key are tried: the first, the last, and others evenly between."""
MOST_TOGETHER = 256
"""So many times a value is tried with those of other keys."""


def refuse(prepared: Prepared) -> None:
    """Refuses a sweep with a value that no run can have.

    Parameters
    ----------
    prepared : Prepared
        The sweep.

    Raises
    ------
    FormatError
        With the sweep's file, and the line of the key.
    """
    spec, plan = prepared.spec, prepared.plan
    for key in spec.varied:
        # Seeds are whole numbers, which is known already.
        for value in _some(spec.of(key)) if key != SEED else ():
            error = _refused(plan, {key: value})
            if error is None or _fits(spec, plan, key, value, isinstance(error, FormatError)):
                continue
            told = public(attributed(plan, {key: value}) or error)
            told = told.removeprefix(f"{key}={inline(value)}: ")
            raise spec.error(key, f"{key}={inline(value):.80}: {told}")


def _some(values: Sequence[Any]) -> Sequence[Any]:
    if len(values) <= MOST_VALUES:
        return values
    return [values[at * (len(values) - 1) // (MOST_VALUES - 1)] for at in range(MOST_VALUES)]


def _refused(plan: Plan, values: Mapping[str, Any]) -> Exception | None:
    try:
        scenario_of(plan, values)
    except (NetloomError, OSError, KeyError) as error:
        return error
    return None


def _fits(spec: Spec, plan: Plan, key: str, value: Any, ill_formed: bool) -> bool:
    """Whether a value works with some of the others, or may, as not all could be tried."""
    for tried, values in enumerate(_together(spec, key, value)):
        if tried == MOST_TOGETHER:
            return not ill_formed
        if _refused(plan, values) is None:
            return True
    return False


def _together(spec: Spec, key: str, value: Any) -> Iterator[dict[str, Any]]:
    """The value with all combinations of the other keys' values; the seed and routings change nothing."""
    rest = [name for name in spec.over if name not in (SEED, ROUTES, key)]
    pairs: list[dict[str, Any]] = [{}]
    if spec.paired:
        rows = [row for row in range(spec.pairs) if key not in spec.paired or spec.of(key)[row] == value]
        pairs = [{name: values[row] for name, values in spec.paired.items()} for row in rows]
    for pair in pairs:
        pair = {name: one for name, one in pair.items() if name not in (SEED, ROUTES)}
        for combination in itertools.product(*(spec.over[name] for name in rest)):
            yield {**pair, **dict(zip(rest, combination, strict=True)), key: value}
