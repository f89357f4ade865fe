"""`netloom study list`: every table and figure of the papers, with its command, or why none makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.studies.listed import ITEMS, PAPERS, STATES, Item, Paper


def list_(*what: str, paper: str | None = None, options: Options | None = None) -> int:
    """List every table and figure of the papers, with the command that makes it, or why none does.

    Commands are for the repository's folder. What `sample run -o run` writes, `netloom plot congestion run`
    draws.

    Parameters
    ----------
    what
        Only these, in full: `table 3.2`, `figure 5.7`. [default: all, a line each]
    paper
        Only this paper's, by number or first author: 000 or taffet, 001 or smith, 002 or minkenberg,
        003 or desensi, 004 or chen. [default: all]
    options
        Common options; `-o` writes the list (.json, .csv, else text).
    """
    run = Run("study-list", options or Options(), product=False)
    papers = PAPERS if paper is None else (_paper(paper),)
    numbers = {one.number for one in papers}
    asked = " ".join(what).lower()
    items = [item for item in ITEMS if item.paper in numbers and (not asked or item.what.lower() == asked)]
    if not items:
        where = "the papers" if paper is None else papers[0].source
        raise UsageError(f"{' '.join(what)}: {where} have no such table or figure; see netloom study list")
    rows = [_row(item) for item in items]
    result = {
        "papers": [_counted(one, items) for one in papers],
        "made": [row for row in rows if row["commands"]],
        "not_made": [_without(row) for row in rows if not row["commands"]],
    }
    flat = [{key: value for key, value in row.items() if key != "commands"} for row in rows]
    return run.finish(result, lambda: _full(rows) if asked else _text(rows, result["papers"]), rows=flat)


def _paper(text: str) -> Paper:
    for paper in PAPERS:
        if text.lower() in (paper.number, paper.key):
            return paper
    known = ", ".join(f"{paper.number} ({paper.key})" for paper in PAPERS)
    raise UsageError(f"--paper {text}: expected one of {known}")


def _row(item: Item) -> dict[str, Any]:
    source = next(paper.source for paper in PAPERS if paper.number == item.paper)
    return {
        "paper": item.paper,
        "source": source,
        "what": item.what,
        "about": item.about,
        "state": item.state,
        "why": item.why,
        "command": item.commands[0] if item.commands else None,
        "commands": list(item.commands),
        "page": item.page,
    }


def _without(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in ("command", "commands")}


def _counted(paper: Paper, items: Sequence[Item]) -> dict[str, Any]:
    own = [item.state for item in items if item.paper == paper.number]
    return {
        "paper": paper.number,
        "key": paper.key,
        "source": paper.source,
        "about": paper.about,
        "states": {state: own.count(state) for state in STATES},
    }


def _text(rows: Sequence[Mapping[str, Any]], papers: Sequence[Mapping[str, Any]]) -> str:
    lines = [[row["paper"], row["what"], row["about"], row["state"], _made(row)] for row in rows]
    items = render.table(["paper", "item", "", "state", "command, or why not"], lines, sentences=4)
    lines = [
        [one["paper"], one["source"], *[str(one["states"][state]) for state in STATES]] for one in papers
    ]
    counts = render.table(["paper", "", *STATES], lines, right=range(2, 2 + len(STATES)))
    return f"{items}\n\n{counts}"


def _made(row: Mapping[str, Any]) -> str:
    """A row's first command, and how many more it has; or the reason."""
    commands = row["commands"]
    if not commands:
        return str(row["why"])
    return str(commands[0]) + (f"  (+{len(commands) - 1})" if len(commands) > 1 else "")


def _full(rows: Sequence[Mapping[str, Any]]) -> str:
    parts = []
    for row in rows:
        pairs = [(row["what"], f"{row['about']} ({row['source']}, paper {row['paper']})")]
        pairs += [("state", row["state"])]
        pairs += [("why", row["why"])] if row["why"] else []
        pairs += [("command" if at == 0 else "", one) for at, one in enumerate(row["commands"])]
        pairs += [("page", row["page"])] if row["page"] else []
        parts.append(render.pairs(pairs))
    return "\n\n".join(parts)
