"""`netloom fabric`: make, inspect, compare, convert and damage fabrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from netloom.cli.shared import inputs, options, outputs, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options, ProductOptions, Seeded
from netloom.cli.shared.run import Run
from netloom.findings import findings
from netloom.nodes import damaged

if TYPE_CHECKING:
    from netloom._core import Fabric

_Kind = Literal["ibsim", "ibnetdiscover", "cables", "dot"]
_KINDS: dict[str, _Kind] = {".txt": "ibnetdiscover", ".net": "ibsim", ".csv": "cables", ".dot": "dot"}
_EXPORTS = (".conf", ".yaml", ".xml")
"""Other programs' files: Slurm's topology.conf and topology.yaml, SimGrid's platform.xml."""
_SLURM = (".conf", ".yaml")
_ENDINGS = (*_KINDS, *(f"{ending}.gz" for ending in _KINDS))


def new(spec: str, /, *, options: Options | None = None) -> int:
    """Make a fabric from a generator spec.

    Parameters
    ----------
    spec
        `quartz1`, `cab`, `fattree:pods=4,leaves=24,hosts=32,spines=16,groups=2,cores=24`,
        `xgft:m=18x18x36,w=1x9x18`, `two-level:leaves=8,hosts=4,spines=4`, `dragonfly:p=4,a=8,h=4`,
        `megafly:groups=9,leaves=4,spines=4,hosts=4`, `hyperx:shape=16x6,hosts=4`, `torus:…`, `mesh:…`,
        `fullmesh:…`, `aries:…`, `edison` or `theta`.
    options
        Common options.
    """
    from netloom import _core

    run = Run("fabric-new", options or Options(), endings=_ENDINGS)
    with run.timed("generate"):
        net = _core.Fabric.generate(spec)
    run.note_input("fabric", spec, None)
    result = {**summary(net), "output": _write(run, net)}
    return run.finish(result, lambda: text(result))


def show(
    fabric: str,
    /,
    *,
    roots: str | None = None,
    groups: str | None = None,
    spare_ports: bool = False,
    options: Options | None = None,
) -> int:
    """Show a fabric's shape, counts and oddities.

    Missing cables, cables slower than their siblings, parts that are cut off and what of a dump could not be
    used are findings; errors and warnings among them exit 1.

    Parameters
    ----------
    fabric
        A dump of InfiniBand's tools, a table of cables, an ibsim net file, or a generator spec.
    roots
        Switches on top of up*/down* ways: names or GUIDs, with commas, or OpenSM's `root_guid_file`. Below
        them the distance counts, then the GUID. [default: chosen by what the ways can carry]
    groups
        Groups of a dragonfly: a file of switches and their groups, or a rule by names such as `g([0-9]+)r`.
        [default: found from the cables]
    spare_ports
        List the ports of every switch that no cable uses.
    options
        Common options; `-o` writes the result (.json, .csv).
    """
    run = Run("fabric-show", options or Options(), product=False)
    net = inputs.with_roots(run, inputs.with_groups(run, run.fabric(fabric), groups), roots)
    from netloom.health import places, siblings
    from netloom.health.stages import stages

    odd = siblings.findings_of(net) + places.findings_of(net, uplinks=False)
    result = {**summary(net), "stages": stages(net), "findings": findings(net.findings) + odd}
    if spare_ports:
        result["switch_ports"] = _switch_ports(net)
    return run.finish(result, lambda: text(result))


def _switch_ports(net: Fabric) -> list[dict[str, Any]]:
    from netloom.health.spare import switch_ports
    from netloom.nodes import Nodes, guid_text

    nodes, level = Nodes(net), net.switch_table()["level"].tolist()
    return [
        {
            "name": nodes.names[net.hosts + one.switch],
            "guid": guid_text(nodes.guids[net.hosts + one.switch]),
            "level": level[one.switch],
            "ports": one.ports,
            "hosts": one.hosts,
            "switches": one.switches,
            "spare": one.spare,
        }
        for one in switch_ports(net)
    ]


