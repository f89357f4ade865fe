"""`netloom report`: one page of a fabric, of routes with traffic, of a folder, or of a result."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from netloom import extras
from netloom.cli.shared import render, users
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import SearchingProduct
from netloom.cli.shared.run import Run
from netloom.errors import FormatError, SpecError
from netloom.manifest import MANIFEST
from netloom.runs import folder as runs
from netloom.session.sources import is_stdin
from netloom.shown import legend

_USAGE = "FABRIC, FABRIC TRAFFIC ROUTES…, a folder (of a run, a sweep, a loop), or JSON results"


def report(
    what: str,
    /,
    *more: str,
    title: str | None = None,
    open_: Annotated[bool, Parameter(name="--open")] = False,
    options: SearchingProduct | None = None,
) -> int:
    """Write one page that shows a result: an HTML file that fetches nothing.

    Shows a fabric (levels, every link, cables to look at), routes with traffic (load of every link beside the
    bound and its proof, hottest links and who loads them; several routings side by side, with what changes),
    a run (jobs, tails of latency, links by level and over time, whose sampled packets met congestion), a
    sweep, a loop's journal, or the result of any verb: those of health, diagnose, sample, noise, plan and
    watch have pages of their own kind. Every figure is in the page as JSON, too.

    Parameters
    ----------
    what
        A fabric, alone or followed by traffic and routes; or a folder (`simulate -o`, `sample run -o`, `sweep
        run -o`, `loop run -o`); or what a verb printed with `--format json`.
    more
        Traffic and routes, as `netloom plot loads` takes them: several routings lie side by side. Or more
        results.
    title
        Above the page; by default what it is of.
    open_
        Open the page in the browser.
    options
        Common options; `-o` takes the page (.html).
    """
    from netloom.pages import api, page

    options = options or SearchingProduct()
    if options.output is None:
        raise UsageError("report needs -o FILE.html")
    run = Run("report", options, endings=(".html",))
    if run.product_to_stdout and (open_ or sys.stdout.isatty()):
        raise UsageError("a page goes to a file or a pipe, not to a terminal: -o FILE.html")
    start = time.perf_counter()
    parts, told = _parts(run, what, more)
    with run.timed("draw"):
        document = api.document(parts, title or told, run.origin()["inputs"])
        data = page.page(document)
    result: dict[str, Any] = {
        "page": run.write(data),
        "title": document["title"],
        "bytes": len(data),
        "sections": page.sections(document),
        "seconds": round(time.perf_counter() - start, 6),
        "findings": run.findings,
    }
    if open_:
        import webbrowser

        webbrowser.open(Path(str(result["page"])).resolve().as_uri())
    return run.finish(result, lambda: _text(result))


def _parts(run: Run, what: str, more: tuple[str, ...]) -> tuple[list[dict[str, Any]], str]:
    """The parts of the page, and what it is called if nobody says."""
    from netloom import _core
    from netloom.pages import api, cabled, result

    if os.path.isdir(what) and (not more or _is_ours(what)):
        if more:
            raise UsageError(f"a folder is a page of its own: expected nothing after {what}")
        extras.need("arrow")
        with run.timed("read"):
            part = api.of_folder(Path(what), runs.reader(run), run.note, run.seed)
        return [part], api.title_of(part, Path(what).name)
    if not _core.is_generator(what) and (is_stdin(what) or _is_json(what)):
        parts = [result.document(run.read("result", one), one) for one in (what, *more)]
        _same_fabric(parts, (what, *more))
        names = ", ".join(dict.fromkeys(Path(one).name for one in (what, *more)))
        if len(parts) == 1:
            return parts, api.title_of(parts[0], names)
        verbs = ", ".join(dict.fromkeys(f"netloom {part['verb']}" for part in parts))
        return parts, f"{names}: {verbs}"
    if not more:
        if not _core.is_generator(what) and not os.path.exists(what):
            raise SpecError(f'"{what}" is nothing that report shows: expected {_USAGE}')
        net = run.fabric(what)
        with run.timed("examine"):
            part = cabled.document(net)
        return [part], api.title_of(part, Path(what).name)
    if len(more) < 2:
        raise UsageError(f"report shows {_USAGE}; found {' '.join((what, *more))}")
    return _routed(run, what, *more)


def _is_ours(folder: str) -> bool:
    """Whether a folder is a run's, a sweep's or a loop's, and no fabric."""
    from netloom.loop import journal

    return any(os.path.isfile(os.path.join(folder, name)) for name in (MANIFEST, journal.FILE))


def _is_json(path: str) -> bool:
    from netloom import reading

    return os.path.isfile(path) and reading.head(path, 64).lstrip()[:1] == b"{"


def _same_fabric(parts: list[dict[str, Any]], names: tuple[str, ...]) -> None:
    """Refuses results of two fabrics on one page."""
    first: tuple[str, Any] | None = None
    for part, name in zip(parts, names, strict=True):
        given = part["document"].get("inputs")
        for one in given if isinstance(given, list) else ():
            if not (isinstance(one, dict) and one.get("role") == "fabric"):
                continue
            fabric = one.get("sha256") or one.get("source")
            if first is not None and fabric != first[1]:
                raise FormatError(f"{name}: is of another fabric than {first[0]}: expected one fabric a page")
            first = first or (name, fabric)


def _routed(run: Run, fabric: str, traffic: str, *routes: str) -> tuple[list[dict[str, Any]], str]:
    from netloom.pages import routed

    if len(set(routes)) < len(routes):
        raise UsageError(f"the same routes twice: expected each once, found {' '.join(routes)}")
    net = run.fabric(fabric, warn=True)
    demand = run.traffic(traffic, net)
    jobs = users.jobs_of(run, net, traffic)
    found = {}
    for name in routes:
        tables = run.routes(name, net, demand)
        with run.timed("loads"), run.blaming(name):
            loads = run.loads(net, tables, demand)
            if loads.stopped == "interrupted":
                raise KeyboardInterrupt
            found[name] = (tables, loads)
    with run.timed("users"):
        part = routed.document(net, demand, found, jobs, threads=run.threads)
    names = ", ".join(legend.name(Path(name).name) for name in routes)
    return [part], f"{Path(traffic).name} on {Path(fabric).name} ({net.hosts:,} hosts): {names}"


def _text(result: dict[str, Any]) -> str:
    rows = [
        ("title", result["title"]),
        ("sections", ", ".join(result["sections"])),
        ("size", render.size(result["bytes"])),
        ("written", str(result["page"])),
    ]
    return render.pairs(rows)
