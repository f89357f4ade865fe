"""The two management interfaces of an adapter's port: subnet management (SMI) and all other (GSI).

Most adapters have one device for both. A planarized (XDR) port has two: a device for traffic, which refuses
subnet management, and one for subnet management with a port for each plane. They are known, as libibumad
knows them, by the same port GUID; the one whose capability mask has IsSMDisabled is the GSI.

Source: rdma-core, libibumad/umad.c, `umad_get_smi_gsi_pairs` (commit be54b52e9, first in rdma-core 56).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from netloom import reading
from netloom.errors import LiveError

_DEVICES = Path("/sys/class/infiniband")
_SM_DISABLED = 1 << 10
_LONGEST = 200
"""Of what the kernel says of a port."""


@dataclass(frozen=True)
class Interfaces:
    """Device and port of both interfaces; empty and 0 where the library chooses."""

    gsi: tuple[str, int]
    smi: tuple[str, int] | None = None
    """Where it is another: the device for subnet management, and the plane."""


@dataclass(frozen=True)
class _Port:
    device: str
    number: int
    guid: str
    has_smi: bool


def of(ca: str | None, port: int | None, *, devices: Path = _DEVICES) -> Interfaces:
    """The interfaces of a port of this machine.

    Parameters
    ----------
    ca : str, optional
        The adapter, by either of its devices. [default: the first that has planes, else the library chooses]
    port : int, optional
        Its port: the plane, where `ca` is a device for subnet management only.
    devices : path
        Where the kernel lists its devices.

    Raises
    ------
    LiveError
        If the port has several planes, and none of them is named.
    """
    ports = _ports(devices)
    for gsi in ports:
        planes = [one for one in ports if one.has_smi and one.guid == gsi.guid and one.device != gsi.device]
        if gsi.has_smi or not planes:
            continue
        smi, numbers = planes[0].device, [one.number for one in planes]
        if ca == smi and (port in numbers or (port is None and len(planes) == 1)):
            return Interfaces((gsi.device, gsi.number), (smi, port or numbers[0]))
        if ca in (None, smi) or (ca == gsi.device and port in (None, gsi.number)):
            if len(planes) == 1 and ca != smi:
                return Interfaces((gsi.device, gsi.number), (smi, numbers[0]))
            listed = ", ".join(map(str, numbers))
            raise LiveError(
                f"{gsi.device} port {gsi.number} has {len(planes)} planes, each a fabric of its own: "
                f"expected --ca {smi} --port PLANE, one of {listed}"
            )
    return Interfaces((ca or "", port or 0))


def _ports(devices: Path) -> list[_Port]:
    """InfiniBand ports in order of devices and numbers; those that cannot be read left out."""
    found = []
    for folder in sorted(devices.glob("*/ports/*"), key=lambda one: (one.parts[-3], int(one.name))):
        try:
            guid = _text(folder / "gids" / "0")[-19:]
            mask = int(_text(folder / "cap_mask"), 0)
            layer = _text(folder / "link_layer")
        except (OSError, ValueError):
            continue
        if layer == "InfiniBand" and guid.strip("0:"):
            found.append(_Port(folder.parts[-3], int(folder.name), guid, not mask & _SM_DISABLED))
    return found


def _text(path: Path) -> str:
    return reading.head(path, _LONGEST, unpack=False).decode(errors="replace").strip()
