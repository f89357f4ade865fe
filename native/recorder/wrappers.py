"""Makes the recorder's wrappers in C from functions.txt: `wrappers.py FOLDER` writes functions.inc and wrappers.inc.

A wrapper calls the library's own PMPI_X and then counts what the line says. The twin for large counts, X_c, calls
PMPI_X_c; where the library has none (it is older than MPI 4) and the counts fit, PMPI_X. No more than Python's own
library is imported: this runs before anything is installed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent

POINTERS = {"buf", "rbuf", "status", "req", "types", "rtypes", "adispls", "ardispls"}
ARRAYS = {"counts", "rcounts", "displs", "rdispls"}
COUNTS = {"count", "rcount", "tcount"}
NUMBERS = {"peer", "source", "root", "tag", "rtag", "parts"}
HANDLES = {"type", "rtype", "ttype", "comm", "op", "win", "info"}

CLASSES = {
    "blocking": "B",
    "nonblocking": "N",
    "persistent": "P",
    "partitioned": "P",
    "sendrecv": "S",
    "collective": "C",
    "istarted-collective": "C",
    "persistent-collective": "C",
    "one-sided": "O",
    "by-hand": "-",
}
"""The letter by which the merge knows what a function's bytes are; it is the first byte of each name in a file."""


@dataclass(frozen=True)
class Function:
    """A line of the table, or a form or twin of it."""

    name: str
    kind: str
    twin: bool
    count: str
    arguments: tuple[str, ...]
    base: str = ""
    """What a form is one of: `Alltoallv` of `Ialltoallv_init`."""


def read(path: Path = HERE / "functions.txt") -> tuple[list[Function], dict[str, list[str]]]:
    """The functions that get a wrapper, forms included, and the words of the `@` lines by their names."""
    functions: list[Function] = []
    others: dict[str, list[str]] = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0].startswith("@"):
            others.setdefault(words[0][1:], []).extend(words[1:])
            continue
        name, kind, twin, count, *arguments = words
        if kind not in CLASSES or twin not in ("c", "-"):
            raise SystemExit(f"{path}:{number}: expected a class and c or -, found {kind} {twin}")
        functions.append(Function(name, kind, twin == "c", count, tuple(arguments), name))
        if kind == "collective" and "collectives" in others:
            raise SystemExit(f"{path}:{number}: expected collectives before @collectives")
    forms = []
    for one in functions:
        if one.kind == "collective":
            begun = f"I{one.name[0].lower()}{one.name[1:]}"
            kept = (*one.arguments, "info", "req")
            forms.append(
                Function(begun, "istarted-collective", one.twin, one.count, (*one.arguments, "req"), one.name)
            )
            forms.append(
                Function(f"{one.name}_init", "persistent-collective", one.twin, one.count, kept, one.name)
            )
    return functions + forms, others


