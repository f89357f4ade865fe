"""`netloom lanes read` and `lanes load`: the SL-to-VL tables of a live fabric.

Tables are those of `netloom lanes write -o`, or OpenSM's dump of what it has set itself.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from netloom.cli.shared import render
from netloom.cli.shared.options import Options
from netloom.cli.shared.reach import Reach
from netloom.cli.shared.run import Run
from netloom.live.identity import discovered

_DUMPS = (".dump", ".txt", ".dump.gz", ".txt.gz")
"""What a file of tables may end in."""


def read(
    fabric: str | None = None,
    /,
    *,
    switches_only: bool = False,
    reach: Reach | None = None,
    options: Options | None = None,
) -> int:
    """The SL-to-VL tables that switches and adapters have, read from themselves.

    Parameters
    ----------
    fabric
        A dump of `ibnetdiscover`, of this fabric. [default: discovered now]
    switches_only
        Leaves adapters out.
    options
        Common options; `-o` writes the tables in the form of `opensm-sl2vl.dump` (.dump, .txt, also .gz).
    """
    from netloom.live import sl2vl

    run = Run("lanes-read", options or Options(), endings=_DUMPS)
    access = (reach or Reach()).access()
    net = discovered(run, access, fabric)
    with run.timed("tables"):
        tables = sl2vl.read(access, net, hosts=not switches_only)
    written = None
    if run.has_product:
        data = tables.dump(net)
        packed = str(run.options.output).endswith(".gz")
        written = run.write(gzip.compress(data, mtime=0) if packed else data)
    result = {
        "rows": len(tables.places),
        "switches": net.switches,
        "hosts": 0 if switches_only else net.hosts,
        "distinct": len(np.unique(tables.lanes, axis=0)),
        "mads": tables.mads,
        "output": written,
    }
    return run.finish(result, lambda: _read_text(result))


def load(
    tables: Path,
    fabric: str | None = None,
    /,
    *,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"])] = False,
    switches_only: bool = False,
    reach: Reach | None = None,
    options: Options | None = None,
) -> int:
    """Gives switches and adapters SL-to-VL tables, row by row, and reads them back.

    Without `--yes` only says what would change. Rows that are right already are not sent. Any row that
    differs afterwards is a finding, which exits 1.

    Parameters
    ----------
    tables
        SL-to-VL tables as `netloom lanes write -o` writes them (also .gz).
    fabric
        A dump of `ibnetdiscover`, of this fabric. [default: discovered now]
    yes
        Does it.
    switches_only
        Leaves adapters as they are.
    options
        Common options; `-o` writes the result (.json, .csv).
    """
    from netloom import _core
    from netloom.live import sl2vl

    run = Run("lanes-load", options or Options(), product=False)
    data = run.read("sl2vl", str(tables))
    access = (reach or Reach()).access()
    net = discovered(run, access, fabric)
    wanted = _core.LaneTables.parse(data, net, label=str(tables))
    run.keeps()  # What is begun on a live fabric is finished.
    with run.timed("load"):
        done = sl2vl.load(access, net, wanted, hosts=not switches_only, dry_run=not yes)
    result: dict[str, Any] = {
        "rows": done.rows,
        "different": done.changed,
        "loaded": yes and done.changed > 0,
        "nodes": done.nodes,
        "verified": not done.different if yes else None,
        "wrong": done.different,
        "mads": done.mads,
    }
    return run.finish(result, lambda: _load_text(result, yes), findings=bool(done.different))


def _read_text(result: dict[str, Any]) -> str:
    count = render.count
    rows = [
        ("nodes", f"{count(result['switches'])} switches, {count(result['hosts'])} adapters"),
        ("rows", f"{count(result['rows'])}, {count(result['distinct'])} different ones"),
        ("cost", f"{count(result['mads'])} datagrams"),
    ]
    return render.pairs(rows + ([("written", result["output"])] if result["output"] else []))


def _load_text(result: dict[str, Any], yes: bool) -> str:
    count = render.count
    rows = [("rows", f"{count(result['rows'])}, {count(result['different'])} differ")]
    if not yes:
        rows.append(("loaded", "nothing: --yes does it" if result["different"] else "nothing: all are there"))
    else:
        rows.append(("loaded", f"{count(result['different'])} rows of {count(result['nodes'])} nodes"))
        wrong = result["wrong"]
        same = "equal the file, row by row"
        if wrong:
            same = f"{count(len(wrong))} rows DIFFER from the file, the first {wrong[0]}"
        rows.append(("read back", same))
    rows.append(("cost", f"{count(result['mads'])} datagrams"))
    return render.pairs(rows)
