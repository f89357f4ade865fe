"""Evaluates the subset of P4_16 in which `dataplane/p4` is written: parser, controls, tables, deparser.

From the language's specification alone (version 1.2.3, sections 8 and 12): widths of operands must agree,
actions copy their parameters in and out, a table's entry gives an action its arguments. Anything outside of
the subset is an error. It proves the arithmetic, not that p4c takes the program.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lark import Lark, Token, Tree

GRAMMAR = r"""
start: declaration*
?declaration: header | struct | action | parser | control | instance
header: "header" NAME "{" member* "}"
struct: "struct" NAME "{" member* "}"
member: type NAME ";"
action: "action" NAME parameters block
parameters: "(" [parameter ("," parameter)*] ")"
parameter: [DIRECTION] type NAME
parser: "parser" NAME parameters "{" state* "}"
state: "state" NAME "{" statement* transition "}"
transition: "transition" NAME ";"                                       -> always
          | "transition" "select" "(" expr ")" "{" choice* "}"          -> select
choice: expr ":" NAME ";" | "default" ":" NAME ";"                      -> otherwise
control: "control" NAME parameters "{" (action | table)* "apply" block "}"
table: "table" NAME "{" "key" "=" "{" key* "}" "actions" "=" "{" (NAME ";")* "}" default "}"
?default: "default_action" "=" call ";"
key: expr ":" NAME ";"
instance: NAME "(" [NAME "(" ")" ("," NAME "(" ")")*] ")" NAME ";"
block: "{" statement* "}"
?statement: type NAME ["=" expr] ";"                                    -> variable
          | postfix "=" expr ";"                                        -> assign
         | postfix "." "apply" "(" ")" ";"                             -> applied
          | call ";"
          | "if" "(" expr ")" block ["else" (block | statement)]        -> branch
call: postfix "(" [expr ("," expr)*] ")"
?type: BIT | NAME
?expr: or | or "?" expr ":" expr                                        -> ternary
?or: and | or "||" and                                                  -> op_or
?and: eq | and "&&" eq                                                  -> op_and
?eq: rel | eq "==" rel -> op_eq | eq "!=" rel                           -> op_ne
?rel: bor | rel "<" bor -> op_lt | rel ">=" bor                         -> op_ge
?bor: bxor | bor "|" bxor                                               -> op_bor
?bxor: band | bxor "^" band                                             -> op_bxor
?band: shift | band "&" shift                                           -> op_band
?shift: sum | shift ">>" sum -> op_shr | shift "<<" sum              -> op_shl
?sum: unary | sum "+" unary -> op_add | sum "-" unary -> op_sub
    | sum "++" unary -> op_concat | sum "|+|" unary                     -> op_sadd
?unary: "~" unary -> op_not | "(" BIT ")" unary -> cast | postfix
?postfix: NAME -> name | postfix "." NAME -> dot | postfix "[" INT ":" INT "]" -> slice
        | postfix "." "isValid" "(" ")" -> valid | WIDE -> wide | INT -> number | "(" expr ")"
