"""A page of `netloom report`, read as a reader of it would: figures, their units, and the JSON inside."""

from __future__ import annotations

import base64
import json
import re
import shutil
import zlib
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

from conftest import Netloom, Paths
from netloom.shown.text import printable

UNITS = {"B": 0, "kB": 3, "MB": 6, "GB": 9, "TB": 12, "PB": 15}
RATES = {f"{unit}/s": power for unit, power in UNITS.items()}
TIMES = {"ps": 0, "ns": 3, "µs": 6, "ms": 9, "s": 12}
VOID = {"meta", "input", "br", "link", "img"}


@dataclass
class Figure:
    """What stands on a page, and where it says that it is from."""

    at: str
    unit: str
    text: str


@dataclass
class Page(HTMLParser):
    """A page's figures, its JSON, its elements."""

    source: str
    figures: list[Figure] = field(default_factory=list)
    document: Any = None
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._open: list[tuple[str, dict[str, str | None]]] = []
        self._text = ""
        self._heads: list[tuple[str, str]] = []
        self._column, self._row, self._own = 0, "", 0
        self.feed(self.source)
        assert not self._open, "what is opened is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.elements.append((tag, told))
        if tag not in VOID:
            self._open.append((tag, told))
        if tag == "table":
            self._heads, self._own = [], -1
        if tag == "th" and told.get("data-unit"):
            self._heads.append((told.get("data-key") or told.get("data-at") or "", told["data-unit"] or ""))
        if tag == "tr":
            self._row, self._column = told.get("data-at") or "", 0
            self._own += 1
        self._text = ""

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        name, told = self._open.pop()
        assert name == tag, f"</{tag}> closes <{name}>"
        if tag == "script" and told.get("type") == "application/json":
            self.document = json.loads(self._text)
        elif tag == "td" and told.get("class") in ("n", "t", "t s"):
            key, unit = self._heads[self._column]
            at = f"{key}/{self._own - 1}" if key.startswith("/") else f"{self._row}/{key}"
            self.figures.append(Figure(at, unit, self._text))
            self._column += 1
        elif told.get("data-at") and told.get("data-unit") and tag != "th":
            self.figures.append(Figure(told["data-at"] or "", told["data-unit"] or "", self._text))

    def at(self, pointer: str) -> Any:
        """What a JSON pointer leads to; None if there is nothing."""
        found = self.document
        for part in pointer.split("/")[1:]:
            part = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list):
                found = found[int(part)] if int(part) < len(found) else None
            else:
                found = (found or {}).get(part)
        return found


def agrees(figure: Figure, value: Any) -> bool:
    """Whether a figure tells a value, to its own last digit; by a way of its own, not the page's."""
    if value is None or value == []:
        return figure.text == "–"
    if isinstance(value, bool):
        return figure.text == ("yes" if value else "no")
    if figure.unit == "text":
        words = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        return figure.text == printable(words, lines=False)
    match = re.fullmatch(r"(< )?(-?[\d,]+(?:\.(\d+))?) ?(\D*)", figure.text)
    if match is None:
        return False
    below, digits, after, unit = match.groups()
    number = float(digits.replace(",", ""))
    if below:
        return 0 < value * (100 if figure.unit == "share" else 1) < number
    power = {"B": UNITS, "B/s": RATES, "ps": TIMES}.get(figure.unit, {}).get(unit, 0)
    expected = {"B": unit, "B/s": unit, "ps": unit, "%": "%", "share": "%", "n": ""}.get(
        figure.unit, figure.unit
    )
    shown = value * (100 if figure.unit == "share" else 1)
    step = 10.0 ** (power - len(after or ""))
    return unit == expected and abs(number * 10.0**power - shown) <= 0.5001 * step


