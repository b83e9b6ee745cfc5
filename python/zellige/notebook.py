"""What notebooks show of arrays and groups: a page fragment that needs nothing else.

It takes the colours of the page around it, light or dark. All text of a store goes through
`clean`. No elements are read; a store is listed only where that is known to be short, and a
group is walked only so far.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .errors import ZelligeError
from .report import Report
from .sketch import axis_names, clean, sketch

if TYPE_CHECKING:
    from .array import Array
    from .group import Group
    from .node import Node

__all__ = ["Tree", "array_html", "group_html", "tree_html"]

_MOST_LISTED = 1000  # objects that are looked up for the stored size
_MOST_MEMBERS = 200  # of all levels of a group together
_MOST_OPEN = 40  # members that a group shows before it is unfolded
_MOST_ATTRIBUTES = 100
_ARRAY = 2

Row = tuple[str, list[str], str, str]

_STYLE = """<style>
.zellige{font-size:13px;line-height:1.5;max-width:900px;color:inherit}
.zellige-head{padding-bottom:4px;margin-bottom:8px;border-bottom:1px solid rgba(128,128,128,.4)}
.zellige-head b{color:#1f90a0;margin-right:.6em}
.zellige-head i,.zellige-dim{opacity:.65;font-style:normal}
.zellige-head i{margin-left:.6em}
.zellige-side{display:flex;flex-wrap:wrap;gap:12px 40px;align-items:flex-start}
.zellige-side>div{max-width:100%;overflow-x:auto}
.zellige-side>div:first-child{flex:0 1 560px;min-width:280px}
.zellige table{border-collapse:collapse;margin:0 0 8px;border:0}
.zellige tr{background:none!important}
.zellige td,.zellige th{padding:1px 14px 1px 0!important;text-align:left!important;
line-height:1.5;vertical-align:top!important;border:0;background:none;font-weight:normal;
max-width:520px;overflow-wrap:anywhere}
.zellige th{opacity:.65;white-space:nowrap}
.zellige .zellige-grid td,.zellige .zellige-grid th+th{text-align:right!important;
white-space:nowrap;font-variant-numeric:tabular-nums}
.zellige thead{border:0}
.zellige-grid thead tr{border-bottom:1px solid rgba(128,128,128,.4)}
.zellige summary{cursor:pointer}
.zellige details details,.zellige details .zellige-leaf{margin-left:1.1em}
.zellige-leaf{padding-left:1.1em}
.zellige-tree{margin-bottom:8px}
.zellige-name{color:#1f90a0}
.zellige svg text{font-family:inherit}
</style>"""


class Tree(Report):
    """All levels of a group: text at a prompt, a tree that folds in a notebook."""

    group: Group

    def _repr_html_(self) -> str:
        return tree_html(self.group)


# ---------------------------------------------------------------------- pieces of a page


def _size(n_bytes: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if n_bytes < 1024:
            return f"{n_bytes:,.0f} bytes" if unit == "bytes" else f"{n_bytes:.3g} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:,.1f} PiB"


def _facts(pairs: Iterable[tuple[str, str]]) -> str:
    """A table of names, which are text, and values, which are HTML already."""
    rows = (
        f"<tr><th>{clean(name)}</th><td>{value}</td></tr>" for name, value in pairs if value
    )
    return f"<table>{''.join(rows)}</table>"


def _dim(text: str) -> str:
    return f'<span class="zellige-dim">{clean(text, 200)}</span>'


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _page(head: str, *parts: str) -> str:
    return f'<div class="zellige">{_STYLE}{head}{"".join(parts)}</div>'


def _head(node: Node, remark: str) -> str:
    kind = type(node).__name__
    return (
        f'<div class="zellige-head"><b>zellige.{clean(kind)}</b>{clean(node.name, 200)}'
        f"<i>{clean(remark)}</i></div>"
    )


def _attributes(node: Node) -> str:
    if not node.attrs:
        return ""
    pairs = list(node.attrs.items())
    rows = [
        (name, clean(value if isinstance(value, str) else json.dumps(value), 400))
        for name, value in pairs[:_MOST_ATTRIBUTES]
    ]
    if len(pairs) > _MOST_ATTRIBUTES:
        rows.append(("", _dim(f"and {len(pairs) - _MOST_ATTRIBUTES:,} more")))
    head = _count(len(pairs), "attribute")
    return f"<details><summary>{head}</summary>{_facts(rows)}</details>"


def _place(node: Node) -> str:
    root = node.store.root or node.store.label
    return f"{clean(root, 200)}{_dim(', to be read only' if node.read_only else '')}"


# ---------------------------------------------------------------------- arrays


def _is_variable(array: Array) -> bool:
    return array.dtype.kind in "OT"


def _type_name(array: Array) -> str:
    return array._description[0] if _is_variable(array) else str(array.dtype)


def _pieces(array: Array) -> Iterator[Row]:
    """Name, lengths, bytes and number of an array, its shards and its chunks."""
    n_bytes = 0 if _is_variable(array) else array.dtype.itemsize

    def row(name: str, shape: tuple[int, ...], number: str) -> Row:
        size = _size(math.prod(shape) * n_bytes) if n_bytes else "varies"
        return name, [f"{n:,}" for n in shape], size, number

    yield row("array", array.shape, "")
    n_objects = f"{math.prod(array._grid_shape):,}"
    name = "shard" if array._is_sharded else "chunk"
    if array._is_rectilinear:
        yield name, ["varies"] * array.ndim, "varies", n_objects
    else:
        yield row(name, array._object_shape, n_objects)
    if array._is_sharded:
        yield row("chunk", array._chunk_shape, f"{array.nchunks:,}")


def _grid(array: Array) -> str:
    names = [name or f"axis {i}" for i, name in enumerate(axis_names(array))]
    head = "".join(f"<th>{clean(name, 24)}</th>" for name in [*names, "size", "number"])
    rows = [
        f"<tr><th>{name}</th>"
        + "".join(f"<td>{text}</td>" for text in [*lengths, size, number])
        + "</tr>"
        for name, lengths, size, number in _pieces(array)
    ]
    return (
        f'<table class="zellige-grid"><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _chain(codecs: Any) -> str:
    """Names of codecs in the order of writing, with what is set."""
    if isinstance(codecs, dict):  # version 2
        listed = [*(codecs.get("filters") or []), codecs.get("compressor")]
        settings = [dict(codec) for codec in listed if codec]
        return " → ".join(_codec(codec.pop("id"), codec) for codec in settings)
    named: list[dict[str, Any]] = [
        {"name": codec} if isinstance(codec, str) else codec for codec in codecs
    ]
    return " → ".join(_codec(c["name"], c.get("configuration") or {}) for c in named)


def _codec(name: str, configuration: dict[str, Any]) -> str:
    if name == "sharding_indexed":
        inner = _chain(configuration.get("codecs", []))
        index = _chain(configuration.get("index_codecs", []))
        where = configuration.get("index_location", "end")
        return f"shards of {inner}{_dim(f', index at the {where}: ')}{index}"
    settings = ", ".join(
        f"{key} {value if isinstance(value, str) else json.dumps(value)}"
        for key, value in configuration.items()
    )
    return clean(name) + (_dim(f" ({settings})") if settings else "")


def _type(array: Array) -> str:
    written, name = array.zarr_dtype, _type_name(array)
    text = written if isinstance(written, str) else json.dumps(written)
    return clean(name, 200) + ("" if text == name else _dim(f", stored as {text}"))


def _fill(array: Array) -> str:
    value = array.fill_value
    if value is None:
        return ""
    return clean(repr(value) if isinstance(value, (str, bytes)) else value)


def _stored(array: Array) -> str:
    """Bytes that the store holds, where finding out is cheap."""
    n_objects = math.prod(array._grid_shape)
    if n_objects > _MOST_LISTED:
        return _dim(f"not counted: up to {n_objects:,} objects; see nbytes_stored()")
    try:
        n_found, n_bytes = array._stored()
    except ZelligeError as error:
        return _dim(f"not counted: {error}")
    if n_found == 0:
        return _dim("nothing yet")
    remark = f", {n_found:,} of {_count(n_objects, 'object')}"
    if n_bytes and not _is_variable(array):
        remark = f", ratio {array.nbytes / n_bytes:.3g}" + remark
    return _size(n_bytes) + _dim(remark)


def array_html(array: Array) -> str:
    """An array, as a notebook shows it."""
    facts = [
        ("type", _type(array)),
        ("fill value", _fill(array)),
        ("codecs", _chain(array.codecs) or _dim("none")),
        ("stored", _stored(array)),
        ("store", _place(array)),
        ("format", f"Zarr version {array.zarr_format}"),
    ]
    tables = f"<div>{_grid(array)}{_facts(facts)}{_attributes(array)}</div>"
    body = f'<div class="zellige-side">{tables}<div>{sketch(array)}</div></div>'
    return _page(_head(array, _type_name(array)), body)


# ---------------------------------------------------------------------- groups


def _leaf(name: str, array: Array) -> str:
    sides = ", ".join(
        f"{axis}: {n:,}" if axis else f"{n:,}"
        for axis, n in zip(axis_names(array), array.shape)
    )
    size = "" if _is_variable(array) else f", {_size(array.nbytes)}"
    return (
        f'<div class="zellige-leaf"><span class="zellige-name">{clean(name)}</span> '
        f"({clean(sides, 200)}) {clean(_type_name(array))}{_dim(size)}</div>"
    )


class _Walk:
    """Goes through the levels of a group until enough has been shown."""

    def __init__(self) -> None:
        self.left = _MOST_MEMBERS

    def level(self, group: Group) -> str:
        members = group._members(False)
        shown = members[: max(0, self.left)]
        self.left -= len(shown)
        parts = [self.member(group, name) for name, _ in shown]
        if len(shown) < len(members):
            text = _dim(f"and {len(members) - len(shown):,} more")
            parts.append(f'<div class="zellige-leaf">{text}</div>')
        return "".join(parts)

    def member(self, group: Group, name: str) -> str:
        from .array import Array

        try:
            node = group[name]
            if isinstance(node, Array):
                return _leaf(name, node)
            below, is_open = self.level(node), self.left > _MOST_MEMBERS - _MOST_OPEN
        except ZelligeError as error:
            return (
                f'<div class="zellige-leaf">{clean(name)} '
                f"{_dim(f'cannot be opened: {error}')}</div>"
            )
        if not below:
            return f'<div class="zellige-leaf">{clean(name)}/ {_dim("empty")}</div>'
        return (
            f"<details{' open' if is_open else ''}><summary>{clean(name)}/</summary>"
            f"{below}</details>"
        )


def tree_html(group: Group) -> str:
    """What lies below a group."""
    below = _Walk().level(group) or _dim("empty")
    name = clean(group.name if group.path else "/", 200)
    return _page("", f"<details open><summary>{name}</summary>{below}</details>")


def group_html(group: Group) -> str:
    """A group, as a notebook shows it: its members of all levels, its attributes."""
    try:
        kinds = [kind for _, kind in group._members(False)]
        n_arrays = kinds.count(_ARRAY)
        n_groups = len(kinds) - n_arrays
        remark = f"{_count(n_arrays, 'array')}, {_count(n_groups, 'group')}"
        below = _Walk().level(group)
    except ZelligeError as error:
        remark, below = "", _dim(f"cannot be listed: {error}")
    facts = [
        ("store", _place(group)),
        ("format", f"Zarr version {group.zarr_format}"),
        ("consolidated", "yes" if group.is_consolidated else ""),
    ]
    tree = f'<div class="zellige-tree">{below}</div>'
    return _page(_head(group, remark), tree, _facts(facts), _attributes(group))