def diff(before: str, after: str, /, *, options: Options | None = None) -> int:
    """Show what changed between two dumps of a fabric.

    Nodes are the same by their GUIDs, cables by the ports at their ends. What is gone, moved or slower
    exits 1.

    Parameters
    ----------
    before
        The fabric as it was: a dump, or a generator spec.
    after
        The fabric as it is.
    options
        Common options; `-o` writes the result (.json, .csv).
    """
    from netloom.cabling import changes

    run = Run("fabric-diff", options or Options(), product=False)
    old, new = run.fabric(before), run.fabric(after, role="after")
    with run.timed("compare"):
        found = changes(old, new)
    result = {
        "same": not found,
        "before": _sizes(old),
        "after": _sizes(new),
        "findings": found,
    }
    return run.finish(result, lambda: _difference(result))


def _sizes(net: Fabric) -> dict[str, int]:
    return {"hosts": net.hosts, "switches": net.switches, "links": net.links}


def _difference(result: dict[str, Any]) -> str:
    old, new = result["before"], result["after"]
    rows = [
        (key, render.count(old[key]) if old[key] == new[key] else f"{old[key]:,} to {new[key]:,}")
        for key in ("hosts", "switches", "links")
    ]
    rows.append(("same", "yes" if result["same"] else "no"))
    return render.pairs(rows) + render.findings(result["findings"], "what changed")


def convert(
    fabric: str,
    /,
    *,
    adapters: str | None = None,
    storage: str | None = None,
    nodes: str | None = None,
    options: ProductOptions | None = None,
) -> int:
    """Write a fabric in another format.

    Parameters
    ----------
    fabric
        A dump of InfiniBand's tools, a table of cables, an ibsim net file, or a generator spec.
    adapters
        For Slurm: the adapters whose leaf a machine is at, as in jobs files: `mlx5_[0-3]`, `rail:0`.
        [default: its first]
    storage
        For Slurm: adapters that do not count, because they are for storage.
    nodes
        For Slurm: the machines that it knows, as a hostlist (`n[00-07]`) or a slurm.conf. [default: all]
    options
        Common options; the ending after `-o` names the format: .txt (ibnetdiscover), .net (ibsim), .csv
        (a table of cables) or .dot, each also with .gz; .conf and .yaml (Slurm's topology.conf and
        topology.yaml), .xml (SimGrid's platform.xml).
    """
    options = options or ProductOptions()
    outputs.need_output("fabric convert", options)
    run = Run("fabric-convert", options, endings=(*_ENDINGS, *_EXPORTS))
    for_slurm = outputs.ending(options.output) in _SLURM
    if not for_slurm and any(one is not None for one in (adapters, storage, nodes)):
        raise UsageError("--adapters, --storage and --nodes are for Slurm: expected -o with .conf or .yaml")
    net = run.fabric(fabric)
    hosts = _of_slurm(run, net, adapters, storage, nodes) if for_slurm else None
    result = {**summary(net), "output": _write(run, net, hosts)}
    return run.finish(result, lambda: text(result))


def _of_slurm(
    run: Run, net: Fabric, adapters: str | None, storage: str | None, nodes: str | None
) -> list[int] | None:
    """The hosts whose leaves Slurm's tree has; None: all, a machine at the leaf of its first."""
    from netloom.exports import slurm

    if nodes is None and adapters is None and storage is None:
        apart = slurm.apart(net)
        if apart:
            number = "machine has" if len(apart) == 1 else "machines have"
            run.note(
                f"{len(apart):,} {number} adapters at several leaves, as {apart[0]}: taken at the first "
                "adapter's (--adapters and --storage choose)"
            )
        return None
    return slurm.chosen(net, [] if nodes is None else slurm.read_nodes(nodes), adapters, storage)


