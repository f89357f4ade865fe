"""`netloom dataplane up`, `status` and `down`: BPF programs on ports of this machine, and off again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from netloom.cli.shared import options, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.dataplane.programs import COUNTS

MOST_BYTES = 2**32 - 2
_REPORTS = (".json", ".csv", ".txt")

Yes = Annotated[bool, Parameter(name=["--yes", "-y"])]


def up(
    fabric: str,
    ports: str | None = None,
    /,
    *,
    interface: Annotated[Sequence[str], Parameter(negative=())] = (),
    yes: Yes = False,
    queue_bytes: Annotated[int | None, options.within(0, MOST_BYTES)] = None,
    rate: Annotated[float, options.within(1 / 65536, 1.0)] = 1.0,
    keep: bool = False,
    journal: Path | None = None,
    options: Options | None = None,
) -> int:
    """Put the BPF programs of path sampling on ports of this machine; a dry run unless `--yes`.

    What is there is looked at, and written down before anything changes: `down` leaves what was there before,
    whatever happened in between. Filters of others stay. Needs root, clang and a kernel with BTF.

    Parameters
    ----------
    fabric
        A dump, or a generator spec.
    ports
        Which interface is which port: a table (CSV) with `node`, `port`, `interface`, and if need be
        `namespace` and `address`.
    interface
        The same as an option, `NODE:PORT=INTERFACE` or `NODE:PORT=INTERFACE@NAMESPACE`, several times.
    yes
        Make the change; without it nothing is changed.
    queue_bytes
        The queue length in bytes from which a switch's port is congested. [default: never]
    rate
        The share of packets that hosts sample.
    keep
        Leave tags in packets that hosts receive, instead of taking them off.
    journal
        The folder with the journal of the installed programs. [default: /run/netloom-dataplane]
    options
        Common options; `-o` writes the result (.json, .csv, .txt).
    """
    from netloom.dataplane.calls import dataplane_up

    if (ports is None) == (not interface):
        raise UsageError("expected a table of ports, or --interface NODE:PORT=INTERFACE: one of them")
    run = Run("dataplane-up", options or Options(), product=False, endings=_REPORTS)
    result = dataplane_up(
        fabric,
        ports,
        interface=interface,
        yes=yes,
        queue_bytes=queue_bytes,
        rate=rate,
        keep=keep,
        journal=journal,
        session=run,
    )
    return run.finish(result, lambda: _up_text(result), rows=result["ports"])


def down(*, yes: Yes = False, journal: Path | None = None, options: Options | None = None) -> int:
    """Take the programs off again; a dry run unless `--yes`.

    Also after a crash, a kill or a reboot: only what `up` put there goes, and `clsact` where it was not there
    before.

    Parameters
    ----------
    yes
        Make the change; without it nothing is changed.
    journal
        The folder with the journal of the installed programs. [default: /run/netloom-dataplane]
    options
        Common options; `-o` writes the result (.json, .csv, .txt).
    """
    from netloom.dataplane.calls import dataplane_down

    run = Run("dataplane-down", options or Options(), product=False, endings=_REPORTS)
    result = dataplane_down(yes=yes, journal=journal, session=run)
    return run.finish(result, lambda: _down_text(result), rows=result["ports"])


def status(*, journal: Path | None = None, options: Options | None = None) -> int:
    """What is up, and what its programs did to packets so far.

    Parameters
    ----------
    journal
        The folder with the journal of the installed programs. [default: /run/netloom-dataplane]
    options
        Common options; `-o` writes the result (.json, .csv, .txt).
    """
    from netloom.dataplane.calls import dataplane_status

    run = Run("dataplane-status", options or Options(), product=False, endings=_REPORTS)
    result = dataplane_status(journal=journal)
    return run.finish(result, lambda: _status_text(result), rows=result["ports"])


def _up_text(result: Mapping[str, Any]) -> str:
    count = render.count
    ports = result["ports"]
    hosts = sum(port["role"] == "host" for port in ports)
    head = [
        ("ports", f"{count(hosts)} of hosts, {count(len(ports) - hosts)} of switches"),
        ("sampled", f"{100 * result['rate']:g} % of what hosts send"),
        ("journal", result["journal"]),
    ]
    rows = [
        [
            f"{port['node']}:{port['port']}",
            port["role"],
            port["interface"],
            port["namespace"] or "",
            str(port["number"]),
            port["mask"],
            "never" if port["queue_bytes"] is None else count(port["queue_bytes"]),
            port["addresses"],
        ]
        for port in ports
    ]
    header = ["port", "role", "interface", "namespace", "number", "mask", "congested from", "address"]
    what = (
        "up: `netloom dataplane collect` reads what receivers tell, `netloom dataplane down --yes` ends it"
        if result["done"]
        else "a dry run: nothing was changed; --yes does it"
    )
    table = render.table(header, rows, right=(4, 6))
    return f"{render.pairs(head)}\n\n{table}\n\n{what}" + render.findings(result["findings"])


def _down_text(result: Mapping[str, Any]) -> str:
    if result["time"] is None:
        return f"nothing is up ({result['journal']})"
    ports = f"{render.count(len(result['ports']))} ports, up since {result['time']}"
    if not result["done"]:
        return f"{ports}\na dry run: nothing was changed; --yes takes the programs off"
    return (
        f"{ports}\ntaken off: {render.count(result['filters_removed'])} programs, and clsact from "
        f"{render.count(result['clsact_removed'])} ports" + render.findings(result["findings"])
    )


def _status_text(result: Mapping[str, Any]) -> str:
    if not result["up"]:
        return f"nothing is up ({result['journal']})"
    count = render.count
    keys = COUNTS
    rows = [
        [f"{row['node']}:{row['port']}", row["interface"], row["namespace"] or "", row["program"]]
        + ([count(row[key]) for key in keys] if row["there"] else ["gone", *[""] * (len(keys) - 1)])
        for row in result["ports"]
    ]
    header = ["port", "interface", "namespace", "program", *(key.replace("_", " ") for key in keys)]
    table = render.table(header, rows, right=range(4, 4 + len(keys)))
    return f"up since {result['time']}\n\n{table}" + render.findings(result["findings"])
