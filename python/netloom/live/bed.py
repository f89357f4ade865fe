"""A test bed without hardware: OpenSM manages a simulated fabric, whose ports count what jobs would send.

ibsim answers management packets and counts them, but carries no traffic of hosts. So what every port would
count of a traffic under the tables in force is put into its counters through ibsim's console, on top of what
is there: rising counters, as real ports have them, management packets included.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import LiveError
from netloom.files import Scratch
from netloom.live.ibsim import Ibsim
from netloom.live.opensm import OpenSM
from netloom.live.polling import Poller, column

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes, Traffic

_OCTETS = 4
"""In a unit of the counters of data."""
_COUNTERS = (
    ("PortXmitData", "xmit_bytes", True, _OCTETS),
    ("PortRcvData", "rcv_bytes", False, _OCTETS),
    ("PortXmitPkts", "xmit_packets", True, 1),
    ("PortRcvPkts", "rcv_packets", False, 1),
)
"""ibsim's name, the column, whether the link's sender counts it, bytes or packets a unit."""
_SECONDS = 10.0


@dataclass
class Bed:
    """A simulated fabric under a running OpenSM."""

    sim: Ibsim
    manager: OpenSM
    fabric: Fabric
    """As discovered."""
    scratch: Scratch

    def run(
        self, traffic: Traffic, routes: Routes, *, scale: float = 1.0, noise: float = 0.0, seed: int = 0
    ) -> None:
        """Lets traffic run: every switch's port counts what it would carry under these tables.

        Parameters
        ----------
        traffic, routes : Traffic, Routes
            What runs, and the tables in force.
        scale : float
            How many times it runs.
        noise : float
            Relative standard deviation of every counter, as ports are not read all at one moment.
        seed : int
            Of the noise.

        Raises
        ------
        LiveError
            If ibsim does not take the counters.
        """
        from netloom import _core

        added = _core.synth_counters(self.fabric, routes, traffic, scale=scale, noise=noise, seed=seed)
        table = self.fabric.link_table()
        names = [*self.fabric.host_names, *self.fabric.switch_names]
        # Two readings tell what a reading itself adds until the counters are set.
        with Poller(self.sim.access, self.fabric, waits=False) as poller:
            first, second = poller.poll(), poller.poll()
            lines: list[str] = []
            for counter, name, by_sender, unit in _COUNTERS:
                more = column(self.fabric, added, name)
                was, now = (column(self.fabric, poll.counters, name) for poll in (first, second))
                if more is None or was is None or now is None:
                    continue
                nodes, ports = (
                    (table["source"], table["source_port"])
                    if by_sender
                    else (table["target"], table["target_port"])
                )
                wanted = (nodes >= self.fabric.hosts) & (np.nan_to_num(more) > 0) & ~np.isnan(now)
                values = (now + (now - np.nan_to_num(was)) + more)[wanted] / unit
                lines += [
                    f'PerformanceSet "{names[node]}"[{port}] PortCountersExtended.{counter}={int(value)}'
                    for node, port, value in zip(
                        nodes[wanted].tolist(), ports[wanted].tolist(), values.tolist(), strict=True
                    )
                ]
            if not lines:
                return
            self.scratch.write("counters.ibsim", "".join(f"{line}\n" for line in lines).encode())
            self.sim.command(f"!{self.scratch.path / 'counters.ibsim'}")
            self._wait_until_set(poller, lines[-1])

    def _wait_until_set(self, poller: Poller, line: str) -> None:
        """Until the last setting is seen; the file is done in one go."""
        wanted = float(line.rpartition("=")[2])
        name = next(name for name in _COUNTERS if f".{name[0]}=" in line)
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            now = column(self.fabric, poller.poll().counters, name[1])
            if now is not None and np.nanmax(now) >= wanted * name[3]:
                return
            time.sleep(0.02)
        raise LiveError(f"ibsim did not take the counters within {_SECONDS:g} s")


@contextlib.contextmanager
def bed(fabric: Fabric, routes_file: Path, *, seconds: float = 120.0) -> Iterator[Bed]:
    """Builds a fabric in ibsim and starts OpenSM on it, with a file of routes.

    Parameters
    ----------
    fabric : Fabric
        What to build; names and cables count, LIDs are given by OpenSM.
    routes_file : path
        The file that OpenSM's `file` engine reads.
    seconds : float
        How long OpenSM may take.

    Raises
    ------
    LiveError
        If a tool is missing, or OpenSM does not bring the fabric up.
    """
    from netloom import _core

    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(Scratch.private())
        scratch.write("fabric.net", fabric.to_bytes("ibsim"))
        sim = stack.enter_context(Ibsim(scratch.path / "fabric.net", host=fabric.host_names[0]))
        manager = stack.enter_context(OpenSM(sim, routes=routes_file, start_seconds=seconds))
        # Until it has swept twice, OpenSM sends every table as a whole with every change.
        manager.heavy_sweep(seconds=seconds)
        found = _core.Fabric.parse(sim.discover(), label="ibnetdiscover")
        yield Bed(sim, manager, found, scratch)
