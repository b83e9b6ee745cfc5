"""Arrays: a handle with NumPy's ways of asking for parts of it."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from .apart import apart, apart_if, on_main_thread
from .choosing import Choosing
from .coding import as_codec, split
from .errors import UnsupportedError, UsageError
from .layout import shape_of
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
from .standard import Standard
from .store import Promise, Store, StoreLike
from .watching import Progress

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
    missing_is_error: bool,
) -> Array:
    array = _core.open_array(
        Array, store, path, zarr_format, read_only, promise, keep_empty
    )
    return array._with_ways(keep_empty, True) if missing_is_error else array


class Array(Choosing, Standard, Node):
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
        if self._description[0] != "vlen_array":
            result = np.empty(len(items), self.dtype)
            step = 100_000  # in between, Ctrl-C is heard
            for i in range(0, len(items), step):
                # In two steps it is faster.
                result[i : i + step] = np.array(items[i : i + step], dtype=object)
            return result.reshape(shape)
        result = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):  # at once, NumPy would look into the items
            result[i] = np.frombuffer(item, self._part_dtype).copy()
        return result.reshape(shape)

    @staticmethod
    def _cast(value: Any, dtype: np.dtype[Any]) -> tuple[npt.NDArray[Any], bool]:
        """A value to write in the type of the array, perhaps of the other byte order."""
        return cast(value, dtype)

    @staticmethod
    def _packed(source: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
        return np.ascontiguousarray(np.broadcast_to(source, shape))

    def _read_apart(
        self,
        selection: Any,
        out: Any,
        timeout: float | None,
        missing_is_error: bool,
        progress: Progress | None,
        transform: Callable[[tuple[int, ...], Any], Any] | None,
        raw: bool | None,
    ) -> Any:
        return apart(
            self.read,
            selection,
            out,
            within=timeout,
            timeout=timeout,
            missing_is_error=missing_is_error,
            progress=progress,
            transform=transform,
            raw=raw or False,
        )

    def _write_apart(
        self,
        selection: Any,
        value: Any,
        promise: Promise | None,
        keep_empty: bool | None,
        timeout: float | None,
        progress: Progress | None,
    ) -> None:
        apart(
            self.write,
            value,
            selection,
            within=timeout,
            promise=promise,
            keep_empty=keep_empty,
            timeout=timeout,
            progress=progress,
        )

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

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        """The rows along the first axis, read a chunk at a time."""
        n, step = len(self), max(1, self._chunk_shape[0])
        for start in range(0, n, step):
            yield from self[start : start + step]

    # ------------------------------------------------------------------ without waiting

    async def read_async(
        self,
        selection: Any = ...,
        out: Any = None,
        *,
        timeout: float | None = None,
        missing_is_error: bool | None = None,
        progress: Progress | None = None,
        transform: Callable[[tuple[int, ...], Any], Any] | None = None,
        raw: bool = False,
    ) -> Any:
        """Reads as :func:`read` does, in a thread, while the event loop goes on. When it is
        cancelled, `out` is free: nothing is put there after the exception has come."""
        from .waiting import apart_async, in_thread

        leaves = transform is not None or self._goes_apart(timeout)
        make = partial(apart_async, within=timeout) if leaves else in_thread
        return await make(
            self.read,
            selection,
            out,
            timeout=timeout,
            missing_is_error=missing_is_error,
            progress=progress,
            transform=transform,
            raw=raw,
        )

    async def write_async(
        self,
        value: Any,
        selection: Any = ...,
        *,
        promise: Promise | None = None,
        keep_empty: bool | None = None,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Writes as :func:`write` does, in a thread, while the event loop goes on."""
        from .waiting import apart_async, in_thread

        leaves = self._goes_apart(timeout)
        make = partial(apart_async, within=timeout) if leaves else in_thread
        await make(
            self.write,
            value,
            selection,
            promise=promise,
            keep_empty=keep_empty,
            timeout=timeout,
            progress=progress,
        )

    async def __aiter__(self) -> AsyncIterator[Any]:
        """The rows along the first axis, while the next chunk is read."""
        from .waiting import read_each

        n, step = len(self), max(1, self._chunk_shape[0])
        parts = ((self, slice(i, i + step)) for i in range(0, n, step))
        async for part in read_each(parts, ahead=1):
            for row in part:
                yield row

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
            apart_if(
                self._goes_apart(timeout),
                lambda cancel: self._clear(selection, promise, keep_empty, timeout, cancel),
                timeout,
            )
            return
        if self.dtype.kind in "OT":
            one = as_objects(value, 0, self._description[0])
        else:
            one = as_array(value, self.dtype)
        if one.ndim != 0:
            raise UsageError(f"a value of shape {one.shape} is not one element")
        if one.dtype.kind != "O" and one.dtype == self.dtype and one.tobytes() == self._fill:
            self.fill(None, selection, promise=promise, keep_empty=keep_empty, timeout=timeout)
            return
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
        new_shape: int | Sequence[int],
        *,
        promise: Promise | None = None,
        timeout: float | None = None,
    ) -> None:
        """Gives the array another shape, and this object too; other objects keep theirs
        until they are refreshed.

        What is added holds the fill value; what falls away is removed, and does not come
        back when the array grows.
        """
        shape = shape_of(new_shape)
        apart_if(
            self._goes_apart(timeout),
            lambda cancel: self._resize(shape, promise, timeout, cancel),
            timeout,
        )
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

        def run(cancel: Any = None) -> None:
            self._append(
                source, source.shape, axis, promise, keep_empty, timeout, cancel
            )

        apart_if(self._goes_apart(timeout), run, timeout)
        self._forget()
        self._changed()
        return self.shape

    def _forget(self) -> None:
        super()._forget()
        for name in ("codecs", "_part_dtype", "_encoder"):
            self.__dict__.pop(name, None)

    # ------------------------------------------------------------------ facts

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
    def cdata_shape(self) -> tuple[int, ...]:
        """Number of chunks along each axis; of inner chunks where there are shards."""
        if not self._is_sharded:
            return self._grid_shape
        return tuple(-(-n // c) for n, c in zip(self.shape, self._chunk_shape))

    @property
    def nchunks(self) -> int:
        """Number of chunks; of inner chunks where there are shards."""
        return math.prod(self.cdata_shape)

    @property
    def nchunks_initialized(self) -> int:
        """Number of chunks that are stored; a shard counts for all of its inner chunks, as
        in zarr-python. Lists the store."""
        if not self._is_sharded:
            return self._stored()[0]
        if not self._is_rectilinear:
            return self._stored()[0] * _ratio(self._object_shape, self._chunk_shape)
        plan = self.explain(resolve=True, max_objects=-1)
        return sum(
            one["chunks"] + one["empty"] for one in plan["objects"] if "n_bytes" in one
        )

    def nbytes_stored(self) -> int:
        """Bytes of all stored chunks. Lists the store."""
        return self._stored()[1]

    @cached_property
    def codecs(self) -> Any:
        """The codecs as written: a list, or filters and compressor of version 2."""
        return json.loads(self._codecs())

    @property
    def filters(self) -> tuple[Any, ...]:
        """Codecs that come before the one that makes bytes: of :mod:`zellige.codecs`, or as
        JSON where that has none."""
        return tuple(map(as_codec, split(self.codecs)[0]))

    @property
    def serializer(self) -> Any:
        """The codec that makes bytes of elements; None in version 2."""
        found = split(self.codecs)[1]
        return None if found is None else as_codec(found)

    @property
    def compressors(self) -> tuple[Any, ...]:
        """Codecs that come after the one that makes bytes."""
        return tuple(map(as_codec, split(self.codecs)[2]))

    @property
    def compressor(self) -> Any:
        """The compressor of version 2, or None."""
        if self.zarr_format != 2:
            raise TypeError("version 3 has compressors, not a compressor")
        return next(iter(self.compressors), None)

    @property
    def order(self) -> str:
        """The order of elements in the chunks of version 2. What is read is in C order."""
        return self._order

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

    def _elements(self, zarr_format: int | None) -> Any:
        """The type of the elements, in words of a version."""
        name = self._description[0]
        if name in ("string", "bytes"):
            return name
        same = self.zarr_format == (zarr_format or self.zarr_format)
        return self.zarr_dtype if same else self.dtype

    @property
    def info(self) -> Report:
        """A report for people."""
        return array_report(self)

    def info_complete(self) -> Report:
        """The same with what is stored. Lists the store."""
        return array_report(self, self._stored())

    @staticmethod
    def open(store: StoreLike, **keywords: Any) -> Array:
        """Opens an array; see :func:`zellige.open_array`."""
        from .api import open_array

        return open_array(store, **keywords)

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
        ways = self.read_only, self.promise, self.keep_empty, self.missing_is_error
        return _reopen, (*place, *ways)


def _axis(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise UsageError(f"no axis {axis} in an array of {ndim} axes")
    return axis % ndim


def _ratio(shard: tuple[int, ...], chunk: tuple[int, ...]) -> int:
    return math.prod(s // c for s, c in zip(shard, chunk))


def _cut(edges: tuple[int, ...], length: int) -> tuple[int, ...]:
    """Lengths of chunks whose last may reach past the end."""
    sizes: list[int] = []
    at = 0
    for edge in edges:
        sizes.append(min(edge, length - at))
        at += edge
    return tuple(sizes)


def _any_goes_apart(parts: list[Any], timeout: float | None) -> bool:
    """Has one of these reads or writes large chunks, and may Ctrl-C or a timeout come?"""
    firsts = [part[0] for part in parts if isinstance(part, (tuple, list)) and part]
    return any(isinstance(first, Array) and first._goes_apart(timeout) for first in firsts)


def read_many(
    reads: Any,
    out: Any = None,
    *,
    timeout: float | None = None,
    missing_is_error: bool = False,
    progress: Progress | None = None,
    transform: Callable[[Array, tuple[int, ...], Any], Any] | None = None,
    raw: bool = False,
) -> list[Any]:
    """Reads ``[(array, selection), ...]`` in one call that shares the work.

    Each object is opened once and each chunk decoded once, however many selections fall
    into it. `out` is a list of arrays to fill, or None for new ones.

    ``transform(array, index, data)`` is called once for each chunk, as :func:`Array.read`
    does, with the array that the chunk is of: the first one of the reads that want it.
    """
    pairs = list(reads)
    outs = None if out is None else list(out)

    def run(cancel: Any) -> list[Any]:
        ways = timeout, missing_is_error, progress, cancel, transform, raw
        return _core.read_many(pairs, outs, *ways)

    waits = transform is not None and on_main_thread()
    return apart_if(waits or _any_goes_apart(pairs, timeout), run, timeout)


def write_many(
    writes: Any,
    *,
    promise: Promise | None = None,
    keep_empty: bool | None = None,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> None:
    """Writes ``[(array, selection, value), ...]`` in one call that shares the work.

    Each object is stored once, however many of the writes fall into it; where they overlap
    the last one counts. What is left out is as the first array was opened.
    """
    parts = list(writes)

    def run(cancel: Any = None) -> None:
        _core.write_many(parts, promise, keep_empty, timeout, progress, cancel)

    apart_if(_any_goes_apart(parts, timeout), run, timeout)
