"""`netloom dataplane up`, `status` and `down`: BPF programs on ports of this machine, and off again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from netloom.cli.shared import options, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.dataplane.programs import COUNTS
from netloom.findings import finding

if TYPE_CHECKING:
    from netloom.dataplane.attaching import Seen
    from netloom.dataplane.journal import Attached, Journal
    from netloom.dataplane.plan import Port
    from netloom.findings import Finding

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
    from netloom import _core, patience
    from netloom.dataplane import attaching, wiring
    from netloom.dataplane import plan as planning

    if (ports is None) == (not interface):
        raise UsageError("expected a table of ports, or --interface NODE:PORT=INTERFACE: one of them")
    run = Run("dataplane-up", options or Options(), product=False, endings=_REPORTS)
    attaching.need()
    net = run.fabric(fabric, warn=True)
    found, _, _ = planning.ports(net, queue_bytes=queue_bytes)
    if ports is None:
        wires = wiring.of_options(interface, found)
    else:
        wires = wiring.read(run.read("ports", ports), ports, found)
    book = _journal(journal)
    owner = None
    with run.timed("ports"):
        if yes:
            with patience.change():
                now, seen = attaching.up(
                    book, wires, rate=rate, keep=keep, hash_name=_core.sampling_hash("gf")
                )
            owner = f"{now.owner:016x}"
        else:
            seen = attaching.look(wires)
    rows = [_port(one.port) for one in seen]
    result: dict[str, Any] = {
        "done": yes,
        "journal": str(book.folder),
        "owner": owner,
        "rate": rate,
        "keep": keep,
        "ports": rows,
        "findings": _findings(seen, found),
    }
    return run.finish(result, lambda: _up_text(result), rows=rows)


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
    from netloom import patience
    from netloom.dataplane import attaching

    run = Run("dataplane-down", options or Options(), product=False, endings=_REPORTS)
    book = _journal(journal)
    now = book.read()
    if now is not None:
        attaching.need()
    left = None
    if yes:
        with run.timed("ports"), patience.change():
            done = attaching.down(book)
        now, left = (None, None) if done is None else done
    result: dict[str, Any] = {
        "done": yes,
        "journal": str(book.folder),
        "time": None if now is None else now.time,
        "ports": [] if now is None else [_port(port) for port in now.ports],
        "filters_removed": 0 if left is None else left.filters,
        "clsact_removed": 0 if left is None else left.clsact,
        "findings": [],
    }
    if left is not None:
        result["findings"] = [
            *(
                finding("port-gone", f"{port}: is not there any more, so nothing was taken off")
                for port in left.gone
            ),
            *(
                finding("clsact-kept", f"{port}: keeps clsact: filters of others are on it")
                for port in left.kept
            ),
        ]
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
    from netloom.dataplane import attaching, collecting
    from netloom.dataplane.programs import COUNTS

    run = Run("dataplane-status", options or Options(), product=False, endings=_REPORTS)
    book = _journal(journal)
    now = book.read()
    rows: list[dict[str, Any]] = []
    found: list[Finding] = []
    if now is not None:
        attaching.need()
        if not now.complete:
            found.append(finding("half-up", "it was left half done: `netloom dataplane down --yes`"))
        for port, name, counts in collecting.states(now) if now.is_of_this_boot else ():
            if counts is None:
                found.append(
                    finding("program-gone", f"{port.node}:{port.port}: {port.place}: the {name} is not there")
                )
            rows.append(
                {
                    "node": port.node,
                    "port": port.port,
                    "interface": port.interface,
                    "namespace": port.namespace,
                    "program": name,
                    "there": counts is not None,
                    **(dict.fromkeys(COUNTS, 0) if counts is None else counts),
                }
            )
    result: dict[str, Any] = {
        "journal": str(book.folder),
        "up": now is not None and now.is_of_this_boot,
        "time": None if now is None else now.time,
        "ports": rows,
        "findings": found,
    }
    return run.finish(result, lambda: _status_text(result), rows=rows)


def _journal(folder: Path | None) -> Journal:
    from netloom.dataplane.journal import DEFAULT, Journal

    return Journal(DEFAULT if folder is None else folder)


def _port(port: Attached) -> dict[str, Any]:
    return {
        "node": port.node,
        "port": port.port,
        "role": port.role,
        "interface": port.interface,
        "namespace": port.namespace,
        "number": port.number,
        "mask": f"0x{port.mask:04x}",
        "queue_bytes": port.queue_bytes,
        "addresses": " ".join(port.addresses),
        "had_clsact": port.had_clsact,
    }


def _findings(seen: Sequence[Seen], plan: Sequence[Port]) -> list[Finding]:
    found = [
        finding(
            "other-filters",
            f"{one.port.node}:{one.port.port}: {one.port.place} has {one.others} filters of others: one that "
            "comes first and ends a packet's way hides it from ours",
        )
        for one in seen
        if one.others
    ]
    here = {(one.port.node, one.port.port) for one in seen}
    absent = [port for port in plan if (port.node, port.port) not in here]
    for role, kind, words in (
        (
            "switch",
            "switch-left-out",
            "packets that pass them are decoded wrongly, unless somebody else runs them",
        ),
        ("host", "host-left-out", "their packets are not sampled here"),
    ):
        ports = [f"{port.node}:{port.port}" for port in absent if port.role == role]
        if ports:
            some = ", ".join(ports[:4]) + (", …" if len(ports) > 4 else "")
            found.append(
                finding(
                    kind, f"{render.count(len(ports))} ports of the plan are not listed ({some}): {words}"
                )
            )
    return found


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
