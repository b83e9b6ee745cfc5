"""Selections beyond NumPy's basic indexing, made into plans for the binding.

A plan is ``(kind, parts, shape)``. Parts of a box are, for each axis, ``(start, step,
count)``, an int64 array, or an integer, whose axis the result lacks; points have an int64
array per axis; a mask is one array of bytes; blocks have ``(start, 1, count)`` per axis and
a shape that the engine tells.
"""

from __future__ import annotations

import operator
import sys
from types import EllipsisType
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import RangeError, SelectionError

__all__ = [
    "Blocks",
    "Outer",
    "Plan",
    "Points",
    "box_of",
    "claim_of",
    "plan_blocks",
    "plan_index",
    "plan_outer",
    "plan_points",
]

BOX, POINTS, MASK, BLOCKS = range(4)
Plan = tuple[int, Any, "tuple[int, ...] | None"]
Shape = tuple[int, ...]
Indices = npt.NDArray[np.int64]


class _Selection:
    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key!r})"


class Outer(_Selection):
    """Each axis is picked by itself: integers, slices, lists, masks of one axis."""


class Points(_Selection):
    """Integer arrays that broadcast against each other, or one mask of the whole array."""


class Blocks(_Selection):
    """Chunks of the grid (shards where there are shards) by their numbers."""


# ---------------------------------------------------------------------- items of a key


def _expand(key: Any, ndim: int) -> list[Any]:
    """One item for each axis."""
    items = list(key) if isinstance(key, tuple) else [key]
    places = [i for i, item in enumerate(items) if isinstance(item, EllipsisType)]
    if len(places) > 1:
        raise SelectionError("an index can only have a single ellipsis ('...')")
    if any(item is None for item in items):
        raise SelectionError("newaxis does not go with lists, masks or blocks")
    at = places[0] if places else len(items)
    rest = items[at + 1 :]
    missing = ndim - at - len(rest)
    if missing < 0:
        n = at + len(rest)
        raise SelectionError(
            f"too many indices: the array has {ndim} axes, {n} were indexed"
        )
    return items[:at] + [slice(None)] * missing + rest


def _is_list(item: Any) -> bool:
    """True for what picks several positions of its own: a list, an array with an axis."""
    if isinstance(item, (list, tuple, range)):
        return True
    if isinstance(item, (slice, int, np.generic, str, bytes)):
        return False
    return hasattr(item, "__array__") and np.ndim(item) > 0


def _position(item: Any, length: int, axis: int) -> int:
    if isinstance(item, (bool, np.bool_)):
        raise SelectionError("True and False are no positions")
    try:
        i = operator.index(item)
    except TypeError:
        raise SelectionError(
            f"an index is an integer, a slice, a list or an array, not {item!r}"
        ) from None
    if not -length <= i < length:
        raise RangeError(
            f"index {i} is out of bounds for axis {axis} with {length} elements"
        )
    return i + length if i < 0 else i


def _slice(item: slice, length: int) -> tuple[int, int, int]:
    start, stop, step = item.indices(length)
    count = len(range(start, stop, step))
    return (start, step, count) if count > 1 else (start if count else 0, 1, count)


def _positions(item: Any, length: int, axis: int) -> Indices:
    """Integers of any shape, counted from 0. A fresh array, so that nobody changes it."""
    found = np.asarray(item)
    if found.size == 0 and found.dtype.kind == "f":
        return np.empty(found.shape, np.int64)  # an empty list
    if found.dtype.kind not in "iu":
        raise SelectionError(
            f"arrays used as indices hold integers or booleans, not {found.dtype}"
        )
    if found.size == 0:
        return np.empty(found.shape, np.int64)
    low, high = found.min(), found.max()  # before narrowing: uint64 would wrap
    if low < -length or high >= length:
        bad = int(low if low < -length else high)
        raise RangeError(
            f"index {bad} is out of bounds for axis {axis} with {length} elements"
        )
    result = found.astype(np.int64, order="C")
    if low < 0:
        result[result < 0] += length
    return result


def _of_axis(item: Any, length: int, axis: int) -> Indices:
    """The positions that a list or a mask picks along one axis."""
    found = np.asarray(item)
    if found.ndim != 1:
        raise SelectionError("a list of indices has one dimension; see vindex for more")
    if found.dtype != np.bool_:
        return _positions(found, length, axis)
    if len(found) != length:
        raise SelectionError(f"a mask of {len(found)} does not fit axis {axis} of {length}")
    return np.flatnonzero(found).astype(np.int64, copy=False)


