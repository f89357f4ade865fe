"""Names and sentences as people read them: nothing in them turns a terminal or a page."""

from __future__ import annotations

import re
import unicodedata


def printable(text: str, *, lines: bool = True) -> str:
    """Text whose control characters do nothing to a terminal: `\\x1b`, say. Line ends stay if `lines`.

    Names in dumps, tables and jobs files may be any bytes; all that people read goes through here.
    """

    def shown(character: str) -> str:
        if (character == "\n" and lines) or not _odd(character):
            return character
        code = ord(character)
        return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"

    return text if text.isprintable() else "".join(map(shown, text))


def _odd(character: str) -> bool:
    """Controls, and what turns the direction of writing; not what merely has no glyph here."""
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")


def arrows(text: str) -> str:
    """Text with one arrow: findings of the core say `a -> b` and `a->b`, tables and pictures `a → b`.

    Only what people read: results keep their words.
    """
    return _ARROW.sub(" → ", text) if "->" in text else text


def line(text: str) -> str:
    """Text as one line that people read."""
    return arrows(printable(text, lines=False))


_ARROW = re.compile(r" ?(?<!-)-> ?")