DIRECTION.2: /inout\b|in\b|out\b/
BIT.3: /bit<\d+>/
WIDE.3: /\d+w(0x[0-9A-Fa-f]+|0b[01]+|\d+)/
INT.2: /0x[0-9A-Fa-f]+|0b[01]+|\d+/
NAME: /(?!(?:if|else|state|transition|select|apply|table|action|default|isValid)\b)[A-Za-z_]\w*/
COMMENT: /\/\*(.|\n)*?\*\//
%ignore COMMENT
%ignore /@name\("\w+"\)/
%ignore /\s+/
"""


EVERYTHING = -1
"""The key of a route of length 0."""


class P4Error(Exception):
    """Something that the language does not allow, or that is outside of the subset."""


@dataclass(frozen=True)
class Bits:
    """A number of so many bits; `width` None: a literal without one."""

    width: int | None
    value: int

    def of(self, width: int | None) -> Bits:
        """With a width: a literal takes it, anything else must have it."""
        if self.width == width:
            return self
        if self.width is not None or width is None:
            raise P4Error(f"expected bit<{width}>, found bit<{self.width}>")
        if not 0 <= self.value < 1 << width:
            raise P4Error(f"{self.value} does not fit bit<{width}>")
        return Bits(width, self.value)


@dataclass
class Header:
    """A header: its fields in order, and whether it is there."""

    fields: dict[str, Bits]
    valid: bool = False


@dataclass
class Entry:
    """An entry of a table."""

    action: str
    arguments: tuple[int, ...] = ()


@dataclass
class Packet:
    """What is read, and what is written."""

    data: bytes
    at: int = 0
    out: bytes = b""


@dataclass
class Program:
    """A program, its tables' entries, and what externs do."""

    text: str
    defines: frozenset[str] = frozenset()
    entries: dict[str, dict[int, Entry]] = field(default_factory=dict)
    """By table, as `SamplerIngress.edges`, and key."""
    random: Callable[[int, int], int] = lambda low, high: low
    depth: int = 0
    """Packets in the queue, `enq_qdepth`."""

    def __post_init__(self) -> None:
        self._types: dict[str, Tree[Token]] = {}
        self._actions: dict[str, Tree[Token]] = {}
        self._blocks: dict[str, Tree[Token]] = {}
        self._main: list[str] = []
        tree = Lark(GRAMMAR, parser="lalr", maybe_placeholders=True).parse(
            _preprocessed(self.text, self.defines)
        )
        for declaration in tree.children:
            name = str(declaration.children[0])
            match declaration.data:
                case "header" | "struct":
                    self._types[name] = declaration
                case "action":
                    self._actions[name] = declaration
                case "parser" | "control":
                    self._blocks[name] = declaration
                case "instance":
                    self._main = [str(child) for child in declaration.children[1:-1]]

    def run(self, data: bytes, ingress_port: int, *, egress: bool = True) -> tuple[int, bytes]:
        """A packet through parser, ingress, egress and deparser, as v1model has them; or without the egress.

        Returns the port that it leaves by, 511 if it is dropped, and its bytes.
        """
        packet = Packet(data)
        standard = {
            "ingress_port": Bits(9, ingress_port),
            "egress_spec": Bits(9, 0),
            "egress_port": Bits(9, 0),
            "enq_qdepth": Bits(19, self.depth),
        }
        found, meta = self._made("headers"), self._made("metadata")
        read, verify, before, after, compute, write = self._main
        with contextlib.suppress(EOFError):  # Too short: headers so far are there, the rest is payload.
            self._parse(read, [packet, found, meta, standard])
        self._control(verify, [found, meta])
        self._control(before, [found, meta, standard])
        standard["egress_port"] = standard["egress_spec"]
        if standard["egress_port"].value == 511:
            return 511, b""
        if egress:
            self._control(after, [found, meta, standard])
        self._control(compute, [found, meta])
        self._control(write, [packet, found])
        return standard["egress_port"].value, packet.out + data[packet.at :]

    def _made(self, name: str) -> Any:
        if name.startswith("bit<"):
            return Bits(int(name[4:-1]), 0)
        declaration = self._types[name]
        members = {str(m.children[1]): self._made(str(m.children[0])) for m in declaration.children[1:]}
        return Header(members) if declaration.data == "header" else members

    def _parse(self, name: str, arguments: Sequence[Any]) -> None:
        _, parameters, *states = self._blocks[name].children
        scope = _Scope(self, name, dict(zip(_names(parameters), arguments, strict=True)))
        by_name = {str(state.children[0]): state for state in states}
        state = "start"
        while state not in ("accept", "reject"):
            *statements, transition = by_name[state].children[1:]
            scope.all(statements)
            if transition.data == "always":
                state = str(transition.children[0])
                continue
            on, *choices = transition.children
            value = scope.value(on)
            for choice in choices:
                if choice.data == "otherwise" or scope.value(choice.children[0]).of(value.width) == value:
                    state = str(choice.children[-1])
                    break
            else:
                state = "reject"

    def _control(self, name: str, arguments: Sequence[Any]) -> None:
        _, parameters, *inner, block = self._blocks[name].children
        scope = _Scope(self, name, dict(zip(_names(parameters), arguments, strict=True)))
        for one in inner:
            (scope.tables if one.data == "table" else scope.actions)[str(one.children[0])] = one
        scope.all(block.children)


