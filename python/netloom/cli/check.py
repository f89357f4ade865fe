"""`netloom check`: verify routes, and certificates, with code that the optimiser does not share."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from netloom.cli.shared import inputs, options, render, results
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.lanes import check as check_lanes
from netloom.cli.shared.lanes import with_lanes
from netloom.cli.shared.options import Computing
from netloom.cli.shared.run import Run
from netloom.errors import FormatError
from netloom.findings import Finding, bad, finding, of_routes
from netloom.optimizing.matrices import CERTIFICATES
from netloom.session.faults import fault_lines
from netloom.shown import legend

if TYPE_CHECKING:
    from netloom._core import Certificate, CheckReport, Fabric, Routes, Traffic, Verdict

SCHEMES = ("minimal", "valiant", "valiant:router", "ugal", "ugal:global", "par")

_COUNTS = (
    ("unreachable_hosts", "unreachable hosts"),
    ("unreachable_management", "unreachable management"),
    ("non_minimal_pairs", "non-minimal pairs"),
    ("up_down_violations", "up*/down* violations"),
    ("credit_loops", "credit loops"),
    ("missing_entries", "missing entries"),
    ("invalid_entries", "invalid entries"),
)


def check(
    fabric: str,
    routes: str,
    /,
    *,
    traffic: str | None = None,
    certificate: Path | None = None,
    paths: Path | None = None,
    sl2vl: Path | None = None,
    sl: Path | None = None,
    roots: str | None = None,
    groups: str | None = None,
    vls: Annotated[int | None, options.COUNT] = None,
    any_order: bool = False,
    options: Computing | None = None,
) -> int:
    """Verify routes, routing schemes, and certificates.

    Follows every pair of LIDs and looks for unreachable pairs, detours, credit loops (deadlock), missing and
    invalid entries. Pairs of hosts count apart from those of a host and a switch's own LID (management).
    With `--traffic` and `--certificate` it also recomputes the loads from the routes and the bound from the
    traffic, and says whether the certificate holds. Errors and warnings exit 1.

    Parameters
    ----------
    fabric
        A dump of InfiniBand's tools, a table of cables, an ibsim net file, or a generator spec.
    routes
        A file of routes, or an engine's name; or a scheme of dragonflies (`minimal`, `valiant`,
        `valiant:router`, `ugal`, `ugal:global`, `par`): every move that a packet may make is then followed.
    traffic
        The traffic that the certificate is for.
    certificate
        A certificate file, as `netloom optimize --write-certificate` writes it. If it has several, all those
        of phases are checked; of those for other traffics (`--also`), the one with this traffic's name.
    paths
        Which of a host's several addresses every pair uses (.csv), as `netloom optimize --write-paths` writes
        it.
    sl2vl
        The lanes of the routes (`opensm-sl2vl.dump`): credit loops are then looked for among lanes of links.
    sl
        With `--sl2vl`: the service level of every pair of hosts (.csv `source_lid,destination_lid,sl`), as
        the subnet manager's path records have them. Else a message may have any level.
    roots
        Switches on top of up*/down* ways: names or GUIDs, with commas, or OpenSM's `root_guid_file`. Below
        them the distance counts, then the GUID. [default: chosen by what the ways can carry]
    groups
        Groups of a dragonfly: a file of switches and their groups, or a rule by names such as `g([0-9]+)r`.
        [default: found from the cables]
    vls
        Lanes of a scheme, from 1 to 15. [default: one a slot of the way]
    any_order
        With a scheme: minimal ways take the cables of a group in any order, not rows before columns.
    options
        Common options; `-o` writes the result (.json, .csv).
    """
    from netloom import _core

    if (traffic is None) != (certificate is None):
        raise UsageError("--traffic and --certificate belong together")
    check_lanes(sl2vl, sl)
    run = Run("check", options or Computing(), product=False)
    net = inputs.with_roots(run, inputs.with_groups(run, run.fabric(fabric, warn=True), groups), roots)
    if routes in SCHEMES:
        given = {"--traffic": traffic, "--paths": paths, "--sl": sl}
        refused = [name for name, value in given.items() if value]
        if refused:
            raise UsageError(f"{refused[0]}: expected routes that are tables, found {routes}")
        return _of_scheme(run, net, routes, vls=vls, sl2vl=sl2vl, any_order=any_order)
    if vls is not None or any_order:
        option = "--any-order" if vls is None else "--vls"
        raise UsageError(f"{option}: expected a scheme ({', '.join(SCHEMES)}), found {routes}")
    demand = None if traffic is None else run.traffic(traffic, net)
    tables = run.with_paths(run.routes(routes, net, None, strict=False, others=SCHEMES), paths)
    tables = with_lanes(run, net, tables, sl2vl, sl)
    with run.timed("check"):
        report = _core.check(net, tables, threads=run.threads)
    result = _report(net, report, tables, routes)
    if demand is not None and certificate is not None:
        assert traffic is not None
        claims = _claims(run, certificate, net, traffic, demand)
        with run.timed("certificate"):
            verdicts = [
                {"name": name, **_judged(net, part, claim, tables)} for name, part, claim in claims.of_phases
            ]
            if claims.whole is not None:
                result["certificate"] = _judged(net, demand, claims.whole, tables)
                verdicts.append(result["certificate"])
            else:
                result["certificates"] = verdicts
        result["findings"] += [
            finding("certificate", f"{verdict.get('name', certificate)}: the certificate does not hold")
            for verdict in verdicts
            if not verdict["ok"]
        ]
        result["ok"] = not bad(result["findings"])
    return run.finish(result, lambda: text(result))


def _of_scheme(
    run: Run, net: Fabric, scheme: str, *, vls: int | None, sl2vl: Path | None, any_order: bool
) -> int:
    """Whether packets of a scheme can wait for each other for ever."""
    from netloom import _core

    lanes = None
    if sl2vl is not None:
        data = run.read("sl2vl", str(sl2vl))
        with run.timed("read"):
            lanes = _core.LaneTables.parse(data, net, label=str(sl2vl))
    with run.timed("check"), run.blaming(scheme):
        found = _core.check_scheme(net, scheme, vls=vls, sl2vl=lanes, any_order=any_order)
    told: list[Finding] = []
    if not found["ok"]:
        cycle = "; ".join(f"{held['link']} lane {held['lane']}" for held in found["cycle"])
        told.append(
            finding("credit-loop", f"{len(found['cycle'])} lanes of links wait for each other: {cycle}")
        )
    result = {"scheme": scheme, **found, "findings": told}
    return run.finish(result, lambda: scheme_text(result))


@dataclass(frozen=True)
class _Claims:
    """What a file of certificates claims of a traffic: one bound, or one for each of its phases."""

    whole: Certificate | None
    of_phases: list[tuple[str, Traffic, Certificate]]


def _claims(run: Run, path: Path, fabric: Fabric, source: str, traffic: Traffic) -> _Claims:
    """Reads one certificate, or several: of the traffic's phases, or the one that has its name."""
    from netloom import _core

    data = run.read("certificate", str(path))
    several = _several(data, path)
    if several is None:
        return _Claims(_core.Certificate.parse(data, fabric, label=str(path)), [])
    parsed = [
        (name, _core.Certificate.parse(json.dumps(each).encode(), fabric, label=f"{path}: {name}"))
        for name, each in several
    ]
    names = [name for name, _ in parsed]
    phases = [phase or f"phase {i}" for i, phase in enumerate(traffic.phase_names)]
    if names == phases:
        return _Claims(None, [(name, traffic.phase(i), claim) for i, (name, claim) in enumerate(parsed)])
    mine = [claim for name, claim in parsed if name == source]
    if mine:
        # A traffic that was named twice has the same certificate twice.
        return _Claims(mine[0], [])
    listed = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
    raise FormatError(f"{path}: has certificates of {listed}: neither the phases of {source} nor its name")


