"""Sphinx's settings for the documentation as a site: `make site` stages the pages (`stage.py`), builds it."""

from __future__ import annotations

import re
from typing import Any

from netloom import __version__

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


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", as_rst, priority=400)  # before napoleon
