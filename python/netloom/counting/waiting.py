"""What a tick of waiting (PortXmitWait) is worth: by the generation of the switch that counted it.

A switch counts a tick for as much time as some octets would have taken: 8 of the port, or 32 of each lane. So
ticks are octets that were not sent, the bandwidth lost; over the link's bandwidth they are time. Adapters are
not in the table, as its source says nothing of them, nor are other makers' switches: there ticks stay without
a unit, unless a device's own is given (`--tick-ns`; `perfquery -c LID PORT` prints the tick's length).

Source: NVIDIA ibdiagnet user manual 2.13, "Congestion Assessment on InfiniBand Links" (octets a tick); device
ids as `ibnetdiscover` prints them (linux-rdma's and PCI's lists of ids).
"""

from __future__ import annotations

import io
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom import reading
from netloom.nodes import Nodes

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Counters, Fabric


@dataclass(frozen=True)
class Device:
    """A generation of switches."""

    name: str
    octets: int
    """Of a tick."""
    a_lane: bool = False
    """Whether these are of each lane."""


DEVICES = {
    0xC738: Device("SwitchX", 32, a_lane=True),
    0xCB20: Device("Switch-IB", 32, a_lane=True),
    0xCF08: Device("Switch-IB 2", 32, a_lane=True),
    0xD2F0: Device("Quantum", 8),
    0xD2F2: Device("Quantum-2", 8),
    0xD2F4: Device("Quantum-3", 8),
}
"""By device id."""

_DEVICE = re.compile(rb"devid=0x([0-9a-f]+)")
_SWITCH = re.compile(rb'Switch\s+\d+\s+"S-([0-9a-f]{16})"')
_PORT = re.compile(rb"\[(\d+)\].*\s(\d+)x[A-Z]+[0-9]*\s*(?:s=.*)?")


@dataclass(frozen=True)
class Devices:
    """The switches of a dump of `ibnetdiscover`."""

    ids: dict[int, int]
    """Device ids by GUID."""
    lanes: dict[tuple[int, int], int]
    """By GUID and port."""

    def octets(self, fabric: Fabric) -> npt.NDArray[np.float64]:
        """What a tick of every link's sender is worth; NaN where that is not known."""
        table, found = fabric.link_table(), np.full(fabric.links, np.nan)
        guids = fabric.switch_table()["guid"].tolist()
        of_switches = np.flatnonzero(table["source"] >= fabric.hosts)
        sources = (table["source"][of_switches] - fabric.hosts).tolist()
        ports = table["source_port"][of_switches].tolist()
        for link, switch, port in zip(of_switches.tolist(), sources, ports, strict=True):
            device = DEVICES.get(self.ids.get(guids[switch], 0))
            lanes = self.lanes.get((guids[switch], port))
            if device is not None and (lanes is not None or not device.a_lane):
                found[link] = device.octets * (lanes if device.a_lane and lanes else 1)
        return found

    @property
    def names(self) -> list[str]:
        """The generations that there are, by name."""
        there = {DEVICES[one].name for one in self.ids.values() if one in DEVICES}
        return [device.name for device in DEVICES.values() if device.name in there]


def devices_of(source: Any) -> Devices:
    """The switches of a dump; none of a generator's spec, a fabric in memory or another form of file."""
    ids: dict[int, int] = {}
    lanes: dict[tuple[int, int], int] = {}
    if not isinstance(source, str | os.PathLike) or not Path(source).is_file():
        return Devices(ids, lanes)
    data = reading.whole(source)
    if data[:2] == b"\x1f\x8b":
        data = reading.gunzip(data, str(source))
    device, guid = 0, None
    for line in data.splitlines():
        if told := _DEVICE.match(line):
            device, guid = int(told[1], 16), None
        elif switch := _SWITCH.match(line):
            guid = int(switch[1], 16)
            ids[guid] = device
        elif guid is not None and (port := _PORT.match(line)):
            lanes[guid, int(port[1])] = int(port[2])
        elif not line.startswith(b"["):
            guid = None
    return Devices(ids, lanes)


def tick_seconds(fabric: Fabric, octets: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How long a tick of every link's sender is, of what it is worth."""
    bandwidth: npt.NDArray[np.float64] = fabric.link_table()["bandwidth_bytes_per_s"].astype(np.float64)
    return octets / bandwidth


def lost(
    fabric: Fabric, counters: Counters, devices: Devices, ticks: npt.NDArray[np.float64], *, most: int
) -> list[dict[str, Any]]:
    """The links that lost most bandwidth to waiting, by what their senders counted in all intervals.

    Returns
    -------
    list of dict
        `from`, `from_port`, `to`, `to_port` (labels of nodes), `device` (the sender's generation), `ticks`,
        `bytes` (not sent because of waiting) and `percent` (of what the link could have carried; None where
        the time is not known).
    """
    octets = devices.octets(fabric)
    if np.isnan(octets).all():
        return []
    octets = np.nan_to_num(ticks * octets)
    seconds = counters.summary(busiest=0)["seconds"]
    table, names, guids = fabric.link_table(), Nodes(fabric).labels, fabric.switch_table()["guid"].tolist()
    rows = []
    for link in np.argsort(-octets, kind="stable")[:most].tolist():
        if octets[link] <= 0:
            break
        source, target = int(table["source"][link]), int(table["target"][link])
        could = float(table["bandwidth_bytes_per_s"][link]) * (seconds or 0.0)
        rows.append(
            {
                "from": names[source],
                "from_port": int(table["source_port"][link]),
                "to": names[target],
                "to_port": int(table["target_port"][link]),
                "device": DEVICES[devices.ids[guids[source - fabric.hosts]]].name,
                "ticks": float(ticks[link]),
                "bytes": float(octets[link]),
                "percent": 100.0 * float(octets[link]) / could if could else None,
            }
        )
    return rows


def doubts(
    fabric: Fabric, devices: Devices, ticks: npt.NDArray[np.float64], rows: list[dict[str, Any]]
) -> list[str]:
    """What `lost` leaves out, in words, and rows that cannot be: more than the link could have carried."""
    if not devices.ids:
        return []
    from_switches = fabric.link_table()["source"] >= fabric.hosts
    unknown = from_switches & np.isnan(devices.octets(fabric)) & (ticks > 0)
    found = []
    if unknown.any():
        found.append(
            f"{int(unknown.sum())} ports of switches have waited, of a generation whose tick is not known: "
            "they are left out of the bandwidth lost"
        )
    over = [row for row in rows if row["percent"] is not None and row["percent"] > 100.0]
    if over:
        first = over[0]
        found.append(
            f"{len(over)} of the links listed lost more than they could have carried, {first['from']}"
            f"[{first['from_port']}] {first['percent']:.1f} %: the tick or the time is wrong"
        )
    return found


def ticks_of(fabric: Fabric, counters: Counters) -> npt.NDArray[np.float64]:
    """The ticks of every link's sender, of all intervals."""
    from netloom.interop import arrow_csv

    ticks = np.zeros(fabric.links)
    table = arrow_csv().read_csv(io.BytesIO(counters.to_bytes()))
    if "wait_ticks" in table.column_names:
        # A row a link and interval, and beside it one a lane.
        whole = np.asarray(table["lane"].is_null())
        waits = table["wait_ticks"].to_numpy(zero_copy_only=False).astype(float)
        np.add.at(ticks, table["link"].to_numpy()[whole], np.nan_to_num(waits[whole]))
    return ticks
