"""Where the output goes: what is said for `file_name`, `store` and `fs_factory`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, NamedTuple

from ..errors import UnsupportedError, UsageError, ZarrUserWarning
from ..store import LocalStore, Store

__all__ = ["Place", "place_of"]


class Place(NamedTuple):
    """A store, as zellige takes it and as zarr-python does, if it is one already."""

    store: Any
    zarr_store: Any = None

    @property
    def is_local(self) -> bool:
        """True for a directory."""
        return isinstance(self.store, (str, LocalStore))

    def for_zarr(self) -> Any:
        """The store for zarr-python."""
        if self.zarr_store is not None:
            return self.zarr_store
        root = self.store.root if isinstance(self.store, Store) else self.store
        if not isinstance(root, str):
            raise UnsupportedError(
                f"zarr-python cannot open {self.store!r}: give a store of its own instead"
            )
        from zarr.storage import LocalStore as ZarrLocalStore

        return ZarrLocalStore(root)


def _local(path: str | os.PathLike[str]) -> Place:
    return Place(os.path.abspath(os.fspath(path).removeprefix("file://")))


def _of_zarr(store: Any) -> Place:
    """A store of zarr-python; of a directory, the directory."""
    if store.read_only:
        raise UsageError(f"{store} is for reading only: output needs one to write to")
    if type(store).__name__ == "LocalStore":
        return Place(os.path.abspath(store.root), store)
    return Place(store, store)


def _of_obstore(store: Any) -> Place:
    from zarr.storage import ObjectStore

    return _of_zarr(ObjectStore(store, read_only=False))


def _of_url(url: str, options: Mapping[str, Any]) -> Place:
    try:
        from obstore.store import from_url
    except ImportError as error:
        raise UnsupportedError(f"{url} needs obstore, which is not installed") from error
    return _of_obstore(from_url(url, **options))


def _of_store(store: Any, options: Mapping[str, Any]) -> Place:
    is_url = isinstance(store, str) and "://" in store and not store.startswith("file://")
    if options and not is_url:
        raise UsageError("store_kwargs are for a URL of the network: this store has none")
    if is_url:
        return _of_url(store, options)
    if isinstance(store, (str, os.PathLike)):
        return _local(store)
    if isinstance(store, (Store, MutableMapping)):
        return Place(store)
    if type(store).__module__.startswith("obstore"):
        return _of_obstore(store)
    if hasattr(store, "read_only"):
        return _of_zarr(store)
    raise TypeError(f"a store is a path, a URL or a store, not a {type(store).__name__}")


def _of_factory(factory: Any, path: str) -> Place:
    """A file system of fsspec."""
    if not callable(factory):
        raise TypeError(f"fs_factory is a function that makes a file system, not {factory}")
    file_system: Any = factory()
    protocols = file_system.protocol
    protocols = (protocols,) if isinstance(protocols, str) else tuple(protocols)
    if "local" in protocols or "file" in protocols:
        return _local(path)
    if "memory" in protocols:
        from zarr.storage import MemoryStore

        return _of_zarr(MemoryStore())
    if not file_system.asynchronous:
        raise TypeError(f"fs_factory made {file_system}, which is not asynchronous")
    from zarr.storage import FsspecStore

    return _of_zarr(FsspecStore(file_system, path=path))


def place_of(
    file_name: str | os.PathLike[str] | None,
    fs_factory: Callable[..., Any] | None,
    store: Any,
    store_kwargs: Mapping[str, Any],
) -> Place:
    """The place that the arguments of the constructor name."""
    if fs_factory is not None:
        warnings.warn(
            "fs_factory is deprecated: give the location as store instead, which is a path, "
            "a URL, or a store of zarr-python or obstore",
            FutureWarning,
            stacklevel=3,
        )
    if store is not None:
        if file_name is not None:
            warnings.warn(
                "file_name is ignored, as store is given", ZarrUserWarning, stacklevel=3
            )
        return _of_store(store, store_kwargs)
    if file_name is None:
        raise UsageError("where should the output go? Give store, or file_name")
    if fs_factory is not None:
        return _of_factory(fs_factory, os.fspath(file_name))
    return _of_store(file_name, store_kwargs)
