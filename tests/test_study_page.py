"""`netloom study page`: the page of the papers' figures is the one that its table makes, and says no more."""

from __future__ import annotations

import csv
import json
import re

import pytest

from netloom.studies.listed import ITEMS
from netloom.studies.listed.recorded import Figure

HEAD = "paper,item,row,column,unit,published,here,measured\n"
ROW = '000,table 5.1,"shift, ftree",,ms,1.688,1.692,"2026-11-26, a machine"\n'


def test_the_page_in_docs_is_made_from_its_table(netloom, paths):
    (netloom.folder / "docs").mkdir()
    made = paths.root / "docs"
    (netloom.folder / "docs" / "papers.csv").write_bytes((made / "papers.csv").read_bytes())
    netloom.ok("study", "page", "docs/papers.csv", "-o", "docs/papers.md")
    told = "make it anew: netloom study page docs/papers.csv -o docs/papers.md"
    assert (netloom.folder / "docs" / "papers.md").read_text() == (made / "papers.md").read_text(), told
    netloom.ok("study", "page", "docs/papers.csv", "-o", "again.csv")
    assert (netloom.folder / "again.csv").read_bytes() == (made / "papers.csv").read_bytes()


def test_every_item_of_the_list_is_on_the_page(paths):
    text = " ".join((paths.root / "docs" / "papers.md").read_text().split()).lower()
    for item in ITEMS:
        assert f"{item.what.lower()}: " in text or f"**{item.what.lower()}**, " in text, item.what


def test_figures_from_pages_are_still_on_those_pages(paths):
    """What is written in two places shall be one figure."""
    pages = {(item.paper, item.what): item.page for item in ITEMS}
    with open(paths.root / "docs" / "papers.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 200
    missed = []
    for row in rows:
        found = re.match(r"[0-9][0-9.,]*[0-9]", row["here"])
        if found is None or (row["paper"], row["item"]) in LATER:
            continue
        page = pages[row["paper"], row["item"]]
        texts = [
            (paths.root / one).read_text() for one in (page, "docs/methods/loop.md", "docs/verbs/study.md")
        ]
        if not any(found.group() in text for text in texts):
            missed.append((row["item"], row["row"], row["here"]))
    assert missed == []


LATER = {
    ("000", what) for what in ("table 3.2", "table 4.1", "table 4.2", "table 4.3", "figure 4.12", "table 5.5")
}
"""Items whose figures come from results, not from pages."""


def test_a_figure_says_how_far_off_it_is():
    def off(unit: str, published: str, here: str) -> str:
        return Figure("000", "table 5.1", "", "", unit, published, here, "").off

    assert off("ms", "6.715", "6.714 (5.875 to 7.553)") == "-0.0 %"
    assert off("ms", "2.000", "1,000") == "+49900.0 %"
    assert off("%", "69.13", "0.17") == "-68.96 points"
    assert off("", "0", "1") == off("", "", "1") == off("", "a third", "1") == off("", "15 to 20", "18") == ""


def test_results_of_studies_become_figures(netloom):
    tree = "two-level:leaves=4,hosts=4,spines=4"
    made = ("study", "chapter4", "boxlibmg-64", "--fabric", "two-level:leaves=8,hosts=16,spines=8")
    netloom.ok(*made, "--lanes", "1", "--bases", "none", "-o", "four.json")
    (netloom.folder / "old.csv").write_text(HEAD + ROW)
    line = netloom.refused("study", "page", "four.json", "-o", "x.csv")
    assert "--measured" in line
    netloom.ok("study", "page", "old.csv", "four.json", "--measured", "today, here", "-o", "x.csv")
    rows = list(csv.DictReader((netloom.folder / "x.csv").read_text().splitlines()))
    assert [(row["item"], row["published"], row["measured"]) for row in rows] == [
        ("table 4.2", "66.10", "today, here"),
        ("table 5.1", "1.688", "2026-11-26, a machine"),
    ]
    pytest.importorskip("highspy")
    netloom.ok("study", "table32", "bisection", "--fabric", tree, "--models", "basic", "-o", "three.json")
    found = netloom.result("study", "page", "three.json", "--measured", "today")
    assert [(one["item"], one["column"], one["published"], one["here"]) for one in found["figures"]] == [
        ("table 3.2", "ftree, the start", "", "0.00"),
        ("table 3.2", "basic", "100.00", "0.00"),
        ("table 3.2", "possible", "0.00", "0.00"),
    ]


def test_the_later_figure_of_a_cell_counts(netloom):
    (netloom.folder / "one.csv").write_text(HEAD + ROW)
    (netloom.folder / "two.csv").write_text(HEAD + ROW.replace("1.692", "1.700"))
    for order, here in ((("one.csv", "two.csv"), "1.700"), (("two.csv", "one.csv"), "1.692")):
        (figure,) = netloom.result("study", "page", *order)["figures"]
        assert figure["here"] == here


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected the columns paper,item,row"),
        ("a,b\n", "expected the columns paper,item,row"),
        (HEAD + "000,table 5.1,x\n", ":2: expected 8 columns, found 3"),
        (HEAD + ROW.replace("5.1", "9.1"), ":2: paper 000 has no table 9.1"),
        (json.dumps({"schema": "netloom.loads/1", "result": {}}), "found netloom.loads/1"),
        ('{"schema": "netloom.loop-table/1"}', "expected a result of study table32"),
        ('{"schema"', "expected a result of study table32"),
        ("\x00", "expected"),
    ],
)
def test_what_is_no_table_of_figures_is_refused(netloom, text, said):
    (netloom.folder / "x.csv").write_text(text)
    assert said in netloom.refused("study", "page", "x.csv", "--measured", "today", "-o", "x.md")


def test_nothing_to_make_a_page_of_is_refused(netloom):
    assert "study page makes a page of results" in netloom.refused("study", "page", "-o", "x.md", code=2)
    (netloom.folder / "x.csv").write_text(HEAD + ROW)
    assert ".md, .csv" in netloom.refused("study", "page", "x.csv", "-o", "x.html", code=2)