def box_of(shape: Shape, key: Any) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
    """Where a box begins, and how long it is along each axis: None for one that an integer
    picks from. Anything but integers, slices of step 1 and an ellipsis is refused."""
    start: list[int] = []
    count: list[int | None] = []
    for axis, (item, length) in enumerate(zip(_expand(key, len(shape)), shape)):
        if isinstance(item, slice):
            begin, step, n = _slice(item, length)
            if step != 1:
                raise SelectionError(f"a writer takes slices of step 1, not {step}")
            start.append(begin)
            count.append(n)
        elif _is_list(item):
            raise SelectionError(
                f"a writer takes integers and slices, not {type(item).__name__}"
            )
        else:
            start.append(_position(item, length, axis))
            count.append(None)
    return tuple(start), tuple(count)


def claim_of(shape: Shape, key: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The same of a box that is claimed: one that lies behind the array is refused, an empty
    one is the share of somebody who has none."""
    start, count = box_of(shape, key)
    items = _expand(key, len(shape))
    for axis, (item, length, n) in enumerate(zip(items, shape, count)):
        if n == 0 and length > 0 and len(range(*item.indices(sys.maxsize))) > 0:
            raise RangeError(
                f"a claim of {item} is beyond axis {axis} with {length} elements"
            )
    return start, tuple(1 if n is None else n for n in count)


# ---------------------------------------------------------------------- plans


def plan_outer(shape: Shape, key: Any) -> Plan:
    """Each axis by itself; an integer drops its axis."""
    parts: list[Any] = []
    result: list[int] = []
    for axis, (item, length) in enumerate(zip(_expand(key, len(shape)), shape)):
        if isinstance(item, slice):
            parts.append(_slice(item, length))
            result.append(parts[-1][2])
        elif _is_list(item):
            parts.append(_of_axis(item, length, axis))
            result.append(len(parts[-1]))
        else:
            parts.append(_position(item, length, axis))
    return BOX, tuple(parts), tuple(result)


def _plan_mask(shape: Shape, mask: npt.NDArray[np.bool_]) -> Plan:
    if mask.shape != shape:
        raise SelectionError(
            f"a mask of shape {mask.shape} does not fit an array of {shape}"
        )
    return MASK, np.ascontiguousarray(mask).view(np.uint8), (int(np.count_nonzero(mask)),)


def plan_points(shape: Shape, key: Any) -> Plan:
    """One position for each element of the result."""
    items = key if isinstance(key, tuple) else (key,)
    if len(items) == 1 and np.asarray(items[0]).dtype == np.bool_:
        return _plan_mask(shape, np.asarray(items[0]))
    if any(isinstance(i, (slice, EllipsisType)) or i is None for i in items):
        raise SelectionError("vindex takes integers and integer arrays, or one mask")
    if len(items) != len(shape):
        raise SelectionError(
            f"points need {len(shape)} coordinates, {len(items)} were given"
        )
    found = [_positions(item, n, axis) for axis, (item, n) in enumerate(zip(items, shape))]
    together = np.broadcast_arrays(*found)
    parts = tuple(np.ascontiguousarray(one).reshape(-1) for one in together)
    return POINTS, parts, together[0].shape if together else ()


def plan_blocks(grid: Shape, key: Any) -> Plan:
    """Whole chunks of the grid; an integer keeps its axis."""
    parts: list[tuple[int, int, int]] = []
    for axis, (item, length) in enumerate(zip(_expand(key, len(grid)), grid)):
        if isinstance(item, slice):
            if item.step not in (None, 1):
                raise SelectionError("slices of blocks have a step of 1")
            parts.append(_slice(item, length))
        else:
            parts.append((_position(item, length, axis), 1, 1))
    return BLOCKS, tuple(parts), None


def plan_index(shape: Shape, key: Any) -> Plan:
    """`array[key]` with lists or masks in the key.

    Arrays for all axes are points, as in NumPy. One list among integers and slices picks
    along its axis. Whatever could be read in two ways is refused.
    """
    if not isinstance(key, tuple) and _is_list(key):
        found = np.asarray(key)
        if found.dtype == np.bool_ and found.ndim == len(shape):
            return _plan_mask(shape, found)
    items = _expand(key, len(shape))
    lists = [np.asarray(item) for item in items if _is_list(item)]
    masks = [item for item in lists if item.dtype == np.bool_]
    if lists and not masks and not any(isinstance(item, slice) for item in items):
        return plan_points(shape, tuple(items))
    if len(lists) <= 1 or len(lists) == len(shape):
        return plan_outer(shape, tuple(items))
    raise SelectionError("several lists beside slices: say oindex or vindex")
