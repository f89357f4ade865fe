"""Routes of a live fabric changed by one call, and taken back.

Each does what the command of that name does, and returns its `result`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from netloom.apply.attempt import Attempt
from netloom.apply.journal import Journal
from netloom.errors import ArgumentError, LiveError
from netloom.session.checked import checked
from netloom.session.session import Session

if TYPE_CHECKING:
    from netloom._core import Routes
    from netloom.live import Access, Manager

Allowed = Literal["standby", "adaptive", "credit-loop", "unanswered"]
"""What a change may go on despite."""


@checked(stages=(1, 1000), opensm=(1, 2**31 - 1), wait=(0.1, 1e6))
def apply_routes(
    routes: Routes | str | os.PathLike[str],
    *,
    yes: bool = False,
    stages: int = 8,
    mend: bool = False,
    access: Access | None = None,
    opensm: int | None = None,
    journal: str | os.PathLike[str] | None = None,
    wait: float = 60.0,
    allow: Sequence[Allowed] = (),
    threads: int = 0,
    tell: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """Puts new routes on a live fabric, as `netloom apply send` does; a dry run unless `yes`.

    Parameters
    ----------
    routes : Routes, path or str
        Tables, a file of them, or an engine's name.
    yes : bool, default False
        Make the change; without it nothing is changed.
    stages : int, default 8
        How many stages there may be, 1 to 1000: the fewest are taken in which no mix of old and new entries
        has a loop or a hole.
    mend : bool, default False
        Replace entries of the new routes that lead to dead ports or nowhere, instead of refusing them.
    access : Access, optional
        The way to the fabric. [default: this machine's fabric]
    opensm : int, optional
        The process of OpenSM, where several run.
    journal : path, optional
        The journal's folder. [default: beside OpenSM's file of routes]
    wait : float, default 60.0
        Seconds that OpenSM may take over one stage.
    allow : sequence of str, default ()
        Continue despite `standby`, `adaptive`, `credit-loop`, `unanswered`.
    threads : int, default 0
        Threads that verify; 0 is one a core.
    tell : callable, optional
        Hears of each step of a change, in words.

    Returns
    -------
    dict
        As `result` of `netloom apply send --format json`; `outcome` is `dry run`, `refused`, `unchanged`,
        `applied`, `rolled back` or `not restored`.

    Raises
    ------
    LiveError
        If no OpenSM runs here, the fabric does not answer, or another process changes routes now.
    FormatError
        If the file is not one of routes.

    Examples
    --------
    >>> netloom.apply_routes("new.lfts")["outcome"]  # doctest: +SKIP
    'dry run'
    """
    if not isinstance(routes, str | os.PathLike):
        from netloom._core import Routes

        if not isinstance(routes, Routes):
            raise ArgumentError(f"routes: expected Routes, a file or an engine's name, found {routes!r:.60}")
    session = Session(threads=threads)
    attempt = begun(session, access, opensm, journal, wait=wait, allow=allow, tell=tell)
    given = os.fspath(routes) if isinstance(routes, str | os.PathLike) else routes
    return _ended(attempt.change(given, None, yes=yes, stages=stages, mend=mend))


@checked(stages=(1, 1000), opensm=(1, 2**31 - 1), number=(1, 2**31 - 1), wait=(0.1, 1e6))
def rollback_routes(
    number: int | None = None,
    *,
    yes: bool = False,
    stages: int = 8,
    mend: bool = False,
    access: Access | None = None,
    opensm: int | None = None,
    journal: str | os.PathLike[str] | None = None,
    wait: float = 60.0,
    allow: Sequence[Allowed] = (),
    tell: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """Returns to the tables before a change, as `netloom apply rollback` does; a dry run unless `yes`.

    Parameters
    ----------
    number : int, optional
        The change's number in the journal, 1 or more. [default: the last one applied]
    yes : bool, default False
        Make the change; without it nothing is changed.
    stages : int, default 8
        How many stages there may be, 1 to 1000.
    mend : bool, default False
        Replace old entries that lead to dead ports or nowhere by now, instead of refusing them.
    access : Access, optional
        The way to the fabric. [default: this machine's fabric]
    opensm : int, optional
        The process of OpenSM, where several run.
    journal : path, optional
        The journal's folder. [default: beside OpenSM's file of routes]
    wait : float, default 60.0
        Seconds that OpenSM may take over one stage, 0.1 or more.
    allow : sequence of str, default ()
        Continue despite `standby`, `adaptive`, `credit-loop`, `unanswered`.
    tell : callable, optional
        Hears of each step of a change, in words.

    Returns
    -------
    dict
        As for `apply_routes`; `rolls_back` is the change's number.

    Raises
    ------
    LiveError
        As for `apply_routes`, or if the journal has no such change.

    Examples
    --------
    >>> netloom.rollback_routes(yes=True)["outcome"]  # doctest: +SKIP
    'applied'
    """
    attempt = begun(Session(), access, opensm, journal, wait=wait, allow=allow, tell=tell, past=True)
    return _ended(attempt.change(None, number, yes=yes, stages=stages, mend=mend))


@checked(opensm=(1, 2**31 - 1), wait=(0.1, 1e6))
def recover_routes(
    *,
    yes: bool = False,
    access: Access | None = None,
    opensm: int | None = None,
    journal: str | os.PathLike[str] | None = None,
    wait: float = 60.0,
    allow: Sequence[Allowed] = (),
    tell: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """Finishes or undoes a change that was killed, as `netloom apply recover` does, if `yes`.

    Parameters
    ----------
    yes : bool, default False
        Do it; without it the unfinished change is only reported.
    access : Access, optional
        The way to the fabric. [default: this machine's fabric]
    opensm : int, optional
        The process of OpenSM, where several run.
    journal : path, optional
        The journal's folder. [default: beside OpenSM's file of routes]
    wait : float, default 60.0
        Seconds that OpenSM may take over one stage, 0.1 or more.
    allow : sequence of str, default ()
        Continue despite `standby`, `adaptive`, `credit-loop`, `unanswered`.
    tell : callable, optional
        Hears of each step of a change, in words.

    Returns
    -------
    dict
        As `result` of `netloom apply recover --format json`.

    Raises
    ------
    LiveError
        As for `apply_routes`, or if it can be neither finished nor undone.

    Examples
    --------
    >>> netloom.recover_routes(yes=True)["unfinished"]  # doctest: +SKIP
    """
    attempt = begun(Session(), access, opensm, journal, wait=wait, allow=allow, tell=tell, past=True)
    return attempt.recover(yes=yes)


@checked(every=(0.05, 86400.0), rounds=(1, 10**6), opensm=(1, 2**31 - 1), wait=(0.1, 1e6))
def guard_routes(
    *,
    yes: bool = False,
    every: float = 0.5,
    rounds: int | None = None,
    access: Access | None = None,
    opensm: int | None = None,
    journal: str | os.PathLike[str] | None = None,
    wait: float = 60.0,
    allow: Sequence[Allowed] = (),
    threads: int = 0,
    time_limit: float | None = None,
    tell: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """Keeps the tables in force whole while cables and switches fail, as `netloom apply guard` does.

    Where a cable or a switch fails, tables that lead around it are loaded; where it is back, the old ones.

    Parameters
    ----------
    yes : bool, default False
        Change routes; without it what would be done is only told.
    every : float, default 0.5
        Seconds between two looks at all cables, 0.05 to 86400; OpenSM's log may tell sooner.
    rounds : int, optional
        End after so many changes of the fabric, 1 or more. [default: until Ctrl-C or `time_limit`]
    access : Access, optional
        The way to the fabric. [default: this machine's fabric]
    opensm : int, optional
        The process of OpenSM, where several run.
    journal : path, optional
        The journal's folder. [default: beside OpenSM's file of routes]
    wait : float, default 60.0
        Seconds that OpenSM may take over one stage, 0.1 or more.
    allow : sequence of str, default ()
        Continue despite `standby`, `adaptive`, `credit-loop`, `unanswered`.
    threads : int, default 0
        Threads that verify; 0 is one a core.
    time_limit : float, optional
        End after so many seconds, 0 or more.
    tell : callable, optional
        Hears of each step of a change, in words.

    Returns
    -------
    dict
        As `result` of `netloom apply guard --format json`.

    Raises
    ------
    LiveError
        As for `apply_routes`, if the tables in force are not sound, or if OpenSM is restarted with another
        file of routes.

    Examples
    --------
    >>> netloom.guard_routes(yes=True, rounds=2)["rounds"][0]["outcome"]  # doctest: +SKIP
    'applied'
    """
    session = Session(threads=threads, time_limit=time_limit)
    attempt = begun(session, access, opensm, journal, wait=wait, allow=allow, tell=tell)
    return guarding(attempt, yes=yes, every=every, rounds=rounds)


def guarding(
    attempt: Attempt,
    *,
    yes: bool,
    every: float,
    rounds: int | None,
    told: Callable[[dict[str, Any] | str | None], object] = lambda _row: None,
) -> dict[str, Any]:
    """Guards the fabric of an attempt; the result. `told` hears of every change, and None when it begins."""
    from netloom.apply.guarding import Guard, guarded

    session, manager, journal = attempt.session, attempt.manager, attempt.journal
    session.keeps()
    guard = Guard(
        attempt.access,
        manager,
        journal,
        yes=yes,
        wait=attempt.wait,
        allow=attempt.allow,
        every=every,
        threads=session.threads,
        tell=attempt.tell,
    )
    done, stopped = guarded(guard, rounds, session.left, told)
    session.note_input("fabric", attempt.access.what, None)
    return {
        "dry_run": not yes,
        "file": str(manager.routes_file),
        "journal": str(journal.folder),
        "every_seconds": every,
        "rounds": done,
        "stopped": stopped,
    }


@checked(opensm=(1, 2**31 - 1))
def route_changes(
    *,
    access: Access | None = None,
    opensm: int | None = None,
    journal: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Earlier changes of routes, as `netloom apply history` lists them; OpenSM need not run.

    Parameters
    ----------
    access : Access, optional
        The way to the fabric. [default: this machine's fabric]
    opensm : int, optional
        The process of OpenSM, where several run.
    journal : path, optional
        The journal's folder: no fabric is asked. [default: beside OpenSM's file of routes]

    Returns
    -------
    dict
        As `result` of `netloom apply history --format json`.

    Raises
    ------
    LiveError
        If there is no journal.

    Examples
    --------
    >>> netloom.route_changes(journal="opensm.lfts.journal")["history"]  # doctest: +SKIP
    []
    """
    return changes_in(journal_to_read(access, opensm, journal))


