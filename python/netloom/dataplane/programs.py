"""BPF programs of `dataplane/bpf`: compiled where they are used, loaded through libbpf, run over one packet.

`clang` makes an object in memory, and `libbpf.so.1` (by ctypes, so that nothing is needed to build netloom)
loads it. No file is written and nothing is pinned: a program that no port holds goes with its process. What
is missing on this machine is said by name before anything is tried.

Source: Linux, Documentation/bpf/bpf_prog_run.rst; libbpf 1.1 (bpf/bpf.h, bpf/libbpf.h).
"""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import struct
import subprocess
import sysconfig
from pathlib import Path
from typing import Literal

from netloom.dataplane.libbpf import LIBRARY, library
from netloom.dataplane.ring import Event, Ring
from netloom.errors import ArgumentError, LiveError

Name = Literal["sender", "switch", "receiver"]
Layout = Literal["ds", "ds-ttl", "ipv6", "shim", "bth"]
LAYOUTS: tuple[Layout, ...] = ("ds", "ds-ttl", "ipv6", "shim", "bth")
"""Where the bits are: by place, `NETLOOM_LAYOUT` of `netloom_bpf.h`."""
COUNTS = (
    "sampled",
    "replaced",
    "congested",
    "not_ours",
    "fragments",
    "may_fragment",
    "ds_in_use",
    "segments",
    "lost",
)
"""`struct netloom_counts` of `netloom_bpf.h`."""
NEVER = 2**32 - 1
"""A queue of so many bytes is never reached."""
PORT = struct.Struct("=3I2H2IQ")
"""`struct netloom_port`; its last number is the owner."""
INITIAL_TTL = 64
"""Of the hosts' packets, as Linux has it (layout `ds-ttl`)."""
_BTF = Path("/sys/kernel/btf/vmlinux")
_CAP_SYS_ADMIN, _CAP_BPF = 21, 39


