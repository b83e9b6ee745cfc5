"""Arrays: a handle with NumPy's ways of asking for parts of it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from .errors import UnsupportedError
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
from .store import Store

__all__ = ["Array", "Indexer", "read_many"]


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


def _reopen(store: Store, path: str, zarr_format: int, read_only: bool) -> Array:
    return _core.open_array(Array, store, path, zarr_format, read_only)


class Array(_core.Array):
    """An array of a store: a snapshot of its metadata, and its elements on request.

    ``array[...]`` takes integers, slices of any step, ``...`` and ``np.newaxis`` as NumPy
    does, lists or masks for one axis, integer arrays for all axes, and a mask of the whole.
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

    def _cast(self, value: Any, shape: tuple[int, ...]) -> Any:
        """A value to write, in the type of the array, repeated to a shape."""
        variable = self.dtype.kind in "OT"
        source = np.asarray(value, dtype=object if variable else self.dtype)
        while source.ndim > len(shape) and source.shape[0] == 1:
            source = source[0]
        source = np.broadcast_to(source, shape)
        return [self._encode(item) for item in source.flat] if variable else source

    def _encode(self, item: Any) -> bytes:
        name = self._description[0]
        if name == "string" and isinstance(item, str):
            return item.encode()
        if name == "bytes" and isinstance(item, bytes):
            return item
        if name == "vlen_array":
            return np.asarray(item, dtype=self._part_dtype).tobytes()
        raise TypeError(
            f"elements of type {name}, not {type(item).__name__}, are written here"
        )

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

    def explain(
        self, selection: Any = ..., *, resolve: bool = False, max_objects: int = 1000
    ) -> dict[str, Any]:
        """The plan of a read: objects, how they are fetched and placed. Reads no data."""
        plan: dict[str, Any] = json.loads(self._explain(selection, resolve, max_objects))
        return plan

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
    def metadata(self) -> dict[str, Any]:
        """The metadata document (version 2: ``.zarray`` with the attributes added)."""
        document: dict[str, Any] = json.loads(self._metadata())
        return document

    @cached_property
    def attrs(self) -> Mapping[str, Any]:
        """The attributes. To change them, create the array anew."""
        return MappingProxyType(json.loads(self._attributes()))

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
    def name(self) -> str:
        """The path with a slash before it."""
        return "/" + self.path

    @property
    def basename(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def store_path(self) -> str:
        """Store and path in one text."""
        return f"{self.store.root or 'memory:'}/{self.path}".rstrip("/")

    @property
    def info(self) -> Report:
        """A report for people."""
        return array_report(self)

    def __repr__(self) -> str:
        return f"<zellige.Array {self.store_path} shape={self.shape} dtype={self.dtype}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Array):
            return NotImplemented
        return _place(self) == _place(other)

    def __hash__(self) -> int:
        return hash(_place(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.store, self.path, self.zarr_format, self.read_only)


def _place(array: Array) -> tuple[Any, ...]:
    store: Store = array.store
    return store.root or id(store), array.path, array.zarr_format


def _cut(edges: tuple[int, ...], length: int) -> tuple[int, ...]:
    """Lengths of chunks whose last may reach past the end."""
    sizes: list[int] = []
    at = 0
    for edge in edges:
        sizes.append(min(edge, length - at))
        at += edge
    return tuple(sizes)


def read_many(reads: Any, out: Any = None, *, timeout: float | None = None) -> list[Any]:
    """Reads ``[(array, selection), ...]`` in one call that shares the work.

    Each object is opened once and each chunk decoded once, however many selections fall
    into it. `out` is a list of arrays to fill, or None for new ones.
    """
    return _core.read_many(list(reads), None if out is None else list(out), timeout)
