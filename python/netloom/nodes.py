"""Nodes and ports of a fabric by what people call them: names, GUIDs, LIDs.

Names are the site's own and may be shared (switches that nobody named all carry the factory's); GUIDs are
not. A label has the GUID beside a name that several nodes have, and both are accepted where a node or a port
is asked for: `leaf03`, `0x0002c90200000000`, `lid 35`, `leaf03[7]`, `0x0002c90200000000[7]`.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from netloom.errors import FabricError

if TYPE_CHECKING:
    from netloom._core import Fabric

_PORT = re.compile(r"(?P<node>.+)\[(?P<port>[0-9]{1,5})\]")
_GUID = re.compile(r"0[xX][0-9a-fA-F]{1,16}")
_LID = re.compile(r"lid[ :=]?(?P<lid>[0-9]{1,5})", re.IGNORECASE)
_LABEL = re.compile(r".*\((0[xX][0-9a-fA-F]{1,16})\)")
_SHOWN = 3
"""So many are named where several are meant."""


class Nodes:
    """Names, GUIDs and LIDs of a fabric's nodes, by number: hosts first, then switches, as links count them.

    Parameters
    ----------
    fabric : Fabric
        Whose nodes they are.

    Examples
    --------
    >>> import netloom as nl
    >>> nodes = Nodes(nl.Fabric.generate("two-level:leaves=2,hosts=1,spines=1"))
    >>> nodes.port(nodes.find("leaf01"), 2)
    'leaf01[2]'
    """

    def __init__(self, fabric: Fabric) -> None:
        host, switch = fabric.host_table(), fabric.switch_table()
        self.hosts: int = fabric.hosts
        self.names: list[str] = [*host["name"], *switch["name"]]
        self.guids: list[int] = [*host["guid"].tolist(), *switch["guid"].tolist()]
        self.lids: list[int] = [*host["lid"].tolist(), *switch["lid"].tolist()]
        self._machines: list[str] = list(host["machine"])
        self._port_guids: list[int] = host["port_guid"].tolist()
        self._times = Counter(self.names)
        self._table = fabric.link_table()

    def __len__(self) -> int:
        return len(self.names)

    def shared(self, node: int) -> bool:
        """Whether another node has the same name."""
        return self._times[self.names[node]] > 1

    def label(self, node: int) -> str:
        """The name; the GUID beside it where others have the same name."""
        name = self.names[node]
        return f"{name} ({guid_text(self.guids[node])})" if self.shared(node) else name

    @property
    def labels(self) -> list[str]:
        """The label of every node: no two are equal."""
        return [self.label(node) for node in range(len(self))]

    def port(self, node: int, port: int) -> str:
        """`leaf03[7]`, or `SwitchIB (0x…)[7]` where the name is shared."""
        return f"{self.label(node)}[{port}]"

    def link(self, link: int) -> str:
        """`leaf03[7] -> spine01[4]`: a directed link by both of its ports."""
        row = self._table
        one = self.port(int(row["source"][link]), int(row["source_port"][link]))
        return f"{one} -> {self.port(int(row['target'][link]), int(row['target_port'][link]))}"

    def end(self, node: int, port: int) -> dict[str, Any]:
        """A port as results tell it: name, GUID, LID (null where there is none), port."""
        return {
            "name": self.names[node],
            "guid": guid_text(self.guids[node]),
            "lid": self.lids[node] or None,
            "port": port,
        }

    def find(self, text: str, *, option: str = "", switches: bool = False) -> int:
        """The node that a name, a GUID or a LID means.

        Parameters
        ----------
        text : str
            `leaf03`, `0x0002c90200000000` (of the node, or of a host's port), `lid 35`; a machine's name
            where it has one adapter.
        option : str
            What the error begins with: whose value it is.
        switches : bool
            Whether only switches are meant.

        Raises
        ------
        FabricError
            If there is none, with the nearest names; if several have the name, with their GUIDs.
        """
        what = f'{option} "{text}"'.strip()
        first = self.hosts if switches else 0
        word = "switch" if switches else "node"
        if _GUID.fullmatch(text):
            guid = int(text, 16)
            of_ports = self._port_guids
            found = [n for n in range(first, len(self)) if guid == self.guids[n]]
            found = found or [n for n in range(first, self.hosts) if guid == of_ports[n]]
            if not found:
                raise FabricError(
                    f"{what}: no {word} of this fabric has the GUID{self._near_guid(guid, first)}"
                )
        elif match := _LID.fullmatch(text):
            lid = int(match["lid"])
            found = [n for n in range(first, len(self)) if lid == self.lids[n] and lid]
            if not found:
                raise FabricError(f"{what}: no {word} of this fabric has the LID {lid}")
        else:
            found = [n for n in range(first, len(self)) if self.names[n] == text]
            found = found or [n for n in range(first, self.hosts) if self._machines[n] == text]
            if not found:
                names = self.names[first:] + ([] if switches else self._machines)
                near = difflib.get_close_matches(text, dict.fromkeys(names), n=_SHOWN)
                hint = f"; did you mean {' or '.join(near)}?" if near else ""
                raise FabricError(f"{what}: no {word} of this fabric is called so{hint}")
        own = [self.names[n] for n in found]
        if len(found) > 1 and len(set(own)) == len(own) and text not in own and found[-1] < self.hosts:
            some = ", ".join(f'"{name}"' for name in own[:_SHOWN])
            more = ", …" if len(found) > _SHOWN else ""
            raise FabricError(f"{what}: a machine with {len(found)} adapters: expected one of {some}{more}")
        if len(found) > 1:
            some = ", ".join(
                guid_text(self._port_guids[n] if n < self.hosts else self.guids[n]) for n in found[:_SHOWN]
            )
            more = ", …" if len(found) > _SHOWN else ""
            raise FabricError(f"{what}: {len(found)} nodes have it: expected the GUID of one ({some}{more})")
        return found[0]

    def find_port(self, text: str, *, option: str = "") -> int:
        """The link that leaves a port: `leaf03[7]`, `0x0002c90200000000[7]`.

        Raises
        ------
        FabricError
            If it is no port of the fabric, or has no cable: with what there is.
        """
        what = f'{option} "{text}"'.strip()
        match = _PORT.fullmatch(text)
        if match is None:
            raise FabricError(
                f"{what}: expected a port, NAME[PORT] or 0xGUID[PORT], such as {self._example()}"
            )
        port = int(match["port"])
        words = match["node"].strip()
        # `SwitchIB (0x…)[7]`, as labels are written.
        labelled = _LABEL.fullmatch(words)
        try:
            node = self.find(labelled[1] if labelled else words, option=option)
        except FabricError:
            # The two ports of an adapter have one GUID, and often one name.
            found = [link for link in self._of_port.get(port, ()) if self._is(link, words)]
            if len(found) == 1:
                return found[0]
            raise
        links = {
            p: link for p, links in self._of_port.items() for link in links if self._source(link) == node
        }
        if port not in links:
            there = ", ".join(map(str, sorted(links)[:12])) or "none"
            more = ", …" if len(links) > 12 else ""
            raise FabricError(f"{what}: no cable there: {self.label(node)} has cables at {there}{more}")
        return links[port]

    def is_not_a_name(self, word: str) -> bool:
        """Whether a node or port is called by its GUID or LID, or by a name that does not tell it apart."""
        match = _PORT.fullmatch(word)
        words = match["node"].strip() if match else word
        if self._times[words] > 1:
            return True
        return not self._times[words] and bool(
            _GUID.fullmatch(words) or _LID.fullmatch(words) or _LABEL.fullmatch(words)
        )

    def back(self, link: int) -> int:
        """The other direction of a link's cable."""
        row = self._table
        far, port = int(row["target"][link]), int(row["target_port"][link])
        return next(one for one in self._of_port[port] if self._source(one) == far)

    @cached_property
    def _of_port(self) -> dict[int, list[int]]:
        """Links that are alive by the number of the port that they leave."""
        found: dict[int, list[int]] = {}
        rows = zip(self._table["source_port"].tolist(), self._table["alive"].tolist(), strict=True)
        for link, (port, alive) in enumerate(rows):
            if alive:
                found.setdefault(port, []).append(link)
        return found

    def _source(self, link: int) -> int:
        return int(self._table["source"][link])

    def _is(self, link: int, words: str) -> bool:
        node = self._source(link)
        if _GUID.fullmatch(words):
            return self.guids[node] == int(words, 16)
        return self.names[node] == words

    def _example(self) -> str:
        links = [link for some in self._of_port.values() for link in some if self._source(link) >= self.hosts]
        if not links:
            return "leaf03[7]"
        return self.port(self._source(links[0]), int(self._table["source_port"][links[0]]))

    def _near_guid(self, guid: int, first: int) -> str:
        """The GUID that has most of its digits in the same places, if that is three in four."""
        wanted = f"{guid:016x}"

        def equal(node: int) -> int:
            return sum(one == other for one, other in zip(wanted, f"{self.guids[node]:016x}", strict=True))

        near = max(range(first, len(self)), key=equal, default=None)
        if near is None or equal(near) < 12:
            return ""
        return f"; did you mean {guid_text(self.guids[near])} ({self.names[near]})?"


def without(fabric: Fabric, *, links: Sequence[int] = (), switches: Sequence[int] = ()) -> Fabric:
    """The fabric without some cables and switches, all numbers as they were.

    Parameters
    ----------
    fabric : Fabric
        The whole.
    links : sequence of int
        Links of cables to take out.
    switches : sequence of int
        Nodes of switches to take out, with all of their cables.

    Examples
    --------
    >>> import netloom as nl
    >>> tree = nl.Fabric.generate("two-level:leaves=2,hosts=1,spines=2")
    >>> int(without(tree, switches=[Nodes(tree).find("spine01")]).link_table()["alive"].sum())
    8
    """
    whole, names = _told_apart(fabric, Nodes(fabric))
    return whole.damage(links=_ends(fabric, names, links), switches=[names[node] for node in switches])[0]


def damaged(
    fabric: Fabric, *, links: Sequence[str] = (), switches: Sequence[str] = (), **options: int
) -> tuple[Fabric, list[str]]:
    """`Fabric.damage`, which takes names, with GUIDs and LIDs too: what is left, and what was taken out.

    Raises
    ------
    FabricError
        If something is not there, or its name is another's too.
    """
    nodes = Nodes(fabric)
    by_name = not any(map(nodes.is_not_a_name, [*links, *switches]))
    if by_name:
        return fabric.damage(links=links, switches=switches, **options)
    whole, names = _told_apart(fabric, nodes)
    left, removed = whole.damage(
        links=_ends(fabric, names, [nodes.find_port(word, option="--link") for word in links]),
        switches=[names[nodes.find(word, option="--switch", switches=True)] for word in switches],
        **options,
    )
    if whole is fabric:
        return left, removed
    labels = dict(zip(names[nodes.hosts :], nodes.labels[nodes.hosts :], strict=True))
    known = re.compile(r"\bs[0-9]+\b")
    told = [known.sub(lambda match: labels.get(match[0], match[0]), line) for line in removed]
    return _renamed(left, nodes.guids[nodes.hosts :], nodes.names[nodes.hosts :]), told


def _ends(fabric: Fabric, names: list[str], links: Sequence[int]) -> list[str]:
    table = fabric.link_table()
    return [f"{names[table['source'][link]]}[{table['source_port'][link]}]" for link in links]


def _told_apart(fabric: Fabric, nodes: Nodes) -> tuple[Fabric, list[str]]:
    """The fabric, or where names are shared a twin with switches named by number; and its nodes' names.

    All numbers are the same: names by number keep the order of nodes.
    """
    if len(set(nodes.names)) == len(nodes):
        return fabric, nodes.names
    width = len(str(fabric.switches))
    numbers = [f"s{number:0{width}}" for number in range(fabric.switches)]
    twin = _renamed(fabric, nodes.guids[nodes.hosts :], numbers)
    assert Nodes(twin).guids == nodes.guids, "a name map keeps the order of nodes"
    return twin, [*nodes.names[: nodes.hosts], *twin.switch_names]


def _renamed(fabric: Fabric, guids: Sequence[int], names: Sequence[str]) -> Fabric:
    from netloom import _core

    lines = [f'{guid_text(guid)} "{name}"\n' for guid, name in zip(guids, names, strict=True)]
    return _core.Fabric.parse(fabric.to_bytes("ibnetdiscover"), name_map="".join(lines).encode())


def guid_text(guid: int) -> str:
    """A GUID as OpenSM's tools print it: `0x0002c90200000000`."""
    return f"0x{guid:016x}"
