"""Folders that others write to: no verb changes or removes a file outside the folder that was named.

Each case takes a folder that a verb has made, lets a hostile user at it (links, hard links, pipes, altered
manifests, journals and locks), and calls the verb again. Beside it lies a home with the same names, to which
all links lead. `NETLOOM_TRIALS` asks for more cases than usual; a seed is a case.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import netloom as nl
from netloom import NetloomError
from netloom import apply as applying
from netloom.cli import main
from netloom.runs import folder as runs

ROOT = Path(__file__).resolve().parent.parent
LOOP = str(ROOT / "examples" / "loop" / "small.toml")
TREE = "two-level:leaves=4,hosts=2,spines=2"
SCENARIO = """\
fabric = "two-level:leaves=2,hosts=1,spines=1"
routes = ["ftree", "updn"]
[[job]]
name = "pair"
program = { kind = "stream", pattern = "bisection", bytes = 4096 }
"""
JOBS = '[[job]]\nname = "ring"\npattern = "shift:1"\nallocation = "contiguous:8"\n'
SCHEME = ("--vl-scheme", "4sl4vl:sources:seed=2")


def journaled(folder: Path) -> None:
    """A change, as `apply` writes it down."""
    journal = applying.Journal(folder)
    with journal.locked():
        number = journal.begin(b"old tables", [b"new tables"], {"changed_entries": 1})
        journal.add(number, "stage", stage=1)
        journal.put(number, "undo", b"old tables, mended")
        journal.add(number, "applied")
        journal.close_before(number)
    journal.tables(number)
    journal.clear()


def command(*words: str) -> Callable[[Path], None]:
    """A call of the command; `DIR` stands for the folder."""

    def call(folder: Path) -> None:
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            code = main([word.replace("DIR", str(folder)) for word in words])
        assert code in (0, 1, 3), f"exit {code}: {said.getvalue()}"
        assert "standard output" not in said.getvalue(), "an error that names no file"
        told = [line for line in said.getvalue().splitlines() if line.startswith("netloom: error: ")]
        assert code != 3 or len(told) == 1, said.getvalue()

    return call


def asked(call: Callable[[Path], None]) -> Callable[[Path], None]:
    """A call of the library: it may refuse, in words."""

    def tried(folder: Path) -> None:
        with contextlib.suppress(OSError, NetloomError):
            call(folder)

    return tried


VERBS: dict[str, Callable[[Path], None]] = {
    "simulate -o": command("simulate", "s.toml", "-o", "DIR", "--quiet"),
    "simulate --checkpoint": command("simulate", "s.toml", "--checkpoint", "DIR", "--quiet"),
    "simulate --time-limit": command(
        "simulate", "s.toml", "--time-limit", "0", "--checkpoint", "DIR", "--quiet"
    ),
    "sample run": command("sample", "run", "s.toml", "-o", "DIR", "--quiet"),
    "loop run": command("loop", "run", LOOP, "--rounds", "1", "-o", "DIR", "--quiet"),
    "infer --remember": command(
        "infer", TREE, "ftree", "c.csv", "--jobs", "jobs.toml", "--remember", "DIR", "--quiet"
    ),
    "lanes write --qos": command("lanes", "write", TREE, "ftree", *SCHEME, "--qos", "DIR", "--quiet"),
    "apply": asked(journaled),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """What each verb leaves, made once, in folders by number; and the inputs."""
    place = tmp_path_factory.mktemp("made")
    before = Path.cwd()
    os.chdir(place)
    try:
        (place / "s.toml").write_text(SCENARIO)
        (place / "jobs.toml").write_text(JOBS)
        fabric = nl.Fabric.generate(TREE)
        command("counters", "synth", TREE, "ftree", "shift:1", *("--seconds", "10"), "-o", "c.csv")(place)
        assert fabric.hosts == 8
        for number, verb in enumerate(VERBS):
            VERBS[verb](place / f"made-{number}")
        journal = applying.Journal(place / f"made-{list(VERBS).index('apply')}")
        with journal.locked():
            journal.begin(b"old tables", [b"new tables"], {"changed_entries": 1})
    finally:
        os.chdir(before)
    return place


# What the hostile do


def names_in(folder: Path) -> list[Path]:
    """All files and folders in a folder, by their place in it; nothing behind links."""
    found = []
    for place, folders, files in os.walk(folder):
        found += [Path(place, name).relative_to(folder) for name in (*folders, *files)]
    return sorted(found)


def cleared(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


EXPECTED = (
    "in-use",
    "lock",
    "elsewhere",
    "manifest.json",
    "summary.html",
    "journal.jsonl",
    "journal.parquet",
    "round-0001",
    "round-0001/routes.lfts.gz",
    "1",
    "2",
    "2/old.lfts.gz",
    "0-ftree",
    "1-updn/links.parquet",
    "ring.json",
    "opensm.conf",
    "x-00000000",
    "x-00000000/run.json",
    ".netloom-1-0.tmp",
)
"""Names that verbs will use, or have used."""


def altered(source: random.Random, folder: Path, home: Path) -> str:
    """One hostile act; says which."""
    there = names_in(folder)
    what = source.choice(["link", "link", "hard link", "foretold", "pipe", "bytes", "document", "document"])
    if what == "foretold" or not there:
        name = Path(source.choice(EXPECTED))
        (folder / name).parent.mkdir(parents=True, exist_ok=True) if not os.path.lexists(
            (folder / name).parent
        ) else None
    else:
        name = source.choice(there)
    path, target = folder / name, home / source.choice([name, name, *names_in(home)])
    if not os.path.lexists(path.parent) or path.parent.is_symlink() or not path.parent.is_dir():
        return f"nothing: {name} has no folder"
    if what in ("link", "foretold"):
        cleared(path)
        if source.random() < 0.3 and target.is_file():
            os.link(target, path)
            return f"{name} is a hard link to {target.relative_to(home)}"
        path.symlink_to(source.choice([target, os.path.relpath(target, path.parent), home, home / "gone"]))
        return f"{name} leads to {os.readlink(path)}"
    if what == "hard link" and target.is_file():
        cleared(path)
        os.link(target, path)
        return f"{name} is a hard link to {target.relative_to(home)}"
    if what == "pipe":
        cleared(path)
        os.mkfifo(path)
        return f"{name} is a pipe"
    if not path.is_file() or path.is_symlink() or path.stat().st_nlink > 1:
        return f"nothing: {name} is no file of its own"
    if what == "document" and path.suffix in (".json", ".jsonl"):
        rewritten(source, path)
        return f"{name} says something else"
    data = bytearray(path.read_bytes())
    if source.random() < 0.3:
        data = data[: source.randrange(len(data) + 1)]
    for _ in range(source.randint(1, 4) if data else 0):
        data[source.randrange(len(data))] = source.randrange(256)
    path.write_bytes(data)
    return f"{name} has other bytes"


VALUES: list[object] = [
    None,
    True,
    -1,
    2**70,
    1e308,
    "",
    "../home/thesis.txt",
    "/etc",
    ".",
    [],
    {},
    [[]],
    {"a": []},
]
LINES = [
    b'{"id":90,"event":"begin"}',
    b'{"id":true,"event":"applied"}',
    b'{"id":1,"event":["begin"]}',
    b"[" * 100_000,
    b'{"id":1,"event":"undo","why":"\xff\xfe"}',
    b'{"id":1,"event":"undo","why":"\\ud800"}',
    b'{"id":99999999999999999999,"event":"begin","time":"","changed_entries":0,"stages":1}',
    b'{"id":2147483647,"event":"begin","time":"","changed_entries":0,"stages":1}',
    b'{"id":3,"event":"begin","time":1,"changed_entries":"x","stages":{}}',
]


def rewritten(source: random.Random, path: Path) -> None:
    """A document that is what it should be, but for a few values; with the right sum over it."""
    if path.suffix == ".jsonl":
        lines = path.read_bytes().splitlines()
        lines.insert(source.randint(0, len(lines)), source.choice(LINES))
        path.write_bytes(b"\n".join(lines) + b"\n")
        return
    try:
        document = json.loads(path.read_bytes())
    except ValueError:
        return
    places: list[tuple[object, object]] = []

    def walk(node: object) -> None:
        items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in list(items):
            places.append((node, key))
            walk(value)

    walk(document)
    for node, key in source.sample(places, min(len(places), source.randint(1, 3))):
        with contextlib.suppress(KeyError, IndexError):
            if source.random() < 0.3:
                del node[key]  # type: ignore[attr-defined]
            else:
                node[key] = source.choice(VALUES)  # type: ignore[index]
    path.write_bytes(runs.sealed(document) if isinstance(document, dict) else json.dumps(document).encode())


# Cases


def state_of(folder: Path) -> dict[str, object]:
    """All that a home has: names, contents, modes."""
    found: dict[str, object] = {}
    for name in names_in(folder):
        about = (folder / name).lstat()
        content = (folder / name).read_bytes() if (folder / name).is_file() else None
        found[str(name)] = (about.st_mode, about.st_uid, content)
    return found


def case(seed: int, made: Path, place: Path) -> list[str]:
    """One case in a folder of its own; what was done to the folder."""
    source = random.Random(seed)
    number = seed % len(VERBS)
    verb = list(VERBS)[number]
    for name in ("s.toml", "jobs.toml", "c.csv"):
        shutil.copy(made / name, place / name)
    folder, home = place / "shared", place / "home"
    if (made / f"made-{number}").is_dir():
        shutil.copytree(made / f"made-{number}", folder)
    else:
        folder.mkdir()
    shutil.copytree(folder, home)
    (home / "thesis.txt").write_text("years of work\n")
    (home / "in-use").write_text("process 1 on x since then\n")
    (home / "lock").write_text("")
    # What is not the folder's own, but looks as if it were.
    for name in ("x-00000000", "0-ftree", "round-0001"):
        (home / name).mkdir(exist_ok=True)
        (home / name / "run.json").write_text("{}\n")
        (home / name / "routes.lfts.gz").write_bytes(b"mine")
        (home / name / "state").write_bytes(b"mine")
    before = state_of(home)
    done = [altered(source, folder, home) for _ in range(source.randint(1, 4))]
    told = f"seed {seed}, {verb}: {'; '.join(done)}"
    try:
        VERBS[verb](folder)
    except BaseException as error:
        raise AssertionError(f"{told}: {type(error).__name__}: {error}") from error
    after = state_of(home)
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    assert not changed, f"{told}: changed outside of the folder: {changed}"
    return done


@pytest.mark.parametrize("verb", range(len(VERBS)))
def test_hostile_folders_lead_nowhere(made, tmp_path, monkeypatch, verb):
    """A few seeds of each verb; with NETLOOM_TRIALS, so many in all."""
    trials = int(os.environ.get("NETLOOM_TRIALS", "24"))
    done = 0
    for seed in range(verb, trials, len(VERBS)):
        place = tmp_path / str(seed)
        place.mkdir()
        monkeypatch.chdir(place)
        done += len(case(seed, made, place))
        shutil.rmtree(place)
    print(f"seeds {verb}, {verb + len(VERBS)}, … below {trials}: {done} acts")
    assert done or verb >= trials
