"""At which links a job waits behind bytes of others, and whose these are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from netloom.plot import style
from netloom.shown import legend

_NARROW = 5.0
"""Inches below which type is small."""
_COLOURS = (legend.VERMILLION, legend.SKY, legend.ORANGE, legend.GREEN, legend.BLUE)
MOST_JOBS = len(_COLOURS)
"""Jobs with a colour of their own; what others send is grey."""
OTHERS = "others"


@dataclass(frozen=True)
class Link:
    """A link, and how long a job waits there.

    Attributes
    ----------
    name : str
        Both ends and their ports.
    by_job : mapping
        Milliseconds behind the bytes of each other job.
    """

    name: str
    by_job: Mapping[str, float]


def named(links: Sequence[Link]) -> list[str]:
    """Jobs with a colour of their own, the one that is waited for longest first."""
    sums: dict[str, float] = {}
    for link in links:
        for job, ms in link.by_job.items():
            sums[job] = sums.get(job, 0.0) + ms
    return sorted(sums, key=lambda job: (-sums[job], job))[:MOST_JOBS]


def waits_picture(links: Sequence[Link], *, title: str, kind: str) -> bytes:
    """Returns the picture: a bar a link, in parts by job.

    Parameters
    ----------
    links : sequence of Link
        From the top, at least one.
    title : str
        Above the picture.
    kind : {"svg", "pdf", "png"}
        The file format.
    """
    width, height = style.inches((7.0, 1.5 + 0.34 * len(links)))
    font = 6.5 if width < _NARROW else 8.5
    jobs = named(links)
    looks = [*zip(jobs, _COLOURS, strict=False), (OTHERS, legend.GREY)]
    with style.figure(width, height) as fig:
        axes = fig.add_subplot()
        left = [0.0] * len(links)
        for job, colour in looks:
            parts = [
                link.by_job.get(job, 0.0)
                if job in jobs
                else sum(ms for other, ms in link.by_job.items() if other not in jobs)
                for link in links
            ]
            if any(parts):
                axes.barh(range(len(links)), parts, 0.72, left=left, color=colour, label=f"behind {job}")
                left = [one + part for one, part in zip(left, parts, strict=True)]
        axes.set_yticks(range(len(links)), [style.shorten(link.name, 34) for link in links], parse_math=False)
        axes.invert_yaxis()
        axes.set_xlim(0.0, max(left) * 1.05)
        axes.set_xlabel("ms in which it waits behind bytes of others", fontsize=font)
        axes.tick_params(labelsize=font)
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right"]].set_visible(False)
        fig.legend(loc="outside lower left", ncols=3, frameon=False, fontsize=font - 0.5, columnspacing=1.0)
        style.head(fig, title, width, font + 1.5)
        return style.save(fig, kind)
