"""Fabrics of machines with several adapters, as `ibnetdiscover` prints them."""

from __future__ import annotations

from collections.abc import Sequence

MACHINES, RAILS = 32, 8


def fabric(adapters: Sequence[Sequence[str]], *, spines: int = 4, prefix: str = "g") -> str:
    """A dump.

    Parameters
    ----------
    adapters : sequence of sequence of str
        Of every machine, `NAME@LEAF`: its adapters and the leaf each is cabled to.
    spines : int, default 4
        Every leaf has a cable to each.
    prefix : str, default "g"
        Machines are `g0`, `g1`, ….
    """
    nodes = [
        (f"{prefix}{number} {name}", leaf)
        for number, own in enumerate(adapters)
        for name, leaf in (one.split("@") for one in own)
    ]
    leaves = list(dict.fromkeys(leaf for _, leaf in nodes))
    guid = {leaf: f"0002{at:012x}" for at, leaf in enumerate(leaves)}
    tops = [f"0003{at:012x}" for at in range(spines)]
    lid = {leaf: at + 1 for at, leaf in enumerate(leaves)}
    first = len(leaves) + spines + 1
    host = [f"0001{at:011x}0" for at in range(len(nodes))]
    on_leaf = {leaf: [node for node, (_, where) in enumerate(nodes) if where == leaf] for leaf in leaves}
    out = []
    for at, leaf in enumerate(leaves):
        lines = [
            f'[{port}]\t"H-{host[node]}"[1]({host[node][:-1]}1) \t\t# "{nodes[node][0]}" lid {first + node}'
            for port, node in enumerate(on_leaf[leaf], 1)
        ]
        lines += [
            f'[{60 + spine}]\t"S-{top}"[{at + 1}]\t\t# "spine{spine}" lid {len(leaves) + spine + 1}'
            for spine, top in enumerate(tops)
        ]
        out.append(_switch(guid[leaf], leaf, lid[leaf], lines))
    for spine, top in enumerate(tops):
        lines = [
            f'[{at + 1}]\t"S-{guid[leaf]}"[{60 + spine}]\t\t# "{leaf}" lid {lid[leaf]}'
            for at, leaf in enumerate(leaves)
        ]
        out.append(_switch(top, f"spine{spine}", len(leaves) + spine + 1, lines))
    for node, (name, leaf) in enumerate(nodes):
        port = on_leaf[leaf].index(node) + 1
        far = f'"S-{guid[leaf]}"[{port}]\t\t# lid {first + node} lmc 0 "{leaf}" lid {lid[leaf]} 4xHDR'
        out.append(
            f"vendid=0x2c9\ndevid=0x101b\nsysimgguid=0x{host[node]}\ncaguid=0x{host[node]}\n"
            f'Ca\t1 "H-{host[node]}"\t\t# "{name}"\n[1]({host[node][:-1]}1) \t{far}\n'
        )
    head = (
        f"#\n# Topology file: generated on Mon Jan  1 00:00:00 2024\n#\n# Initiated from node {host[0]}\n\n"
    )
    return head + "\n".join(out)


def _switch(guid: str, name: str, lid: int, lines: list[str]) -> str:
    body = "\n".join(f"{line} 4xHDR" for line in lines)
    return (
        f"vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x{guid}\nswitchguid=0x{guid}({guid})\n"
        f'Switch\t80 "S-{guid}"\t\t# "{name}" base port 0 lid {lid} lmc 0\n{body}\n'
    )


def rails() -> str:
    """32 machines of 8 adapters, rail *r* on leaf *r*."""
    return fabric([[f"mlx5_{rail}@leaf{rail}" for rail in range(RAILS)]] * MACHINES)


def with_storage() -> str:
    """32 machines of 4 compute adapters and one for storage, which is on leaves of its own."""
    compute = [f"mlx5_{rail}@leaf{rail}" for rail in range(4)]
    return fabric([[*compute, f"mlx5_4@storage{number // 16}"] for number in range(MACHINES)])
