"""Runs commands in a Python without some libraries: in forks of a process that cannot import them.

`python extras_bed.py FOLDER MODULE…` reads a JSON list of commands (lists of words) from standard input and
prints one of `{"code", "out", "err"}`. The commands run in FOLDER, one after another, as `netloom` does.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from importlib.machinery import ModuleSpec
from typing import Any, NoReturn


class Without:
    """A finder by which some libraries are not installed."""

    def __init__(self, modules: list[str]) -> None:
        self._modules = modules

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] in self._modules:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def main(folder: str, modules: list[str]) -> None:
    commands = json.load(sys.stdin)
    sys.meta_path.insert(0, Without(modules))
    os.chdir(folder)
    import netloom.cli  # noqa: F401
    import netloom_start

    for module in modules:
        assert module not in sys.modules, f"{module} is imported before any verb is named"
    print(json.dumps([_run(netloom_start, words) for words in commands]))


def _run(netloom_start: Any, words: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            _be(netloom_start, words, (out.fileno(), err.fileno()))
        _, status = os.waitpid(child, 0)
        told = []
        for stream in (out, err):
            stream.seek(0)
            told.append(stream.read().decode())
    return {"code": os.waitstatus_to_exitcode(status), "out": told[0], "err": told[1]}


def _be(netloom_start: Any, words: list[str], streams: tuple[int, int]) -> NoReturn:
    """Becomes the command."""
    code = 99
    try:
        for number, descriptor in enumerate((os.open(os.devnull, os.O_RDONLY), *streams)):
            os.dup2(descriptor, number)
        sys.argv = ["netloom", *words]
        code = netloom_start.main()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
