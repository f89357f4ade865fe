"""The table, and its place in a page: a stretch with its CRC-32, as those of `make bench`."""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path

NAME = "peers table"
WRITER = "`python benches/peers`"


def grid(lines: list[list[str]]) -> str:
    """A Markdown table with aligned columns; the first line is its head."""
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(lines[0]))]
    rows = [
        "".join(f"| {cell:{width}} " for cell, width in zip(line, widths, strict=True)) + "|"
        for line in lines
    ]
    rows.insert(1, "".join(f"|{'-' * (width + 2)}" for width in widths) + "|")
    return "\n".join(rows)


def machine() -> str:
    """`2 cores of AMD EPYC, 24 GB`."""
    cpu, memory = Path("/proc/cpuinfo"), Path("/proc/meminfo")
    model = re.search(r"^model name\s*:\s*(.+)", cpu.read_text() if cpu.exists() else "", re.MULTILINE)
    kib = re.search(r"^MemTotal:\s*(\d+)", memory.read_text() if memory.exists() else "", re.MULTILINE)
    cores = os.cpu_count() or 1
    told = f"{cores} core{'s' if cores > 1 else ''} of {model[1] if model else os.uname().machine}"
    return told + (f", {round(int(kib[1]) / (1 << 20))} GB" if kib else "")


def into(page: str, text: str) -> str:
    """The page with `text` in its stretch; the stretch is put at the end if there is none."""
    text = text.strip()
    mark = f"<!-- {NAME}: begin (by {WRITER}), sum {zlib.crc32(text.encode()):08x} -->"
    stretch = f"{mark}\n\n{text}\n\n<!-- {NAME}: end -->"
    pattern = re.compile(rf"<!-- {re.escape(NAME)}: begin.*?<!-- {re.escape(NAME)}: end -->", re.DOTALL)
    if pattern.search(page):
        return pattern.sub(lambda _: stretch, page)
    return f"{page.rstrip()}\n\n{stretch}\n"
