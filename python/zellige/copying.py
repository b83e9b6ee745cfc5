"""Copies of arrays and groups, from one store to another or within one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any, Literal

import numpy as np

from . import _core
from .api import open as open_node
from .api import open_group
from .array import Array
from .coding import split
from .create import create_array, create_group, place_of
from .errors import ExistsError, UsageError
from .group import Group, consolidate
from .layout import Lengths
from .store import Promise, Store, StoreLike, leaves_nothing, open_place
from .watching import Progress, Steps, watched

__all__ = ["copy", "copy_all", "copy_elements", "copy_store", "from_array"]

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


def copy_elements(
    source: Any,
    made: Array,
    *,
    promise: Promise | None = None,
    progress: Progress | None = None,
) -> None:
    """Puts all elements of one array, of any library, into another of the same shape."""
    with watched(progress), Steps(made.nbytes) as steps:
        for box in _boxes(made):
            made.write(source[box], box, promise=promise)
            n_elements = prod(side.stop - side.start for side in box)
            steps.add(n_elements * made.dtype.itemsize)


# ---------------------------------------------------------------------- nodes


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
        "dtype": source._elements(zarr_format),
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


def _destination(destination: StoreLike | Group, path: str) -> tuple[Store, str]:
    path = path.strip("/")
    if isinstance(destination, Group):
        path = destination._below(path) if path else destination.path
        return destination.store, path
    return open_place(destination, path, "a")


def copy(
    source: StoreLike | Array | Group,
    destination: StoreLike | Group,
    *,
    source_path: str = "",
    path: str = "",
    name: str | None = None,
    overwrite: bool = False,
    promise: Promise | None = None,
    keep_empty: bool = False,
    progress: Progress | None = None,
    **changes: Any,
) -> Array | Group:
    """Copies an array, or a group with all that lies below it; returns the copy, which is
    made at `path`, or `name`, of the destination.

    Elements are read and written an object at a time, or some where they are small, so that
    an array may be far larger than memory. Arrays are made like their sources, unless
    `changes` (`chunks`, `shards`, `codecs`, `zarr_format`, ... of :func:`create_array`) say
    what is different: then codecs that are not given are the usual ones. Chunks that are not
    stored in the source are not stored in the copy. `progress` is told of each array by
    itself, in bytes.
    """
    if not isinstance(source, (Array, Group)):
        source = open_node(source, "r", source_path)
    store, path = _destination(destination, place_of(name, path))
    _refuse_overlap(source, store, path)
    ways: dict[str, Any] = {"promise": promise, "keep_empty": keep_empty}
    if isinstance(source, Array):
        made = _make_like(source, store, path, changes, {**ways, "overwrite": overwrite})
        copy_elements(source, made, promise=promise, progress=progress)
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
            array = _make_like(member, store, below, changes, ways)
            copy_elements(member, array, promise=promise, progress=progress)
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
        consolidate(store, path, promise=promise)
    return _core.open_group(
        Group, store, path, zarr_format, False, True, promise, keep_empty
    )


def copy_all(
    source: StoreLike | Group, destination: StoreLike | Group, **keywords: Any
) -> Group:
    """Copies all members of a group into another group, which is made if it is missing;
    returns that. `keywords` are those of :func:`copy`."""
    group = source if isinstance(source, Group) else open_group(source, "r")
    if not isinstance(destination, Group):
        destination = open_group(destination, "a")
    for name in group:
        copy(group[name], destination, path=name, **keywords)
    destination.refresh()
    return destination


def copy_store(
    source: StoreLike,
    destination: StoreLike,
    source_path: str = "",
    dest_path: str = "",
    *,
    if_exists: Literal["raise", "replace", "skip"] = "raise",
    progress: Progress | None = None,
) -> tuple[int, int, int]:
    """Copies objects as they are stored, byte for byte, whatever they are. Returns how many
    were copied and how many skipped, and the bytes that were copied."""
    if if_exists not in ("raise", "replace", "skip"):
        raise UsageError(f"if_exists is raise, replace or skip, not {if_exists!r}")
    from_store, above = open_place(source, source_path, "r")
    to_store, below = open_place(destination, dest_path, "a")
    there = set(to_store.keys(below))
    found = from_store._list(above, False)
    taken = [name for name, _, _ in found if name in there]
    if taken and if_exists == "raise":
        raise ExistsError(f"{len(taken)} keys are there already: {taken[0]}")
    n_all = sum(n_bytes for _, _, n_bytes in found)
    n_copied = n_skipped = n_bytes_copied = 0
    with watched(progress), Steps(n_all) as steps:
        for name, _, n_bytes in found:
            if name in there and if_exists == "skip":
                n_skipped += 1
            else:
                data = from_store.get("/".join(filter(None, (above, name))))
                to_store.put("/".join(filter(None, (below, name))), data)
                n_copied += 1
                n_bytes_copied += len(data)
            steps.add(n_bytes)
    return n_copied, n_skipped, n_bytes_copied


# ---------------------------------------------------------------------- from any array


def _kept(source: Array, keywords: dict[str, Any]) -> dict[str, Any]:
    """What `create_array` needs for an array like the source, but for what is changed."""
    zarr_format = keywords.get("zarr_format") or source.zarr_format
    kept: dict[str, Any] = {
        "dtype": source._elements(zarr_format),
        "fill_value": source.fill_value,
        "zarr_format": zarr_format,
        "attributes": source.attrs,
        "python_tokens": True,
    }
    if zarr_format == source.zarr_format:
        filters, serializer, compressors = split(source.codecs)
        kept |= {"filters": filters or None, "compressors": compressors or None}
        if zarr_format == 3:
            kept["serializer"] = serializer
            kept["chunk_key_encoding"] = source.metadata.get("chunk_key_encoding")
        else:
            kept["separator"] = source.metadata.get("dimension_separator")
            kept["order"] = source.order
    if zarr_format == 3 and source.zarr_format == 3:
        kept["dimension_names"] = source.dimension_names
    if not source._is_rectilinear:
        kept["chunks"] = source.chunks
        kept["shards"] = source.shards if zarr_format == 3 else None
    elif keywords.keys().isdisjoint(("chunks", "shards")):
        kept["chunk_grid"] = source.metadata["chunk_grid"]
        kept["chunks"] = source.chunks if source._is_sharded else None
    return kept


@leaves_nothing
def from_array(
    store: StoreLike,
    *,
    data: Any,
    write_data: bool = True,
    name: str | None = None,
    path: str | None = None,
    chunks: Lengths = "keep",
    shards: Lengths = "keep",
    filters: Any = "keep",
    compressors: Any = "keep",
    serializer: Any = "keep",
    overwrite: bool = False,
    progress: Progress | None = None,
    **keywords: Any,
) -> Array:
    """Makes an array of another one: of this library, of NumPy, or of any other that gives
    its parts to ``data[slices]``. Elements are copied some objects at a time, so that it may
    be larger than memory.

    "keep" takes what a source of this library has, and for others the default. `keywords`
    go to :func:`create_array`.
    """
    asked = {
        "chunks": chunks,
        "shards": shards,
        "filters": filters,
        "compressors": compressors,
        "serializer": serializer,
    }
    changes = {key: value for key, value in asked.items() if not _is_keep(value)}
    changes |= {key: value for key, value in keywords.items() if value is not None}
    if not hasattr(data, "shape") or not hasattr(data, "dtype"):
        data = np.asarray(data)
    opened, place = open_place(store, place_of(name, path), "a")
    if isinstance(data, Array):
        changes = {**_kept(data, changes), **changes}
        if overwrite and write_data:
            _refuse_overlap(data, opened, place)
    else:
        changes.setdefault("dtype", data.dtype)
    made = create_array(
        opened, path=place, shape=data.shape, overwrite=overwrite, **changes
    )
    if write_data and isinstance(data, np.ndarray):
        made.write(data, progress=progress)
    elif write_data:
        copy_elements(data, made, progress=progress)
    return made


def _is_keep(value: Any) -> bool:
    return isinstance(value, str) and value == "keep"
