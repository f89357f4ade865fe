"""Options that say which live fabric is meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import within

if TYPE_CHECKING:
    from netloom.live import Access


@Parameter(name="*", group="Live fabric")
@dataclass(frozen=True, kw_only=True)
class Reach:
    """Which fabric: this machine's, unless told otherwise."""

    sim: str | None = None
    """An ibsim's fabric: its socket name (`IBSIM_SOCKNAME`), and the host to look from: `NAME,HOST`."""
    ca: str | None = None
    """The adapter to look through (`mlx5_0`); of one with planes (XDR) its device for subnet management.
    [default: the first that is cabled]"""
    port: Annotated[int | None, within(1, 254)] = None
    """Its port; of a device for subnet management, the plane. [default: the first that is cabled]"""

    @property
    def given(self) -> bool:
        """Whether anything is told."""
        return self.sim is not None or self.ca is not None or self.port is not None

    def access(self) -> Access:
        """The way to the fabric."""
        from netloom.live import Access

        if self.sim is not None and (self.ca is not None or self.port is not None):
            raise UsageError(
                "--sim is a simulated fabric, --ca and --port name a real one: expected one of them"
            )
        return Access.of_options(sim=self.sim, ca=self.ca, port=self.port)
