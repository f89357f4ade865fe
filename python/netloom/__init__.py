"""netloom: routes, loads and proofs for InfiniBand fat trees.

    >>> import netloom as nl
    >>> fabric = nl.Fabric.generate("two-level:leaves=8,hosts=4,spines=4")
    >>> traffic = nl.Traffic.read("bisection", fabric)
    >>> best = nl.optimize(fabric, traffic)
    >>> best.routes.write("routes.lfts")

Everything is a function of one [`Fabric`]. The heavy work is Rust (`netloom._core`); importing this package
loads nothing until a name is used.
"""

from __future__ import annotations

# Not from `typing`, which takes longer to import than all of this: a Ctrl-C in it would be a traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from netloom import exact as exact
    from netloom import examples as examples
    from netloom import tables as tables
    from netloom._core import (
        Certificate,
        CheckReport,
        Counters,
        Fabric,
        Hose,
        HoseLoads,
        Inferred,
        Job,
        LinkLoads,
        MixReport,
        Optimized,
        OptimizedHose,
        OptimizedLayers,
        Outcome,
        Recovered,
        Routes,
        Scenario,
        Simulation,
        Traffic,
        Verdict,
        __version__,
        afar,
        bases,
        check,
        check_scheme,
        coefficients,
        coloured,
        ecmp_loads,
        engines,
        expand_hostlist,
        hose_loads,
        infer,
        links_at_max_bound,
        loads,
        mix,
        optimize,
        optimize_hose,
        optimize_judged,
        optimize_layers,
        optimize_lmc,
        place_jobs,
        recover,
        repaired,
        route,
        scheme_loads,
        simulate,
        sparsity,
        stages,
        synth_counters,
        verify_certificate,
    )
    from netloom.apply.calls import (
        apply_routes,
        guard_routes,
        recover_routes,
        rollback_routes,
        route_changes,
    )
    from netloom.dataplane.calls import dataplane_down, dataplane_status, dataplane_up
    from netloom.diagnose.answer.api import diagnose_counters, diagnose_run
    from netloom.drawing.api import draw
    from netloom.errors import (
        ArgumentError,
        CountersError,
        FabricError,
        FormatError,
        InternalError,
        LiveError,
        NetloomError,
        NotInstalledError,
        OptimizeError,
        PlaceError,
        RoutingError,
        SimulationError,
        SpecError,
        TrafficError,
    )
    from netloom.interference.calls import find_interference
    from netloom.lanes.files import write_lanes
    from netloom.loop.calls import loop_live
    from netloom.noise.api import measure_noise
    from netloom.optimizing.api import OptimizedTables, optimize_tables
    from netloom.pages.api import report
    from netloom.pairs.answer import diagnose_pairs, pair_rounds
    from netloom.planning.answer import plan
    from netloom.runs.api import RunFolder, read_run
    from netloom.sampling.runs import sample_routings
    from netloom.simulating.pause import pfc_headroom, pfc_thresholds
    from netloom.simulating.routings import simulate_routings
    from netloom.simulating.varied import simulate_varied
    from netloom.sweeps.api import sweep
    from netloom.watch.calls import watch_fabric

__all__ = [
    "ArgumentError",
    "Certificate",
    "CheckReport",
    "Counters",
    "CountersError",
    "Fabric",
    "FabricError",
    "FormatError",
    "Hose",
    "HoseLoads",
    "Inferred",
    "InternalError",
    "Job",
    "LinkLoads",
    "LiveError",
    "MixReport",
    "NetloomError",
    "NotInstalledError",
    "OptimizeError",
    "Optimized",
    "OptimizedHose",
    "OptimizedLayers",
    "OptimizedTables",
    "Outcome",
    "PlaceError",
    "Recovered",
    "Routes",
    "RoutingError",
    "RunFolder",
    "Scenario",
    "Simulation",
    "SimulationError",
    "SpecError",
    "Traffic",
    "TrafficError",
    "Verdict",
    "__version__",
    "afar",
    "apply_routes",
    "bases",
    "check",
    "check_scheme",
    "coefficients",
    "coloured",
    "dataplane_down",
    "dataplane_status",
    "dataplane_up",
    "diagnose_counters",
    "diagnose_pairs",
    "diagnose_run",
    "draw",
    "ecmp_loads",
    "engines",
    "expand_hostlist",
    "find_interference",
    "guard_routes",
    "hose_loads",
    "infer",
    "links_at_max_bound",
    "loads",
    "loop_live",
    "measure_noise",
    "mix",
    "optimize",
    "optimize_hose",
    "optimize_judged",
    "optimize_layers",
    "optimize_lmc",
    "optimize_tables",
    "pair_rounds",
    "pfc_headroom",
    "pfc_thresholds",
    "place_jobs",
    "plan",
    "read_run",
    "recover",
    "recover_routes",
    "repaired",
    "report",
    "rollback_routes",
    "route",
    "route_changes",
    "sample_routings",
    "scheme_loads",
    "simulate",
    "simulate_routings",
    "simulate_varied",
    "sparsity",
    "stages",
    "sweep",
    "synth_counters",
    "verify_certificate",
    "watch_fabric",
    "write_lanes",
]


_HOMES = {
    "OptimizedTables": "netloom.optimizing.api",
    "RunFolder": "netloom.runs.api",
    "apply_routes": "netloom.apply.calls",
    "dataplane_down": "netloom.dataplane.calls",
    "dataplane_status": "netloom.dataplane.calls",
    "dataplane_up": "netloom.dataplane.calls",
    "diagnose_counters": "netloom.diagnose.answer.api",
    "diagnose_pairs": "netloom.pairs.answer",
    "diagnose_run": "netloom.diagnose.answer.api",
    "draw": "netloom.drawing.api",
    "find_interference": "netloom.interference.calls",
    "loop_live": "netloom.loop.calls",
    "measure_noise": "netloom.noise.api",
    "optimize_tables": "netloom.optimizing.api",
    "pair_rounds": "netloom.pairs.answer",
    "plan": "netloom.planning.answer",
    "read_run": "netloom.runs.api",
    "guard_routes": "netloom.apply.calls",
    "recover_routes": "netloom.apply.calls",
    "report": "netloom.pages.api",
    "rollback_routes": "netloom.apply.calls",
    "route_changes": "netloom.apply.calls",
    "sample_routings": "netloom.sampling.runs",
    "pfc_headroom": "netloom.simulating.pause",
    "pfc_thresholds": "netloom.simulating.pause",
    "simulate_routings": "netloom.simulating.routings",
    "simulate_varied": "netloom.simulating.varied",
    "sweep": "netloom.sweeps.api",
    "watch_fabric": "netloom.watch.calls",
    "write_lanes": "netloom.lanes.files",
}
"""Where names are that are neither the core's nor errors."""


_MODULES = ("exact", "examples", "tables")
"""Modules that are there as soon as their names are used."""


# A type checker has the names above: with this it would take any.
if not TYPE_CHECKING:

    def __getattr__(name):
        if name in _MODULES:
            import importlib

            return importlib.import_module(f"netloom.{name}")
        if name not in __all__:
            raise AttributeError(f"module 'netloom' has no attribute {name!r}")
        import importlib

        home = "netloom.errors" if name.endswith("Error") else _HOMES.get(name, "netloom._core")
        value = getattr(importlib.import_module(home), name)
        globals()[name] = value
        importlib.import_module("netloom.namesake").warn()
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
