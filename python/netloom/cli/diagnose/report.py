"""What `netloom diagnose` found, as text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from netloom.cli.shared import render

_TOLD = 5
"""Root links that the text tells of every finding."""
_NO_REMEDY = {
    "over-subscription": "it takes another fabric",
    "incast": "the programs have no other order of messages",
}
"""Why a finding may have nothing to try."""


def text(result: Mapping[str, Any]) -> str:
    """The report: every finding with its evidence, and what helped where that was tried."""
    from netloom.diagnose.evidence import DELAYED_HOPS

    seen = "paths sampled" if result["source"] == "samples" else "counters alone"
    head = [("fabric", f"{result['hosts']:,} hosts, {result['switches']:,} switches")]
    if result["routing"] is not None:
        head.append(("routing", result["routing"]))
    head.append(("seen", seen + (f", {result['windows']} windows of time" if result["windows"] > 1 else "")))
    for job in result["jobs"]:
        hops = job["congested_hops"]
        known = "waiting is not known" if hops is None else f"{hops:.3f} congested hops a packet"
        head.append(("job", f"{job['name']}: {known}"))
    if not result["findings"]:
        head += [("congested", _congested(hot)) for hot in result["congested"]]
    parts = [render.pairs(head)]
    if not result["findings"]:
        nothing = "nothing is congested enough to blame anything for it"
        if not result["enough"]:
            nothing = "too few packets were sampled to tell whether anything is congested"
        elif result["jobs"] and all(job["congested_hops"] is None for job in result["jobs"]):
            nothing = "no link is so full that anything is to blame for it"
        elif any((job["congested_hops"] or 0.0) >= DELAYED_HOPS for job in result["jobs"]):
            nothing = "packets wait, but by its sums no other routes, places or links would help the run much"
            if result["windows"] == 1:
                nothing += "\n(windows of time may tell more: netloom sample run --every-us)"
        parts.append(nothing)
    for number, finding in enumerate(result["findings"], 1):
        parts.append(_finding_text(number, finding))
    if result["findings"]:
        victims = {job for finding in result["findings"] for job in finding["victims"]}
        parts += _unexplained(result["jobs"], victims)
    if result["tried"]:
        parts.append(render.pairs([("tried", _attempt(attempt)) for attempt in result["tried"]]))
    return "\n\n".join(parts)


def _unexplained(jobs: Sequence[Mapping[str, Any]], victims: Collection[str]) -> list[str]:
    """That other jobs wait too."""
    from netloom.diagnose.evidence import DELAYED_HOPS

    held = [job["name"] for job in jobs if (job["congested_hops"] or 0.0) >= DELAYED_HOPS]
    rest = ", ".join(name for name in held if name not in victims)
    return [f"not explained: what {rest} waited for"] if rest else []


def _congested(hot: Mapping[str, Any]) -> str:
    waiting, full = hot["waiting"], f"{hot['utilisation']:.0%} of what fits through it"
    return f"{hot['link']}: {full}" + ("" if waiting is None else f", {waiting:.0%} of the packets waited")


def _attempt(attempt: Mapping[str, Any]) -> str:
    times = f"{attempt['before_ms']:.3f} to {attempt['after_ms']:.3f} ms"
    change = attempt["gain_percent"]
    gain = f"{abs(change):.0f} % {'more' if change < 0 else 'less'}"
    slower = ", ".join(_slower(job) for job in attempt["slower"])
    return f"{attempt['what']}: {attempt['job']} {times}, {gain}" + (f"; slower: {slower}" if slower else "")


def _slower(job: Mapping[str, Any]) -> str:
    if job["after"] is None:
        return f"{job['job']} does not come to its end"
    if job["measure"] == "completion_ms":
        return f"{job['job']} {job['before']:.3f} to {job['after']:.3f} ms, {job['worse_percent']:.0f} % more"
    rates = f"{render.size(job['before'])}/s to {render.size(job['after'])}/s"
    return f"{job['job']} {rates}, {job['worse_percent']:.0f} % less"


def _finding_text(number: int, finding: Mapping[str, Any]) -> str:
    links = finding["root_links"]
    more = f" and {len(links) - _TOLD} more" if len(links) > _TOLD else ""
    nobody = "the cable" if finding["cause"] == "slow-cable" else "nobody who was sampled"
    who = ", ".join(finding["culprits"]) or nobody
    if finding["phases"]:
        who += f" (phases {', '.join(finding['phases'])})"
    lines = [
        ("roots", ", ".join(links[:_TOLD]) + more),
        ("culprit", who),
        ("held up", ", ".join(finding["victims"]) or "nobody much"),
        *(("seen", line) for line in finding["evidence"]),
        ("remedy", finding["remedy"]),
    ]
    if finding["tried"] is None:
        if finding["predicted_gain_percent"]:
            gain = f"up to {finding['predicted_gain_percent']:.0f} % of the time of the fullest link"
            lines.append(("gain", gain))
    else:
        lines += [("tried", _attempt(attempt)) for attempt in finding["tried"]]
        if not finding["tried"]:
            lines.append(("tried", f"nothing: {_NO_REMEDY.get(finding['cause'], 'none that is known')}"))
    sure = f"{finding['confidence']:.2f}{', uncertain' if finding['uncertain'] else ''}"
    return f"{number}. {finding['cause']} (confidence {sure})\n{render.pairs(lines)}"
