"""A fabric as a page's document: what it is, and which of its cables to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.findings import SEVERITIES, Finding, findings
from netloom.health import cable_findings, examine
from netloom.health.stages import stages
from netloom.nodes import Nodes, guid_text
from netloom.pages import links

if TYPE_CHECKING:
    from netloom._core import Fabric


def document(fabric: Fabric) -> dict[str, Any]:
    """What a page tells of a fabric.

    Parameters
    ----------
    fabric : Fabric
        Its cables are judged by each other, as `netloom health FABRIC` does.
    """
    found = examine(fabric)
    net, nodes, table = links.of_fabric(fabric), Nodes(fabric), fabric.link_table()
    speed = np.asarray(table["bandwidth_bytes_per_s"], np.float64)
    marks = np.zeros(len(speed))
    ends: dict[tuple[str, str, int], int] = {
        (nodes.names[node], guid_text(nodes.guids[node]), port): link
        for link, (node, port) in enumerate(
            zip(table["source"].tolist(), table["source_port"].tolist(), strict=True)
        )
    }
    for cable in found.cables:
        worst = len(SEVERITIES) - SEVERITIES.index(cable.worst.severity)
        for end in cable.ends:
            marks[ends[end["name"], end["guid"], end["port"]]] = worst
    shape = fabric.shape["kind"]
    return {
        "kind": "fabric",
        "fabric": {
            "hosts": fabric.hosts,
            "switches": fabric.switches,
            "links": fabric.links,
            "shape": shape,
            "pods": fabric.pods,
            "regular": fabric.regular,
        },
        "tiers": [
            {
                "tier": name,
                "links": len(members),
                "slowest": float(speed[members].min()),
                "fastest": float(speed[members].max()),
                "marked": int((marks[members] > 0).sum()),
            }
            for name, members, _ in net.tiers
        ],
        "stages": stages(fabric),
        "cables": [cable.told(rank) for rank, cable in enumerate(found.cables, 1)],
        "findings": _findings(fabric, cable_findings(found.cables), found.findings),
        "links": net.told({"marks": marks}, "marks"),
    }


def _findings(fabric: Fabric, of_cables: list[Finding], others: list[Finding]) -> list[Finding]:
    """Those of cables first, then what the dump and its places say, each once."""
    told = [(one["kind"], one["text"]) for one in others]
    more = [one for one in findings(fabric.findings) if (one["kind"], one["text"]) not in told]
    return [*of_cables, *others, *more]
