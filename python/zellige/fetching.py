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
from zarr.storage import FsspecStore, LocalStore, ObjectStore, StorePath, WrapperStore

from .chunks import Chunks, Item, Refusal

__all__ = ["alone", "bytes_of", "fetch", "fetch_parts", "store_all"]

#: Where a shard is said to end, of which only parts are known: its index lies before.
_FAR = 1 << 60


#: Chunks that are being written, and what is set when that is done.
_writing: dict[str, Future[None]] = {}
_guard = threading.Lock()


def _after_fork() -> None:
    """Who wrote is not here."""
    global _guard
    _guard = threading.Lock()
    _writing.clear()


os.register_at_fork(after_in_child=_after_fork)


def _files_place(files: Any, path: str) -> str:
    """A path of a file system of fsspec."""
    files = getattr(files, "sync_fs", files)
    name = type(files).__name__
    if name == "DirFileSystem":
        return _files_place(files.fs, f"{files.path}/{path}")
    path = f"/{path.strip('/')}"
    return os.path.realpath(path) if name == "LocalFileSystem" else f"{name}:{path}"


def _place(store: Any) -> str:
    """Where the keys of a store begin. What stands in for a store may lack what tells it."""
    try:
        return _root(store)
    except (AttributeError, TypeError):
        return str(store)


def _root(store: Any) -> str:
    """An object that is reached by way of several stores, with roots one above the other,
    has the same root and key together; where that cannot be told for sure, some that are
    not the same may have, too: they wait for each other."""
    while isinstance(store, WrapperStore):
        store = store._store
    if isinstance(store, LocalStore):
        return os.path.realpath(store.root)
    if isinstance(store, FsspecStore):
        return _files_place(store.fs, store.path)
    if isinstance(store, ObjectStore):
        objects: Any = store.store
        name, above = type(objects).__name__, getattr(objects, "prefix", None) or ""
        if name == "LocalStore":
            return os.path.realpath(f"/{above}")
        if name == "MemoryStore":
            return f"{name}:{id(objects)}"
        bucket = getattr(objects, "config", {}).get("bucket", "")
        return f"{name}:{bucket}/{above}"
    return str(store)


def _take(keys: list[str], mine: Future[None]) -> list[Future[None]]:
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
    place, mine = _place(store).rstrip("/"), Future[None]()
    keys = [f"{place}/{getattr(item[0], 'path', '')}" for item in items]
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


def _bytes_of(buffer: Any) -> Any:
    return None if buffer is None else bytes_of(buffer)


async def _get_all(store: Any, items: list[Item], request: Any = None) -> list[Any]:
    """What the store has of each chunk. It is asked itself: every coroutine around that
    costs as much as a small chunk, and a store that logs looks at all that called it."""
    if not all(type(item[0]) is StorePath and item[0].store is store for item in items):
        raise Refusal("another store")
    wanted = [(item[0].path, item[1].prototype, request) for item in items]
    return await concurrent_map(wanted, store.get, _at_once())


async def fetch(store: Any, items: list[Item], wanted: list[bool]) -> list[Any]:
    """The bytes of those chunks that are wanted; None where there are none."""
    chosen = [item for item, is_wanted in zip(items, wanted) if is_wanted]
    buffers = iter(await _get_all(store, chosen))
    return [_bytes_of(next(buffers)) if is_wanted else None for is_wanted in wanted]


async def fetch_parts(
    store: Any, chunks: Chunks, items: list[Item], dropped: tuple[int, ...]
) -> list[Any]:
    """For each shard what is wanted of it, as the engine takes objects in pieces."""
    assert chunks.index is not None
    location, n_bytes = chunks.index
    at = 0 if location == "start" else _FAR - n_bytes
    request = (
        RangeByteRequest(0, n_bytes) if location == "start" else SuffixByteRequest(n_bytes)
    )

    indexes = [_bytes_of(buffer) for buffer in await _get_all(store, items, request)]
    objects = [
        (_FAR, [(at, index)]) if index is not None and len(index) == n_bytes else index
        for index in indexes  # one that is too short is all there is
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
    return [(r.start, _bytes_of(b)) for r, b in found]


async def store_all(store: Any, items: list[Item], results: list[Any] | None) -> None:
    """Stores what a call has made of each object, or removes it."""

    def put(key: str, result: Any) -> Any:  # what is awaited
        if result is False:
            return store.delete(key)
        return store.set(key, cpu.Buffer.from_bytes(result))

    pairs = zip(items, results or ())
    changes = [(item[0].path, result) for item, result in pairs if result is not None]
    await concurrent_map(changes, put, _at_once())