def _several(data: bytes, path: Path) -> list[tuple[str, Any]] | None:
    """Name and certificate of each in a file of several; None if it is no such file."""
    try:
        document = json.loads(data)
        if document["schema"] != CERTIFICATES:
            return None
        return [(str(row["name"]), row["certificate"]) for row in document["certificates"]]
    except json.JSONDecodeError as error:
        if CERTIFICATES.encode() in data:
            text = f"expected a whole file of certificates, found {error.msg}"
            raise FormatError(f"{path}:{error.lineno}: {text}") from None
        return None
    except (ValueError, KeyError, TypeError, RecursionError):
        # One certificate, or none: its own reader says what it should be.
        return None


def _judged(fabric: Fabric, traffic: Traffic, claim: Certificate, tables: Routes) -> dict[str, Any]:
    from netloom import _core

    verdict = _core.verify_certificate(fabric, traffic, claim, tables)
    return {
        "kind": claim.kind,
        "place": claim.place,
        "claim": claim.claim,
        "bound_class": claim.bound_class,
        **verdict_result(verdict),
    }


def _report(fabric: Fabric, report: CheckReport, tables: Routes, file: str) -> dict[str, Any]:
    # The check itself counts entries that lead nowhere; of the file's other faults only the lines tell.
    told = [fault for fault in tables.faults if fault[1] in ("port-above-radix", "conflict")]
    result: dict[str, Any] = {"ok": report.ok, "pairs": report.pairs}
    result |= {key: getattr(report, key) for key in ("unreachable_pairs", "detours")}
    result |= {key: getattr(report, key) for key, _ in _COUNTS}
    result["invalid_entries"] += len(told)
    result |= {key: getattr(report, key) for key in ("switch_credit_loops", "lanes", "cycle")}
    told_of = [*fault_lines(tables.faults, file), *of_routes(fabric, report)]
    return {**result, "ok": not bad(told_of), "findings": told_of}


