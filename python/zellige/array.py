"""Arrays: a handle with NumPy's ways of asking for parts of it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from .errors import UnsupportedError, UsageError
from .node import Node
from .report import Report, array_report
from .selection import (
    Blocks,
    Outer,
    Plan,
    Points,
    plan_blocks,
    plan_index,
    plan_outer,
    plan_points,
)
from .source import Encoder, as_array, as_objects, cast, encoder, pack
from .store import Promise, Store

__all__ = ["Array", "Indexer", "read_many", "write_many"]


class Indexer:
    """`array.oindex`, `array.vindex`, `array.blocks`: another meaning of the brackets."""

    __slots__ = ("_array", "_selection")

    def __init__(self, array: Array, selection: type[Outer | Points | Blocks]) -> None:
        self._array = array
        self._selection = selection

    def __getitem__(self, key: Any) -> Any:
        return self._array[self._selection(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[self._selection(key)] = value


def _reopen(
    store: Store,
    path: str,
    zarr_format: int,
    read_only: bool,
    promise: Promise,
    keep_empty: bool,
) -> Array:
    return _core.open_array(Array, store, path, zarr_format, read_only, promise, keep_empty)


class Array(_core.Array, Node):
    """An array of a store: a snapshot of its metadata, and its elements on request.

    ``array[...]`` takes integers, slices of any step, ``...`` and ``np.newaxis`` as NumPy
    does, lists or masks for one axis, integer arrays for all axes, and a mask of the whole.
    What is assigned is cast to the type of the array and repeated as NumPy does; an element
    that is named twice holds what came last.
    """

    # ------------------------------------------------------------------ elements

    @property
    def oindex(self) -> Indexer:
        """Picks along each axis by itself."""
        return Indexer(self, Outer)

    @property
    def vindex(self) -> Indexer:
        """Picks points: integer arrays that broadcast, or a mask of the whole array."""
        return Indexer(self, Points)

    @property
    def blocks(self) -> Indexer:
        """Picks chunks of the grid (shards where there are shards) by their numbers."""
        return Indexer(self, Blocks)

    def _plan(self, key: Any) -> Plan:
        """What the binding does not read itself."""
        if isinstance(key, Outer):
            return plan_outer(self.shape, key.key)
        if isinstance(key, Points):
            return plan_points(self.shape, key.key)
        if isinstance(key, Blocks):
            return plan_blocks(self._grid_shape, key.key)
        return plan_index(self.shape, key)

    def _from_items(self, items: list[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """Variable-length elements, str or bytes, as an array."""
        if self.dtype.kind == "T":
            return np.array(items, dtype=self.dtype).reshape(shape)
        if self._description[0] == "vlen_array":
            part = self._part_dtype
            items = [np.frombuffer(item, part).copy() for item in items]
        result = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):  # at once, NumPy would look into the items
            result[i] = item
        return result.reshape(shape)

    @staticmethod
    def _cast(value: Any, dtype: np.dtype[Any]) -> tuple[npt.NDArray[Any], bool]:
        """A value to write in the type of the array, perhaps of the other byte order."""
        return cast(value, dtype)

    @staticmethod
    def _packed(source: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
        return np.ascontiguousarray(np.broadcast_to(source, shape))

    def _pack(
        self, value: Any, shape: tuple[int, ...], may_be_one: bool
    ) -> tuple[bytes, npt.NDArray[np.int64]]:
        """A value to write where elements are of variable length: bytes and offsets."""
        source = as_objects(value, len(shape), self._description[0])
        return pack(source, shape, self._encoder, may_be_one)

    @cached_property
    def _encoder(self) -> Encoder:
        name = self._description[0]
        return encoder(name, self._part_dtype if name == "vlen_array" else None)

    @cached_property
    def _part_dtype(self) -> np.dtype[Any]:
        from .dtype import numpy_dtype

        _, part, _, unit, scale, fields = self._description
        return numpy_dtype((part, part, 0, unit, scale, fields))

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("elements are read into new memory: copy=False cannot be had")
        result = np.asarray(self[...])
        return result if dtype is None else result.astype(dtype, copy=False)

    def __dlpack__(self, **keywords: Any) -> Any:
        asked = {name: value for name, value in keywords.items() if value is not None}
        return np.asarray(self[...]).__dlpack__(**asked)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # memory of the CPU

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        """The rows along the first axis, read a chunk at a time."""
        n, step = len(self), max(1, self._chunk_shape[0])
        for start in range(0, n, step):
            yield from self[start : start + step]

    def fill(
        self,
        value: Any = None,
        selection: Any = ...,
        *,
        promise: Promise | None = None,
        keep_empty: bool | None = None,
        timeout: float | None = None,
    ) -> None:
        """Puts one value everywhere in a selection; None is the fill value, which removes
        what is stored there."""
        if value is None:
            self._clear(selection, promise, keep_empty, timeout)
            return
        if self.dtype.kind in "OT":
            one = as_objects(value, 0, self._description[0])
        else:
            one = as_array(value, self.dtype)
        if one.ndim != 0:
            raise UsageError(f"a value of shape {one.shape} is not one element")
        self.write(one, selection, promise=promise, keep_empty=keep_empty, timeout=timeout)

    def explain(
        self, selection: Any = ..., *, resolve: bool = False, max_objects: int = 1000
    ) -> dict[str, Any]:
        """The plan of a read: objects, how they are fetched and placed. Reads no data."""
        plan: dict[str, Any] = json.loads(self._explain(selection, resolve, max_objects))
        return plan

    # ------------------------------------------------------------------ change over time

    def refresh(self) -> None:
        """Takes the metadata as they are stored now: a shape or attributes that another
        object or process has changed."""
        self._refresh()
        self._forget()

    def resize(
        self,
        shape: int | Sequence[int],
        *,
        promise: Promise | None = None,
        timeout: float | None = None,
    ) -> None:
        """Gives the array another shape, and this object too; other objects keep theirs
        until they are refreshed.

        What is added holds the fill value; what falls away is removed, and does not come
        back when the array grows.
        """
        sides = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
        self._resize(sides, promise, timeout)
        self._forget()
        self._changed()

    def append(
        self,
        data: Any,
        axis: int = 0,
        *,
        promise: Promise | None = None,
        keep_empty: bool | None = None,
        timeout: float | None = None,
    ) -> tuple[int, ...]:
        """Adds data behind the end of an axis; returns the new shape.

        The data come first and then the shape, so that a reader sees all of them or none.
        """
        axis = _axis(axis, self.ndim)
        if self.dtype.kind in "OT":
            source = as_objects(data, self.ndim, self._description[0])
        else:
            source = as_array(data, self.dtype)
        if source.ndim != self.ndim:
            raise UsageError(f"data of {source.ndim} axes for an array of {self.ndim}")
        self._append(source, source.shape, axis, promise, keep_empty, timeout)
        self._forget()
        self._changed()
        return self.shape

    def _forget(self) -> None:
        super()._forget()
        for name in ("codecs", "_part_dtype", "_encoder"):
            self.__dict__.pop(name, None)

    # ------------------------------------------------------------------ facts

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory; those of variable length as references."""
        return self.size * self.dtype.itemsize

    @property
    def chunks(self) -> tuple[int, ...]:
        """Shape of the smallest piece that is read: of an inner chunk in a shard."""
        if self._is_rectilinear and not self._is_sharded:
            raise UnsupportedError(
                "chunks differ in a rectilinear grid: see read_chunk_sizes"
            )
        return self._chunk_shape

    @property
    def shards(self) -> tuple[int, ...] | None:
        """Shape of a shard, or None."""
        return self._object_shape if self._is_sharded else None

    @property
    def write_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Lengths of the chunks of the grid along each axis, cut at the array's end."""
        return tuple(_cut(self._edges(axis), n) for axis, n in enumerate(self.shape))

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The same of the smallest pieces that are read."""
        if not self._is_sharded:
            return self.write_chunk_sizes
        return tuple(
            _cut((c,) * -(-n // c) if c else (), n)
            for c, n in zip(self._chunk_shape, self.shape)
        )

    @property
    def nchunks(self) -> int:
        """Number of chunks; of inner chunks where there are shards."""
        if not self._is_sharded:
            return math.prod(self._grid_shape)
        return math.prod(-(-n // c) for n, c in zip(self.shape, self._chunk_shape))

    def nbytes_stored(self) -> int:
        """Bytes of all stored chunks. Lists the store."""
        return self._stored()[1]

    @cached_property
    def codecs(self) -> Any:
        """The codecs as written: a list, or filters and compressor of version 2."""
        return json.loads(self._codecs())

    @property
    def zarr_dtype(self) -> Any:
        """The data type as written: a name or a JSON object."""
        return self.metadata["data_type" if self.zarr_format == 3 else "dtype"]

    @property
    def fill_value(self) -> Any:
        """The value of what was never written; None where version 2 leaves it open."""
        if self.zarr_format == 2 and self.metadata.get("fill_value") is None:
            return None
        name, fill = self._description[0], self._fill
        if name == "string":
            return fill.decode()
        if name == "bytes":
            return fill
        if name == "vlen_array":
            return np.frombuffer(fill, self._part_dtype)
        if not fill:  # texts of no characters
            return np.zeros((), self.dtype)[()]
        return np.frombuffer(fill, self.dtype)[0]

    @property
    def info(self) -> Report:
        """A report for people."""
        return array_report(self)

    def __repr__(self) -> str:
        return f"<zellige.Array {self.store_path} shape={self.shape} dtype={self.dtype}>"

    def _repr_html_(self) -> str:
        from .notebook import array_html

        return array_html(self)

    def plot(self, selection: Any = ..., ax: Any = None, **style: Any) -> Any:
        """Draws a selection that leaves one axis, as a line, or two, as a map.

        It needs matplotlib and returns the axes drawn on: `ax`, or new ones. Axes are drawn
        over the arrays beside this one that have their names. Missing elements leave gaps:
        NaN, what the attributes ``_FillValue`` and ``missing_value`` say, and the fill value
        unless it is zero. `style` goes to ``Axes.plot`` or ``Axes.pcolormesh``.
        """
        from .plotting import plot

        return plot(self, selection, ax, style)

    def __reduce__(self) -> tuple[Any, ...]:
        place = self.store, self.path, self.zarr_format
        return _reopen, (*place, self.read_only, self.promise, self.keep_empty)


def _axis(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise UsageError(f"no axis {axis} in an array of {ndim} axes")
    return axis % ndim


def _cut(edges: tuple[int, ...], length: int) -> tuple[int, ...]:
    """Lengths of chunks whose last may reach past the end."""
    sizes: list[int] = []
    at = 0
    for edge in edges:
        sizes.append(min(edge, length - at))
        at += edge
    return tuple(sizes)


def read_many(
    reads: Any,
    out: Any = None,
    *,
    timeout: float | None = None,
    missing_is_error: bool = False,
) -> list[Any]:
    """Reads ``[(array, selection), ...]`` in one call that shares the work.

    Each object is opened once and each chunk decoded once, however many selections fall
    into it. `out` is a list of arrays to fill, or None for new ones.
    """
    outs = None if out is None else list(out)
    return _core.read_many(list(reads), outs, timeout, missing_is_error)


def write_many(
    writes: Any,
    *,
    promise: Promise | None = None,
    keep_empty: bool | None = None,
    timeout: float | None = None,
) -> None:
    """Writes ``[(array, selection, value), ...]`` in one call that shares the work.

    Each object is stored once, however many of the writes fall into it; where they overlap
    the last one counts. What is left out is as the first array was opened.
    """
    _core.write_many(list(writes), promise, keep_empty, timeout)
