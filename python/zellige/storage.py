"""Stores by the names that zarr-python gives them. Of those that are not made here it is
said what to open instead."""

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
    """A name of zarr-python for a store that is not made here, but taken."""

    _instead = "zellige.open and the like take that of zarr-python"

    def __init__(self, *unused: Any, **also_unused: Any) -> None:
        self._refuse()

    @classmethod
    def _refuse(cls) -> NoReturn:
        raise UnsupportedError(f"no {cls.__name__} is made here: {cls._instead}")

    @classmethod
    def open(cls, *unused: Any, **also_unused: Any) -> NoReturn:
        cls._refuse()


class ZipStore(_Missing):
    pass


class FsspecStore(_Missing):
    _instead = f"{_Missing._instead}, and file systems and mappers of fsspec"

    @classmethod
    def from_url(cls, *unused: Any, **also_unused: Any) -> NoReturn:
        cls._refuse()

    from_mapper = from_upath = from_url


class ObjectStore(_Missing):
    _instead = f"{_Missing._instead}, and stores of obstore"


class ManagedMemoryStore(_Missing):
    pass


class GpuMemoryStore(_Missing):
    _instead = "take a MemoryStore, whose bytes lie in the memory of the CPU"


class LoggingStore(_Missing):
    pass


class WrapperStore(_Missing):
    pass
