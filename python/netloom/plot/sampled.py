"""Counts of links from sampled packets over time, and which links they found congested.

The first picture is the dissertation's figure 2.15: a solid line is a link's packets so far, a dashed one
of the same colour those that found it congested. The second has a row a link and a column a time: the
darker, the larger the share that found it congested; a cell whose traffic is not sure is empty.

Source: Taffet, dissertation, sec. 2.7 (figure 2.15), 2.6 (figure 2.7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netloom.plot import style

_DARK = "Greys"


@dataclass(frozen=True)
class LinkCounts:
    """A link's packets so far at each moment."""

    name: str
    traffic: npt.NDArray[np.float64]
    congested: npt.NDArray[np.float64]


def counts_picture(
    links: Sequence[LinkCounts],
    times_s: npt.NDArray[np.float64],
    *,
    marks: Sequence[tuple[float, float, str]],
    title: str,
    kind: str,
) -> bytes:
    """Returns the picture of counts over time.

    Parameters
    ----------
    links : sequence of LinkCounts
        Which are drawn.
    times_s : array
        The moments, in seconds.
    marks : sequence of (float, float, str)
        Times from, to, that are shaded, and what happened then.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    with style.figure(8.2, 4.2) as fig:
        axes = fig.subplots()
        for start, end, what in marks:
            axes.axvspan(start, end, color=style.GRID, zorder=0)
            axes.text(
                start,
                1.0,
                f" {what}",
                transform=axes.get_xaxis_transform(),
                va="top",
                fontsize=8,
                color=style.FAINT,
            )
        for link, look in zip(links, style.curves([link.name for link in links]), strict=True):
            color = look["color"]
            axes.plot(times_s, link.traffic, color=color, linewidth=1.6, label=link.name)
            axes.plot(times_s, link.congested, color=color, linewidth=1.3, linestyle=(0, (4, 2)))
        axes.plot([], [], color=style.INK, linewidth=1.3, linestyle=(0, (4, 2)), label="congested")
        axes.set_xlim(float(times_s[0]), float(times_s[-1]))
        axes.set_xlabel("seconds")
        axes.set_ylabel("packets so far, estimated")
        axes.yaxis.set_major_formatter(lambda value, _position: f"{value:,.0f}")
        style.clean(axes)
        axes.legend(frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(0.0, 0.94))
        style.title(axes, title, width=90, pad=10)
        return style.save(fig, kind)


def congestion_picture(
    names: Sequence[str],
    times_s: npt.NDArray[np.float64],
    fractions: npt.NDArray[np.float64],
    *,
    title: str,
    kind: str,
) -> bytes:
    """Returns the picture of congested fractions.

    Parameters
    ----------
    names : sequence of str
        The links, a row each.
    times_s : array
        Where windows begin and end.
    fractions : array of shape (links, windows)
        NaN where traffic is not sure.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    with style.figure(8.2, 0.9 + 0.28 * len(names)) as fig:
        axes = fig.subplots()
        axes.set_facecolor("white")
        shown = np.ma.masked_invalid(np.clip(fractions, 0.0, 1.0))
        mesh = axes.pcolormesh(times_s, np.arange(len(names) + 1), shown, cmap=_DARK, vmin=0.0, vmax=1.0)
        axes.set_yticks(
            np.arange(len(names)) + 0.5, [style.shorten(name, 24) for name in names], parse_math=False
        )
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.hlines(np.arange(1, len(names)), times_s[0], times_s[-1], color=style.GRID, linewidth=0.8)
        axes.set_xlabel("seconds")
        bar = fig.colorbar(mesh, ax=axes, fraction=0.03, pad=0.02)
        bar.set_label("found it congested")
        bar.ax.yaxis.set_major_formatter(lambda value, _position: f"{100 * value:.0f} %")
        bar.outline.set_visible(False)
        style.title(axes, title, width=90, pad=8)
        return style.save(fig, kind)
