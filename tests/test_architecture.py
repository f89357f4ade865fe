"""ARCHITECTURE.md is a map: every path on it exists, and every item that "Where is …" names."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAP = (ROOT / "ARCHITECTURE.md").read_text()
ROOMS = ("crates", "python", "python/netloom", "python/netloom/cli", "native/recorder")
"""Folders from which the map names what is within: `parser/` is the command line's."""


def named(text: str) -> set[str]:
    """What the text has between backticks and is a path: it has a slash, or the ending of a source file."""
    quoted = re.findall(r"`([^`\n]+)`", text)
    return {name for name in quoted if re.fullmatch(r"[\w.-]+(?:/[\w.-]*)+|[\w-]+\.(?:rs|py|md|txt)", name)}


def house(text: str) -> set[str]:
    """The folders of the drawing under "The house", each with those that it is drawn in."""
    drawn = re.search(r"^## The house\n\n(.*?)\n\n\S", text, re.MULTILINE | re.DOTALL)
    assert drawn, "expected a drawing under `## The house`"
    found, above = set(), {}
    for line in drawn[1].splitlines():
        indent, name = re.match(r"( +)([\w./-]+)/ ", f"{line} ").groups()
        depth = len(indent)
        above = {one: folder for one, folder in above.items() if one < depth}
        above[depth] = "/".join([*above.values(), name])
        found.add(above[depth])
    return found


def exists(name: str) -> bool:
    return any((ROOT / room / name).exists() for room in ("", *ROOMS))


def test_paths_on_the_map_exist():
    lost = sorted(name for name in named(MAP) if not exists(name) and name != "lib.rs")
    assert not lost, f"ARCHITECTURE.md names what is not there: {', '.join(lost)}"


def test_the_drawing_of_the_house_has_no_room_that_is_gone():
    rooms = house(MAP)
    assert {"crates/verify", "python/netloom/live", "docs"} <= rooms
    assert not sorted(room for room in rooms if not (ROOT / room).is_dir())


def test_every_crate_is_drawn():
    crates = {f"crates/{manifest.parent.name}" for manifest in ROOT.glob("crates/*/Cargo.toml")}
    assert crates <= house(MAP)


def test_a_path_that_is_gone_is_found():
    assert named("`crates/verify/src/gone.rs`, `Fabric`, `optimize --from`") == {"crates/verify/src/gone.rs"}
    assert not exists("crates/verify/src/gone.rs")


def test_where_names_whole_paths_and_items_that_are_in_them():
    rows = re.search(r"^## Where is …\n(.*?)^## ", MAP, re.MULTILINE | re.DOTALL)
    assert rows
    for name in named(rows[1]):
        assert (ROOT / name).exists(), name
    items = re.findall(r"`(\w+)` in `([^`]+)`", rows[1])
    assert len(items) >= 2
    for item, path in items:
        assert re.search(rf"\b(?:fn|def) {item}\b", (ROOT / path).read_text()), f"{path} has no {item}"
