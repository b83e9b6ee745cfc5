"""Stores: where keys and their bytes are kept."""

from __future__ import annotations

import os
from typing import Any, Literal

from . import _core
from .errors import UnsupportedError

__all__ = ["LocalStore", "MemoryStore", "Promise", "Store", "StoreLike", "open_store"]

#: What a change means once its call has returned.
Promise = Literal["visible", "durable", "verified"]


class Store(_core.Store):
    """A map from keys to bytes. A key is names joined by ``/``."""

    def keys(self, prefix: str = "") -> list[str]:
        """All keys below a prefix, relative to it."""
        return [name for name, _, _ in self._list(prefix, False)]


StoreLike = str | os.PathLike[str] | Store


def _reopen(root: str, read_only: bool, follow_links: bool, no_locks: bool) -> LocalStore:
    return LocalStore(
        root, read_only=read_only, follow_links=follow_links, no_locks=no_locks
    )


class LocalStore(Store):
    """A directory. Links below it never lead out of it, unless `follow_links` is set.

    `no_locks` is for file systems without locks: you promise that nobody else changes an
    object while this store does.
    """

    def __new__(
        cls,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        create: bool = False,
        follow_links: bool = False,
        no_locks: bool = False,
    ) -> LocalStore:
        text = os.fspath(path)
        if not text.startswith(("/", "file://")):
            if "://" in text:
                raise UnsupportedError(f"{text}: only directories can be opened")
            text = os.path.abspath(text)
        return _core.open_store(cls, text, read_only, create, follow_links, no_locks)

    def __repr__(self) -> str:
        return f"<zellige.LocalStore {self.root}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.root, self.read_only, self.follow_links, self.no_locks)


class MemoryStore(Store):
    """An empty store in memory."""

    def __new__(cls) -> MemoryStore:
        return _core.open_store(cls, None, False, False, False, False)

    def __repr__(self) -> str:
        return f"<zellige.MemoryStore at {id(self):#x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a store in memory cannot be pickled")


def open_store(store: StoreLike, mode: str) -> Store:
    """The store for a path or a store; modes that may create make the directory."""
    if isinstance(store, Store):
        return store
    return LocalStore(store, read_only=mode == "r", create=mode in ("a", "w", "w-"))
