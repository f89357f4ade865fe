"""Pages: one HTML file that fetches nothing, in which nothing runs but its own script.

Names come from dumps and may be anything, markup too: text goes through `text`, numbers and names for the
script through JSON that ends no element. A content security policy with the script's sum forbids the
rest, and all requests.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib import resources
from typing import Any

from netloom.shown.text import printable


def text(words: str) -> str:
    """Text that is never markup, in an element or a quoted attribute; nothing in it turns the page's own.

    Examples
    --------
    >>> text('"><img onerror=x>')
    '&quot;&gt;&lt;img onerror=x&gt;'
    """
    return html.escape(printable(words, lines=False))


def page(title: str, body: str, data: Any, *, style: str, script: str) -> bytes:
    """Returns a page.

    Parameters
    ----------
    title : str
        Its title, as text.
    body : str
        Markup.
    data : JSON
        What the script finds as JSON in the element `data`.
    style, script : str
        The page's own.
    """
    numbers = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for character in "<\u2028\u2029":
        numbers = numbers.replace(character, f"\\u{ord(character):04x}")
    script = f"\n{script}"
    own = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{own}'"
    whole = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>{text(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n"
        f'<script type="application/json" id="data">{numbers}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )
    # Half a surrogate pair, which only JSON can hold, stays what it is: `\ud800`.
    return whole.encode(errors="backslashreplace")


def asset(package: str, name: str) -> str:
    """A style or script of a package."""
    return (resources.files(package) / name).read_text("utf-8")
