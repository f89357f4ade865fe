"""Counters that somebody else has read: what Prometheus exporters serve, or write as textfiles.

Here samples are only fetched and put together; which exporter they are of, and in which units, the reader of
counters says itself.

- A URL of an exporter is its page of metrics; without a path, `/metrics`.
- A URL of a Prometheus server without a path is asked for all InfiniBand metrics (`/federate`).
- A folder holds textfiles, `*.prom`. Those of `node_exporter` don't say of which machine they are: their
  names do (`node7.prom`).
"""

from __future__ import annotations

import os
import re
import time
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from netloom import reading
from netloom.errors import LiveError
from netloom.live import http

if TYPE_CHECKING:
    from netloom._core import Counters, Fabric

Held: TypeAlias = "bytes | list[tuple[str, bytes]]"
"""What counters are read from: a file's bytes, or the files of sysfs trees."""

_FEDERATE = "/federate?" + urllib.parse.urlencode({"match[]": '{__name__=~"(node_)?infiniband_.*"}'})
_SAMPLE = re.compile(rb"^(?:node_)?infiniband_\w+[{ ]", re.MULTILINE)
_OF_NODE = re.compile(rb'^(node_infiniband_\w+)(?:\{((?:[^"}\n]|"(?:[^"\\\n]|\\.)*")*)\})?', re.MULTILINE)


def is_url(source: str) -> bool:
    """Whether counters are to be fetched from there."""
    return source.lower().startswith(("http://", "https://"))


def is_textfiles(source: str | os.PathLike[str]) -> bool:
    """Whether this is a folder of textfiles."""
    return os.path.isdir(source) and any(name.endswith(".prom") for name in os.listdir(source))


def fetch(url: str, *, seconds: float = 10.0) -> bytes:
    """Fetches the samples of an exporter, or of a Prometheus server.

    Parameters
    ----------
    url : str
        A page, or a server.
    seconds : float, default 10
        For all of it.

    Raises
    ------
    LiveError
        Naming the URL, if nothing answers whole and in time, or what answers has no InfiniBand metrics.
    """
    deadline = time.monotonic() + seconds
    shown = http.without_password(url)
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError as error:
        raise LiveError(f"{shown}: {error}") from None
    pages = [url]
    if parts.path in ("", "/") and not parts.query:
        pages = [urllib.parse.urljoin(url, page) for page in ("/metrics", _FEDERATE)]
    for page in pages:
        try:
            data = http.get(page, seconds=max(deadline - time.monotonic(), 0.0))
        except http.Missing:
            continue
        except LiveError:
            if page == pages[0]:
                raise
            continue
        if _SAMPLE.search(data):
            return data
    raise LiveError(
        f"{shown}: no InfiniBand metrics there: expected an exporter's page, or a Prometheus server"
    )


def read_folder(folder: str | os.PathLike[str]) -> bytes:
    """Puts the textfiles of a folder together, in order of their names.

    Raises
    ------
    LiveError
        If there are none.
    OSError
        Naming the file that cannot be read.
    """
    files = sorted(path for path in Path(folder).iterdir() if path.suffix == ".prom")
    if not files:
        raise LiveError(f"{folder}: no textfile (*.prom) there")
    return b"".join(_with_instance(reading.whole(path), path.stem) for path in files)


def _with_instance(data: bytes, machine: str) -> bytes:
    """Samples of `node_exporter` with the machine's name, where they have none."""
    name = machine.replace("\\", r"\\").replace('"', r"\"").encode(errors="surrogateescape")

    def named(match: re.Match[bytes]) -> bytes:
        labels = match[2] or b""
        if re.search(rb'(?:^|,)\s*instance="', labels):
            return match[0]
        between = b"," if labels.strip() else b""
        return match[1] + b'{instance="' + name + b'"' + between + labels + b"}"

    return _OF_NODE.sub(named, data if data.endswith(b"\n") or not data else data + b"\n")


def read_again(source: str, fabric: Fabric) -> tuple[Counters, Held]:
    """Counters as they are now, and what they were read from.

    Of an exporter's URL, a folder of textfiles or of sysfs trees, a file.

    Raises
    ------
    NetloomError
        If they cannot be had or read.
    OSError
        Naming the file that cannot be read.
    """
    from netloom import _core, sysfs

    if is_url(source):
        data = fetch(source)
    elif is_textfiles(source):
        data = read_folder(source)
    elif Path(source).is_dir():
        files = sysfs.read_tree(source)
        return _core.Counters.from_sysfs(files, fabric, label=source), files
    else:
        data = reading.whole(source)
    return _core.Counters.parse(data, fabric, label=source), data
