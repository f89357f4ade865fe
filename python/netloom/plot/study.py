"""Errors of inference against lanes or routings: a panel an application, a curve a method.

Errors are on a scale that is logarithmic above 0.01 % and reaches 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FINEST = 0.01
"""Percent below which the scale is linear."""
_ACROSS = 4
_OURS = "netloom"
_MARKERS = ("s", "^", "D", "v", "P", "X", "<")


@dataclass(frozen=True)
class Curve:
    """The errors of a method.

    Attributes
    ----------
    name : str
        What the legend says.
    at : sequence of int
        Lanes or routings, rising.
    errors : sequence of float
        Percent.
    published : bool
        Whether somebody else measured them, on a run of the same kind.
    """

    name: str
    at: Sequence[int]
    errors: Sequence[float]
    published: bool = False


def study_picture(
    curves: Mapping[str, Sequence[Curve]], *, against: str, what: str, title: str, kind: str
) -> bytes:
    """Returns the picture of errors.

    Parameters
    ----------
    curves : mapping
        By application.
    against : {"lanes", "routings"}
        What grows to the right.
    what : str
        What errors are of.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    names = list(dict.fromkeys((c.name, c.published) for of in curves.values() for c in of))
    names.sort(key=lambda name: (name[1], name[0] != _OURS))
    looks = _looks(names)
    across = min(_ACROSS, len(curves))
    down = -(-len(curves) // across)
    ticks = sorted({x for of in curves.values() for curve in of for x in curve.at})
    most = max(error for of in curves.values() for curve in of for error in curve.errors)
    with style.figure(max(1.9 * across + 0.9, 5.2), 2.0 * down + 1.3) as fig:
        grid: Any = fig.subplots(down, across, sharex=True, sharey=True, squeeze=False)
        for at, (application, of) in enumerate(curves.items()):
            axes = grid[at // across][at % across]
            for curve in of:
                axes.plot(curve.at, curve.errors, **looks[curve.name, curve.published])
            axes.set_title(style.shorten(application, 22), fontsize=9.0, pad=4)
            axes.set_xscale("log", base=2)
            axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
            axes.minorticks_off()
            _errors(axes, most)
            if at % across == 0:
                axes.set_ylabel(f"error of {what}")
            if at + across >= len(curves):
                axes.set_xlabel(_LABELS[against])
                axes.tick_params(labelbottom=True)
        for at in range(len(curves), down * across):
            grid[at // across][at % across].set_visible(False)
        handles = [_handle(name, published, looks[name, published]) for name, published in names]
        fig.legend(
            handles=handles, loc="outside lower center", ncols=min(across + 1, 3), frameon=False, fontsize=8.0
        )
        fig.suptitle(title.replace("$", r"\$"), x=0.01, ha="left", fontweight="bold", fontsize=10.0)
        return style.save(fig, kind)


_LABELS = {"lanes": "virtual lanes", "routings": "routings, one lane"}


def _looks(names: Sequence[tuple[str, bool]]) -> dict[tuple[str, bool], dict[str, Any]]:
    """Ours stands out; published figures are grey."""
    looks: dict[tuple[str, bool], dict[str, Any]] = {}
    position = [0, 0]
    others = style.curves([f"method {i}" for i in range(len(names))])
    for name, published in names:
        mark = _MARKERS[position[published] % len(_MARKERS)]
        if name == _OURS and not published:
            looks[name, published] = {**style.one(), "marker": "o", "markersize": 4.0}
            continue
        look = others[position[published]]
        if published:
            look |= {"color": style.FAINT, "linewidth": 1.2, "linestyle": ("--", ":")[position[1] % 2]}
        looks[name, published] = {**look, "marker": mark, "markersize": 4.0, "markevery": 1}
        position[published] += 1
    return looks


def _handle(name: str, published: bool, look: dict[str, Any]) -> Any:
    from matplotlib.lines import Line2D

    label = f"published: {name}" if published else style.shorten(name, 28)
    return Line2D([], [], label=label, **look)


def _errors(axes: Axes, most: float) -> None:
    axes.set_yscale("symlog", linthresh=_FINEST)
    high = max(most, _FINEST) * 1.8
    axes.set_ylim(-_FINEST / 4, high)
    axes.set_yticks([0.0, *[tick for tick in (0.01, 0.1, 1, 10, 100, 1000) if tick <= high]])
    axes.yaxis.set_major_formatter(lambda value, _position: f"{value:g} %")
    axes.minorticks_off()
    style.clean(axes)
