"""What an array of a store is made of, as the ``encoding`` of a variable of xarray, and
back: chunks, shards, filters, serializer, compressors, fill value.

Codecs stand there as JSON. Lengths of chunks stand there as one integer for each axis, or,
where they differ (rectilinear grids), as a tuple of all.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from importlib import import_module
from numbers import Integral
from typing import Any

from ..array import Array

__all__ = [
    "Codec",
    "Grid",
    "array_settings",
    "asked_grid",
    "encoding_of",
    "grid_of",
    "with_grid_document",
]

Grid = tuple[int | tuple[int, ...], ...]

#: Codecs of version 3 that make arrays of arrays. What follows them makes bytes.
_FILTERS = frozenset(
    "astype bitround cast_value delta fixedscaleoffset quantize reshape scale_offset"
    " squeeze transpose".split()
)
_SHARDS = "sharding_indexed"
_SETTINGS = frozenset(
    "chunks shards compressors filters serializer chunk_key_encoding fill_value"
    " write_empty_chunks cache_metadata".split()
)
#: What other backends leave in encodings, and what says nothing of an array to be made.
_IGNORED = frozenset(("source", "original_shape", "preferred_chunks"))


def _said(codec: Any) -> Any:
    """A codec as JSON: objects of zarr-python and of numcodecs tell theirs."""
    for tell in ("to_dict", "get_config"):
        if hasattr(codec, tell):
            return getattr(codec, tell)()
    return codec


class Codec(dict[str, Any]):
    """A codec as JSON. It equals the objects of zarr-python and numcodecs that say the
    same, and both xarray's writer and ours take it for them. What it is set to can be
    asked for as of them: ``codec.level``."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self.get("configuration", self)[name]
        except KeyError:
            raise AttributeError(f"{self!r} has no {name!r}") from None

    def __eq__(self, other: object) -> bool:
        said = _said(other)
        own: Any = self
        if not isinstance(said, Mapping) or said.get("id") != self.get("id"):
            return False
        if "id" in said and not isinstance(other, Mapping):  # it says its defaults too
            rest = {key: value for key, value in self.items() if key != "id"}
            kind: Any = type(other)
            own = kind.from_config(rest).get_config()
        return _plain(own) == _plain(said)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __repr__(self) -> str:
        return f"Codec({super().__repr__()})"


