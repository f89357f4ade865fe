"""`help(netloom)` is enough: every public name says what it takes, gives and raises, and its example runs."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import netloom

SECTIONS = ("Parameters", "Returns", "Raises", "References", "Examples")
FUNCTIONS = [name for name in netloom.__all__ if inspect.isroutine(getattr(netloom, name))]
CLASSES = [
    name
    for name in netloom.__all__
    if inspect.isclass(getattr(netloom, name)) and not issubclass(getattr(netloom, name), Exception)
]
WHOLE = (
    "route",
    "loads",
    "check",
    "optimize",
    "optimize_hose",
    "optimize_layers",
    "infer",
    "simulate",
    "afar",
    "synth_counters",
)
"""The functions that people begin with have every section."""


def _sections(text: str) -> dict[str, str]:
    """What stands under each heading of a docstring."""
    parts = re.split(rf"(?m)^({'|'.join(SECTIONS)})\n-+$", text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _methods() -> Iterator[tuple[str, Any]]:
    for name in CLASSES:
        kind = getattr(netloom, name)
        for member in sorted(vars(kind)):
            if not member.startswith("_") and callable(getattr(kind, member)):
                yield f"{name}.{member}", getattr(kind, member)


CALLS = [(name, getattr(netloom, name)) for name in FUNCTIONS] + list(_methods())


def test_no_public_name_is_bare():
    bare = [
        name for name in netloom.__all__ if not name.startswith("__") and not getattr(netloom, name).__doc__
    ]
    for name in CLASSES:
        kind = getattr(netloom, name)
        members = [member for member in vars(kind) if not member.startswith("_")]
        bare += [f"{name}.{member}" for member in members if not inspect.getdoc(getattr(kind, member))]
    assert bare == []


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[name for name, _ in CALLS])
def test_every_parameter_has_a_type_and_a_default(name, call):
    expected = {
        ("**" if p.kind is p.VAR_KEYWORD else "") + p.name: p
        for p in inspect.signature(call).parameters.values()
        if p.name != "self"
    }
    told = _sections(inspect.getdoc(call) or "").get("Parameters", "")
    rows: dict[str, str] = {}
    for names, kind in re.findall(r"(?m)^(\*{0,2}\w+(?:, \w+)*)(?: : (.+))?$", told):
        rows |= dict.fromkeys(names.split(", "), kind)
    assert list(rows) == list(expected)
    for each, parameter in expected.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        assert rows[each], f"{each} has no type"
        has_default = parameter.default is not parameter.empty
        assert bool(re.search(r", (default .+|optional)$", rows[each])) == has_default, each
        if isinstance(parameter.default, int | float | str) and "default" in rows[each]:
            assert ast.literal_eval(rows[each].rsplit("default ", 1)[1]) == parameter.default, each


PACKAGES = ("exact", "examples", "gpu", "hierarchy", "levels", "tables")
"""Packages for users; docs/site/stage.py lists the same."""


def _of_packages() -> dict[str, Any]:
    """The functions of the packages for users."""
    calls = {}
    for package in PACKAGES:
        module = importlib.import_module(f"netloom.{package}")
        assert module.__doc__
        for name in getattr(module, "__all__", vars(module)):
            call = getattr(module, name)
            if inspect.isfunction(call) and call.__module__.startswith(module.__name__) and name[0] != "_":
                calls[f"{package}.{name}"] = call
    return calls


NEVER_RAISE = ("matrix", "link_levels")
"""Functions that raise nothing, whatever they are given of the right type."""


def _lacking(call: Any) -> list[str]:
    """Which parts a function's docstring lacks: what takes nothing raises nothing."""
    takes = bool(inspect.signature(call).parameters)
    told = _sections(inspect.getdoc(call) or "")
    wanted = {"Parameters": takes, "Returns": True, "Raises": takes and call.__name__ not in NEVER_RAISE}
    return [part for part, must in {**wanted, "Examples": True}.items() if must and part not in told]


def test_every_function_says_what_it_takes_gives_and_raises_with_an_example():
    calls = {**{name: getattr(netloom, name) for name in FUNCTIONS}, **_of_packages()}
    assert {name: lacking for name, call in calls.items() if (lacking := _lacking(call))} == {}


@pytest.mark.parametrize("name", WHOLE)
def test_the_main_functions_have_every_section(name):
    assert tuple(_sections(inspect.getdoc(getattr(netloom, name)) or "")) == SECTIONS


def test_examples_run(tmp_path, monkeypatch):
    # Of an empty folder: what they read comes with the package, as it does with a wheel.
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner()
    for name, call in [*CALLS, *_of_packages().items()]:
        names = {
            **vars(sys.modules.get(getattr(call, "__module__", None) or "", netloom)),
            "netloom": netloom,
        }
        found = doctest.DocTestParser().get_doctest(inspect.getdoc(call) or "", names, name, None, 0)
        runner.run(found)
    assert runner.tries > 60
    assert runner.failures == 0
