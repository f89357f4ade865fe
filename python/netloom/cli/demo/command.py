"""`netloom demo`: the whole job on a real fabric and real applications.

The inputs come with the package: what `ibnetdiscover` printed for the 3072 hosts of quartz1, and what real
mini-applications sent. Where ibsim and OpenSM are installed, OpenSM also loads a file of ours.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import time
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom import extras
from netloom.cli import check as check_verb
from netloom.cli import fabric as fabric_verb
from netloom.cli import traffic as traffic_verb
from netloom.cli.shared import render, results
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Searching
from netloom.cli.shared.run import Run
from netloom.errors import LiveError, RoutingError
from netloom.files import Folder
from netloom.session.sources import is_stdin
from netloom.shown import legend

if TYPE_CHECKING:
    from netloom._core import Fabric, Job, LinkLoads, Optimized, Routes, Traffic

FOLDER = Path("demo-output")
"""Where the demo writes unless told otherwise."""

PAGE = "report.html"
"""What the demo shows, as a page."""

_DUMP = "quartz1/ibnetdiscover.txt.gz"
_JOBS = "jobs/mix.toml"
_SMALL_DUMP = "ft2_32/ibnetdiscover.txt"
_SMALL_JOBS = "jobs/boxlib.toml"


def demo(*, options: Searching | None = None) -> int:
    """Optimise routes for real applications on a real fabric's dump, and check the proof.

    Reads a real dump of a 3072-host fabric, places real application traffic on it, compares all engines with
    AFAR and the optimiser, has the proof checked, draws pictures, and, where ibsim and opensm are installed,
    lets a real OpenSM load routes and reads the switches' tables back.

    Parameters
    ----------
    options
        Common options; `-o` is the folder to write to (`demo-output` unless given).
    """
    options = options or Searching()
    if options.output is not None and is_stdin(str(options.output)):
        raise UsageError("the demo writes several files: -o FOLDER")
    run = Run("demo", options, folder=True)
    folder = options.output or FOLDER
    with Folder.open(folder.parent) as parent:
        parent.make(folder.name)
    with contextlib.ExitStack() as stack:
        data = stack.enter_context(resources.as_file(resources.files("netloom") / "data" / "demo"))
        result = _big(run, data, folder)
        if not result["interrupted"]:
            result["opensm"] = _opensm(run, data, folder)
    opensm = result["opensm"]
    findings = not result["certificate"]["ok"] or (opensm is not None and opensm["tables_equal"] is False)
    interrupted = result.pop("interrupted")
    return run.finish(
        result, lambda: text(result), rows=result["engines"], findings=findings, interrupted=interrupted
    )


def _big(run: Run, data: Path, folder: Path) -> dict[str, Any]:
    """The comparison on quartz1, and everything that comes of it but OpenSM."""
    from netloom import _core

    net = run.fabric(str(data / _DUMP))
    run.read("jobs", str(data / _JOBS))
    with run.timed("place"):
        demand, jobs = _core.place_jobs(net, data / _JOBS, seed=run.given_seed)
    run.note_jobs(data / _JOBS)
    engines: list[dict[str, Any]] = []
    loads: dict[str, LinkLoads] = {}

    def add(name: str, seconds: float, found: LinkLoads) -> None:
        loads[name] = found
        engines.append(_row(name, seconds, found))

    for name, _ in _core.engines():
        if name == "layers":
            continue  # The fabric is a tree, whose ways need no lanes.
        start = time.perf_counter()
        try:
            tables: Routes = _core.route(name, net, seed=run.seed, threads=run.threads)
        except RoutingError:
            continue  # The engine is for another shape of fabric.
        seconds = time.perf_counter() - start
        add(name, seconds, _core.loads(net, tables, demand, threads=run.threads))
    best: Optimized | None = None
    for name in ("afar", "optimize"):
        start = time.perf_counter()
        best = run.made_for(name, net, demand)
        add({"afar": "AFAR", "optimize": "netloom"}[name], time.perf_counter() - start, best.loads)
        if best.stopped == "interrupted":
            break
    run.finishing()
    assert best is not None
    with run.timed("write"), Folder.open(folder) as there:
        there.write("routes.lfts", best.routes.to_bytes())
        there.write("certificate.json", best.certificate.to_json().encode())
        there.write("traffic.mtx.gz", gzip.compress(demand.to_bytes("mtx"), compresslevel=6, mtime=0))
    pictures: list[str] = []
    if extras.has("plot"):
        with run.timed("draw"), Folder.open(folder) as there:
            pictures = _draw(net, demand, loads, there)
    else:
        run.note(f"no pictures: {extras.told('plot')}")
    with run.timed("page"), Folder.open(folder) as there:
        there.write(PAGE, _page(run, net, demand, jobs, best, loads))
    return {
        "fabric": fabric_verb.summary(net),
        "traffic": {**traffic_verb.summary(demand), "jobs": [job.name for job in jobs]},
        "engines": engines,
        "proven_optimal": best.proven_optimal,
        "certificate": _judge(net, demand, folder),
        "opensm": None,
        "folder": str(folder),
        "files": ["routes.lfts", "certificate.json", "traffic.mtx.gz", *pictures, PAGE],
        "interrupted": best.stopped == "interrupted",
    }


def _row(name: str, seconds: float, found: LinkLoads) -> dict[str, Any]:
    return {
        "engine": name,
        "max_load": found.max,
        "ar_gap_percent": found.ar_gap_percent,
        "ar_bound": found.ar_bound,
        "ar_bound_class": found.ar_bound_class,
        "lower_bound": found.lower_bound,
        "bound_class": found.bound_class,
        "links_at_max": found.links_at_max,
        "seconds": round(seconds, 6),
    }


def _judge(net: Fabric, demand: Traffic, folder: Path) -> dict[str, Any]:
    """What the independent checker says of the files as written."""
    from netloom import _core

    claim = _core.Certificate.read(folder / "certificate.json", net)
    routes = _core.Routes.read(folder / "routes.lfts", net)
    verdict = _core.verify_certificate(net, demand, claim, routes)
    return {
        "kind": claim.kind,
        "place": claim.place,
        "claim": claim.claim,
        "bound_class": claim.bound_class,
        **check_verb.verdict_result(verdict),
    }


def _draw(net: Fabric, demand: Traffic, loads: dict[str, LinkLoads], there: Folder) -> list[str]:
    """Draws; returns the names of the pictures."""
    from netloom.plot.loads import Curve, loads_picture
    from netloom.plot.matrix import matrix_picture

    alive = net.link_table()["alive"]
    last = list(loads)[-1]
    curves = [Curve(name, found.per_link[alive], best=name == last) for name, found in loads.items()]
    title = f"Three applications on quartz1 ({net.hosts:,} hosts): load of every link"
    for kind in ("svg", "png"):
        picture = loads_picture(
            curves, bound=loads[last].ar_bound, bound_name="AR bound", title=title, kind=kind
        )
        there.write(f"loads.{kind}", picture)
        picture = matrix_picture(demand, title="Three applications on quartz1", kind=kind)
        there.write(f"traffic.{kind}", picture)
    return [f"{name}.{kind}" for name in ("loads", "traffic") for kind in ("svg", "png")]


def _page(
    run: Run,
    net: Fabric,
    demand: Traffic,
    jobs: Sequence[Job],
    best: Optimized,
    loads: Mapping[str, LinkLoads],
) -> bytes:
    """The page of today's routes beside the optimiser's."""
    from netloom import _core
    from netloom.pages import api, page, routed

    today = _core.route("ftree", net, seed=run.seed, threads=run.threads)
    found = {"ftree": (today, loads["ftree"]), "optimize": (best.routes, best.loads)}
    part = routed.document(net, demand, found, jobs, threads=run.threads)
    title = f"Three applications on quartz1 ({net.hosts:,} hosts): ftree, optimized"
    return page.page(api.document([part], title, run.origin()["inputs"]))


def _opensm(run: Run, data: Path, folder: Path) -> dict[str, Any]:
    """Has OpenSM load routes of ours on a small simulated fabric, and reads the switches' tables back."""
    from netloom import _core
    from netloom.live import Ibsim, OpenSM, missing_tools

    result: dict[str, Any] = {"missing": missing_tools(), "error": None, "tables_equal": None}
    if result["missing"]:
        return result
    net = _core.Fabric.read(data / _SMALL_DUMP)
    demand, _ = _core.place_jobs(net, data / _SMALL_JOBS, seed=run.given_seed)
    best = _core.optimize(net, demand, seed=run.seed, threads=run.threads)
    file = folder / "opensm-ft2_32.lfts"
    with Folder.open(folder) as there:
        there.write(file.name, best.routes.to_bytes())
    with run.timed("opensm"):
        try:
            with Ibsim(data / _SMALL_DUMP, host=net.host_names[0]) as fabric:
                with OpenSM(fabric, engine="ftree"):
                    before = fabric.forwarding_tables()
                with OpenSM(fabric, routes=file):
                    after = fabric.forwarding_tables()
        except LiveError as error:
            return {**result, "error": str(error)}
    own = _core.Routes.parse(before, net, label="dump_fts")
    read_back = _core.Routes.parse(after, net, label="dump_fts")
    changed = read_back.changed_entries(best.routes)
    return {
        **result,
        "hosts": net.hosts,
        "switches": net.switches,
        "ftree_max_load": _core.loads(net, own, demand).max,
        "max_load": _core.loads(net, read_back, demand).max,
        "different_entries": changed,
        "file": file.name,
        "tables_equal": changed == 0,
    }


