"""BMv2's simple_switch over packets of a file: p4c's JSON with entries, one capture in and one out."""

from __future__ import annotations

import copy
import json
import socket
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from p4_subset import EVERYTHING, Entry

_WAIT_S = 1


def with_entries(program: Mapping[str, Any], entries: Mapping[str, Mapping[int, Entry]]) -> dict[str, Any]:
    """p4c's JSON with constant entries, as it would be if the source had them."""
    made = copy.deepcopy(dict(program))
    for pipeline in made["pipelines"]:
        for table in pipeline["tables"]:
            found = entries.get(table["name"])
            if found is None:
                continue
            ids = {
                name.split(".")[-1]: number
                for name, number in zip(table["actions"], table["action_ids"], strict=True)
            }
            kind = table["key"][0]["match_type"]
            # Whole bytes: hops have 4 bits, ports 9.
            digits = 2 if table["key"][0]["name"] == "hops" else 4
            table["entries"] = [
                {
                    "match_key": [
                        {"match_type": kind, "key": "0x00000000", "prefix_length": 0}
                        if key == EVERYTHING
                        else {"match_type": kind, "key": f"0x{key:0{digits}x}"}
                    ],
                    "action_entry": {
                        "action_id": ids[entry.action],
                        "action_data": [f"0x{value:x}" for value in entry.arguments],
                    },
                    "priority": place,
                }
                for place, (key, entry) in enumerate(found.items(), 1)
            ]
    return made


def run(
    binary: str, program: Mapping[str, Any], frames: Sequence[bytes], folder: Path, came: int, left: int
) -> list[bytes]:
    """Frames that come in by a port; those that leave by another, in order."""
    (folder / "program.json").write_text(json.dumps(program))
    for port in (came, left):
        (folder / f"p{port}_in.pcap").write_bytes(capture(frames if port == came else []))
    command = [binary, "--use-files", str(_WAIT_S), "--thrift-port", str(_free_port())]
    command += [word for port in (came, left) for word in ("-i", f"{port}@p{port}")]
    with subprocess.Popen(
        [*command, "program.json"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        found = folder / f"p{left}_out.pcap"
        expected = 24 + sum(16 + len(frame) for frame in frames)
        try:
            for _ in range(200):
                try:
                    process.wait(0.1)
                    break
                except subprocess.TimeoutExpired:
                    if found.exists() and found.stat().st_size >= expected:
                        break
        finally:
            process.terminate()
    return frames_of(found.read_bytes())


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def capture(frames: Sequence[bytes]) -> bytes:
    """A capture of Ethernet frames (pcap)."""
    data = struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)
    for place, frame in enumerate(frames):
        data += struct.pack("=IIII", 0, place, len(frame), len(frame)) + frame
    return data


def frames_of(data: bytes) -> list[bytes]:
    """The frames of a capture."""
    at, found = 24, []
    while at + 16 <= len(data):
        size = struct.unpack_from("=I", data, at + 8)[0]
        found.append(data[at + 16 : at + 16 + size])
        at += 16 + size
    return found
