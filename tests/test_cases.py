"""Cases (`tests/cases`): documents whose commands print what they say, and the codes that they cover.

`NETLOOM_UPDATE_CASES=1` writes what the commands print into the documents instead of comparing it.
"""

from __future__ import annotations

import os
import shutil

import pytest

import case_document
import console
import mpi_bed

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
