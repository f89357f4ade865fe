"""Functions written in Python refuse what their command refuses: words for truths, numbers out of range."""

from __future__ import annotations

import inspect

import pytest

import netloom as nl

CHECKED = [name for name in nl.__all__ if hasattr(getattr(nl, name), "__wrapped__")]
REFUSED = {
    "bool": ("no", "false", 1, 0, None),
    "int": (1.5, "1", True, float("nan"), 2**70, -1),
    "int | None": (1.5, "1", True, 2**70, -1),
}


def _wrong():
    for name in CHECKED:
        for parameter in inspect.signature(getattr(nl, name)).parameters.values():
            if "Literal[" in str(parameter.annotation) or parameter.annotation in ("LeaveOut", "Tables"):
                yield name, parameter.name, "no such word"
            for value in REFUSED.get(str(parameter.annotation), ()):
                yield name, parameter.name, value


@pytest.mark.parametrize(("name", "argument", "value"), list(_wrong()))
def test_what_is_out_of_range_is_refused_by_its_name_before_anything_else(name, argument, value):
    call = getattr(nl, name)
    needed, named = [], {argument: value}
    for parameter in inspect.signature(call).parameters.values():
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            needed.append("nothing")
        elif parameter.default is parameter.empty and parameter.kind is parameter.KEYWORD_ONLY:
            named.setdefault(parameter.name, "nothing")
    with pytest.raises(nl.ArgumentError, match=f"^{argument}: expected "):
        call(*needed, **named)


def test_every_function_that_changes_something_is_checked():
    changing = {
        "apply_routes",
        "rollback_routes",
        "recover_routes",
        "loop_live",
        "dataplane_up",
        "dataplane_down",
    }
    assert changing <= set(CHECKED)
    assert len(CHECKED) > 15


def test_routes_that_are_none_are_refused_and_nothing_is_rolled_back():
    with pytest.raises(
        nl.ArgumentError, match=r"^routes: expected Routes, a file or an engine's name, found"
    ):
        nl.apply_routes(None, yes=True)  # type: ignore[arg-type]
    with pytest.raises(nl.ArgumentError, match=r"^interface: expected a sequence of values, found"):
        nl.dataplane_up("nothing", interface="a:1=eth0")
    with pytest.raises(nl.ArgumentError, match=r"^allow: expected some of standby"):
        nl.apply_routes("ftree", allow="standby")  # type: ignore[arg-type]
