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


def _name(word: str, taken: Mapping[str, object]) -> str:
    """A routing's word; with a number where a run has it twice."""
    name, number = word, 1
    while name in taken:
        number += 1
        name = f"{word} ({number})"
    return name
