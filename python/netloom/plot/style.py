"""What all pictures share: a look, colours, units, and how they become bytes.

Colours (`netloom.shown.legend`) are Okabe and Ito's, safe for colour-blind readers; curves also differ in
dashes, in markers where there are many, and carry names. Titles and names are text as given: long ones are
wrapped or shortened, and `$` is a dollar.
"""

from __future__ import annotations

import html
import io
import math
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from netloom.plot.settings import matplotlib  # isort: skip  # First: see there.
import matplotlib.ticker
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.text import Text

from netloom.errors import NetloomError
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
    scale = type_scale((width, height))
    sized = {key: value * scale for key, value in _SETTINGS.items() if key.endswith("size")}
    with matplotlib.rc_context({**_SETTINGS, **sized}):
        layout: Literal["constrained"] | None = "constrained" if arranged else None
        yield Figure(figsize=(width, height), layout=layout, facecolor="white")


def title_of(fig: Figure) -> str:
    """The title above a picture, in one line: what `<title>` of an SVG says, and readers speak."""
    words = [fig.get_suptitle(), *(axes.get_title(loc="left") for axes in fig.axes)]
    words += [text.get_text() for text in fig.texts if text.get_fontweight() == "bold"]
    return next((" ".join(word.replace(r"\$", "$").split()) for word in words if word), "netloom")


_SMALLEST = 0.7
"""Of its own size that type becomes at least: 9 points become 6.3."""


def type_scale(needed: tuple[float, float]) -> float:
    """How much smaller type is on the present paper than where a picture has the inches that it needs."""
    width, height = inches(needed)
    return min(max(min(width / needed[0], height / needed[1]), _SMALLEST), 1.0)


def description(fig: Figure) -> str:
    """What a picture shows, in words: what lies along its axes, and its curves by name.

    It becomes `<desc>` of an SVG: whoever cannot see the picture is told it.
    """
    told: list[str] = []
    for axes in fig.axes:
        across, up = (" ".join(label.split()) for label in (axes.get_xlabel(), axes.get_ylabel()))
        if up or across:
            told.append(f"{up} over {across}" if up and across else up or across)
    _, names = named_curves(fig)
    if names:
        told.append(f"drawn: {', '.join(names)}")
    return "; ".join(dict.fromkeys(told)).replace(r"\$", "$")


def named_curves(fig: Figure) -> tuple[list[Any], list[str]]:
    """The curves of all axes that have a name, each name once."""
    found: dict[str, Any] = {}
    for axes in fig.axes:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(name, handle)
    return list(found.values()), list(found)


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
    paper = PAPER.get()
    if paper.inches is not None:
        _shrink(fig, paper.inches)
    with warnings.catch_warnings():
        # "Axes sizes collapsed to zero": nothing would be seen of what is drawn.
        warnings.filterwarnings("error", message=".*constrained_layout not applied.*")
        try:
            if paper.inches is not None:
                fig.draw_without_rendering()
            if paper.inches is None or not _cut_off(fig):
                return _saved(fig, kind)
        except UserWarning:
            pass
    size = "x".join(f"{side:g}" for side in paper.inches or fig.get_size_inches())
    raise NetloomError(f"{size} inches are too few for this picture: expected a larger size")


_CUT = 3.0
"""Points that a word may reach over the edge: the room around its letters."""


def words(fig: Figure) -> list[Text]:
    """Titles, labels, notes and legends of a picture; not the numbers of its axes."""
    legends = [*fig.legends, *(axes.get_legend() for axes in fig.axes)]
    found = [*fig.texts, *(text for one in legends if one is not None for text in one.get_texts())]
    for axes in fig.axes:
        labels = [axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label]  # type: ignore[attr-defined]
        found += [*labels, *axes.texts] if axes.get_visible() else []
    return [text for text in found if text.get_visible() and text.get_text().strip()]


def _cut_off(fig: Figure) -> bool:
    """Whether a word would lie over the edge of a picture that has been laid out."""
    room = _CUT * fig.dpi / 72
    for box in (text.get_window_extent() for text in words(fig) if text.get_clip_box() is None):
        inside = box.x0 >= -room and box.y0 >= -room
        if not (inside and box.x1 <= fig.bbox.x1 + room and box.y1 <= fig.bbox.y1 + room):
            return True
    return False