def _ended(result: dict[str, Any]) -> dict[str, Any]:
    """The result, if no Ctrl-C came: the change was undone before."""
    if result["why"] == "interrupted":
        raise KeyboardInterrupt
    return result


def begun(
    session: Session,
    access: Access | None,
    opensm: int | None,
    journal: str | os.PathLike[str] | None,
    *,
    wait: float = 60.0,
    allow: Sequence[str] = (),
    tell: Callable[[str], object] | None = None,
    past: bool = False,
) -> Attempt:
    """An attempt on the fabric of an OpenSM that runs here; `past`: with a journal that must be there."""
    from netloom.live import Access, Manager

    access = access or Access.local()
    manager = Manager.running(access, opensm)
    if journal is None:
        found = _beside(manager)
    else:
        if past:
            _check_journal(Path(journal))
        found = Journal(journal, routes=manager.routes_file)
    return Attempt(session, access, manager, found, wait, allow, tell)


def journal_to_read(
    access: Access | None, opensm: int | None, folder: str | os.PathLike[str] | None
) -> Journal:
    """The journal of a folder, of the OpenSM that runs, or of the one that is configured here."""
    if folder is not None:
        _check_journal(Path(folder))
        return Journal(folder)
    from netloom.live import Access, Manager

    access = access or Access.local()
    if opensm is None and not Manager.all_running(access):
        return _configured(access)
    return _beside(Manager.running(access, opensm))


