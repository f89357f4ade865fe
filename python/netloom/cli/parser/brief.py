"""Helps longer than a screen: a line an option, its first sentence; `netloom help VERB` has the whole."""

from __future__ import annotations

import re
import textwrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

VERBS = ("optimize", "infer", "simulate", "sample run")
"""Verbs whose whole help has more than 60 lines of 80 columns."""

_GAP = 2
_whole = False


def ask_for_whole() -> None:
    """From here on every help is whole."""
    global _whole
    _whole = True


def options(verb: str) -> dict[str, Any]:
    """The parser's keywords for a verb's help; none where it is whole."""
    return {} if _whole or verb not in VERBS else {"help_formatter": panel}


def more(verb: str) -> str:
    """What ends a short help: where the whole is; empty where it is whole."""
    return "" if _whole or verb not in VERBS else f"\n\nMore on each option: `netloom help {verb}`"


def panel(console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
    """Prints a group of options without a frame: its title, and a line each."""
    from rich.table import Table
    from rich.text import Text

    if not panel.entries:
        return
    names = [" ".join(entry.display_labels_with_metavar) for entry in panel.entries]
    longest = max(map(len, names))
    room = console.width - longest - 2 * _GAP
    grid = Table.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(no_wrap=True, min_width=longest + _GAP)
    grid.add_column(no_wrap=True)
    for name, entry in zip(names, panel.entries, strict=True):
        grid.add_row(Text(f"{'':{_GAP}}{name}", style="cyan"), Text(_told(entry, room)))
    console.print(Text(str(panel.title), style="bold"))
    console.print(grid)


def _told(entry: HelpEntry, room: int) -> str:
    """The first sentence, with what may be given and what is taken, as far as there is room."""
    markup = getattr(getattr(entry.description, "primary_renderable", None), "markup", "")
    text = " ".join(str(markup).replace("`", "").split())
    told = re.split(r"(?<=[.;])\s", text, maxsplit=1)[0].rstrip(".;")
    stated = re.findall(r"\[default: [^\]]*\]", text)
    extras = [
        "[required]" if entry.required else "",
        "" if not entry.choices else f"[{', '.join(entry.choices)}]",
        f"[default: {entry.default}]" if entry.default else (stated[-1] if stated else ""),
    ]
    told = textwrap.shorten(re.sub(r"\s*\[default: .*", "", told), room, placeholder=" …")
    for extra in extras:
        if extra and len(told) + 1 + len(extra) <= room:
            told = f"{told} {extra}"
    return told
