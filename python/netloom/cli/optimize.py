"""`netloom optimize`: the best routes for a traffic, with a proof of how good they can be."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

from netloom.cli import common, optimized
from netloom.cli import compare as table
from netloom.cli.common import Options, Run


def optimize(
    fabric: str,
    traffic: str,
    /,
    *,
    background: str = "auto",
    certificate: Annotated[Path | None, common.OUTPUT_PATH] = None,
    compare: bool = False,
    options: Options | None = None,
) -> int:
    """Make the best routes for a traffic, with a proof.

    Anytime: Ctrl-C and `--time-limit` keep (and write) the best so far. The proof is a certificate that
    `netloom check --traffic --certificate` judges with code of its own.

    Parameters
    ----------
    fabric
        A dump of `ibnetdiscover`, an ibsim net file, or a generator spec.
    traffic
        Traffic over hosts (.mtx, .csv, .npz, .parquet), a jobs file (.toml), or a pattern spec.
    background
        Routes for the entries that no traffic uses: an engine or a file (today's routes); `auto` is `ftree`
        where the fabric is a tree, else `updn`. The result says how good they are for the traffic.
    certificate
        Write the proof of the lower bound here (.json).
    compare
        Also make routes with AFAR and every engine, and print all side by side: largest load, gaps in
        percent, links that carry it, seconds.
    options
        Common options; `-o` writes the routes for OpenSM's `file` engine.
    """
    from netloom import _core

    options = options or Options()
    run = Run("optimize", options, searches=True)
    if certificate is not None:
        run.also_writes(certificate, "--certificate")
    net = run.fabric(fabric, warn=True)
    demand = run.traffic(traffic, net)
    today = background if background == "auto" else run.routes(background, net, None)
    before, complete = None, True
    if background != "auto":
        with run.timed("background"):
            assert not isinstance(today, str)
            judged = run.loads(net, today, demand)
        complete = judged.stopped in (None, "work")
        before = {"routes": background, "max_load": judged.max, "ar_gap_percent": judged.ar_gap_percent}
    started = time.perf_counter()
    with run.timed("optimize"), run.progress("optimize") as progress:
        best = _core.optimize(
            net,
            demand,
            background=today,
            seed=run.seed,
            threads=options.threads,
            work=options.work,
            time_limit=options.time_limit,
            progress=progress,
        )
    seconds = time.perf_counter() - started
    interrupted = best.stopped == "interrupted"
    rows = None
    if compare and not interrupted:
        with run.timed("compare"):
            rows, interrupted = table.compare(run, net, demand, best.loads, seconds, today)
    run.finishing()
    result: dict[str, Any] = optimized.optimized_result(
        best, demand, changed=None if before is None else best.changed_entries
    )
    result |= {
        "reproducible": best.reproducible and complete,
        "background": before,
        "compare": rows,
        "findings": run.findings,
        "output": run.write(best.routes.to_bytes()) if run.has_product else None,
        "certificate": None,
    }
    if best.stopped == "time-limit" and len(result["history"]) == 1 and not best.proven_optimal:
        run.note("the time limit was too short for any improvement: these are the routes it began with")
    if certificate is not None:
        result["certificate"] = run.write(best.certificate.to_json().encode(), certificate)
    return run.finish(result, lambda: optimized.text(result), rows=rows, interrupted=interrupted)
