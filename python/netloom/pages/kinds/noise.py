"""`netloom noise` on a page: what others cost a job, who they are, and where it waits for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from netloom.pages.markup import Bar, Column, Row, facts, findings, known, section, table
from netloom.shown import legend
from netloom.shown.legend import link_name
from netloom.shown.units import size

Found = tuple[str, str, str, Mapping[str, Any]]
"""Where a job is in the document, its routing's name and colour, the job."""

_JOBS = (
    Column("slowdown", "slowdown"),
    Column("completion_ps", "complete after", "ps"),
    Column("alone_ps", "alone", "ps"),
    Column("difference_ps", "longer by", "ps"),
    Column("differences/messages", "messages"),
    Column("differences/changed", "of them changed"),
    Column("differences/sum_ps", "sum of changes", "ps"),
    Column("over_seeds/slowdown/mean", "slowdown over seeds"),
    Column("over_seeds/slowdown/low", "95 % from"),
    Column("over_seeds/slowdown/high", "to"),
)
_SIZES = (
    Column("differences/messages", "messages"),
    Column("noise/median_us", "median", "µs"),
    Column("alone/median_us", "alone", "µs"),
    Column("noise/qcd", "QCD"),
    Column("alone/qcd", "alone"),
    Column("noise/p99_us", "99 % within", "µs"),
    Column("alone/p99_us", "alone", "µs"),
    Column("differences/median_us", "change: median", "µs"),
    Column("differences/p99_us", "99 %", "µs"),
    Column("differences/max_us", "largest", "µs"),
    Column("impact/mean", "impact: mean"),
    Column("impact/p99", "99 %"),
)
_OTHERS = (
    Column("gain_ps", "gain without it", "ps"),
    Column("slowdown_without", "slowdown without it"),
    Column("message_gain_us", "gain of a message", "µs"),
    Column("behind_ps", "waits behind it", "ps"),
)
_WORST = (
    Column("number", "message"),
    Column("collective", "collective", "text"),
    Column("bytes", "size", "B"),
    Column("time_us", "time", "µs"),
    Column("alone_us", "alone", "µs"),
    Column("difference_us", "longer by", "µs"),
)


def title(result: Mapping[str, Any]) -> str:
    """What a page of it is called."""
    return f"{result['scenario']} ({result['hosts']:,} hosts): what neighbours cost"


def sections(at: str, result: Mapping[str, Any]) -> list[str]:
    """A result of `netloom noise`."""
    about = [
        Column("scenario", "scenario", "text"),
        Column("model", "model", "text"),
        Column("profile", "profile", "text"),
        Column("hosts", "hosts"),
        Column("switches", "switches"),
        Column("seeds", "seeds"),
        Column("stopped", "stopped", "text"),
    ]
    jobs = list(_jobs(at, result))
    return [
        section("Jobs beside others and alone", facts(at, result, about), _slowdowns(jobs)),
        section("By size of message", _sizes(jobs), note="Of those messages that both runs have."),
        section("Who, and where", _others(jobs), _links(jobs)),
        section("Messages that were delayed the most", _worst(jobs)),
        *([section("Notes", findings(f"{at}/findings", result["findings"]))] if result["findings"] else []),
    ]


def _jobs(at: str, result: Mapping[str, Any]) -> Iterator[Found]:
    looks = legend.looks([run["routing"] for run in result["runs"]])
    for n, (run, look) in enumerate(zip(result["runs"], looks, strict=True)):
        for k, job in enumerate(run["jobs"]):
            yield f"{at}/runs/{n}/jobs/{k}", legend.name(run["routing"]), look.colour, job


def _slowdowns(jobs: list[Found]) -> str:
    """A bar is the time beside others, its line the time alone."""
    most = max((job["completion_ps"] or 0 for *_, job in jobs), default=0) or 1
    rows = []
    for at, name, colour, job in jobs:
        alone = job["alone_ps"]
        line = None if alone is None or alone > most else alone / most
        bar = Bar((job["completion_ps"] or 0) / most, colour, before=line)
        rows.append(Row([job["name"], name], at, job, colour, bar))
    head = "Time of the job; the line in a bar is its time alone"
    return table(head, ["job", "routing"], known(_JOBS, [job for *_, job in jobs]), rows)


def _sizes(jobs: list[Found]) -> str:
    rows = [
        Row([job["name"], name, _bytes(one)], f"{at}/sizes/{n}", one, colour, mark=1)
        for at, name, colour, job in jobs
        for n, one in enumerate(job["sizes"])
    ]
    return table("Times of messages", ["job", "routing", "size"], _SIZES, rows)


def _bytes(one: Mapping[str, Any]) -> str:
    ends = dict.fromkeys(size(one[key]) for key in ("from_bytes", "to_bytes"))
    return " to ".join(ends)


def _others(jobs: list[Found]) -> str:
    found = [
        (f"{at}/neighbours/{n}", name, colour, job["name"], one)
        for at, name, colour, job in jobs
        for n, one in enumerate(job["neighbours"] or ())
    ]
    most = max((one["behind_ps"] or 0 for *_, one in found), default=0) or 1
    rows = [
        Row([whose, name, one["job"]], at, one, colour, Bar((one["behind_ps"] or 0) / most, colour), mark=1)
        for at, name, colour, whose, one in found
    ]
    head = "What a job would gain without each other; a bar is the time behind it"
    return table(head, ["job", "routing", "without"], _OTHERS, rows) if rows else ""


def _links(jobs: list[Found]) -> str:
    found = [
        (f"{at}/links/{n}", name, colour, job["name"], link)
        for at, name, colour, job in jobs
        for n, link in enumerate(job["links"] or ())
    ]
    most = max((link["behind_ps"] for *_, link in found), default=0) or 1
    rows = [
        Row([whose, name, link_name(link)], at, link, colour, Bar(link["behind_ps"] / most, colour), mark=1)
        for at, name, colour, whose, link in found
    ]
    columns = [
        Column("behind_ps", "waits", "ps"),
        Column("jobs/0/job", "most of it behind", "text"),
        Column("jobs/0/behind_ps", "so long", "ps"),
    ]
    return (
        table("Links at which it waits in turns of others", ["job", "routing", "link"], columns, rows)
        if rows
        else ""
    )


def _worst(jobs: list[Found]) -> str:
    rows = [
        Row([job["name"], name, f"{one['from']} to {one['to']}"], f"{at}/worst/{n}", one, colour, mark=1)
        for at, name, colour, job in jobs
        for n, one in enumerate(job["worst"])
    ]
    return table("Of each job", ["job", "routing", "ranks"], _WORST, rows)
