"""What `netloom apply` says."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from netloom.cli.shared import render

if TYPE_CHECKING:
    from netloom.apply import Journal
    from netloom.live import Access, Manager

_SHOWN = 10
"""How many switches with changes."""
_NAMED = 3
"""How many things that came or went."""


def again(access: Access, journal: Journal, manager: Manager) -> str:
    """What another call needs to mean the same fabric and journal, as a shell takes it."""
    from netloom.apply import Journal

    words: list[str] = []
    if access.socket_name is not None:
        words += ["--sim", f"{access.socket_name}{f',{access.host}' if access.host else ''}"]
    else:
        ca, port = access.smi
        words += [*(["--ca", ca] if ca else []), *(["--port", str(port)] if port else [])]
    if len(type(manager).all_running(access)) > 1:
        words += ["--opensm", str(manager.pid)]
    file = manager.routes_file
    if file is None or Journal.beside(file).folder != journal.folder:
        words += ["--journal", str(journal.folder)]
    return "".join(f" {shlex.quote(word)}" for word in words)


def text(result: dict[str, Any], fabric: str, switches: int, again: str = "", does: str = "") -> str:
    """The report; `again`: what another call says to mean the same fabric; `does`: the call that changes."""
    count = render.count
    rows = [
        ("fabric", f"{count(result['hosts'])} hosts, {count(switches)} switches ({fabric})"),
        ("file of routes", str(result["file"])),
        (
            "change",
            f"{count(result['changed_entries'])} entries in {count(result['changed_blocks'])} blocks of "
            f"{count(result['switches'])} switches",
        ),
    ]
    if result["stages"]:
        few = "" if result["stages_fewest"] else " (fewer may do)"
        rows.append(
            ("stages", f"{result['stages']}{few}: no mix of old and new entries has a loop or a hole")
        )
    verified = "every LID reached from every host, no credit loop, no dead port"
    if result["outcome"] in ("applied", "unchanged"):
        verified += "; every switch read back"
    rows.append(("verified", verified if result["verified"] else "NO"))
    if result["journal_id"] is not None:
        rows.append(("journal", f"change {result['journal_id']} in {result['journal']}"))
    own, opensm = result["own_seconds"], result["opensm_seconds"]
    asked = f" ({result['asked']})" if result["asked"] else ""
    rows.append(("seconds", f"{own:.2f} of netloom's, {opensm:.2f} of OpenSM's{asked}"))
    out = render.pairs(rows)
    changes = sorted(result["changes"], key=lambda row: -row["entries"])[:_SHOWN]
    if changes:
        lines = [[row["switch"], count(row["entries"]), count(row["blocks"])] for row in changes]
        out += "\n\n" + render.table(["switch", "entries", "blocks"], lines, right=[1, 2])
        if len(result["changes"]) > _SHOWN:
            out += f"\nand {count(len(result['changes']) - _SHOWN)} more switches"
    out += render.findings(result["findings"])
    if result["notes"]:
        out += "\n\nnotes\n" + "\n".join(f"  {note}" for note in result["notes"])
    return f"{out}\n\n{_last_line(result, again, does)}"


def _last_line(result: dict[str, Any], again: str, does: str) -> str:
    recover = f"`netloom apply recover --yes{again}`"
    back = f"`netloom apply rollback {result['journal_id']} --yes{again}` undoes it"
    if result["rolls_back"] is not None:
        undone = f"change {result['rolls_back']} is taken back"
        back = f"{undone}; {back.removesuffix('undoes it')}makes it again"
    return {
        "dry run": f"dry run: nothing was changed (`{does} --yes{again}` applies it)",
        "refused": "REFUSED: nothing was changed",
        "unchanged": "unchanged: switches and file hold these routes already",
        "applied": f"applied: {back}",
        "rolled back": f"ROLLED BACK: {result['why']}",
        "not restored": f"NOT RESTORED: {result['why']}; when OpenSM runs, {recover}",
    }[result["outcome"]]


def guarded_row(row: dict[str, Any] | str | None) -> str:
    """A change of the fabric that was guarded, on one line; words as they are; that it begins, for None."""
    if not isinstance(row, dict):
        return row or "guarding"
    seen = ", ".join(row["seen"][:_NAMED]) + (", …" if len(row["seen"]) > _NAMED else "")
    number = "" if row["journal_id"] is None else f" (change {row['journal_id']})"
    which = "the tables that are guarded" if row["whole"] else f"{row['changed_entries']} entries"
    why = "".join(f": {one['text']}" for one in row["findings"][:1])
    return f"{seen or 'cables changed'}: {row['outcome']}{number}, {which}, {row['seconds']:.2f} s{why}"


def guarded(result: dict[str, Any]) -> str:
    """What was guarded, and every change."""
    rows = [
        ("file of routes", result["file"]),
        ("journal", result["journal"]),
        ("looked", f"every {result['every_seconds']:g} s"),
    ]
    if result["dry_run"]:
        rows.append(("dry run", "nothing was changed (--yes changes routes)"))
    if result["stopped"] is not None:
        rows.append(("stopped", f"{result['stopped'].replace('-', ' ')}: the changes so far"))
    lines = [guarded_row(row) for row in result["rounds"]]
    return "\n\n".join([render.pairs(rows), "\n".join(lines) or "no cable or switch has changed"])


def flat(rounds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same for a table: what was seen, found and noted as text."""
    return [
        {
            **row,
            "seen": ", ".join(row["seen"]),
            "findings": "; ".join(one["text"] for one in row["findings"]),
            "notes": "; ".join(row["notes"]),
        }
        for row in rounds
    ]


def recovered(result: dict[str, Any], *, yes: bool) -> str:
    lines = [f"{f['kind']}: {f['text']}" for f in result["findings"]] + result["recovered"]
    if result["unfinished"] is not None:
        more = "" if yes else " (--yes finishes or undoes it)"
        lines.append(f"change {result['unfinished']} was left unfinished{more}")
    return "\n".join(lines) or "no change was left unfinished"


def history(result: dict[str, Any]) -> str:
    """Earlier changes, a line each."""
    rows = result["history"]
    if not rows:
        return f"{result['journal']}: no change yet"
    keys = list(rows[0])
    lines = [["" if row[key] is None else str(row[key]) for key in keys] for row in rows]
    return render.table([key.replace("_", " ") for key in keys], lines, right=[0, 3, 4], spare=[4, 3])