class _Scope:
    """Names of a control or an action, and what they stand for."""

    def __init__(self, program: Program, control: str, names: dict[str, Any]) -> None:
        self.program, self.control, self.names = program, control, names
        self.tables: dict[str, Tree[Token]] = {}
        self.actions: dict[str, Tree[Token]] = dict(program._actions)

    def all(self, statements: Sequence[Any]) -> None:
        for statement in statements:
            getattr(self, f"_{statement.data}")(*statement.children)

    def _block(self, *statements: Any) -> None:
        self.all(statements)

    def _variable(self, kind: Token, name: Token, value: Any) -> None:
        made = self.program._made(str(kind))
        self.names[str(name)] = made if value is None else self.value(value).of(made.width)

    def _assign(self, target: Any, value: Any) -> None:
        self._put(target, self.value(value))

    def _branch(self, condition: Any, then: Any, other: Any) -> None:
        if _is(self.value(condition)):
            self.all([then])
        elif other is not None:
            self.all([other])

    def _call(self, callee: Any, *arguments: Any) -> None:
        found = [argument for argument in arguments if argument is not None]
        name = str(callee.children[-1])
        if callee.data == "dot" and name in ("extract", "emit"):
            _move(self.value(callee.children[0]), self.value(found[0]), name)
        elif callee.data == "name" and name == "random":
            low, high = (self.value(one).value for one in found[1:])
            self._put(found[0], Bits(self.value(found[0]).width, self.program.random(low, high)))
        elif callee.data == "name" and name == "mark_to_drop":
            self.value(found[0])["egress_spec"] = Bits(9, 511)
        elif callee.data == "name" and name in self.actions:
            self._act(name, found)
        else:
            raise P4Error(f"{name}: outside of the subset")

    def _applied(self, named: Any) -> None:
        name = str(named.children[0])
        table = self.tables[name]
        (key,) = table.find_data("key")
        known = self.program.entries.get(f"{self.control}.{name}", {})
        entry = known.get(self.value(key.children[0]).value)
        if entry is None and str(key.children[1]) == "lpm":
            entry = known.get(EVERYTHING)
        if entry is None:
            self.all([table.children[-1]])
            return
        if entry.action not in [child for child in table.children[1:] if isinstance(child, Token)]:
            raise P4Error(f"{name}: {entry.action} is none of its actions")
        self._act(entry.action, [Bits(None, number) for number in entry.arguments])

    def _act(self, name: str, arguments: Sequence[Any]) -> None:
        """An action: parameters are copied in, and out at its end."""
        _, parameters, block = self.actions[name].children
        kinds = [child for child in parameters.children if child is not None]
        if len(kinds) != len(arguments):
            raise P4Error(f"{name}: expected {len(kinds)} arguments, found {len(arguments)}")
        inside = dict(self.names)
        for kind, argument in zip(kinds, arguments, strict=True):
            direction, type_, parameter = kind.children
            made = self.program._made(str(type_))
            if direction != "out":
                made = argument if isinstance(argument, Bits) else self.value(argument)
                made = made.of(self.program._made(str(type_)).width) if isinstance(made, Bits) else made
            inside[str(parameter)] = made
        scope = _Scope(self.program, self.control, inside)
        scope.actions = self.actions
        scope.all(block.children)
        for kind, argument in zip(kinds, arguments, strict=True):
            direction, _, parameter = kind.children
            if direction in ("out", "inout"):
                self._put(argument, scope.names[str(parameter)])

    def _put(self, target: Any, value: Any) -> None:
        if target.data == "name":
            where: Any = self.names
            name = str(target.children[0])
        elif target.data == "dot":
            where, name = self.value(target.children[0]), str(target.children[1])
            where = where.fields if isinstance(where, Header) else where
        else:
            raise P4Error(f"{target.data}: not assigned to in the subset")
        before = where[name]
        where[name] = value.of(before.width) if isinstance(before, Bits) else value

    def value(self, tree: Any) -> Any:
        """The value of an expression: bits, a header, a struct."""
        parts = tree.children
        match tree.data:
            case "name":
                return self.names[str(parts[0])]
            case "dot":
                owner = self.value(parts[0])
                return (owner.fields if isinstance(owner, Header) else owner)[str(parts[1])]
            case "valid":
                return bool(self.value(parts[0]).valid)
            case "number":
                return Bits(None, int(parts[0], 0))
            case "wide":
                width, number = str(parts[0]).split("w")
                return Bits(None, int(number, 0)).of(int(width))
            case "slice":
                high, low = int(parts[1]), int(parts[2])
                return Bits(high - low + 1, self.value(parts[0]).value >> low & ((1 << (high - low + 1)) - 1))
            case "cast":
                width = int(str(parts[0])[4:-1])
                return Bits(width, self.value(parts[1]).value & ((1 << width) - 1))
            case "ternary":
                return self.value(parts[1] if _is(self.value(parts[0])) else parts[2])
            case "op_and":
                return _is(self.value(parts[0])) and _is(self.value(parts[1]))
            case "op_or":
                return _is(self.value(parts[0])) or _is(self.value(parts[1]))
            case "op_not":
                inner = self.value(parts[0])
                return Bits(inner.width, inner.value ^ ((1 << inner.width) - 1))
        return _operation(str(tree.data), self.value(parts[0]), self.value(parts[1]))


