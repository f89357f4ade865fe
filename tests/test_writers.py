"""Only `netloom.files` changes a file system; the check sees through other names (`writers`)."""

from __future__ import annotations

import pytest

import writers


def test_nothing_but_the_one_package_writes_or_removes():
    wrong, idle = writers.of_package()
    assert wrong == []
    assert idle == [], "exceptions that nobody needs"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("import tempfile", "tempfile"),
        ("from tempfile import TemporaryDirectory as T", "tempfile"),
        ("def f():\n    import tempfile as t", "tempfile"),
        ("import shutil as s\ns.rmtree(a)", "shutil.rmtree"),
        ("from shutil import rmtree as gone\ngone(a)", "shutil.rmtree"),
        ("from shutil import rmtree\nstack.callback(rmtree, a)", "shutil.rmtree"),
        ("import os as o\no.replace(a, b)", "os.replace"),
        ("from os import open as look\nlook(a, 0)", "os.open"),
        ("import posix\nposix.unlink(a)", "os.unlink"),
        ("path.replace(target)", ".replace"),
        ("made.rename(target)", ".rename"),
        ("(folder / name).write_text(text)", ".write_text"),
        ("path.chmod(0o600)", ".chmod"),
        ("stack.callback(path.unlink)", ".unlink"),
        ("Path(name).open('w')", ".open"),
        ("path.open(mode='a')", ".open"),
        ("open(path, 'wb')", "open"),
        ("open(path, mode=how)", "open"),
        ("open(path, *how)", "open"),
        ("opened = open", "open"),
        ("import io\nio.open(path, 'x')", "io.open"),
        ("import gzip\ngzip.open(path, 'wt')", "gzip.open"),
        ("import numpy as np\nnp.save(path, a)", "numpy.save"),
        ("getattr(path, 'unlink')()", "unlink"),
        ("import importlib\nimportlib.import_module('tempfile')", "tempfile"),
    ],
)
def test_what_writes_is_found_under_any_name(text, what):
    assert [found for _, found in writers.findings(text, "x.py")] == [what]


@pytest.mark.parametrize(
    "text",
    [
        "text.replace(a, b)",
        "import dataclasses\ndataclasses.replace(plan, a=1)",
        "from dataclasses import replace\nreplace(plan)",
        "open(path)",
        "open(path, 'rb', buffering=0)",
        "archive.open(member)",
        "Folder.open(path, make=True)",
        "import shutil\nshutil.which(name)",
        "# tempfile, shutil.rmtree(path)\n'path.unlink()'",
        "import os\nos.path.exists(a)\nos.fdopen(file, 'rb')",
    ],
)
def test_reading_is_free(text):
    assert writers.findings(text, "x.py") == []
