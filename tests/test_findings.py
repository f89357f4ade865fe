"""Findings have one shape in every verb, one registry of severities, and one rule for the exit code."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

import netloom as nl
from netloom.cli.shared import render
from netloom.findings import KINDS, bad, by_severity, finding, findings

ROOT = Path(__file__).resolve().parent.parent


def made_kinds() -> dict[str, set[str]]:
    """Every kind that sources name, with the files that make it."""
    made: dict[str, set[str]] = {}

    def see(kind: str, file: Path) -> None:
        made.setdefault(kind, set()).add(str(file.relative_to(ROOT)))

    rust = {
        # `Finding { kind: "…"`, but for the kinds of notes of readings, which are no findings
        "crates/counters/src/*.rs": r'(?:kind: |Quality::\w+, )"([a-z-]+)"',
        "crates/infer/src/*/*.rs": r'kind: "([a-z-]+)"',
        "crates/topology/src/*.rs": r'\.note\(\s*"([a-z-]+)"',
        "crates/formats/src/fabric/*.rs": r'notes\.add\(\s*"([a-z-]+)"|Role::\w+, "([a-z-]+)"\)',
        "crates/formats/src/lft/read.rs": r'LftFaultKind::\w+ => "([a-z-]+)"',
        "crates/verify/src/report.rs": r'FindingKind::\w+ => "([a-z-]+)"',
        "crates/python/src/inference/infer.rs": r'(?:findings\.push\(|map\(\|text\| )\("([a-z-]+)", text',
    }
    for pattern, expression in rust.items():
        files = list(ROOT.glob(pattern))
        assert files, pattern
        found = False
        for file in files:
            # What follows is the file's own tests.
            text = file.read_text().split("#[cfg(test)]")[0]
            for match in re.finditer(expression, text):
                see(next(group for group in match.groups() if group), file)
                found = True
        assert found, f"{pattern}: no kind found: does the expression still fit?"
    python = r'\b(?:finding|Refused|Problem)\(\s*"([a-z-]+)"'
    for file in (ROOT / "python" / "netloom").rglob("*.py"):
        for match in re.finditer(python, file.read_text()):
            see(match.group(1), file)
    return made


def test_every_kind_that_is_made_is_registered():
    missing = {kind: files for kind, files in made_kinds().items() if kind not in KINDS}
    assert not missing, f"python/netloom/findings.py does not know {missing}"


def test_kinds_that_are_not_literal_are_registered():
    from netloom.diagnose.findings import Cause
    from netloom.errors import NetloomError
    from netloom.loop.lived import kind_of

    errors = [NetloomError, *NetloomError.__subclasses__()]
    kinds = {kind_of(error.__new__(error)) for error in errors} | {kind_of(FileNotFoundError())}
    assert kinds <= KINDS.keys()
    assert set(Cause.__args__) <= KINDS.keys()  # type: ignore[attr-defined]
    assert {"standby", "two-masters"} <= KINDS.keys()


def test_severities_and_classes_are_those_of_the_schema():
    schema = json.loads((ROOT / "docs" / "schemas" / "common.json").read_text())
    told = schema["$defs"]["finding"]["properties"]
    assert {severity for severity, _ in KINDS.values()} == set(told["severity"]["enum"])
    assert {of_kind for _, of_kind in KINDS.values()} == set(told["class"]["enum"])


def test_a_finding_may_concern_somebody_else():
    assert finding("unreachable", "t")["class"] == "hosts"
    (one,) = findings([{"kind": "unreachable", "text": "t", "class": "management"}])
    assert (one["class"], one["severity"]) == ("management", "error")


def test_reports_tell_the_worst_first():
    found = [finding("stray-text", "a"), finding("dead-cable", "b"), finding("parts", "c")]
    assert [one["text"] for one in by_severity(found)] == ["c", "b", "a"]
    assert render.findings(found).splitlines()[2:] == [
        "findings",
        "  error    parts: c",
        "  warning  dead-cable: b",
        "  note     stray-text: a",
    ]
    assert render.findings([]) == ""
    assert bad(found)
    assert not bad(found[:1])


def test_only_errors_and_warnings_exit_1(netloom, paths):
    # Two switches of one name: worth a note.
    dump = Path(paths.ft2).read_text().replace("spine01", "spine00")
    (netloom.folder / "names.txt").write_text(dump)
    told = netloom.result("fabric", "show", "names.txt", code=0)["findings"]
    assert [(one["kind"], one["severity"]) for one in told] == [("shared-name", "note")]
    # A cable that is cut is a warning.
    cut = netloom.result("fabric", "damage", paths.ft2, "--random-links", 1, "-o", "cut.txt")["findings"]
    # Dead cables are not written: what is left lacks nothing.
    netloom.result("fabric", "show", "cut.txt")
    assert [(one["kind"], one["severity"]) for one in cut] == [("dead-cable", "warning")]
    fabric = nl.Fabric.read(str(paths.ft2))
    assert findings(fabric.findings) == []


@pytest.mark.parametrize("no_color", [False, True])
def test_severities_are_coloured_on_a_terminal(netloom, paths, no_color):
    text = Path(paths.ft2).read_text() + "\nwhat is this\n"
    (netloom.folder / "odd.txt").write_text(text)
    main, end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "40"}
    environment.pop("NO_COLOR", None)
    if no_color:
        environment["NO_COLOR"] = "1"
    command = [sys.executable, "-m", "netloom", "fabric", "show", "odd.txt"]
    with subprocess.Popen(command, stdout=end, cwd=netloom.folder, env=environment) as run:
        os.close(end)
        out = b""
        while True:
            try:
                more = os.read(main, 65536)
            except OSError:
                break
            if not more:
                break
            out += more
    os.close(main)
    assert run.returncode == 0
    assert b"stray-text: odd.txt:" in out, out
    assert (b"\x1b[" in out) is not no_color
