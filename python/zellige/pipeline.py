"""A codec pipeline for zarr-python 3.1 and later: one line, and the engine does the work.

>>> zarr.config.set({"codec_pipeline.path": "zellige.ZelligeCodecPipeline"})

Chunks in files and in memory are read and written by the engine itself; those of other
stores are fetched and stored through the store, and decoded and encoded by the engine.
What it cannot do goes to zarr-python's own pipeline and is counted: see
:func:`pipeline_stats`. With ``codec_pipeline.strict`` it raises :class:`FallbackError`.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import zarr.core.codec_pipeline as zarr_pipelines
from zarr import storage
from zarr.abc.codec import Codec, CodecPipeline
from zarr.core.array import create_codec_pipeline
from zarr.core.buffer import cpu
from zarr.core.config import config

from .chunks import Chunks, Item, Refusal, covers
from .errors import UnsupportedError, ZelligeError
from .fetching import alone, bytes_of, fetch, fetch_parts, store_all
from .values import check_fits, in_order
from .waiting import in_thread

__all__ = ["FallbackError", "ZelligeCodecPipeline", "pipeline_stats"]

_Builtin: type[Any] = getattr(
    zarr_pipelines, "FusedCodecPipeline", zarr_pipelines.BatchedCodecPipeline
)
_PRESENT, _MISSING = {"status": "present"}, {"status": "missing"}
_LOCAL, _MEMORY, _REMOTE = range(3)
_KINDS: dict[type[Any], int] = {storage.LocalStore: _LOCAL, storage.MemoryStore: _MEMORY}
_Managed = getattr(storage, "ManagedMemoryStore", None)  # not in zarr-python 3.1
if _Managed is not None:
    _KINDS[_Managed] = _MEMORY

_MOST_THREADS = 1 << 16  # a number that the engine takes; it starts far fewer

_NO_LOCKS = "the file system has no locks"  # as the engine says it

_memory_lock = threading.Lock()  # what is stored in memory changes under it


def _after_fork() -> None:
    """Who held the lock is not here."""
    global _memory_lock
    _memory_lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)

_counts: Counter[str] = Counter()
_reasons: Counter[str] = Counter()


class FallbackError(ZelligeError, RuntimeError):
    """Something would have gone to zarr-python's own pipeline, which
    ``codec_pipeline.strict`` forbids."""

    kind = "unsupported"


def pipeline_stats(*, reset: bool = False) -> dict[str, Any]:
    """Chunks that pipelines of this process have read and written: by the engine
    ("native") and by zarr-python's own pipeline ("fallback"), with the reasons."""
    result = {
        **{
            f"{what}_{how}": _counts[f"{what}_{how}"]
            for what in ("read", "written")
            for how in ("native", "fallback")
        },
        "reasons": dict(_reasons),
    }
    if reset:
        _counts.clear()
        _reasons.clear()
    return result


def _n_threads() -> int:
    """Threads of one call; 0: one for each core."""
    try:
        n = int(config.get("codec_pipeline.max_workers", None) or 0)
    except (TypeError, ValueError, OverflowError):
        return 0
    return min(max(0, n), _MOST_THREADS)