def _plain(codec: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is the same as saying nothing."""
    return {k: v for k, v in codec.items() if not (k == "configuration" and not v)}


# ---------------------------------------------------------------------- from an array


def _name(codec: Any) -> str:
    name: str = codec if isinstance(codec, str) else codec["name"]
    return name.removeprefix("numcodecs.")


def _objects(codecs: Iterable[Any]) -> tuple[Codec, ...]:
    return tuple(Codec({"name": c} if isinstance(c, str) else c) for c in codecs)


def _filter_of_v2(codec: dict[str, Any]) -> Any:
    """xarray's own writer takes filters of version 2 only as objects of numcodecs."""
    try:
        return import_module("numcodecs").get_codec(codec)
    except (ImportError, ValueError):  # not installed, or unknown there
        return Codec(codec)


def _codecs_of_v2(codecs: Mapping[str, Any]) -> dict[str, Any]:
    compressor = codecs.get("compressor")
    return {
        "compressors": () if compressor is None else (Codec(compressor),),
        "filters": tuple(_filter_of_v2(codec) for codec in codecs.get("filters") or ()),
    }


def _codecs_of_v3(codecs: Sequence[Any]) -> dict[str, Any]:
    n = next(i for i, codec in enumerate(codecs) if _name(codec) not in _FILTERS)
    return {
        "filters": _objects(codecs[:n]),
        "serializer": _objects(codecs[n : n + 1])[0],
        "compressors": _objects(codecs[n + 1 :]),
    }


def _lengths(sizes: tuple[int, ...]) -> int | tuple[int, ...]:
    """One length where all are the same, but for a last one that is shorter."""
    if not sizes:
        return (0,)
    same = len(set(sizes[:-1])) <= 1 and sizes[-1] <= sizes[0]
    return sizes[0] if same else sizes


def grid_of(array: Array) -> Grid:
    """Lengths of what is stored as one object: chunks, or shards where there are shards."""
    if array._is_rectilinear:
        return tuple(map(_lengths, array.write_chunk_sizes))
    return array._object_shape


def encoding_of(array: Array, dims: Sequence[Hashable]) -> dict[str, Any]:
    """The encoding of a variable that is read from an array."""
    codecs, chunks, shards = array.codecs, grid_of(array), None
    if array.zarr_format == 3 and len(codecs) == 1 and _name(codecs[0]) == _SHARDS:
        inside = codecs[0]["configuration"]
        codecs, chunks, shards = inside["codecs"], tuple(inside["chunk_shape"]), chunks
    is_v2 = array.zarr_format == 2
    return {
        "chunks": chunks,
        "preferred_chunks": dict(zip(dims, chunks)),
        "shards": shards,
        **(_codecs_of_v2(codecs) if is_v2 else _codecs_of_v3(codecs)),
    }


# ---------------------------------------------------------------------- to an array


def _rank_of(value: Any) -> int | None:
    return len(value) if isinstance(value, (tuple, list)) else None


def _whole_lengths(value: Any, ndim: int, what: str, name: Hashable) -> Any:
    """A length for each axis, and "auto" as it is."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return value
    lengths = (value,) * ndim if isinstance(value, Integral) else tuple(value)
    for length in lengths:
        if not isinstance(length, (Integral, tuple, list)):
            raise TypeError(
                f"encoding[{what!r}] of the variable named {name!r} holds {length!r}, "
                "which is no length"
            )
    return tuple(tuple(n) if isinstance(n, list) else n for n in lengths)


def _dask_lengths(
    chunks: tuple[tuple[int, ...], ...], name: Hashable
) -> tuple[int, ...]:
    """The chunks of a Dask array as those of a store: all the same but the last."""
    for sizes in chunks:
        if len(set(sizes[:-1])) > 1:
            raise ValueError(
                "Zarr has uniform chunk sizes, but for the last, where encoding['chunks'] "
                f"says nothing else; the variable named {name!r} has Dask chunks {chunks}: "
                "rechunk it with chunk()"
            )
        if sizes[-1] > sizes[0]:
            raise ValueError(
                f"the last Dask chunk of the variable named {name!r} is larger than the "
                f"first, of {chunks}: rechunk it with chunk(), or set encoding['chunks']"
            )
    return tuple(max(1, sizes[0]) for sizes in chunks)


def _is_rectilinear(lengths: Any) -> bool:
    return isinstance(lengths, tuple) and any(isinstance(n, tuple) for n in lengths)


def _grid_document(lengths: Grid) -> dict[str, Any]:
    shapes = [list(n) if isinstance(n, tuple) else int(n) for n in lengths]
    configuration = {"kind": "inline", "chunk_shapes": shapes}
    return {"name": "rectilinear", "configuration": configuration}


def _is_of(codec: Any, zarr_format: int) -> bool:
    said = _said(codec)
    if isinstance(said, Mapping):
        return ("id" in said) == (zarr_format == 2)
    return True


def _drop_foreign(encoding: dict[str, Any], zarr_format: int) -> None:
    """Takes out what was read from the other version of the format, and cannot be there."""
    if zarr_format == 2:
        for key in ("serializer", "shards", "chunk_key_encoding", "fill_value"):
            encoding.pop(key, None)
    for key in ("filters", "compressors"):
        codecs = encoding.get(key)
        listed = codecs if isinstance(codecs, (tuple, list)) else [codecs]
        if not all(_is_of(codec, zarr_format) for codec in listed):
            del encoding[key]


def _check(encoding: Mapping[str, Any], zarr_format: int) -> None:
    unknown = [key for key in encoding if key not in _SETTINGS]
    if zarr_format == 2 and "fill_value" in encoding:
        unknown.append("fill_value")
    if unknown:
        hint = " (version 2: say _FillValue)" if "fill_value" in unknown else ""
        raise ValueError(f"unexpected encoding parameters: {unknown}{hint}")


def array_settings(
    variable: Any, name: Hashable, zarr_format: int, is_asked: bool
) -> dict[str, Any]:
    """What the encoding of a variable asks of its array.

    With `is_asked` somebody gave it for this very writing, and it must make sense; else it
    may be left from reading, and what does not fit any more is left out.
    """
    encoding = {k: v for k, v in variable.encoding.items() if k not in _IGNORED}
    if encoding.get("_FillValue", ...) is None:
        del encoding["_FillValue"]  # says that there is none, which is done by now
    if is_asked:
        _check(encoding, zarr_format)
    else:
        encoding = {k: v for k, v in encoding.items() if k in _SETTINGS}
        _drop_foreign(encoding, zarr_format)
    encoding.pop("cache_metadata", None)
    for key in ("chunks", "shards"):
        value = encoding.pop(key, None)
        if _rank_of(value) in (None, variable.ndim):  # else an axis has gone since
            encoding[key] = _whole_lengths(value, variable.ndim, key, name)
    if not encoding.get("chunks") and variable.chunks:
        encoding["chunks"] = _dask_lengths(variable.chunks, name)
    return encoding


def asked_grid(settings: Mapping[str, Any]) -> Grid | None:
    """The grid of an array to be made, where its settings leave no choice."""
    grid = settings.get("shards") or settings.get("chunks")
    return grid if isinstance(grid, tuple) else None


def with_grid_document(settings: dict[str, Any], name: Hashable) -> dict[str, Any]:
    """Settings in which a grid of different lengths stands as a document."""
    if _is_rectilinear(settings.get("shards")):
        raise TypeError(
            f"shards of the variable named {name!r} are rectilinear: their lengths differ"
        )
    if not _is_rectilinear(settings.get("chunks")):
        return settings
    if settings.get("shards"):
        raise TypeError(
            f"chunks of the variable named {name!r} are rectilinear, which those in shards "
            "cannot be"
        )
    document = _grid_document(settings["chunks"])
    return {**settings, "chunks": None, "chunk_grid": document}