def names(functions: list[Function], others: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Name and class of all that have a wrapper, twins after what they are twins of, those by hand last."""
    found = []
    for one in functions:
        found.append((one.name, one.kind))
        if one.twin:
            found.append((f"{one.name}_c", one.kind))
    return found + [(name, "by-hand") for name in others["by-hand"]]


def declared(one: Function, wide: bool) -> tuple[list[str], list[str]]:
    """Types and names of a function's parameters."""
    types, given = [], []
    for word in one.arguments:
        if word in POINTERS or word in ARRAYS:
            type_ = "void *"
        elif word in COUNTS:
            type_ = "long long" if wide else "int"
        elif word == "xcount":
            type_ = "long long"
        elif word in NUMBERS:
            type_ = "int"
        elif word == "disp":
            type_ = "intptr_t"
        elif word in HANDLES:
            type_ = "word"
        else:
            raise SystemExit(f"{one.name}: unknown argument {word}")
        types.append(type_)
        given.append(f"{word}{given.count(word) + 1}" if word in given else word)
    return types, given


def counted(one: Function, function: str, wide: int) -> str:
    """The statements that count a call that succeeded, with `t` the thread."""
    count = "(long long)parts * xcount" if one.kind == "partitioned" else "count"
    if one.kind in ("blocking", "nonblocking", "sendrecv"):
        return f"sent(t, {function}, {count}, type, peer, comm);"
    if one.kind in ("persistent", "partitioned"):
        return f"keep_message(t, {function}, {count}, type, peer, comm, req);"
    if one.kind == "one-sided":
        put, got = one_sided(one.count)
        return (
            "if (ready(t)) {\n"
            f"            long long put = {put}, got = {got};\n"
            f"            moved(t, {function}, put, got, peer, win);\n"
            "        }"
        )
    ends = f"called(t, {function}, bytes);"
    if one.kind == "persistent-collective":
        ends = f"keep_collective(t, {function}, bytes, req);"
    return (
        "const struct comm *c = members(t, comm);\n"
        "        if (c) {\n"
        f"            long long bytes = {collective(one, wide)};\n"
        f"            {ends}\n"
        "        } else if (ready(t)) {\n"
        "            t->block->unknown++;\n"
        "        }"
    )


def one_sided(count: str) -> tuple[str, str]:
    """Bytes put and got."""
    message, result = "product(count, size_of(t, type))", "product(rcount, size_of(t, rtype))"
    return {
        "put": (message, "-1"),
        "get": ("-1", message),
        "both": (message, result),
        "element": ("size_of(t, type)", "size_of(t, type)"),
    }[count]


def collective(one: Function, wide: int) -> str:
    """Bytes of a collective, with `c` its communicator."""
    message = "product(count, size_of(t, type))"
    in_place = "(word)buf == abi.in_place"
    of_counts = f"product(sum_of(counts, {wide}, {{n}}), size_of(t, type))"
    of_types = f"sum_of_types(t, counts, types, {wide}, {{n}})"
    placed = "product(rcount, size_of(t, rtype))"
    of_root = "at_root(c, root)"
    sends_to_root = "(!c->inter || root >= 0)"
    return {
        "nothing": "0",
        "message": message,
        "send": f"{in_place} ? {placed} : {message}",
        "own": f"{in_place} || !{sends_to_root} ? 0 : {message}",
        "owns": f"{sends_to_root} ? {message} : 0",
        "each": f"c->peers * ({in_place} ? {placed} : {message})",
        "gathered": (
            f"{in_place} ? product(element(rcounts, {wide}, c->me), size_of(t, rtype)) : {message}"
        ),
        "root": f"{of_root} ? {message} : 0",
        "root-each": f"{of_root} ? c->peers * {message} : 0",
        "root-counts": f"{of_root} ? {of_counts.format(n='c->peers')} : 0",
        "counts": (
            f"{in_place} ? product(sum_of(rcounts, {wide}, c->peers), size_of(t, rtype))"
            f" : {of_counts.format(n='c->peers')}"
        ),
        "blocks": of_counts.format(n="c->local"),
        "block": f"c->local * {message}",
        "types": (
            f"{in_place} ? sum_of_types(t, rcounts, rtypes, {wide}, c->peers)"
            f" : {of_types.format(n='c->peers')}"
        ),
        "out-each": f"out_degree(t, c) * {message}",
        "out-counts": of_counts.format(n="out_degree(t, c)"),
        "out-types": of_types.format(n="out_degree(t, c)"),
    }[one.count]


def lengths(one: Function) -> dict[str, str]:
    """How many entries each array of counts has, with `c` the communicator."""
    sent = received = "c->peers"
    if one.base in ("Gatherv", "Scatterv"):
        sent = received = "at_root(c, root) ? c->peers : 0"
    elif one.base == "Reduce_scatter":
        sent = "c->local"
    elif one.base.startswith("Neighbor"):
        sent, received = "out_degree(t, c)", "in_degree(t, c)"
    elif one.base.startswith("Alltoall"):
        sent = "(word)buf == abi.in_place ? 0 : c->peers"
    return {"counts": sent, "displs": sent, "rcounts": received, "rdispls": received}


def wrapper(one: Function) -> str:
    """PMPI_X, and MPI_X as its other name."""
    types, given = declared(one, False)
    return body(one, one.name, types, given, "", 0)


def twin(one: Function) -> str:
    """PMPI_X_c: calls PMPI_X where the library is older."""
    types, given = declared(one, True)
    old_types, _ = declared(one, False)
    arrays = [word for word in one.arguments if word in ARRAYS]
    lasts = int(one.kind in ("istarted-collective", "persistent-collective"))
    fits = " && ".join(f"fits_int({word})" for word in one.arguments if word in COUNTS) or "1"
    passed = [f"(int){g}" if w in COUNTS else g for w, g in zip(one.arguments, given, strict=True)]
    lines = [f"    if (!call && real_function(F_{one.name})) {{"]
    old = f"((int (*)({', '.join(old_types)}))real_function(F_{one.name}))"
    lines += [f"        int fits = {fits};"]
    if arrays:
        lines += ["        const struct comm *c = members(t, comm);", "        fits = fits && c;"]
        n = lengths(one)
        for word in arrays:
            lines += [f"        int *old_{word} = fits ? narrow({word}, {n[word]}, {lasts}, &fits) : NULL;"]
        passed = [f"old_{p}" if p in ARRAYS else p for p in passed]
    lines += ["        t->depth++;", f"        failed = fits ? {old}({', '.join(passed)}) : abi.error_count;"]
    lines += [f"        widen(old_{word}, {lasts});" for word in arrays]
    lines += ["    } else"]
    return body(one, f"{one.name}_c", types, given, "\n".join(lines), 1)


def body(one: Function, name: str, types: list[str], given: list[str], older: str, wide: int) -> str:
    """The definition of a wrapper; `older` is what a twin does without a twin."""
    pairs = ", ".join(f"{t}{'' if t.endswith('*') else ' '}{g}" for t, g in zip(types, given, strict=True))
    call = f"((int (*)({', '.join(types)}))call)({', '.join(given)})"
    absent = f"    if (!call)\n        return absent(F_{name});\n"
    if older:
        absent = f"    if (!call && !real_function(F_{one.name}))\n        return absent(F_{name});\n"
        run = f"{older} {{\n        t->depth++;\n        failed = {call};\n    }}\n"
    else:
        run = f"    t->depth++;\n    failed = {call};\n"
    return (
        f"EXPORT int PMPI_{name}({pairs})\n{{\n"
        f"    void *call = real_function(F_{name});\n    struct thread *t = &here;\n    int failed;\n"
        f"{absent}{run}"
        f"    if (--t->depth == 0 && !failed) {{\n        {counted(one, f'F_{name}', wide)}\n    }}\n"
        f"    return failed;\n}}\n"
        f'EXPORT int MPI_{name}({", ".join(types)}) __attribute__((alias("PMPI_{name}")));\n'
    )


def main() -> None:
    """Writes both files into the folder that is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    functions, others = read()
    all_names = names(functions, others)
    enum = ", ".join(f"F_{name}" for name, _ in all_names)
    texts = ",\n    ".join(f'"{name}"' for name, _ in all_names)
    classes = "".join(CLASSES[kind] for _, kind in all_names)
    (folder / "functions.inc").write_text(
        f"/* Made by wrappers.py from functions.txt. */\nenum {{ {enum}, FUNCTIONS }};\n"
        f"static const char *const FUNCTION_NAMES[] = {{\n    {texts},\n}};\n"
        f'static const char FUNCTION_CLASSES[] = "{classes}";\n'
    )
    parts = ["/* Made by wrappers.py from functions.txt. */\n"]
    for one in functions:
        parts.append(wrapper(one))
        if one.twin:
            parts.append(twin(one))
    (folder / "wrappers.inc").write_text("\n".join(parts))


if __name__ == "__main__":
    main()
