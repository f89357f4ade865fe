"""`netloom counters poll`: what every port of a live fabric has counted, and what reading it costs."""

from __future__ import annotations

import gzip
import time
from typing import Annotated, Any

from netloom.cli.counters import command as counters_verb
from netloom.cli.shared import options, render
from netloom.cli.shared.options import Options
from netloom.cli.shared.reach import Reach
from netloom.cli.shared.run import Run
from netloom.counting.reading import summary
from netloom.live.identity import discovered

_READING = (".txt", ".txt.gz")
_INTERVAL = (".csv", ".csv.gz", ".parquet")


def poll(
    fabric: str | None = None,
    /,
    *,
    seconds: Annotated[float | None, options.within(0.001, 1e6)] = None,
    hosts: bool = False,
    by_lane: bool = False,
    no_waits: bool = False,
    window: Annotated[int, options.within(1, 1024)] = 16,
    hottest: Annotated[int, options.COUNT] = 10,
    reach: Reach | None = None,
    options: Options | None = None,
) -> int:
    """Reads the counters of every port of a live fabric, and says what that cost.

    Nothing is set back. Ports that do not answer are a finding, which exits 1. Needs no root where the user
    may open /dev/infiniband/umad*.

    Parameters
    ----------
    fabric
        A dump of `ibnetdiscover`, of this fabric. [default: discovered now]
    seconds
        Seconds between two readings, whose difference is the result. [default: one reading]
    hosts
        Read adapters too, not only switches.
    by_lane
        Read bytes received by lane too: one more datagram per port.
    no_waits
        Do not read how long packets waited: one datagram fewer per port, where wide counters lack it.
    window
        How many datagrams are under way at a time.
    hottest
        How many of the hottest links to list.
    options
        Common options; `-o` writes the reading as `perfquery` prints it (.txt, .txt.gz), with `--seconds` the
        counters (.csv, .csv.gz, .parquet).
    """
    from netloom.live.polling import Poller

    options = options or Options()
    run = Run("counters-poll", options, endings=_READING if seconds is None else _INTERVAL)
    access = (reach or Reach()).access()
    net = discovered(run, access, fabric)
    with Poller(access, net, hosts=hosts, lanes=by_lane, waits=not no_waits, window=window) as poller:
        with run.timed("poll"):
            first = poller.poll()
        last = first
        if seconds is not None:
            with run.timed("wait"):
                time.sleep(max(0.0, first.started_s + seconds - time.monotonic()))
            with run.timed("poll"):
                last = poller.poll()
    found = first.counters
    if last is not first:
        seconds = last.started_s - first.started_s
        found = last.counters.since(found, seconds=seconds, start_s=first.at_s)
    written = None
    if run.has_product:
        written = (
            run.write(_packed(options, first.text)) if seconds is None else counters_verb.write(run, found)
        )
    polls = [first] if last is first else [first, last]
    result: dict[str, Any] = {
        **summary(found, busiest=hottest),
        "ports": first.ports,
        "missing_ports": [{"node": node, "port": port} for node, port in last.missing],
        "hosts_asked": hosts,
        "polls": len(polls),
        "poll_seconds": round(max(one.seconds for one in polls), 6),
        "mads": sum(one.mads for one in polls),
        "mad_bytes": sum(one.octets for one in polls),
        "output": written,
    }
    return run.finish(result, lambda: _text(result), findings=bool(result["missing_ports"]))


def _packed(options: Options, text: bytes) -> bytes:
    return gzip.compress(text, mtime=0) if str(options.output).endswith(".gz") else text


def _text(result: dict[str, Any]) -> str:
    count = render.count
    missing = result["missing_ports"]
    rows = [("ports", f"{count(result['ports'])}, {count(len(missing))} did not answer")]
    if missing:
        named = [f"{one['node']}[{one['port']}]" for one in missing[:4]]
        rows.append(("silent", ", ".join(named) + (", …" if len(missing) > 4 else "")))
    each = "" if result["polls"] == 1 else " each"
    rows.append(
        (
            "cost",
            f"{count(result['mads'])} datagrams sent, {render.size(result['mad_bytes'])} both ways, "
            f"{result['poll_seconds']:.2f} s{each}",
        )
    )
    told = dict(result["flagged"])
    if not result["hosts_asked"] and told.get("missing"):
        rows.append(
            ("not asked", "adapters: --hosts asks them too; switches count these links at the other end")
        )
        if not missing:
            told["missing"] = 0
    return f"{render.pairs(rows)}\n\n{counters_verb.text({**result, 'flagged': told})}"