class ZelligeCodecPipeline(CodecPipeline):
    """The pipeline of one array; zarr-python makes it when the array is opened."""

    def __init__(self, metadata: Any, store: Any) -> None:
        self._metadata = metadata
        self._store = store
        self._kind = _KINDS.get(type(store), _REMOTE)
        self._builtin: Any = create_codec_pipeline(metadata)  # by way of from_codecs
        self._chunks: Chunks | None = None
        self._refusal: str | None = None

    # ------------------------------------------------------------------ making

    @classmethod
    def from_array_metadata_and_store(
        cls, array_metadata: Any, store: Any
    ) -> ZelligeCodecPipeline:
        return cls(array_metadata, store)

    @classmethod
    def from_codecs(cls, codecs: Iterable[Codec], **more: Any) -> Any:
        """Without an array: zarr-python's own pipeline, which stands behind this one and
        inside of its own sharding codec."""
        return _Builtin.from_codecs(codecs, **more)

    def evolve_from_array_spec(self, array_spec: Any) -> ZelligeCodecPipeline:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._metadata, self._store)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ZelligeCodecPipeline)
            and bool(self._builtin == other._builtin)
            and bool(self._store == other._store)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<zellige.ZelligeCodecPipeline of {list(self._builtin)}>"

    # ------------------------------------------------------------------ of the codecs

    @property
    def supports_partial_decode(self) -> bool:
        return bool(self._builtin.supports_partial_decode)

    @property
    def supports_partial_encode(self) -> bool:
        return bool(self._builtin.supports_partial_encode)

    def validate(self, **facts: Any) -> None:
        self._builtin.validate(**facts)

    def compute_encoded_size(self, byte_length: int, array_spec: Any) -> int:
        return int(self._builtin.compute_encoded_size(byte_length, array_spec))

    async def decode(self, chunk_bytes_and_specs: Any) -> Any:
        return await self._builtin.decode(chunk_bytes_and_specs)

    async def encode(self, chunk_arrays_and_specs: Any) -> Any:
        return await self._builtin.encode(chunk_arrays_and_specs)

    def __iter__(self) -> Iterator[Codec]:
        return iter(self._builtin)

    # ------------------------------------------------------------------ chunks

    def _native(self, items: list[Item], create: bool) -> Chunks:
        chunks = self._chunks
        if chunks is None or chunks.is_stale():
            key = getattr(items[0][0], "path", "")
            try:
                self._chunks = chunks = Chunks(
                    self._metadata,
                    self._store,
                    key,
                    keeps_parts=self.supports_partial_encode,
                    create=create,
                )
            except Refusal as refusal:
                self._refusal = str(refusal) if refusal.lasting else None
                raise
        return chunks

    def _look_at_refusal(self) -> None:
        """Always a new one: an exception keeps what the frames hold that it has left."""
        if self._refusal is not None:
            raise Refusal(self._refusal)

    def _fall_back(self, what: str, n: int, reason: str) -> None:
        if config.get("codec_pipeline.strict", False):
            raise FallbackError(f"{what} by zarr-python's own pipeline: {reason}")
        _counts[f"{what}_fallback"] += n
        _reasons[reason] += n

    async def read(
        self, batch_info: Iterable[Any], out: Any, drop_axes: tuple[int, ...] = ()
    ) -> tuple[Any, ...]:
        items = list(batch_info)
        if not items:
            return ()
        try:
            self._look_at_refusal()
            statuses = await self._read(items, out, tuple(drop_axes))
        except Refusal as refusal:
            self._fall_back("read", len(items), str(refusal))
            told: tuple[Any, ...] = await self._builtin.read(items, out, drop_axes)
            return told
        _counts["read_native"] += len(items)
        if not any(statuses):
            return (_PRESENT,) * len(items)
        return tuple(_MISSING if status else _PRESENT for status in statuses)

    async def _read(self, items: list[Item], out: Any, dropped: tuple[int, ...]) -> Any:
        n_threads = _n_threads()
        if self._kind != _REMOTE:
            return await in_thread(self._read_now, items, out, dropped, n_threads)
        chunks = self._native(items, False)
        if chunks.index is None or all(covers(item) for item in items):
            objects = await fetch(self._store, items, [True] * len(items))
        else:
            objects = await fetch_parts(self._store, chunks, items, dropped)
        return await in_thread(chunks.read, items, out, dropped, n_threads, objects)

    def _read_now(
        self,
        items: list[Item],
        out: Any,
        dropped: tuple[int, ...],
        n_threads: int,
        cancel: Any,
    ) -> Any:
        chunks = self._native(items, False)
        objects = None
        if self._kind == _MEMORY:
            objects = [_bytes_of(o) for o in self._stored(self._keys(items))]
        return chunks.read(items, out, dropped, n_threads, objects, cancel)

    async def write(
        self, batch_info: Iterable[Any], value: Any, drop_axes: tuple[int, ...] = ()
    ) -> None:
        items = list(batch_info)
        if not items:
            return
        self._store._check_writable()
        check_fits(items, value.shape)
        items = in_order(items, tuple(drop_axes))
        try:
            self._look_at_refusal()
            await self._write(items, value, tuple(drop_axes))
        except Refusal as refusal:
            self._fall_back("written", len(items), str(refusal))
            async with alone(self._store, items):
                await self._builtin.write(items, value, drop_axes)
            return
        _counts["written_native"] += len(items)

    async def _write(self, items: list[Item], value: Any, dropped: tuple[int, ...]) -> None:
        n_threads = _n_threads()
        if self._kind == _LOCAL:
            await in_thread(self._write_files, items, value, dropped, n_threads)
            return
        if self._kind == _MEMORY:
            await in_thread(self._write_memory, items, value, dropped, n_threads)
            return
        chunks = self._native(items, True)
        is_new = covers if self.supports_partial_encode else _is_complete
        async with alone(self._store, items):
            objects = await fetch(self._store, items, [not is_new(item) for item in items])
            results = await in_thread(
                chunks.write, items, value, dropped, n_threads, objects
            )
            await store_all(self._store, items, results)

    def _write_files(
        self,
        items: list[Item],
        value: Any,
        dropped: tuple[int, ...],
        n_threads: int,
        cancel: Any,
    ) -> None:
        chunks = self._native(items, True)
        try:
            chunks.write(items, value, dropped, n_threads, None, cancel)
        except UnsupportedError as error:
            if _NO_LOCKS not in str(error):
                raise
            raise Refusal(_NO_LOCKS) from error

    # ------------------------------------------------------------------ memory

    def _keys(self, items: list[Item]) -> list[str]:
        """Those of the dictionary: a managed store may be a part of one."""
        above = getattr(self._store, "path", "")
        return [f"{above}/{item[0].path}" if above else item[0].path for item in items]

    def _stored(self, keys: list[str]) -> list[Any]:
        """The buffers of a store in memory, or None."""
        objects = self._store._store_dict
        if type(objects) is not dict and type(self._store) is not _Managed:
            raise Refusal("a mapping that is no dict")
        return [objects.get(key) for key in keys]

    def _write_memory(
        self,
        items: list[Item],
        value: Any,
        dropped: tuple[int, ...],
        n_threads: int,
        cancel: Any,
    ) -> None:
        """Again for those chunks that somebody else has changed meanwhile."""
        chunks = self._native(items, True)
        while items:
            keys = self._keys(items)
            stored = self._stored(keys)
            objects = [_bytes_of(o) for o in stored]
            results = chunks.write(items, value, dropped, n_threads, objects, cancel)
            again = []
            with _memory_lock:
                now = self._store._store_dict
                for item, key, before, result in zip(items, keys, stored, results or ()):
                    if now.get(key) is not before:
                        again.append(item)
                    elif result is False:
                        now.pop(key, None)
                    elif result is not None:
                        now[key] = cpu.Buffer.from_bytes(result)
            items = again


def _is_complete(item: Item) -> bool:
    return item[4]


def _bytes_of(stored: Any) -> Any:
    if stored is None:
        return None
    if type(stored) is not cpu.Buffer:
        raise Refusal("buffers of another kind")
    return bytes_of(stored)


# The registry of zarr-python knows classes by module and name.
ZelligeCodecPipeline.__module__ = "zellige"
