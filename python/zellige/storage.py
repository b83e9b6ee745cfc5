"""Stores by the names that zarr-python gives them. Those that cannot be opened yet say so."""

from __future__ import annotations

from typing import Any, NoReturn

from .errors import UnsupportedError
from .store import ForeignStore, LocalStore, MemoryStore, Store, StoreLike, StorePath

__all__ = [
    "ForeignStore",
    "FsspecStore",
    "GpuMemoryStore",
    "LocalStore",
    "LoggingStore",
    "ManagedMemoryStore",
    "MemoryStore",
    "ObjectStore",
    "Store",
    "StoreLike",
    "StorePath",
    "WrapperStore",
    "ZipStore",
]


class _Missing:
    """A store that cannot be opened yet."""

    _instead = "copy its keys into a LocalStore or a MemoryStore"

    def __init__(self, *unused: Any, **also_unused: Any) -> None:
        self._refuse()

    @classmethod
    def _refuse(cls) -> NoReturn:
        raise UnsupportedError(f"a {cls.__name__} cannot be opened yet: {cls._instead}")

    @classmethod
    def open(cls, *unused: Any, **also_unused: Any) -> NoReturn:
        cls._refuse()


class ZipStore(_Missing):
    _instead = "unpack it into a directory"


class FsspecStore(_Missing):
    @classmethod
    def from_url(cls, *unused: Any, **also_unused: Any) -> NoReturn:
        cls._refuse()

    from_mapper = from_upath = from_url


class ObjectStore(_Missing):
    pass


class ManagedMemoryStore(_Missing):
    _instead = "share a MemoryStore"


class GpuMemoryStore(_Missing):
    _instead = "take a MemoryStore, whose bytes lie in the memory of the CPU"


class LoggingStore(_Missing):
    _instead = "open the store that it wraps; Array.explain tells what a read does"


class WrapperStore(_Missing):
    _instead = "open the store that it wraps"
