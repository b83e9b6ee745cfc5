"""Making arrays and groups: arguments in Python's words become documents of Zarr."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .array import Array
from .document import object_to_json, to_json
from .dtype import fill_to_json, memory_dtype, zarr_data_type, zarr_name
from .errors import UsageError
from .source import as_array
from .store import MemoryStore, Promise, StoreLike, open_store

if TYPE_CHECKING:
    from .group import Group

__all__ = ["create_array", "create_group"]

_CHUNK = 1 << 20  # bytes of an inner chunk that nobody asked for
_SHARD = 128 << 20  # of a shard
_VARIABLE = 64  # that an element of variable length is taken for
Lengths = int | Sequence[int] | str | None


# ---------------------------------------------------------------------- shapes


def _lengths(
    value: int | Sequence[int], rank: int, whole: tuple[int, ...]
) -> tuple[int, ...]:
    """A shape: an integer is meant for every axis, -1 for the whole of its axis."""
    lengths = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(lengths) != rank:
        raise UsageError(f"{len(lengths)} lengths for {rank} axes")
    return tuple(max(1, n) if c == -1 else int(c) for c, n in zip(lengths, whole))


def _sides(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)


def _given(value: Lengths, name: str) -> int | Sequence[int] | None:
    """None for what is chosen here or by the library."""
    if isinstance(value, str) and value != "auto":
        raise UsageError(f'{name} is a shape or "auto", not {value!r}')
    return None if isinstance(value, str) else value


def _least_factor(n: int) -> int:
    return next((k for k in range(2, int(n**0.5) + 1) if n % k == 0), n)


def _divide(shard: tuple[int, ...], n_bytes: int, target: int) -> tuple[int, ...]:
    """Inner chunks that fill a shard evenly: the longest axis is divided by its least
    factor until a chunk has no more than `target` bytes."""
    chunk = list(shard)
    while int(np.prod(chunk, dtype=object)) * n_bytes > target and max(chunk) > 1:
        axis = chunk.index(max(chunk))
        chunk[axis] //= _least_factor(chunk[axis])
    return tuple(chunk)


def _element_bytes(dtype: Any) -> int:
    found = memory_dtype(dtype)
    if found is not None and found.kind not in "OT":
        return found.itemsize
    return 8 if zarr_name(dtype) not in ("string", "bytes") else _VARIABLE


@dataclass
class _Shapes:
    """What the library takes: shapes, or targets for those that it chooses."""

    grid: tuple[int, ...] | None = None
    inner: tuple[int, ...] | None = None
    target_chunk_bytes: int = 0
    target_shard_bytes: int = 0


def _shapes(
    sides: tuple[int, ...],
    chunks: Lengths,
    shards: Lengths,
    targets: tuple[int | None, int | None],
    like: Array | None,
    n_bytes: int,
) -> _Shapes:
    chunk, shard = _given(chunks, "chunks"), _given(shards, "shards")
    target_chunk, target_shard = targets[0] or 0, targets[1] or 0
    rank = len(sides)
    if shard is not None:
        whole = _lengths(shard, rank, sides)
        if chunk is not None:
            inner = _lengths(chunk, rank, whole)
        elif like is not None:  # that of shards stands in their codecs
            return _Shapes(whole, None if like.shards else like.chunks)
        else:
            inner = _divide(whole, n_bytes, target_chunk or _CHUNK)
            target_chunk = 0
        return _Shapes(whole, inner, target_chunk, target_shard)
    lengths = None if chunk is None else _lengths(chunk, rank, sides)
    if shards is not None or target_shard:
        return _Shapes(None, lengths, target_chunk, target_shard or _SHARD)
    if like is not None and like.shards is not None:
        return _Shapes(None, lengths, target_chunk)
    return _Shapes(lengths, None, target_chunk)


# ---------------------------------------------------------------------- codecs

_ZSTD_V2 = {"id": "zstd", "level": 0}
_ZSTD_V3 = {"name": "zstd", "configuration": {"level": 0, "checksum": False}}


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _codec(codec: Any) -> Any:
    """A codec as JSON: objects of zarr-python and of numcodecs tell theirs."""
    for tell in ("to_dict", "get_config"):
        if hasattr(codec, tell):
            return getattr(codec, tell)()
    return codec


def _listed(codecs: Any, default: list[Any]) -> list[Any]:
    if _is_auto(codecs):
        return default
    if codecs is None:
        return []
    if isinstance(codecs, (str, Mapping)) or not isinstance(codecs, Iterable):
        codecs = [codecs]
    return [_codec(codec) for codec in codecs]


def _serializer(dtype: Any) -> Any:
    """What makes bytes of elements, where nobody says it."""
    name = zarr_name(dtype)
    if name == "string":
        return {"name": "vlen-utf8"}
    if name == "bytes":
        return {"name": "vlen-bytes"}
    return {"name": "bytes", "configuration": {"endian": "little"}}


def _parts_v2(object_codec: str | None, filters: Any, compressors: Any) -> dict[str, Any]:
    first, last = _listed(filters, []), _listed(compressors, [_ZSTD_V2])
    if object_codec is not None and not any(c.get("id") == object_codec for c in first):
        first.insert(0, {"id": object_codec})
    if len(last) > 1:
        raise UsageError("version 2 has one compressor")
    return {"filters": first or None, "compressor": last[0] if last else None}


def _codecs(
    codecs: Any,
    parts: tuple[Any, Any, Any],
    dtype: Any,
    zarr_format: int,
    object_codec: str | None,
) -> str | None:
    """Codecs as JSON; None leaves them to the library."""
    filters, serializer, compressors = parts
    if codecs is not None:
        if not all(_is_auto(part) for part in parts):
            raise UsageError("codecs say it all: no filters, serializer or compressors")
        return to_json(codecs if isinstance(codecs, Mapping) else _listed(codecs, []))
    if all(_is_auto(part) for part in parts) and object_codec is None:
        return None
    if zarr_format == 2:
        if not _is_auto(serializer):
            raise UsageError("version 2 has no serializer")
        return to_json(_parts_v2(object_codec, filters, compressors))
    middle = _serializer(dtype) if _is_auto(serializer) else _codec(serializer)
    return to_json([*_listed(filters, []), middle, *_listed(compressors, [_ZSTD_V3])])


# ---------------------------------------------------------------------- arrays


def create_array(
    store: StoreLike,
    *,
    path: str = "",
    shape: int | Sequence[int] | None = None,
    dtype: Any = None,
    data: Any = None,
    like: Array | None = None,
    chunks: Lengths = None,
    shards: Lengths = None,
    target_chunk_bytes: int | None = None,
    target_shard_bytes: int | None = None,
    fill_value: Any = None,
    codecs: Any = None,
    filters: Any = "auto",
    serializer: Any = "auto",
    compressors: Any = "auto",
    attributes: Mapping[str, Any] | None = None,
    dimension_names: Sequence[str | None] | None = None,
    zarr_format: int | None = None,
    chunk_grid: Mapping[str, Any] | None = None,
    chunk_key_encoding: Mapping[str, Any] | None = None,
    index_location: str | None = None,
    separator: str | None = None,
    order: str | None = None,
    overwrite: bool = False,
    exist_ok: bool = False,
    python_tokens: bool = False,
    promise: Promise | None = None,
    keep_empty: bool = False,
) -> Array:
    """Makes an array, and fills it with `data` if given.

    `dtype` is a NumPy type, or a name or JSON object of Zarr ("bfloat16", "string").

    `chunks` and `shards` are shapes, or "auto"; an integer is meant for every axis, -1 for
    the whole of its axis. Chunks that are left out have up to `target_chunk_bytes` (16 MiB,
    in shards 1 MiB); there are shards when `shards` or `target_shard_bytes` (128 MiB) is
    given, and `chunks` are the inner chunks then.

    `codecs` is the list of version 3, or ``{"filters": .., "compressor": ..}``. Or say
    `filters`, `serializer` and `compressors`: one codec, several or None, each as JSON or
    as an object of zarr-python or numcodecs. `separator` and `order` are of version 2.

    `like` is an array that gives whatever is left out here, but for attributes and data.

    `overwrite` first removes all that lies at the path. `exist_ok` opens an array that is
    there already as it is, if it has this shape and type. `promise` and `keep_empty` are
    those of the array that is returned; see :func:`open_array`.
    """
    if exist_ok and data is not None:
        raise UsageError("exist_ok goes with no data: it may not be a new array")
    if like is not None and not isinstance(like, Array):
        raise TypeError(f"like is a zellige.Array, not {type(like).__name__}")
    if like is not None and not all(map(_is_auto, (filters, serializer, compressors))):
        raise UsageError("like goes with codecs, not with filters or compressors")
    if data is not None:
        data = as_array(data, None if dtype is None else memory_dtype(dtype))
        shape = data.shape if shape is None else shape
        dtype = data.dtype if dtype is None and like is None else dtype
    if like is None and (shape is None or dtype is None):
        raise UsageError("shape and dtype are needed, or data")
    sides = like.shape if shape is None and like is not None else _sides(shape)
    version = zarr_format or (like.zarr_format if like is not None else 3)
    data_type, object_codec = None, None
    if dtype is not None:
        data_type, object_codec = zarr_data_type(dtype, version)
    elements = like.dtype if dtype is None and like is not None else dtype
    shapes = _shapes(
        sides,
        chunks,
        shards,
        (target_chunk_bytes, target_shard_bytes),
        like,
        _element_bytes(elements),
    )
    parts = filters, serializer, compressors
    settings: dict[str, Any] = dict(
        zarr_format=zarr_format or 0,
        shape=sides,
        object_shape=shapes.grid,
        chunk_shape=shapes.inner,
        data_type=data_type,
        fill_value=fill_to_json(fill_value, elements, version),
        codecs=_codecs(codecs, parts, elements, version, object_codec),
        attributes=object_to_json(attributes),
        dimension_names=None if dimension_names is None else tuple(dimension_names),
        index_location=index_location,
        chunk_grid=object_to_json(chunk_grid),
        chunk_key_encoding=object_to_json(chunk_key_encoding),
        separator=separator,
        order=order,
        overwrite=overwrite,
        exist_ok=exist_ok,
        python_tokens=python_tokens,
        like=like,
        target_chunk_bytes=shapes.target_chunk_bytes,
        target_shard_bytes=shapes.target_shard_bytes,
        promise=promise,
        keep_empty=keep_empty,
    )
    if data is not None and overwrite and data.dtype.kind in "OTU":
        # Values that turn out to be no text must not cost the array that is there.
        rehearsal = settings | {"overwrite": False}
        _core.create_array(Array, MemoryStore(), "", **rehearsal)[...] = data
    array = _core.create_array(Array, open_store(store, "a"), path.strip("/"), **settings)
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
    exist_ok: bool = False,
    python_tokens: bool = False,
    promise: Promise | None = None,
    keep_empty: bool = False,
) -> Group:
    """Makes a group, and the groups above it that are missing.

    `exist_ok` opens a group that is there already, whatever its attributes. `promise` and
    `keep_empty` are those of the members that are opened through the group.
    """
    from .group import Group

    return _core.create_group(
        Group,
        open_store(store, "a"),
        path.strip("/"),
        zarr_format,
        object_to_json(attributes),
        overwrite,
        exist_ok,
        python_tokens,
        promise,
        keep_empty,
    )