def unpacked(column: dict[str, str]) -> list[Any]:
    """The values of a long column (`netloom.pages.columns`)."""
    ((kind, packed),) = column.items()
    data = zlib.decompress(base64.b64decode(packed))
    if kind == "texts":
        return list(json.loads(data))
    if kind == "int32":
        return list(np.cumsum(np.frombuffer(data, "<i4").astype(np.int64)).tolist())
    return list(np.frombuffer(data, "<f8").tolist())


PLAN = """
compare = ["two-level:leaves=3,hosts=18,spines=2,cables=9"]
[machine]
hosts = 48
radix = 36
[catalogue]
file = "slimfly-2014.toml"
[cables]
hosts = { kind = "copper", length_m = 2 }
leaves = { length_m = 20 }
spines = { length_m = 20 }
[nodes]
price = 5000
[[application]]
pattern = "shift:24"
name = "halves"
weight = 1
wire_share = 0.5
"""
SWEEP = """
scenario = "{examples}/scenarios/shuffle.toml"
keep = ["completion_ms", "message_latency_us.p99"]
by = ["routing"]
[over]
"job.shuffle.program.pattern" = "bisection-shuffle:seed={{1..5}}"
routes = ["ftree", "optimized"]
"""
KINDS = (
    "fabric",
    "health",
    "routes",
    "run",
    "samples",
    "diagnosis",
    "noise",
    "plan",
    "sweep",
    "loop",
    "watch",
)


def every_kind(command: Netloom, paths: Paths) -> Path:
    """Writes a page of every kind, named by it, and what they are made of; returns where."""
    folder, scenarios = command.folder, paths.examples / "scenarios"

    def saved(name: str, *words: object, code: int = 0) -> str:
        (folder / f"{name}.json").write_text(command.ok(*words, "--format", "json", code=code))
        return f"{name}.json"

    def page(name: str, *what: object) -> None:
        command.ok("report", *what, "-o", f"{name}.html", "-q")

    command.ok("fabric", "damage", paths.ft2, "--link", "leaf03[7]", "-o", "cut.txt", "-q")
    text = (folder / "cut.txt").read_text()
    # A cable at a fraction of its speed, as both of its ends tell it: leaf02[5].
    text = re.sub(r'(\nSwitch\t[^\n]*"leaf02"[^#]*?\n\[5\][^\n]*)EDR', r"\1QDR", text)
    (folder / "today.txt").write_text(re.sub(r'(080"\[5\][^\n]*)EDR', r"\1QDR", text))
    page("fabric", "today.txt")
    page("health", saved("health", "health", "today.txt", "--expect", paths.ft2, code=1))
    page("routes", paths.ft3, "bisection-shuffle:seed=1", "minhop", "optimize")
    command.ok("simulate", scenarios / "shuffle.toml", "-o", "run", "-q")
    page("run", "run")
    command.ok("sample", "run", scenarios / "shuffle.toml", "-o", "sampled", "-q")
    page("samples", "sampled")
    page("diagnosis", saved("diagnosis", "diagnose", "sampled", "--try", code=1))
    page("noise", saved("noise", "noise", paths.examples / "noise" / "three.toml", "--job", "victim"))
    shutil.copy(paths.examples / "plan" / "slimfly-2014.toml", folder)
    (folder / "plan.toml").write_text(PLAN)
    page("plan", saved("plan", "plan", "plan.toml"))
    (folder / "sweep.toml").write_text(SWEEP.format(examples=paths.examples))
    saved("sweep", "sweep", "run", "sweep.toml", "-o", "swept")
    page("sweep", "sweep.json")
    saved("loop", "loop", "run", paths.examples / "loop" / "small.toml", "-o", "kept")
    page("loop", "kept")
    jobs = paths.examples / "jobs" / "boxlib.toml"
    words = ("counters", "synth", paths.ft2, "ftree", jobs, "--scale", "1e4", "--seconds", "10")
    command.ok(*words, "-o", "c.csv", "-q")
    page("watch", saved("watch", "watch", paths.ft2, "--counters-from", "c.csv", "--jobs", jobs, "--once"))
    return folder
