"""Cases (`tests/cases`): documents whose commands print what they say, and the codes that they cover.

`NETLOOM_UPDATE_CASES=1` writes what the commands print into the documents instead of comparing it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

import case_document
import console
import mpi_bed
from console import Printed
from netloom.findings import KINDS

UPDATE = bool(os.environ.get("NETLOOM_UPDATE_CASES"))
DOCUMENTS = case_document.documents()


@pytest.mark.parametrize(
    "path", DOCUMENTS, ids=[str(path.relative_to(case_document.FOLDER).with_suffix("")) for path in DOCUMENTS]
)
def test_a_case_prints_what_it_says(path, netloom):
    try:
        case = case_document.read(path)
    except case_document.Broken as broken:
        pytest.fail(str(broken), pytrace=False)
    if missing := [tool for tool in case.needs if shutil.which(tool) is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    case.furnish(netloom.folder)
    env = {**os.environ, **mpi_bed.ENVIRONMENT, "PATH": netloom.path(), "COLUMNS": "100"}
    printed = []
    for step in case.steps:
        printed.append(console.printed_by(step.command, netloom, env))
        if not UPDATE and not console.fits(step, printed[-1]):
            told = console.difference(step, printed[-1])
            pytest.fail(
                f"{case.name}:{step.line}: $ {step.command}\n- the case says, + is printed\n{told}\n"
                "If the new lines are right: NETLOOM_UPDATE_CASES=1 writes them into the case.",
                pytrace=False,
            )
    if UPDATE:
        path.write_text(case.updated(printed))


TOLD = (
    r"^ *(?:error|warning|note) +([a-z0-9-]+): ",  # findings, as all verbs print them
    r"^\d+\. ([a-z-]+) \(confidence",  # causes, as diagnose does
    r",(?:error|warning|note),([a-z0-9-]+),",  # problems of cables, as CSV
)
"""How commands print the kind of a finding."""

ELSEWHERE = {
    # Of a live fabric, its OpenSM and the loop on it: tests/test_apply*.py, test_live*.py, test_loop_live.py.
    *("adaptive", "cached", "fallback", "fabric-changed", "link-down", "live", "no-file-engine"),
    *("not-applied", "not-rolled-back", "odd-journal", "recovered", "silent-port", "silent-switch", "stages"),
    *("standby", "tables-changed", "time-limit", "two-masters", "unanswered", "unfinished", "unknown-links"),
    *("unread-links", "unsound-part", "unsound-rest"),
    # Errors that a round of the loop survives, by their class: tests/test_loop_live.py.
    *("argument", "counters", "fabric", "format", "internal", "netloom", "notinstalled", "optimize", "os"),
    *("place", "routing", "simulation", "spec", "traffic"),
    # Of programs on ports: tests/test_dataplane*.py.
    *("clsact-kept", "congestion-off", "events-lost", "half-up", "host-left-out", "other-filters"),
    *("port-gone", "program-gone", "slope-off", "switch-left-out", "unknown-addresses"),
    # Of recorded programs and traces: tests/test_record*.py.
    *("ambiguous-order", "clocks-differ", "collectives-as-asked", "collectives-left-out", "communicators"),
    *("decomposed-collectives", "dropped-events", "lost-ranks", "one-host"),
    *("other-world", "output-taken", "oversubscribed", "threads-as-ranks", "uncounted-calls"),
    *("unmatched-messages", "unread-events"),
    # Of plans, simulations, noise and samples: tests/test_plan.py, test_simulate*.py, test_noise*.py,
    # test_sample*.py.
    *("astray", "better-compared", "contradiction", "few-samples", "load-not-accepted", "messages-cut"),
    *("messages-unmatched", "never-received", "no-design", "no-packets", "no-samples"),
    *("odd-ports", "slower-than-start", "uneven-bundles"),
    # Notes that `optimize` has in its JSON: tests/test_optimize*.py.
    *("inferred", "kept", "left-out", "not-shortest", "repaired", "routes-of-a-guess"),
    # Of graphs of networkx, which no command reads: tests/test_doors.py.
    *("no-kind", "unnamed-port"),
}
"""Kinds that no case has: none of `health`, `check`, `diagnose` or jobs files, and no new one."""


def covered() -> set[str]:
    said = "".join(step.output for path in DOCUMENTS for step in case_document.read(path).steps)
    return {kind for expression in TOLD for kind in re.findall(expression, said, re.MULTILINE)}


def test_every_kind_of_finding_has_a_case():
    missing = sorted(KINDS.keys() - covered() - ELSEWHERE)
    assert not missing, f"no case prints these kinds of findings: {missing}; docs/cases.md: how to add one"
    assert not ELSEWHERE & covered(), "cases have these now: take them out of ELSEWHERE"
    assert len(ELSEWHERE) <= 88, "a new kind gets a case"


def test_every_parser_has_a_case():
    """Every parser has a fuzz target; its cases are tests/cases/parsers/TARGET.md and TARGET-….md."""
    targets = {path.stem for path in (console.ROOT / "fuzz" / "targets").glob("*.rs")}
    cases = {path.stem.split("-")[0] for path in (case_document.FOLDER / "parsers").glob("*.md")}
    assert len(targets) >= 30
    assert targets <= cases, f"no case in tests/cases/parsers: {sorted(targets - cases)}"
    assert cases <= targets, f"no parser of these names in fuzz/targets: {sorted(cases - targets)}"


def test_cases_are_many_and_the_folders_are_lists():
    assert len(DOCUMENTS) >= 250
    titles = [case_document.read(path).title for path in DOCUMENTS]
    assert [title for title in titles if titles.count(title) > 1] == []


GOOD = """# A title

