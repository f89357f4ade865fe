"""Findings: what a verb tells beside its result, how bad each is and whom it concerns.

A finding is `{"kind", "text", "severity", "class"}`. The kind is a word that scripts may rely on; severity
and class follow from it, here and nowhere else (`KINDS`), but that whoever makes a finding may say that this
one concerns somebody else (a pair of a host and a switch's own LID is management).

| severity | |
|---|---|
| `error` | something does not work, or cannot be believed |
| `warning` | something is wrong or soon will be, and somebody should look |
| `note` | odd, harmless, or done as asked |

| class | |
|---|---|
| `hosts` | what programs send from host to host |
| `management` | switches' own addresses, aggregation nodes, subnet managers, OpenSM |
| `input` | what was read: files, counters, samples, lists of jobs |

Errors and warnings exit 1, notes don't (`bad`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from netloom._core import CheckReport, Fabric

Severity: TypeAlias = Literal["error", "warning", "note"]
Class: TypeAlias = Literal["hosts", "management", "input"]
Finding: TypeAlias = dict[str, str]
"""`kind`, `text`, `severity`, `class`."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

KINDS: dict[str, tuple[Severity, Class]] = {
    # Of dumps of fabrics (crates/formats/src/fabric).
    "aggregation-node": ("warning", "management"),
    "router": ("warning", "management"),
    "unlinked-host": ("warning", "hosts"),
    "unlinked-switch": ("note", "management"),
    "one-ended-cable": ("warning", "input"),
    "speeds-differ": ("warning", "input"),
    "unknown-speed": ("warning", "input"),
    "missing-section": ("warning", "input"),
    "no-speed": ("warning", "input"),
    "impossible-lid": ("warning", "input"),
    "lmc-differs": ("warning", "input"),
    "host-to-host": ("warning", "hosts"),
    "self-cable": ("note", "input"),
    "shared-name": ("note", "input"),
    "planes": ("note", "input"),
    "unnamed-port": ("note", "input"),
    "no-description": ("note", "input"),
    "no-kind": ("note", "input"),
    "stray-text": ("note", "input"),
    # Of programs on ports (cli/dataplane).
    "other-filters": ("note", "hosts"),
    "switch-left-out": ("warning", "input"),
    "host-left-out": ("note", "input"),
    "port-gone": ("note", "hosts"),
    "clsact-kept": ("note", "hosts"),
    "half-up": ("warning", "hosts"),
    "program-gone": ("warning", "hosts"),
    "events-lost": ("warning", "input"),
    "slope-off": ("warning", "input"),
    "congestion-off": ("warning", "input"),
    "unknown-addresses": ("note", "input"),
    # Of plans (cli/plan).
    "no-design": ("warning", "input"),
    "better-compared": ("warning", "input"),
    "uneven-bundles": ("note", "input"),
    "judged-as-is": ("note", "input"),
    "cut-off": ("note", "input"),
    # Of what was detected in a fabric (crates/topology/src/detect.rs).
    "parts": ("error", "hosts"),
    "other-ranks": ("note", "hosts"),
    "dead-host-cable": ("warning", "hosts"),
    "dead-cable": ("warning", "hosts"),
    "cut-off-switch": ("warning", "management"),
    "no-tree": ("warning", "hosts"),
    "uneven-groups": ("warning", "hosts"),
    "uneven-lattice": ("warning", "hosts"),
    "too-many-levels": ("warning", "hosts"),
    "level-cable": ("note", "hosts"),
    "stated-roots": ("note", "hosts"),
    "high-host": ("note", "hosts"),
    "bare-leaf": ("note", "hosts"),
    # Of recorded runs as traffic (crates/traffic/src/recorded.rs).
    "collectives-left-out": ("warning", "input"),
    "communicators": ("note", "input"),
    # Of catalogues (crates/python/src/plan.rs).
    "odd-ports": ("note", "input"),
    # Of recorded programs (python/netloom/cli/record).
    "lost-ranks": ("warning", "input"),
    "dropped-events": ("warning", "input"),
    "decomposed-collectives": ("note", "input"),
    "left-out-of-trace": ("note", "input"),
    "unmatched-messages": ("warning", "input"),
    "incomplete-collectives": ("warning", "input"),
    "different-roots": ("warning", "input"),
    "waits-for-ever": ("warning", "input"),
    "unsafe-sends": ("note", "input"),
    "scaled-trace": ("note", "input"),
    "uneven-ranks": ("warning", "input"),
    "ambiguous-order": ("note", "input"),
    "clocks-differ": ("warning", "input"),
    "unread-events": ("warning", "input"),
    "uncounted-calls": ("warning", "input"),
    "other-world": ("note", "input"),
    "collectives-as-asked": ("note", "input"),
    "one-host": ("note", "input"),
    "oversubscribed": ("note", "input"),
    "output-taken": ("warning", "input"),
    "threads-as-ranks": ("note", "input"),
    # Of traffic of any kind (crates/python/src/traffic.rs).
    "no-traffic": ("warning", "input"),
    # Of files of routes (crates/formats/src/lft/read.rs).
    "port-above-radix": ("error", "input"),
    "port-to-nowhere": ("error", "input"),
    "conflict": ("error", "input"),
    "unknown-lid": ("note", "input"),
    "duplicate": ("note", "input"),
    "stray-line": ("note", "input"),
    # Of optimised routes in a simulation (python/netloom/simulating/results.py).
    "not-judged": ("note", "hosts"),
    # Of engines by name (python/netloom/session/faults.py).
    "ftree-fallback": ("note", "hosts"),
    "slower-than-start": ("warning", "hosts"),
    # Of messages in a simulation (python/netloom/simulating/results.py).
    "never-received": ("note", "hosts"),
    # Of offered load in a simulation (python/netloom/simulating/results.py).
    "load-not-accepted": ("note", "hosts"),
    # Of noise (python/netloom/noise/api.py).
    "no-neighbours": ("note", "hosts"),
    "messages-cut": ("warning", "hosts"),
    "messages-unmatched": ("note", "hosts"),
    # Of routes (crates/verify/src/report.rs), and of today's that `optimize --from` starts with.
    "unreachable": ("error", "hosts"),
    "loop": ("error", "hosts"),
    "credit-loop": ("error", "hosts"),
    "switch-credit-loop": ("note", "management"),
    "missing-entry": ("error", "hosts"),
    "invalid-entry": ("error", "hosts"),
    "up-down": ("warning", "hosts"),
    "non-minimal": ("warning", "hosts"),
    "detour": ("note", "hosts"),
    "no-way-to-switch": ("note", "management"),
    "certificate": ("error", "input"),
    "repaired": ("note", "hosts"),
    "left-out": ("note", "management"),
    "not-shortest": ("note", "hosts"),
    "kept": ("note", "hosts"),
    "today-is-better": ("warning", "hosts"),
    "worse-than-today": ("warning", "hosts"),
    "needs-lanes": ("warning", "hosts"),
    # Of counters (crates/counters/src/check.rs; "conflict", two ends of a link, is above).
    "balance": ("warning", "input"),
    "lanes": ("warning", "input"),
    "saturated": ("warning", "input"),
    "reset": ("warning", "input"),
    "missing": ("warning", "input"),
    "unsupported": ("warning", "input"),
    "too-fast": ("error", "input"),
    "packet-size": ("error", "input"),
    "reversed": ("error", "input"),
    # Of two dumps of a fabric (python/netloom/cabling.py).
    "switch-gone": ("warning", "hosts"),
    "host-gone": ("warning", "hosts"),
    "cable-gone": ("warning", "hosts"),
    "cable-moved": ("warning", "hosts"),
    "slower-cable": ("warning", "hosts"),
    "faster-cable": ("note", "hosts"),
    "switch-new": ("note", "hosts"),
    "host-new": ("note", "hosts"),
    "cable-new": ("note", "hosts"),
    "renamed": ("note", "hosts"),
    "lid-changed": ("note", "management"),
    # Of cables (python/netloom/health): beside their siblings, and beside what was expected.
    "slow-cable": ("warning", "hosts"),
    "slow-host-cable": ("note", "hosts"),
    "wrong-rail": ("warning", "hosts"),
    "fewer-uplinks": ("warning", "hosts"),
    "cable-missing": ("warning", "hosts"),
    "cable-elsewhere": ("note", "hosts"),
    "host-restarted": ("note", "hosts"),
    "errors-full": ("warning", "hosts"),
    "errors-impossible": ("note", "input"),
    "data-full": ("note", "input"),
    "errors-not-told": ("note", "input"),
    # Of ports' error counters (crates/counters/src/errors.rs): between two readings; of one, since a reset.
    "symbol-errors": ("warning", "hosts"),
    "link-recovered": ("warning", "hosts"),
    "link-downed": ("warning", "hosts"),
    "receive-errors": ("warning", "hosts"),
    "remote-physical-errors": ("note", "hosts"),
    "relay-errors": ("note", "hosts"),
    "discards": ("warning", "hosts"),
    "constraint-errors": ("warning", "management"),
    "link-integrity": ("warning", "hosts"),
    "buffer-overruns": ("warning", "hosts"),
    "vl15-dropped": ("note", "management"),
    "errors-since-reset": ("note", "hosts"),
    # Of inference (crates/python/src/inference, crates/infer/src/measure).
    "job-left-out": ("warning", "input"),
    "more": ("error", "input"),
    "outside-jobs": ("warning", "input"),
    "may-have-wrapped": ("warning", "input"),
    "few-counters": ("warning", "input"),
    "inferred": ("note", "input"),
    "routes-of-a-guess": ("note", "input"),
    "unexplained": ("warning", "input"),
    "not-identifiable": ("warning", "input"),
    # Of sampled packets (netloom.sampling, `sample decode`).
    "few-samples": ("warning", "input"),
    "no-samples": ("warning", "input"),
    "no-packets": ("note", "input"),
    "contradiction": ("error", "input"),
    "astray": ("warning", "input"),
    "undecoded": ("warning", "input"),
    # Causes of congestion (netloom.diagnose).
    "noisy-neighbour": ("warning", "hosts"),
    "incast": ("warning", "hosts"),
    "bad-routes": ("warning", "hosts"),
    "bad-mapping": ("warning", "hosts"),
    "over-subscription": ("warning", "hosts"),
    "interior": ("warning", "hosts"),
    # Of a live fabric and its OpenSM (netloom.live, netloom.apply).
    "no-file-engine": ("error", "management"),
    "fallback": ("warning", "management"),
    "adaptive": ("error", "management"),
    "cached": ("error", "management"),
    "standby": ("error", "management"),
    "two-masters": ("error", "management"),
    "unanswered": ("error", "management"),
    "stages": ("error", "hosts"),
    "link-down": ("error", "hosts"),
    "silent-switch": ("error", "hosts"),
    "silent-port": ("warning", "hosts"),
    "unread-links": ("warning", "input"),
    "odd-journal": ("warning", "input"),
    "stale": ("warning", "input"),
    # Of live rounds of the loop (netloom.loop): why routes stay.
    "fabric-changed": ("warning", "hosts"),
    "tables-changed": ("warning", "hosts"),
    "unknown-links": ("warning", "input"),
    "unsound-part": ("warning", "hosts"),
    "unsound-rest": ("warning", "hosts"),
    "not-applied": ("error", "hosts"),
    "not-rolled-back": ("error", "hosts"),
    "unfinished": ("error", "hosts"),
    "recovered": ("warning", "hosts"),
    "time-limit": ("warning", "input"),
    # Errors that a round survives, by their class in netloom.errors.
    "live": ("error", "management"),
    "os": ("error", "input"),
    "netloom": ("error", "input"),
    "format": ("error", "input"),
    "fabric": ("error", "input"),
    "traffic": ("error", "input"),
    "counters": ("error", "input"),
    "notinstalled": ("error", "input"),
    "argument": ("error", "input"),
    "spec": ("error", "input"),
    "place": ("error", "input"),
    "routing": ("error", "input"),
    "simulation": ("error", "input"),
    "optimize": ("error", "input"),
    "internal": ("error", "input"),
}
"""Severity and class of every kind that the core or the package makes."""

