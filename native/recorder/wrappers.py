"""Makes the recorder's wrappers in C from functions.txt: `wrappers.py FOLDER` writes functions.inc and wrappers.inc.

`wrappers.py FOLDER events` makes those of the library that records events: receives and probes are wrapped too, and
calls that wait take the time before, so that it is known how long.

A wrapper calls the library's own PMPI_X and then counts what the line says. The twin for large counts, X_c, calls
PMPI_X_c; where the library has none (it is older than MPI 4) and the counts fit, PMPI_X. No more than Python's own
library is imported: this runs before anything is installed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent

POINTERS = {"buf", "rbuf", "status", "req", "types", "rtypes", "adispls", "ardispls", "message", "flag"} | {
    *("made", "text", "list"),
}
ARRAYS = {"counts", "rcounts", "displs", "rdispls"}
COUNTS = {"count", "rcount", "tcount"}
NUMBERS = {"peer", "source", "root", "tag", "rtag", "parts", "number"}
HANDLES = {"type", "rtype", "ttype", "comm", "op", "win", "info", "group", "handler"}

CLASSES = {
    "blocking": "B",
    "nonblocking": "N",
    "persistent": "P",
    "partitioned": "P",
    "sendrecv": "S",
    "collective": "C",
    "istarted-collective": "C",
    "persistent-collective": "C",
    "neighbourhood": "H",
    "istarted-neighbourhood": "H",
    "persistent-neighbourhood": "H",
    "one-sided": "O",
    "by-hand": "-",
    "hidden": "-",
    "receive": "-",
    "probe": "-",
    "makes": "-",
}
"""The letter by which the merge knows what a function's bytes are; it is the first byte of each name in a file."""


OF_EVENTS = ("receive", "probe")
"""Classes that have a wrapper only where events are recorded."""
LONG_SEND = 4096
"""A send of so many elements may wait for its receiver."""


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
        if kind in ("collective", "neighbourhood") and "collectives" in others:
            raise SystemExit(f"{path}:{number}: expected collectives before @collectives")
    forms = []
    for one in functions:
        if one.kind in ("collective", "neighbourhood"):
            begun = f"I{one.name[0].lower()}{one.name[1:]}"
            kept = (*one.arguments, "info", "req")
            forms.append(
                Function(begun, f"istarted-{one.kind}", one.twin, one.count, (*one.arguments, "req"), one.name)
            )
            forms.append(
                Function(f"{one.name}_init", f"persistent-{one.kind}", one.twin, one.count, kept, one.name)
            )
    return functions + forms, others


def names(
    functions: list[Function], others: dict[str, list[str]], events: bool = False
) -> list[tuple[str, str]]:
    """Name and class of all that have a wrapper, twins after what they are twins of, those by hand last."""
    found = []
    for one in functions:
        if one.kind in OF_EVENTS and not events:
            continue
        found.append((one.name, one.kind))
        if one.twin:
            found.append((f"{one.name}_c", one.kind))
    by_hand = others["by-hand"] + (others["events-by-hand"] if events else [])
    found += [(name, "by-hand") for name in by_hand]
    return found + [(name, "hidden") for name in others["hidden"]]


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
        before = one.arguments[: len(given)].count(word)
        given.append(f"{word}{before + 1}" if before else word)
    return types, given


def waits(one: Function) -> str:
    """In what case a call may wait for others, so that the time before it counts; empty where it is not asked for."""
    if one.kind == "probe" or one.kind in ("persistent", "partitioned", "one-sided") or one.name.endswith("_init"):
        return ""
    if one.kind == "blocking":
        return {"Ssend": "1", "Send": f"count >= {LONG_SEND}", "Rsend": f"count >= {LONG_SEND}"}.get(one.name, "0")
    return "0" if "req" in one.arguments else "1"


def before(one: Function) -> str:
    """What an events library does before the call."""
    lines = []
    if condition := waits(one):
        lines.append(f"uint64_t start = began_if(IS_OWN(t), {condition});")
    if "status" in one.arguments and one.kind in ("receive", "probe", "sendrecv"):
        lines += ["char own[OWN_STATUS];", "if (ignored(status))", "    status = own;"]
    if "message" in one.arguments and one.kind == "receive":
        lines += [
            "struct request found;",
            "int is_found = recording && IS_OWN(t) && take_found(message, &found);",
        ]
    return "".join(f"    {line}\n" for line in lines)


def received(one: Function, function: str) -> str:
    """The statement that notes a receive, or a message that was found."""
    tag = "rtag" if "rtag" in one.arguments else "tag"
    start = "start" if waits(one) else "0"
    request = "req" if "req" in one.arguments else "NULL"
    if one.kind == "probe":
        found = "if (*(const int *)flag)\n            " if "flag" in one.arguments else ""
        return f"{found}keep_found(t, source, tag, comm, message, status);"
    if "message" in one.arguments:
        return f"if (is_found)\n            found_received(t, {function}, &found, {request}, {start});"
    if one.name.endswith("_init"):
        return f"keep_receive(t, {function}, source, {tag}, comm, req);"
    if request == "req":
        return f"receive_begun(t, {function}, source, {tag}, comm, req, {start});"
    return f"received(t, {function}, source, {tag}, comm, status, {start});"


