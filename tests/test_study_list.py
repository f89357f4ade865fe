"""`netloom study list`: every command that it names is one, and its files are there."""

from __future__ import annotations

import re
import shlex

import pytest

from netloom.cli.parser.verbs import build_app
from netloom.cli.study.listed import LISTED


@pytest.mark.parametrize("command", sorted({one.command for one in LISTED}))
def test_a_listed_command_is_one_and_its_files_are_there(paths, command):
    name, *words = shlex.split(command)
    assert name == "netloom"
    build_app().parse_args(words, exit_on_error=False, print_error=False)
    for word in words:
        if word.startswith("examples/"):
            assert (paths.root / word).is_file(), word


def test_a_listed_table_is_named_on_its_page(paths):
    for one in LISTED:
        text = (paths.root / one.page).read_text().lower()
        for number in re.findall(r"\d\.\d+", one.what):
            assert number in text, f"{one.what}: {one.page}"


def test_tables_are_listed_with_their_commands(netloom):
    rows = netloom.result("study", "list")["made"]
    assert {"table 2.1": "netloom study sampling", "tables 4.1 to 4.3": "netloom study chapter4"}.items() <= {
        row["what"]: row["command"] for row in rows
    }.items()
    assert "netloom loop table" in netloom.ok("study", "list")
