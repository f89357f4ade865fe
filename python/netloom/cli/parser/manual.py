"""Manual pages from the command's own description: `python -m netloom.cli.parser.manual DIR` (`make man`).

One page a verb, and `netloom.1`; reStructuredText by cyclopts, roff by docutils, which only this needs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from netloom import __version__
from netloom.cli.parser.verbs import VERBS, build_app
from netloom.files import Folder

if TYPE_CHECKING:
    import cyclopts

_TITLE = "Routes, loads, proofs and simulation for InfiniBand fabrics"


def pages() -> dict[str, str]:
    """Roff by file name, as `netloom-optimize.1`."""
    app = build_app()
    found = {"netloom.1": _roff("netloom", _TITLE, _described(app, "netloom", recursive=False))}
    for verb, entry in VERBS.items():
        text = entry if isinstance(entry, str) else entry[0]
        told = _described(app[verb], f"netloom {verb}", recursive=True)
        found[f"netloom-{verb}.1"] = _roff(f"netloom-{verb}", text.rstrip("."), told)
    return found


def _described(app: cyclopts.App, usage: str, *, recursive: bool) -> str:
    """What cyclopts says of a command, without what only web pages have: labels, contents, the title."""
    told: str = app.generate_docs(output_format="rst", recursive=recursive, usage_name=usage)
    told = re.sub(r"^\.\. _.*:\n\n", "", told, flags=re.MULTILINE)
    told = re.sub(r"^\.\. contents::.*\n(?:   .*\n)*\n", "", told, flags=re.MULTILINE)
    # Our usage lines are whole; cyclopts puts the command before them once more.
    told = re.sub(r"^( +)netloom [a-z ]*(netloom [a-z]+)", r"\1\2", told, flags=re.MULTILINE)
    told = re.sub(r"(``--[a-z-]+``|--[a-z-]+), --no-[a-z-]+", r"\1", told)
    # The first heading is the page's name again.
    title = re.match(r"\s*(?:[=-]+\n)?[a-z ]+\n[=-]+\n", told)
    return told[title.end() :] if title else told


def _roff(name: str, subtitle: str, body: str) -> str:
    from docutils.core import publish_string
    from docutils.writers import manpage

    over, under = "=" * len(name), "-" * len(subtitle)
    fields = f":Manual section: 1\n:Manual group: netloom\n:Version: {__version__}"
    head = f"{over}\n{name}\n{over}\n\n{under}\n{subtitle}\n{under}\n\n{fields}"
    source = f"{head}\n\nSYNOPSIS\n~~~~~~~~\n\n{body}\n"
    settings = {
        "report_level": 4,
        "output_encoding": "unicode",
        "datestamp": None,
        "input_encoding": "unicode",
    }
    found: str = publish_string(source, writer=manpage.Writer(), settings_overrides=settings)
    return found


def main() -> int:
    """Writes all pages into the folder that is named."""
    with Folder.open(Path(sys.argv[1]), make=True) as folder:
        for name, text in pages().items():
            folder.write(name, text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
