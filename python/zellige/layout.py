"""Shapes of chunks and shards in the words of callers, as the library takes them."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import prod
from typing import TYPE_CHECKING, Any, Final

from .errors import UsageError

if TYPE_CHECKING:
    from .array import Array

__all__ = ["UNSET", "Layout", "Lengths", "Unset", "key_encoding", "layout_of", "shape_of"]

_CHUNK = 1 << 20  # bytes of an inner chunk that nobody asked for
_SHARD = 128 << 20  # of a shard


class Unset(Enum):
    """What an argument is that nobody gave, where None says something."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET
Lengths = int | str | Sequence[Any] | Mapping[str, Any] | None | Unset


def key_encoding(value: Any) -> Mapping[str, Any] | None:
    """The document of a chunk key encoding: also of the short forms of zarr-python, a
    dictionary with a separator or a pair of name and separator."""
    if value is None:
        return None
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, tuple):
        value = {"name": value[0], "separator": value[1]}
    document = {name: item for name, item in value.items() if name != "separator"}
    if "separator" in value:
        document["configuration"] = {"separator": value["separator"]}
    return document


@dataclass
class Layout:
    """What the library takes: shapes, or targets for those that it chooses."""

    grid: tuple[int, ...] | None = None
    inner: tuple[int, ...] | None = None
    target_chunk_bytes: int = 0
    target_shard_bytes: int = 0
    document: Mapping[str, Any] | None = None  # of a grid that is not regular
    index_location: str | None = None
    drops_shards: bool = False  # of the array that this one is to be like


def shape_of(shape: Any) -> tuple[int, ...]:
    """A shape; a number is that of one axis."""
    try:
        return (operator.index(shape),)
    except TypeError:
        return tuple(int(n) for n in shape)


def _lengths(
    value: int | Sequence[int], rank: int, whole: tuple[int, ...]
) -> tuple[int, ...]:
    """A shape: an integer is meant for every axis, -1 for the whole of its axis."""
    lengths = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(lengths) != rank:
        raise UsageError(f"{len(lengths)} lengths for {rank} axes")
    return tuple(max(1, n) if c == -1 else int(c) for c, n in zip(lengths, whole))


def _given(value: Lengths, name: str) -> int | Sequence[Any] | None:
    """None for what is chosen here or by the library."""
    if value is None or isinstance(value, Unset):
        return None
    if isinstance(value, str):
        if value != "auto":
            raise UsageError(f'{name} is a shape or "auto", not {value!r}')
        return None
    if isinstance(value, bool) or isinstance(value, Mapping):
        raise UsageError(f"{name} is a shape, not {value!r}")
    number: Any = value
    is_number = hasattr(number, "__index__") and not hasattr(number, "__len__")
    return operator.index(number) if is_number else value


def _least_factor(n: int) -> int:
    return next((k for k in range(2, int(n**0.5) + 1) if n % k == 0), n)


def _divide(shard: tuple[int, ...], n_bytes: int, target: int) -> tuple[int, ...]:
    """Inner chunks that fill a shard evenly: the longest axis is divided by its least
    factor until a chunk has no more than `target` bytes."""
    chunk = list(shard)
    while prod(chunk) * n_bytes > target and max(chunk) > 1:
        axis = chunk.index(max(chunk))
        chunk[axis] //= _least_factor(chunk[axis])
    return tuple(chunk)


def _is_varied(value: int | Sequence[Any] | None) -> bool:
    """True for lists of lengths along an axis."""
    if value is None or isinstance(value, int):
        return False
    return any(hasattr(item, "__len__") for item in value)


def _varied_grid(value: Sequence[Any], sides: tuple[int, ...]) -> dict[str, Any]:
    """The document of a grid whose chunks differ in length: `chunks=[[2, 4], 5]`."""
    if len(value) != len(sides):
        raise UsageError(f"{len(value)} lists of lengths for {len(sides)} axes")
    shapes = [
        [int(n) for n in item]
        if hasattr(item, "__len__")
        else max(1, side)
        if item == -1
        else int(item)
        for item, side in zip(value, sides)
    ]
    return {
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": shapes},
    }


def _with_shards(
    sides: tuple[int, ...],
    chunk: int | Sequence[Any] | None,
    shard: int | Sequence[Any],
    targets: tuple[int, int],
    like: Array | None,
    n_bytes: int,
) -> Layout:
    rank = len(sides)
    if _is_varied(shard):
        if chunk is None:
            raise UsageError("shards that differ in length need chunks")
        assert not isinstance(shard, int)
        inner = _lengths(chunk, rank, sides)
        return Layout(None, inner, document=_varied_grid(shard, sides))
    whole = _lengths(shard, rank, sides)
    if chunk is not None:
        return Layout(whole, _lengths(chunk, rank, whole), *targets)
    if like is not None:  # that of shards stands in their codecs
        return Layout(whole, None if like.shards else like.chunks)
    return Layout(whole, _divide(whole, n_bytes, targets[0] or _CHUNK), 0, targets[1])


def layout_of(
    sides: tuple[int, ...],
    chunks: Lengths,
    shards: Lengths,
    targets: tuple[int | None, int | None],
    like: Array | None,
    n_bytes: int,
) -> Layout:
    """The layout of an array of a shape, whose elements have n_bytes each."""
    if isinstance(shards, Mapping):  # zarr-python's way to say where the index lies
        found = layout_of(sides, chunks, shards["shape"], targets, like, n_bytes)
        found.index_location = shards.get("index_location")
        return found
    chunk, shard = _given(chunks, "chunks"), _given(shards, "shards")
    target_chunk, target_shard = targets[0] or 0, targets[1] or 0
    if shard is not None:
        return _with_shards(
            sides, chunk, shard, (target_chunk, target_shard), like, n_bytes
        )
    if _is_varied(chunk):
        assert chunk is not None and not isinstance(chunk, int)
        return Layout(document=_varied_grid(chunk, sides))
    lengths = None if chunk is None else _lengths(chunk, len(sides), sides)
    if isinstance(shards, str) or target_shard:
        return Layout(None, lengths, target_chunk, target_shard or _SHARD)
    if like is not None and like.shards is not None:
        if isinstance(shards, Unset):
            return Layout(None, lengths, target_chunk)
        return Layout(lengths or like.chunks, None, target_chunk, drops_shards=True)
    return Layout(lengths, None, target_chunk)
