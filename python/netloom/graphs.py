"""Fabrics from what other libraries call graphs: networkx, and lists of edges.

A cable is an undirected edge, or two directed ones that lead back and forth. What a graph does not say is
made up and told as a finding: ports are numbered in the order of edges, speeds are the default's. An edge
from a node to itself is left out, and told.

Invariant: `from_networkx(fabric.to_networkx())` has the hosts, the cables with their ports and speeds, and
the dead ones of `fabric`; GUIDs and LIDs are new, as a graph has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from netloom import extras
from netloom._core import Fabric
from netloom.errors import FabricError

if TYPE_CHECKING:
    import networkx

BANDWIDTH = 12.5e9
"""Bytes per second of a cable whose speed nobody said: 100 Gb/s."""
_PORTS = 65534


@dataclass
class _Cable:
    """Two ends, each a node and a port (None: not said), a speed, and whether it works."""

    ends: tuple[Hashable, Hashable]
    ports: tuple[int | None, int | None]
    bandwidth: float
    alive: bool = True


@dataclass
class _Graph:
    """What a fabric is made of: names and kinds (None: not said) by node, cables, what was left out."""

    names: dict[Hashable, str]
    kinds: dict[Hashable, str | None]
    cables: list[_Cable]
    findings: list[tuple[str, str]] = field(default_factory=list)


def from_networkx(graph: networkx.Graph, *, bandwidth_bytes_per_s: float = BANDWIDTH) -> Fabric:
    """A fabric from a networkx graph.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Nodes may have `kind` ("host" or "switch"; if no node has, those with one cable are hosts) and `name`.
        Edges may have `bandwidth_bytes_per_s`, `alive`, and ports: `from_port` and `to_port` where edges are
        directed, else `ports`, a mapping from both ends. A host with several cables becomes as many hosts of
        one machine, `NAME.PORT`.
    bandwidth_bytes_per_s : float
        Of edges that do not say.

    Raises
    ------
    FabricError
        Where nodes and edges make no fabric: an unknown kind, two cables in one port, hosts joined to hosts,
        no host or no switch, a speed or a port that is none.
    """
    if not hasattr(graph, "is_directed"):
        raise FabricError(f"expected a networkx graph, found {type(graph).__name__}")
    kinds = {node: data.get("kind") for node, data in graph.nodes(data=True)}
    names = {node: str(data.get("name", node)) for node, data in graph.nodes(data=True)}
    found = _Graph(names, kinds, [])
    edges = [(a, b, data) for a, b, data in graph.edges(data=True) if not _loop(found, a, b)]
    whole = _undirected if not graph.is_directed() else _directed
    found.cables = whole(edges, bandwidth_bytes_per_s)
    return _fabric(found, bandwidth_bytes_per_s, any("bandwidth_bytes_per_s" not in d for *_, d in edges))


def from_edges(
    edges: Iterable[Sequence[Any]],
    *,
    hosts: Iterable[Hashable] | None = None,
    bandwidth_bytes_per_s: float = BANDWIDTH,
) -> Fabric:
    """A fabric from a list of cables.

    Parameters
    ----------
    edges : iterable of (a, b) or (a, b, bandwidth_bytes_per_s)
        The two ends of each cable, by any name; a pair that comes twice is two cables.
    hosts : iterable, optional
        Which names are hosts. [default: those with one cable]
    bandwidth_bytes_per_s : float
        Of edges that do not say.

    Raises
    ------
    FabricError
        As of `from_networkx`; also for an edge that is neither a pair nor a triple.
    """
    found = _Graph({}, {}, [])
    unsaid = False
    for number, edge in enumerate(edges):
        if isinstance(edge, str) or len(edge) not in (2, 3):
            raise FabricError(f"edge {number}: expected (a, b) or (a, b, bytes per second), found {edge!r}")
        a, b = edge[0], edge[1]
        for node in (a, b):
            found.names.setdefault(node, str(node))
            found.kinds.setdefault(node, None)
        if _loop(found, a, b):
            continue
        unsaid |= len(edge) == 2
        speed = _number(edge[2], f"edge {number}") if len(edge) == 3 else bandwidth_bytes_per_s
        found.cables.append(_Cable((a, b), (None, None), speed))
    if hosts is not None:
        chosen = set(hosts)
        unknown = [host for host in chosen if host not in found.names]
        if unknown:
            raise FabricError(f'host "{sorted(map(str, unknown))[0]}" is at no cable')
        found.kinds = {node: "host" if node in chosen else "switch" for node in found.names}
    return _fabric(found, bandwidth_bytes_per_s, unsaid)


def _loop(found: _Graph, a: Hashable, b: Hashable) -> bool:
    if a == b:
        found.findings.append(("self-cable", f"a cable from {found.names[a]} to itself is left out"))
    return a == b


def _number(value: Any, where: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise FabricError(f"{where}: expected a bandwidth in bytes per second, found {value!r}") from None


def _port(value: Any, where: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _PORTS:
        raise FabricError(f"{where}: expected a port from 1 to {_PORTS}, found {value!r}")
    return value


def _undirected(edges: Iterable[tuple[Any, Any, Mapping[str, Any]]], bandwidth: float) -> list[_Cable]:
    cables = []
    for a, b, data in edges:
        where = f"edge {a} - {b}"
        ports = data.get("ports") or {}
        if not isinstance(ports, Mapping):
            raise FabricError(f"{where}: expected ports as a mapping from both ends, found {ports!r}")
        speed = _number(data.get("bandwidth_bytes_per_s", bandwidth), where)
        ends = (_port(ports.get(a), where), _port(ports.get(b), where))
        cables.append(_Cable((a, b), ends, speed, bool(data.get("alive", True))))
    return cables


def _directed(edges: Sequence[tuple[Any, Any, Mapping[str, Any]]], bandwidth: float) -> list[_Cable]:
    """Both directions of a cable are one; those without ports are matched by their number."""
    cables: list[_Cable] = []
    known: set[tuple[Any, ...]] = set()
    there: Counter[tuple[Any, Any]] = Counter()
    for a, b, data in edges:
        where = f"edge {a} -> {b}"
        ports = (_port(data.get("from_port"), where), _port(data.get("to_port"), where))
        speed = _number(data.get("bandwidth_bytes_per_s", bandwidth), where)
        if None in ports:
            there[a, b] += 1
            # Its other direction came before.
            if there[a, b] <= there[b, a]:
                continue
        else:
            if (b, ports[1], a, ports[0]) in known:
                continue
            known.add((a, ports[0], b, ports[1]))
        cables.append(_Cable((a, b), ports, speed, bool(data.get("alive", True))))
    return cables


def _fabric(found: _Graph, bandwidth: float, unsaid: bool) -> Fabric:
    degree = Counter(node for cable in found.cables for node in cable.ends)
    said = any(kind is not None for kind in found.kinds.values())
    for node, kind in found.kinds.items():
        if kind not in (None, "host", "switch"):
            raise FabricError(f'node {found.names[node]}: kind {kind!r}: expected "host" or "switch"')
    if not said:
        found.kinds = {node: None for node in found.kinds if degree[node]}
        found.findings += [
            ("unlinked-host", f"{found.names[node]} has no cable and is left out")
            for node in found.names
            if not degree[node]
        ]
    is_host = {node: kind == "host" if said else degree[node] == 1 for node, kind in found.kinds.items()}
    idle = [node for node, host in is_host.items() if host and not degree[node]]
    for node in idle:
        found.findings.append(("unlinked-host", f"host {found.names[node]} has no cable and is left out"))
    if not said and found.kinds:
        single = sum(is_host.values())
        taken = f"{single:,} with one cable are hosts, {len(is_host) - single:,} switches"
        found.findings.append(("no-kind", f"no node says its kind: {taken}"))
    _numbered(found, is_host)
    if unsaid and found.cables:
        found.findings.append(
            ("no-speed", f"cables that do not say their speed are taken for {bandwidth / 1.25e8:g} Gb/s")
        )
    hosts: dict[tuple[Hashable, int], int] = {}
    rows: list[tuple[str, str, int]] = []
    radix = {node: 1 for node, host in is_host.items() if not host}
    for cable in found.cables:
        for node, port in zip(cable.ends, cable.ports, strict=True):
            assert port is not None
            if not is_host[node]:
                radix[node] = max(radix[node], port)
            elif (node, port) not in hosts:
                hosts[node, port] = len(rows)
                machine = found.names[node]
                rows.append((machine if degree[node] == 1 else f"{machine}.{port}", machine, port))
    switch = {node: at for at, node in enumerate(radix)}
    at = {**{(node, None): len(rows) + i for node, i in switch.items()}}
    ends = [
        tuple(
            (hosts[node, port or 0] if is_host[node] else at[node, None], port or 0)
            for node, port in zip(cable.ends, cable.ports, strict=True)
        )
        for cable in found.cables
    ]
    fabric = Fabric.from_cables(
        rows,
        [(found.names[node], ports) for node, ports in radix.items()],
        [(a, p, b, q, cable.bandwidth) for ((a, p), (b, q)), cable in zip(ends, found.cables, strict=True)],
        findings=found.findings,
    )
    dead = [
        f"{found.names[node]}[{port}]"
        for cable in found.cables
        if not cable.alive
        for node, port in zip(cable.ends, cable.ports, strict=True)
        if not is_host[node]
    ]
    return fabric.damage(links=sorted(set(dead)))[0] if dead else fabric


def _numbered(found: _Graph, is_host: Mapping[Hashable, bool]) -> None:
    """Gives every end without a port the lowest free one of its node."""
    taken: dict[Hashable, set[int]] = {node: set() for node in found.names}
    for cable in found.cables:
        for node, port in zip(cable.ends, cable.ports, strict=True):
            if port is not None:
                if port in taken[node]:
                    raise FabricError(f'port {port} of "{found.names[node]}" has two cables')
                taken[node].add(port)
    following = dict.fromkeys(found.names, 1)
    made = 0
    for cable in found.cables:
        ports = list(cable.ports)
        for i, node in enumerate(cable.ends):
            if ports[i] is None:
                while following[node] in taken[node]:
                    following[node] += 1
                ports[i] = following[node]
                taken[node].add(following[node])
                made += 1
        cable.ports = (ports[0], ports[1])
    if made:
        found.findings.append(
            ("unnamed-port", f"{made:,} ends of cables say no port: numbered in their order")
        )


def to_networkx(fabric: Fabric) -> networkx.MultiDiGraph:
    """Returns the fabric as a `networkx.MultiDiGraph`.

    Nodes are ids (hosts first, then switches) with `kind` ("host" or "switch"), `name`, and for switches
    `level`; edges are directed links with `link` (id), `from_port`, `to_port`, `ports` (by both ends),
    `bandwidth_bytes_per_s` and `alive`. Both directions of a cable have one key, the port at the node with
    the lower id, so that `to_undirected()` has an edge a cable.

    Raises
    ------
    NotInstalledError
        If networkx is not installed (`pip install 'netloom-hpc[networkx]'`).
    """
    extras.need("networkx")
    import networkx as nx

    graph = nx.MultiDiGraph(hosts_hash=fabric.hosts_hash, cabling_hash=fabric.cabling_hash)
    graph.add_nodes_from((i, {"kind": "host", "name": name}) for i, name in enumerate(fabric.host_names))
    levels = fabric.switch_table()["level"].tolist()
    graph.add_nodes_from(
        (fabric.hosts + i, {"kind": "switch", "name": name, "level": level})
        for i, (name, level) in enumerate(zip(fabric.switch_names, levels, strict=True))
    )
    links = {key: column.tolist() for key, column in fabric.link_table().items()}
    attributes = ("source_port", "target_port", "bandwidth_bytes_per_s", "alive")
    rows = zip(links["source"], links["target"], *(links[key] for key in attributes), strict=True)
    # networkx itself is a Python loop over edges; there is no other door.
    graph.add_edges_from(
        (
            a,
            b,
            port if a < b else to_port,
            {
                "link": i,
                "from_port": port,
                "to_port": to_port,
                "ports": {a: port, b: to_port},
                "bandwidth_bytes_per_s": speed,
                "alive": alive,
            },
        )
        for i, (a, b, port, to_port, speed, alive) in enumerate(rows)
    )
    return graph
