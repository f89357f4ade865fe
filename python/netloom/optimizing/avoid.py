"""`netloom optimize --avoid`: tables that keep hosts' packets off switches and cables that still run.

A drained switch has to be reached by its own LID, and to forward what management sends through it. So the
search sees the fabric without what is avoided, and what it leaves empty is filled with the tables of the
whole fabric. No loop can come of that: a switch with an entry of the search's has a way on which all have
one, and before the first of them the whole fabric's tables, which have no loops, count alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import FabricError, RoutingError
from netloom.nodes import Nodes, without
from netloom.optimizing import today as in_force
from netloom.session.session import Session
from netloom.shown import units

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import CheckReport, Fabric, Routes


_NONE = 65535
"""No entry."""
_NAMED = 5
"""So many hosts are named."""


class Avoided:
    """A fabric, the same without what is avoided, and tables of the one as tables of the other.

    Parameters
    ----------
    session : Session
        Whose options say how many threads there are.
    fabric : Fabric
        The whole.
    words : sequence of str
        Switches (`spine03`, `0x…`) and cables by an end (`leaf03[7]`, `0x…[7]`).

    Raises
    ------
    FabricError
        If one is not there, with the nearest names; if hosts would be cut off, with their names.
    """

    def __init__(self, session: Session, fabric: Fabric, words: Sequence[str]) -> None:
        self.fabric, self._session, self._words = fabric, session, list(words)
        self.nodes = Nodes(fabric)
        self._switches = [
            self.nodes.find(word, option="--avoid", switches=True) for word in words if not word.endswith("]")
        ]
        self._links = [self.nodes.find_port(word, option="--avoid") for word in words if word.endswith("]")]
        self.left: Fabric = without(fabric, links=self._links, switches=self._switches)
        self._base: Routes | None = None
        self.today: in_force.Today | None = None
        self._refuse_cut_hosts()
        with session.timed("check"):
            lost, ways = self._unreachable(self.left)
            # Damage that was there before may have cut pairs already.
            more = lost > 0 and lost > self._unreachable(fabric)[0]
        if more:
            first = next(one["text"] for one in ways.findings if one["kind"] == "unreachable")
            raise FabricError(
                f"--avoid {self._told}: {units.count(lost)} pairs of hosts would have no "
                f"up*/down* way ({first}): expected what no pair needs"
            )

    def _unreachable(self, fabric: Fabric) -> tuple[int, CheckReport]:
        """Pairs of hosts without an up*/down* way."""
        from netloom import _core

        report = _core.check(fabric, _core.route("updn", fabric), threads=self._session.threads)
        return report.unreachable_hosts, report

    @property
    def _told(self) -> str:
        return ", ".join(self._words)

    def _refuse_cut_hosts(self) -> None:
        table, before = self.left.link_table(), self.fabric.link_table()
        # Host h's outgoing link is link h.
        hosts = self.fabric.hosts
        cut = np.flatnonzero(np.asarray(before["alive"][:hosts]) & ~np.asarray(table["alive"][:hosts]))
        if len(cut):
            names = ", ".join(self.nodes.label(int(host)) for host in cut[:_NAMED])
            more = f" and {len(cut) - _NAMED:,} more" if len(cut) > _NAMED else ""
            many = f"{len(cut):,} host{'' if len(cut) == 1 else 's'}"
            raise FabricError(
                f"--avoid {self._told}: cuts off {many}: {names}{more}: "
                "expected a switch or a cable that no host depends on"
            )

    def read_today(self, source: Routes | str, *, repair: bool) -> in_force.Today:
        """Today's tables on the fabric that is left: entries over what is avoided are replaced."""
        from netloom import _core

        whole = in_force.read_today(self._session, source, self.fabric, repair=repair)
        self.today, self._base = whole, whole.routes
        table = whole.routes.table()
        over = self._over(table)
        table[over] = _NONE
        given = _core.Routes.from_table(self.left, table, lmc=whole.routes.lmc)
        number = int(over.sum())
        entries = "1 entry leads" if number == 1 else f"{units.count(number)} entries lead"
        self._session.note(f"{whole.name}: {entries} over what is avoided")
        return in_force.Today(
            routes=_core.repaired(self.left, given),
            name=whole.name,
            repaired_entries=whole.repaired_entries,
            given=given,
            safe=False,
            repaired_in_given=whole.repaired_in_given,
            text=whole.text,
            read=whole.read,
        )

    def _over(self, table: npt.NDArray[np.uint16]) -> npt.NDArray[np.bool_]:
        """Entries that lead into a cable that is not left."""
        links = self.left.link_table()
        usable = np.zeros((self.fabric.switches, _NONE + 1), bool)
        alive = np.asarray(links["alive"]) & (links["source"] >= self.fabric.hosts)
        usable[links["source"][alive] - self.fabric.hosts, links["source_port"][alive]] = True
        # Port 0 is the switch itself.
        usable[:, 0] = usable[:, _NONE] = True
        return ~np.take_along_axis(usable, table.astype(np.int64), axis=1)

    def whole(self, routes: Routes) -> Routes:
        """Tables of the whole fabric: those of what is left, and where they are empty the whole fabric's."""
        from netloom import _core

        if self._base is None:
            self._base = self._filling(routes.lmc)
        table, base = routes.table(), self._base.table()
        if base.shape[1] < table.shape[1]:
            # Tables of hosts alone.
            base = np.pad(base, ((0, 0), (0, table.shape[1] - base.shape[1])), constant_values=_NONE)
        filled = np.where(table == _NONE, base[:, : table.shape[1]], table)
        return _core.Routes.from_table(self.fabric, filled, lmc=routes.lmc).with_lanes(routes.lanes)

    def _filling(self, lmc: int) -> Routes:
        """Tables of the whole fabric, where nobody told today's."""
        from netloom import _core

        threads = self._session.threads
        if self.fabric.shape["kind"] == "tree":
            # Cables between switches of one level, and hosts above the leaves, are not for ftree.
            with contextlib.suppress(RoutingError):
                return _core.route("ftree", self.fabric, lmc=lmc, threads=threads)
        return _core.route("updn", self.fabric, lmc=lmc, threads=threads)

    def changed(self, routes: Routes) -> int | None:
        """Entries in which tables of the whole fabric differ from today's; None where nobody told these."""
        return None if self.today is None else routes.changed_entries(self.today.routes)

    def result(self) -> list[dict[str, Any]]:
        """What is avoided: switches (port null) and cables by an end."""
        table = self.fabric.link_table()
        told = [{**self.nodes.end(node, 0), "port": None} for node in self._switches]
        return told + [
            self.nodes.end(int(table["source"][link]), int(table["source_port"][link]))
            for link in self._links
        ]
