"""Options of the command: a name has one type and one meaning over all verbs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from netloom.cli.parser.options import OPTIONS
from netloom.cli.parser.renamed import _OPTIONS as RENAMED
from netloom.cli.parser.verbs import build_app


def commands(app: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every command that does something, by name."""
    if app.default_command:
        yield name, app
    for command in app:
        if not command.startswith("-"):
            yield from commands(app[command], f"{name} {command}".strip())


def kind(hint: object) -> str:
    """The type of one value, as the registry writes it."""
    text = re.sub(r"<class '(.*)'>", r"\1", str(hint))
    text = text.replace("typing.", "").replace("collections.abc.", "").replace("pathlib.", "")
    text = re.sub(r"^Optional\[(.*)\]$", r"\1", text.replace(" | None", ""))
    text = re.sub(r"^(?:list|Sequence|tuple)\[(.*?)(?:, \.\.\.)?\]$", r"\1", text)
    return re.sub(r"Literal\[(.*)\]", lambda words: "|".join(re.findall(r"'([^']*)'", words[1])), text)


def given() -> dict[str, list[tuple[str, str, tuple[str, ...]]]]:
    """Verb, type and all names of every option, by its first name."""
    found: dict[str, list[tuple[str, str, tuple[str, ...]]]] = {}
    for verb, app in commands(build_app()):
        for argument in app.assemble_argument_collection():
            if argument.names[0].startswith("--"):
                row = (verb, kind(argument.hint), tuple(argument.names))
                found.setdefault(argument.names[0], []).append(row)
    return found


def test_every_option_is_registered_with_its_type():
    options = given()
    assert sorted(options) == sorted(OPTIONS)
    wrong = [
        f"{name} of {verb}: {type_}, the registry says {OPTIONS[name][0]}"
        for name, rows in options.items()
        for verb, type_, _ in rows
        if type_ != OPTIONS[name][0]
    ]
    assert not wrong


def test_no_meaning_has_two_names():
    meanings = [meaning for _, meaning in OPTIONS.values()]
    assert len(set(meanings)) == len(meanings)


def test_an_option_has_the_same_short_name_wherever_it_is():
    for name, rows in given().items():
        assert len({tuple(n for n in names if not n.startswith("--")) for _, _, names in rows}) == 1, name


@pytest.mark.parametrize(
    ("verb", "old", "new"), [(verb, old, new) for verb, row in RENAMED.items() for old, new in row.items()]
)
def test_an_old_option_is_told_its_new_one(netloom, verb, old, new):
    word = netloom.refused(verb, "x", f"{old}=y", code=2)
    # Verbs with commands say so first, where none is named.
    assert new in word or f"netloom {verb} has commands" in word
    assert any(other.split()[0] == verb for other, _, _ in given()[new])
