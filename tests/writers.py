"""Who may change a file system in the Python package: by the syntax tree, not by text.

`findings(text, name)` names every call, and every mention without a call, of what opens for writing, renames,
links, removes, makes, or changes modes: functions of `os`, `shutil`, `tempfile`, `io` and the like under
whatever name they were imported, methods of paths, and `open` with a mode that is not one of reading. Outside
of `netloom.files` there are few, each with its reason.
"""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "python" / "netloom"
OURS = "files/"
"""The one package for it."""
EXCEPTIONS = {
    ("dataplane/bed.py", "open"): "settings of network namespaces of its own (/proc/sys/net)",
    ("cli/shared/streams.py", "os.open"): "/dev/null in the place of closed streams",
    ("cli/shared/streams.py", "open"): "/dev/null, and descriptor 1, in the place of closed streams",
    ("live/manager.py", "os.open"): "the console of OpenSM, a descriptor of its process",
    ("reading/plain.py", "os.open"): "for reading, without waiting",
    ("interop.py", "zipfile.ZipFile"): "writes to memory",
    ("recording/ti.py", "gzip.GzipFile"): "writes to memory",
}

MODULES = {"tempfile", "shelve", "dbm", "mmap", "fileinput"}
"""Modules that nobody imports."""
FUNCTIONS = {
    *(f"shutil.{name}" for name in ("copyfile", "copyfileobj", "copy", "copy2", "copytree", "copymode")),
    *(f"shutil.{name}" for name in ("copystat", "rmtree", "move", "chown", "make_archive", "unpack_archive")),
    *(f"os.{name}" for name in ("open", "mkdir", "makedirs", "mkfifo", "mknod", "link", "symlink", "rename")),
    *(f"os.{name}" for name in ("renames", "replace", "remove", "unlink", "rmdir", "removedirs", "truncate")),
    *(f"os.{name}" for name in ("chmod", "lchmod", "chown", "lchown")),
    *(f"os.{name}" for name in ("utime", "setxattr", "removexattr", "sendfile", "copy_file_range")),
    *("numpy.save", "numpy.savez", "numpy.savez_compressed", "numpy.savetxt", "numpy.memmap"),
    *("logging.FileHandler", "logging.basicConfig", "sqlite3.connect", "socket.AF_UNIX"),
}
OPENERS = {
    "open",
    "io.open",
    "codecs.open",
    "os.fdopen",
    "gzip.open",
    "bz2.open",
    "lzma.open",
    "tarfile.open",
}
OPENERS |= {"gzip.GzipFile", "bz2.BZ2File", "lzma.LZMAFile", "zipfile.ZipFile", "io.FileIO"}
"""What takes a mode as its second argument."""
METHODS = {"write_text", "write_bytes", "unlink", "rmdir", "rename", "touch", "mkdir", "makedirs", "rmtree"}
METHODS |= {"symlink_to", "hardlink_to", "chmod", "lchmod", "tofile", "mkfifo"}
"""Of paths, whatever they are called. `replace` with one argument is a path's, with two a string's."""
READING = {"r", "rb", "rt"}


def findings(text: str, name: str) -> list[tuple[int, str]]:
    """`(line, what)` of what changes a file system in a module."""
    tree = ast.parse(text, name)
    seen = _Names(tree)
    found = [(line, module) for line, module in seen.modules if module in MODULES]
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            what = _what(node, seen.of(node), called.get(id(node)))
            if what is not None:
                found.append((node.lineno, what))
    for call in called.values():
        if _dotted(call.func, seen) in ("getattr", "importlib.import_module", "__import__"):
            words = {arg.value for arg in call.args if isinstance(arg, ast.Constant)}
            found += [(call.lineno, str(word)) for word in words if word in MODULES | METHODS | {"shutil"}]
    return sorted(found)


def _what(node: ast.Name | ast.Attribute, dotted: str | None, call: ast.Call | None) -> str | None:
    if dotted in FUNCTIONS:
        return dotted
    if dotted in OPENERS:
        return None if call is not None and _reads(call) else dotted
    if not isinstance(node, ast.Attribute) or dotted is not None:
        return None
    if node.attr in METHODS:
        return f".{node.attr}"
    keywords = {word.arg for word in call.keywords} if call is not None else set()
    if node.attr == "replace" and call is not None and (len(call.args) == 1 or "target" in keywords):
        return ".replace"
    if node.attr == "open" and call is not None and not _reads(call, at=0):
        modes = [arg for arg in call.args[:1] if isinstance(arg, ast.Constant) and _is_mode(arg.value)]
        return ".open" if modes or "mode" in keywords else None
    return None


def _is_mode(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) < 5 and set(value) <= set("rwaxbt+")


def _reads(call: ast.Call, at: int = 1) -> bool:
    """Whether a call of something like `open` says that it reads."""
    given = [word.value for word in call.keywords if word.arg == "mode"] + call.args[at : at + 1]
    if any(word.arg is None for word in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
        return False
    return all(isinstance(mode, ast.Constant) and mode.value in READING for mode in given)


class _Names:
    """What names of a module stand for: imports under whatever name."""

    def __init__(self, tree: ast.Module) -> None:
        self.modules: list[tuple[int, str]] = []
        self._meant: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    self.modules.append((node.lineno, one.name.split(".")[0]))
                    self._meant[one.asname or one.name.split(".")[0]] = (
                        one.name if one.asname else one.name.split(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self.modules.append((node.lineno, node.module.split(".")[0]))
                for one in node.names:
                    self._meant[one.asname or one.name] = f"{node.module}.{one.name}"

    def of(self, node: ast.expr) -> str | None:
        """`os.path.join` for what stands for it; None for what is no import's."""
        if isinstance(node, ast.Name):
            return self._meant.get(node.id, "open" if node.id == "open" else None)
        if isinstance(node, ast.Attribute):
            owner = self.of(node.value)
            return None if owner is None else f"{owner}.{node.attr}".replace("posix.", "os.", 1)
        return None


def _dotted(node: ast.expr, seen: _Names) -> str | None:
    return seen.of(node) or (node.id if isinstance(node, ast.Name) else None)


def of_package() -> tuple[list[str], list[str]]:
    """What is wrong in the package, and exceptions that nobody needs."""
    wrong, used = [], set()
    for path in sorted(PACKAGE.rglob("*.py")):
        name = str(path.relative_to(PACKAGE))
        if name.startswith(OURS):
            continue
        for line, what in findings(path.read_text(), name):
            used.add((name, what))
            if (name, what) not in EXCEPTIONS:
                wrong.append(f"python/netloom/{name}:{line}: {what}: expected netloom.files")
    idle = [f"{name}: {what}" for name, what in EXCEPTIONS.keys() - used]
    return wrong, sorted(idle)