def changes_in(journal: Journal) -> dict[str, Any]:
    """The changes of a journal, as results tell them."""
    keys = ("id", "time", "state", "changed_entries", "stages", "rolls_back", "recovers", "why")
    rows = [{key: getattr(change, key) for key in keys} for change in journal.changes()]
    return {"journal": str(journal.folder), "history": rows}


def _beside(manager: Manager) -> Journal:
    """The journal beside the file that an OpenSM reads."""
    if manager.routes_file is None:
        raise LiveError(manager.problems()[0].text)
    return Journal.beside(manager.routes_file)


def _check_journal(folder: Path) -> None:
    """Refuses a folder that is no journal of changes, where one is read."""
    if not (folder / "journal.jsonl").is_file():
        raise LiveError(
            f"--journal {folder}: no journal of changes there (journal.jsonl): expected the folder that "
            "`netloom apply` keeps beside OpenSM's file of routes"
        )


def _configured(access: Access) -> Journal:
    """The journal beside the file that OpenSM's options name, though it does not run."""
    from netloom.live.manager import configured_routes_file

    file = None if access.socket_name is not None else configured_routes_file()
    if file is None:
        raise LiveError(
            f"no OpenSM of {access.what} runs on this machine, nor do its options name a file of routes: "
            "expected --journal FOLDER"
        )
    return Journal.beside(file)
