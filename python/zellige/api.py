"""Opening, saving and loading.

Modes: ``r`` reads what is there; ``r+`` reads and writes it; ``a`` makes it when it is
missing, and opens what somebody else makes at the same time; ``w`` makes it anew, whatever is there; ``w-`` makes it and fails if it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from . import _core
from .array import Array
from .config import ArrayConfigLike, array_config
from .create import create_array, create_group
from .errors import ExistsError, NotFoundError, UnsupportedError, UsageError
from .group import Group, consolidate
from .making import told_keywords
from .report import Report
from .store import Promise, Store, StoreLike, leaves_nothing, open_place, open_store
from .watching import Progress

__all__ = [
    "consolidate_metadata",
    "group",
    "load",
    "open",
    "open_array",
    "open_consolidated",
    "open_group",
    "open_like",
    "save",
    "save_array",
    "save_group",
    "sweep",
    "tree",
]

_MODES = ("r", "r+", "a", "w", "w-")
_ARRAY = 2
_Node = TypeVar("_Node", Array, Group)


def _check(mode: str) -> None:
    if mode not in _MODES:
        raise UsageError(f"mode {mode!r} is none of {', '.join(_MODES)}")


def _make_or_open(make: Callable[[], _Node], there: Callable[[], _Node]) -> _Node:
    """Makes what was missing a moment ago; where somebody else has meanwhile, opens that."""
    try:
        return make()
    except ExistsError:
        with suppress(NotFoundError):
            return there()
        raise


@leaves_nothing
def open_array(
    store: StoreLike = None,
    mode: str | None = None,
    path: str | None = None,
    *,
    zarr_format: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    config: ArrayConfigLike = None,
    promise: Promise | None = None,
    keep_empty: bool | None = None,
    **create: Any,
) -> Array:
    """Opens an array; `create` goes to :func:`create_array` where the mode makes one.

    Without a mode it opens what is there, for reading and writing.

    `promise` is what a change means once its call has returned: "visible" to readers,
    "durable" through a loss of power, "verified" by reading it back. With `keep_empty`
    chunks that hold only the fill value are stored like others, so that presence means
    written; else they are left out. A call may ask for something else. `config` says that
    too, and whether chunks may be missing: see :class:`ArrayConfig`.
    """
    mode = mode or "r+"
    _check(mode)
    opened, path = open_place(store, path, mode, storage_options)
    use = array_config(config)
    if keep_empty is None:
        keep_empty = create.pop("write_empty_chunks", None)
    keeps = use.write_empty_chunks if keep_empty is None else keep_empty

    def there() -> Array:
        array = _core.open_array(
            Array, opened, path, zarr_format or 0, mode == "r", promise, keeps
        )
        return array if use.read_missing_chunks else array._with_ways(keeps, True)

    if mode in ("r", "r+", "a"):
        try:
            return there()
        except NotFoundError:
            if mode != "a" or not create:
                raise
    told = told_keywords({**create, "mode": mode})
    if "dtype" not in told and told.keys().isdisjoint(("data", "like")):
        told["dtype"] = np.float64

    def make() -> Array:
        return create_array(
            opened,
            path=path,
            zarr_format=zarr_format,
            promise=promise,
            keep_empty=keeps,
            config=use,
            **told,
        )

    return _make_or_open(make, there) if mode == "a" else make()


@leaves_nothing
def open_group(
    store: StoreLike = None,
    mode: str | None = None,
    path: str | None = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
    zarr_format: int | None = None,
    attributes: dict[str, Any] | None = None,
    use_consolidated: bool | str | None = None,
    promise: Promise | None = None,
    keep_empty: bool | None = None,
    **idle: Any,
) -> Group:
    """Opens a group, or makes one where the mode says so.

    Without a mode it is "a", or "r" for a store that is for reading only.

    It answers from consolidated metadata where it has them, unless `use_consolidated` is
    False; True insists on them. `promise` and `keep_empty` are those of its members; see
    :func:`open_array`.
    """
    if told_keywords(idle):
        raise TypeError(f"a group has no {sorted(idle)[0]!r}")
    mode = mode or ("r" if isinstance(store, Store) and store.read_only else "a")
    _check(mode)
    if isinstance(use_consolidated, str) and use_consolidated != ".zmetadata":
        raise UnsupportedError(
            "consolidated metadata of version 2 are looked for in .zmetadata"
        )
    opened, path = open_place(store, path, mode, storage_options)
    use = array_config()
    keeps = use.write_empty_chunks if keep_empty is None else keep_empty

    def there() -> Group:
        found = _core.open_group(
            Group,
            opened,
            path,
            zarr_format or 0,
            mode == "r",
            use_consolidated is not False,
            promise,
            keeps,
        )
        if use_consolidated and not found.is_consolidated:
            raise UsageError(f"{found.store_path} has no consolidated metadata")
        return found if use.read_missing_chunks else found._with_ways(keeps, True)

    def make() -> Group:
        return create_group(
            opened,
            path=path,
            attributes=attributes,
            zarr_format=zarr_format,
            overwrite=mode == "w",
            promise=promise,
            keep_empty=keeps,
        )

    if mode in ("r", "r+", "a"):
        try:
            return there()
        except NotFoundError:
            if mode != "a":
                raise
    return _make_or_open(make, there) if mode == "a" else make()


def open_consolidated(
    *args: Any, use_consolidated: Literal[True] = True, **keywords: Any
) -> Group:
    """Opens a group that has consolidated metadata, as :func:`open_group` does."""
    if use_consolidated is not True:
        raise TypeError("open_consolidated takes consolidated metadata: see open_group")
    return open_group(*args, use_consolidated=True, **keywords)


def group(
    store: StoreLike = None,
    *,
    overwrite: bool = False,
    path: str | None = None,
    zarr_format: int | None = None,
    attributes: dict[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **idle: Any,
) -> Group:
    """Opens a group, or makes it when it is missing, or anew with `overwrite`."""
    return open_group(
        store,
        "w" if overwrite else "a",
        path,
        zarr_format=zarr_format,
        attributes=attributes,
        storage_options=storage_options,
        **idle,
    )


@leaves_nothing
def open(
    store: StoreLike = None,
    mode: str | None = None,
    path: str | None = None,
    *,
    zarr_format: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **more: Any,
) -> Array | Group:
    """Opens what is there. A mode that makes something makes an array if a shape or data
    is given, else a group. `more` goes to :func:`open_array` or :func:`open_group`.

    Without a mode it opens what is there, for reading and writing, and makes an array when
    one is missing and a shape or data is given.
    """
    makes_array = not more.keys().isdisjoint(("shape", "data", "like"))
    mode = mode or ("a" if makes_array else "r+")
    _check(mode)
    opened, path = open_place(store, path, mode, storage_options)
    if mode in ("r", "r+", "a"):
        kind = opened._kind(path, zarr_format or 0)
        as_array = kind == _ARRAY or (kind == 0 and makes_array)
    else:
        as_array = makes_array
    if as_array:
        return open_array(opened, mode, path, zarr_format=zarr_format, **more)
    if more.get("config") is not None:
        raise TypeError(f"{opened.root or opened.label + ':'}/{path} is a group: it has no config")
    more.pop("config", None)
    return open_group(opened, mode, path, zarr_format=zarr_format, **more)


def open_like(a: Any, path: str, **keywords: Any) -> Array:
    """Opens an array, or makes it like another when it is missing. `path` is a place in
    `store`, or a directory if no store is given."""
    place = (keywords.pop("store"), path) if "store" in keywords else (path, "")
    if isinstance(a, Array):
        keywords.setdefault("like", a)
    else:
        keywords.setdefault("shape", np.shape(a))
        keywords.setdefault("dtype", getattr(a, "dtype", None))
    return open_array(place[0], keywords.pop("mode", "a"), place[1], **keywords)


def consolidate_metadata(
    store: StoreLike,
    path: str | None = None,
    zarr_format: int | None = None,
    *,
    promise: Promise | None = None,
    python_tokens: bool = False,
) -> Group:
    """Writes the consolidated metadata of a group, or writes them anew; returns it.
    `python_tokens` as in :meth:`Group.consolidate`."""
    opened, place = open_place(store, path, "r+")
    if zarr_format is not None:
        open_group(opened, "r+", place, zarr_format=zarr_format)
    return consolidate(opened, place, promise=promise, python_tokens=python_tokens)


def tree(
    grp: Group, expand: bool | None = None, level: int | None = None, **keywords: Any
) -> Report:
    """The members of a group, drawn as a tree; see :func:`Group.tree`."""
    return grp.tree(expand, level, **keywords)


def sweep(store: StoreLike, path: str = "") -> int:
    """Removes what writers left below a path when they died; returns how much it was.

    Writers sweep as they go: this is for stores that nobody writes to any more.
    """
    opened, place = open_place(store, path, "r+")
    return opened.sweep(place)


# ---------------------------------------------------------------------- save and load


def save_array(
    store: StoreLike,
    arr: npt.ArrayLike,
    *,
    zarr_format: int | None = None,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **keywords: Any,
) -> None:
    """Saves an array; `keywords` go to :func:`create_array`. What is there is replaced."""
    create_array(
        store,
        path=path,
        data=arr,
        zarr_format=zarr_format,
        storage_options=storage_options,
        progress=progress,
        **told_keywords({"overwrite": True, **keywords}),
    )


def save_group(
    store: StoreLike,
    *arrays: npt.ArrayLike,
    zarr_format: int | None = None,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **named: npt.ArrayLike,
) -> None:
    """Saves arrays as a group: named ones, others as arr_0, arr_1, ... What is there is
    replaced. `progress` is told of each array by itself."""
    if not arrays and not named:
        raise UsageError("nothing to save")
    opened, place = open_place(store, path, "w", storage_options)
    made = create_group(opened, path=place, zarr_format=zarr_format, overwrite=True)
    members = {f"arr_{i}": data for i, data in enumerate(arrays)} | named
    for name, data in members.items():
        made.create_array(name, data=data, progress=progress)


def save(
    store: StoreLike,
    *arrays: npt.ArrayLike,
    zarr_format: int | None = None,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **named: npt.ArrayLike,
) -> None:
    """Saves one array, or several as a group; see :func:`save_array`, :func:`save_group`."""
    if len(arrays) == 1 and not named:
        save_array(
            store,
            arrays[0],
            zarr_format=zarr_format,
            path=path,
            storage_options=storage_options,
            progress=progress,
        )
        return
    save_group(
        store,
        *arrays,
        zarr_format=zarr_format,
        path=path,
        storage_options=storage_options,
        progress=progress,
        **named,
    )


def load(
    store: StoreLike, path: str | None = None, zarr_format: int | None = None
) -> npt.NDArray[Any] | dict[str, npt.NDArray[Any]]:
    """An array as a NumPy array; a group as a dictionary of the arrays of its level."""
    node = open(store, "r", path, zarr_format=zarr_format)
    if isinstance(node, Array):
        return np.asarray(node[...])
    return {name: np.asarray(array[...]) for name, array in node.arrays()}
