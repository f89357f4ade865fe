"""A run's folder as a page's document: jobs and latencies, links by level, and over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from netloom import reading
from netloom.errors import FormatError
from netloom.manifest import MANIFEST, read_manifest
from netloom.pages import links
from netloom.runs.panels import Read, columns_of, panel

_LINKS = (
    "from",
    "from_port",
    "to",
    "to_port",
    "from_level",
    "to_level",
    "alive",
    "xmit_bytes",
    "xmit_packets",
    "utilisation",
)
_HISTOGRAMS = ("what", "job", "to_ps", "count")
_MESSAGES = "messages"
_POINTS = 120
"""Of a tail, from all messages to one, evenly on a logarithmic scale."""
_QUANTILES = {"p50_us": 0.5, "p90_us": 0.9, "p99_us": 0.99, "p99_9_us": 0.999, "max_us": 1.0}


def document(folder: Path, read: Read = reading.whole, note: Callable[[str], object] = str) -> dict[str, Any]:
    """What a page tells of a run.

    Parameters
    ----------
    folder : Path
        What `netloom simulate -o` wrote.
    read : callable
        Reads a file of it.
    note : callable
        Hears of what is not shown.

    Raises
    ------
    FormatError
        If it is none, or was altered.
    """
    manifest = read_manifest(folder)
    if not manifest["runs"]:
        raise FormatError(f"{folder}: has no routing to show")
    read = cache(read)
    read(folder / MANIFEST)  # It is one of the page's inputs.
    longest_ms = max(entry["result"]["simulated_ms"] for entry in manifest["runs"])
    routings: list[dict[str, Any]] = []
    values: dict[str, np.typing.NDArray[np.float64]] = {}
    first: links.Links | None = None
    for entry in manifest["runs"]:
        table = columns_of(read, folder, entry, "links", _LINKS, ("from_group", "to_group"))
        if table is None:
            raise FormatError(f"{folder / entry['folder']}: has no table of links")
        net = links.of_table(table)
        first = first or net
        drawn, _ = panel(read, folder, entry, longest_ms, note)
        used = np.asarray(table["utilisation"], np.float64)
        largest, between = net.largest(used)
        values[_name(entry["routing"], values)] = used
        routings.append(
            {
                "routing": list(values)[-1],
                "result": entry["result"],
                "levels": net.by_tier(used),
                "busiest_between_switches": between,
                "busiest": [
                    {
                        "from": net.end(link, 0),
                        "to": net.end(link, 1),
                        "value": float(used[link]),
                        "bytes": int(table["xmit_bytes"][link]),
                        "packets": int(table["xmit_packets"][link]),
                    }
                    for link in largest
                ],
                "tails": _tails(columns_of(read, folder, entry, "latencies", _HISTOGRAMS)),
                "times": [
                    {
                        "name": strip.name,
                        "unit": "B" if strip.queue else "share",
                        "edges_ms": strip.edges_ms.tolist(),
                        "tiers": [
                            {"tier": tier.name, "values": of.tolist()}
                            for tier, of in zip(drawn.tiers, strip.values, strict=True)
                        ],
                    }
                    for strip in drawn.strips
                ],
            }
        )
    assert first is not None
    return {
        "kind": "run",
        "run": {
            "scenario": manifest["scenario"]["name"],
            "model": manifest["model"],
            **{key: manifest[key] for key in ("hosts", "switches", "links")},
            "longest_ms": longest_ms,
        },
        "routings": routings,
        "links": first.told(values, "share"),
    }


def _tails(table: Mapping[str, np.typing.NDArray[Any]] | None) -> list[dict[str, Any]]:
    """Of every job that sent messages: which share of them takes longer than what."""
    if table is None:
        return []
    messages = np.asarray([str(what) == _MESSAGES for what in table["what"]], bool) & (table["count"] > 0)
    jobs = np.asarray([str(name) for name in table["job"]], object)
    found = []
    for name in dict.fromkeys(jobs[messages].tolist()):
        chosen = messages & (jobs == name)
        order = np.argsort(table["to_ps"][chosen], kind="stable")
        at_us = table["to_ps"][chosen][order].astype(np.float64) * 1e-6
        within = np.cumsum(table["count"][chosen][order].astype(np.int64))
        total = int(within[-1])
        shares = np.geomspace(1.0, 1.0 / total, _POINTS)
        # `shares` take longer than these, the last none.
        drawn = np.unique(np.searchsorted(within, np.floor((1.0 - shares) * total), side="right"))
        drawn = np.unique([*np.minimum(drawn, len(at_us) - 1), len(at_us) - 1])
        found.append(
            {
                "job": name,
                "messages": total,
                **{
                    key: float(at_us[np.searchsorted(within, share * total)])
                    for key, share in _QUANTILES.items()
                },
                "at_us": at_us[drawn].tolist(),
                "longer": (1.0 - within[drawn] / total).tolist(),
            }
        )
    return found


def _name(word: str, taken: Mapping[str, object]) -> str:
    """A routing's word; with a number where a run has it twice."""
    name, number = word, 1
    while name in taken:
        number += 1
        name = f"{word} ({number})"
    return name
