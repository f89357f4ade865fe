"""Options that do not fit together: every row of every verb's table is refused, before anything is read."""

from __future__ import annotations

import pytest

from netloom.cli import watch
from netloom.cli.diagnose import command as diagnose
from netloom.cli.infer import command as infer
from netloom.cli.sample import command as sample
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.unfit import Unfit, refuse
from netloom.cli.simulate import command as simulate
from netloom.cli.sweep import command as sweep
from netloom.optimizing import unfit as optimize

TABLES = {
    "optimize no-such-file bisection": optimize.TABLE,
    "simulate no-such-file": simulate._UNFIT,
    "sample run no-such-file": sample._UNFIT,
    "sweep run no-such-file -o swept": sweep._UNFIT,
    "infer no-such-file ftree no-such-file": infer._UNFIT,
    "diagnose no-such-file": diagnose._UNFIT,
    "watch no-such-file": watch._UNFIT,
}
FLAGS = {
    *(
        "--hose",
        "--front",
        "--repair",
        "--compare",
        "--alone",
        "--packets",
        "--with-truth",
        "--once",
        "--try",
    ),
}
WORDS = {
    "--also": "bisection",
    "--error": "5",
    "--objective": "sum",
    "--robust": "mean",
    "--exact": "basic",
    "--judge": "fluid",
    "--from": "today.lfts",
    "--write-model": "model.mps",
    "--write-paths": "paths.csv",
    "--write-certificate": "proof.json",
    "--output": "written.csv",
    "--checkpoint": "kept",
    "--dask": "tcp://127.0.0.1:1",
    "--slurm": "array.sh",
    "--marking": "queue",
    "--hash": "md5",
}
"""What an option is given; others take a number."""


def words(option: str) -> list[str]:
    if " " in option or option in FLAGS:
        return option.split()
    return [option, WORDS.get(option, "1")]


def given(row: Unfit, before: tuple[Unfit, ...]) -> set[str]:
    """Options for which this row is the first that applies."""
    found = {row.option} if row.needs else {row.option, *row.others}
    for earlier in before:
        names = found | {name.split()[0] for name in found}
        if earlier.needs and earlier.option in names and names.isdisjoint(earlier.others):
            found.add(earlier.others[0])
    return found


ROWS = [
    (head, row, given(row, tuple(table[:number])))
    for head, table in TABLES.items()
    for number, row in enumerate(table)
]


@pytest.mark.parametrize(
    ("head", "row", "options"), ROWS, ids=[f"{head.split()[0]} {' '.join(sorted(o))}" for head, _, o in ROWS]
)
def test_each_pair_is_refused_with_both_names_and_nothing_is_written(netloom, head, row, options):
    told = netloom.refused(*head.split(), *(word for one in sorted(options) for word in words(one)), code=2)
    assert told == row.text
    for names in ((row.option,), row.others):
        typed = [name.split()[0].replace("--output", "-o") for name in names]
        assert any(name in told for name in typed), typed
    assert list(netloom.folder.iterdir()) == []


@pytest.mark.parametrize("head", TABLES)
def test_what_a_need_is_met_by_is_let_through(head):
    table = TABLES[head]
    needs = [row for row in table if row.needs]
    for row in needs:
        for other in row.others:
            alone = [one for one in needs if one.option == row.option and one is not row]
            meets = {row.option, other, other.split()[0], *(one.others[0] for one in alone)}
            refuse([row], meets)
            with pytest.raises(UsageError):
                refuse([row], {row.option})


def test_where_the_traffic_has_phases_the_same_table_speaks(netloom, paths):
    jobs = '[[job]]\nname = "a"\n' + '[[job.phase]]\npattern = "bisection:ranks=32"\n' * 2
    (netloom.folder / "jobs.toml").write_text(jobs)
    for option in ("--islands", "--lmc", "--exact", "--compare"):
        told = netloom.refused("optimize", paths.ft2, "jobs.toml", *words(option), "-o", "r.lfts", code=2)
        assert option in told
        assert "--objective total" in told
        assert not (netloom.folder / "r.lfts").exists()
