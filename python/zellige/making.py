"""Arrays in the manner of NumPy: create, array, zeros, ones, full, empty and their `_like`
forms, with the keywords that zarr-python's functions of these names take."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from .array import Array
from .create import create_array
from .errors import UsageError, ZarrRuntimeWarning
from .layout import UNSET, Lengths
from .store import StoreLike

__all__ = [
    "array",
    "create",
    "empty",
    "empty_like",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "told_keywords",
    "zeros",
    "zeros_like",
]

#: Keywords of zarr-python without a meaning, here and there.
_IDLE = (
    "cache_attrs",
    "cache_metadata",
    "chunk_store",
    "meta_array",
    "object_codec",
    "synchronizer",
)


def told_keywords(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of zarr-python's older functions, as :func:`create_array` has them."""
    told = dict(keywords)
    for name in _IDLE:
        if told.pop(name, None) is not None:
            warnings.warn(f"{name} has no meaning here", ZarrRuntimeWarning, stacklevel=4)
    if told.pop("read_only", None):
        raise UsageError("a new array is there to be written: open it again with mode='r'")
    for old, new in (("dimension_separator", "separator"), ("chunk_shape", "chunks")):
        if told.get(old) is not None:
            told[new] = told[old]
        told.pop(old, None)
    if "write_empty_chunks" in told:
        keeps = told.pop("write_empty_chunks")
        if keeps is not None:
            told["keep_empty"] = keeps
    if "compressor" in told:
        compressor = told.pop("compressor")
        if not isinstance(compressor, str) or compressor != "auto":
            told["compressors"] = compressor
    if told.get("filters", UNSET) is None:
        del told["filters"]  # as they are by default
    if isinstance(told.get("chunks"), bool):
        if told["chunks"]:
            raise UsageError("chunks=True says no shape")
        told["chunks"] = -1
    mode = told.pop("mode", None)
    if mode == "r":
        raise UsageError('mode "r" makes nothing')
    if mode in ("w", "w-"):
        told["overwrite"] = mode == "w"
    return told


def create(
    shape: Any,
    *,
    chunks: Lengths | bool = None,
    dtype: Any = None,
    compressor: Any = "auto",
    fill_value: Any = UNSET,
    order: str | None = None,
    store: StoreLike = None,
    overwrite: bool = False,
    path: str | None = None,
    filters: Any = None,
    dimension_separator: str | None = None,
    zarr_format: int | None = None,
    attributes: Mapping[str, Any] | None = None,
    codecs: Any = None,
    data: Any = None,
    **keywords: Any,
) -> Array:
    """Makes an array of a shape, of float64 if no type is given.

    `compressor`, `dimension_separator` and `order` are of version 2, `codecs` is of version
    3. `data` is written into the array, whose shape and type it does not set. More keywords:
    those of :func:`create_array`.
    """
    keywords.update(
        chunks=chunks,
        compressor=compressor,
        fill_value=fill_value,
        order=order,
        overwrite=overwrite,
        filters=filters,
        dimension_separator=dimension_separator,
        zarr_format=zarr_format,
        attributes=attributes,
        codecs=codecs,
    )
    dtype = np.float64 if dtype is None else dtype
    made = create_array(
        store, path=path, shape=shape, dtype=dtype, **told_keywords(keywords)
    )
    if data is not None:
        made[...] = data
    return made


def array(data: Any, **keywords: Any) -> Array:
    """Makes an array of data, with the keywords of :func:`create`."""
    if isinstance(data, Array):
        from .copying import from_array

        store = keywords.pop("store", None)
        return from_array(store, data=data, **told_keywords(keywords))
    if not hasattr(data, "shape") or not hasattr(data, "dtype"):
        data = np.asanyarray(data)
    if keywords.get("dtype") is None:
        keywords["dtype"] = data.dtype
    lengths = getattr(data, "chunks", None)
    if keywords.get("chunks") is None and _are_lengths(lengths, data.shape):
        keywords["chunks"] = lengths
    return create(data.shape, data=data, **keywords)


def _are_lengths(value: Any, shape: tuple[int, ...]) -> bool:
    """True for the shape of a chunk: what others call chunks may be lists."""
    return (
        isinstance(value, tuple)
        and len(value) == len(shape)
        and all(isinstance(length, int) for length in value)
    )


def empty(shape: Any, **keywords: Any) -> Array:
    """Makes an array without elements of its own: they read as the fill value."""
    return create(shape, **keywords)


def zeros(shape: Any, **keywords: Any) -> Array:
    """Makes an array of zeros: that is its fill value."""
    return create(shape, **{**keywords, "fill_value": 0})


def ones(shape: Any, **keywords: Any) -> Array:
    """Makes an array of ones: that is its fill value."""
    return create(shape, **{**keywords, "fill_value": 1})


def full(shape: Any, fill_value: Any, **keywords: Any) -> Array:
    """Makes an array of one value: that is its fill value."""
    return create(shape, fill_value=fill_value, **keywords)


# ---------------------------------------------------------------------- like another


def _like(source: Any, keywords: dict[str, Any]) -> Array:
    if not isinstance(source, Array):
        keywords.setdefault("shape", np.shape(source))
        keywords.setdefault("dtype", getattr(source, "dtype", None))
        lengths = getattr(source, "chunks", None)
        if _are_lengths(lengths, keywords["shape"]):
            keywords.setdefault("chunks", lengths)
        return create(keywords.pop("shape"), **keywords)
    told = told_keywords(keywords)
    store = told.pop("store", None)
    zarr_format = told.pop("zarr_format", None) or source.zarr_format
    changes = {"codecs", "filters", "serializer", "compressors", "zarr_format"}
    if zarr_format == source.zarr_format and not changes & told.keys():
        return create_array(store, like=source, **told)
    told.setdefault("shape", source.shape)
    told.setdefault("dtype", source._elements(zarr_format))
    told.setdefault("fill_value", source.fill_value)
    if not source._is_rectilinear:
        told.setdefault("chunks", source.chunks)
        if zarr_format == 3:
            told.setdefault("shards", source.shards)
    return create_array(store, zarr_format=zarr_format, **told)


def empty_like(a: Any, **keywords: Any) -> Array:
    """Makes an array with the shape, type and chunks of another, and its codecs."""
    return _like(a, keywords)


def zeros_like(a: Any, **keywords: Any) -> Array:
    """The same, of zeros."""
    return _like(a, {**keywords, "fill_value": 0})


def ones_like(a: Any, **keywords: Any) -> Array:
    """The same, of ones."""
    return _like(a, {**keywords, "fill_value": 1})


def full_like(a: Any, fill_value: Any = UNSET, **keywords: Any) -> Array:
    """The same, of one value; that of the other array if none is given."""
    return _like(a, {**keywords, "fill_value": fill_value})
