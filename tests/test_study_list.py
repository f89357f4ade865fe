"""`netloom study list`: nothing of the papers is missing, and every command that it names is one."""

from __future__ import annotations

import re
import shlex
from collections import Counter

import pytest

from netloom.cli.parser.verbs import build_app
from netloom.studies.listed import ITEMS, NOT_OURS, NOT_REPRODUCED, PAPERS, REPRODUCED, STATES

COMMANDS = sorted({command for item in ITEMS for command in item.commands})
_QUICK = (
    r"boxlibmg-64\.mtx\.gz --grey -o|copy-shift|--levels direct|traffic show bisection quartz1"
    r"|study (hashes|bandwidth)|plot matrix (stencil|barrier)"
)
CHEAP = [command for command in COMMANDS if re.search(_QUICK, command)]
"""One of each kind that takes a second or two, of all that is listed."""


def words_of(command: str) -> list[str]:
    """A command's words without its name and without what a shell would do with its output."""
    name, *words = shlex.split(command)
    assert name == "netloom"
    return words[: words.index(">")] if ">" in words else words


def test_every_caption_of_the_papers_is_listed_once(paths):
    captions = (paths.root / "tests" / "data" / "papers" / "captions.txt").read_text().splitlines()
    numbered = [line for line in captions if not line.startswith("#")]
    listed = [f"{item.paper} {item.what}" for item in ITEMS if item.paper != "002"]
    kinds = ("figure ", "table ")
    assert sorted(numbered) == sorted(one for one in listed if one[4:].startswith(kinds))
    assert max(Counter((item.paper, item.what) for item in ITEMS).values()) == 1
    assert {item.paper for item in ITEMS} == {paper.number for paper in PAPERS}


def test_a_state_says_what_there_is():
    for item in ITEMS:
        assert item.state in STATES
        assert item.about
        if item.state == REPRODUCED:
            assert item.commands
        else:
            assert item.why, item.what
        if item.commands and item.state == NOT_REPRODUCED:
            assert item.why.startswith("missed"), item.what
            assert item.page is not None, item.what
        assert item.commands or item.state in (NOT_REPRODUCED, NOT_OURS), item.what


@pytest.mark.parametrize("command", COMMANDS)
def test_a_listed_command_is_one_and_its_files_are_there(paths, command):
    words = words_of(command)
    build_app().parse_args(words, exit_on_error=False, print_error=False)
    for word in words:
        if word.startswith("examples/"):
            assert (paths.root / word).is_file(), word


def test_cheap_commands_run(netloom, paths):
    (netloom.folder / "examples").symlink_to(paths.examples)
    assert len(CHEAP) >= 8
    for command in CHEAP:
        netloom.ok(*words_of(command))


def test_a_listed_table_is_named_on_its_page(paths):
    for item in ITEMS:
        if item.page is None:
            continue
        text = (paths.root / item.page).read_text().lower()
        if item.what.startswith("table "):
            for number in re.findall(r"\d\.\d+", item.what):
                assert number in text, f"{item.what}: {item.page}"


def test_one_line_each_and_one_in_full(netloom):
    found = netloom.result("study", "list")
    rows = [*found["made"], *found["not_made"]]
    assert len(rows) == len(ITEMS)
    text = netloom.ok("study", "list")
    lines = text.split("\n\n")[0].splitlines()[1:]
    assert len(lines) == len(ITEMS)
    states = Counter(row["state"] for row in rows)
    assert states == Counter(
        {state: sum(one["states"][state] for one in found["papers"]) for state in STATES}
    )
    full = netloom.ok("study", "list", "figure", "2.7", "--paper", "taffet")
    for name in ("tiled", "svaf", "svafp"):
        assert f"netloom sample run examples/sampling/minighost-{name}.toml --contexts tag" in full
    assert "--grid 24x48x24 --phase 2" in full


def test_a_paper_by_number_or_author(netloom):
    for text in ("003", "desensi"):
        made = netloom.result("study", "list", "--paper", text)["made"]
        assert {row["source"] for row in made} == {"De Sensi et al., SC 2019"}
    assert (
        netloom.refused("study", "list", "--paper", "005", code=2).count("expected one of 000 (taffet)") == 1
    )
    assert "no such table or figure" in netloom.refused("study", "list", "table", "9.9", code=2)
