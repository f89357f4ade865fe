"""The Rust core behind one door. Written by hand; checked against the extension by mypy's stubtest."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, final

import networkx
import numpy as np
import numpy.typing as npt
import pandas
import pyarrow
import scipy.sparse
from typing_extensions import Self, disjoint_base

__all__ = [
    "Certificate",
    "CheckReport",
    "Counters",
    "Equations",
    "ExactModel",
    "ExactPlan",
    "Fabric",
    "Hose",
    "HoseLoads",
    "Inferred",
    "Job",
    "LaneTables",
    "LinkLoads",
    "MixReport",
    "Optimized",
    "OptimizedHose",
    "OptimizedLayers",
    "Outcome",
    "Recovered",
    "Routes",
    "Sampled",
    "Scenario",
    "Simulation",
    "Traffic",
    "Verdict",
    "__version__",
    "afar",
    "allow_input",
    "bases",
    "bound_classes",
    "check",
    "check_scheme",
    "coefficients",
    "coloured",
    "dead_entries",
    "decode_packets",
    "ecmp_loads",
    "engines",
    "error_counters",
    "exact_model",
    "expand_hostlist",
    "goal_form",
    "gunzip",
    "hose_loads",
    "infer",
    "is_engine",
    "is_generator",
    "is_pattern",
    "lane_loads",
    "lane_tables",
    "link_users",
    "links_at_max_bound",
    "loads",
    "mix",
    "most_input",
    "optimize",
    "optimize_hose",
    "optimize_judged",
    "optimize_layers",
    "optimize_lmc",
    "patched",
    "place_jobs",
    "plan",
    "plan_applications",
    "plan_files",
    "plan_hosts",
    "recover",
    "remove_temporaries",
    "repaired",
    "route",
    "sample",
    "sampling_hash",
    "sampling_ports",
    "scheme_loads",
    "schemes",
    "simulate",
    "sparsity",
    "stages",
    "synth_counters",
    "trace_events",
    "trace_files",
    "traffic_format",
    "traffic_of_columns",
    "unpickled",
    "verify_certificate",
    "write_atomic",
]

__version__: str

_Path: TypeAlias = str | os.PathLike[str]
_Progress: TypeAlias = Callable[[int, int], object] | None

@final
class Fabric:
    """Hosts, switches and directed links of one network. Immutable."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @staticmethod
    def read(source: _Path, *, name_map: _Path | None = None) -> Fabric: ...
    @staticmethod
    def generate(spec: str) -> Fabric: ...
    @staticmethod
    def parse(
        data: bytes,
        *,
        label: str = "<bytes>",
        name_map: bytes | None = None,
        name_map_label: str = "<name map>",
        plane: str | None = None,
    ) -> Fabric: ...
    @staticmethod
    def from_cables(
        hosts: Sequence[tuple[str, str, int]],
        switches: Sequence[tuple[str, int]],
        cables: Sequence[tuple[int, int, int, int, float]],
        *,
        findings: Sequence[tuple[str, str]] = ...,
    ) -> Fabric:
        """From (name, machine, port), (name, radix) and (node, port, node, port, bytes per second)."""
    @staticmethod
    def from_networkx(graph: networkx.Graph[Any], **options: Any) -> Fabric:
        """From a networkx graph; options as of `netloom.graphs.from_networkx`."""
    @staticmethod
    def from_edges(edges: Any, **options: Any) -> Fabric:
        """From a list of edges; options as of `netloom.graphs.from_edges`."""
    @property
    def hosts(self) -> int: ...
    @property
    def switches(self) -> int: ...
    @property
    def links(self) -> int: ...
    @property
    def levels(self) -> int: ...
    @property
    def pods(self) -> int: ...
    @property
    def core_groups(self) -> int: ...
    @property
    def regular(self) -> bool: ...
    @property
    def irregular(self) -> str | None:
        """Why the fabric is not a perfect tree; None if it is one."""
    @property
    def shape(self) -> dict[str, Any]:
        """What kind of network it is: `kind` is tree, dragonfly or graph; of a dragonfly also its groups."""
    @property
    def has_other_shortest(self) -> bool:
        """Whether it has shortest ways, with the fewest links between switches, that are not up*/down*."""
    @property
    def lmc(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def findings(self) -> list[dict[str, str]]:
        """What is odd about it, each {"kind": …, "text": …}: `netloom.findings` says how bad a kind is."""
    @property
    def hosts_hash(self) -> str: ...
    @property
    def cabling_hash(self) -> str: ...
    @property
    def host_names(self) -> list[str]: ...
    @property
    def switch_names(self) -> list[str]: ...
    def switches_per_level(self) -> list[int]: ...
    def link_speeds(self) -> list[tuple[float, int]]: ...
    def stages(self) -> list[dict[str, Any]]: ...
    @property
    def rails(self) -> int: ...
    def host_table(self) -> dict[str, Any]: ...
    def switch_table(self) -> dict[str, Any]: ...
    def link_table(self) -> dict[str, Any]: ...
    def damage(
        self,
        *,
        links: Sequence[str] = ...,
        switches: Sequence[str] = ...,
        random_links: int = 0,
        random_switches: int = 0,
        seed: int = 0,
    ) -> tuple[Fabric, list[str]]: ...
    def with_roots(self, roots: Sequence[str]) -> Fabric: ...
    def with_groups(self, groups: Sequence[int]) -> Fabric: ...
    @property
    def order(self) -> str | None: ...
    def to_bytes(self, format: Literal["ibnetdiscover", "ibsim", "cables", "dot"]) -> bytes: ...
    def write(
        self, path: _Path, *, format: Literal["ibnetdiscover", "ibsim", "cables", "dot"] | None = None
    ) -> None: ...
    def to_networkx(self) -> networkx.MultiDiGraph: ...
    def to_arrow(self) -> pyarrow.Table: ...
    def to_pandas(self) -> pandas.DataFrame: ...

@final
class Traffic:
    """Sparse bytes from endpoint to endpoint: hosts once placed on a fabric, ranks before. Immutable."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @staticmethod
    def read(
        source: _Path,
        fabric: Fabric | None = None,
        *,
        seed: int | None = None,
        collectives: Literal["all", "none"] | None = None,
    ) -> Traffic:
        """Reads a file by its ending, or makes the pattern that a spec names.

        `collectives` says whether those of traces count: `all` (also if None), or `none`.
        """
    @staticmethod
    def parse(
        data: bytes,
        format: Literal["mtx", "csv", "dense", "ti", "goal", "dumpi", "otf2", "chakra"],
        *,
        label: str = "<bytes>",
        collectives: Literal["all", "none"] | None = None,
    ) -> Traffic: ...
    @staticmethod
    def pattern(spec: str, endpoints: int | None = None) -> Traffic: ...
    @staticmethod
    def from_triples(
        endpoints: int | Fabric,
        sources: npt.ArrayLike,
        destinations: npt.ArrayLike,
        bytes: npt.ArrayLike,
        packets: npt.ArrayLike | None = None,
        *,
        hosts_hash: str | None = None,
    ) -> Traffic: ...
    @staticmethod
    def from_scipy(matrix: Any, *, hosts_hash: str | None = None) -> Traffic: ...
    @staticmethod
    def from_pandas(
        frame: pandas.DataFrame, fabric: Fabric | None = None, *, endpoints: int | None = None
    ) -> Traffic:
        """From columns source, destination and bytes: numbers, or names of the fabric's hosts."""
    @property
    def endpoints(self) -> int: ...
    @property
    def pairs(self) -> int: ...
    @property
    def total_bytes(self) -> float: ...
    @property
    def made_of(self) -> dict[str, float]:
        """Bytes: `point_to_point`, `collective`, `within_endpoints` (of both; no link), `left_out`."""
    @property
    def notes(self) -> list[tuple[str, str]]:
        """What to know of what it was read from: kind and text of each."""
    @property
    def hosts_hash(self) -> str | None: ...
    @property
    def phase_names(self) -> list[str]: ...
    @property
    def phase_repeats(self) -> list[float]: ...
    @property
    def indptr(self) -> npt.NDArray[np.int64]: ...
    @property
    def indices(self) -> npt.NDArray[np.int32]: ...
    @property
    def data(self) -> npt.NDArray[np.float64]: ...
    def phase(self, index: int) -> Traffic: ...
    def mean_hops(self, fabric: Fabric) -> float | None:
        """Mean links from host to host over the pairs; None if no way joins any."""
    def perturbed(self, error: float, *, seed: int = 0) -> Traffic: ...
    def perturbed_by(self, errors: Traffic, *, seed: int = 0) -> Traffic: ...
    def place(
        self,
        fabric: Fabric,
        *,
        allocation: str = "fragmented",
        mapping: str = "block",
        ranks_per_host: int | None = None,
        copies: int = 1,
        cross_copies: bool = False,
        grid: Sequence[int] | None = None,
        hosts: str | None = None,
        seed: int = 0,
    ) -> Traffic: ...
    def __add__(self, other: Traffic, /) -> Traffic: ...
    def __radd__(self, other: Literal[0], /) -> Traffic: ...
    def __mul__(self, factor: float, /) -> Traffic: ...
    def __rmul__(self, factor: float, /) -> Traffic: ...
    def to_scipy(self, *, copy: bool = True) -> scipy.sparse.csr_array: ...
    def to_arrow(self) -> pyarrow.Table: ...
    def to_pandas(self) -> pandas.DataFrame: ...
    def to_bytes(self, format: Literal["mtx", "csv"]) -> bytes: ...
    def write(self, path: _Path) -> None: ...

@final
class Hose:
    """What every host sends and receives in all, whoever talks to whom. Immutable."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @staticmethod
    def read(path: _Path, fabric: Fabric | None = None) -> Hose: ...
    @staticmethod
    def of(traffic: Traffic) -> Hose: ...
    @property
    def sent(self) -> npt.NDArray[np.float64]: ...
    @property
    def received(self) -> npt.NDArray[np.float64]: ...
    def to_bytes(self, fabric: Fabric) -> bytes:
        """`host,sent,received`, as `read` reads it."""
    @property
    def hosts_hash(self) -> str | None: ...

@final
class Job:
    """A job that runs: its hosts and the host of every rank."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @property
    def name(self) -> str: ...
    @property
    def hosts(self) -> npt.NDArray[np.uint32]: ...
    @property
    def host_of_rank(self) -> npt.NDArray[np.uint32]: ...

@final
class Scenario:
    """A scenario with its fabric made, its files read and its jobs placed. Immutable."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @staticmethod
    def read(path: _Path, overrides: Sequence[str] = ...) -> Scenario:
        """Reads a scenario and all files that it names, with overrides (`hardware.lanes=2`) put into it."""
    @staticmethod
    def on(fabric: Fabric, text: str, label: str, folder: _Path) -> Scenario:
        """A scenario as text, on a fabric that is at hand; files are relative to `folder`."""
    @staticmethod
    def of_traffic(fabric: Fabric, traffic: Traffic) -> Scenario:
        """A traffic as a program: phase after phase, every host sends all at once and waits for all."""
    @staticmethod
    def parse(
        data: bytes,
        *,
        label: str = "<bytes>",
        folder: _Path = ...,
        overrides: Sequence[str] = ...,
        name: str = "scenario",
    ) -> Scenario:
        """Parses a scenario whose files are relative to `folder`."""
    @staticmethod
    def from_dict(scenario: Mapping[str, Any], *, folder: _Path | None = None) -> Scenario:
        """From a dictionary with the keys of a scenario's file; files are relative to `folder`."""
    @staticmethod
    def opensm_overrides(data: bytes, *, label: str = "<bytes>") -> list[str]:
        """What OpenSM's congestion control options (`opensm.conf`) say, as overrides of a scenario."""
    def opensm_options(self) -> bytes | None:
        """Its congestion control as options of OpenSM; `None` unless it is InfiniBand's."""
    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def model(self) -> Literal["packet", "fluid"]: ...
    @property
    def profile(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def routings(self) -> list[str]:
        """The routings to compare, in the scenario's own words."""
    @property
    def fabric(self) -> Fabric: ...
    @property
    def fabric_source(self) -> str:
        """The fabric as the scenario names it: a generator's spec, or a file beside the scenario."""
    @property
    def jobs(self) -> list[Job]: ...
    @property
    def jobs_of_file(self) -> list[str] | None:
        """Jobs of a jobs file as it has them (copies are one): their matrices run. None for programs."""
    @property
    def offering(self) -> list[str]:
        """Names of the jobs that offer load (`kind = "uniform"`)."""
    @property
    def repeating(self) -> list[str]:
        """Jobs that start over until another ends."""
    def alone(self, job: str) -> Scenario:
        """One of its jobs by itself, on the same hosts; once, where it starts over until another ends."""
    @property
    def files(self) -> list[tuple[str, str]]:
        """Every other file that it names: (role, path)."""
    def routes(
        self, routing: str, *, threads: int = 0, work: int | None = None, progress: _Progress = None
    ) -> Routes | None:
        """The tables of a routing, checked; None for one that chooses packet by packet."""
    def optimized(
        self,
        routing: str = "optimized",
        *,
        threads: int = 0,
        work: int | None = None,
        progress: _Progress = None,
    ) -> tuple[Routes, dict[str, Any]]:
        """The tables of `optimized` (or `optimized:phases`), and how they were chosen."""
    def traffic(self, routing: str = "optimized") -> Traffic:
        """What `optimized` (or `optimized:phases`) routes are optimised for, host to host."""
    def with_traffic(self, traffic: Traffic) -> Scenario:
        """The same hardware with one job over all hosts, which sends at once what a traffic says."""

@final
class Sampled:
    """What a run has shown, and what was sampled in its packets. Immutable. Tables as in `Simulation`."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @property
    def simulation(self) -> Simulation:
        """What the run has shown besides."""
    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C came, be it when nothing was left to cut short."""
    def settings(self) -> dict[str, Any]:
        """How it was sampled, as a result tells it."""
    def contexts(self) -> dict[str, Any]:
        """By context: context, job (its number), phase, packets, sampled, bytes."""
    def samples(self) -> dict[str, npt.NDArray[Any]]:
        """By window, context and link: window, start_ps, end_ps, context, link, traffic, …, tested."""
    def received(self) -> dict[str, npt.NDArray[Any]]:
        """Exact: window, context, source, destination, packets, bytes."""
    def packets(self) -> dict[str, npt.NDArray[Any]] | None:
        """Sampled packets: time_ps, context, id, source, destination, hops, bit or link, congested."""
    def truth(self) -> dict[str, npt.NDArray[Any]] | None:
        """Exact: window, start_ps, end_ps, context, link, traffic, congested."""

@final
class Simulation:
    """What a run of a scenario with one routing has shown. Immutable.

    Tables are dicts of equally long columns, units in their names.
    """

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @property
    def routing(self) -> str: ...
    @property
    def stopped(self) -> Literal["interrupted", "time-limit", "max-time", "deadlock"] | None:
        """Why it ended before all was done."""
    @property
    def end_ps(self) -> int:
        """Simulated time at the end."""
    @property
    def lanes(self) -> int: ...
    @property
    def kept(self) -> bool:
        """Whether the state was kept where it was asked for, the last time."""
    @property
    def not_kept(self) -> str | None:
        """Why the state could not be kept, the last time."""
    @property
    def routes(self) -> Routes | None: ...
    def result(self) -> dict[str, Any]:
        """One entry of a result's `runs`."""
    def ranks(self) -> dict[str, npt.NDArray[Any]]:
        """When every rank ended: job (number), rank, host, end_ps (-1: it did not)."""
    def counters(self) -> dict[str, npt.NDArray[Any]]:
        """By link and lane: link, lane, xmit_bytes, xmit_packets, wait_ticks (of 1 ns)."""
    def histograms(self) -> dict[str, Any]:
        """Latencies: what (messages, packets), job, from_ps, to_ps, count."""
    def intervals(self) -> dict[str, Any] | None:
        """Counters by interval: start_ps, end_ps, link, lane (255: all), xmit_bytes, …, wait_ticks (1 ns)."""
    def counted(
        self,
        vl_scheme: str | None = None,
        *,
        noise: float = 0.0,
        skew: float = 0.0,
        missing: float = 0.0,
        seed: int = 0,
    ) -> Counters | None:
        """What links carried by interval, as the simulated ports counted it; None unless it was counted.

        With `vl_scheme` by virtual lane, as ports would that queue on one lane and count on several, from
        what was received by then; `noise`, `skew`, `missing` and `seed` as in `synth_counters`.
        """
    def sent(
        self,
        interval: int | None = None,
        *,
        unit: Literal["bytes", "packets", "mixed"] = "bytes",
        mtu_bytes: float = 4096.0,
    ) -> Traffic | None:
        """What hosts sent each other, headers included; None unless it was counted."""
    def messages(self) -> dict[str, Any] | None:
        """Every message of the jobs asked for, by job, from, to, collective, number; None unless asked for.

        Columns job (its number), from, to (ranks), collective, number (which of its sender's messages, the
        same in every run of the job; of a graph of tasks the task), bytes, posted_ps, latency_ps (from its
        posting to its last byte), asking_ps (of question and answer, if it is longer than the eager limit).
        Where packets are answered (`hardware.window_packets`), what the sender's adapter has counted of each:
        flits, stalled_cycles, packets, latency_cycles (from packets to their responses), network_ps (from
        when its first packet was ready to leave until its last byte came), eq2_ps and window_ps (that time by
        the transmission model, as published and with a window that slides); all 0 if the last response did
        not come.
        `cut`: there were more than 4,000,000 arrivals (a message that asks first has three), and the last are
        missing.
        """
    def adapters(self) -> dict[str, Any] | None:
        """What adapters have counted: columns host, flits, stalled_cycles, packets, latency_cycles.

        None where packets are not answered.
        """
    def queues(self) -> dict[str, Any] | None:
        """The longest queues of every sample: time_ps, link, bytes."""
    def queue_levels(self) -> dict[str, Any] | None:
        """All queues by level and sample: time_ps, level, links, mean_bytes, max_bytes."""
    def trace(self) -> bytes | None:
        """A trace for Perfetto, if the scenario asks for it."""

@final
class Routes:
    """One output port per switch and destination (or per source on the way up, for s-mod-k). Immutable."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @staticmethod
    def read(path: _Path, fabric: Fabric, *, strict: bool = True) -> Routes: ...
    @staticmethod
    def parse(data: bytes, fabric: Fabric, *, label: str = "<bytes>", strict: bool = True) -> Routes: ...
    @property
    def lmc(self) -> int: ...
    @property
    def faults(self) -> list[tuple[int, str, str]]:
        """What a lenient read (`strict=False`) left out: (line, kind, text)."""
    @staticmethod
    def from_table(fabric: Fabric, table: npt.NDArray[np.uint16], *, lmc: int = 0) -> Routes:
        """From ports as `table()` gives them; destinations are hosts, or these and the switches.

        Raises RoutingError for another shape, or a port without a cable, with its place.
        """
    def table(self) -> npt.NDArray[np.uint16]:
        """Ports, [switch][destination]; 65535 = no entry."""
    def path(self, source: int, destination: int) -> list[int]:
        """Link ids from host to host."""
    def changed_entries(self, other: Routes) -> int: ...
    def with_switches_of(self, present: Routes) -> Routes:
        """The same, with the entries of `present` for the switches' own addresses where these have none."""
    def mixed(self, other: Routes, destinations: Sequence[int]) -> Routes:
        """These tables with those of another for some destinations (hosts)."""
    def moved(self, other: Routes, traffic: Traffic) -> float:
        """The share of a traffic's bytes, 0 to 1, that takes another way by other routes."""
    def with_paths(self, data: bytes, *, label: str = "<bytes>") -> Routes:
        """The same tables with the path of every pair (CSV): which of its addresses each sender uses."""
    @property
    def lanes(self) -> LaneTables | None:
        """The lanes of their packets; None: all are on one."""
    def with_lanes(self, lanes: LaneTables | None) -> Routes:
        """The same tables with other lanes, or none.

        Raises
        ------
        RoutingError
            If the lanes are of a fabric with other cables.
        """
    @property
    def pairs_off_base(self) -> int:
        """How many pairs do not use the base address of their destination."""
    def changed_paths(self, other: Routes) -> int:
        """How many pairs use another of their destination's addresses."""
    def paths_to_bytes(self) -> bytes:
        """CSV `source,destination,path` of the pairs that do not use the base address."""
    def write_paths(self, path: _Path) -> None: ...
    def to_bytes(self) -> bytes: ...
    def write(
        self,
        path: _Path,
        *,
        allow_unreachable: bool = False,
        sl2vl: _Path | None = None,
        sl: _Path | None = None,
        lanes: bool = False,
        levels: bool = False,
    ) -> None: ...
    def check_file(
        self, *, allow_unreachable: bool = False, lanes: bool = False, levels: bool = False
    ) -> None:
        """Raises what `write` would: routes that can deadlock, lose pairs of hosts, or fit no file."""

@final
class Certificate:
    """A lower bound on the maximum link load, with the argument it rests on."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @staticmethod
    def read(path: _Path, fabric: Fabric) -> Certificate: ...
    @staticmethod
    def parse(data: bytes, fabric: Fabric, *, label: str = "<bytes>") -> Certificate: ...
    @property
    def claim(self) -> float: ...
    @property
    def place(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def bound_class(self) -> str:
        """What the argument is a bound of: a name in `bound_classes`."""
    def to_json(self) -> str: ...
    def write(self, path: _Path) -> None: ...

@final
class LinkLoads:
    """Load of every directed link, in bytes at the speed of the fastest link, with bounds."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @property
    def per_link(self) -> npt.NDArray[np.float64]: ...
    @property
    def max(self) -> float: ...
    @property
    def mean(self) -> float: ...
    @property
    def max_between_switches(self) -> float: ...
    @property
    def links_at_max(self) -> int: ...
    @property
    def ar_bound(self) -> float: ...
    @property
    def ar_bound_upper(self) -> float: ...
    @property
    def ar_bound_exact(self) -> bool: ...
    @property
    def ar_bound_class(self) -> str:
        """What the AR bound is a bound of, at its widest: a name in `bound_classes`."""
    @property
    def ar_gap_percent(self) -> float | None:
        """None where the bound is not of such routes, or misleads on such a fabric: see `outside_because`."""
    @property
    def lower_bound(self) -> float: ...
    @property
    def lower_bound_gap_percent(self) -> float | None:
        """None where the bound is not of such routes, or misleads on such a fabric: see `outside_because`."""
    @property
    def bound_class(self) -> str:
        """What the lower bound is a bound of, at its widest: a name in `bound_classes`."""
    @property
    def outside_because(self) -> dict[str, str] | None:
        """Why a gap is None: `kind` ("fabric", "ways") and `text`."""
    @property
    def any_bound(self) -> float:
        """The best bound of any routes whatsoever, with detours and split at will."""
    @property
    def any_bound_at(self) -> str: ...
    @property
    def any_bound_gap_percent(self) -> float: ...
    @property
    def max_seconds(self) -> float:
        """What the fullest link needs for its bytes."""
    @property
    def host_bytes_max(self) -> float:
        """Bytes on the fullest link of a host: what the busiest host sends or receives."""
    @property
    def throughput(self) -> float:
        """The share of its link's rate that the busiest host gets, if all hosts slow down alike."""
    @property
    def mixed_speeds(self) -> bool:
        """Whether links have several speeds, so that a load is no number of bytes on its own link."""
    @property
    def bound_at(self) -> str: ...
    @property
    def proven_optimal(self) -> bool: ...
    @property
    def certificate(self) -> Certificate: ...
    @property
    def stopped(self) -> Literal["interrupted", "time-limit"] | None: ...
    def hottest(self, count: int = 10) -> list[dict[str, Any]]: ...
    def levels(self, count: int = 4) -> list[tuple[float, int]]:
        """The highest loads of links between switches, each with how many links carry it."""
    def to_arrow(self) -> pyarrow.Table: ...
    def to_pandas(self) -> pandas.DataFrame: ...

@disjoint_base
class Outcome:
    """Routes that a search found, and how it went: Optimized, OptimizedLayers and OptimizedHose extend it."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @property
    def routes(self) -> Routes: ...
    @property
    def proven_optimal(self) -> bool:
        """Whether what was minimised meets its lower bound."""
    @property
    def status(
        self,
    ) -> Literal[
        "optimal",
        "exhausted",
        "stopped: time",
        "stopped: work",
        "stopped: interrupted",
        "stopped: target",
        "stopped: lanes",
    ]:
        """How it ended: proven; nothing was left to try; or what ended it (`target`: its aim is met)."""
    @property
    def stopped(self) -> Literal["interrupted", "time-limit", "work", "lanes"] | None:
        """Why this is only the best so far; None if the search ended by itself."""
    @property
    def reproducible(self) -> bool: ...
    @property
    def work(self) -> int: ...
    @property
    def changed_entries(self) -> int | None:
        """Entries that differ from the routes it began with."""
    @property
    def changed_because(self) -> Literal["bound", "tail", "nothing", "engine"] | None:
        """What was gained on those; None where the method does not say (AFAR, one colouring)."""
    @property
    def best_engine(self) -> tuple[str, float] | None:
        """The best sound engine on this fabric, and what was minimised with its routes."""
    @property
    def with_lanes(self) -> tuple[str, float] | None:
        """The best engine whose routes need lanes, where `lanes` is false and they are not taken."""
    @property
    def searched(self) -> float | None:
        """What was minimised with the search's own routes, before they were held against others."""
    @property
    def taken_from(self) -> str | None:
        """Whose routes these are, where the search found none as good: `today`, or an engine."""
    def write(
        self,
        path: _Path,
        *,
        allow_unreachable: bool = False,
        sl2vl: _Path | None = None,
        sl: _Path | None = None,
    ) -> None: ...

@final
class Optimized(Outcome):
    """Routes made for a traffic, and how good they are."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @property
    def loads(self) -> LinkLoads: ...
    @property
    def certificate(self) -> Certificate: ...
    @property
    def history(self) -> list[dict[str, Any]]:
        """Every improvement: seconds, work, max_load, max_load_between_switches, links_at_max."""

@final
class Equations:
    """Counters as equations of pairs of hosts, for exact solvers. Immutable. `netloom.exact` drives it."""

    def __new__(
        cls,
        fabric: Fabric,
        routes: Routes | str,
        counters: Counters,
        jobs: Sequence[Job] | None = None,
        *,
        vl_scheme: str | None = None,
    ) -> Equations: ...
    @property
    def pairs(self) -> int: ...
    @property
    def rows(self) -> int: ...
    def arrays(self) -> dict[str, Any]:
        """Of pairs `source`, `destination`, `first` and `row`; of rows `bytes`, `deviation`, `weight`."""
    def fewest_flows(self, *, steps: int = 100_000, tolerance: float = 1e-8) -> dict[str, Any]:
        """Columns `pair`, `back`, `cost`; `slack` of rows; our `values`, `prices`, `steps`, `error`."""
    def atoms(self, sides: tuple[int, int, int], *, more: int = 0) -> dict[str, Any]:
        """Columns `first`, `row`, `value`; our `bytes`."""
    def least_change(
        self,
        guess: npt.NDArray[np.float64],
        *,
        opposite: float = 0.9,
        rounds: int = 30,
        steps: int = 1_000,
    ) -> dict[str, Any]:
        """Our `bytes`, and the `covariance` of the change."""

@final
class ExactModel:
    """A mixed-integer program for the routing of a traffic. Immutable. `netloom.exact` drives it."""

    @property
    def kind(self) -> str: ...
    @property
    def variables(self) -> int: ...
    @property
    def constraints(self) -> int: ...
    @property
    def scale(self) -> float:
        """Bytes of one unit of the first objective; 1 where it counts links."""
    def arrays(self) -> dict[str, npt.NDArray[Any]]: ...
    def objectives(self) -> list[tuple[str, npt.NDArray[np.int32], npt.NDArray[np.float64]]]: ...
    def sos1(self) -> list[list[int]]: ...
    def column_names(self) -> list[str]: ...
    def start(self, routes: Routes) -> npt.NDArray[np.float64] | None:
        """The value of every column under a routing; None if it loses traffic."""
    def routes(self, solution: npt.NDArray[np.float64], background: Routes) -> Routes: ...
    def mps(self) -> bytes: ...

@final
class ExactPlan:
    """Models that are made from the answers to earlier ones."""

    def __new__(
        cls,
        fabric: Fabric,
        traffic: Traffic,
        kind: Literal["partitioned", "multilevel"],
        start: Routes,
        *,
        host_links: bool = True,
    ) -> ExactPlan: ...
    def step(self) -> tuple[str, list[ExactModel], list[npt.NDArray[np.float64] | None]] | None: ...
    def answer(self, solutions: Sequence[npt.NDArray[np.float64] | None]) -> None: ...
    def routes(self, background: Routes) -> Routes: ...

@final
class OptimizedLayers(Outcome):
    """Routes made for several matrices, and how good they are for each."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @property
    def layers(self) -> list[tuple[str, float, LinkLoads]]:
        """Name, weight and loads of every matrix, in the order given."""
    @property
    def objective(self) -> float:
        """What was minimised: bytes, or for gaps a ratio of at least 1."""
    @property
    def objective_bound(self) -> float: ...
    @property
    def bound_class(self) -> str:
        """What that is a bound of: the narrowest class of the matrices' bounds."""
    @property
    def history(self) -> list[dict[str, Any]]:
        """Every improvement; max_load is the objective."""
    def value_of(self, max_loads: Sequence[float]) -> float:
        """What other routes' largest loads, one a layer, come to by the same objective.

        Raises
        ------
        ArgumentError
            If there are more or fewer than layers.
        """

@final
class HoseLoads:
    """The exact worst load of every link over all matrices within a hose."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @property
    def per_link(self) -> npt.NDArray[np.float64]: ...
    @property
    def max(self) -> float: ...
    @property
    def max_seconds(self) -> float: ...
    @property
    def mixed_speeds(self) -> bool: ...
    @property
    def mean(self) -> float: ...
    @property
    def max_between_switches(self) -> float: ...
    @property
    def links_at_max(self) -> int: ...
    def levels(self, count: int = 4) -> list[tuple[float, int]]: ...
    def hottest(self, count: int = 10) -> list[dict[str, Any]]: ...

@final
class OptimizedHose(Outcome):
    """Routes for a hose, and how good they are in the worst case."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @property
    def worst(self) -> HoseLoads: ...
    @property
    def worst_matrix(self) -> Traffic:
        """Within the sums, it loads the hottest link between switches to its worst."""
    @property
    def background_worst(self) -> float:
        """The same of the routes it began with, between switches."""
    @property
    def lower_bound(self) -> float: ...
    @property
    def bound_class(self) -> str: ...
    @property
    def outside_because(self) -> dict[str, str] | None:
        """Why the bound makes no gap on this fabric: `kind` and `text`."""
    @property
    def bound_at(self) -> str: ...
    @property
    def rounds(self) -> int: ...

@final
class CheckReport:
    """What `check` found."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @property
    def ok(self) -> bool: ...
    @property
    def pairs(self) -> int: ...
    @property
    def unreachable_pairs(self) -> int:
        """Pairs of a host and an address that it does not reach: hosts' and management's."""
    @property
    def unreachable_hosts(self) -> int:
        """Those of two hosts."""
    @property
    def holes(self) -> int:
        """Those of two hosts that working cables join."""
    @property
    def unreachable_management(self) -> int:
        """Those of a host and a switch's own LID."""
    @property
    def no_way_to_switch(self) -> int:
        """Those of the last to which no up*/down* way leads: ordinary engines leave them out."""
    @property
    def detours(self) -> int:
        """Those of `non_minimal_pairs` for which no up*/down* way is shorter."""
    @property
    def non_minimal_pairs(self) -> int: ...
    @property
    def credit_loops(self) -> int: ...
    @property
    def switch_credit_loops(self) -> int:
        """Such groups with packets to switches' own LIDs, where pairs have levels that keep hosts' apart."""
    @property
    def lanes(self) -> int:
        """Lanes that were told apart: 1 where links alone have no cycle, or there are no lanes."""
    @property
    def cycle(self) -> list[dict[str, Any]]:
        """Each {"link": …, "lane": …}: a whole cycle of waits, or nothing."""
    @property
    def missing_entries(self) -> int: ...
    @property
    def invalid_entries(self) -> int: ...
    @property
    def up_down_violations(self) -> int:
        """Pairs whose way is longer than the shortest, and goes up, or sideways, after it went down."""
    @property
    def shortest_turns(self) -> int:
        """Pairs whose path is shortest, but not up*/down*: no fault."""
    @property
    def findings(self) -> list[dict[str, str]]:
        """Each {"kind": …, "text": …, "class": "hosts" or "management"}, the first few of every kind."""

@final
class MixReport:
    """What any mix of old and new entries can do while switches change from one table to another."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @property
    def ok(self) -> bool:
        """Whether every mix is safe."""
    @property
    def changed_entries(self) -> int: ...
    @property
    def changed_destinations(self) -> int: ...
    @property
    def loops(self) -> int:
        """Destinations for which some mix has a loop."""
    @property
    def holes(self) -> int:
        """Destinations for which some mix loses packets that the old tables deliver."""
    @property
    def lost_before(self) -> int:
        """Changed destinations that the old tables do not reach from everywhere."""
    @property
    def credit_loops(self) -> int:
        """Groups of links that can wait in circles on the way, where neither table has such."""
    @property
    def findings(self) -> list[dict[str, str]]:
        """Each {"kind": …, "text": …}, the first few of every kind."""

@final
class Verdict:
    """What the independent checker says of a certificate."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @property
    def ok(self) -> bool: ...
    @property
    def optimal(self) -> bool: ...
    @property
    def max_load(self) -> float | None: ...
    @property
    def recomputed_bound(self) -> float: ...
    @property
    def reasons(self) -> list[str]: ...

@final
class Counters:
    """What the ports of a fabric counted, by interval. Immutable."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @staticmethod
    def read(path: _Path, fabric: Fabric) -> Counters:
        """Reads counters in any of the formats.

        One reading becomes an interval since the counters were last set back, several become intervals from
        each to the next.
        """
    @staticmethod
    def parse(data: bytes, fabric: Fabric, *, label: str = "<bytes>") -> Counters: ...
    @staticmethod
    def from_sysfs(files: Sequence[tuple[str, bytes]], fabric: Fabric, *, label: str = "<files>") -> Counters:
        """Counters in the files of a sysfs tree: their paths, and what they hold."""
    @property
    def fabric(self) -> Fabric:
        """Whose ports counted."""
    @property
    def kind(self) -> str:
        """What showed them."""
    @property
    def intervals(self) -> int: ...
    @property
    def readings(self) -> int:
        """How many absolute readings they were made of."""
    @property
    def notes(self) -> list[str]:
        """What was odd about the files."""
    @property
    def foreign(self) -> str | None:
        """Why a file is hardly of this fabric, if so."""
    @property
    def idle_bytes(self) -> float | None:
        """What hosts sent, bytes, if that is no more than management sends: nobody else was there."""
    def since(
        self, before: Counters, *, seconds: float | None = None, start_s: float | None = None
    ) -> Counters:
        """What was counted since an earlier reading; how long and since when, if files do not tell."""
    @property
    def port_errors(self) -> list[dict[str, str]]:
        """What error counters say, as findings: between readings, or, of one, since they were set back."""
    def error_counts(self, which: Literal["last", "first", "counted"]) -> dict[str, np.ndarray]:
        """Counters of errors, port by port, as columns.

        `link` leaves the port, `counter` is a place in `error_counters()`; `value`; `full`: it stands at its
        largest value; `impossible`: no count. Of several readings `last` has the latest value that each port
        told, `first` the earliest of those that told several; `counted` is what a file tells of its interval.
        """
    def fallen_since(self, before: Counters) -> tuple[int, int]:
        """How many counters of data and packets fell since an earlier reading, and how many changed."""
    def check(self) -> list[dict[str, str]]:
        """What is wrong, each {"kind": …, "text": …}."""
    def summary(self, *, busiest: int = 10) -> dict[str, Any]: ...
    def measure(
        self,
        interval: int = 0,
        *,
        unit: Literal["bytes", "packets", "mixed"] = "bytes",
        mtu_bytes: float = 4096.0,
    ) -> dict[str, Any]:
        """What every link and lane carried, from both ends.

        Arrays `value`, `quality` (bits) and `ends` by link, the same by lane (`lane_…`, link x lanes), and
        `lanes`, `noise` (relative standard deviation of a counter), `noise_floor`.
        """
    def to_bytes(self) -> bytes: ...
    def write(self, path: _Path) -> None: ...

@final
class LaneTables:
    """SL-to-VL tables of all switches and hosts, and the service level of every pair."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @staticmethod
    def parse(data: bytes, fabric: Fabric, *, label: str = "<bytes>") -> LaneTables:
        """Tables in the form of OpenSM's dump; a file does not say which level a pair has: it is 0.

        Raises
        ------
        FormatError
            If it is no such file, or of another fabric.
        """

    def rows(self) -> dict[str, npt.NDArray[Any]]:
        """Every row: `switch`, `in_port`, `out_port`, `lanes` (a column a level); `host_lanes` of hosts."""

    @property
    def levels(self) -> int:
        """How many service levels pairs use."""

    @property
    def lanes(self) -> int:
        """How many lanes the tables use."""

    @property
    def rule(self) -> str:
        """What decides the level of a pair: `pairs`, `groups` or `sources`."""

    @property
    def uniform(self) -> bool:
        """Whether every port has the same table."""

    def level(self, source: int, destination: int) -> int:
        """The service level from one host to another."""

    def host_levels(self) -> list[int] | None:
        """The level of every host as a sender; None where the destination matters too."""

    def with_levels(self, data: bytes, *, label: str = "<bytes>") -> LaneTables:
        """The same tables with the service level of every pair of hosts, CSV `source_lid,destination_lid,sl`.

        Raises
        ------
        FormatError
            If it is no such file, names LIDs that the fabric does not have, or lacks a pair.
        """

    def sl2vl(self, origin: str) -> bytes:
        """The tables in the form of OpenSM's dump; `origin` says in one line what made them."""

    def service_levels(self, origin: str) -> bytes | None:
        """The level of every pair of hosts, CSV `source_lid,destination_lid,sl`; None if pairs have none."""

    def qos_policy(self, origin: str) -> bytes:
        """A QoS policy for OpenSM that gives every pair its level.

        Raises
        ------
        SpecError
            If every pair has a level of its own and there are too many.
        """

    def differences(self, data: bytes, *, label: str = "<bytes>") -> tuple[int, str | None]:
        """In how many rows the tables of a file, such as OpenSM's dump, differ; and where first, in words.

        Raises
        ------
        FormatError
            If it is no such file, or of another fabric.
        """

@final
class Inferred:
    """Traffic that explains counters, and how far to trust it."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @property
    def traffic(self) -> Traffic:
        """The answer, over hosts."""
    @property
    def hose(self) -> Hose:
        """What every host sends and receives by its own counters; where these are unknown, by the answer."""
    @property
    def verdict(self) -> Literal["identified", "partly", "not identifiable"]: ...
    @property
    def stopped(self) -> Literal["interrupted", "time-limit"] | None: ...
    @property
    def reproducible(self) -> bool: ...
    @property
    def findings(self) -> list[dict[str, str]]:
        """What is wrong, each {"kind": …, "text": …}."""
    @property
    def notes(self) -> list[str]: ...
    def memories(self) -> dict[str, dict[str, Any]]:
        """What there is to remember of every job, by name: for `remembered` when it runs again."""

    def summary(self) -> dict[str, Any]:
        """The figures, in the keys of a result."""

def engines() -> list[tuple[str, str]]:
    """Names and one-line descriptions of the oblivious engines."""

def schemes() -> list[tuple[str, str]]:
    """Names and one-line descriptions of the schemes without tables: switches choose packet by packet."""

def is_generator(spec: str) -> bool: ...
def is_pattern(spec: str) -> bool: ...
def traffic_format(
    data: bytes,
) -> Literal["mtx", "csv", "dense", "ti", "goal", "dumpi", "otf2", "chakra"]:
    """What a file with traffic is, by how it begins (gzip or not)."""

def trace_files(path: _Path) -> list[str]:
    """The files that a recorded run is made of beside the one at `path`: those of an index or a folder."""

def trace_events(path: _Path) -> dict[str, Any]:
    """What every rank called, of a trace of any format but netloom's own, as columns."""

def goal_form(data: bytes, label: str, as_binary: bool) -> bytes:
    """A GOAL schedule, text or binary, in either form."""

def is_engine(name: str) -> bool: ...
def expand_hostlist(text: str) -> list[str]: ...
def traffic_of_columns(
    endpoints: int,
    sources: npt.NDArray[np.uint64],
    destinations: npt.NDArray[np.uint64],
    bytes: npt.NDArray[np.float64],
    packets: npt.NDArray[np.float64] | None = None,
    hosts_hash: str | None = None,
) -> Traffic:
    """Traffic from columns that are what they should be (`netloom.sparse.of_triples`)."""

def unpickled(name: str, data: bytes, parts: tuple[Any, ...]) -> Any:
    """What a pickle calls: an object of a class from its bytes and its parts."""

def place_jobs(
    fabric: Fabric,
    jobs: _Path,
    *,
    seed: int | None = None,
    collectives: Literal["all", "none"] | None = None,
    adapters: str | None = None,
    storage: str | None = None,
) -> tuple[Traffic, list[Job]]: ...
def route(
    engine: str, fabric: Fabric, *, seed: int = 0, lmc: int | None = None, threads: int = 0
) -> Routes: ...
def loads(
    fabric: Fabric | _Path,
    routes: Routes | str,
    traffic: Traffic | _Path,
    *,
    bounds: LinkLoads | None = None,
    threads: int = 0,
    work: int | None = None,
    time_limit: float | None = None,
) -> LinkLoads: ...
def ecmp_loads(
    fabric: Fabric | _Path,
    traffic: Traffic | _Path,
    *,
    pairs: int = 1,
    draws: int = 20,
    seed: int = 0,
    threads: int = 0,
    work: int | None = None,
    time_limit: float | None = None,
) -> tuple[LinkLoads, list[float]]: ...
def scheme_loads(
    fabric: Fabric | _Path,
    traffic: Traffic | _Path,
    scheme: Literal["minimal", "valiant", "valiant:router", "best"],
    *,
    threads: int = 0,
    work: int | None = None,
    time_limit: float | None = None,
    progress: Callable[[int, int], object] | None = None,
    on_interrupt: Literal["raise", "return"] = "raise",
) -> LinkLoads: ...
def check_scheme(
    fabric: Fabric | _Path,
    scheme: str,
    *,
    vls: int | None = None,
    sl2vl: LaneTables | None = None,
    any_order: bool = False,
) -> dict[str, Any]: ...
def lane_loads(fabric: Fabric, routes: Routes, traffic: Traffic) -> list[float]:
    """The largest load of a link on every lane, from lane 0 on; one entry for routes without lanes.

    Raises
    ------
    RoutingError
        For a pair with bytes that the tables do not join.
    """

def link_users(
    fabric: Fabric, routes: Routes, traffic: Traffic, links: Sequence[int], *, threads: int = 0
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64]]:
    """The pairs with bytes that cross some links, in the order of their hosts.

    Parameters
    ----------
    fabric, routes, traffic : Fabric, Routes, Traffic
        Traffic over the fabric's hosts, and what leads it.
    links : sequence of int
        Links by number, each once.
    threads : int
        0 is one a core.

    Returns
    -------
    tuple of arrays
        By pair and link: the link's place in `links`, the sending and the receiving host, and bytes.

    Raises
    ------
    RoutingError
        If there is no such link, or the routes do not join a pair with bytes.
    """

def check(fabric: Fabric, routes: Routes, *, threads: int = 0) -> CheckReport: ...
def mix(fabric: Fabric, old: Routes, new: Routes, *, threads: int = 0) -> MixReport:
    """What any mix of entries of two tables can do while switches change from one to the other."""

def patched(fabric: Fabric, routes: Routes, spare: Routes) -> tuple[Routes, int]:
    """`routes` with the entries of `spare` for destinations that they do not reach from everywhere.

    Returns
    -------
    tuple
        The tables, and how many such destinations there are.
    """

def stages(
    fabric: Fabric, old: Routes, new: Routes, *, most: int = 8, threads: int = 0
) -> tuple[list[Routes], bool]:
    """The tables after every stage of a safe change, and whether fewer stages are proven unsafe.

    Raises
    ------
    RoutingError
        If more than `most` are needed, or none are safe: with the destination and the loop.
    """

def links_at_max_bound(
    fabric: Fabric,
    traffic: Traffic,
    maximum: float,
    *,
    threads: int = 0,
    time_limit: float | None = None,
) -> int | None:
    """Links between switches that must carry `maximum` if none carries more; 0 if nothing is shown."""

def verify_certificate(
    fabric: Fabric, traffic: Traffic, certificate: Certificate, routes: Routes | None = None
) -> Verdict: ...
def bound_classes() -> list[tuple[str, str]]:
    """Classes of bounds, the widest first: name, and words that follow "of" or "among"."""

def afar(
    fabric: Fabric,
    traffic: Traffic,
    start: Routes | str = "ftree",
    *,
    max_load: float | None = None,
    max_iterations: int | None = None,
    bounds: LinkLoads | None = None,
    threads: int = 0,
    time_limit: float | None = None,
    progress: _Progress = None,
    on_interrupt: Literal["raise", "return"] = "raise",
) -> Optimized: ...
def coloured(
    fabric: Fabric,
    traffic: Traffic,
    *,
    background: Routes | str = "auto",
    seed: int = 0,
    bounds: LinkLoads | None = None,
    threads: int = 0,
) -> Optimized: ...
def optimize(
    fabric: Fabric | _Path,
    traffic: Traffic | _Path,
    *,
    background: Routes | str = "auto",
    today: Routes | str | None = None,
    penalty_per_change: float = 0.0,
    max_changes: int | None = None,
    frozen: Sequence[int] = (),
    stays: Routes | None = None,
    max_lanes: int = 8,
    levels: bool = True,
    depth: int | None = None,
    islands: int = 1,
    bounds: LinkLoads | None = None,
    seed: int = 0,
    threads: int = 0,
    work: int | None = None,
    time_limit: float | None = None,
    progress: _Progress = None,
    on_interrupt: Literal["raise", "return"] = "raise",
) -> Optimized: ...
def optimize_judged(
    scenario: Scenario,
    traffic: Traffic,
    model: Literal["packet", "fluid"] = "packet",
    *,
    background: Routes | str = "auto",
    today: Routes | str | None = None,
    penalty_per_change: float = 0.0,
    max_changes: int | None = None,
    frozen: Sequence[int] = (),
    max_lanes: int = 8,
    depth: int = 3,
    islands: int = 1,
    seed: int = 0,
    threads: int = 0,
    work: int | None = None,
    time_limit: float | None = None,
    progress: _Progress = None,
    on_interrupt: Literal["raise", "return"] = "raise",
) -> tuple[Optimized, dict[str, Any]]:
    """The quickest of several routes in a simulation of `scenario`, and how they were chosen."""

def optimize_lmc(
    fabric: Fabric,
    traffic: Traffic,
    lmc: int,
    *,
    background: Routes | str = "auto",
    max_lanes: int = 8,
    seed: int = 0,
    threads: int = 0,
    work: int | None = None,
    time_limit: float | None = None,
    progress: _Progress = None,
    on_interrupt: Literal["raise", "return"] = "raise",
) -> Optimized:
    """With 2^lmc addresses a host; which one a pair uses is part of the routes (`write_paths`)."""

def exact_model(
    fabric: Fabric,
    traffic: Traffic,
    formulation: str,
    *,
    host_links: bool = True,
    threshold: float | None = None,
    limit: float | None = None,
) -> ExactModel:
    """A model of one formulation: "basic", "sos1", "product" or "productless"."""

def optimize_layers(
    fabric: Fabric,
    layers: Sequence[tuple[str, Traffic, float]],
    objective: Literal["sum", "worst", "worst-gap", "mean-gap"] = "sum",
    *,
    background: Routes | str = "auto",
    today: Routes | str | None = None,
    penalty_per_change: float = 0.0,
    max_changes: int | None = None,
    frozen: Sequence[int] = (),
    stays: Routes | None = None,
    max_lanes: int = 8,
    depth: int | None = None,
    seed: int = 0,
    threads: int = 0,
    work: int | None = None,
    time_limit: float | None = None,
    progress: _Progress = None,
    on_interrupt: Literal["raise", "return"] = "raise",
) -> OptimizedLayers: ...
def optimize_hose(
    fabric: Fabric,
    hose: Hose,
    *,
    background: Routes | str = "auto",
    today: Routes | str | None = None,
    penalty_per_change: float = 0.0,
    max_changes: int | None = None,
    frozen: Sequence[int] = (),
    stays: Routes | None = None,
    max_lanes: int = 8,
    depth: int | None = None,
    seed: int = 0,
    threads: int = 0,
    work: int | None = None,
    time_limit: float | None = None,
    progress: _Progress = None,
    on_interrupt: Literal["raise", "return"] = "raise",
) -> OptimizedHose:
    """Routes whose worst load is least over all matrices within the sums."""

def hose_loads(fabric: Fabric, routes: Routes | str, hose: Hose, *, threads: int = 0) -> HoseLoads: ...
def dead_entries(fabric: Fabric, routes: Routes) -> int:
    """How many entries `repaired(dead=True)` replaces because packets do not arrive."""

def repaired(fabric: Fabric, routes: Routes, *, dead: bool = False) -> Routes:
    """What a search begins with: entries that are missing or on no shortest up*/down* way replaced; with
    `dead` only those from which packets to hosts do not arrive."""

def allow_input(bytes: int) -> None:
    """Allows every input to hold so many bytes, unpacked too; 0: as usual (`netloom.reading.allow`)."""

def most_input(size: int | None = None) -> int:
    """The most bytes that an input may hold, or that one of `size` bytes may expand to
    (`netloom.reading.most_bytes`, `most_expanded`).
    """

def gunzip(data: bytes, label: str) -> bytes:
    """What gzip packed (all members), or `data` itself if it is not gzip; bounded by its size.

    Raises
    ------
    FormatError
        If it is cut short or damaged, or expands beyond `netloom.reading.most_expanded`.
    """

def write_atomic(path: _Path, data: bytes) -> None:
    """Writes a whole file to a temporary name beside `path`, then renames it."""

def remove_temporaries() -> None:
    """Removes what is half written: the process is ended by force."""

def error_counters() -> list[tuple[str, str, int, int, int]]:
    """Counters of errors: name, kind of finding, bits, least between two readings and of one."""

def synth_counters(
    fabric: Fabric,
    routes: Routes | str,
    traffic: Traffic,
    *,
    vl_scheme: str | None = None,
    scale: float = 1.0,
    noise: float = 0.0,
    skew: float = 0.0,
    missing: float = 0.0,
    mtu_bytes: float = 4096.0,
    seconds: float = 1.0,
    seed: int = 0,
    threads: int = 0,
) -> Counters:
    """The counters that traffic would leave under given routes, exact or as real readings show them."""

def lane_tables(fabric: Fabric, vl_scheme: str) -> LaneTables:
    """SL-to-VL tables and service levels of a VL scheme, as files.

    Raises
    ------
    SpecError
        If it is no scheme, or one that no SL-to-VL table can say, with the reason.
    """

def infer(
    fabric: Fabric,
    routes: Routes | str,
    counters: Counters,
    jobs: Sequence[Job] | None = None,
    *,
    vl_scheme: str | None = None,
    unit: Literal["bytes", "packets", "mixed"] = "bytes",
    mtu_bytes: float = 4096.0,
    interval: int | None = None,
    also: Sequence[tuple[Routes | str, Counters] | tuple[Routes | str, Counters, int | None]] | None = None,
    names: Sequence[str] | None = None,
    remembered: Mapping[str, Mapping[str, Any]] | None = None,
    truth: Traffic | None = None,
    ranges: int = 0,
    seed: int | None = None,
    threads: int = 0,
    time_limit: float | None = None,
    progress: _Progress = None,
    on_interrupt: Literal["raise", "return"] = "raise",
) -> Inferred:
    """The traffic that explains counters best, and how far it can be trusted.

    `jobs` say who may have talked to whom; without them all hosts are one job, a rank each. `vl_scheme` is
    how pairs were spread over lanes; without it, whole links are used. `truth` is what it is compared with.
    `ranges`: how many of the largest sums, and pairs, are told with what they carry at least and at most over
    all traffic that explains the counters.

    `also` is what was counted of the same traffic under other routes (and which interval of it); the answer
    is the traffic of the first interval. `names` are what the first and these are called in messages.
    `remembered` is what jobs showed before (`Inferred.memories`), by name.

    Raises
    ------
    CountersError
        If counters and routes cannot belong together, counters say nothing, or intervals differ in traffic.
    """

@final
class Recovered:
    """Traffic whose coefficients in a basis add up to least."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    @property
    def traffic(self) -> Traffic:
        """The answer, over hosts."""
    @property
    def stopped(self) -> Literal["interrupted", "time-limit"] | None: ...
    def summary(self) -> dict[str, Any]:
        """The figures."""

def bases() -> list[str]:
    """The names of the bases, and of the dictionary of two of them."""

def coefficients(
    traffic: Traffic, basis: str, *, first: int = 0, count: int | None = None
) -> npt.NDArray[np.float64]:
    """The coefficients of a matrix in a basis, `[destination * count + source]`.

    Raises
    ------
    SpecError
        If there is no such basis, or it is not defined for so many endpoints.
    """

def sparsity(
    traffic: Traffic,
    basis: str,
    *,
    first: int = 0,
    count: int | None = None,
    threads: int = 0,
    time_limit: float | None = None,
    progress: _Progress = None,
) -> tuple[int, int, int] | None:
    """How many coefficients are not zero, suffice for an error of 10 %, keep 90 % of the norm.

    None where the basis is not defined for so many endpoints, or the time was not enough.
    """

def recover(
    fabric: Fabric,
    routes: Routes | str,
    counters: Counters,
    jobs: Sequence[Job],
    basis: str,
    *,
    vl_scheme: str | None = None,
    unit: Literal["bytes", "packets", "mixed"] = "bytes",
    mtu_bytes: float = 4096.0,
    interval: int | None = None,
    truth: Traffic | None = None,
    steps: int = 20_000,
    tolerance: float = 1e-6,
    threads: int = 0,
    time_limit: float | None = None,
    progress: _Progress = None,
    on_interrupt: Literal["raise", "return"] = "raise",
) -> Recovered:
    """The traffic that explains counters and whose coefficients in a basis add up to least.

    The dissertation's own way, to compare with: [`infer`] answers better. `steps` and `tolerance` are those
    of the linear program.

    Raises
    ------
    SpecError
        If there is no such basis, or it is not defined for the hosts of a job.
    CountersError
        If counters and routes cannot belong together, or counters say nothing.
    """

def decode_packets(
    fabric: Fabric,
    time_ps: npt.NDArray[np.uint64],
    context: npt.NDArray[np.uint32],
    id: npt.NDArray[np.uint32],
    source: npt.NDArray[np.uint32],
    destination: npt.NDArray[np.uint32],
    hops: npt.NDArray[np.uint8],
    carries: npt.NDArray[np.uint32],
    congested: npt.NDArray[np.uint8],
    *,
    method: str,
    rate: float = 1.0,
    every_us: float | None = None,
    hop_bits: int = 3,
    hash: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, tuple[int, int]]]:
    """Estimates of packets that were sampled elsewhere; `carries` is the bit or the link.

    Returns the columns of samples and of received packets (`Sampled.samples`, `.received`), and how many
    packets can't be with the first one's row: `no_way`, `impossible`, `off_way`, `hops`, `short`, `long`,
    `full` (those are counted all the same, and of a whole link the long ones).

    Raises
    ------
    SimulationError
        If links look alike under the hash, of ids of so few bits.
    """

def sample(
    scenario: Scenario,
    routing: str | None = None,
    *,
    method: str = "whole",
    rate: float = 1.0,
    every_us: float | None = None,
    contexts: str = "job",
    marking: str = "queue",
    ecn_bytes: int | None = None,
    hop_bits: int = 3,
    hash: str | None = None,
    seed: int | None = None,
    packets: bool = False,
    truth: bool = False,
    routes: Routes | None = None,
    threads: int = 1,
    time_limit: float | None = None,
    progress: _Progress = None,
    on_interrupt: Literal["raise", "return"] = "raise",
) -> Sampled:
    """Runs a scenario with one of its routings, and samples paths inside its packets.

    `method`: whole, one-bit; `contexts`: job, tag; `marking`: queue, probabilistic, ecn (above `ecn_bytes`;
    None: above what an output buffer holds); `hash`: as `sampling_hash` reads it; `seed`: None: the
    scenario's. `packets` keeps received ones, `truth` counts what links really carried. The rest as in
    `simulate`. Packets are simulated in one partition, so that more threads only help making routes.
    """

def sampling_hash(text: str) -> str:
    """A hash of packet id and link in full: `MODULUS,G`, `md5` or `siphash:KEY`.

    `gf` and `siphash` have constants of their own.

    Raises
    ------
    ArgumentError
        If there is no such hash.
    """

def sampling_ports(fabric: Fabric) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], int, int]:
    """Links as a data plane of real packets needs them, whose ids have 16 bits.

    Returns by link its number (2^32 - 1: on no way) and the mask of its port; how many bits numbers have;
    how many links the longest way has.

    Raises
    ------
    SimulationError
        If the fabric is too irregular, or has links that ids of 16 bits cannot tell apart.
    """

def simulate(
    scenario: Scenario,
    routing: str | None = None,
    *,
    model: Literal["packet", "fluid"] | None = None,
    routes: Routes | None = None,
    threads: int = 1,
    time_limit: float | None = None,
    progress: _Progress = None,
    on_interrupt: Literal["raise", "return"] = "raise",
    state: bytes | None = None,
    keep: tuple[_Path, bytes, float] | None = None,
    counted: bool = False,
    counted_every_us: float | None = None,
    messages: Sequence[str] = ...,
    skip_repeats: float | None = None,
) -> Simulation:
    """Runs a scenario with one of its routings (the first if None).

    `routes` are its tables if the caller has them already. Ctrl-C and the time limit (seconds) end it with
    what is known so far. `progress` hears of simulated ps, and of the end if the scenario has one (else 0).
    `state` is what an earlier call with the same arguments has kept: the run goes on from there. `keep` is a
    file, its first line and seconds: the state is written there, behind that line, as gzip, each so many
    seconds (0: never) and when the run is ended early. The fluid model keeps nothing, nor does a run with a
    trace. With `counted`, what hosts send each other is counted (`Simulation.sent`), and links in intervals
    of `counted_every_us` (`Simulation.counted`); nothing else is then recorded over time, and no state kept.
    Of the jobs in `messages` every message is written down (`Simulation.messages`); no state is kept then,
    and only exact repeats are left out.

    Raises
    ------
    ArgumentError
        If the scenario has no such job.
    """

def plan(
    source: _Path,
    *,
    seed: int | None = None,
    threads: int = 0,
    time_limit: float | None = None,
    progress: _Progress = None,
    runs: Mapping[int, float] = ...,
) -> dict[str, Any]:
    """Designs for the machine of a plan: counted, priced, and how much they slow its applications.

    What `netloom.plan` asks once it knows how long the plan's traces run. `docs/schemas/plan.json` has the
    result's keys.

    Parameters
    ----------
    source : path
        A plan (.toml).
    seed : int, optional
        Of fragmented and random orders; the plan's own if None.
    threads : int
        0 is one a core. The result is the same for any number.
    time_limit : float, optional
        Seconds.
    progress : callable, optional
        Called with what is done and all that is to do.
    runs : dict of int and float
        Seconds that traces run on a network without taper, by the number of the application. Those
        that are missing are taken to do nothing but send.

    Returns
    -------
    dict
        `designs` is the front of price against slowdown, cheapest first; `chosen` a number in it or None;
        `full` the cheapest design without taper; `compared` the plan's own specs.

    Raises
    ------
    FormatError, TrafficError, OSError
        If the plan, its catalogue or a file of traffic is not what it should be.
    TimeoutError
        If the time limit came first.

    Examples
    --------
    >>> from netloom import examples
    >>> result = netloom._core.plan(examples.path("plan/quartz.toml"))
    >>> result["designs"][0]["spec"]
    """

def plan_applications(source: _Path) -> list[dict[str, Any]]:
    """The applications of a plan, and what running them takes.

    `name`, `weight`, `kind` (matrix, pattern, trace), `source` (a path, or the pattern), `ranks` (of a trace;
    else None), `ranks_per_host`, `copies` (None: as many as fit), `flops_per_s` (None: it computes in no
    time), `told` (whether the plan gives its share or its run time), and `radix` (the largest) and
    `speed_gbps` of the plan.
    """

def plan_hosts(order: str, hosts: int, copies: int, each: int, *, seed: int, draw: int) -> list[list[int]]:
    """The hosts of copies of a job in an order of a plan (`block`, `fragmented`, `random`), by copy."""

def plan_files(source: _Path) -> list[tuple[str, Path]]:
    """The files that a plan names: role (`catalogue`, `matrix`, `trace`) and path of each, once."""
