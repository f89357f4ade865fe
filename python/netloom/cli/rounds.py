"""`netloom traffic pairs`: which pairs of hosts to test, in few rounds, so that every slow cable is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.cli.shared import render
from netloom.cli.shared.options import Seeded
from netloom.cli.shared.run import Run

if TYPE_CHECKING:
    from collections.abc import Mapping


def pairs(fabric: str, routes: str, /, *, options: Seeded | None = None) -> int:
    """Choose few rounds of tests of pairs that cross every cable both ways and tell all cables apart.

    Pairs of a round share no link: each measures its own way. `netloom diagnose pairs` reads the table once
    the rates are filled in.

    Parameters
    ----------
    fabric
        The fabric: a dump, or a generator spec.
    routes
        The routes in force: a file, or an engine's name.
    options
        Common options; `-o` writes the pairs (.csv) with an empty column bytes_per_s.
    """
    from netloom.nodes import Nodes
    from netloom.pairs.answer import pair_rounds

    run = Run("traffic-pairs", options or Seeded(), endings=(".csv",))
    net = run.fabric(fabric)
    found = pair_rounds(net, run.routes(routes, net, None), seed=run.seed, session=run)
    names, nodes = net.host_names, Nodes(net)
    rows: list[dict[str, Any]] = [
        {"from": names[source], "to": names[destination], "round": number}
        for number, one in enumerate(found.pairs, 1)
        for source, destination in one
    ]
    result = {
        "hosts": net.hosts,
        "rounds": len(found.pairs),
        "tests": len(rows),
        "rounds_of_all_pairs": net.hosts - 1 + net.hosts % 2,
        "cables": found.cables,
        "unused": [nodes.link(link) for link in found.unused],
        "not_crossed": [nodes.link(link) for link in found.uncrossed],
        "alike": [[nodes.link(link) for link in group] for group in found.alike],
        "inseparable": len(found.inseparable),
        "shared_links": found.shared,
        "pairs": rows,
        "output": None,
    }
    if run.has_product:
        lines = [
            "from,to,bytes_per_s,round",
            *(f"{_cell(r['from'])},{_cell(r['to'])},,{r['round']}" for r in rows),
        ]
        result["output"] = run.write(("\n".join(lines) + "\n").encode())
    return run.finish(result, lambda: _text(result), rows=rows)


def _cell(name: str) -> str:
    """A name as a cell of CSV."""
    return '"' + name.replace('"', '""') + '"' if any(mark in name for mark in ',"\n\r') else name


def _text(result: Mapping[str, Any]) -> str:
    count = render.count
    rows = [
        ("rounds", f"{count(result['rounds'])} (all pairs: {count(result['rounds_of_all_pairs'])})"),
        ("tests", f"{count(result['tests'])}, no two of a round on one link"),
        ("cables", f"{count(result['cables'])} that pairs of hosts cross"),
    ]
    if result["unused"]:
        rows.append(
            ("not testable", f"{count(len(result['unused']))} cables: these routes lead no pair across them")
        )
    if result["not_crossed"]:
        rows.append(("not crossed", f"{count(len(result['not_crossed']))} directions"))
    groups = result["alike"]
    if groups:
        cables = sum(map(len, groups))
        rows.append(
            ("alike", f"{count(cables)} cables in {count(len(groups))} groups: the same pairs cross them")
        )
    else:
        rows.append(("told apart", "one slow cable from every other"))
    if result["output"]:
        rows.append(("written", result["output"]))
    return render.pairs(rows)
