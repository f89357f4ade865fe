"""Sphinx's settings for the documentation as a site: `make site` stages the pages (`stage.py`), builds it."""

from __future__ import annotations

import functools
import posixpath
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import furo
from sphinx.search.en import SearchEnglish

from netloom import __version__

sys.path.insert(0, str(Path(__file__).parent))
from finish import finish

project = "netloom"
author = "the authors of netloom"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["attrs_inline"]
myst_heading_anchors = 6
default_role = "code"
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
smartquotes = False
html_theme = "furo"
html_title = f"netloom {release}"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
suppress_warnings = ["ref.python", "misc.highlighting_failure"]
"""Types in docstrings are words (`path`), some of them attributes too; what a console shows is no code."""


def as_rst(_app: Any, what: str, _name: str, _thing: Any, _options: Any, lines: list[str]) -> None:
    """Docstrings have Markdown's code spans; those of packages are on their pages already."""
    if what == "module":
        lines.clear()
    lines[:] = re.sub(r"(?<!`)`([^`]+)`(?=(\w?))(?!`)", _span, "\n".join(lines)).split("\n")


def _span(found: re.Match[str]) -> str:
    return f"``{found[1].strip()}``" + ("\\ " if found[2] else "")


def once_a_folder(compute: Callable[[dict[str, Any]], str]) -> Callable[[dict[str, Any]], str]:
    """Furo's contents at the side: pages that are not in them have the same ones throughout a folder."""
    known: dict[str, str] = {}

    def tree(context: dict[str, Any]) -> str:
        if "orphan" not in (context.get("meta") or {}):
            return compute(context)
        folder = posixpath.dirname(context["pagename"])
        if folder not in known:
            known[folder] = compute(context)
        return known[folder]

    return tree


# A third of the time went into the contents of 270 such pages, a tenth into the stems of the same words.
furo._compute_navigation_tree = once_a_folder(furo._compute_navigation_tree)
SearchEnglish.stem = functools.cache(SearchEnglish.stem)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", as_rst, priority=400)  # before napoleon
    app.connect("build-finished", end)


def end(app: Any, failed: Exception | None) -> None:
    """What is left to do when all pages are written."""
    if failed is None:
        finish(Path(app.outdir))