def counted(one: Function, function: str, wide: int, events: bool) -> str:
    """The statements that count a call that succeeded, with `t` the thread."""
    if one.kind in OF_EVENTS:
        return received(one, function)
    start = "start" if events and waits(one) else "0"
    request = "req" if "req" in one.arguments else "NULL"
    count = "(long long)parts * xcount" if one.kind == "partitioned" else "count"
    if one.kind in ("blocking", "nonblocking", "sendrecv"):
        text = f"sent(t, {function}, {count}, type, peer, comm, tag, {request}, {start});"
        if one.kind == "sendrecv" and events:
            text += f"\n        {received(one, 'F_Irecv' if request == 'req' else 'F_Recv')}"
        return text
    if one.kind in ("persistent", "partitioned"):
        return f"keep_message(t, {function}, {count}, type, peer, comm, tag, req);"
    if one.kind == "one-sided":
        put, got = one_sided(one)
        return (
            "if (peer >= 0 && ready(t)) {\n"
            f"            long long put = {put}, got = {got};\n"
            f"            moved(t, {function}, put, got, peer, win);\n"
            "        }"
        )
    if one.kind.endswith("neighbourhood"):
        given = around(one, wide)
        if one.kind.startswith("persistent"):
            return f"keep_around(t, {function}, comm, {given}, req);"
        return f"around_called(t, {function}, comm, {given}, {request}, {start});"
    root = "root" if "root" in one.arguments else "-1"
    ends = f"called(t, {function}, c, {root}, bytes, {request}, {start})"
    if one.kind == "persistent-collective":
        ends = f"keep_collective(t, {function}, c, {root}, bytes, req);"
    elif events and (counts := by_member(one, wide)):
        ends = f"if ({ends}) {{\n                {counts}\n            }}"
    else:
        ends += ";"
    return (
        "struct comm *c = members(t, comm);\n"
        "        if (c && !c->hidden) {\n"
        f"            long long bytes = {collective(one, wide)};\n"
        f"            {ends}\n"
        "        } else {\n"
        "            uncounted(t, c);\n"
        "        }"
    )


def by_member(one: Function, wide: int) -> str:
    """The statement that notes what goes to each member; empty where all get the same, or the bytes say it."""
    own, theirs = "counts, {}, c->peers", "rcounts, {}, c->peers"
    if one.count in ("counts", "types"):
        word = "type" if one.count == "counts" else "types"
        kinds = ("NULL, {}", "NULL, r{}") if one.count == "counts" else ("{}, 0", "r{}, 0")
        ours, others = (f"note_counts(t, {wide}, {side.format(kind.format(word))});"
                        for side, kind in zip((own, theirs), kinds, strict=True))
        return f"if ((word)buf == abi.in_place)\n                    {others}\n                else\n                    {ours}"
    if one.count == "root-counts":
        return f"if (at_root(c, root))\n                    note_counts(t, {wide}, counts, NULL, type, c->peers);"
    if one.count == "blocks":
        return f"note_counts(t, {wide}, counts, NULL, type, c->local);"
    return ""


def around(one: Function, wide: int) -> str:
    """What a call of a neighbourhood sends, for `messages_of`."""
    given = {
        "out-each": ".count = count, .type = type",
        "out-counts": ".counts = counts, .type = type",
        "out-types": ".counts = counts, .types = types",
    }[one.count]
    return f"(struct around){{.wide = {wide}, {given}}}"


def one_sided(one: Function) -> tuple[str, str]:
    """Bytes put and got; an operation that takes nothing of the caller's puts nothing, and its type is not looked at."""
    message, result = "bytes_of(t, count, type)", "bytes_of(t, rcount, rtype)"
    put, got = {
        "put": (message, "-1"),
        "get": ("-1", message),
        "both": (message, result),
        "element": ("size_of(t, type)", "size_of(t, type)"),
    }[one.count]
    return f"gives(op) ? {put} : -1" if "op" in one.arguments else put, got


def collective(one: Function, wide: int) -> str:
    """Bytes of a collective, with `c` its communicator."""
    message = "bytes_of(t, count, type)"
    in_place = "(word)buf == abi.in_place"
    of_counts = f"bytes_of(t, sum_of(counts, {wide}, {{n}}), type)"
    of_types = f"sum_of_types(t, counts, types, {wide}, {{n}})"
    placed = "bytes_of(t, rcount, rtype)"
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
            f"{in_place} ? bytes_of(t, element(rcounts, {wide}, c->me), rtype) : {message}"
        ),
        "root": f"{of_root} ? {message} : 0",
        "root-each": f"{of_root} ? c->peers * {message} : 0",
        "root-counts": f"{of_root} ? {of_counts.format(n='c->peers')} : 0",
        "counts": (
            f"{in_place} ? bytes_of(t, sum_of(rcounts, {wide}, c->peers), rtype)"
            f" : {of_counts.format(n='c->peers')}"
        ),
        "blocks": of_counts.format(n="c->local"),
        "block": f"c->local * {message}",
        "types": (
            f"{in_place} ? sum_of_types(t, rcounts, rtypes, {wide}, c->peers)"
            f" : {of_types.format(n='c->peers')}"
        ),
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


