"""Stages the pages of the documentation for Sphinx: `python docs/site/stage.py FOLDER`; `make site` calls it.

The pages under docs/ are written for whoever reads them in the repository. Here links that leave docs/ become
pages or downloads, every verb's page gets its help, every schema a page, and three pages are made: the start
page's lists, the gallery, and the API reference of all that `netloom` and its public packages export.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import json
import os
import pkgutil
import re
import shutil
import sys
from pathlib import Path

import netloom
from netloom.cli import main
from netloom.cli.parser.verbs import GROUPS, VERBS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
PICTURE = re.compile(r"!\[([^\]]*)\]\(\.\./(images/[^)]+)\)")
SHOWN = ("CONTRIBUTING.md", "SECURITY.md", "contrib/README.md")
"""Pages from elsewhere that are pages of the site; what else lies outside of docs/ is downloaded."""
ASIDE = "---\norphan: true\n---\n"
"""Begins a page that its index lists, and the contents at the side do not: they are on every page."""
PUBLIC = ("exact", "examples", "gpu", "hierarchy", "levels", "tables")
"""Packages for users; the others are what `netloom` is made of, and may change with any version."""
SHOWN_HERE = {
    "Certificate": """>>> best = netloom.optimize("two-level:leaves=8,hosts=4,spines=4", "bisection")
>>> best.certificate
<netloom.Certificate: at least 1, dual, host0000 up>""",
    "Hose": """>>> netloom.Hose.of(netloom.Traffic.pattern("bisection", 32))
<netloom.Hose: 32 hosts, 32 bytes>""",
    "Outcome": """>>> best = netloom.optimize("two-level:leaves=8,hosts=4,spines=4", "bisection")
>>> isinstance(best, netloom.Outcome), best.stopped
(True, None)""",
}
"""Examples of classes of which neither they nor what returns them has one."""
COMMANDS_ONLY = ("cli", "native", "data")


def stage(folder: Path) -> None:
    """Writes all pages into a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("site", "*.json", "README.md"))
    for page in sorted(folder.rglob("*.md")):
        name = page.relative_to(folder)
        page.write_text(linked((DOCS / name).read_text(), DOCS / name, folder))
    for name in SHOWN:
        page = folder / "files" / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(linked((ROOT / name).read_text(), ROOT / name, folder, page.parent))
    verbs(folder)
    schemas(folder)
    gallery(folder)
    api(folder)
    names = sorted(page.stem for page in (folder / "methods").glob("*.md"))
    (folder / "methods" / "index.md").write_text(f"# Methods\n\n{toctree(names)}")
    for page in (folder / "decisions").glob("*.md"):
        page.write_text(ASIDE + page.read_text())
    listed(folder / "decisions", "Decisions")
    start = DOCS / "site" / "start.md"
    (folder / "index.md").write_text(linked(start.read_text(), start, folder, folder))


def linked(text: str, source: Path, folder: Path, place: Path | None = None) -> str:
    """A page's text with links that work in the site; `place`: its folder there, if it is from elsewhere."""
    here = place or folder / source.parent.relative_to(DOCS)

    def link(found: re.Match[str]) -> str:
        image, words, target, anchor = found[1], found[2], found[3], found[4] or ""
        if re.match(r"[a-z]+:", target):
            return found[0]
        path = (source.parent / target).resolve()
        if path.suffix == ".json" and path.parent == DOCS / "schemas":
            there = folder / "schemas" / f"{path.stem}.md"
        elif path.is_relative_to(DOCS) and path.name != "README.md" and path.suffix != ".json":
            there = folder / path.relative_to(DOCS)
        elif path.is_relative_to(ROOT) and str(path.relative_to(ROOT)) in SHOWN:
            there = folder / "files" / path.relative_to(ROOT)
        elif path.is_file():
            there = folder / "files" / path.relative_to(ROOT)
            if there.suffix == ".md":
                there = there.with_suffix(".txt")
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, there)
            anchor = ""
        else:
            return f"{words} (`{path.relative_to(ROOT)}` of the source)"
        return f"{image}[{words}]({os.path.relpath(there, here)}{anchor})"

    return LINK.sub(link, text)


