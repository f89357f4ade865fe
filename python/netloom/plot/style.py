"""What all pictures share: a look, colours, units, and how they become bytes.

Colours (`netloom.shown.legend`) are Okabe and Ito's, safe for colour-blind readers; curves also differ in
dashes, in markers where there are many, and carry names. Titles and names are text as given: long ones are
wrapped or shortened, and `$` is a dollar.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from netloom.plot.settings import matplotlib  # isort: skip  # First: see there.
import matplotlib.ticker
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from netloom.plot.paper import DPI, PAPER
from netloom.shown import legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

INK = "#222222"
FAINT = "#8a8a8a"
GRID = "#e4e4e4"
BOUND = "#222222"

NOTHING = "#f5f5f5"
"""Of links and cells that carry nothing."""
BELOW, ZERO, ABOVE = "#c8102e", "#ffffff", "#0033a0"
"""Of values below, at and above zero."""

_SETTINGS: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "svg.hashsalt": "netloom",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "path.simplify": True,
}


@contextmanager
def figure(width: float, height: float, *, arranged: bool = True) -> Iterator[Figure]:
    """Yields a figure of so many inches in netloom's look; settings last only inside the block.

    `arranged` has matplotlib find room for labels; otherwise axes stay where they are put.
    """
    with matplotlib.rc_context(_SETTINGS):
        layout: Literal["constrained"] | None = "constrained" if arranged else None
        yield Figure(figsize=(width, height), layout=layout, facecolor="white")


def title_of(fig: Figure) -> str:
    """The title above a picture, in one line: what `<title>` of an SVG says, and readers speak."""
    words = [fig.get_suptitle(), *(axes.get_title(loc="left") for axes in fig.axes)]
    words += [text.get_text() for text in fig.texts if text.get_fontweight() == "bold"]
    return next((" ".join(word.replace(r"\$", "$").split()) for word in words if word), "netloom")


def natural() -> bool:
    """Whether a picture is as large as what it shows needs."""
    return PAPER.get().inches is None


def inches(needed: tuple[float, float]) -> tuple[float, float]:
    """Returns width and height of the present paper; `needed` where nobody asked for a size."""
    return PAPER.get().inches or needed


def save(fig: Figure, kind: str) -> bytes:
    """Returns a figure as the bytes of an `svg`, `pdf` or `png` file, on the present paper.

    Call it inside [`figure`]'s block.
    """
    out = io.BytesIO()
    paper = PAPER.get()
    told = title_of(fig)
    if paper.inches is not None:
        fig.set_size_inches(*paper.inches)
    if kind == "svg":
        FigureCanvasSVG(fig)
        dpi: float | str = "figure" if paper.dpi == DPI else paper.dpi
        fig.savefig(out, format="svg", dpi=dpi, metadata={"Date": None, "Creator": "netloom", "Title": told})
    elif kind == "pdf":
        FigureCanvasPdf(fig)
        fig.savefig(
            out,
            format="pdf",
            dpi=paper.dpi,
            metadata={"CreationDate": None, "Creator": "netloom", "Producer": None, "Title": told},
        )
    else:
        FigureCanvasAgg(fig)
        fig.savefig(out, format="png", dpi=paper.dpi, metadata={"Software": "netloom", "Title": told})
    return out.getvalue()


def curves(words: Sequence[str], *, best: int | None = None) -> list[dict[str, Any]]:
    """Returns the looks of curves: engines have their own, see `netloom.shown.legend`; one may stand out.

    Parameters
    ----------
    words : sequence of str
        The engine of every curve, or another name.
    best : int, optional
        Which one stands out, by its thickness.
    """
    found = []
    for position, look in enumerate(legend.looks(words)):
        out: dict[str, Any] = {"color": look.colour, "linestyle": look.dashes, "linewidth": 1.4, "zorder": 3}
        if look.marker:
            out |= {"marker": look.marker, "markersize": 3.5, "markevery": (5 * (position % 7), 35)}
        if position == best:
            out |= {"linewidth": 2.4, "zorder": 5}
        found.append(out)
    return found


def one() -> dict[str, Any]:
    """Returns the look of a curve that is alone, or is ours."""
    return curves(["optimized"], best=0)[0]


def title(axes: Axes, text: str, *, width: int, pad: float) -> None:
    """Puts a title above the axes, in up to three lines of `width` characters; what is longer ends in `…`."""
    lines = textwrap.wrap(text, width, max_lines=3, placeholder=" …")
    axes.set_title("\n".join(lines), pad=pad, parse_math=False)


def head(fig: Figure, text: str, inches: float, points: float) -> None:
    """Puts a title above a whole picture of so many inches, in lines that fit."""
    fig.suptitle(lines(text, inches, points), x=0.01, ha="left", fontweight="bold", fontsize=points)


def name_beside(axes: Axes, points: float, *, below: bool) -> None:
    """Names curves right of the axes, or below them; the figure's layout finds room for it."""
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(-0.12, -0.22) if below else (1.01, 1.0),
        frameon=False,
        fontsize=points,
        handlelength=3.2,
    )


