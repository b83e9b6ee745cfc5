"""Copies of arrays and groups, from one store to another or within one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

from . import _core
from .api import open as open_node
from .array import Array
from .create import create_array, create_group
from .errors import UsageError
from .group import Group
from .store import Promise, Store, StoreLike, open_store
from .watching import Steps

__all__ = ["copy"]

_PIECE = 64 << 20  # bytes that are moved at once, unless one object has more
_VARIABLE = 64  # that an element of variable length is taken for
_LAYOUT = ("dtype", "shards", "filters", "serializer", "compressors")


# ---------------------------------------------------------------------- elements


def _groups_of(edges: tuple[int, ...], n: int) -> Iterator[slice]:
    """Ranges of `n` neighbouring objects along an axis."""
    at = 0
    for i in range(0, len(edges), n):
        end = at + sum(edges[i : i + n])
        yield slice(at, end)
        at = end


def _boxes(array: Array) -> Iterator[tuple[slice, ...]]:
    """Boxes of whole objects, as many at once as are worth a call."""
    edges = array.write_chunk_sizes
    n_bytes = array.dtype.itemsize if array.dtype.kind not in "OT" else _VARIABLE
    room = _PIECE // max(1, n_bytes * prod(max(sizes, default=1) for sizes in edges))
    counts: list[int] = []
    for sizes in reversed(edges):  # neighbours along the last axis lie closest
        counts.append(max(1, min(len(sizes), room)))
        room //= counts[-1]
    counts.reverse()
    return product(*(_groups_of(sizes, n) for sizes, n in zip(edges, counts)))


def _copy_elements(source: Array, made: Array, promise: Promise | None) -> None:
    with Steps(source.nbytes) as steps:
        for box in _boxes(made):
            made.write(source[box], box, promise=promise)
            n_elements = prod(side.stop - side.start for side in box)
            steps.add(n_elements * source.dtype.itemsize)


# ---------------------------------------------------------------------- nodes


def _elements_of(source: Array, zarr_format: int) -> Any:
    """The type of the elements, in words of a version."""
    name = source._description[0]
    if name in ("string", "bytes"):
        return {"string": str, "bytes": bytes}[name]
    return source.zarr_dtype if source.zarr_format == zarr_format else source.dtype


def _make_like(
    source: Array, store: Store, path: str, changes: dict[str, Any], ways: dict[str, Any]
) -> Array:
    """An empty array like the source, but for the changes."""
    ways = {"attributes": source.attrs, "python_tokens": True, **ways}
    zarr_format = changes.get("zarr_format") or source.zarr_format
    if zarr_format == source.zarr_format and not any(name in changes for name in _LAYOUT):
        return create_array(store, path=path, like=source, **{**ways, **changes})
    kept = {
        "shape": source.shape,
        "dtype": _elements_of(source, zarr_format),
        "chunks": None if source._is_rectilinear else source.chunks,
        "shards": source.shards,
        "fill_value": source.fill_value,
        "zarr_format": zarr_format,
    }
    if zarr_format == 3:
        kept["dimension_names"] = source.dimension_names
    return create_array(store, path=path, **{**kept, **ways, **changes})


def _refuse_overlap(source: Array | Group, store: Store, path: str) -> None:
    """A copy into itself would have no end, one onto a parent would remove the source."""
    one, other = source.store.root, store.root
    if one != other or (one is None and source.store is not store):
        return
    above, below = sorted((source.path, path), key=len)
    if above == "" or f"{below}/".startswith(f"{above}/"):
        raise UsageError(f"{source.path!r} and {path!r} lie one within the other")


def copy(
    source: StoreLike | Array | Group,
    destination: StoreLike | Group,
    *,
    source_path: str = "",
    path: str = "",
    overwrite: bool = False,
    promise: Promise | None = None,
    keep_empty: bool = False,
    **changes: Any,
) -> Array | Group:
    """Copies an array, or a group with all that lies below it; returns the copy.

    Elements are read and written an object at a time, or some where they are small, so that
    an array may be far larger than memory. Arrays are made like their sources, unless
    `changes` (`chunks`, `shards`, `codecs`, `zarr_format`, ... of :func:`create_array`) say
    what is different: then codecs that are not given are the usual ones. Chunks that are not
    stored in the source are not stored in the copy.
    """
    if not isinstance(source, (Array, Group)):
        source = open_node(source, "r", source_path)
    path = path.strip("/")
    if isinstance(destination, Group):
        path = destination._below(path) if path else destination.path
        destination = destination.store
    store = open_store(destination, "a")
    _refuse_overlap(source, store, path)
    ways: dict[str, Any] = {"promise": promise, "keep_empty": keep_empty}
    if isinstance(source, Array):
        made = _make_like(source, store, path, changes, {**ways, "overwrite": overwrite})
        _copy_elements(source, made, promise)
        return made
    zarr_format = changes.get("zarr_format") or source.zarr_format
    create_group(
        store,
        path=path,
        attributes=source.attrs,
        zarr_format=zarr_format,
        python_tokens=True,
        overwrite=overwrite,
        **ways,
    )
    for name, _ in source._members(True):
        below = f"{path}/{name}" if path else name
        member = source[name]
        if isinstance(member, Array):
            _copy_elements(member, _make_like(member, store, below, changes, ways), promise)
        else:
            create_group(
                store,
                path=below,
                attributes=member.attrs,
                zarr_format=zarr_format,
                python_tokens=True,
                **ways,
            )
    if source.is_consolidated:
        _core.consolidate(store, path, promise)
    return _core.open_group(
        Group, store, path, zarr_format, False, True, promise, keep_empty
    )