def _operation(name: str, left: Bits, right: Bits) -> Bits | bool:
    if name == "op_concat":
        if left.width is None or right.width is None:
            raise P4Error("++: expected operands with widths")
        return Bits(left.width + right.width, left.value << right.width | right.value)
    if name in ("op_shr", "op_shl"):
        value = left.value >> right.value if name == "op_shr" else left.value << right.value
        return Bits(left.width, value & ((1 << (left.width or 64)) - 1))
    width = left.width if left.width is not None else right.width
    if width is None:
        raise P4Error(f"{name}: expected an operand with a width")
    a, b, most = left.of(width).value, right.of(width).value, (1 << width) - 1
    comparisons = {"op_eq": a == b, "op_ne": a != b, "op_lt": a < b, "op_ge": a >= b}
    if name in comparisons:
        return comparisons[name]
    arithmetic = {
        "op_add": a + b & most,
        "op_sub": a - b & most,
        "op_sadd": min(a + b, most),
        "op_band": a & b,
        "op_bor": a | b,
        "op_bxor": a ^ b,
    }
    return Bits(width, arithmetic[name])


def _move(packet: Packet, header: Header, what: str) -> None:
    size = sum(bits.width or 0 for bits in header.fields.values()) // 8
    if what == "emit":
        if header.valid:
            whole = 0
            for bits in header.fields.values():
                whole = whole << (bits.width or 0) | bits.value
            packet.out += whole.to_bytes(size, "big")
        return
    if packet.at + size > len(packet.data):
        raise EOFError
    whole = int.from_bytes(packet.data[packet.at : packet.at + size], "big")
    left = size * 8
    for name, bits in header.fields.items():
        left -= bits.width or 0
        header.fields[name] = Bits(bits.width, whole >> left & ((1 << (bits.width or 0)) - 1))
    header.valid = True
    packet.at += size


def _is(value: Any) -> bool:
    if not isinstance(value, bool):
        raise P4Error(f"expected a bool, found {value}")
    return value


def _names(parameters: Any) -> list[str]:
    return [str(child.children[-1]) for child in parameters.children if child is not None]


def _preprocessed(text: str, defines: frozenset[str]) -> str:
    lines, taken = [], [True]
    for line in text.splitlines():
        words = line.split()
        if words and words[0] == "#ifdef":
            taken.append(words[1] in defines)
        elif words and words[0] == "#endif":
            taken.pop()
        elif not (words and words[0] == "#include") and all(taken):
            lines.append(line)
    return "\n".join(lines)


def commands(text: str) -> Mapping[str, dict[int, Entry]]:
    """Entries of `simple_switch_CLI`'s `table_add` lines."""
    found: dict[str, dict[int, Entry]] = {}
    for line in text.splitlines():
        word, table, action, key, arrow, *arguments = line.split()
        if (word, arrow) != ("table_add", "=>"):
            raise P4Error(f"{line}: expected table_add … =>")
        numbers = tuple(int(argument, 0) for argument in arguments)
        found.setdefault(table, {})[int(key, 0)] = Entry(action.split(".")[-1], numbers)
    return found