def lines(text: str, inches: float, points: float, most: int = 2) -> str:
    """Returns a title in lines that fit a width, in type of so many points; `$` is a dollar."""
    fits = max(int(inches * 72 / (0.66 * points)), 12)
    return "\n".join(
        textwrap.wrap(text, fits, max_lines=most, placeholder=" …", break_on_hyphens=False)
    ).replace("$", r"\$")


def shorten(text: str, width: int) -> str:
    """Returns `text` in at most `width` characters: the middle gives way to `…`, both ends tell."""
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[len(text) - end :]}"


def clean(axes: Axes) -> None:
    """Takes the frame away and adds a faint horizontal grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)


def log_ticks(low: float, high: float, most: int = 8) -> list[float]:
    """Returns round numbers for a logarithmic axis that has `low` and `high` on it: at least two.

    Parameters
    ----------
    low, high : float
        The least and the largest value, above 0. The first tick is at or below `low`, the last at or above
        `high`.
    most : int
        How many are wanted at most: 1, 2 and 5 of every decade, else 1 of every decade, else of every few.

    Examples
    --------
    >>> log_ticks(0.0031, 0.0034)
    [0.002, 0.005]
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    tens = [float(f"{digit}e{power}") for power in range(first, last + 1) for digit in (1, 2, 5)]
    below = max((i for i, tick in enumerate(tens) if tick <= low), default=0)
    above = min((i for i, tick in enumerate(tens) if tick >= high), default=len(tens) - 1)
    ticks = tens[below : max(above, below + 1) + 1]
    if len(ticks) <= most:
        return ticks
    step = -(-(last - first + 1) // most)
    return [float(f"1e{power}") for power in range(first, last + step, step)]


def log_axis(axis: Axis, values: Sequence[float], form: Callable[[float], str] = "{:g}".format) -> None:
    """Makes an axis logarithmic, marked with round numbers: where `values` (above 0) hold less than two of
    them, it reaches to those below and above.
    """
    low, high = (min(values), max(values)) if values else (1.0, 10.0)
    ticks = log_ticks(low, high)
    inside = [tick for tick in ticks if low <= tick <= high]
    ends = (ticks[0], ticks[-1])
    if len(inside) >= 2:
        room = (high / low) ** 0.05
        ticks, ends = inside, (low / room, high * room)
    axes: Any = axis.axes
    across = axis is axes.xaxis
    (axes.set_xlim if across else axes.set_ylim)(*ends)
    (axes.set_xscale if across else axes.set_yscale)("log")
    (axes.set_xticks if across else axes.set_yticks)(ticks, [form(tick) for tick in ticks])
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def unit(largest: float) -> tuple[float, str]:
    """Returns the decimal unit in which `largest` bytes has one to three digits before the point."""
    for factor, name in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if largest >= factor:
            return factor, name
    return 1.0, "bytes"


def size(value: float) -> str:
    """Returns bytes as a label of an axis: `10 MB`."""
    factor, name = unit(value)
    return f"{value / factor:.3g} {'B' if factor == 1 else name}"


def spread(wanted: list[float], gap: float, low: float, high: float) -> list[float]:
    """Moves label positions apart, as little as possible, so that neighbours are at least `gap` apart.

    Parameters
    ----------
    wanted : list of float
        Where the labels would like to be.
    gap : float
        The least distance.
    low, high : float
        Where they must stay, if they fit.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    # Pool adjacent violators: labels that collide share the mean of where they want to be.
    groups: list[tuple[float, list[int]]] = []
    for i in order:
        members, centre = [i], wanted[i]
        while groups:
            before, others = groups[-1]
            if before + gap * (len(others) - 1) / 2 + gap <= centre - gap * (len(members) - 1) / 2:
                break
            groups.pop()
            members = others + members
            offsets = [wanted[m] - gap * k for k, m in enumerate(members)]
            centre = sum(offsets) / len(offsets) + gap * (len(members) - 1) / 2
        half = gap * (len(members) - 1) / 2
        centre = min(max(centre, low + half), high - half)
        groups.append((centre, members))
    placed = [0.0] * len(wanted)
    for centre, members in groups:
        start = centre - gap * (len(members) - 1) / 2
        for k, member in enumerate(members):
            placed[member] = start + gap * k
    return placed
