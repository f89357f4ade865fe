"""What is done to built pages so that everybody can use them: `conf.py` calls it when Sphinx has ended.

Sphinx and Furo leave a few things that axe-core finds: captions without a level, landmarks without a name,
heads of tables without words, and boxes that scroll but cannot be reached with the keyboard.
"""

from __future__ import annotations

import re
from pathlib import Path

PLAIN = {
    'role="heading">': 'role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Site">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="Page">',
    '<aside class="toc-drawer no-toc">': '<aside class="toc-drawer no-toc" aria-label="Page">',
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper ': '<div tabindex="0" class="table-wrapper ',
}
SEARCH = '<article role="main" id="furo-main-content">'
EMPTY_HEAD = re.compile(r"<th class=\"head[^\"]*\"(?: scope=\"col\")?>\s*<p>\s*</p>\s*</th>")


def finished(html: str) -> str:
    """A page's text, mended."""
    for wrong, right in PLAIN.items():
        html = html.replace(wrong, right)
    return EMPTY_HEAD.sub("<td></td>", html)


def finish(folder: Path) -> None:
    """Mends all pages of a folder."""
    for page in folder.rglob("*.html"):
        text = page.read_text()
        mended = finished(text)
        if page.name == "search.html" and "<h1" not in mended:
            mended = mended.replace(SEARCH, f"{SEARCH}<h1>Search</h1>")
        if mended != text:
            page.write_text(mended)
