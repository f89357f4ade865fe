"""What the tests share: the real command, run as a user runs it; fixtures; schemas.

`netloom(…)` runs the installed command in a temporary folder; in a fork of a process that has imported it,
where that shows the same (`fork_server`). `netloom.json(…)` validates what it prints against the schema of
the verb, every time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import fork_server
import planar_bed

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data" / "opensm"
EXAMPLES = ROOT / "examples"
SCHEMAS = ROOT / "docs" / "schemas"
TIMEOUT_S = 120
"""Of one command, in seconds of a machine that may be busy."""
SMALL = "two-level:leaves=8,hosts=4,spines=4"

# Started in the background (`make test &`, some CI systems), Ctrl-C is ignored by all children: not here.
signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Paths:
    """Where the fixtures are."""

    root: Path = ROOT
    opensm: Path = DATA
    examples: Path = EXAMPLES
    schemas: Path = SCHEMAS
    ft2: Path = DATA / "ft2_32" / "ibnetdiscover.txt"
    ibdiagnet: Path = DATA.parent / "ibdiagnet"
    ft3: Path = DATA / "ft3_32" / "ibnetdiscover.txt"
    quartz1: Path = DATA / "quartz1" / "ibnetdiscover.txt.gz"
    small: str = SMALL


@pytest.fixture(scope="session")
def paths() -> Paths:
    return Paths()


@pytest.fixture(scope="session", autouse=True)
def planar(tmp_path_factory) -> None:
    """With `NETLOOM_PLANAR` all live tests see ibsim as a planarized fabric (`make hostile`)."""
    if os.environ.get("NETLOOM_PLANAR"):
        folder = tmp_path_factory.mktemp("planar")
        planar_bed.preload(os.environ, planar_bed.build(folder), folder / "lost")


@dataclass(frozen=True)
class Done:
    """A command that has run."""

    code: int
    out: str
    err: str


class Netloom:
    """Runs `netloom` in a folder."""

    def __init__(
        self, folder: Path, validate: Callable[[dict[str, Any]], None], server: fork_server.Server
    ) -> None:
        self.folder = folder
        self.command = [str(executable())]
        self._validate = validate
        self._server = server

    def __call__(
        self,
        *arguments: object,
        stdin: bytes | None = None,
        env: dict[str, str] | None = None,
        **options: Any,
    ) -> Done:
        words = [str(argument) for argument in arguments]
        environment = {**os.environ, "COLUMNS": "100", **(env or {})}
        if fork_server.suits(environment, options):
            code, out, err = self._server.run(words, self.folder, environment, stdin, TIMEOUT_S)
            return Done(code, out.decode(), err.decode())
        done = subprocess.run(
            [*self.command, *words],
            cwd=self.folder,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            timeout=TIMEOUT_S,
            env=environment,
            check=False,
            **options,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def path(self) -> str:
        """The PATH of a shell that runs `netloom`: in forks, where that shows the same."""
        first = [] if os.environ.get("NETLOOM_TEST_EXEC") else [str(self._server.script())]
        return os.pathsep.join([*first, str(Path(self.command[0]).parent), os.environ["PATH"]])

    def ok(self, *arguments: object, code: int = 0, **options: Any) -> str:
        """Standard output of a run that must end with `code`."""
        done = self(*arguments, **options)
        assert done.code == code, f"exit {done.code}\n{done.out}\n{done.err}"
        return done.out

    def on_terminal(self, *arguments: object, columns: int = 80, env: dict[str, str] | None = None) -> Done:
        """A run whose standard output is a terminal; `out` is without colours and carriage returns."""
        words = [str(argument) for argument in arguments]
        environment = {**os.environ, "COLUMNS": str(columns), **(env or {})}
        code, out, err = self._server.run(words, self.folder, environment, None, TIMEOUT_S, terminal=True)
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.decode()).replace("\r\n", "\n")
        return Done(code, text, err.decode())

    def json(self, *arguments: object, code: int = 0, **options: Any) -> dict[str, Any]:
        """The validated JSON object of a run that must end with `code`."""
        document: dict[str, Any] = json.loads(self.ok(*arguments, "--format", "json", code=code, **options))
        self._validate(document)
        return document

    def result(self, *arguments: object, code: int = 0, **options: Any) -> dict[str, Any]:
        """The `result` of such an object."""
        result: dict[str, Any] = self.json(*arguments, code=code, **options)["result"]
        return result

    def refused(self, *arguments: object, code: int = 3, **options: Any) -> str:
        """The one line on standard error of a run that must fail with `code`, and leave no new file."""
        before = files(self.folder)
        done = self(*arguments, **options)
        assert done.code == code, f"exit {done.code}\n{done.out}\n{done.err}"
        assert done.out == ""
        assert files(self.folder) == before, "something was left behind"
        lines = done.err.splitlines()
        assert len(lines) == 1, done.err
        kind = {2: "usage", 3: "error", 4: "internal error"}[code]
        assert lines[0].startswith(f"netloom: {kind}: ")
        return lines[0].removeprefix(f"netloom: {kind}: ")


def executable() -> Path:
    """The command that is installed beside this Python."""
    path = Path(sys.executable).with_name("netloom")
    if not path.exists():
        found = shutil.which("netloom")
        assert found, "netloom is not installed: make build"
        path = Path(found)
    return path


def files(folder: Path) -> dict[str, bytes]:
    """Names and contents of all files in a folder, hidden ones too."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="session")
def validate() -> Callable[[dict[str, Any]], None]:
    """Validates a result against the schema that it names."""
    schemas = {path.name: json.loads(path.read_text()) for path in sorted(SCHEMAS.glob("*.json"))}
    registry: Registry[Any] = Registry().with_resources(
        [(name, Resource.from_contents(schema)) for name, schema in schemas.items()]
    )

    def check(document: dict[str, Any]) -> None:
        verb = document["schema"].removeprefix("netloom.").split("/")[0]
        Draft202012Validator(schemas[f"{verb}.json"], registry=registry).validate(document)

    return check


@pytest.fixture(scope="session")
def forks() -> Iterator[fork_server.Server]:
    """The process that runs this worker's commands."""
    server = fork_server.Server()
    yield server
    server.close()


@pytest.fixture
def netloom(tmp_path: Path, validate: Callable[[dict[str, Any]], None], forks: fork_server.Server) -> Netloom:
    folder = tmp_path / "here"
    folder.mkdir()
    return Netloom(folder, validate, forks)


@pytest.fixture
def write(netloom):
    """Writes a file into the folder of the command."""

    def save(name: str, text: str) -> str:
        (netloom.folder / name).write_text(text)
        return name

    return save