def text(result: dict[str, Any]) -> str:
    """The demo's report."""
    parts = [_inputs_text(result), _engines_text(result), _proof_text(result)]
    if result["opensm"] is not None:
        parts.append(_opensm_text(result["opensm"]))
    parts.append(_next_text(result))
    return "\n\n".join(parts)


def _inputs_text(result: dict[str, Any]) -> str:
    count = render.count
    net, demand = result["fabric"], result["traffic"]
    hosts, switches, links = (count(net[key]) for key in ("hosts", "switches", "links"))
    fabric = (
        f"quartz1 as ibnetdiscover printed it: {hosts} hosts, {switches} switches, {links} directed links"
    )
    size = render.size(demand["total_bytes"])
    traffic = f"{len(demand['jobs'])} jobs, {count(demand['pairs'])} pairs of hosts, {size}"
    return render.pairs([("fabric", fabric), ("traffic", traffic)])


def _engines_text(result: dict[str, Any]) -> str:
    rows = [
        [
            legend.name(row["engine"]),
            render.size(row["max_load"]),
            results.gap(row["ar_gap_percent"]),
            render.size(row["lower_bound"]),
            render.count(row["links_at_max"]),
            f"{row['seconds']:.2f}",
        ]
        for row in result["engines"]
    ]
    header = ["engine", legend.LOAD, "AR gap", "lower bound", "links at max", "seconds"]
    today, best = next(row for row in result["engines"] if row["engine"] == "ftree"), result["engines"][-1]
    gaps = (
        f"{results.gap(row['ar_gap_percent'])} with {legend.name(row['engine'])}" for row in (today, best)
    )
    words = f"above ideal adaptive routing, on the hottest link: {', '.join(gaps)}"
    return f"{render.table(header, rows, right=range(1, 6))}\n\n{words}"


