"""Files that mutation broke, and names that would take a terminal over: refused by name, and harmless."""

from __future__ import annotations

import re

import pytest

NET = "two-level:leaves=4,hosts=4,spines=2"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
ESCAPE = "\x1b[31mred\x07"


@pytest.mark.parametrize(
    ("file", "verb", "says"),
    [
        ("deflate-distance.npz", ("traffic", "show"), "expected a sparse matrix"),
        ("deflate-code.npz", ("traffic", "show"), "expected a sparse matrix"),
        ("deflate-stored.npz", ("traffic", "show"), "expected a sparse matrix"),
        ("packets-column-twice.csv", ("sample", "decode", NET), "column destination stands"),
        (
            "front-without-max-load.json",
            ("plot", "front", "-o", "front.svg"),
            "expected what netloom optimize",
        ),
        ("front-input-without-role.json", ("plot", "front", "-o", "front.svg"), "expected what netloom"),
    ],
)
def test_files_that_mutation_broke_are_refused_by_name(netloom, paths, file, verb, says):
    """Each of them was an internal error."""
    path = paths.examples.parent / "tests" / "data" / "broken" / file
    refusal = netloom.refused(*verb, path)
    assert says in refusal
    assert file in refusal


@pytest.mark.parametrize("column", ["bytes", "source"])
def test_a_parquet_table_with_a_column_twice_is_refused(netloom, column):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    names = ["source", "destination", "bytes", column]
    table = pa.Table.from_arrays([pa.array([1])] * 4, names=names)
    pq.write_table(table, netloom.folder / "t.parquet")
    assert f"({column})" in netloom.refused("traffic", "show", "t.parquet")


def test_control_characters_of_files_do_not_reach_the_terminal(netloom):
    """In errors, notes and tables alike."""
    (netloom.folder / "t.csv").write_text(f"source,destination,bytes\n{ESCAPE},1,2\n")
    refusal = netloom.refused("traffic", "show", "t.csv")
    assert "red" in refusal
    assert not CONTROL.search(refusal)
    name = f"leaf{ESCAPE}"
    dump = netloom.ok("fabric", "new", NET, "-o", "-").replace("leaf0", f"{name}0")
    (netloom.folder / "net.txt").write_text(dump)
    for form in (("fabric", "show"), ("loads",)):
        given = ("net.txt",) if len(form) == 2 else ("net.txt", "minhop", "all-to-all", "--hottest", "9")
        assert not CONTROL.search(netloom.ok(*form, *given))


def test_what_is_printable_stays_as_it_is():
    from netloom.cli.shared.render import printable

    assert printable("a\nb μ日本 é") == "a\nb μ日本 é"
    assert printable("a\nb\t\x7f\x9b\u202e", lines=False) == "a\\x0ab\\x09\\x7f\\x9b\\u202e"
