"""The documentation as a site: every verb, exported name and schema has a page, and links lead to pages."""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import re
from pathlib import Path

import pytest

import netloom as nl
from netloom.cli.parser.verbs import VERBS

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory, monkeypatch_module):
    spec = importlib.util.spec_from_file_location("stage", ROOT / "docs" / "site" / "stage.py")
    stage = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stage)
    folder = tmp_path_factory.mktemp("site") / "source"
    stage.stage(folder)
    return folder


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "100")
        yield patch


def test_every_exported_name_and_package_has_a_page(site):
    pages = {page.stem for page in (site / "api").glob("*.md")}
    assert {name for name in nl.__all__ if not name.startswith("__")} - {
        "exact",
        "examples",
        "tables",
    } <= pages
    assert {"netloom.exact", "netloom.tables", "netloom.live", "netloom.sweeps"} <= pages
    index = (site / "api" / "index.md").read_text()
    assert "netloom.levels" in index.partition("## Packages")[2].partition("## Inside")[0]
    for name in nl.__all__:
        kind = getattr(nl, name)
        if inspect.isclass(kind) and not issubclass(kind, Exception):
            members = [kind, *(getattr(kind, one) for one in vars(kind) if not one.startswith("_"))]
            own = "".join(inspect.getdoc(member) or "" for member in members)
            assert ">>>" in own + (site / "api" / f"{name}.md").read_text(), f"{name} has no example"


def test_every_verb_has_its_help_and_every_schema_a_page(site):
    for verb in VERBS:
        text = (site / "verbs" / f"{verb}.md").read_text()
        assert "## Help" in text
        assert f"Usage: netloom {verb}" in text
    schemas = {file.stem for file in (ROOT / "docs" / "schemas").glob("*.json")}
    assert schemas | {"index"} == {page.stem for page in (site / "schemas").glob("*.md")}
    assert "| `result.page` |" in (site / "schemas" / "report.md").read_text()


def test_the_ten_minutes_of_the_start_page_are_the_steps_of_the_page_that_tests_run(site):
    start = (site / "index.md").read_text().partition("ten minutes")[2].partition("## Begin")[0]
    steps = re.findall(r"^\$ (.*)$", start, re.MULTILINE)
    whole = (site / "from-program-to-routes.md").read_text()
    assert len(steps) == 8
    assert [step for step in steps if f"$ {step}\n" not in whole] == ["netloom examples first && cd first"]


def test_headings_go_down_one_level_at_a_time(site):
    """What MyST warns of, and so what would fail `make site`."""
    for page in site.rglob("*.md"):
        text = re.sub(r"^(```+).*?^\1", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        levels = [len(mark) for mark in re.findall(r"^(#+) ", text, re.MULTILINE)]
        assert levels[0] == 1, page
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels)), page


def test_links_lead_to_pages_pictures_and_files_of_the_site(site):
    for page in site.rglob("*.md"):
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s#]+)", text):
            if not re.match(r"[a-z]+:", target):
                assert (page.parent / target).exists(), (page.relative_to(site), target)


def test_pictures_stand_under_the_command_that_draws_them(site):
    text = (site / "gallery.md").read_text()
    drawn = re.findall(r"\((images/[^)]+)\)\n\n```console\n\$ (netloom .*)\n```", text)
    assert len(drawn) == text.count("![") > 20
    for picture, command in drawn:
        verb = "report" if "report-" in picture else "(?:plot|plan)"
        assert re.match(rf"netloom {verb} .*-o \S+$|netloom plan ", command), (picture, command)
