"""Stores of other packages, as the binding calls a store: zarr-python's, fsspec's, obstore's.

An adapter gets, puts, deletes and finds. Whether an object may be changed, because it is
still what was seen of it or still missing, is decided under locks of this process: of two
processes that change one object at the same time, one may overwrite what the other stored.

Objects are fetched whole. Calls come from any thread, but never from the event loop of
zarr-python, on which the coroutines of its stores run.
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Iterable
from itertools import chain
from threading import Lock
from typing import Any, TypeVar

from .errors import UnsupportedError
from .mapping import Mapped, in_levels

__all__ = ["Adapter", "adapter_of"]

_Result = TypeVar("_Result")
#: Name, is it a prefix, number of bytes: relative to what was listed.
Found = tuple[str, bool, int]

_IF_ABSENT, _IF_UNCHANGED = 1, 2
_locks: list[Lock] = []


def _renew_locks() -> None:
    _locks[:] = [Lock() for _ in range(256)]


_renew_locks()
os.register_at_fork(after_in_child=_renew_locks)  # who held one is not in the child


def _equal(one: Any, other: Any) -> bool:
    return memoryview(one).cast("B") == memoryview(other).cast("B")


class Adapter(ABC):
    """A store of others; see python/core/mapping.c for who calls it."""

    def __init__(self, label: str) -> None:
        self.label = label

    @abstractmethod
    def get(self, key: str) -> Any:
        """The bytes of a key, or None."""

    @abstractmethod
    def put(self, key: str, data: bytes) -> None:
        """Stores the bytes of a key."""

    @abstractmethod
    def delete(self, key: str) -> None:
        """May raise where nothing is."""

    @abstractmethod
    def find(self, prefix: str, delimited: bool) -> Iterable[Found]:
        """What lies below a prefix: all of it, or one level."""

    # ------------------------------------------------------------------ for the binding

    def open(self, key: str) -> tuple[Any, Any] | None:
        data = self.get(key)
        return None if data is None else (data, data)

    def change(self, key: str, data: bytes | None, condition: int, seen: Any) -> bool:
        with _locks[hash(key) % len(_locks)]:
            if condition in (_IF_ABSENT, _IF_UNCHANGED):
                there = self.get(key)
                if condition == _IF_ABSENT and there is not None:
                    return False
                if condition == _IF_UNCHANGED:
                    if there is None or not _equal(there, seen):
                        return False
            if data is None:
                self._remove(key)
            else:
                self.put(key, data)
            return True

    def _remove(self, key: str) -> None:
        try:
            self.delete(key)
        except Exception:  # where nothing is, or a directory, everyone says it otherwise
            if self.get(key) is not None:
                raise

    def names(self, prefix: str, delimited: int) -> list[Found]:
        found = {item[0]: item for item in self.find(prefix, bool(delimited))}
        return [found[name] for name in sorted(found, key=in_levels)]


# ---------------------------------------------------------------------- zarr-python


class _Entries(Mapped):
    """A dictionary of buffers, as a MemoryStore of zarr-python has it."""

    def _value(self, data: bytes) -> Any:
        from zarr.core.buffer import cpu

        return cpu.Buffer.from_bytes(data)


class _Coroutines(Adapter):
    """Any store of zarr-python, by its coroutines."""

    def __init__(self, store: Any) -> None:
        super().__init__(str(store))
        self._store = store

    @staticmethod
    def _run(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
        from zarr.core.sync import SyncError, sync

        try:
            return sync(coroutine)
        except SyncError:  # on the thread of the loop itself
            coroutine.close()
            raise

    def get(self, key: str) -> Any:
        from .fetching import bytes_of
        from zarr.core.buffer import default_buffer_prototype

        buffer = self._run(self._store.get(key, default_buffer_prototype()))
        return None if buffer is None else bytes_of(buffer)

    def put(self, key: str, data: bytes) -> None:
        from zarr.core.buffer import cpu

        self._run(self._store.set(key, cpu.Buffer.from_bytes(data)))

    def delete(self, key: str) -> None:
        self._run(self._store.delete(key))

    def find(self, prefix: str, delimited: bool) -> Iterable[Found]:
        return self._run(self._find(f"{prefix}/" if prefix else "", delimited))

    async def _find(self, above: str, delimited: bool) -> Iterable[Found]:
        from zarr.abc.store import RangeByteRequest
        from zarr.core.buffer import default_buffer_prototype
        from zarr.core.common import concurrent_map

        any_byte = default_buffer_prototype(), RangeByteRequest(0, 1)

        async def look(name: str) -> Found:
            key = above + name
            # Some say that a directory exists, but none has bytes of one.
            if delimited and await self._store.get(key, *any_byte) is None:
                return name, True, 0
            return name, False, await self._store.getsize(key)

        each = self._store.list_dir if delimited else self._store.list_prefix
        keys = {key async for key in each(above.rstrip("/") if delimited else above)}
        if not delimited:
            keys = {key.removeprefix(above) for key in keys}
        return await concurrent_map([(key.strip("/"),) for key in keys], look, 64)


# ---------------------------------------------------------------------- fsspec


class _Files(Adapter):
    """A file system of fsspec, below a path."""

    def __init__(self, files: Any, root: str) -> None:
        super().__init__(f"{type(files).__name__}:{root}")
        self._files = files
        self._root = str(files._strip_protocol(root)).rstrip("/")

    def _path(self, key: str) -> str:
        return "/".join(filter(None, (self._root, key)))

    def get(self, key: str) -> Any:
        try:
            return self._files.cat_file(self._path(key))
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None

    def put(self, key: str, data: bytes) -> None:
        path = self._path(key)
        try:
            self._files.pipe_file(path, data)
        except FileNotFoundError:
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(path, data)

    def delete(self, key: str) -> None:
        self._files.rm_file(self._path(key))

    def find(self, prefix: str, delimited: bool) -> Iterable[Found]:
        path = self._path(prefix)
        self._files.invalidate_cache(path)  # others may have written meanwhile
        try:
            if delimited:
                entries = self._files.ls(path, detail=True)
            else:
                entries = self._files.find(path, detail=True).values()
        except (FileNotFoundError, NotADirectoryError):
            return
        for entry in entries:
            name = entry["name"].strip("/").removeprefix(path.strip("/")).strip("/")
            is_prefix = entry["type"] == "directory"
            if name:
                yield name, is_prefix, 0 if is_prefix else int(entry["size"] or 0)


# ---------------------------------------------------------------------- obstore


class _Objects(Adapter):
    """A store of obstore."""

    def __init__(self, store: Any) -> None:
        super().__init__(str(store))
        self._store = store

    def get(self, key: str) -> Any:
        import obstore

        try:
            return obstore.get(self._store, key).bytes()
        except (FileNotFoundError, IsADirectoryError):
            return None

    def put(self, key: str, data: bytes) -> None:
        import obstore

        obstore.put(self._store, key, data)

    def delete(self, key: str) -> None:
        import obstore

        obstore.delete(self._store, key)

    def find(self, prefix: str, delimited: bool) -> Iterable[Found]:
        import obstore

        n_above = len(prefix) + 1 if prefix else 0
        if delimited:
            found = obstore.list_with_delimiter(self._store, prefix or None)
            for path in found["common_prefixes"]:
                yield path[n_above:].rstrip("/"), True, 0
            objects: Iterable[Any] = found["objects"]
        else:
            objects = chain.from_iterable(obstore.list(self._store, prefix or None))
        for one in objects:
            yield one["path"][n_above:], False, one["size"]


# ---------------------------------------------------------------------- which one


def _is_of(store: Any, module: str, name: str) -> bool:
    """True for objects of a class of a module, which is not imported for that."""
    found = getattr(sys.modules.get(module), name, None)
    return found is not None and isinstance(store, found)


def _of_files(files: Any, root: str) -> Adapter:
    if not getattr(files, "asynchronous", False):
        return _Files(files, root)
    try:  # its methods are coroutines
        from zarr.storage import FsspecStore
    except ImportError as error:
        raise UnsupportedError(
            "an asynchronous file system needs zarr-python: open it without asynchronous"
        ) from error
    return _Coroutines(FsspecStore(files, path=root))


def adapter_of(store: Any) -> Adapter | Mapped | None:
    """What makes a store of others one of the binding; None for what is none."""
    if _is_of(store, "zarr.abc.store", "Store"):
        if type(store).__name__ in ("MemoryStore", "ManagedMemoryStore"):
            return _Entries(store._store_dict)
        return _Coroutines(store)
    if _is_of(store, "fsspec.mapping", "FSMap"):
        return _of_files(store.fs, store.root)
    if _is_of(store, "fsspec.spec", "AbstractFileSystem"):
        return _of_files(store, "")
    if type(store).__module__.partition(".")[0] == "obstore":
        return _Objects(store)
    return None
