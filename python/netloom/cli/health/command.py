"""`netloom health`: which cable to look at first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from netloom.cli.health import report
from netloom.cli.shared import options
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.counting import reading as counted
from netloom.findings import Finding, finding, findings

if TYPE_CHECKING:
    from netloom._core import Counters, Fabric
    from netloom.health.error_counters import Errors


def health(
    fabric: str,
    counters: str | None = None,
    after: str | None = None,
    /,
    *,
    expect: str | None = None,
    seconds: Annotated[float | None, options.within(0, 1e9)] = None,
    most: Annotated[int, options.COUNT] = 20,
    options: Options | None = None,
) -> int:
    """Which cable to look at first: one ranked table of all cables with something wrong, both ends by name.

    Cables that are missing, that run slower than their siblings, that went down, trained again or had errors
    between two readings, counters that are full. Warnings and errors exit 1. `counters check` is about
    counters that contradict each other.

    Parameters
    ----------
    fabric
        A dump of `ibnetdiscover`, and what else is read as one.
    counters
        What ports had counted: what `perfquery` or `ibqueryerrors` printed, ibdiagnet2.db_csv, a folder of
        sysfs trees, an exporter's samples (a file, its URL, a folder of textfiles). [default: none; cables
        alone]
    after
        A later reading of the same ports: errors between the two are counted. [default: none; all errors
        since the counters were reset]
    expect
        What should be there: an earlier dump, a cabling plan by names, or a generator's spec.
    seconds
        The time between the readings, if the files do not have it; needed for rates.
    most
        How many cables the printed table shows; JSON and CSV have all.
    options
        Common options; `-o` writes the result (.json, .csv).
    """
    from netloom.health import cable_findings, examine

    if seconds is not None and counters is None:
        raise UsageError("--seconds is the time between two readings: expected COUNTERS and AFTER")
    run = Run("health", options or Options(), product=False)
    net = run.fabric(fabric)
    plan = None if expect is None else run.fabric(expect, role="expect")
    readings = [
        _read(run, source, net, role=role)
        for source, role in ((counters, "counters" if after is None else "before"), (after, "after"))
        if source is not None
    ]
    odd: list[Finding] = []
    between: dict[str, Any] = {"readings": len(readings), "seconds": None, "data_full": 0}
    if readings:
        odd, between = _judge(readings, counters or "", seconds)
    errors = [one for _, one in readings]
    with run.timed("examine"):
        found = examine(
            net,
            errors[0] if len(errors) > 1 else None,
            errors[-1] if errors and not any(one["kind"] == "reversed" for one in odd) else None,
            seconds=between["seconds"],
            plan=plan,
            plan_label=expect or "",
        )
    result: dict[str, Any] = {
        "hosts": net.hosts,
        "switches": net.switches,
        "links": net.links,
        **between,
        "expected_by": None if found.plan is None else found.plan.by,
        "cables": [cable.told(rank) for rank, cable in enumerate(found.cables, 1)],
        "findings": cable_findings(found.cables) + found.findings + odd,
    }
    others = found.findings + odd
    return run.finish(result, lambda: report.text(result, others, most), rows=report.rows(result))


def _read(run: Run, source: str, net: Fabric, *, role: str) -> tuple[Counters, Errors]:
    """Counters, and those of errors among them."""
    from netloom.health import error_counters

    found = counted.read(run, source, net, role=role)
    return found, error_counters.of(found)


def _judge(
    readings: list[tuple[Counters, Errors]], first: str, seconds: float | None
) -> tuple[list[Finding], dict[str, Any]]:
    """What is odd about the readings themselves; how far apart they are."""
    last, errors = readings[-1]
    odd: list[Finding] = []
    whole = last
    if len(readings) > 1:
        before = readings[0][0]
        whole = last.since(before, seconds=seconds)
    elif seconds is not None and last.readings <= 1 and not errors.counted:
        raise UsageError(f"--seconds is the time between two readings: {first} is one, expected AFTER")
    told = whole.summary(busiest=0)
    if len(readings) > 1:
        odd += counted.odd_readings(readings[0][0], last, whole, first)
    if not errors.last and not errors.counted:
        odd += findings(last.port_errors)
        text = f"{told['kind']}: no error counters are read from it, so that only cables are judged"
        odd.append(finding("errors-not-told", text))
    full = int(told["flagged"].get("saturated", 0))
    if full:
        text = (
            f"{full:,} counters of data or packets are full: what went over those cables is not known "
            "(read 64-bit counters: perfquery -x)"
        )
        odd.append(finding("data-full", text))
    apart = told["seconds"] if len(readings) > 1 or last.readings > 1 or errors.counted else None
    if apart is None and errors.counted:
        apart = seconds
    return odd, {"readings": len(readings), "seconds": apart, "data_full": full}
