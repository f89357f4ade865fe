"""What a job's time is spent on under every routing: computing, communicating, held up by its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from netloom.plot import style
from netloom.shown import legend

_NARROW = 5.0
"""Inches below which type is small."""
PARTS = (
    ("computing", legend.GREY),
    ("communicating", legend.SKY),
    ("held up by neighbours", legend.VERMILLION),
)
"""What a bar is made of, from the left."""


@dataclass(frozen=True)
class Bar:
    """A job under a routing.

    Attributes
    ----------
    name : str
        Its routing (and job and mapping, of several).
    compute_ms, alone_ms, complete_ms : float
        What its ranks compute, the mean; its time alone; its time beside its neighbours.
    """

    name: str
    compute_ms: float
    alone_ms: float
    complete_ms: float

    @property
    def parts(self) -> tuple[float, float, float]:
        """Milliseconds of `PARTS`; they add up to the time, or to the time alone where that is longer."""
        compute = min(self.compute_ms, self.alone_ms)
        return compute, self.alone_ms - compute, max(self.complete_ms - self.alone_ms, 0.0)

    @property
    def told(self) -> str:
        """The figures: `0.370 ms, 1.34 x alone`."""
        return f"{self.complete_ms:.3g} ms, {self.complete_ms / self.alone_ms:.2f} x alone"


def slowdown_picture(bars: Sequence[Bar], *, title: str, kind: str) -> bytes:
    """Returns the picture.

    Parameters
    ----------
    bars : sequence of Bar
        From the top, at least one.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    width, height = style.inches((7.0, 1.5 + 0.42 * len(bars)))
    font = 6.5 if width < _NARROW else 8.5
    most = max(sum(bar.parts) for bar in bars)
    with style.figure(width, height) as fig:
        axes = fig.add_subplot()
        for row, bar in enumerate(bars):
            left = 0.0
            for part, (name, colour) in zip(bar.parts, PARTS, strict=True):
                axes.barh(row, part, 0.72, left=left, color=colour, label=name if row == 0 else None)
                left += part
            axes.text(left + most / 80, row, bar.told, fontsize=font - 0.5, va="center", parse_math=False)
        axes.set_yticks(range(len(bars)), [style.shorten(bar.name, 24) for bar in bars], parse_math=False)
        axes.invert_yaxis()
        axes.set_xlim(0.0, most * (1.75 if width < _NARROW else 1.35))
        axes.set_xlabel("ms", fontsize=font)
        axes.tick_params(labelsize=font)
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right"]].set_visible(False)
        fig.legend(loc="outside lower left", ncols=3, frameon=False, fontsize=font - 0.5, columnspacing=1.0)
        style.head(fig, title, width, font + 1.5)
        return style.save(fig, kind)
