"""Faults for the guard of a fabric: 50, drawn from seeds that were fixed before anything was measured."""

from __future__ import annotations

import random
from dataclasses import dataclass

import netloom as nl

SEEDS = tuple(range(9000, 9050))
FABRIC = "two-level:leaves=18,hosts=18,spines=18"
"""324 hosts."""


@dataclass(frozen=True)
class Fault:
    """What is cut: a cable between switches, or a switch."""

    switch: str
    port: int | None
    """None: the whole switch."""

    def __str__(self) -> str:
        return self.switch if self.port is None else f"{self.switch}[{self.port}]"

    def cut(self) -> str:
        """What is typed on ibsim's console."""
        return f'Unlink "{self.switch}"' + ("" if self.port is None else f"[{self.port}]")

    def mend(self) -> str:
        """The same for the way back."""
        return f'ReLink "{self.switch}"' + ("" if self.port is None else f"[{self.port}]")


def fault(fabric: nl.Fabric, seed: int) -> Fault:
    """Two of three a cable, one a switch; never the leaf of the first host, where OpenSM runs."""
    draw = random.Random(f"guard {seed}")
    own = int(fabric.host_table()["leaf"][0])
    names = fabric.switch_names
    if draw.randrange(3) == 2:
        return Fault(draw.choice([name for at, name in enumerate(names) if at != own]), None)
    table = fabric.link_table()
    between = (table["source"] >= fabric.hosts) & (table["target"] >= fabric.hosts)
    ends = list(zip(table["source"][between].tolist(), table["source_port"][between].tolist(), strict=True))
    node, port = draw.choice(ends)
    return Fault(names[node - fabric.hosts], port)