def verdict_result(verdict: Verdict) -> dict[str, Any]:
    """What the checker says, as a result."""
    return {
        "ok": verdict.ok,
        "optimal": verdict.optimal,
        "max_load": verdict.max_load,
        "recomputed_bound": verdict.recomputed_bound,
        "reasons": verdict.reasons,
    }


def text(result: dict[str, Any]) -> str:
    """The report of a check."""
    rows = [("pairs followed", render.count(result["pairs"]))]
    rows += [(label, render.count(result[key])) for key, label in _COUNTS]
    if result["lanes"] > 1:
        rows.append(("lanes", f"{result['lanes']}, told apart link by link"))
    out = render.pairs(rows)
    if "certificate" in result:
        out += f"\n\n{certificate_text(result['certificate'])}"
    for verdict in result.get("certificates", []):
        out += f"\n\n{render.pairs([('phase', verdict['name'])])}\n{certificate_text(verdict)}"
    out += render.findings(result["findings"])
    return f"{out}\n\n{'ok' if result['ok'] else 'NOT OK'}"


def scheme_text(result: dict[str, Any]) -> str:
    """The report of a check of a scheme."""
    slots = " ".join(held["slot"] for held in result["slots"])
    shared: dict[int, list[str]] = {}
    for held in result["slots"]:
        shared.setdefault(held["lane"], []).append(held["slot"])
    if None in shared:
        on = "by tables"
    else:
        several = [" and ".join(names) for names in shared.values() if len(names) > 1]
        on = "one a slot" if not several else f"{'; '.join(several)} share one"
    rows = [
        ("slots of a way", slots),
        ("lanes", f"{result['lanes']}, {on}"),
        ("waits of (link, lane)", render.count(result["waits"])),
        ("credit loops", render.count(result["credit_loops"])),
    ]
    verdict = "ok" if result["ok"] else "NOT OK"
    return f"{render.pairs(rows)}{render.findings(result['findings'])}\n\n{verdict}"


def certificate_text(verdict: dict[str, Any]) -> str:
    """What the checker says of a certificate."""
    rows = [
        ("certificate", f"{verdict['kind']}: {verdict['place']}"),
        ("claimed bound", f"{render.size(verdict['claim'])}, of {results.words(verdict['bound_class'])}"),
        ("recomputed", render.size(verdict["recomputed_bound"])),
    ]
    if verdict["max_load"] is not None:
        rows.append((legend.LOAD, render.size(verdict["max_load"])))
    holds = "holds" if verdict["ok"] else "DOES NOT HOLD"
    if verdict["ok"] and verdict["optimal"]:
        holds += ", and the routes meet it: no better ones of these exist"
    rows.append(("verdict", holds))
    return render.pairs(rows) + "".join(f"\n  {reason}" for reason in verdict["reasons"])
