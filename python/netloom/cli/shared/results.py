"""Link loads as results: the keys that scripts rely on, and the same as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.cli.shared import render
from netloom.paths.hottest import HOTTEST as HOTTEST
from netloom.paths.hottest import loads_result as loads_result
from netloom.session.session import stopped_text as stopped_text
from netloom.shown import legend


def loads_text(result: Mapping[str, Any]) -> str:
    """The report of a loads result."""
    return with_hottest(render.pairs(loads_rows(result)), result)


def loads_rows(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The report's lines, without the hottest links."""
    size = render.size
    bound = size(result["ar_bound"])
    if not result["ar_bound_exact"]:
        bound = f"{bound} to {size(result['ar_bound_upper'])} (not solved exactly)"
    rows = [
        (legend.LOAD, f"{load(result)} on {links(result['links_at_max'])}"),
        ("mean link load", size(result["mean_load"])),
        ("AR bound", f"{bound}, of {words(result['ar_bound_class'])}"),
        ("AR gap", ar_gap(result)),
        (
            "proven lower bound",
            f"{size(result['lower_bound'])} ({result['bound_kind']}: {result['bound_at']})",
        ),
        ("", f"of {words(result['bound_class'])}"),
        ("gap to it", proven(result, result["lower_bound_gap_percent"])),
    ]
    classes = result["bound_class"], result["ar_bound_class"]
    if result["order"] is not None and all(each.startswith(_OF_AN_ORDER) for each in classes):
        rows.append(("up*/down* ways", f"{result['order']}; down where that is as short as up"))
    if result["outside_because"] is not None:
        rows += [
            ("no gap", result["outside_because"]["text"]),
            ("bound of any routes", f"{size(result['any_bound'])} ({result['any_bound_at']})"),
            ("gap to it", gap(result["any_bound_gap_percent"])),
        ]
    elif result["ar_bound_class"].startswith("shortest"):
        least = f"{size(result['any_bound'])} ({result['any_bound_at']})"
        rows.append(("other ways", f"longer ones may carry less: no routes carry less than {least}"))
    elif result["ar_bound_class"] != "any-routes":
        # On regular trees the AR bound is one of any routes: this one has cables or switches missing.
        least = f"{size(result['any_bound'])} ({result['any_bound_at']})"
        rows.append(
            (
                "other ways",
                "on this irregular tree shortest ways that are not up*/down* may carry less; "
                f"no routes carry less than {least}",
            )
        )
    if "lane_loads" in result:
        rows.append(_by_lane(result["lane_loads"]))
    if "spread" in result:
        rows.append(_over_draws(result["spread"]))
    if "throughput" in result:
        rows.append(("throughput", _throughput(result)))
    if result["traffic_matched_by"] == "number":
        rows.append(("traffic", "matched to hosts by number: it does not say their names"))
    if result["stopped"] is not None:
        rows.append(("stopped", stopped_text(result["stopped"], proven=result["proven_optimal"])))
    return rows


def _by_lane(loads: list[float]) -> tuple[str, str]:
    """`load by lane  32 B on lane 0, 4 B on lane 1, at most`."""
    told = ", ".join(f"{render.size(load)} on lane {lane}" for lane, load in enumerate(loads))
    return ("load by lane", f"at most {told}")


def _throughput(result: Mapping[str, Any]) -> str:
    """`0.4844 of a host link, 6.05 GB/s of the busiest host`."""
    rate = result["rate_bytes_per_s"]
    told = f"{result['throughput']:.4g} of a host link"
    return told if rate is None else f"{told}, {render.size(rate)}/s of the busiest host"


def _over_draws(spread: Mapping[str, Any]) -> tuple[str, str]:
    """`over draws  100 B to 160 B in 90 % of 20; the median 120 B is shown`."""
    low, median, high = (render.size(spread[key]) for key in ("p5", "p50", "p95"))
    return ("over draws", f"{low} to {high} in 90 % of {spread['draws']}; shown is the median, {median}")


def with_hottest(text: str, result: Mapping[str, Any]) -> str:
    """A report, and below it the hottest links.

    Where nothing but links of hosts is listed, all with one load, and there are more of them, the list says
    nothing: then those between switches are told.
    """
    shown, between = result["hottest"], result["hottest_between_switches"]
    if not shown:
        return text
    title, largest = "hottest links", result["max_load"]
    tied = all(link["load"] >= largest * (1 - _TIED) for link in shown)
    if tied and between and result["links_at_max"] > len(shown):
        between_at_max = any(link["load"] >= largest * (1 - _TIED) for link in between)
        title += " between switches"
        if not between_at_max:
            title += f" ({links(result['links_at_max'])} of hosts: {render.size(largest)})"
        shown = between
    return f"{text}\n\n{title}\n{hottest_text(shown)}"


_OF_AN_ORDER = ("up-down", "kept")
"""How classes of up*/down* ways begin, which are those of one order of the switches."""
_TIED = 1e-9
"""Part by which loads differ that are the same but for rounding."""


def load(result: Mapping[str, Any]) -> str:
    """The largest load; where links have several speeds, what it is a load of, and how long it takes."""
    told = render.size(result["max_load"])
    if not result["mixed_speeds"]:
        return told
    return f"{told} of the fastest link's ({render.seconds(result['max_load_seconds'])})"


def words(bound_class: str) -> str:
    """What a bound is a bound of, to follow `of` or `among`."""
    from netloom import _core

    return dict(_core.bound_classes())[bound_class]


def gap(percent: float | None) -> str:
    """A gap, or that there is none: the bound is not of such routes, or not on such a fabric."""
    return "none" if percent is None else render.percent(percent)


def ar_gap(result: Mapping[str, Any]) -> str:
    """The gap to the AR bound, or where that is of other routes the gap to any."""
    if result["outside_because"] is None:
        return gap(result["ar_gap_percent"])
    return f"none to up*/down* ways; {gap(result['any_bound_gap_percent'])} to any routes"


def proven(result: Mapping[str, Any], percent: float | None) -> str:
    """The gap to the lower bound, and among which routes there are no better ones."""
    if not result["proven_optimal"]:
        return gap(percent)
    return f"{gap(percent)}: proven optimal among {words(result['bound_class'])}"


def links(number: int) -> str:
    """`1 link`, `2 links`."""
    return f"{render.count(number)} link{'' if number == 1 else 's'}"


def port_text(link: Mapping[str, Any], side: str) -> str:
    """`leaf03[7]`; with its GUID where the name is another node's too."""
    guid = link[f"{side}_guid"]
    return f"{link[side]}[{link[f'{side}_port']}]{'' if guid is None else f' {guid}'}"


def hottest_text(hottest: Sequence[Mapping[str, Any]]) -> str:
    """The table of the hottest links."""
    rows = [
        [
            render.size(link["load"]),
            *(port_text(link, side) for side in ("from", "to")),
        ]
        for link in hottest
    ]
    return render.table(["load", "from", "to"], rows, right=[0])
