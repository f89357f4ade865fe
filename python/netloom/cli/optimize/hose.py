"""`netloom optimize --hose` as text: the worst over all traffic with some sums by host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netloom.cli.shared import render, results


def rows(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The report's lines, without the hottest links."""
    size = render.size
    lines = [
        ("minimised", "the worst load over all traffic with these sums by host"),
        ("worst link load", f"{results.load(result)} on {results.links(result['links_at_max'])}"),
        ("between switches", size(result["max_load_between_switches"])),
        ("proven lower bound", f"{size(result['lower_bound'])} ({result['bound_at']})"),
        ("", f"of {results.words(result['bound_class'])}"),
        ("gap to it", results.proven(result, result["lower_bound_gap_percent"])),
    ]
    if result["outside_because"] is not None:
        lines.append(("no gap", result["outside_because"]["text"]))
    if result["stopped"] is not None:
        stopped = results.stopped_text(result["stopped"], proven=result["proven_optimal"])
        lines.append(("stopped", stopped))
    return lines
