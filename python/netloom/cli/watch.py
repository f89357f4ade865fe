"""`netloom watch`: a fabric while it runs, on a terminal or for Prometheus."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

from netloom.cli.shared import options, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.jobs import Adapters
from netloom.cli.shared.options import Seeded
from netloom.cli.shared.reach import Reach
from netloom.cli.shared.run import Run
from netloom.cli.shared.unfit import exclude, named, need, refuse
from netloom.errors import ArgumentError, LiveError
from netloom.watch import screen

_UNFIT = (
    *need(("--output",), ("--once",), "-o needs --once: one picture to write"),
    *exclude("--once", ("--prometheus",), "--once ends, --prometheus stays: expected one of them"),
    *exclude(
        "--counters-from",
        ("--sim", "--ca", "--port"),
        "--counters-from are read instead of polling: expected no --sim, --ca or --port beside it",
    ),
)


def watch(
    fabric: str | None = None,
    /,
    *,
    counters_from: str | None = None,
    jobs: Path | None = None,
    journal: list[Path] | None = None,
    every: Annotated[float, options.within(0.05, 86400.0)] = 5.0,
    once: bool = False,
    prometheus: str | None = None,
    hosts: bool = False,
    hottest: Annotated[int, options.COUNT] = 10,
    adapters: Adapters | None = None,
    reach: Reach | None = None,
    options: Seeded | None = None,
) -> int:
    """A fabric while it runs: load by level, hottest links, congestion, jobs, the loop's last decisions.

    Polls the counters of all ports, never sets any back, and shows what was carried since the last time.

    Parameters
    ----------
    fabric
        A dump of `ibnetdiscover`. [default: discovered now]
    counters_from
        Counters that somebody else reads, instead of polling: an exporter's URL, a folder of textfiles or
        sysfs trees; or a file of intervals, such as a simulation's, which is shown interval by interval.
    jobs
        A jobs file (.toml), or what `squeue --json` or `sacct` printed: shows what every job's hosts send and
        receive.
    journal
        The folder of a loop's journal, or of an OpenSM's changes; several may be given. [default: that of the
        OpenSM that runs here]
    every
        Seconds from one picture to the next.
    once
        One picture, over one interval, then ends.
    prometheus
        Also serve these metrics on this address, with the names and units of the usual exporters: `:9900` for
        this machine alone, `0.0.0.0:9900` or `[::]:9900` for others too.
    hosts
        Polls adapters too, not only switches.
    hottest
        How many links to list.
    options
        Common options; `-o` writes the last picture (.json, .csv), with `--once`.
    """
    options = options or Seeded()
    given = named(
        reach or Reach(),
        output=options.output,
        once=once,
        prometheus=prometheus,
        counters_from=counters_from,
    )
    refuse(_UNFIT, given)
    if options.format != "text" and not once:
        raise UsageError(f"--format {options.format} needs --once")
    if prometheus is not None:
        from netloom.watch.exporter import place

        try:
            place(prometheus)
        except LiveError as error:
            raise UsageError(str(error)) from None
    run = Run("watch", options, product=False)
    adapters = adapters or Adapters()
    adapters.check(jobs)
    if counters_from is not None and fabric is None:
        raise UsageError("--counters-from needs FABRIC: whose counters they are")
    from netloom.watch.calls import NoTimes, Watching

    watching = Watching(
        run,
        fabric,
        counters_from,
        jobs,
        journal or [],
        hottest,
        (reach or Reach()).access(),
        hosts,
        adapters=adapters.adapters,
        storage=adapters.storage,
    )
    with contextlib.ExitStack() as stack:
        stack.enter_context(_as_usage(NoTimes))
        page = None
        if prometheus is not None:
            from netloom.watch.exporter import serving

            page, url = stack.enter_context(serving(prometheus))
            run.note(f"serving {url}")
        pictures = watching.pictures(stack, every, once)
        if once:
            picture, told = next(pictures)
            if picture is None:
                raise watching.error or LiveError("nothing was seen")
            result, drawn = watching.result(picture, told), watching.drawn(picture, told)
            return run.finish(result, lambda: text(*drawn), rows=result["levels"])
        show = stack.enter_context(_shown(quiet=options.quiet))
        for picture, told in pictures:
            if page is not None:
                page.put(watching.metrics(picture, told))
            if picture is not None:
                show(*watching.drawn(picture, told))
            elif watching.error is not None:
                show([f"trouble: {watching.error}"], [])
    return 0


def text(lines: list[str], tables: list[screen.Section]) -> str:
    """All of a picture as plain text."""
    parts = ["\n".join(lines)]
    for section in tables:
        rows = [
            [screen.bar(float(cell)) if column == section.bar else cell for column, cell in enumerate(row)]
            for row in section.rows
        ]
        parts.append(f"{section.title}\n{render.table(section.header, rows, right=section.right)}")
    return "\n\n".join(parts)


@contextlib.contextmanager
def _as_usage(kind: type[ArgumentError]) -> Iterator[None]:
    """What the call has wrong in an argument's value, the command has in its line."""
    try:
        yield
    except kind as error:
        raise UsageError(str(error)) from None


@contextlib.contextmanager
def _shown(*, quiet: bool) -> Iterator[Callable[[list[str], list[screen.Section]], None]]:
    """Where pictures go: the whole terminal; text, one after another, elsewhere."""
    if quiet:
        yield lambda lines, tables: None
        return
    if not sys.stdout.isatty():
        yield lambda lines, tables: print(f"{render.printable(text(lines, tables))}\n", flush=True)
        return
    from rich.live import Live

    view = screen.View()
    live = Live(get_renderable=view.now, screen=True, auto_refresh=True, refresh_per_second=1)
    view.console = live.console
    try:
        with live:

            def show(lines: list[str], tables: list[screen.Section]) -> None:
                view.put(lines, tables)
                live.refresh()

            yield show
    finally:
        # The screen of its own is gone, and with it what was seen last.
        if view.lines:
            live.console.print(screen.screen(view.lines, view.tables))
