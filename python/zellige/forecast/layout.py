"""Chunks and shards of an array, of its dimensions and what the caller said of them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Mapping

from ..errors import UsageError, ZarrUserWarning

__all__ = ["check_sizes", "chunks_of", "shards_of"]

Sizes = Mapping[str, int]


def check_sizes(what: str, sizes: Sizes) -> dict[str, int]:
    """What the caller said for each dimension, none of them zero or less."""
    for name, size in sizes.items():
        if size < 1:
            raise UsageError(f"{what} of {name} is {size}: it must be 1 or more")
    return dict(sizes)


def chunks_of(lengths: Sizes, parallel: Collection[str], chunked: Sizes) -> dict[str, int]:
    """Lengths of a chunk: 1 along parallel dimensions, all of others."""
    whole = {name: 1 if name in parallel else n for name, n in lengths.items()}
    return {name: chunked.get(name, n) for name, n in whole.items()}


def _warn(message: str) -> None:
    """Warns of what the caller of the package said, however deep within it we are."""
    package, level = __name__.partition(".")[0] + ".", 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(package):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, ZarrUserWarning, stacklevel=level)


def _shard(name: str, length: int, chunk: int, size: int, is_parallel: bool) -> int:
    """What the caller said for one dimension, if it can be so."""
    where = f"a shard along {name}"
    if size % chunk != 0:
        raise UsageError(f"{where} has {size} elements, no multiple of a chunk of {chunk}")
    if size < length and not is_parallel:
        raise UsageError(
            f"{where} has {size} elements of {length}: it must cover a dimension that is "
            "written whole"
        )
    if size > length:
        _warn(f"{where} has {size} elements, more than the {length} there are")
    return size


def shards_of(
    lengths: Sizes,
    chunks: Sizes,
    parallel: Collection[str],
    sharded: Sizes,
) -> dict[str, int] | None:
    """Lengths of a shard, or None where that would be a chunk: a chunk along parallel
    dimensions that are not named, whole chunks that cover all of others."""
    if not sharded:
        return None
    unknown = sorted(set(sharded) - set(lengths))
    if unknown:
        _warn(f"shard_coords names {', '.join(unknown)}: no dimension of what is made")
    shards: dict[str, int] = {}
    for name, length in lengths.items():
        chunk, is_parallel = chunks[name], name in parallel
        if name in sharded:
            size = _shard(name, length, chunk, sharded[name], is_parallel)
        else:
            size = chunk if is_parallel else -(-length // chunk) * chunk
        shards[name] = size
    return None if shards == chunks else shards
