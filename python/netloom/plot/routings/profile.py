"""How far engines are from the bound over many cases: a performance profile.

A curve is an engine: the share of cases in which it is at most so far above the bound. A curve that begins
high is often best; one that ends below 100 % failed in the rest.

Source: E. D. Dolan, J. J. Moré, *Benchmarking optimization software with performance profiles*, Math.
Program. 91 (2002) 201-213; here against the bound instead of the best solver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from netloom.plot import style
from netloom.shown import legend

_NARROW = 5.0
"""Inches below which names stand below the picture."""


@dataclass(frozen=True)
class Engine:
    """What an engine has reached.

    Attributes
    ----------
    name : str
        Its word.
    gaps : sequence of float or None
        Percent above the bound, a case each; None where it made no routes.
    """

    name: str
    gaps: Sequence[float | None]

    @property
    def known(self) -> list[float]:
        """Gaps of the cases in which it made routes, the least first."""
        return sorted(gap for gap in self.gaps if gap is not None)

    @property
    def median(self) -> float | None:
        """The median over all cases, failures last; None if that is one."""
        known, at = self.known, (len(self.gaps) - 1) // 2
        return known[at] if at < len(known) else None

    @property
    def at_bound(self) -> int:
        """Cases in which it meets the bound."""
        return sum(gap < 0.005 for gap in self.known)


def engines(cases: Sequence[Mapping[str, float | None]]) -> list[Engine]:
    """Returns the engines of several cases, the best first: by their median, then by their worst.

    Parameters
    ----------
    cases : sequence of mappings
        Gaps by engine; an engine that a case does not name made no routes there.
    """
    found = [
        Engine(name, [case.get(name) for case in cases])
        for name in dict.fromkeys(name for case in cases for name in case)
    ]

    def worst(one: Engine) -> tuple[float, int, float]:
        median = float("inf") if one.median is None else one.median
        return median, -one.at_bound, sum(one.known)

    return sorted(found, key=worst)


def alike(found: Sequence[Engine]) -> list[list[Engine]]:
    """Engines that have the same gaps in every case, together: their curves are one."""
    groups: dict[tuple[float | None, ...], list[Engine]] = {}
    for engine in found:
        key = tuple(None if gap is None else round(gap, 9) for gap in engine.gaps)
        groups.setdefault(key, []).append(engine)
    return list(groups.values())


def steps(engine: Engine, end: float) -> tuple[list[float], list[float]]:
    """The curve's corners: gaps, and the share of cases within them, from 0 to `end`."""
    count = len(engine.gaps)
    x, y = [0.0], [0.0]
    for number, gap in enumerate(engine.known, 1):
        x.append(max(gap, 0.0))
        y.append(100.0 * number / count)
    return [*x, end], [*y, y[-1]]


def profile_picture(found: Sequence[Engine], *, title: str, kind: str) -> bytes:
    """Returns the picture.

    Parameters
    ----------
    found : sequence of Engine
        As they are to be named.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    width, height = style.inches((7.6, 3.6))
    small = width < _NARROW
    font = 6.5 if small else 8.5
    end = max([gap for engine in found for gap in engine.known], default=0.0) * 1.05 or 1.0
    with style.figure(width, height) as fig:
        axes = fig.add_subplot()
        groups = alike(found)
        looks = style.curves([of[0].name for of in groups])
        for of, look in zip(groups, looks, strict=True):
            best = look["color"] == style.one()["color"]
            names = ", ".join(legend.name(engine.name) for engine in of)
            axes.plot(
                *steps(of[0], end),
                drawstyle="steps-post",
                label=f"{style.shorten(names, 34)}\n{told(of[0])}",
                **{**look, "linewidth": 2.4 if best else 1.4, "zorder": 5 if best else 3},
            )
        axes.set_xlim(-end / 60, end)
        axes.set_ylim(0.0, 103.0)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g} %")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g} %")
        axes.tick_params(labelsize=font)
        axes.set_xlabel("at most so far above the bound (ideal adaptive routing)", fontsize=font)
        axes.set_ylabel("cases", fontsize=font)
        style.clean(axes)
        style.name_beside(axes, font - 0.5, below=small)
        style.head(fig, title, width, font + 1.5)
        return style.save(fig, kind)


def told(engine: Engine) -> str:
    """An engine's figures: `median 32 %, at the bound 1 of 30`."""
    median = "no routes" if engine.median is None else f"median {engine.median:.3g} %"
    failed = len(engine.gaps) - len(engine.known)
    more = f", {failed} without routes" if failed and engine.median is not None else ""
    return f"{median}, at the bound {engine.at_bound} of {len(engine.gaps)}{more}"
