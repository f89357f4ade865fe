"""`netloom loads`: load of every link, and how far from the best possible."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from netloom.cli.shared import inputs, options, outputs, results, users
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.lanes import check as check_lanes
from netloom.cli.shared.lanes import with_lanes
from netloom.cli.shared.options import Searching
from netloom.cli.shared.run import Run
from netloom.paths.hashing import WORD, Hashing, spread

if TYPE_CHECKING:
    from netloom._core import Fabric, LinkLoads, Traffic

SCHEMES = ("minimal", "valiant", "valiant:router", "best")
"""Routings without tables whose loads are known beforehand."""


def loads(
    fabric: str,
    routes: str,
    traffic: str,
    /,
    *,
    paths: Path | None = None,
    sl2vl: Path | None = None,
    sl: Path | None = None,
    users_of: tuple[str, ...] = (),
    write_certificate: Annotated[Path | None, options.OUTPUT_PATH] = None,
    roots: str | None = None,
    groups: str | None = None,
    hottest: Annotated[int, options.COUNT] = results.HOTTEST,
    options: Searching | None = None,
) -> int:
    """Compute the load of every link, and the gap to the best possible.

    Parameters
    ----------
    fabric
        A dump of InfiniBand's tools, a table of cables, an ibsim net file, or a generator spec (`quartz1`).
    routes
        A file of routes, an engine's name (`ftree`), `ecmp:pairs=4,draws=20`: every switch chooses by a
        hash of the flow; or a scheme: `minimal`, `valiant` (detours), `valiant:router`
        (by any switch of a third group), `best` (what any routing could do).
    traffic
        Traffic over hosts (.mtx, .csv, .txt, .npz, .npy, .parquet), a recorded run (.ti, its index or folder,
        .goal), a jobs file (.toml), or a pattern spec.
    paths
        Which of a host's several addresses every pair uses (.csv), as `netloom optimize --write-paths` writes
        it.
    sl2vl
        The lanes of the routes (`opensm-sl2vl.dump`): the result then says what every lane carries.
    sl
        With `--sl2vl`: the service level of every pair of hosts (.csv `source_lid,destination_lid,sl`).
    users_of
        A cable, by one of its ends (`leaf03[7]`, `0xGUID[7]`): which pairs and jobs use it, in both
        directions, with bytes. May be given several times.
    write_certificate
        With a scheme: write the proof of the bound of any ways here (.json), for `netloom check`.
    roots
        Switches on top of up*/down* ways: names or GUIDs, with commas, or OpenSM's `root_guid_file`. Below
        them the distance counts, then the GUID. [default: chosen by what the ways can carry]
    groups
        Groups of a dragonfly: a file of switches and their groups, or a rule by names such as `g([0-9]+)r`.
        [default: found from the cables]
    hottest
        How many of the hottest links to list, and of the pairs that use a cable.
    options
        Common options; `-o` writes the load of every link (.csv or .parquet) or the result (.json).
    """
    options = options or Searching()
    product = outputs.ending(options.output) != ".json"
    endings = (".csv", ".csv.gz", ".parquet", ".json")
    check_lanes(sl2vl, sl)
    run = Run("loads", options, product=product, endings=endings)
    net = inputs.with_roots(run, inputs.with_groups(run, run.fabric(fabric, warn=True), groups), roots)
    cables = users.found(net, users_of)
    demand = run.traffic(traffic, net)
    hashing = Hashing.parse(routes)
    if hashing is not None or routes in SCHEMES:
        given = {"--paths": paths, "--sl2vl": sl2vl, "--sl": sl, "--users-of": users_of or None}
        refused = [name for name, value in given.items() if value]
        if refused:
            raise UsageError(f"{refused[0]}: expected routes that are tables, found {routes}")
        if hashing is None:
            return _of_scheme(run, net, demand, routes, hottest, write_certificate)
        return _hashed(run, net, demand, hashing, hottest)
    if write_certificate is not None:
        raise UsageError(f"--write-certificate: expected a scheme ({', '.join(SCHEMES)}), found {routes}")
    tables = run.with_paths(run.routes(routes, net, demand, others=(*SCHEMES, WORD)), paths)
    tables = with_lanes(run, net, tables, sl2vl, sl)
    with run.timed("loads"), run.blaming(routes):
        found = run.loads(net, tables, demand)
    told = results.loads_result(net, found, demand, count=hottest)
    result: dict[str, Any] = {**told, "findings": run.findings}
    if users_of:
        with run.timed("users"):
            result["users"] = users.of_links(run, net, tables, demand, traffic, cables)
    if tables.lanes is not None:
        from netloom import _core

        with run.timed("lanes"):
            result["lane_loads"] = _core.lane_loads(net, tables, demand)
    _write(run, net, found, result)
    return run.finish(
        result,
        lambda: results.loads_text(result) + users.text(result, hottest),
        interrupted=found.stopped == "interrupted",
    )


def _of_scheme(
    run: Run, net: Fabric, demand: Traffic, scheme: str, hottest: int, certificate: Path | None
) -> int:
    """The loads that a scheme is expected to make, and the rate that they allow."""
    with run.timed("loads"), run.blaming(scheme):
        found = run.scheme_loads(net, demand, scheme)
    rate = found.host_bytes_max / found.max_seconds if found.max_seconds else None
    proof = None if certificate is None else run.write(found.certificate.to_json().encode(), certificate)
    result: dict[str, Any] = {
        **results.loads_result(net, found, demand, count=hottest),
        "throughput": found.throughput,
        "rate_bytes_per_s": rate,
        "certificate": proof,
        "findings": run.findings,
    }
    _write(run, net, found, result)
    return run.finish(result, lambda: results.loads_text(result), interrupted=found.stopped == "interrupted")


def _hashed(run: Run, net: Fabric, demand: Traffic, hashing: Hashing, hottest: int) -> int:
    """The loads of flows that choose by a hash: those of the median draw, and the spread over the draws."""
    with run.timed("loads"):
        found, most = run.ecmp_loads(net, demand, pairs=hashing.pairs, draws=hashing.draws)
    result: dict[str, Any] = {
        **results.loads_result(net, found, demand, count=hottest),
        "spread": spread(most),
        "findings": run.findings,
    }
    _write(run, net, found, result)
    return run.finish(result, lambda: results.loads_text(result), interrupted=found.stopped == "interrupted")


def _write(run: Run, net: Fabric, found: LinkLoads, result: dict[str, Any]) -> None:
    """The product: the load of every link."""
    if not run.has_product:
        return
    from netloom import extras, interop
    from netloom.extras import commas

    if extras.has("arrow"):
        data = interop.table_bytes(found.to_arrow(), outputs.ending(run.options.output))
    else:
        data = commas.loads_csv(found, net)
    result["output"] = run.write(data)
