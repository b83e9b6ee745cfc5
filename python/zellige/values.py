"""What has to be true of values before a codec pipeline writes them.

zarr-python hands on values for which there are no places, and sorts selections by
chunks without keeping the order of values for the same element. Both are put right here,
whoever writes then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["check_fits", "in_order", "parts"]


def parts(selection: Any) -> tuple[Any, ...]:
    """One for each axis: a selection of one axis may stand alone."""
    return selection if isinstance(selection, tuple) else (selection,)


def check_fits(items: Sequence[Any], shape: tuple[int, ...]) -> None:
    """More or fewer values than places are an error, before anything is written. The last
    chunk has the ends of all slices."""
    last = parts(items[-1][3])
    if len(last) != len(shape):
        return
    for axis, (part, length) in enumerate(zip(last, shape)):
        if isinstance(part, slice):
            end = part.stop
        else:
            end = 1 + max(int(np.max(parts(item[3])[axis], initial=-1)) for item in items)
        if length not in (1, end):
            raise ValueError(f"{length} values along axis {axis} for {end} places")


def in_order(items: list[Any], dropped: tuple[int, ...]) -> list[Any]:
    """With lists in the order of their values: of several for one element the last stays."""
    if all(isinstance(part, slice) for part in parts(items[0][3])):
        return items
    return [_in_order(item, dropped) for item in items]


def _in_order(item: Any, dropped: tuple[int, ...]) -> Any:
    getter, spec, selection, place, is_whole = item
    wanted, places = list(parts(selection)), list(parts(place))
    is_points = not isinstance(place, tuple)
    axes = [
        axis
        for axis, part in enumerate(wanted)
        if axis not in dropped and not isinstance(part, (int, np.integer))
    ]
    for i, part in enumerate(places):
        if not isinstance(part, np.ndarray) or part.dtype == np.bool_:
            continue
        order = np.argsort(part, axis=None, kind="stable")
        places[i] = part.ravel()[order].reshape(part.shape)
        for axis in axes if is_points else axes[i : i + 1]:
            wanted[axis] = wanted[axis].ravel()[order].reshape(wanted[axis].shape)
    place = places[0] if is_points else tuple(places)
    return getter, spec, tuple(wanted), place, is_whole
