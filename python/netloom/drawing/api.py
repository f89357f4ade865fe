"""`netloom.draw`: what `netloom plot` does, from Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from netloom import extras
from netloom.errors import ArgumentError
from netloom.session.checked import checked
from netloom.session.session import Session
from netloom.session.sources import ending

_ENDINGS = (".svg", ".pdf", ".png")
_KINDS: dict[str, tuple[str, int | None, bool]] = {
    "matrix": ("basics", None, False),
    "loads": ("basics", 2, False),
    "history": ("basics", 0, False),
    "front": ("basics", None, False),
    "run": ("runs", None, True),
    "tail": ("runs", None, True),
    "slowdown": ("tables", None, False),
    "noise": ("tables", None, False),
    "load": ("tables", 0, False),
    "coefficients": ("inference", None, False),
    "study": ("inference", 0, False),
    "cables": ("cables", 2, False),
    "congestion": ("congestion", 0, True),
    "engines": ("engines", 0, False),
    "sweep": ("swept", None, True),
    "plan": ("planned", None, False),
}
"""By name: its module, after how many sources there may be any number, and whether these are folders."""


@checked(dpi=(20, 2400))
def draw(
    what: str,
    *sources: str | os.PathLike[str],
    output: str | os.PathLike[str],
    size: tuple[float, float] | None = None,
    dpi: int | None = None,
    seed: int | None = None,
    threads: int = 0,
    **options: Any,
) -> dict[str, Any]:
    """Draws a picture, as `netloom plot` does.

    Parameters
    ----------
    what : str
        `matrix`, `loads`, `cables`, `history`, `front`, `engines`, `run`, `tail`, `congestion`, `load`,
        `slowdown`, `noise`, `sweep`, `plan`, `coefficients` or `study`.
    sources : str or path
        What is drawn, in the command's order: a fabric, traffic and routes, a run's folder, a result as JSON.
    output : path
        Where it goes (.svg, .pdf, .png; `congestion` also .html).
    size : tuple of float, optional
        Width and height in inches, 1 to 100 each. [default: depends on the drawing]
    dpi : int, optional
        Pixels per inch of a PNG, 20 to 2400. [default: 150]
    seed : int, optional
        Of routes that are made for it. [default: 0]
    threads : int, default 0
        Threads; 0 is one a core.
    **options
        The drawing's own, as on the command line: `title`, `part`, `job`, `routing`, `by`, …

    Returns
    -------
    dict
        What the picture shows in numbers, as `result` of `netloom plot … --format json`.

    Raises
    ------
    ArgumentError
        If there is no such drawing, or an option makes no sense.
    FormatError
        If a source is not what is drawn.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> import netloom as nl
    >>> shown = nl.draw("loads", "two-level:leaves=4,hosts=4,spines=4", "shift:4", "ftree", output="l.svg")
    >>> shown["curves"][0]["max_load"]
    1.0
    """
    if what not in _KINDS:
        raise ArgumentError(f"what: expected one of {', '.join(_KINDS)}, found {what}")
    module, many, folders = _KINDS[what]
    endings = (*_ENDINGS, ".html") if what == "congestion" else _ENDINGS
    kind = ending(Path(output))
    if kind not in endings:
        raise ArgumentError(f"output: expected an ending of {', '.join(endings)}, found {output}")
    extras.need("plot", *(["arrow"] if folders else []))
    import importlib

    from netloom import _core
    from netloom.plot.paper import DPI, PAPER, Paper

    PAPER.set(Paper(size, dpi or DPI))
    given: list[Any] = [Path(one) if folders else os.fspath(one) for one in sources]
    if many is not None:
        given = [*given[:many], given[many:]]
    session = Session(seed=seed, threads=threads)
    drawn = getattr(importlib.import_module(f"netloom.drawing.{module}"), what)(
        session, *given, kind=kind.removeprefix("."), **options
    )
    _core.write_atomic(output, drawn.picture)
    return {**drawn.result, "output": os.fspath(output)}