def listed(folder: Path, title: str) -> None:
    """A page that lists those of a folder by their titles."""
    pages = sorted(page for page in folder.glob("*.md") if page.stem != "index")
    lines = [f"- [{heading(page)}]({page.name})" for page in pages]
    (folder / "index.md").write_text(f"# {title}\n\n" + "\n".join(lines) + "\n")


def heading(page: Path) -> str:
    """A page's title."""
    return page.read_text().removeprefix(ASIDE).partition("\n")[0].removeprefix("# ")


def toctree(names: list[str], caption: str = "") -> str:
    """A list of pages that is in the site's contents."""
    head = f":caption: {caption}\n" if caption else ""
    return "```{toctree}\n:maxdepth: 1\n" + head + "\n" + "\n".join(names) + "\n```\n"


def verbs(folder: Path) -> None:
    """The pages of verbs by what they are for, each with its help."""
    parts = ["# Commands\n"]
    for group, names in GROUPS.items():
        parts.append(toctree(list(names), group))
        for verb in names:
            page = folder / "verbs" / f"{verb}.md"
            entry = VERBS[verb]
            commands = [verb] if isinstance(entry, str) else [f"{verb} {name}" for name in entry[1]]
            helps = "\n".join(f"### netloom {name}\n\n```text\n{helped(name)}\n```\n" for name in commands)
            page.write_text(f"{page.read_text()}\n## Help\n\n{helps}")
    (folder / "verbs" / "index.md").write_text("\n".join(parts))


def helped(command: str) -> str:
    """What `netloom help` prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main(["help", *command.split()])
    return "\n".join(line.rstrip() for line in out.getvalue().strip().splitlines())


def schemas(folder: Path) -> None:
    """A page a schema: its keys with what they are, and the schema itself."""
    (folder / "schemas").mkdir(exist_ok=True)
    for file in sorted((DOCS / "schemas").glob("*.json")):
        schema = json.loads(file.read_text())
        rows = [f"| `{key}` | {kind} | {told} |" for key, kind, told in keys(schema)]
        table = "\n".join(["| key | type | |", "|---|---|---|", *rows]) if rows else ""
        title = schema.get("title", file.stem).replace("`", "")
        copied = folder / "files" / "docs" / "schemas" / file.name
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copied)
        link = f"[The schema](../files/docs/schemas/{file.name}), as JSON.\n"
        (folder / "schemas" / f"{file.stem}.md").write_text(f"{ASIDE}# {title}\n\n{table}\n\n{link}")
    listed(folder / "schemas", "Results as JSON")


def keys(schema: dict, at: str = "") -> list[tuple[str, str, str]]:
    """Keys of a schema that have a description, with the way to them."""
    found = []
    for key, of in schema.get("properties", {}).items():
        if not isinstance(of, dict):
            continue
        here = f"{at}{key}"
        kind = of.get("type", "")
        kind = " or ".join(kind) if isinstance(kind, list) else kind
        if "description" in of:
            found.append((here, kind, of["description"].replace("|", "\\|").replace("\n", " ")))
        found += keys(of, f"{here}.")
        if isinstance(of.get("items"), dict):
            found += keys(of["items"], f"{here}[].")
    return found


def gallery(folder: Path) -> None:
    """Every picture of the verbs' pages with the command that makes it."""
    parts = ["# Pictures\n"]
    seen = set()
    for page in ("plot", "plan", "report"):
        text = (DOCS / "verbs" / f"{page}.md").read_text()
        for image in PICTURE.finditer(text):
            if image[2] in seen:
                continue
            seen.add(image[2])
            parts.append(
                f"## {image[1].split(':')[0]}\n\n![{image[1]}]({image[2]})\n\n"
                f"```console\n$ {made_by(text, image)}\n```\n\nFrom [netloom {page}](verbs/{page}.md).\n"
            )
    (folder / "gallery.md").write_text("\n".join(parts))


def made_by(text: str, image: re.Match[str]) -> str:
    """The command of a picture: in the cell below it where it is in a table, else the last one above it."""
    start = text.rindex("\n", 0, image.start()) + 1
    if text[start] == "|":
        row, below = text[start:].split("\n")[:2]
        column = row[: image.start() - start].count("|")
        return re.findall(r"`(netloom [^`]*)`", below.split("|")[column])[-1]
    blocks = re.findall(r"```console\n(.*?)```", text[:start], re.DOTALL)
    return re.findall(r"^\$ (netloom (?:plot|plan|report) .*)$", blocks[-1], re.MULTILINE)[-1]


