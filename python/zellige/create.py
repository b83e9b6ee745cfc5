"""Making arrays and groups: arguments in Python's words become documents of Zarr."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .array import Array
from .dtype import fill_to_json, memory_dtype, zarr_data_type
from .errors import UsageError
from .store import StoreLike, open_store

if TYPE_CHECKING:
    from .group import Group

__all__ = ["create_array", "create_group"]

_TARGET = 1 << 20  # bytes of a chunk that nobody asked for
_TEXT = 16  # bytes that a text is taken for there


def _auto_chunks(shape: tuple[int, ...], n_bytes: int) -> tuple[int, ...]:
    """The whole array, its longest axis halved until a chunk is about a mebibyte."""
    chunks = [max(1, n) for n in shape]
    while (
        chunks
        and int(np.prod(chunks, dtype=object)) * n_bytes > _TARGET
        and max(chunks) > 1
    ):
        axis = chunks.index(max(chunks))
        chunks[axis] = -(-chunks[axis] // 2)
    return tuple(chunks)


def _lengths(
    value: int | Sequence[int], rank: int, whole: tuple[int, ...]
) -> tuple[int, ...]:
    """A shape: an integer is meant for every axis, -1 for the whole of its axis."""
    lengths = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(lengths) != rank:
        raise UsageError(f"{len(lengths)} lengths for {rank} axes")
    return tuple(max(1, n) if c == -1 else int(c) for c, n in zip(lengths, whole))


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value)


def _codecs(codecs: Any, object_codec: str | None) -> Any:
    """Codecs as the library wants them; texts of version 2 need a codec of their own."""
    if object_codec is None or codecs is not None:
        return codecs
    return {"filters": [{"id": object_codec}], "compressor": {"id": "zstd", "level": 3}}


def create_array(
    store: StoreLike,
    *,
    path: str = "",
    shape: int | Sequence[int] | None = None,
    dtype: Any = None,
    data: Any = None,
    chunks: int | Sequence[int] | None = None,
    shards: int | Sequence[int] | None = None,
    fill_value: Any = None,
    codecs: Any = None,
    attributes: Mapping[str, Any] | None = None,
    dimension_names: Sequence[str | None] | None = None,
    zarr_format: int = 3,
    chunk_grid: Mapping[str, Any] | None = None,
    chunk_key_encoding: Mapping[str, Any] | None = None,
    index_location: str | None = None,
    separator: str | None = None,
    order: str | None = None,
    overwrite: bool = False,
) -> Array:
    """Makes an array, and fills it with `data` if given.

    `dtype` is a NumPy type, or a name or JSON object of Zarr ("bfloat16", "string").
    `chunks` left out makes chunks of about a mebibyte; with `shards` they are the inner
    chunks. `codecs` is the list of version 3, or ``{"filters": .., "compressor": ..}``.
    `separator` and `order` are of version 2.
    """
    if data is not None:
        data = np.asarray(data, dtype=None if dtype is None else memory_dtype(dtype))
        shape = data.shape if shape is None else shape
        dtype = data.dtype if dtype is None else dtype
    if shape is None or dtype is None:
        raise UsageError("shape and dtype are needed, or data")
    sides = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
    data_type, object_codec = zarr_data_type(dtype, zarr_format)
    found = memory_dtype(dtype)
    n_bytes = found.itemsize if found is not None and found.kind not in "OT" else _TEXT
    whole = sides if shards is None else _lengths(shards, len(sides), sides)
    pieces = None  # a chunk grid says it all
    if chunks is not None:
        pieces = _lengths(chunks, len(sides), whole)
    elif chunk_grid is None:
        pieces = _auto_chunks(whole, n_bytes)
    array = _core.create_array(
        Array,
        open_store(store, "a"),
        path.strip("/"),
        zarr_format=zarr_format,
        shape=sides,
        object_shape=pieces if shards is None else whole,
        chunk_shape=None if shards is None else pieces,
        data_type=data_type,
        fill_value=fill_to_json(fill_value, dtype, zarr_format),
        codecs=_json(_codecs(codecs, object_codec)),
        attributes=_json(None if attributes is None else dict(attributes)),
        dimension_names=None if dimension_names is None else tuple(dimension_names),
        index_location=index_location,
        chunk_grid=_json(chunk_grid),
        chunk_key_encoding=_json(chunk_key_encoding),
        separator=separator,
        order=order,
        overwrite=overwrite,
    )
    if data is not None:
        array[...] = data
    return array


def create_group(
    store: StoreLike,
    *,
    path: str = "",
    attributes: Mapping[str, Any] | None = None,
    zarr_format: int = 3,
    overwrite: bool = False,
) -> Group:
    """Makes a group, and the groups above it that are missing."""
    from .group import Group

    text = _json(None if attributes is None else dict(attributes))
    opened = open_store(store, "a")
    return _core.create_group(Group, opened, path.strip("/"), zarr_format, text, overwrite)
