"""`netloom plot coefficients` and `netloom plot study`: bases, and errors of inference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from netloom.cli.plot.command import drawn, prepared
from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import PictureOptions, SeededPicture
from netloom.drawing import inference


def coefficients(
    traffic: str,
    fabric: str | None = None,
    /,
    *,
    basis: str = "symmetric-differences",
    part: str | None = None,
    title: str | None = None,
    options: SeededPicture | None = None,
) -> int:
    """Draw the coefficients of a traffic matrix in a basis: blue above zero, red below.

    Parameters
    ----------
    traffic
        A file (.mtx, .csv, .txt, .npz, .npy, .parquet), a recorded run (.ti, its index or folder, .goal), a
        jobs file (.toml; needs a fabric), or a pattern spec.
    fabric
        The fabric on whose hosts it is.
    basis
        `identity`, `symmetric`, `differences`, `symmetric-differences`, `copy-shift` or
        `symmetric-copy-shift`; the last two need a power of two of endpoints. `dictionary:1` and
        `dictionary:2` are the parts of the dissertation's dictionary (`netloom-hpc[exact]`).
    part
        Only these endpoints, `FIRST:END`: `10:522` are 512 from number 10.
    title
        Above the picture; by default the traffic's name and the basis.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    return drawn(
        prepared("plot-coefficients", options),
        lambda run, kind: inference.coefficients(
            run, traffic, fabric, basis=basis, part=part, title=title, kind=kind
        ),
        _coefficients_text,
    )


def _coefficients_text(result: Mapping[str, Any]) -> str:
    used = result["coefficients"]
    told = f"{render.count(used)}, {used / max(result['endpoints'], 1):.2f} a rank"
    return render.pairs([("coefficients", told), ("written", str(result["output"]))])


def study(
    *results: str,
    against: Literal["lanes", "routings"] | None = None,
    leaf_sums: bool = False,
    title: str | None = None,
    options: PictureOptions | None = None,
) -> int:
    """Draw errors of inference against lanes or against routings, application by application.

    Parameters
    ----------
    results
        What `netloom study chapter4` printed or wrote, as JSON or CSV; of several all rows are taken.
    against
        What grows to the right. [default: lanes, if there are several]
    leaf_sums
        Errors of the sums over (source leaf, destination) instead of those of pairs.
    title
        Above the picture.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    if not results:
        raise UsageError("plot study draws results: netloom plot study RESULT.json… -o FILE")
    return drawn(
        prepared("plot-study", options),
        lambda run, kind: inference.study(
            run, results, against=against, leaf_sums=leaf_sums, title=title, kind=kind
        ),
        _study_text,
    )


def _study_text(result: Mapping[str, Any]) -> str:
    curves = result["curves"]
    written = [
        ("applications", render.count(len({curve["application"] for curve in curves}))),
        ("curves", render.count(len(curves))),
        ("written", str(result["output"])),
    ]
    return render.pairs(written)
