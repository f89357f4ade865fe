"""`netloom loop` on a page: every round with what it predicted, decided and found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.pages.markup import Bar, Column, Row, facts, items, known, section, table
from netloom.shown.legend import BLUE, GREEN, VERMILLION

_ROUNDS = (
    Column("decision", "decision", "text"),
    Column("verdict", "traffic", "text"),
    Column("gap_before_percent", "AR gap before", "%"),
    Column("gap_after_percent", "after", "%"),
    Column("time_before_ms", "time before", "ms"),
    Column("time_after_ms", "after", "ms"),
    Column("predicted_gain", "predicted gain", "%"),
    Column("sure_gain", "at least", "%"),
    Column("asked_percent", "must gain", "%"),
    Column("realised_gain", "found gain", "%"),
    Column("changed_entries", "entries"),
    Column("estimated_error_percent", "error believed", "%"),
    Column("true_error_percent", "true error", "%"),
    Column("mads", "datagrams"),
    Column("journal_id", "change no."),
)
_STEPS = ("counters", "simulate", "infer", "optimize", "check", "predict", "apply", "opensm")
_COLOURS = {"applied": GREEN, "rolled back": VERMILLION}


def title(result: Mapping[str, Any]) -> str:
    """What a page of it is called."""
    name = result.get("loop") or result.get("fabric") or "journal"
    count = len(result["rounds"])
    return f"{name}: the loop, {count:,} round{'' if count == 1 else 's'}"


def sections(at: str, result: Mapping[str, Any]) -> list[str]:
    """A result of `netloom loop run` or `loop live`, or the rounds of a journal."""
    words = (
        Column("scenario", "scenario", "text"),
        Column("fabric", "fabric", "text"),
        Column("hosts", "hosts"),
        Column("switches", "switches"),
        Column("routes", "first routes", "text"),
        Column("counters", "counters", "text"),
        Column("vl_scheme", "virtual lanes", "text"),
        Column("weight", "inferred from", "text"),
        Column("dry_run", "dry run", "text"),
        Column("every_seconds", "counted for", "s"),
        Column("canary_percent", "canary", "%"),
        Column("applied", "applied"),
        Column("kept", "kept"),
        Column("rolled_back", "rolled back"),
        Column("proposed", "proposed"),
        Column("stopped", "stopped", "text"),
    )
    rounds = result["rounds"]
    about = known(words, [result])
    return [
        section(
            "Rounds",
            facts(at, result, about) if about else "",
            _rounds(at, rounds),
            note="A bar is the AR gap at the round's end, its line that at the beginning. Routes change "
            "where the gain is, with the doubt, at least what it must be: the change's cost and a margin.",
        ),
        section("Why", _reasons(at, rounds), items(f"{at}/notes", result.get("notes") or ())),
        section("Where the time went", _steps(at, rounds)),
    ]


def _names(one: Mapping[str, Any]) -> list[str]:
    return [str(one["number"]), one["phase"] or "–"]


def _rounds(at: str, rounds: Sequence[Mapping[str, Any]]) -> str:
    gaps = [one[key] or 0.0 for one in rounds for key in ("gap_before_percent", "gap_after_percent")]
    most = max(gaps, default=0.0) or 1.0
    rows = []
    for n, one in enumerate(rounds):
        before, after = one["gap_before_percent"], one["gap_after_percent"]
        colour = _COLOURS.get(one["decision"], BLUE)
        bar = None
        if before is not None and after is not None:
            bar = Bar(max(after, 0.0) / most, colour, before=max(before, 0.0) / most)
        rows.append(Row(_names(one), f"{at}/rounds/{n}", one, colour, bar))
    return table("Rounds", ["round", "work"], known(_ROUNDS, rounds), rows)


def _reasons(at: str, rounds: Sequence[Mapping[str, Any]]) -> str:
    rows = [Row(_names(one), f"{at}/rounds/{n}", one) for n, one in enumerate(rounds)]
    columns = [Column("decision", "decision", "text"), Column("reason", "because", "text", sentence=True)]
    return table("Decisions", ["round", "work"], columns, rows)


def _steps(at: str, rounds: Sequence[Mapping[str, Any]]) -> str:
    rows = [Row(_names(one), f"{at}/rounds/{n}", one) for n, one in enumerate(rounds)]
    steps = [step for step in _STEPS if any(step in one["seconds"] for one in rounds)]
    columns = [Column(f"seconds/{step}", step, "s") for step in steps]
    return table("Wall-clock seconds by step", ["round", "work"], columns, rows)
