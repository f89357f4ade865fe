"""Which pairs and jobs use a cable, for results: both directions, most bytes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netloom.cli.shared import render
from netloom.cli.shared.run import Run
from netloom.nodes import Nodes
from netloom.session.placement import jobs_of as jobs_of

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes, Traffic

MOST = 1000
"""So many pairs of a link are in a result."""


def found(fabric: Fabric, cables: Sequence[str]) -> list[int]:
    """The links of cables that are named by an end: from there, and back, of each.

    Raises
    ------
    FabricError
        If an end is none of the fabric's, with what there is.
    """
    if not cables:
        return []
    nodes = Nodes(fabric)
    links = []
    for word in cables:
        link = nodes.find_port(word, option="--users-of")
        links += [link, nodes.back(link)]
    return list(dict.fromkeys(links))


def of_links(
    run: Run, fabric: Fabric, routes: Routes, traffic: Traffic, source: str, links: Sequence[int]
) -> list[dict[str, Any]]:
    """Who uses each of some links, as results tell it; jobs are those of a jobs file, if `source` is one."""
    from netloom.paths.users import told, users

    jobs = jobs_of(run, fabric, source)
    return told(fabric, users(fabric, routes, traffic, links, jobs, threads=run.threads), MOST)


def text(result: Mapping[str, Any], most: int) -> str:
    """The report of a result's users, with `most` pairs of each link."""
    out = ""
    for link in result.get("users", ()):
        name = f"{render.end(link['from'])} -> {render.end(link['to'])}"
        many = f"{render.count(link['pairs'])} pair{'' if link['pairs'] == 1 else 's'}"
        out += f"\n\nusers of {render.printable(name, lines=False)}: {many}, {render.size(link['bytes'])}"
        if any(job["name"] is not None for job in link["jobs"]):
            rows = [
                [job["name"] or "(of no job)", render.count(job["pairs"]), render.size(job["bytes"])]
                for job in link["jobs"]
            ]
            out += "\n" + render.table(["job", "pairs", "bytes"], rows, right=[1, 2])
        if link["users"] and most:
            rows = [
                [one["source"], one["destination"], render.size(one["bytes"]), one["job"] or ""]
                for one in link["users"][:most]
            ]
            out += "\n" + render.table(["source", "destination", "bytes", "job"], rows, right=[2])
            if link["pairs"] > most:
                out += f"\nand {render.count(link['pairs'] - most)} more"
    return out
