"""Groups of a dragonfly as they are stated: a file of switches, or a rule by names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloom.errors import FormatError


def stated(text: str, names: Sequence[str], data: bytes | None) -> list[int]:
    """The group of every switch, numbered in the order of their first switches.

    A file has a switch a line, its name and then its group (any word). Anything else is a rule by names: a
    regular expression whose part in parentheses is the group.

    Parameters
    ----------
    text
        The rule, or the file's path.
    names
        Names of all switches, in the order of `Fabric.switch_table`.
    data
        What the file holds; None: `text` is a rule.

    Returns
    -------
    list[int]
        A number for every switch.

    Raises
    ------
    FormatError
        A line of the file names no switch, or one again; a switch has no group.
    ValueError
        The rule is none, or does not fit all names; there is one group only.

    Examples
    --------
    >>> stated("g([0-9]+)r", ["g0r0", "g0r1", "g1r0", "g1r1"], None)
    [0, 0, 1, 1]
    """
    group_of = _by_names(text, names) if data is None else _of_file(text, data, names)
    numbers = {group: i for i, group in enumerate(dict.fromkeys(group_of[name] for name in names))}
    if len(numbers) < 2:
        raise ValueError(f"expected at least two groups, found {len(numbers)}")
    return [numbers[group_of[name]] for name in names]


def _of_file(path: str, data: bytes, names: Sequence[str]) -> dict[str, str]:
    known, group_of = set(names), dict[str, str]()
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        name, _, group = line.partition("#")[0].strip().replace(",", " ").rpartition(" ")
        name, group = name.strip(), group.strip()
        if not group:
            continue
        if name not in known or name in group_of:
            fault = "a switch of the fabric" if name not in known else "every switch once"
            raise FormatError(
                f"{path}:{number}: expected {fault} and its group, found {line.strip()!r}", path, number
            )
        group_of[name] = group
    missing = [name for name in names if name not in group_of]
    if missing:
        raise FormatError(
            f"{path}: expected a group for every switch, found none for {len(missing)}, such as {missing[0]}",
            path,
        )
    return group_of


def _by_names(rule: str, names: Sequence[str]) -> dict[str, str]:
    try:
        pattern = re.compile(rule)
    except re.error as error:
        raise ValueError(f"expected a file or a regular expression: {error}") from None
    if pattern.groups != 1:
        raise ValueError("expected a file, or a rule by names with a part in parentheses, as g([0-9]+)r")
    found = {name: pattern.match(name) for name in names}
    odd = next((name for name, match in found.items() if match is None or match[1] is None), None)
    if odd is not None:
        raise ValueError(f"expected a rule for the names of all switches, found {odd}")
    return {name: match[1] for name, match in found.items() if match is not None}
