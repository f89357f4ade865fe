"""`netloom.report`: one page of a fabric, of routes with traffic, of a folder, or of a result."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom import reading
from netloom.loop import journal
from netloom.manifest import MANIFEST, check
from netloom.pages import cabled, folders, kinds, page, ran, result, routed
from netloom.runs import folder as runs
from netloom.session.checked import checked
from netloom.session.session import Session

if TYPE_CHECKING:
    from netloom._core import Fabric, Job, Routes, Traffic


@checked()
def report(
    what: Fabric | str | os.PathLike[str],
    traffic: Traffic | None = None,
    routes: Mapping[str, Routes] | None = None,
    *,
    title: str | None = None,
    jobs: Sequence[Job] = (),
    threads: int = 0,
) -> bytes:
    """A page that shows a result and fetches nothing; every figure is in it as JSON, too.

    Parameters
    ----------
    what : Fabric or path
        A fabric, alone or with `traffic` and `routes`; or a folder of `netloom simulate -o`, of a sweep or of
        a loop's journal; or the JSON result of any verb.
    traffic : Traffic, optional
        Over the fabric's hosts.
    routes : mapping, optional
        Routes by the name that the page gives them; with `traffic`.
    title : str, optional
        Above the page. [default: what it is of]
    jobs : sequence of Job, optional
        Whose hosts are whose, as `place_jobs` tells it.
    threads : int, default 0
        0 is one a core. The page is the same for any number.

    Returns
    -------
    bytes
        HTML. The same input gives the same bytes.

    Raises
    ------
    FormatError
        If a file is nothing that a page shows, or a run was altered.
    RoutingError, TrafficError
        If routes or traffic are another fabric's, or routes join not all that send.
    OSError
        If a file cannot be read.
    TypeError
        If traffic comes without routes, or routes without traffic.

    Examples
    --------
    >>> import netloom as nl
    >>> tree = nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=2")
    >>> page = nl.report(tree, nl.Traffic.pattern("shift:1", 4), {"ftree": nl.route("ftree", tree)})
    >>> page[:15]
    b'<!DOCTYPE html>'
    """
    from netloom import _core

    session = Session()
    if isinstance(what, str | os.PathLike):
        path = Path(what)
        if path.is_dir():
            part = of_folder(path, runs.reader(session))
        else:
            part = result.document(session.read("result", str(path)), str(path))
        told = title or title_of(part, path.name)
    elif traffic is None and not routes:
        part = cabled.document(what)
        told = title or title_of(part, "")
    elif traffic is None or not routes:
        raise TypeError("a report of routes needs traffic and routes")
    else:
        found = {
            name: (one, _core.loads(what, one, traffic, threads=threads)) for name, one in routes.items()
        }
        part = routed.document(what, traffic, found, jobs, threads=threads)
        told = title or f"{', '.join(routes)} on {what.hosts:,} hosts"
    return page.page(document([part], told, session.origin()["inputs"]))


def document(
    parts: Sequence[Mapping[str, Any]], title: str, inputs: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What is inside of a page: its parts, its title, and what they were made of."""
    from netloom import __version__

    return {
        "schema": page.SCHEMA,
        "netloom": __version__,
        "title": title,
        "inputs": list(inputs),
        "parts": list(parts),
    }


def of_folder(
    folder: Path,
    read: Callable[[Path], bytes] = reading.whole,
    note: Callable[[str], object] = str,
    seed: int = 0,
) -> dict[str, Any]:
    """What a page tells of a folder: a run's, a sweep's, a loop's journal.

    Parameters
    ----------
    folder : Path
        The folder.
    read, note : callable
        As `pages.ran` takes them.
    seed : int, default 0
        Of a sweep's intervals.
    """
    kind = folders.kind(folder)
    if kind == "loop":
        read(folder / journal.FILE)  # It is one of the page's inputs.
        return folders.looped(folder)
    if kind == "sweep":
        read(folder / MANIFEST)
        return folders.swept(folder, seed)
    check(folder)
    return ran.document(folder, read, note)


def title_of(part: Mapping[str, Any], name: str) -> str:
    """The title of a page of one part; `name` is its file's, in case it has none of its own."""
    if part["kind"] == "run":
        run = part["run"]
        return f"{run['scenario']}: {run['hosts']:,} hosts, {run['model']} model"
    if part["kind"] == "fabric":
        of = part["fabric"]
        told = f"{of['hosts']:,} hosts, {of['switches']:,} switches"
        return f"{name}: {told}" if name else told
    return kinds.title(part["verb"], part["document"]["result"]) or f"{name}: netloom {part['verb']}"