def api(folder: Path) -> None:
    """A page a name that `netloom` exports, and one a public package below it."""
    made = folder / "api"
    made.mkdir()
    kinds: dict[str, list[str]] = {"Functions": [], "Classes": [], "Errors": []}
    for name in sorted(netloom.__all__, key=str.lower):
        thing = getattr(netloom, name)
        if inspect.isclass(thing):
            kind = "Errors" if issubclass(thing, Exception) else "Classes"
            lines = f".. autoclass:: netloom.{name}\n   :members:\n"
            if name in SHOWN_HERE:
                lines += f"\n.. rubric:: Example\n\n{SHOWN_HERE[name]}\n"
            elif kind == "Classes" and (source := returned_by(name)):
                lines += f"\n.. rubric:: As ``netloom.{source}`` returns it\n\n{example(source)}\n"
        elif inspect.isroutine(thing):
            kind, lines = "Functions", f".. autofunction:: netloom.{name}\n"
        else:
            continue
        kinds[kind].append(name)
        (made / f"{name}.md").write_text(f"{ASIDE}# netloom.{name}\n\n```{{eval-rst}}\n{lines}```\n")
    packages: dict[bool, list[str]] = {True: [], False: []}
    for module in pkgutil.iter_modules(netloom.__path__):
        if module.name.startswith("_") or module.name in COMMANDS_ONLY:
            continue
        full = f"netloom.{module.name}"
        exported = getattr(importlib.import_module(full), "__all__", None)
        packages[module.name in PUBLIC].append(full)
        members = "   :members:\n" if exported or module.name in PUBLIC else ""
        told = inspect.getdoc(sys.modules[full]) or ""
        text = f"# {full}\n\n{told}\n\n```{{eval-rst}}\n.. automodule:: {full}\n   :no-index:\n{members}```\n"
        (made / f"{full}.md").write_text(ASIDE + text)
    parts = ["# Python\n", "[From Python](../python.md) tells what is used how; here is every name.\n"]
    kinds |= {"Packages": packages[True], "Inside": packages[False]}
    for kind, names in kinds.items():
        parts += [f"## {kind}\n", *(f"- [{page(name)}]({name}.md): {first(name)}" for name in names), ""]
    (made / "index.md").write_text("\n".join(parts))


def returned_by(name: str) -> str | None:
    """The function or method whose example shows a class that has none itself: one that returns it."""
    thing = getattr(netloom, name)
    if any(">>>" in (inspect.getdoc(one) or "") for one in (thing, *public(thing).values())):
        return None
    for word in netloom.__all__:
        other = getattr(netloom, word)
        calls = {word: other} if inspect.isroutine(other) else {}
        if inspect.isclass(other):
            calls = {f"{word}.{method}": call for method, call in public(other).items()}
        for at, call in calls.items():
            told = sections(call)
            if re.search(rf"\b{name}\b", told.get("Returns", "")) and ">>>" in told.get("Examples", ""):
                return at
    return None


def public(kind: type) -> dict[str, object]:
    """The public members of a class."""
    return {name: getattr(kind, name) for name in vars(kind) if not name.startswith("_")}


def sections(thing: object) -> dict[str, str]:
    """What stands under each heading of a docstring."""
    parts = re.split(r"(?m)^(\w+)\n-+$", inspect.getdoc(thing) or "")
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def example(at: str) -> str:
    """The example of a function or method."""
    thing: object = netloom
    for word in at.split("."):
        thing = getattr(thing, word)
    return sections(thing)["Examples"].strip()


def page(name: str) -> str:
    """The title of a name's page, and of a package's."""
    return name if name.startswith("netloom.") else f"netloom.{name}"


def first(name: str) -> str:
    """The first sentence of what is told of a name or a package."""
    thing = sys.modules[name] if name.startswith("netloom.") else getattr(netloom, name)
    told = (inspect.getdoc(thing) or "").partition("\n\n")[0]
    return " ".join(told.split())


if __name__ == "__main__":
    stage(Path(sys.argv[1]).resolve())
