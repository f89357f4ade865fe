"""`netloom study page`: the papers' figures beside those found here, as a page in Markdown."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run


def page(*results: str, measured: str | None = None, options: Options | None = None) -> int:
    """Write a page of the papers' figures beside those found here, or the table that it is made from.

    `docs/papers.md` is made from `docs/papers.csv`; results of your own machine make a page of your own.

    Parameters
    ----------
    results
        Tables of figures (.csv, as this command writes them), and results of `study chapter4`,
        `study table32` and `loop table` (.json). Of two figures of one cell the later one counts.
    measured
        When and where the results (.json) were measured: `2026-11-28, 2 cores of AMD EPYC`.
    options
        Common options; `-o` takes the page (.md) or the table (.csv).
    """
    from netloom.studies.listed import recorded
    from netloom.studies.listed.page import page as made

    options = options or Options()
    run = Run("study-page", options, endings=(".md", ".csv"))
    if not results:
        raise UsageError(
            "study page makes a page of results: netloom study page docs/papers.csv -o papers.md"
        )
    figures = []
    for source in results:
        figures += recorded.read(run.read("result", source), source, measured)
    figures = recorded.merged(figures)
    output = None
    if options.output is not None:
        if str(options.output).endswith(".csv"):
            data = recorded.written(figures)
        else:
            output = str(options.output)
            words = [*results, *([] if measured is None else ["--measured", f"'{measured}'"]), "-o", output]
            command = " ".join(["netloom study page", *words])
            data = made(figures, command=command, folder=os.path.dirname(output)).encode()
        output = run.write(data)
    rows = [figure.result() for figure in figures]
    result = {"items": len({(one.paper, one.item) for one in figures}), "figures": rows, "output": output}
    return run.finish(result, lambda: _text(result), rows=rows)


def _text(result: Mapping[str, Any]) -> str:
    lines = [("figures", render.count(len(result["figures"]))), ("tables", render.count(result["items"]))]
    lines += [("written", result["output"])] if result["output"] else []
    return render.pairs(lines)
