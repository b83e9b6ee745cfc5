"""Opening, saving and loading.

Modes: ``r`` reads what is there; ``r+`` reads and writes it; ``a`` makes it when it is
missing; ``w`` makes it anew, whatever is there; ``w-`` makes it and fails if it is there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from .array import Array
from .create import create_array, create_group
from .errors import NotFoundError, UsageError
from .group import Group
from .store import Promise, StoreLike, open_store

__all__ = [
    "create_array",
    "create_group",
    "load",
    "open",
    "open_array",
    "open_group",
    "save",
    "sweep",
]

_MODES = ("r", "r+", "a", "w", "w-")
_ARRAY = 2


def _check(mode: str) -> None:
    if mode not in _MODES:
        raise UsageError(f"mode {mode!r} is none of {', '.join(_MODES)}")


def open_array(
    store: StoreLike,
    mode: str = "r",
    path: str = "",
    *,
    zarr_format: int | None = None,
    promise: Promise | None = None,
    keep_empty: bool = False,
    **create: Any,
) -> Array:
    """Opens an array; `create` goes to :func:`create_array` where the mode makes one.

    `promise` is what a change means once its call has returned: "visible" to readers,
    "durable" through a loss of power, "verified" by reading it back. With `keep_empty`
    chunks that hold only the fill value are stored like others, so that presence means
    written; else they are left out. A call may ask for something else.
    """
    _check(mode)
    opened = open_store(store, mode)
    path = path.strip("/")
    if mode in ("r", "r+", "a"):
        try:
            return _core.open_array(
                Array, opened, path, zarr_format or 0, mode == "r", promise, keep_empty
            )
        except NotFoundError:
            if mode != "a" or not create:
                raise
    return create_array(
        opened,
        path=path,
        zarr_format=zarr_format,
        overwrite=mode == "w",
        promise=promise,
        keep_empty=keep_empty,
        **create,
    )


def open_group(
    store: StoreLike,
    mode: str = "r",
    path: str = "",
    *,
    zarr_format: int | None = None,
    attributes: dict[str, Any] | None = None,
    use_consolidated: bool = True,
    promise: Promise | None = None,
    keep_empty: bool = False,
) -> Group:
    """Opens a group, or makes one where the mode says so.

    It answers from consolidated metadata where it has them, unless `use_consolidated` is
    False. `promise` and `keep_empty` are those of its members; see :func:`open_array`.
    """
    _check(mode)
    opened = open_store(store, mode)
    path = path.strip("/")
    if mode in ("r", "r+", "a"):
        try:
            return _core.open_group(
                Group,
                opened,
                path,
                zarr_format or 0,
                mode == "r",
                use_consolidated,
                promise,
                keep_empty,
            )
        except NotFoundError:
            if mode != "a":
                raise
    return create_group(
        opened,
        path=path,
        attributes=attributes,
        zarr_format=zarr_format or 3,
        overwrite=mode == "w",
        promise=promise,
        keep_empty=keep_empty,
    )


def open(
    store: StoreLike,
    mode: str = "r",
    path: str = "",
    *,
    zarr_format: int | None = None,
    **more: Any,
) -> Array | Group:
    """Opens what is there. A mode that makes something makes an array if a shape or data
    is given, else a group. `more` goes to :func:`open_array` or :func:`open_group`."""
    _check(mode)
    opened = open_store(store, mode)
    path = path.strip("/")
    makes_array = not more.keys().isdisjoint(("shape", "data", "like"))
    if mode in ("r", "r+", "a"):
        kind = opened._kind(path, zarr_format or 0)
        as_array = kind == _ARRAY or (kind == 0 and makes_array)
    else:
        as_array = makes_array
    if as_array:
        return open_array(opened, mode, path, zarr_format=zarr_format, **more)
    return open_group(opened, mode, path, zarr_format=zarr_format, **more)


def sweep(store: StoreLike, path: str = "") -> int:
    """Removes what writers left below a path when they died; returns how much it was.

    Writers sweep as they go: this is for stores that nobody writes to any more.
    """
    return open_store(store, "r+").sweep(path.strip("/"))


def save(
    store: StoreLike,
    *arrays: npt.ArrayLike,
    path: str = "",
    zarr_format: int = 3,
    **named: npt.ArrayLike,
) -> None:
    """Saves one array, or several as a group: named ones, others as arr_0, arr_1, ...

    What is at the path is replaced.
    """
    if not arrays and not named:
        raise UsageError("nothing to save")
    if len(arrays) == 1 and not named:
        create_array(
            store, path=path, data=arrays[0], zarr_format=zarr_format, overwrite=True
        )
        return
    group = create_group(store, path=path, zarr_format=zarr_format, overwrite=True)
    for i, data in enumerate(arrays):
        group.create_array(f"arr_{i}", data=data)
    for name, data in named.items():
        group.create_array(name, data=data)


def load(
    store: StoreLike, path: str = ""
) -> npt.NDArray[Any] | dict[str, npt.NDArray[Any]]:
    """An array as a NumPy array; a group as a dictionary of the arrays of its level."""
    node = open(store, "r", path)
    if isinstance(node, Array):
        return np.asarray(node[...])
    return {name: np.asarray(array[...]) for name, array in node.arrays()}
