"""Stores: where keys and their bytes are kept."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, Literal, ParamSpec, Protocol, Self, TypeVar
from urllib.parse import unquote

from . import _core
from .adapting import adapter_of
from .errors import UnsupportedError, UsageError
from .mapping import Mapped

__all__ = [
    "ForeignStore",
    "LocalStore",
    "MemoryStore",
    "Promise",
    "Store",
    "StoreLike",
    "StorePath",
    "leaves_nothing",
    "open_place",
    "open_store",
]

#: What a change means once its call has returned.
Promise = Literal["visible", "durable", "verified"]


class Store(_core.Store):
    """A map from keys to bytes. A key is names joined by ``/``."""

    supports_writes = True
    supports_deletes = True
    supports_listing = True
    supports_consolidated_metadata = True

    #: What stands for the root in texts, where there is no directory.
    label = "memory"

    def keys(self, prefix: str = "") -> list[str]:
        """All keys below a prefix, relative to it."""
        return [name for name, _, _ in self._list(prefix, False)]

    def exists(self, key: str) -> bool:
        """True for a key under which something is stored."""
        folder, _, name = key.rpartition("/")
        return any(
            found == name and not is_folder
            for found, is_folder, _ in self._list(folder, True)
        )

    def is_empty(self, prefix: str = "") -> bool:
        """True where nothing is stored below a prefix."""
        return not self._list(prefix, True)

    def clear(self) -> None:
        """Removes everything."""
        for key in self.keys():
            self.delete(key)

    def _writable(self) -> None:
        if self.read_only:
            raise UsageError("the store was opened for reading only")

    def close(self) -> None:
        """Nothing is to be done: a store is closed when nobody uses it any more."""


class StorePath(str):
    """A place in a store: reads as text, and can be opened as a store is."""

    store: Store
    path: str

    def __new__(cls, store: Store, path: str = "") -> Self:
        path = path.strip("/")
        place = super().__new__(cls, f"{store.root or store.label + ':'}/{path}".rstrip("/"))
        place.store = store
        place.path = path
        return place

    def __truediv__(self, name: str) -> StorePath:
        return StorePath(self.store, f"{self.path}/{name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return StorePath, (self.store, self.path)


class Foreign(Protocol):
    """What the stores of zarr-python and of obstore and the file systems of fsspec share."""

    @property
    def get(self) -> Callable[..., Any]: ...


StoreLike = str | os.PathLike[str] | Store | MutableMapping[str, Any] | Foreign | None


def _reopen(root: str, read_only: bool, follow_links: bool, no_locks: bool) -> LocalStore:
    return LocalStore(
        root,
        read_only=read_only,
        create=False,
        follow_links=follow_links,
        no_locks=no_locks,
    )


class LocalStore(Store):
    """A directory. Links below it never lead out of it, unless `follow_links` is set.

    It is made when it is missing, unless `create` is False or the store is for reading only.
    `no_locks` is for file systems without locks: you promise that nobody else changes an
    object while this store does.
    """

    def __new__(
        cls,
        root: str | os.PathLike[str],
        *,
        read_only: bool = False,
        create: bool | None = None,
        follow_links: bool = False,
        no_locks: bool = False,
    ) -> Self:
        text = os.fspath(root)
        if not text.startswith(("/", "file://")):
            if "://" in text:
                raise UnsupportedError(
                    f"{text}: only directories are opened by name; give the store of "
                    "zarr-python, fsspec or obstore for others"
                )
            text = os.path.abspath(text)
        make = not read_only if create is None else create
        return _core.open_store(cls, text, read_only, make, follow_links, no_locks)

    def with_read_only(self, read_only: bool = False) -> LocalStore:
        """The same directory, for reading only or not."""
        assert self.root is not None
        return _reopen(self.root, read_only, self.follow_links, self.no_locks)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LocalStore):
            return NotImplemented
        return (self.root, self.read_only) == (other.root, other.read_only)

    def __hash__(self) -> int:
        return hash(self.root)

    def __repr__(self) -> str:
        return f"<zellige.LocalStore {self.root}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.root, self.read_only, self.follow_links, self.no_locks)


class _PythonStore(Store):
    """A store whose bytes are no files."""

    def put(self, key: str, data: bytes | bytearray | memoryview, /) -> None:
        """Stores bytes under a key."""
        self._writable()
        super().put(key, data)

    def delete(self, key: str, /) -> None:
        """Removes a key, if it is there."""
        self._writable()
        super().delete(key)


class MemoryStore(_PythonStore):
    """A store in memory: one of its own, or what a dictionary holds, which is changed then.
    The first is faster: it needs no Python to find an object."""

    def __new__(
        cls, store_dict: MutableMapping[str, Any] | None = None, *, read_only: bool = False
    ) -> Self:
        mapped = None if store_dict is None else Mapped(store_dict)
        return _core.open_store(cls, mapped, read_only, False, False, False)

    def __repr__(self) -> str:
        return f"<zellige.MemoryStore at {id(self):#x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a store in memory cannot be pickled")


def _reopen_foreign(source: Any, read_only: bool) -> ForeignStore:
    return ForeignStore(source, read_only=read_only)


class ForeignStore(_PythonStore):
    """A store of zarr-python, a file system or mapper of fsspec, or a store of obstore.

    Every object is fetched and stored whole, by way of Python. Changes of a part of an
    object are safe among all handles of this process; of two processes that change one
    object at the same time, one may overwrite what the other stored.
    """

    source: Any

    def __new__(cls, source: Any, *, read_only: bool = False) -> Self:
        adapter = adapter_of(source)
        if adapter is None:
            name = type(source).__name__
            if name.endswith(("Store", "Map")):
                raise UnsupportedError(f"a {name} cannot be opened")
            raise TypeError(
                "a store is a path, a LocalStore, a MemoryStore, a dictionary, or a store "
                f"of zarr-python, fsspec or obstore, not a {name}"
            )
        read_only = read_only or bool(getattr(source, "read_only", False))
        store = _core.open_store(cls, adapter, read_only, False, False, False)
        store.source, store.label = source, adapter.label
        return store

    def with_read_only(self, read_only: bool = False) -> ForeignStore:
        """The same store, for reading only or not."""
        return _reopen_foreign(self.source, read_only)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ForeignStore):
            return NotImplemented
        return self.read_only == other.read_only and bool(self.source == other.source)

    def __hash__(self) -> int:
        return hash(self.label)

    def __repr__(self) -> str:
        return f"<zellige.ForeignStore {self.source!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen_foreign, (self.source, self.read_only)


def _directory_of(store: Any) -> Any:
    """The path of what is a directory by another name; None for all else."""
    if type(store).__name__ == "LocalStore":
        root = getattr(store, "root", None)
        return root if isinstance(root, os.PathLike) else None
    files = getattr(store, "fs", None)  # of a mapper of fsspec, of a FsspecStore
    files = getattr(files, "sync_fs", files)
    if type(files).__name__ != "LocalFileSystem":
        return None
    return getattr(store, "root", None) or getattr(store, "path", None)


def _of_others(store: Any, mode: str) -> Store:
    """A store of another package."""
    root, may_make = _directory_of(store), mode in ("a", "w", "w-")
    if root is None:
        return ForeignStore(store, read_only=mode == "r")
    read_only = mode == "r" or bool(getattr(store, "read_only", False))
    return LocalStore(root, read_only=read_only, create=may_make and not read_only)


def open_store(store: StoreLike, mode: str = "r+") -> Store:
    """The store for a path or a store; modes that may create make the directory."""
    if isinstance(store, Store):
        return store
    if isinstance(store, StorePath):
        return store.store
    if store is None or (isinstance(store, MutableMapping) and not hasattr(store, "fs")):
        return MemoryStore(store, read_only=mode == "r")
    if not isinstance(store, (str, os.PathLike)):
        return _of_others(store, mode)
    return LocalStore(store, read_only=mode == "r", create=mode in ("a", "w", "w-"))


def open_place(
    store: StoreLike,
    path: str | None,
    mode: str,
    storage_options: Mapping[str, Any] | None = None,
) -> tuple[Store, str]:
    """The store and the path in it. `mode` is that of :func:`zellige.open`."""
    if storage_options:
        raise UnsupportedError(
            "storage_options belong to a URL: give the store of zarr-python, fsspec or "
            "obstore that is made with them"
        )
    below = (path or "").strip("/")
    above = ""
    if type(store).__name__ == "StorePath":  # zarr-python has one too
        place: Any = store
        store, above = place.store, place.path
    return open_store(store, mode), "/".join(filter(None, (above, below)))


# ---------------------------------------------------------------------- what is refused

_P = ParamSpec("_P")
_Result = TypeVar("_Result")


def _missing_folders(store: Any) -> list[str]:
    """Folders that opening a path would make, the innermost first."""
    missing: list[str] = []
    if isinstance(store, StorePath) or not isinstance(store, (str, os.PathLike)):
        return missing
    text = os.fspath(store)
    if isinstance(text, str) and text.startswith("file://"):
        text = unquote(text.removeprefix("file://").removeprefix("localhost"))
    folder = os.path.abspath(text)
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing


def leaves_nothing(make: Callable[_P, _Result]) -> Callable[_P, _Result]:
    """For a function whose first argument is a store: when it fails, the folders go that were
    made for the store and in which there is nothing."""

    @functools.wraps(make)
    def wrapped(*args: _P.args, **keywords: _P.kwargs) -> _Result:
        missing = _missing_folders(args[0] if args else keywords.get("store"))
        try:
            return make(*args, **keywords)
        except BaseException:
            for folder in missing:
                try:
                    os.rmdir(folder)
                except OSError:  # it was not made, or somebody uses it
                    break
            raise

    return wrapped
