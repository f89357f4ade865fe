"""`netloom optimize`: the best routes for a traffic, with a proof of how good they can be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from netloom.cli import common, render, results
from netloom.cli.common import Options, Run


def optimize(
    fabric: str,
    traffic: str,
    /,
    *,
    background: str = "auto",
    certificate: Annotated[Path | None, common.OUTPUT_PATH] = None,
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
    run.finishing()
    result: dict[str, Any] = {
        **results.loads_result(best.loads, demand),
        "proven_optimal": best.proven_optimal,
        "stopped": best.stopped,
        "reproducible": best.reproducible and complete,
        "work": best.work,
        "background": before,
        "findings": run.findings,
        "output": run.write(best.routes.to_bytes()) if run.has_product else None,
        "certificate": None,
    }
    if certificate is not None:
        result["certificate"] = run.write(best.certificate.to_json().encode(), certificate)
    return run.finish(result, lambda: text(result), interrupted=best.stopped == "interrupted")


def text(result: dict[str, Any]) -> str:
    """The report of an optimisation."""
    rows = []
    if result["background"] is not None:
        before = result["background"]
        gap = render.percent(before["ar_gap_percent"])
        rows.append(("before", f"{render.size(before['max_load'])}, AR gap {gap} ({before['routes']})"))
    if not result["reproducible"]:
        rows.append(("reproducible", why_not_reproducible(result["stopped"])))
    written = [result[key] for key in ("output", "certificate") if result[key] is not None]
    if written:
        rows.append(("written", ", ".join(written)))
    out = results.loads_text(result)
    return f"{out}\n\n{render.pairs(rows)}" if rows else out


def why_not_reproducible(stopped: str | None) -> str:
    """What to tell of a result that another run need not repeat."""
    return "no: it was interrupted" if stopped == "interrupted" else "no: use --work instead of a time limit"
