"""SECURITY.md: each promise has the tests that hold it beside it."""

from __future__ import annotations

import ast
import re

import pytest

from conftest import ROOT


def promises() -> list[tuple[str, list[str]]]:
    """Each promise of the list, and its tests."""
    text = (ROOT / "SECURITY.md").read_text().partition("## What holds")[2].partition("\n## ")[0]
    items = re.findall(r"^- \*\*(.+?)\.\*\*\s(.+?)(?=\n- |\n\n)", text, re.MULTILINE | re.DOTALL)
    assert len(items) == text.count("\n- ") > 0
    return [
        (
            " ".join(promise.split()),
            re.findall(r"`(test_\w+\.py::test_\w+)`", body.partition("*Held by*")[2]),
        )
        for promise, body in items
    ]


@pytest.mark.parametrize(
    ("promise", "tests"), promises(), ids=lambda found: found if isinstance(found, str) else ""
)
def test_a_promise_has_a_test_that_is_there(promise, tests):
    assert tests, f"no test holds: {promise}"
    for name in tests:
        file, _, function = name.partition("::")
        tree = ast.parse((ROOT / "tests" / file).read_text())
        assert function in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, name