class _RunOptions(ctypes.Structure):
    """`struct bpf_test_run_opts`."""

    _fields_ = (
        ("sz", ctypes.c_size_t),
        ("data_in", ctypes.c_void_p),
        ("data_out", ctypes.c_void_p),
        ("data_size_in", ctypes.c_uint32),
        ("data_size_out", ctypes.c_uint32),
        ("ctx_in", ctypes.c_void_p),
        ("ctx_out", ctypes.c_void_p),
        ("ctx_size_in", ctypes.c_uint32),
        ("ctx_size_out", ctypes.c_uint32),
        ("retval", ctypes.c_uint32),
        ("repeat", ctypes.c_int),
        ("duration", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("cpu", ctypes.c_uint32),
        ("batch_size", ctypes.c_uint32),
    )


def missing() -> list[str]:
    """What this machine or this user lacks to load the programs.

    Returns
    -------
    list of str
        In words; empty if everything is there.
    """
    found = []
    if not _may_load():
        found.append("root (or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON)")
    if shutil.which("clang") is None:
        found.append("clang")
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        found.append(LIBRARY)
    if _headers() is None:
        found.append("bpf/bpf_helpers.h (Debian: libbpf-dev)")
    if not _BTF.exists():
        found.append(f"a kernel with BTF ({_BTF})")
    return found


FIRST = struct.pack("=I", 0)
"""The key of a map's only entry."""


def counts(descriptor: int, label: str) -> dict[str, int]:
    """What a map of `netloom_counts` says, of all CPUs.

    Raises
    ------
    LiveError
        If it cannot be read.
    """
    cpus = int(library().libbpf_num_possible_cpus())
    each = struct.Struct(f"={len(COUNTS)}Q")
    value = ctypes.create_string_buffer(cpus * each.size)
    if library().bpf_map_lookup_elem(descriptor, FIRST, value):
        raise LiveError(f"{label}: counts: {os.strerror(ctypes.get_errno())}")
    sums = [sum(column) for column in zip(*each.iter_unpack(value.raw), strict=True)]
    return dict(zip(COUNTS, sums, strict=True))


class Program:
    """One of the programs, loaded; it goes with its `with` block.

    Parameters
    ----------
    name : {"sender", "switch", "receiver"}
        Which one.
    layout : {"ds", "ds-ttl", "ipv6", "shim", "bth"}, default "ds"
        Where the bits are in packets (`dataplane/layouts.md`).

    Raises
    ------
    LiveError
        If something is missing, or the kernel refuses it.

    Examples
    --------
    >>> with Program("switch") as switch:  # doctest: +SKIP
    ...     switch.settle(mask=0x1234)
    ...     switch.run(frame)
    """

    def __init__(self, name: Name, layout: Layout = "ds") -> None:
        if layout not in LAYOUTS:
            raise ArgumentError(f"layout: expected one of {', '.join(LAYOUTS)}, found {layout!r}")
        lacking = missing()
        if lacking:
            raise LiveError(f"BPF programs cannot be loaded: missing: {', '.join(lacking)}")
        self.name = name
        self._library = library()
        data = _compiled(name, layout)
        self._object = self._library.bpf_object__open_mem(data, len(data), None)
        if not self._object:
            raise LiveError(f"{name}: libbpf cannot open the object: {os.strerror(ctypes.get_errno())}")
        self._ring: Ring | None = None
        error = self._library.bpf_object__load(self._object)
        if error:
            self.close()
            raise LiveError(f"{name}: the kernel refused the program: {os.strerror(-error)}")
        program = self._library.bpf_object__find_program_by_name(self._object, f"netloom_{name}".encode())
        self.fd = int(self._library.bpf_program__fd(program))

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives everything back."""
        if self._ring is not None:
            self._ring.close()
            self._ring = None
        if self._object:
            self._library.bpf_object__close(self._object)
            self._object = None

    def settle(
        self,
        *,
        mask: int,
        queue_bytes: int | None = None,
        rate: float = 1.0,
        keep: bool = False,
        random: int | None = None,
        initial_ttl: int = INITIAL_TTL,
        owner: int = 0,
    ) -> None:
        """Gives the port's settings.

        Parameters
        ----------
        mask : int
            Of the link (`plan.Port`), 0 to 2^32 - 1.
        queue_bytes : int, optional
            From which length on the port's queue is congested. [default: never]
        rate : float, default 1.0
            The share of packets that a sender samples, 1/65536 to 1.
        keep : bool, default False
            Whether a receiver leaves the tag in the packet.
        random : int, optional
            What all random numbers are, for tests. [default: the kernel's]
        initial_ttl : int, default 64
            The TTL of packets when hosts send them, 33 to 255 (layout `ds-ttl`).
        owner : int, default 0
            By which number the program is known again; 64 bits.
        """
        if not 0 <= mask < 2**32:
            raise ArgumentError(f"mask: expected 0 to 2^32 - 1, found {mask}")
        if not 33 <= initial_ttl <= 255:
            raise ArgumentError(f"initial_ttl: expected 33 to 255, found {initial_ttl}")
        if not 1 / 65536 <= rate <= 1:
            raise ArgumentError(f"rate: expected a share of packets, 1/65536 to 1, found {rate}")
        queue = NEVER if queue_bytes is None else min(queue_bytes, NEVER)
        share = min(65536, round(rate * 65536))
        value = PORT.pack(mask, queue, share, keep, initial_ttl, random is not None, random or 0, owner)
        if self._library.bpf_map_update_elem(self._map("netloom_port"), FIRST, value, 0):
            raise LiveError(f"{self.name}: settings: {os.strerror(ctypes.get_errno())}")

    def run(self, frame: bytes, repeat: int = 1) -> tuple[bytes, int]:
        """Runs it over a frame (`BPF_PROG_TEST_RUN`).

        Returns
        -------
        out : bytes
            The frame as it left.
        duration_ns : int
            Of one run, on average.

        Raises
        ------
        LiveError
            If the kernel does not run it.
        """
        out = ctypes.create_string_buffer(len(frame) + 256)
        given = ctypes.create_string_buffer(frame, len(frame))
        how = _RunOptions(
            sz=ctypes.sizeof(_RunOptions),
            data_in=ctypes.addressof(given),
            data_out=ctypes.addressof(out),
            data_size_in=len(frame),
            data_size_out=len(out),
            repeat=repeat,
        )
        error = self._library.bpf_prog_test_run_opts(self.fd, ctypes.byref(how))
        if error:
            raise LiveError(f"{self.name}: a test run failed: {os.strerror(-error)}")
        return out.raw[: how.data_size_out], int(how.duration)

    def counts(self) -> dict[str, int]:
        """What was done to packets so far, of all CPUs."""
        return counts(self._map("netloom_counts"), self.name)

    def events(self) -> list[Event]:
        """What a receiver has told since the last call."""
        if self._ring is None:
            self._ring = Ring()
            self._ring.add(self._map("netloom_events"))
        self._ring.poll(0)
        return [Event.of(data) for data in self._ring.taken(0)]

    def _map(self, name: str) -> int:
        return int(self._library.bpf_object__find_map_fd_by_name(self._object, name.encode()))


def _may_load() -> bool:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return os.geteuid() == 0
    line = next((line for line in status.splitlines() if line.startswith("CapEff:")), "CapEff: 0")
    held = int(line.split()[1], 16)
    # A user namespace's root has these bits too, but the kernel asks the first namespace's.
    try:
        first = Path("/proc/self/uid_map").read_text().split() == ["0", "0", str(2**32 - 1)]
    except OSError:
        first = True
    return first and bool(held >> _CAP_SYS_ADMIN & 1 or held >> _CAP_BPF & 1)


def sources() -> Path:
    """The folder of headers and programs: the repository's, or what came with the package."""
    package = Path(__file__).resolve().parent.parent
    repository = package.parent.parent / "dataplane"
    return repository if (repository / "bpf").is_dir() else package / "native" / "dataplane"


def _headers() -> list[str] | None:
    """Folders of the C library's and libbpf's headers; None if libbpf's are not there."""
    machine = sysconfig.get_config_var("MULTIARCH")
    found = [Path("/usr/include"), *([Path("/usr/include", machine)] if machine else [])]
    found += [Path("/usr/include") / f"{os.uname().machine}-linux-gnu", Path("/usr/local/include")]
    if not any((folder / "bpf" / "bpf_helpers.h").exists() for folder in found):
        return None
    return [str(folder) for folder in dict.fromkeys(found) if folder.is_dir()]


@functools.lru_cache
def _compiled(name: Name, layout: Layout) -> bytes:
    folder = sources()
    order = "<" if struct.pack("=H", 1) == b"\1\0" else ">"
    target = {"<": "bpfel", ">": "bpfeb"}[order]
    command = ["clang", "-O2", "-g", "-Wall", "-Werror", "-target", target, f"-I{folder}"]
    command += [word for header in _headers() or () for word in ("-idirafter", header)]
    command += [
        f"-DNETLOOM_LAYOUT={LAYOUTS.index(layout)}",
        "-c",
        str(folder / "bpf" / f"{name}.bpf.c"),
        "-o",
        "-",
    ]
    made = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    if made.returncode:
        lines = made.stderr.decode(errors="replace").splitlines()
        why = next((line for line in lines if "error" in line), f"exit {made.returncode}")
        raise LiveError(f"{name}: clang: {why}")
    return made.stdout