def _proof_text(result: dict[str, Any]) -> str:
    verdict = check_verb.certificate_text(result["certificate"])
    return f"the proof, recomputed from the written files by code of its own\n{verdict}"


def _opensm_text(opensm: dict[str, Any]) -> str:
    if opensm["missing"]:
        return (
            f"OpenSM: skipped, {', '.join(opensm['missing'])} not installed "
            "(Debian: apt-get install opensm ibsim-utils infiniband-diags)"
        )
    if opensm["error"]:
        return f"OpenSM: failed: {opensm['error']}"
    size = render.size
    equal = "equal the file, entry by entry"
    if not opensm["tables_equal"]:
        equal = f"DIFFER from the file in {opensm['different_entries']} entries"
    return (
        f"OpenSM on a simulated fabric of {opensm['hosts']} hosts, -R file,no_fallback with our routes\n"
        f"  tables read back from its {opensm['switches']} switches {equal}\n"
        f"  maximum load {size(opensm['max_load'])}; with its own ftree {size(opensm['ftree_max_load'])}"
    )


def _next_text(result: dict[str, Any]) -> str:
    files = list(result["files"])
    if result["opensm"] is not None and "file" in result["opensm"]:
        files.append(result["opensm"]["file"])
    return "\n".join(
        [
            f"written to {result['folder']}{os.sep}: {', '.join(files)}",
            "",
            "next, on your own fabric",
            "  ibnetdiscover > net.txt",
            "  netloom fabric show net.txt",
            "  netloom optimize net.txt jobs.toml -o routes.lfts --write-certificate proof.json",
            "  netloom check net.txt routes.lfts --traffic jobs.toml --certificate proof.json",
            "  netloom apply plan routes.lfts",
            "",
            f"the page to look at: {os.path.join(result['folder'], PAGE)}",
        ]
    )
