"""Making arrays and groups: arguments in Python's words become documents of Zarr."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from .array import Array
from .coding import codecs_to_json, inner_codecs, is_auto
from .config import ArrayConfigLike, array_config
from .config import config as settings
from .document import object_to_json, to_json
from .dtype import element_bytes, fill_to_json, memory_dtype, told_dtype, zarr_data_type
from .errors import UsageError
from .layout import UNSET, Layout, Lengths, Unset, key_encoding, layout_of, shape_of
from .source import as_array
from .store import MemoryStore, Promise, StoreLike, leaves_nothing, open_place
from .watching import Progress

if TYPE_CHECKING:
    from .group import Group

__all__ = ["create_array", "create_group", "place_of"]


# ---------------------------------------------------------------------- arguments


def place_of(name: str | None, path: str | None) -> str:
    """Where in the store: zarr-python says name for it."""
    if name and path:
        raise UsageError("name and path are the same: give one of them")
    return name or path or ""


def _fits(fill: Any, dtype: np.dtype[Any]) -> bool:
    """True for a value that a type can hold as it is."""
    value = np.asarray(fill)
    numbers = "biufc"
    if value.dtype.kind != dtype.kind and not (
        value.dtype.kind in numbers and dtype.kind in numbers
    ):
        return False
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numbers that lose their imaginary part
        back = value.astype(dtype).astype(value.dtype)
    return back.tobytes() == value.tobytes()


def _fill(fill: Any, dtype: Any, version: int, like: Array | None) -> str | None:
    """The fill value as JSON; None for the zero of the type, or for that of `like`."""
    if fill is None and version == 2:
        return "null"
    if fill is not None and not isinstance(fill, Unset):
        elements = like.dtype if dtype is None and like is not None else dtype
        return fill_to_json(fill, elements, version)
    found = None if dtype is None else memory_dtype(dtype)
    if like is None:
        if found is not None and found.kind in "mM":
            return '"NaT"'
        return None
    if dtype is None or found == like.dtype:
        return None
    if found is None or found.kind in "OT":
        return '""'
    # What the other array had may not fit into a type of its own.
    fill = like.fill_value
    keeps = fill is not None and _fits(fill, found)
    return fill_to_json(fill if keeps else np.zeros((), found)[()], dtype, version)


def _grid(
    chunk_grid: Any, encoding: Any, separator: str | None, layout: Layout, version: int
) -> dict[str, Any]:
    """Grid and keys of chunks, as the library takes them."""
    if hasattr(chunk_grid, "to_dict"):
        chunk_grid = chunk_grid.to_dict()
    if chunk_grid is not None and layout.document is not None:
        raise UsageError("chunk_grid says it all: no lengths in chunks or shards")
    encoding = key_encoding(encoding)
    if encoding is not None and version == 2:
        if encoding.get("name") != "v2" or separator is not None:
            raise UsageError("keys of version 2 are of the kind v2, with one separator")
        separator = (encoding.get("configuration") or {}).get("separator")
        encoding = None
    return {
        "object_shape": layout.grid,
        "chunk_shape": layout.inner,
        "chunk_grid": object_to_json(chunk_grid or layout.document),
        "chunk_key_encoding": object_to_json(encoding),
        "separator": separator,
    }


def _without_shards(like: Array) -> dict[str, Any]:
    """What the library would take of an array, but for its shards."""
    document = like.metadata
    data_type = document["data_type"]
    return {
        "data_type": data_type if isinstance(data_type, str) else to_json(data_type),
        "fill_value": to_json(document["fill_value"]),
        "codecs": to_json(inner_codecs(like.codecs)),
        "chunk_key_encoding": to_json(document["chunk_key_encoding"]),
        "dimension_names": like.dimension_names,
    }


def _write(array: Array, data: Any, progress: Progress | None) -> None:
    if isinstance(data, Array):
        from .copying import copy_elements

        copy_elements(data, array, progress=progress)
    else:
        array.write(data, progress=progress)


# ---------------------------------------------------------------------- arrays


@leaves_nothing
def create_array(
    store: StoreLike = None,
    *,
    name: str | None = None,
    path: str | None = None,
    shape: int | Sequence[int] | None = None,
    dtype: Any = None,
    data: Any = None,
    like: Array | None = None,
    chunks: Lengths = None,
    shards: Lengths = UNSET,
    target_chunk_bytes: int | None = None,
    target_shard_bytes: int | None = None,
    filters: Any = "auto",
    compressors: Any = "auto",
    serializer: Any = "auto",
    codecs: Any = None,
    fill_value: Any = UNSET,
    order: str | None = None,
    zarr_format: int | None = None,
    attributes: Mapping[str, Any] | None = None,
    chunk_grid: Any = None,
    chunk_key_encoding: Any = None,
    index_location: str | None = None,
    separator: str | None = None,
    dimension_names: Iterable[str | None] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    exist_ok: bool = False,
    config: ArrayConfigLike = None,
    write_data: bool = True,
    python_tokens: bool = False,
    promise: Promise | None = None,
    keep_empty: bool | None = None,
    progress: Progress | None = None,
) -> Array:
    """Makes an array, and fills it with `data` if given, unless `write_data` is False.

    `name` or `path` says where in the store. `dtype` is a NumPy type, or a name or JSON
    object of Zarr ("bfloat16", "string").

    Chunks that are left out, or "auto", have up to 16 MiB, or 1 MiB in shards; shards up to
    128 MiB, where `shards` is "auto": see `target_chunk_bytes`, `target_shard_bytes`.
    `chunks` are the inner chunks where there are shards. Lists of lengths
    (``chunks=[[2, 4], 5]``) make a rectilinear grid.

    `filters`, `serializer` and `compressors` are a codec each, several or None: as JSON, by
    name, or as an object of zarr-python or numcodecs. `codecs` says them at once: the list
    of version 3, or ``{"filters": .., "compressor": ..}``. `separator` and `order` are of
    version 2.

    `like` is an array that gives whatever is left out here, but for attributes and data.
    ``shards=None`` makes an array without shards like one that has them.

    `overwrite` first removes all that lies at the path. `exist_ok` opens an array that is
    there already as it is, if it has this shape and type. `config`, `promise` and
    `keep_empty` are those of the array that is returned; see :func:`open_array`.
    """
    dtype = told_dtype(dtype)
    if exist_ok and data is not None:
        raise UsageError("exist_ok goes with no data: it may not be a new array")
    if like is not None and not isinstance(like, Array):
        raise TypeError(f"like is a zellige.Array, not {type(like).__name__}")
    parts = filters, serializer, compressors
    if like is not None and not all(map(is_auto, parts)):
        raise UsageError("like goes with codecs, not with filters or compressors")
    if data is not None:
        if not isinstance(data, Array):
            data = as_array(data, None if dtype is None else memory_dtype(dtype))
        shape = data.shape if shape is None else shape
        if dtype is None and like is None:
            dtype = data._elements(zarr_format) if isinstance(data, Array) else data.dtype
    if like is None and (shape is None or dtype is None):
        raise UsageError("shape and dtype are needed, or data")
    sides = like.shape if shape is None and like is not None else shape_of(shape)
    version = zarr_format or (
        settings.get("default_zarr_format") if like is None else like.zarr_format
    )
    data_type, object_codec = None, None
    if dtype is not None:
        data_type, object_codec = zarr_data_type(dtype, version)
    elements = like.dtype if dtype is None and like is not None else dtype
    if is_auto(shards) and target_shard_bytes is None:
        target_shard_bytes = settings.get("array.target_shard_size_bytes", 0)
    targets = target_chunk_bytes, target_shard_bytes
    layout = layout_of(sides, chunks, shards, targets, like, element_bytes(elements))
    use = array_config({"order": order, **dict(config or {})} if order else config)
    document: dict[str, Any] = dict(
        _grid(chunk_grid, chunk_key_encoding, separator, layout, version),
        zarr_format=version,
        shape=sides,
        data_type=data_type,
        fill_value=_fill(fill_value, dtype, version, like),
        codecs=codecs_to_json(codecs, parts, elements, version, object_codec),
        attributes=object_to_json(attributes),
        dimension_names=None if dimension_names is None else tuple(dimension_names),
        index_location=index_location or layout.index_location,
        order=None if version != 2 else order if like is not None else use.order,
        overwrite=overwrite,
        exist_ok=exist_ok,
        python_tokens=python_tokens,
        like=like,
        target_chunk_bytes=layout.target_chunk_bytes,
        target_shard_bytes=layout.target_shard_bytes,
        promise=promise,
        keep_empty=use.write_empty_chunks if keep_empty is None else keep_empty,
    )
    if layout.drops_shards and like is not None:
        for name_of, value in _without_shards(like).items():
            document[name_of] = value if document[name_of] is None else document[name_of]
        document["like"] = None
    if data is not None and write_data and overwrite and data.dtype.kind in "OTU":
        # Values that turn out to be no text must not cost the array that is there.
        rehearsal: dict[str, Any] = {**document, "overwrite": False}
        _core.create_array(Array, MemoryStore(), "", **rehearsal)[...] = data
    opened, place = open_place(store, place_of(name, path), "a", storage_options)
    opened._writable()
    array = _core.create_array(Array, opened, place, **document)
    if data is not None and write_data:
        _write(array, data, progress)
    return array if use.read_missing_chunks else array.with_config(use)


# ---------------------------------------------------------------------- groups


@leaves_nothing
def create_group(
    store: StoreLike = None,
    *,
    path: str | None = None,
    zarr_format: int | None = None,
    overwrite: bool = False,
    attributes: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    exist_ok: bool = False,
    python_tokens: bool = False,
    promise: Promise | None = None,
    keep_empty: bool | None = None,
) -> Group:
    """Makes a group, and the groups above it that are missing.

    `exist_ok` opens a group that is there already, whatever its attributes. `promise` and
    `keep_empty` are those of the members that are opened through the group.
    """
    from .group import Group

    opened, place = open_place(store, path, "a", storage_options)
    opened._writable()
    use = array_config()
    group = _core.create_group(
        Group,
        opened,
        place,
        zarr_format or settings.get("default_zarr_format"),
        object_to_json(attributes),
        overwrite,
        exist_ok,
        python_tokens,
        promise,
        use.write_empty_chunks if keep_empty is None else keep_empty,
    )
    return group if use.read_missing_chunks else group.with_config(use)