def damage(
    fabric: str,
    /,
    *,
    link: tuple[str, ...] = (),
    switch: tuple[str, ...] = (),
    random_links: Annotated[int, options.COUNT] = 0,
    random_switches: Annotated[int, options.COUNT] = 0,
    options: Seeded | None = None,
) -> int:
    """Take cables and switches out.

    Parameters
    ----------
    fabric
        A dump of InfiniBand's tools, a table of cables, an ibsim net file, or a generator spec.
    link
        A cable to take out, by one of its ends: `leaf00[5]`, `0xGUID[5]`. May be given several times.
    switch
        A switch to take out, by name or GUID. May be given several times.
    random_links
        Take out so many more cables between switches, drawn with `--seed`.
    random_switches
        Take out so many more switches, drawn with `--seed`.
    options
        Common options; `-o` takes the fabric that is left.
    """
    if not (link or switch or random_links or random_switches):
        raise UsageError("nothing to take out: --link, --switch, --random-links or --random-switches")
    run = Run("fabric-damage", options or Seeded(), endings=_ENDINGS)
    net = run.fabric(fabric)
    with run.timed("damage"):
        left, removed = damaged(
            net,
            links=link,
            switches=switch,
            random_links=random_links,
            random_switches=random_switches,
            seed=run.seed,
        )
    output = _write(run, left)
    result = {**summary(left), "removed": removed, "output": output, "findings": findings(left.findings)}
    # What was asked for is no reason to fail.
    return run.finish(result, lambda: text(result, title="what is left"), findings=False)


def summary(net: Fabric) -> dict[str, Any]:
    """What every fabric verb says of a fabric."""
    return {
        "kind": net.kind,
        "hosts": net.hosts,
        "switches": net.switches,
        "links": net.links,
        "shape": net.shape,
        "levels": net.levels,
        "switches_per_level": net.switches_per_level(),
        "pods": net.pods,
        "core_groups": net.core_groups,
        "regular": net.regular,
        "irregular": net.irregular,
        "lmc": net.lmc,
        "link_speeds": _link_speeds(net),
        "hosts_hash": net.hosts_hash,
        "cabling_hash": net.cabling_hash,
    }


def _link_speeds(net: Fabric) -> list[dict[str, Any]]:
    return [{"bytes_per_second": speed, "links": number} for speed, number in net.link_speeds()]


def text(result: dict[str, Any], *, title: str = "findings") -> str:
    """The report of a fabric; `title` is that of what is odd about it."""
    count = render.count
    levels = " + ".join(count(n) for n in result["switches_per_level"])
    by_level = f" ({levels}, leaves first)" if result["shape"]["kind"] in ("tree", "graph") else ""
    speeds = ", ".join(
        f"{count(s['links'])} of {render.size(s['bytes_per_second'])}/s" for s in result["link_speeds"]
    )
    rows = [
        ("hosts", count(result["hosts"])),
        ("switches", f"{count(result['switches'])}{by_level}"),
        ("links", f"{count(result['links'])} directed ({speeds})"),
        *_shape(result),
        ("regular", "yes" if result["regular"] else f"no: {result['irregular']}"),
        ("read as", f"{result['kind']}, LMC {result['lmc']}"),
    ]
    if result.get("output"):
        rows.append(("written", result["output"]))
    out = render.pairs(rows)
    if result.get("stages"):
        out += "\n\n" + _stages(result["stages"])
    if "switch_ports" in result:
        out += "\n\n" + _ports(result["switch_ports"])
    if result.get("removed"):
        out += "\n\nremoved\n" + "\n".join(f"  {line}" for line in result["removed"])
    return out + render.findings(result.get("findings", ()), title)


