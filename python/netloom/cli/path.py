"""`netloom path`: which way a pair takes, link by link."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netloom.cli.shared import render
from netloom.cli.shared.inputs import with_groups
from netloom.cli.shared.lanes import check as check_lanes
from netloom.cli.shared.lanes import with_lanes
from netloom.cli.shared.options import Searching
from netloom.cli.shared.run import Run
from netloom.errors import FabricError
from netloom.nodes import Nodes


def path(
    fabric: str,
    routes: str,
    source: str,
    destination: str,
    /,
    *,
    traffic: str | None = None,
    paths: Path | None = None,
    sl2vl: Path | None = None,
    sl: Path | None = None,
    groups: str | None = None,
    options: Searching | None = None,
) -> int:
    """Which way a pair takes: its links, lanes, and with a traffic what each of them carries.

    Parameters
    ----------
    fabric
        A dump of InfiniBand's tools, a table of cables, an ibsim net file, or a generator spec (`quartz1`).
    routes
        A file of routes, or an engine's name (`ftree`).
    source
        The host that sends: by name, GUID (`0x…`) or LID (`lid 35`), or its machine's name.
    destination
        The host that receives.
    traffic
        Traffic over hosts (.mtx, .csv, .txt, .npz, .npy, .parquet), a recorded run, a jobs file (.toml), or a
        pattern spec: tells what every link of the way carries.
    paths
        Which of a host's several addresses every pair uses (.csv), as `netloom optimize --write-paths` writes
        it.
    sl2vl
        The lanes of the routes (`opensm-sl2vl.dump`).
    sl
        With `--sl2vl`: the service level of every pair of hosts (.csv `source_lid,destination_lid,sl`).
    groups
        Groups of a dragonfly: a file of switches and their groups, or a rule by names such as `g([0-9]+)r`.
    options
        Common options; `-o` writes the result (.json, .csv).
    """
    from netloom.paths import bytes_of_pair, way

    check_lanes(sl2vl, sl)
    run = Run("path", options or Searching(), product=False)
    net = with_groups(run, run.fabric(fabric, warn=True), groups)
    nodes = Nodes(net)
    ends = [_host(nodes, word, what) for word, what in ((source, "FROM"), (destination, "TO"))]
    if ends[0] == ends[1]:
        raise FabricError(f"TO {destination}: it is FROM itself: expected two hosts")
    demand = None if traffic is None else run.traffic(traffic, net)
    tables = run.with_paths(run.routes(routes, net, demand), paths)
    tables = with_lanes(run, net, tables, sl2vl, sl)
    with run.timed("path"), run.blaming(routes):
        found = way(net, tables, *ends)
    loaded = None
    if demand is not None:
        with run.timed("loads"), run.blaming(routes):
            loaded = run.loads(net, tables, demand).per_link
    table, host = net.link_table(), net.host_table()
    speeds = table["bandwidth_bytes_per_s"]
    links = []
    for place, link in enumerate(found.links):
        speed = float(speeds[link])
        carried = None if loaded is None else float(loaded[link]) * speed / float(speeds.max())
        links.append(
            {
                "from": nodes.end(int(table["source"][link]), int(table["source_port"][link])),
                "to": nodes.end(int(table["target"][link]), int(table["target_port"][link])),
                "bytes_per_second": speed,
                "lane": None if found.lanes is None else found.lanes[place],
                "bytes": carried,
                "seconds": None if carried is None else carried / speed,
            }
        )
    result: dict[str, Any] = {
        "source": nodes.end(ends[0], int(host["port"][ends[0]])),
        "destination": nodes.end(ends[1], int(host["port"][ends[1]])),
        "service_level": found.service_level,
        "same_cables_back": found.same_back,
        "pair_bytes": None if demand is None else bytes_of_pair(demand, *ends),
        "links": links,
        "findings": run.findings,
    }
    return run.finish(result, lambda: _text(result), rows=[_row(n, link) for n, link in enumerate(links, 1)])


def _host(nodes: Nodes, word: str, what: str) -> int:
    node = nodes.find(word, option=what)
    if node >= nodes.hosts:
        raise FabricError(f"{what} {word}: it is a switch: expected a host, such as {nodes.names[0]}")
    return node


def _row(number: int, link: Mapping[str, Any]) -> dict[str, Any]:
    """A link in CSV."""
    ends = {
        f"{side}{key}": link[side][of]
        for side in ("from", "to")
        for key, of in (("", "name"), ("_guid", "guid"), ("_lid", "lid"), ("_port", "port"))
    }
    return {
        "hop": number,
        **ends,
        **{key: link[key] for key in ("bytes_per_second", "lane", "bytes", "seconds")},
    }


def _text(result: Mapping[str, Any]) -> str:
    back = {True: "by the same cables", False: "by other cables", None: "there is no way back"}
    rows = [
        ("from", render.end(result["source"])),
        ("to", render.end(result["destination"])),
        ("links", render.count(len(result["links"]))),
        ("back", back[result["same_cables_back"]]),
    ]
    if result["service_level"] is not None:
        rows.append(("service level", str(result["service_level"])))
    if result["pair_bytes"] is not None:
        rows.append(("sends", render.size(result["pair_bytes"])))
    header, right = ["", "from", "to", "speed"], [0, 3]
    lanes, loads = result["service_level"] is not None, result["pair_bytes"] is not None
    header += (["lane"] if lanes else []) + (["carries", "takes"] if loads else [])
    right += list(range(4, len(header)))
    lines = []
    for number, link in enumerate(result["links"], 1):
        line = [str(number), render.end(link["from"]), render.end(link["to"])]
        line.append(f"{render.size(link['bytes_per_second'])}/s")
        line += [str(link["lane"])] if lanes else []
        line += [render.size(link["bytes"]), render.seconds(link["seconds"])] if loads else []
        lines.append(line)
    table = render.table(header, lines, right=right)
    return f"{render.pairs(rows)}\n\n{table}{render.findings(result['findings'])}"
