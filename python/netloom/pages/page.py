"""A page's document as HTML: tables that need no script, and a picture of the fabric that one draws."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from netloom.pages import generic, kinds
from netloom.pages.markup import Column, Row, section, table
from netloom.shown import html
from netloom.shown.html import text

SCHEMA = "netloom.page/1"


def page(document: Mapping[str, Any]) -> bytes:
    """Returns the page of a document.

    Parameters
    ----------
    document : mapping
        `title`, `netloom` (the version), `inputs`, and `parts`: what `pages.routed`, `pages.ran` and
        `pages.result` tell.
    """
    parts = []
    for number, part in enumerate(document["parts"]):
        parts += _part(f"/parts/{number}", part)
    parts.append(_inputs(document["inputs"]))
    title = str(document["title"])
    body = (
        f'<header><h1>{text(title)}</h1>\n<p class="faint">netloom {text(document["netloom"])}; all figures '
        'are in this file as JSON. <button id="save" hidden>Save JSON</button></p></header>\n<main>\n'
        + "\n".join(parts)
        + '\n</main>\n<div id="told" hidden></div>'
    )
    style, script = (html.asset("netloom.pages", f"report.{kind}") for kind in ("css", "js"))
    return html.page(title, body, document, style=style, script=script)


def sections(document: Mapping[str, Any]) -> list[str]:
    """What a page shows: kinds of its parts, of results their verbs."""
    return [part.get("verb", part["kind"]) for part in document["parts"]] + ["inputs"]


def _part(at: str, part: Mapping[str, Any]) -> list[str]:
    if part["kind"] != "result":
        return kinds.PARTS[part["kind"]](at, part)
    verb, result = part["verb"], part["document"]["result"]
    where = f"{at}/document/result"
    schema = str(part["document"]["schema"])
    ours = schema == f"netloom.{verb}/1"
    if ours and verb in kinds.RESULTS:
        # What lacks a key, as somebody's own may, is shown as any other result.
        with contextlib.suppress(*kinds.LACKING):
            return kinds.RESULTS[verb].sections(where, result)
    other = "" if ours else f"{schema} is of another version of netloom: its keys, as they are."
    return [section(f"Result of netloom {verb}", *generic.blocks(result, where, verb), note=other)]


def _inputs(inputs: Sequence[Mapping[str, Any]]) -> str:
    rows = [Row([one["role"], one["source"]], f"/inputs/{n}", one) for n, one in enumerate(inputs)]
    columns = [Column("sha256", "SHA-256", "text")]
    return section("Made of", table("Inputs", ["what", "source"], columns, rows))
