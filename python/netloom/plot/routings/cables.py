"""Every cable between leaves and spines: a column a leaf, a row a port of the leaf, a panel a routing.

A cable is as dark as the busier of its two directions; all panels share the scale. The hottest cable of a
panel is ringed and named, cables that are cut are crossed out. Pods stand apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netloom.errors import NetloomError
from netloom.health.places import fewer_uplinks
from netloom.plot import style
from netloom.plot.layout import pods
from netloom.shown import legend
from netloom.tables import link_levels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netloom import Fabric

_COLOURS = "magma_r"
_NARROW = 5.0
"""Inches below which panels stand one above the other."""
_WIDE = 400
"""Leaves a panel shows one by one; of more, neighbours of a pod share a column, which shows the busiest."""

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cables:
    """Where every cable between a leaf and a spine lies.

    Attributes
    ----------
    up, down : array of int
        Its link up and its link down; -1 where there is none. Dead links count.
    alive : array of bool
        Whether both are.
    row, column : array of int
        Its place: the port's, from the top, and the leaf's, in order of pods.
    ports : list of int
        The ports, a row each.
    pods : list of (int, int)
        First column and end of every pod.
    names : list of str
        `leaf[port] → spine[port]` of each.
    leaves : list of str
        The leaves' names, a column each.
    lacking : array of bool
        Whether a leaf has fewer cables than those beside it (`netloom.health.places`).
    """

    up: Numbers
    down: Numbers
    alive: npt.NDArray[np.bool_]
    row: Numbers
    column: Numbers
    ports: list[int]
    pods: list[tuple[int, int]]
    names: list[str]
    leaves: list[str]
    lacking: npt.NDArray[np.bool_]

    def busier(self, per_link: Array) -> Array:
        """The larger of what both directions carry; NaN of dead cables."""
        both = np.stack([np.where(links >= 0, per_link[links], 0.0) for links in (self.up, self.down)])
        return np.where(self.alive, both.max(axis=0), np.nan)

    def grid(self, values: Array, empty: float = np.nan) -> Array:
        """Values of cables as `[row][column]`."""
        cells = np.full((len(self.ports), len(self.leaves)), empty)
        cells[self.row, self.column] = values
        return cells

    @property
    def holes(self) -> npt.NDArray[np.bool_]:
        """Places where a cable is dead, or where a leaf that lacks uplinks has none and most others do."""
        there = self.grid(self.alive.astype(float), 0.0) > 0
        known = self.grid(np.ones(len(self.row)), 0.0) > 0
        usual = known.mean(axis=1, keepdims=True) > 0.5
        holes: npt.NDArray[np.bool_] = ~there & (known | (usual & self.lacking))
        return holes


def cables(fabric: Fabric) -> Cables:
    """Finds the cables between leaves and spines.

    Raises
    ------
    NetloomError
        If the fabric is no tree, or has no spines.
    """
    if (kind := fabric.shape["kind"]) != "tree":
        raise NetloomError(f"the fabric is a {kind}: expected one with leaves and spines")
    table, found = fabric.link_table(), link_levels(fabric)
    below, above = (np.asarray(found[name], np.int64) for name in ("from_level", "to_level"))
    ends = {name: np.asarray(table[name], np.int64) for name in ("source", "target")}
    ports = {name: np.asarray(table[f"{name}_port"], np.int64) for name in ("source", "target")}
    up = np.flatnonzero((below == 0) & (above == 1))
    if not len(up):
        raise NetloomError(
            "the fabric has no cables between leaves and spines: expected a tree of two levels"
        )
    down_of = {
        (int(ends["target"][link]), int(ports["target"][link])): int(link)
        for link in np.flatnonzero((below == 1) & (above == 0))
    }
    leaf, port = ends["source"][up], ports["source"][up]
    down = np.array([down_of.get(key, -1) for key in zip(leaf.tolist(), port.tolist(), strict=True)])
    alive = np.asarray(table["alive"], bool)
    pod = pods(fabric)
    order = np.unique(leaf)
    order = order[np.lexsort((order, pod[order - fabric.hosts]))]
    place = np.full(fabric.hosts + fabric.switches, -1)
    place[order] = np.arange(len(order))
    rows = np.unique(port)
    of_order = pod[order - fabric.hosts]
    starts = [0, *(np.flatnonzero(of_order[1:] != of_order[:-1]) + 1).tolist(), len(order)]
    names = [*fabric.host_names, *fabric.switch_names]
    return Cables(
        up,
        down,
        alive[up] & np.where(down >= 0, alive[down], True),
        np.searchsorted(rows, port),
        place[leaf],
        rows.tolist(),
        list(itertools.pairwise(starts)),
        [
            f"{names[ends['source'][link]]}[{ports['source'][link]}] → "
            f"{names[ends['target'][link]]}[{ports['target'][link]}]"
            for link in up
        ],
        [names[node] for node in order],
        np.isin(order, [one.switch for one in fewer_uplinks(fabric)]),
    )


@dataclass(frozen=True)
class Panel:
    """What every cable carries under a routing.

    Attributes
    ----------
    name : str
        The routing, or what measured.
    values : array
        A value a cable; NaN of those that are dead or of which nothing is known.
    """

    name: str
    values: Array

    @property
    def hottest(self) -> int | None:
        """The cable that carries most; None if none carries anything."""
        known = np.nan_to_num(self.values)
        return int(known.argmax()) if known.any() else None


def cables_picture(
    place: Cables,
    panels: Sequence[Panel],
    *,
    bound: float | None,
    shares: bool,
    form: Callable[[float], str],
    title: str,
    kind: str,
) -> bytes:
    """Returns the picture of cables.

    Parameters
    ----------
    place : Cables
        Where they lie.
    panels : sequence of Panel
        At least one.
    bound : float, optional
        A mark on the scale: below it no routing can get.
    shares : bool
        Whether values are shares of what fits; otherwise bytes.
    form : callable
        A value as text.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    most = max([*(float(np.nanmax(panel.values, initial=0.0)) for panel in panels), bound or 0.0]) or 1.0
    factor, unit = (0.01, "%") if shares else style.unit(most)
    width, height = style.inches((9.0, 4.0) if len(panels) > 1 else (6.0, 4.0))
    small = width < _NARROW
    font = 6.5 if small else 8.0
    down = len(panels) if small else -(-len(panels) // 2)
    if style.natural():
        height = 1.0 + down * (1.75 if small else 3.0)
    with style.figure(width, height) as fig:
        grid = fig.subplots(down, -(-len(panels) // down), squeeze=False, sharex=True, sharey=True)
        axes_of: list[Axes] = list(grid.flat)
        image: Any = None
        for axes, panel in zip(axes_of, panels, strict=False):
            image = _draw(axes, place, panel, most, form, font)
        for axes in axes_of[len(panels) :]:
            axes.set_visible(False)
        for axes in grid[:, 0]:
            axes.set_ylabel("port of the leaf", fontsize=font)
        for axes in grid[-1, :]:
            axes.set_xlabel("leaf, by pod" if len(place.pods) > 1 else "leaf", fontsize=font)
        bar = fig.colorbar(
            image, ax=axes_of, shrink=0.9, pad=0.02, aspect=30, format=lambda v, _: f"{v / factor:.3g}"
        )
        bar.set_label(f"{unit} {'of what fits' if shares else 'on the busier direction'}", fontsize=font)
        bar.ax.tick_params(labelsize=font)
        bar.outline.set_visible(False)
        if bound is not None:
            bar.ax.axhline(bound, color=legend.SKY, linewidth=1.6)
            note = f"bound\n{form(bound)}"
            bar.ax.text(-0.4, bound, note, fontsize=font - 1, ha="right", va="center", linespacing=0.9)
        style.head(fig, title, width, font + 1.5)
        return style.save(fig, kind)


def _draw(
    axes: Axes, place: Cables, panel: Panel, most: float, form: Callable[[float], str], font: float
) -> Any:
    cells, at = _joined(place, place.grid(panel.values))
    image = axes.imshow(
        np.ma.masked_invalid(cells),
        cmap=_COLOURS,
        vmin=0.0,
        vmax=most,
        aspect="auto",
        interpolation="nearest",
    )
    axes.set_facecolor(style.NOTHING)
    holes = np.argwhere(place.holes)
    if len(holes):
        axes.plot(
            at[holes[:, 1]], holes[:, 0], "x", color=style.INK, markersize=max(font - 3.5, 2.5), mew=0.8
        )
    for (_, before), (first, _) in itertools.pairwise(place.pods):
        axes.axvline((at[before - 1] + at[first]) / 2, color=style.ZERO, linewidth=2.0)
    axes.set_ylim(len(place.ports) - 0.5, -0.5)
    axes.set_xlim(-0.5, cells.shape[1] - 0.5)
    every = max(1, -(-len(place.ports) // 8))
    rows = range(0, len(place.ports), every)
    axes.set_yticks(list(rows), [str(place.ports[row]) for row in rows], fontsize=font)
    if len(place.pods) > 1:
        middles = [(at[first] + at[end - 1]) / 2 for first, end in place.pods]
        step = -(-len(middles) // 12)
        axes.set_xticks(middles[::step], [f"p{pod}" for pod in range(0, len(middles), step)], fontsize=font)
    else:
        step = max(1, -(-len(place.leaves) // 8))
        columns = range(0, len(place.leaves), step)
        axes.set_xticks(
            [at[column] for column in columns], [str(column) for column in columns], fontsize=font
        )
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    name = style.shorten(legend.name(panel.name), 24)
    hottest = panel.hottest
    if hottest is None:
        told = "nothing is carried"
    else:
        told = f"{form(float(panel.values[hottest]))} on {place.names[hottest].split(' → ')[0]}"
        axes.plot(
            [at[place.column[hottest]]],
            [place.row[hottest]],
            "o",
            color=legend.SKY,
            markerfacecolor="none",
            markersize=font,
            mew=1.6,
        )
    axes.set_title(f"{name}: {told}", fontsize=font + 0.5, fontweight="bold", pad=4, parse_math=False)
    return image


def _joined(place: Cables, cells: Array) -> tuple[Array, Array]:
    """Cells as they are drawn, and the drawn column of every leaf: of very many, neighbours share one."""
    block = -(-len(place.leaves) // _WIDE)
    parts, at, drawn = [], np.zeros(len(place.leaves)), 0
    for first, end in place.pods:
        starts = np.arange(0, end - first, block)
        shown = np.fmax.reduceat(cells[:, first:end], starts, axis=1)
        parts.append(shown)
        at[first:end] = drawn + np.arange(end - first) // block
        drawn += shown.shape[1]
    return np.concatenate(parts, axis=1), at
