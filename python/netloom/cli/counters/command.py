"""`netloom counters`: make, inspect, subtract and check what ports counted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from netloom import extras
from netloom.cli.shared import options, outputs, render, results
from netloom.cli.shared.options import Options, Searching
from netloom.cli.shared.run import Run
from netloom.counting.reading import odd_readings, read, summary
from netloom.counting.waiting import devices_of, doubts, lost, ticks_of
from netloom.findings import bad, by_severity, finding, findings

if TYPE_CHECKING:
    from netloom._core import Counters

_ENDINGS = (".csv", ".csv.gz", ".parquet")
_TOLD = 10
"""How many findings of a kind the text tells."""


def synth(
    fabric: str,
    routes: str,
    traffic: str,
    /,
    *,
    vl_scheme: str | None = None,
    scale: Annotated[float, options.within(0, 1e15)] = 1.0,
    noise: Annotated[float, options.within(0, 1.0)] = 0.0,
    skew: Annotated[float, options.within(0, 1.0)] = 0.0,
    missing: Annotated[float, options.within(0, 1.0)] = 0.0,
    mtu: Annotated[float, options.within(1, 65536.0)] = 4096.0,
    seconds: Annotated[float, options.within(0, 1e9)] = 1.0,
    paths: Path | None = None,
    options: Searching | None = None,
) -> int:
    """Compute the counters that a traffic leaves under given routes.

    Exact by default; `--noise`, `--skew` and `--missing` make them as real readings are, by `--seed`.

    Parameters
    ----------
    fabric
        A dump of InfiniBand's tools, a table of cables, an ibsim net file, or a generator spec (`quartz1`).
    routes
        A file of routes, or an engine's name (`ftree`).
    traffic
        Traffic over hosts (.mtx, .csv, .txt, .npz, .npy, .parquet), a recorded run (.ti, its index or folder,
        .goal), a jobs file (.toml), or a pattern spec.
    vl_scheme
        How pairs are spread over virtual lanes: `5sl5vl:seed=1`, random tables for five service levels and
        five lanes; `5sl5vl:groups`, `5sl5vl:sources`, `5sl5vl:uniform`, `5vl:random`, `5vl:galois`.
        [default: one lane]
    scale
        How many times the traffic runs: a pattern has one byte a pair.
    noise
        Relative standard deviation of every value: 0.005 is 0.5 %.
    skew
        Each reading of a port is late by up to this share of the interval.
    missing
        The share of the values that are missing.
    mtu
        Bytes a packet, where the traffic does not count packets.
    seconds
        Length of the interval.
    paths
        Which of a host's several addresses every pair uses (.csv), as `netloom optimize --write-paths` writes
        it.
    options
        Common options; `-o` writes the counters (.csv, .csv.gz, .parquet).
    """
    from netloom import _core

    run = Run("counters-synth", options or Searching(), endings=_ENDINGS)
    net = run.fabric(fabric, warn=True)
    demand = run.traffic(traffic, net)
    tables = run.with_paths(run.routes(routes, net, demand), paths)
    with run.timed("synth"), run.blaming(routes):
        found = _core.synth_counters(
            net,
            tables,
            demand,
            vl_scheme=vl_scheme,
            scale=scale,
            noise=noise,
            skew=skew,
            missing=missing,
            mtu_bytes=mtu,
            seconds=seconds,
            seed=run.seed,
            threads=run.threads,
        )
    result = {**summary(found), "output": write(run, found)}
    return run.finish(result, lambda: text(result))


def show(
    fabric: str,
    counters: str,
    /,
    *,
    hottest: Annotated[int, options.COUNT] = 10,
    options: Options | None = None,
) -> int:
    """Show counters: bytes, noise, the hottest links.

    Parameters
    ----------
    fabric
        The fabric of the counters: a dump of `ibnetdiscover`, or another form of fabric.
    counters
        What `perfquery` or `ibqueryerrors` printed, a folder of sysfs trees, an exporter's samples (a file,
        its URL, a folder of textfiles), or a table (.csv, .parquet) of ours or the simulator's.
    hottest
        How many of the hottest links to list.
    options
        Common options; `-o` writes the result (.json, .csv).
    """
    run = Run("counters-show", options or Options(), product=False)
    net = run.fabric(fabric)
    found = read(run, counters, net)
    devices = devices_of(fabric)
    told = summary(found, busiest=hottest)
    rows, notes = [], list(told["notes"])
    if devices.ids and extras.has("arrow"):
        ticks = ticks_of(net, found)
        rows = lost(net, found, devices, ticks, most=hottest)
        notes += doubts(net, devices, ticks, rows)
    elif devices.ids:
        notes.append("bandwidth lost to waiting is not told: that takes PyArrow")
    result = {**told, "notes": notes, "lost": rows}
    return run.finish(result, lambda: text(result))


def diff(
    fabric: str,
    before: str,
    after: str,
    /,
    *,
    seconds: Annotated[float | None, options.within(0, 1e9)] = None,
    hottest: Annotated[int, options.COUNT] = 10,
    options: Options | None = None,
) -> int:
    """Subtract one reading of counters from a later one.

    Findings are what error counters say went wrong in between, and readings that look as if they were
    given in the wrong order; warnings and errors among them exit 1.

    Parameters
    ----------
    fabric
        The fabric of the counters: a dump of `ibnetdiscover`, or another form of fabric.
    before
        The first reading.
    after
        The second reading, of the same counters.
    seconds
        The time between the readings, if the files do not have it.
    hottest
        How many of the hottest links to list.
    options
        Common options; `-o` writes the counters (.csv, .csv.gz, .parquet).
    """
    run = Run("counters-diff", options or Options(), endings=_ENDINGS)
    net = run.fabric(fabric)
    first, second = read(run, before, net, role="before"), read(run, after, net, role="after")
    found = second.since(first, seconds=seconds)
    told = summary(found, busiest=hottest)
    wrong = odd_readings(first, second, found, before)
    told["findings"] = wrong or findings(found.port_errors)
    result = {**told, "output": write(run, found)}
    return run.finish(result, lambda: text(result))


def check(fabric: str, counters: str, /, *, options: Options | None = None) -> int:
    """Find bad counters and name them.

    Compares both ends of every link and what enters and leaves every switch, tells counters that are full,
    were set back or cannot be, and what error counters say. Errors and warnings exit 1.

    Parameters
    ----------
    fabric
        The fabric of the counters: a dump of `ibnetdiscover`, or another form of fabric.
    counters
        What `perfquery` or `ibqueryerrors` printed, a folder of sysfs trees, an exporter's samples (a file,
        its URL, a folder of textfiles), or a table (.csv, .parquet) of ours or the simulator's.
    options
        Common options; `-o` writes the result (.json, .csv).
    """
    run = Run("counters-check", options or Options(), product=False)
    net = run.fabric(fabric)
    found = read(run, counters, net)
    with run.timed("check"):
        wrong = findings(found.check() + found.port_errors)
    told = summary(found, busiest=0)
    result: dict[str, Any] = {
        "ok": not bad(wrong),
        **{key: told[key] for key in ("kind", "intervals", "links", "links_unknown", "noise_percent")},
        "findings": wrong,
        "notes": told["notes"],
    }
    return run.finish(result, lambda: _check_text(result), rows=result["findings"] or None)


def write(run: Run, found: Counters) -> str | None:
    """Writes counters where `-o` says."""
    if not run.has_product:
        return None
    from netloom import interop

    data = found.to_bytes()
    if outputs.ending(run.options.output) == ".parquet":
        data = interop.counters_parquet(data)
    return run.write(data)


def text(result: dict[str, Any]) -> str:
    """The report of counters."""
    count = render.count
    many = result["intervals"]
    source = result["kind"] if many == 1 else f"{result['kind']}, {count(many)} intervals"
    time = "unknown" if result["seconds"] is None else f"{result['seconds']:,.6g} s"
    if result["readings"] == 1:
        time = "since the counters were last set back"
    both, one, none = (result[f"links_{key}"] for key in ("by_both_ends", "by_one_end", "unknown"))
    links = f"{count(both)} by both ends, {count(one)} by one, {count(none)} unknown"
    sent, carried = (_size(result[f"{key}_bytes"]) for key in ("host", "link"))
    if result["host_packets"] is not None:
        sent += f", {result['host_packets']:,.0f} packets"
    noise = result["noise_percent"]
    rows = [
        ("counters", source),
        ("time", time),
        ("lanes", "not told apart" if result["lanes"] == 0 else count(result["lanes"])),
        ("links", links),
        ("sent by hosts", sent),
        ("over all links", carried),
        ("noise", "unknown" if noise is None else render.percent(noise)),
    ]
    flagged = [f"{count(number)} {name}" for name, number in result["flagged"].items() if number]
    if flagged:
        rows.append(("bad values", ", ".join(flagged)))
    if result.get("output"):
        rows.append(("written", result["output"]))
    out = render.pairs(rows)
    if result["busiest"]:
        timed = result["seconds"] is not None
        header = ["bytes", *(["busy"] if timed else []), "from", "to"]
        lines = [
            [
                render.size(link["bytes"]),
                *([f"{100 * link['utilisation']:.1f} %"] if timed else []),
                *(results.port_text(link, side) for side in ("from", "to")),
            ]
            for link in result["busiest"]
        ]
        out += "\n\nbusiest links\n" + render.table(header, lines, right=range(2 if timed else 1))
    if result.get("lost"):
        header = ["not sent", "of the link", "ticks", "from", "to", "device"]
        lines = [
            [
                render.size(link["bytes"]),
                "unknown" if link["percent"] is None else f"{link['percent']:.1f} %",
                render.count(round(link["ticks"])),
                *(f"{link[side]}[{link[f'{side}_port']}]" for side in ("from", "to")),
                link["device"],
            ]
            for link in result["lost"]
        ]
        out += "\n\nbandwidth lost to waiting\n" + render.table(header, lines, right=range(3))
    return out + render.findings(result.get("findings", ())) + _notes(result)


def _size(bytes: float | None) -> str:
    return "unknown" if bytes is None else render.size(bytes)


def _notes(result: dict[str, Any]) -> str:
    """What is odd about the files; no reason for exit code 1."""
    return "\n\nnotes\n" + "\n".join(f"  {note}" for note in result["notes"]) if result["notes"] else ""


def _check_text(result: dict[str, Any]) -> str:
    noise = result["noise_percent"]
    out = render.pairs(
        [
            ("counters", result["kind"]),
            ("links", f"{render.count(result['links'])}, {render.count(result['links_unknown'])} unknown"),
            ("noise", "unknown" if noise is None else render.percent(noise)),
        ]
    )
    told = by_severity(result["findings"])
    shown = []
    for kind in dict.fromkeys(one["kind"] for one in told):
        of_kind = [one for one in told if one["kind"] == kind]
        shown += of_kind[:_TOLD]
        if len(of_kind) > _TOLD:
            shown.append(finding(kind, f"and {render.count(len(of_kind) - _TOLD)} more"))
    out += render.findings(shown) + _notes(result)
    return f"{out}\n\n{'ok' if result['ok'] else 'NOT OK'}"
