"""Names and sentences in Markdown: nothing in them is markup, of Markdown or of HTML, or ends a cell."""

from __future__ import annotations

import html
import re

from netloom.shown.text import printable

_MARKS = re.compile(r"[\\`*_~\[\]#]")
_BEGINS = re.compile(r"^(\s*)([-+=]|\d+(?=[.)]))")


def text(words: str) -> str:
    """Text that is never markup, in a sentence, an item of a list or a cell, on one line.

    Examples
    --------
    >>> text("a*b|<i>")
    'a\\\\*b&#124;&lt;i&gt;'
    """
    plain = html.escape(printable(words, lines=False), quote=False)
    plain = _MARKS.sub(lambda found: "\\" + found[0], plain).replace("|", "&#124;")
    # A list, or a line under a heading.
    return _BEGINS.sub(lambda found: found[1] + (_entities(found[2])), plain)


def code(words: str) -> str:
    """A name as code; in HTML's element where a span of Markdown cannot hold it.

    Examples
    --------
    >>> code("two-level:leaves=4,hosts=4,spines=2")
    '`two-level:leaves=4,hosts=4,spines=2`'
    >>> code("a|b")
    '<code>a&#124;b</code>'
    """
    plain = printable(words, lines=False)
    return f"<code>{text(words)}</code>" if not plain.strip() or set(plain) & set("`|\\") else f"`{plain}`"


def _entities(words: str) -> str:
    return "".join(f"&#{ord(one)};" for one in words)
