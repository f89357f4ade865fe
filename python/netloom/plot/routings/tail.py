"""The tail of message latency: which share of a job's messages takes longer, a curve a routing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from netloom.plot import style
from netloom.shown import legend

_NARROW = 5.0
"""Inches below which names stand below the picture."""
_WIDE = 20.0
"""Times the shortest latency from which on the axis is logarithmic."""


@dataclass(frozen=True)
class Latencies:
    """A histogram of latencies.

    Attributes
    ----------
    name : str
        The routing.
    at_us : array
        Upper ends of bins, rising.
    count : array
        Messages in each.
    """

    name: str
    at_us: npt.NDArray[np.float64]
    count: npt.NDArray[np.int64]

    @property
    def longer(self) -> npt.NDArray[np.float64]:
        """Which share of messages takes longer than each bin; the last is 0."""
        longer: npt.NDArray[np.float64] = 1.0 - np.cumsum(self.count) / self.count.sum()
        return longer

    def quantile(self, share: float) -> float:
        """What a share of the messages takes at most."""
        return float(self.at_us[np.searchsorted(np.cumsum(self.count), share * self.count.sum())])


def tail_picture(curves: Sequence[Latencies], *, title: str, kind: str) -> bytes:
    """Returns the picture.

    Parameters
    ----------
    curves : sequence of Latencies
        The routings, at least one, with a message each.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    width, height = style.inches((7.2, 3.6))
    small = width < _NARROW
    font = 6.5 if small else 8.5
    most = max(int(curve.count.sum()) for curve in curves)
    first = min(float(curve.at_us[0]) for curve in curves)
    last = max(float(curve.at_us[-1]) for curve in curves)
    with style.figure(width, height) as fig:
        axes = fig.add_subplot()
        for curve, look in zip(curves, style.curves([curve.name for curve in curves]), strict=True):
            # The last message is drawn down to the axis: nothing takes longer.
            y = 100.0 * np.maximum(np.concatenate([[1.0], curve.longer]), 0.3 / most)
            x = np.concatenate([[curve.at_us[0]], curve.at_us])
            name = style.shorten(legend.name(curve.name), 30)
            figures = f"99 % within {curve.quantile(0.99):.3g} µs, all {curve.at_us[-1]:.3g} µs"
            axes.plot(x, y, drawstyle="steps-post", label=f"{name}\n{figures}", **{**look, "linewidth": 1.6})
        if last > _WIDE * first > 0:
            style.log_axis(axes.xaxis, [first, last])
        else:
            axes.set_xlim(0.0, last * 1.03)
        axes.set_yscale("log")
        axes.set_ylim(100 * 0.7 / most, 130.0)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g} %")
        axes.minorticks_off()
        axes.tick_params(labelsize=font)
        scale = " (logarithmic)" if axes.get_xscale() == "log" else ""
        axes.set_xlabel(f"latency of a message, µs{scale}", fontsize=font)
        axes.set_ylabel("messages that take longer", fontsize=font)
        style.clean(axes)
        style.name_beside(axes, font - 0.5, below=small)
        style.head(fig, title, width, font + 1.5)
        return style.save(fig, kind)
