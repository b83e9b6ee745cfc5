"""Objects of chunks through stores of zarr-python, many at once, for the codec pipeline.

Of a shard only the index is fetched, and then those parts that are wanted.
"""

from __future__ import annotations

import asyncio
from typing import Any

from zarr.abc.store import RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import cpu
from zarr.core.common import concurrent_map
from zarr.core.config import config

from .chunks import Chunks, Item

__all__ = ["fetch", "fetch_parts", "store_all"]

#: Where a shard is said to end, of which only parts are known: its index lies before.
_FAR = 1 << 60


def _at_once() -> int | None:
    limit: int | None = config.get("async.concurrency")
    return limit


async def fetch(items: list[Item], wanted: list[bool]) -> list[Any]:
    """The objects of those chunks that are wanted; None where there is none."""

    async def get(item: Item, is_wanted: bool) -> Any:
        return await item[0].get(item[1].prototype) if is_wanted else None

    return await concurrent_map(list(zip(items, wanted)), get, _at_once())


async def fetch_parts(
    chunks: Chunks, items: list[Item], dropped: tuple[int, ...]
) -> list[Any]:
    """For each shard what is wanted of it, as the engine takes objects in pieces."""
    assert chunks.index is not None
    location, n_bytes = chunks.index
    at = 0 if location == "start" else _FAR - n_bytes
    request = (
        RangeByteRequest(0, n_bytes) if location == "start" else SuffixByteRequest(n_bytes)
    )

    async def get_index(item: Item) -> Any:
        return await item[0].get(item[1].prototype, byte_range=request)

    indexes = await concurrent_map([(item,) for item in items], get_index, _at_once())
    objects = [
        None if index is None else (_FAR, [(at, index.as_numpy_array())])
        for index in indexes
    ]
    ranges = await asyncio.to_thread(chunks.ranges, items, dropped, objects)

    async def add(item: Item, parts: list[tuple[int, int]], shard: Any) -> Any:
        if shard is None or not parts:
            return shard
        pieces = await _get_ranges(item, parts)
        return None if pieces is None else (shard[0], shard[1] + pieces)

    return await concurrent_map(list(zip(items, ranges, objects)), add, _at_once())


async def _get_ranges(item: Item, parts: list[tuple[int, int]]) -> list[Any] | None:
    """[(offset, bytes), ...] of one object; None when it is gone by now."""
    try:
        pieces = await _request_ranges(item, parts)
    except BaseExceptionGroup as group:
        others = group.split(FileNotFoundError)[1]
        if others is not None:
            raise others from None
        return None
    return None if any(piece is None for _, piece in pieces) else pieces


async def _request_ranges(item: Item, parts: list[tuple[int, int]]) -> list[Any]:
    path, spec = item[0], item[1]
    requests = [RangeByteRequest(start, end) for start, end in parts]
    found: list[Any] = []
    if not hasattr(path.store, "get_ranges"):  # before zarr-python 3.3
        for request in requests:
            found.append((request, await path.get(spec.prototype, byte_range=request)))
    else:
        async for batch in path.store.get_ranges(
            path.path,
            requests,
            prototype=spec.prototype,
            max_gap_bytes=spec.config.sharding_coalesce_max_gap_bytes,
            max_coalesced_bytes=spec.config.sharding_coalesce_max_bytes,
        ):
            found.extend((requests[i], buffer) for i, buffer in batch)
    return [(r.start, None if b is None else b.as_numpy_array()) for r, b in found]


async def store_all(items: list[Item], results: list[Any] | None) -> None:
    """Stores what a call has made of each object, or removes it."""

    async def put(item: Item, result: Any) -> None:
        if result is False:
            await item[0].delete()
        elif result is not None:
            await item[0].set(cpu.Buffer.from_bytes(result))

    await concurrent_map(list(zip(items, results or ())), put, _at_once())