def _stages(stages: list[dict[str, Any]]) -> str:
    """Every stage between switches: uplinks a switch, over-subscription, bisection."""
    lines = []
    for one in stages:
        least, most = one["uplinks"]["least"], one["uplinks"]["most"]
        ratio, part = one["over_subscription"], one["bisection_of_hosts"]
        lines.append(
            [
                f"{one['from']} → {one['to']}",
                render.count(one["cables"]),
                render.count(most) if least == most else f"{render.count(least)} to {render.count(most)}",
                "-" if ratio is None else f"{ratio:.2f} : 1",
                f"{render.size(one['bisection_bytes_per_second'])}/s",
                "-" if part is None else f"{100 * part:.0f} %",
            ]
        )
    header = ["stage", "cables", "uplinks a switch", "over-subscription", "bisection", "of hosts'"]
    return render.table(header, lines, right=range(1, 6))


def _ports(switches: list[dict[str, Any]]) -> str:
    """Every switch with its spare ports, those with most of them first."""
    from netloom.health.spare import ranges

    order = sorted(switches, key=lambda one: -len(one["spare"]))
    lines = [
        [
            one["name"],
            *(render.count(one[key]) for key in ("ports", "hosts", "switches")),
            render.count(len(one["spare"])),
            ranges(one["spare"]),
        ]
        for one in order
    ]
    header = ["switch", "ports", "to hosts", "to switches", "spare", "which"]
    return render.table(header, lines, right=range(1, 5))


def _shape(result: dict[str, Any]) -> list[tuple[str, str]]:
    """The groups of a dragonfly or a megafly, the dimensions of a lattice, the levels of anything else."""
    count, shape = render.count, result["shape"]
    if "dimensions" in shape:
        return _dimensions(shape)
    if "groups" not in shape:
        return [(key.replace("_", " "), count(result[key])) for key in ("levels", "pods", "core_groups")]
    least, most = shape["global_cables"]["least"], shape["global_cables"]["most"]
    cables = count(most) if least == most else f"{count(least)} to {count(most)}"
    grid = "" if "grid" not in shape else ", {rows} rows by {columns} columns".format_map(shape["grid"])
    order = shape["arrangement"] or "not one of absolute, relative, circulant"
    return [
        ("shape", shape["kind"]),
        ("groups", f"{count(shape['groups'])} of {count(shape['switches_a_group'])} switches{grid}"),
        ("between", f"{cables} {'cable' if most == 1 else 'cables'} a pair of groups"),
        ("arrangement", order),
    ]


def _dimensions(shape: dict[str, Any]) -> list[tuple[str, str]]:
    """The dimensions of a HyperX, a torus or a mesh: `16 x 6`, and how each is joined."""
    sizes = " x ".join(render.count(one["switches"]) for one in shape["dimensions"])
    rows = [("shape", f"{shape['kind']}, {sizes}")]
    for number, one in enumerate(shape["dimensions"], 1):
        least, most = one["cables"]["least"], one["cables"]["most"]
        cables = render.count(most) if least == most else f"{render.count(least)} to {render.count(most)}"
        what = f"{one['line']} of {render.count(one['switches'])}"
        rows.append((f"dimension {number}", f"{what}, {cables} {'cable' if most == 1 else 'cables'} a pair"))
    return rows


def _write(run: Run, net: Fabric, hosts: Sequence[int] | None = None) -> str | None:
    if not run.has_product:
        return None
    if run.product_to_stdout:
        return run.write(net.to_bytes("ibnetdiscover"))
    ending = outputs.ending(run.options.output)
    with run.timed("write"):
        data = _exported(net, ending, hosts) if ending in _EXPORTS else net.to_bytes(_KINDS[ending])
    return run.write(data)


def _exported(net: Fabric, ending: str, hosts: Sequence[int] | None) -> bytes:
    """The fabric as another program's file; of some hosts for Slurm."""
    from netloom.exports import simgrid, slurm

    if ending in _SLURM:
        return (slurm.topology_conf if ending == ".conf" else slurm.topology_yaml)(net, hosts)
    return simgrid.platform_xml(net)
