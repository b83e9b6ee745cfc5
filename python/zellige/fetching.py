"""Objects of chunks through stores of zarr-python, many at once, for the codec pipeline.

Of a shard only the index is fetched, and then those parts that are wanted.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from zarr.abc.store import RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import cpu
from zarr.core.common import concurrent_map
from zarr.core.config import config

from .chunks import Chunks, Item

__all__ = ["alone", "bytes_of", "fetch", "fetch_parts", "store_all"]

#: Where a shard is said to end, of which only parts are known: its index lies before.
_FAR = 1 << 60


#: Chunks that are being written, and what is set when that is done.
_writing: dict[tuple[str, Any], Future[None]] = {}
_guard = threading.Lock()


def _after_fork() -> None:
    """Who wrote is not here."""
    global _guard
    _guard = threading.Lock()
    _writing.clear()


os.register_at_fork(after_in_child=_after_fork)


def _take(keys: list[tuple[str, Any]], mine: Future[None]) -> list[Future[None]]:
    """All of the keys or none, and then what must be waited for."""
    with _guard:
        others = [_writing[key] for key in keys if key in _writing]
        if not others:
            _writing.update(dict.fromkeys(keys, mine))
        return others


@asynccontextmanager
async def alone(store: Any, items: list[Item]) -> AsyncIterator[None]:
    """While nobody else in this process writes to the chunks. A part of one is written by
    way of the whole, and what another has put there meanwhile would be lost."""
    name, mine = str(store), Future[None]()
    keys = [(name, getattr(item[0], "path", None)) for item in items]
    while others := _take(keys, mine):
        await asyncio.wait([asyncio.wrap_future(other) for other in others])
    try:
        yield
    finally:
        with _guard:
            for key in keys:
                _writing.pop(key, None)
        mine.set_result(None)


def _at_once() -> int | None:
    limit: int | None = config.get("async.concurrency")
    return limit


def bytes_of(buffer: Any) -> npt.NDArray[Any]:
    return np.ascontiguousarray(buffer.as_numpy_array())


async def fetch(items: list[Item], wanted: list[bool]) -> list[Any]:
    """The bytes of those chunks that are wanted; None where there are none."""

    found: list[Any] = [None] * len(items)

    async def get(i: int) -> None:
        buffer = await items[i][0].get(items[i][1].prototype)
        found[i] = None if buffer is None else bytes_of(buffer)

    numbers = [(i,) for i, is_wanted in enumerate(wanted) if is_wanted]
    await concurrent_map(numbers, get, _at_once())
    return found


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
        buffer = await item[0].get(item[1].prototype, byte_range=request)
        if buffer is None:
            return None
        index = bytes_of(buffer)  # when it is too short, it is all there is
        return (_FAR, [(at, index)]) if len(index) == n_bytes else index

    objects = await concurrent_map([(item,) for item in items], get_index, _at_once())
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
    return [(r.start, None if b is None else bytes_of(b)) for r, b in found]


async def store_all(items: list[Item], results: list[Any] | None) -> None:
    """Stores what a call has made of each object, or removes it."""

    async def put(item: Item, result: Any) -> None:
        if result is False:
            await item[0].delete()
        else:
            await item[0].set(cpu.Buffer.from_bytes(result))

    changes = [pair for pair in zip(items, results or ()) if pair[1] is not None]
    await concurrent_map(changes, put, _at_once())