def wrapper(one: Function, events: bool) -> str:
    """PMPI_X, and MPI_X as its other name."""
    types, given = declared(one, False)
    return body(one, one.name, types, given, "", 0, events)


def twin(one: Function, events: bool) -> str:
    """PMPI_X_c: calls PMPI_X where the library is older."""
    types, given = declared(one, True)
    old_types, _ = declared(one, False)
    arrays = [word for word in one.arguments if word in ARRAYS]
    lasts = int(one.kind.startswith(("istarted", "persistent-")))
    fits = " && ".join(f"fits_int({word})" for word in one.arguments if word in COUNTS) or "1"
    passed = [f"(int){g}" if w in COUNTS else g for w, g in zip(one.arguments, given, strict=True)]
    lines = [f"    if (!call && real_function(F_{one.name})) {{"]
    old = f"((int (*)({', '.join(old_types)}))real_function(F_{one.name}))"
    lines += [f"        int fits = {fits};"]
    if arrays:
        lines += ["        struct comm *c = members(t, comm);", "        fits = fits && c;"]
        n = lengths(one)
        for word in arrays:
            lines += [f"        int *old_{word} = fits ? narrow({word}, {n[word]}, {lasts}, &fits) : NULL;"]
        passed = [f"old_{p}" if p in ARRAYS else p for p in passed]
    lines += ["        t->depth++;", f"        failed = fits ? {old}({', '.join(passed)}) : abi.error_count;"]
    lines += [f"        widen(old_{word}, {lasts});" for word in arrays]
    lines += ["    } else"]
    return body(one, f"{one.name}_c", types, given, "\n".join(lines), 1, events)


def body(
    one: Function, name: str, types: list[str], given: list[str], older: str, wide: int, events: bool
) -> str:
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
        f"{absent}{before(one) if events else ''}{run}"
        f"    t->depth--;\n    if (IS_OWN(t) && !failed) {{\n        {counted(one, f'F_{name}', wide, events)}\n    }}\n"
        f"    return failed;\n}}\n"
        f'EXPORT int MPI_{name}({", ".join(types)}) __attribute__((alias("PMPI_{name}")));\n'
    )


def maker(one: Function, events: bool) -> str:
    """A wrapper of what makes a communicator: hidden, where MPI makes it for itself, else told from others."""
    types, given = declared(one, False)
    pairs = ", ".join(f"{t}{'' if t.endswith('*') else ' '}{g}" for t, g in zip(types, given, strict=True))
    first, told = "", "is_new(key);"
    if events:
        identity = {
            "child": "identity",
            "group": "of_group(key, comm, tag)",
            "text": "of_text(key, text)",
            "sides": "of_sides(key)",
        }[one.count]
        told = f"remember(key, {identity});"
        if one.count == "child":
            first = "    uint64_t identity = recording && IS_OWN(t) ? child_of(comm) : 0;\n"
    return (
        f"EXPORT int PMPI_{one.name}({pairs})\n{{\n"
        f"    int (*call)({', '.join(types)}) = (int (*)({', '.join(types)}))real_function(F_{one.name});\n"
        f"    struct thread *t = &here;\n"
        f"    if (!call)\n        return absent(F_{one.name});\n"
        f"{first}    t->depth++;\n    int failed = call({', '.join(given)});\n    t->depth--;\n"
        "    if (!failed && recording) {\n        word key = handle_at(&abi, made, 0);\n"
        f"        if (IS_OWN(t))\n            {told}\n        else\n            hide(key);\n    }}\n"
        f"    return failed;\n}}\n"
        f'EXPORT int MPI_{one.name}({", ".join(types)}) __attribute__((alias("PMPI_{one.name}")));\n'
    )


def hidden(name: str) -> str:
    """A wrapper that only hides what MPI sends within the call; its arguments are words, whatever they mean."""
    given = "abcdef"
    words = ", ".join(f"word {one}" for one in given)
    types = ", ".join(["word"] * len(given))
    return (
        f"EXPORT int PMPI_{name}({words})\n{{\n"
        f"    int (*call)({types}) = (int (*)({types}))real_function(F_{name});\n"
        f"    if (!call)\n        return absent(F_{name});\n"
        f"    here.depth++;\n    int failed = call({', '.join(given)});\n    here.depth--;\n    return failed;\n}}\n"
        f'EXPORT int MPI_{name}({types}) __attribute__((alias("PMPI_{name}")));\n'
    )


def main() -> None:
    """Writes both files into the folder that is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    functions, others = read()
    events = sys.argv[2:] == ["events"]
    all_names = names(functions, others, events)
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
        if one.kind in OF_EVENTS and not events:
            continue
        if one.kind == "makes":
            parts.append(maker(one, events))
            continue
        parts.append(wrapper(one, events))
        if one.twin:
            parts.append(twin(one, events))
    parts += [hidden(name) for name in others["hidden"]]
    (folder / "wrappers.inc").write_text("\n".join(parts))


if __name__ == "__main__":
    main()