_UNKNOWN: tuple[Severity, Class] = ("warning", "input")
"""Of a kind that is not entered; tests see to it that there is none."""


def finding(kind: str, text: str, *, concerns: str | None = None) -> Finding:
    """A finding.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    text : str
        Where and what, one line.
    concerns : str, optional
        Its class, where it is not that of its kind.
    """
    severity, of_kind = KINDS.get(kind, _UNKNOWN)
    return {"kind": kind, "text": text, "severity": severity, "class": concerns or of_kind}


def findings(found: Iterable[Mapping[str, str]]) -> list[Finding]:
    """The core's findings, which have a kind and a text (and perhaps a class), as findings."""
    return [finding(one["kind"], one["text"], concerns=one.get("class")) for one in found]


def of_routes(fabric: Fabric, report: CheckReport) -> list[Finding]:
    """Findings of checked routes.

    Ways of a dragonfly count global cables before hops, and longer ones keep damaged ones free of deadlock:
    there they are notes.

    Parameters
    ----------
    fabric : Fabric
        Whose routes they are.
    report : CheckReport
        Of `netloom.check`.
    """
    found = findings(report.findings)
    if fabric.shape["kind"] == "dragonfly":
        for one in found:
            if one["kind"] == "non-minimal":
                one["severity"] = "note"
    return found


def without_entries(found: Iterable[Mapping[str, str]]) -> list[Finding]:
    """Of a fabric's findings: nodes for which routes written from here have no entry (SHARP, routers)."""
    return [one for one in findings(found) if one["kind"] in ("aggregation-node", "router")]


def bad(found: Iterable[Mapping[str, str]]) -> bool:
    """Whether there is an error or a warning: the command then exits 1."""
    return any(one["severity"] != "note" for one in found)


def by_severity(found: Iterable[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Errors first, then warnings, then notes; within each as given."""
    return sorted(found, key=lambda one: SEVERITIES.index(one["severity"]))