def _shrink(fig: Figure, wanted: tuple[float, float]) -> None:
    """Gives a figure another size; what was given a size of type of its own shrinks as all others did."""
    width, height = fig.get_size_inches()
    scale = type_scale((float(width), float(height)))
    fig.set_size_inches(*wanted)
    usual = {value * scale for key, value in _SETTINGS.items() if key.endswith("size")}
    if scale < 1:
        for text in fig.findobj(Text):
            assert isinstance(text, Text)
            size = float(text.get_fontsize())
            if not any(abs(size - one) < 0.05 for one in usual):
                text.set_fontsize(size * scale)


def _saved(fig: Figure, kind: str) -> bytes:
    out = io.BytesIO()
    paper = PAPER.get()
    told = title_of(fig)
    if kind == "svg":
        FigureCanvasSVG(fig)
        dpi: float | str = "figure" if paper.dpi == DPI else paper.dpi
        fig.savefig(out, format="svg", dpi=dpi, metadata={"Date": None, "Creator": "netloom", "Title": told})
        desc = f"</title>\n <desc>{html.escape(description(fig))}</desc>"
        return out.getvalue().replace(b"</title>", desc.encode(), 1)
    if kind == "pdf":
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
    fig: Any = axes.figure
    across = float(fig.get_size_inches()[0])
    fits = inches((across, 1.0))[0] / across / type_scale(tuple(fig.get_size_inches()))
    lines = textwrap.wrap(text, max(int(width * min(fits, 1.0)), 12), max_lines=3, placeholder=" …")
    axes.set_title("\n".join(lines), pad=pad, parse_math=False)


def head(fig: Figure, text: str, inches: float, points: float) -> None:
    """Puts a title above a whole picture of so many inches, in lines that fit."""
    fig.suptitle(lines(text, inches, points), x=0.01, ha="left", fontweight="bold", fontsize=points)


def name_beside(axes: Axes, points: float, *, below: bool) -> None:
    """Names curves right of the axes, or below them; the figure's layout finds room for it."""
    if not below:
        axes.legend(
            loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=points, handlelength=3.2
        )
        return
    fig: Any = axes.figure
    handles, names = axes.get_legend_handles_labels()
    fig.legend(
        handles,
        names,
        loc="outside lower left",
        ncols=max(int(fig.get_size_inches()[0] / _COLUMN), 1),
        frameon=False,
        fontsize=points,
        handlelength=3.2,
    )


_COLUMN = 2.0
"""Inches of a column of names below a picture."""


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


def scale_of(fig: Figure, axes: Axes, drawn: Any, label: str, form: Callable[[float], str]) -> None:
    """Puts the scale of an image's colours beside it, with its least and its largest value named.

    Parameters
    ----------
    fig, axes : Figure, Axes
        Where the image is; the axes are the bar's own, of an image that stays where it is put.
    drawn : AxesImage
        The image.
    label : str
        What the values are.
    form : callable
        How a value is told.
    """
    norm = drawn.norm
    bar = (
        fig.colorbar(drawn, ax=axes, shrink=0.85, pad=0.02)
        if drawn.axes is axes
        else fig.colorbar(drawn, cax=axes)
    )
    bar.set_ticks(scale_ticks(norm), labels=[form(value) for value in scale_ticks(norm)])
    bar.set_label(label)
    bar.ax.minorticks_off()


def scale_ticks(norm: Any) -> list[float]:
    """Both ends of a scale of colours; between them decades, or 0, where they stand clear of the ends."""
    low, high = float(norm.vmin), float(norm.vmax)
    inside = [0.0] if low < 0 else [high / 2]
    if low > 0:
        inside = [float(f"1e{power}") for power in range(-18, 19)]
    places = [(value, float(norm(value))) for value in inside if low < value < high]
    clear = [value for value, place in places if 0.08 < place < 0.92]
    step = -(-len(clear) // 6) or 1
    return [low, *clear[::step], high]


def one_value(axes: Axes, colour: Any, words: str) -> None:
    """Says what the one colour of an image means, where a scale would be a lie."""
    from matplotlib.patches import Patch

    axes.legend(
        handles=[Patch(facecolor=colour, edgecolor=FAINT, label=words)],
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        frameon=False,
        fontsize=8.5,
    )


def say(axes: Axes, words: str) -> None:
    """Says in the middle of an empty image why it is empty."""
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", color=FAINT)


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