Why.

```text file=net.txt
x
```

```console
$ cat net.txt
x
$ false
# exit 1
```
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("# A title", "A title", 'case.md:1: expected a title, `# …`, found "A title"'),
        ("Why.\n", "", "case.md:2: expected a sentence below the title that says why"),
        ("```text file=net.txt", "```text", "case.md:5: expected ```console, or a file as in"),
        ("file=net.txt", "file=../net.txt", "case.md:5: expected a name inside of the case's folder"),
        ("x\n```\n\n```console", "x\n\n```console", "case.md:8: expected the end of the block of line 5"),
        (
            "$ cat net.txt",
            "cat net.txt",
            'case.md:10: expected a command, `$ netloom …`, found "cat net.txt"',
        ),
        ("# exit 1\n```", "# exit 1", "case.md:9: expected the block's end"),
        ("```console", "```text file=net.txt", 'case.md:9: two files are called "net.txt"'),
        ("```console", "```text file=out.txt", "expected a ```console block with a command, found none"),
    ],
)
def test_what_is_no_case_is_told_with_its_line(old, new, told):
    with pytest.raises(case_document.Broken) as error:
        case_document.parse(GOOD.replace(old, new, 1), "case.md")
    assert told in str(error.value)


def test_an_update_writes_what_changed_and_keeps_wildcards():
    case = case_document.parse(GOOD.replace("net.txt\nx\n$", "net.txt\n…\n$"), "case.md")
    assert [(step.line, step.code) for step in case.steps] == [(10, 0), (12, 1)]
    same = [Printed("y\n", 0), Printed("", 1)]
    assert case.updated(same) == case.text
    changed = case.updated([Printed("y\n", 3), Printed("z  \n", 0)])
    assert changed.endswith("$ cat net.txt\n…\n# exit 3\n$ false\nz\n```\n")
    assert "-# exit 1\n+z\n+# exit 0" in console.difference(case.steps[1], Printed("z\n", 0))


@pytest.mark.parametrize("line", ["$ true", "> more", "```", "# exit 2"])
def test_an_update_refuses_output_that_would_be_read_as_something_else(line):
    case = case_document.parse(GOOD, "case.md")
    with pytest.raises(case_document.Broken, match=r"case.md:10: .* would not be read"):
        case.updated([Printed(f"y\n{line}\n", 0), Printed("", 1)])


MUTANT = """#!/bin/sh
# As netloom, but for one figure.
{netloom} "$@" | sed 's/pairs followed          2$/pairs followed          3/'
"""


def test_old_and_new_differ_in_what_was_changed_and_in_nothing_else(netloom, tmp_path):
    """Two builds: the same one, and one that prints another figure and no exit codes."""
    case = "tests/cases/check/ok.md"
    mutant = tmp_path / "mutant"
    mutant.write_text(MUTANT.format(netloom=netloom.command[0]))
    mutant.chmod(0o755)
    ours = netloom.command[0]
    for new, code in ((ours, 0), (mutant, 1)):
        words = [sys.executable, str(console.ROOT / "tests" / "old_new.py"), ours, str(new), case]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        if code:
            assert f"## {case}\n\nLine 29: `netloom check net.txt r.lfts`" in done.stdout
            assert "-pairs followed          2\n+pairs followed          3\n" in done.stdout
        else:
            assert "none prints anything else" in done.stdout
