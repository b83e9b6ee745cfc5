"""The array behind a codec pipeline of zarr-python, as the engine has it.

A pipeline is asked for chunks by their keys. Each is one object of the store; what is
wanted of all of them goes to the engine in one call. This module makes the engine's array
from zarr-python's metadata, says where results lie in memory, and why something cannot be
done here. It knows no event loop: see :mod:`zellige.pipeline`.
"""

from __future__ import annotations

import json
import math
import os
import weakref
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from zarr.core.buffer import cpu, default_buffer_prototype
from zarr.storage import LocalStore as ZarrLocalStore
from zarr.storage import StorePath

from . import _core
from .array import Array
from .errors import NotFoundError, ZelligeError
from .store import LocalStore, MemoryStore, Store
from .values import parts

__all__ = ["Chunks", "Item", "Refusal", "covers"]

#: One of a batch: byte getter, spec, selection of the chunk, place in memory, is complete.
Item = tuple[Any, Any, Any, Any, bool]
#: For each chunk 1 where it is not stored.
Statuses = bytearray
#: What a call makes of an object: its bytes, False when it is removed, None when it stays.
Result = Any

_ORDERS = {"morton": 0, "lexicographic": 1, "unordered": 1, "colexicographic": 2}
_MOST_ADDED = 1 << 16  # chunks that a rectilinear grid grows by at once
_TEXT_CODECS = {"vlen-utf8", "vlen-bytes", "vlen-array"}


class Refusal(Exception):
    """What is asked for cannot be done by the engine, and why. A lasting one holds for all
    that is asked of the array."""

    def __init__(self, reason: str, lasting: bool = False) -> None:
        super().__init__(reason)
        self.lasting = lasting


# ---------------------------------------------------------------------- metadata


def _walk(codecs: Iterable[Any]) -> Iterable[Any]:
    """All codecs, those inside of shards too."""
    for codec in codecs:
        yield codec
        yield from _walk(getattr(codec, "codecs", ()))
        yield from _walk(getattr(codec, "index_codecs", ()))


def _codecs(metadata: Any) -> list[Any]:
    if metadata.zarr_format == 3:
        return list(_walk(metadata.codecs))
    return [c for c in (*(metadata.filters or ()), metadata.compressor) if c is not None]


def _check_codecs(metadata: Any) -> None:
    """Codecs of the same name may be anybody's: only those of zarr-python and numcodecs
    are known to be what the engine has."""
    for codec in _codecs(metadata):
        kind = type(codec)
        if not kind.__module__.startswith(("zarr.codecs", "numcodecs.")):
            raise Refusal(f"the codec {kind.__module__}.{kind.__qualname__}", True)


def _inner_orders(codecs: Iterable[Any]) -> bytes:
    """The order of inner chunks, and that in shards inside of shards, outermost first."""
    for codec in codecs:
        if hasattr(codec, "index_codecs"):
            order = getattr(codec, "subchunk_write_order", "morton")  # none before 3.3
            return bytes([_ORDERS[order]]) + _inner_orders(codec.codecs)
    return b""


def _inner_shape(codecs: Sequence[Any], shape: Sequence[int]) -> Sequence[int]:
    """The shape of what is encoded by itself: of the inner chunks of a shard whose parts are
    written, else of the chunk."""
    if len(codecs) != 1 or not hasattr(codecs[0], "index_codecs"):
        return shape
    return _inner_shape(codecs[0].codecs, codecs[0].chunk_shape)


def _index_of(metadata: Any) -> tuple[str, int] | None:
    """Where the index of a shard lies, and its bytes. None where a shard can only be read
    whole, and for grids whose shards differ."""
    if metadata.zarr_format == 2 or len(metadata.codecs) != 1:
        return None
    (codec,) = metadata.codecs
    shape = getattr(metadata.chunk_grid, "chunk_shape", None)
    if not hasattr(codec, "index_codecs") or shape is None:
        return None
    n_chunks = math.prod(n // c for n, c in zip(shape, codec.chunk_shape))
    n_sums = sum(type(c).__name__ == "Crc32cCodec" for c in codec.index_codecs)
    location = getattr(codec.index_location, "value", codec.index_location)
    return location, 16 * n_chunks + 4 * n_sums


def _document(metadata: Any) -> dict[str, Any]:
    """The document without attributes. Its chunks lie inside the shape: what is selected
    of them may lie beyond the end of the array, which may have grown by now."""
    name = "zarr.json" if metadata.zarr_format == 3 else ".zarray"
    buffers = metadata.to_buffer_dict(default_buffer_prototype())
    document: dict[str, Any] = json.loads(buffers[name].to_bytes())
    document["attributes"] = {}
    chunks = _regular_chunks(document)
    if chunks is not None:
        document["shape"] = [
            _whole(max(1, -(-n // c)), c) for n, c in zip(document["shape"], chunks)
        ]
    return document


def _whole(n_chunks: int, length: int) -> int:
    """The length of so many chunks, or of the most that an array can have."""
    return min(n_chunks, ((1 << 63) - 1) // length) * length


def _regular_chunks(document: dict[str, Any]) -> list[int] | None:
    if "chunks" in document:
        return list(document["chunks"])
    grid = document["chunk_grid"]
    return grid["configuration"]["chunk_shape"] if grid["name"] == "regular" else None


def _edges(document: dict[str, Any]) -> list[list[int]]:
    """The lengths of the chunks along each axis of a rectilinear grid."""
    stored = document["chunk_grid"]["configuration"]["chunk_shapes"]
    found = []
    for part, length in zip(stored, document["shape"]):
        if isinstance(part, int):
            found.append(-(-length // part) * [part])
            continue
        runs = (run if isinstance(run, list) else [run, 1] for run in part)
        found.append([n for n, count in runs for _ in range(count)])
    return found


def _prefix(document: dict[str, Any], key: str) -> str:
    """The path of the array of whose chunk this is the key."""
    ndim = len(document["shape"])
    encoding = document.get("chunk_key_encoding")
    if encoding is None:
        separator, n_names = document.get("dimension_separator", "."), ndim
    else:
        is_default = encoding["name"] == "default"
        separator = encoding.get("configuration", {}).get(
            "separator", "/" if is_default else "."
        )
        n_names = ndim + is_default
    n_segments = max(n_names, 1) if separator == "/" else 1
    return "/".join(key.split("/")[:-n_segments])


# ---------------------------------------------------------------------- stores

#: What tells a folder from another that has taken its name; None: there is none.
_Folder = tuple[int, int] | None

_stores: weakref.WeakValueDictionary[tuple[str, _Folder], LocalStore] = (
    weakref.WeakValueDictionary()
)


def _folder(store: Any) -> _Folder:
    """That of a local store. The engine keeps a folder open, also when it is renamed;
    zarr-python finds it by its name each time."""
    if type(store) is not ZarrLocalStore:
        return None
    try:
        status = os.stat(store.root)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _engine_store(store: Any, create: bool) -> tuple[Store, _Folder]:
    """The folder of a local store. For others one that is never looked into: the objects
    are given."""
    if type(store) is not ZarrLocalStore:
        return MemoryStore(), None
    root = str(store.root.absolute())
    folder = _folder(store)
    found = _stores.get((root, folder)) if folder is not None else None
    if found is None:
        try:
            found = LocalStore(root, create=create, follow_links=True)
        except NotFoundError as error:
            raise Refusal("a folder that is not there") from error
        folder = _folder(store)
        _stores[root, folder] = found
    return found, folder


def _is_plain(spec: Any) -> bool:
    """The buffers of the spec are those of the CPU."""
    prototype = spec.prototype
    return prototype.buffer is cpu.Buffer and prototype.nd_buffer is cpu.NDBuffer


# ---------------------------------------------------------------------- memory


def _extent(part: Any, length: int) -> int:
    if isinstance(part, slice):
        return len(range(*part.indices(length)))
    return int(np.count_nonzero(part)) if part.dtype == np.bool_ else len(part)


def _shape_of(selection: Any, shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of `array[selection]`; integers take no axis."""
    arrays = [part for part in parts(selection) if isinstance(part, np.ndarray)]
    if len(arrays) > 1:
        return np.broadcast_shapes(*(array.shape for array in arrays))
    return tuple(
        _extent(part, length)
        for part, length in zip(parts(selection), shape)
        if isinstance(part, (slice, np.ndarray))
    )


def _plain(dtype: np.dtype[Any]) -> Any:
    """The type with times as integers: NumPy says too little of those without a unit."""
    if dtype.kind in "mM":
        return np.dtype("i8")
    fields: Any = dtype.fields
    if dtype.names is None or fields is None:
        return dtype.newbyteorder("=")
    return [(n, _plain(fields[n][0]), fields[n][1]) for n in dtype.names]


def _same(dtype: np.dtype[Any], native: np.dtype[Any]) -> bool:
    # Times without a unit are equal in both byte orders.
    return dtype == native and dtype.isnative


def _as_numbers(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Times as integers: NumPy does not swap the bytes of those without a unit."""
    if array.dtype.kind not in "mM":
        return array
    return array.view(array.dtype.str[0] + "i8")


def _memory(array: npt.NDArray[Any]) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    return array.__array_interface__["data"][0], array.shape, array.strides


def _packed(shapes: list[tuple[int, ...]], dtype: np.dtype[Any]) -> list[npt.NDArray[Any]]:
    """Arrays of the shapes, one behind the other in one block."""
    sizes = [math.prod(shape) for shape in shapes]
    block = np.empty(sum(sizes), dtype)
    ends = np.cumsum(sizes).tolist()
    return [
        block[end - size : end].reshape(shape)
        for end, size, shape in zip(ends, sizes, shapes)
    ]


def _addresses(arrays: list[npt.NDArray[Any]]) -> list[int]:
    return [array.__array_interface__["data"][0] for array in arrays]


def _in_whole_chunks(selection: Any, shape: Sequence[int]) -> Any:
    """True for what is selected together with all of its (inner) chunk."""
    masks = []
    for part, length in zip(parts(selection), shape):
        if not isinstance(part, slice):
            return False
        at = np.arange(part.start, part.stop, part.step) // length
        masks.append((np.bincount(at) == length)[at])
    return reduce(np.logical_and.outer, masks)


def covers(item: Item) -> bool:
    """All of the chunk is selected, also what lies outside of the array."""
    return item[4] and all(
        isinstance(part, slice) and len(range(*part.indices(length))) == length
        for part, length in zip(parts(item[2]), item[1].shape)
    )


def _part(
    item: Item, source: npt.NDArray[Any], dropped: tuple[int, ...]
) -> npt.NDArray[Any]:
    """The values for what is selected of a chunk: of one along an axis, as often as needed."""
    part, shape = source[item[3]], _shape_of(item[2], item[1].shape)
    if part.size == math.prod(shape):
        return part
    if len(shape) == len(item[1].shape):
        shape = tuple(n for axis, n in enumerate(shape) if axis not in dropped)
    try:
        return np.broadcast_to(part, shape)
    except ValueError:
        raise Refusal("memory of another shape") from None


def _scatter(
    target: npt.NDArray[Any], items: list[Item], arrays: list[npt.NDArray[Any]]
) -> None:
    """Puts what was read of each chunk in its place. NumPy casts, as it does for zarr-python:
    memory for fields is of another type than the records that are read."""
    places = [item[3] for item in items]
    if target.dtype.newbyteorder("=") == arrays[0].dtype:
        target, arrays = _as_numbers(target), [_as_numbers(array) for array in arrays]
    if len(places) > 1 and all(
        isinstance(p, np.ndarray) and p.ndim == 1 and p.dtype != np.bool_ for p in places
    ):
        target[np.concatenate(places)] = np.concatenate(arrays)
        return
    for place, array in zip(places, arrays):
        target[place] = array


# ---------------------------------------------------------------------- the array


class _Array(Array):
    """What it reads of texts stays objects: they are cast where they are put."""

    def _from_items(self, items: list[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
        if self._description[0] == "vlen_array":
            return super()._from_items(items, shape)
        return np.array(items, dtype=object).reshape(shape)


class Chunks:
    """The chunks of an array of zarr-python. Raises `Refusal` where it cannot be made.

    `key` is the key of any of its chunks: it tells the path of the array. `keeps_parts`: a
    write that covers the part of a chunk inside the array keeps what lies outside, as
    zarr-python has it with shards. May be used from many threads at once.
    """

    def __init__(
        self, metadata: Any, store: Any, key: str, *, keeps_parts: bool, create: bool
    ) -> None:
        _check_codecs(metadata)
        self._zarr_store = store
        self._store, self._folder = _engine_store(store, create)
        self._keeps_parts = keeps_parts
        self.index = _index_of(metadata)
        self._codecs = getattr(metadata, "codecs", ())
        self._inner_orders = _inner_orders(self._codecs)
        try:
            self._document = _document(metadata)
            self._path = _prefix(self._document, key)
            self._open()
        except (ZelligeError, KeyError, TypeError, ValueError) as error:
            raise Refusal(str(error), True) from error
        self._set_kind(metadata)

    def is_stale(self) -> bool:
        """Another folder has the name of the store, or none."""
        return self._folder != _folder(self._zarr_store)

    def _open(self) -> None:
        self._array = _core.array_from_metadata(
            _Array, self._store, self._path, json.dumps(self._document)
        )

    def _set_kind(self, metadata: Any) -> None:
        native: np.dtype[Any] = metadata.dtype.to_native_dtype()
        self._dtype = self._array.dtype
        self._is_text = self._dtype.kind in "OT"
        if self._is_text:
            names = {codec.codec_id for codec in _codecs(metadata) if _has_id(codec)}
            known = metadata.zarr_format == 3 or not names.isdisjoint(_TEXT_CODECS)
            if native.kind not in "OT" or not known:
                raise Refusal(f"the data type {native}", True)
        elif _plain(native) != _plain(self._dtype):
            raise Refusal(f"the data type {native}", True)
        else:
            self._dtype = native.newbyteorder("=")

    def _grow(self, items: list[Item]) -> None:
        """Makes room for chunks beyond the grid: the array has grown since."""
        chunks = _regular_chunks(self._document)
        if chunks is None:
            self._add_edges(items)
        else:
            shape = list(self._document["shape"])
            for at, _ in self._places(items):
                for axis, i in enumerate(at):
                    shape[axis] = max(shape[axis], _whole(2 * (i + 1), chunks[axis]))
            self._document = {**self._document, "shape": shape}
        self._open()

    def _add_edges(self, items: list[Item]) -> None:
        """A rectilinear grid with the lengths of these chunks. Of one that nobody has asked
        for yet the length is a guess, which is put right when somebody does."""
        edges = _edges(self._document)
        for at, lengths in self._places(items):
            for axis, i in enumerate(at):
                if i - len(edges[axis]) > _MOST_ADDED:
                    raise Refusal("chunks far beyond the grid")
                missing = i + 1 - len(edges[axis])
                edges[axis] += missing * [lengths[axis]]
                edges[axis][i] = lengths[axis]
        grid = {"kind": "inline", "chunk_shapes": edges}
        self._document = {
            **self._document,
            "shape": [sum(lengths) for lengths in edges],
            "chunk_grid": {"name": "rectilinear", "configuration": grid},
        }

    def _places(self, items: list[Item]) -> Iterable[tuple[Sequence[int], Sequence[int]]]:
        """The coordinates of each chunk, and its shape."""
        for item in items:
            at = _core.chunk_coordinates(self._array, item[0].path)
            yield at or (), item[1].shape

    # ------------------------------------------------------------------ reading

    def read(
        self,
        items: list[Item],
        out: Any,
        dropped: tuple[int, ...],
        n_threads: int,
        objects: list[Any] | None,
        cancel: Any = None,
    ) -> Statuses:
        """Fills `out` with what the items select. objects: the bytes of each chunk, where
        they do not come from files. cancel: an int that stops it."""
        target = out.as_ndarray_like()
        if type(target) not in (np.ndarray, np.memmap):
            raise Refusal("memory that is no array of NumPy")
        if not target.flags.writeable:
            raise ValueError("the memory for what is read is read-only")

        def call(memory: Any, places: Any) -> Any:
            return self._call(
                _core.read_chunks, items, dropped, memory, places, n_threads, objects, cancel
            )

        statuses: Statuses
        if self._is_text:

            def put(i: int, texts: list[Any]) -> None:
                array = self._array._from_items(texts, (len(texts),))
                shape = _shape_of(items[i][3], target.shape)
                target[items[i][3]] = array.reshape(shape) if shape else array[0]

            statuses = _checked(call(None, put))
            return statuses
        if _same(target.dtype, self._dtype):
            result = call(_memory(target), None)
            if result != _core.SCATTERED:
                statuses = _checked(result)
                return statuses
        shapes = [_shape_of(item[3], target.shape) for item in items]
        arrays = _packed(shapes, self._dtype)
        statuses = _checked(call(None, _addresses(arrays)))
        _scatter(target, items, arrays)
        return statuses

    def ranges(
        self, items: list[Item], dropped: tuple[int, ...], objects: list[Any]
    ) -> list[list[tuple[int, int]]]:
        """What is wanted of each shard, as (start, end), when its index is at hand."""
        memory = (1, None, None)  # nothing is written to it
        plans = _checked(
            self._call(_core.explain_chunks, items, dropped, memory, None, 1, objects, None)
        )
        return [
            [
                (part["offset"], part["offset"] + part["n_bytes"])
                for part in json.loads(plan)["objects"][0].get("ranges", ())
            ]
            for plan in plans
        ]

    # ------------------------------------------------------------------ writing

    def write(
        self,
        items: list[Item],
        value: Any,
        dropped: tuple[int, ...],
        n_threads: int,
        objects: list[Any] | None,
        cancel: Any = None,
    ) -> list[Result] | None:
        """Writes what the items select of `value`. With objects, the new ones."""
        source = value.as_ndarray_like()
        if not isinstance(source, np.ndarray):
            raise Refusal("memory that is no array of NumPy")
        keep_empty = bool(items[0][1].config.write_empty_chunks)

        def call(memory: Any, places: Any) -> Any:
            return self._call(
                _core.write_chunks,
                items,
                dropped,
                memory,
                places,
                n_threads,
                objects,
                cancel,
                not self._keeps_parts,
                keep_empty,
                self._inner_orders,
            )

        made: list[Result] | None
        if self._is_text:
            texts = [self._texts(item, source, dropped) for item in items]
            made = _checked(call(None, texts))
            return made
        if not _same(source.dtype, self._dtype):
            if source.dtype.newbyteorder("=") != self._dtype:
                raise Refusal("elements of another type")
            numbers = _as_numbers(source)
            source = numbers.astype(numbers.dtype.newbyteorder("=")).view(self._dtype)
        if source.shape == ():
            made = _checked(call((_memory(source)[0], None, None), None))
            return made
        result = call(_memory(source), None)
        if result in (_core.SCATTERED, _core.OTHER_MEMORY):
            arrays = [np.ascontiguousarray(_part(item, source, dropped)) for item in items]
            result = call(None, _addresses(arrays))
        made = _checked(result)
        return made

    def _texts(self, item: Item, source: npt.NDArray[Any], dropped: tuple[int, ...]) -> Any:
        """Bytes and offsets of what is written to a chunk."""
        part, shape = source, _shape_of(item[2], item[1].shape)
        if source.shape != ():
            if source.ndim != len(parts(item[3])):
                raise Refusal("memory of other axes")
            part = _part(item, source, dropped)
            shape = part.shape
        try:
            return self._array._pack(part, shape, False)
        except TypeError:
            if source.dtype.kind != "T":
                raise
            return self._array._pack(self._without_missing(item, part), shape, False)

    def _without_missing(self, item: Item, part: Any) -> npt.NDArray[Any]:
        """Texts of a `StringDType(na_object=...)` as zarr-python stores them. Put into a chunk
        they are cast, and NumPy writes what stands for a missing one. Those that are all of a
        chunk go to the codec of version 3 as they are: it takes nothing for the empty text,
        and refuses all else. Before, NumPy has taken all but NaN for it, too."""
        texts: npt.NDArray[Any] = part.astype(np.dtypes.StringDType())
        if part.shape == ():
            return texts
        may_be_empty = covers(item) and not item[1].config.write_empty_chunks
        if may_be_empty and not item[1].fill_value and (part == "").all():
            return np.zeros_like(texts)
        if self._document["zarr_format"] == 2:
            return texts
        is_missing = (texts.astype(object) != part.astype(object)).astype(bool)
        is_missing &= _in_whole_chunks(item[2], _inner_shape(self._codecs, item[1].shape))
        absent = part.dtype.na_object
        if is_missing.any() and absent is not None and absent != 0:
            raise TypeError(f"Expected str, got {type(absent).__name__}")
        texts[is_missing] = ""
        return texts

    # ------------------------------------------------------------------ both

    def _call(
        self,
        function: Any,
        items: list[Item],
        dropped: tuple[int, ...],
        memory: Any,
        places: Any,
        n_threads: int,
        objects: list[Any] | None,
        cancel: Any,
        *more: Any,
    ) -> Any:
        """What the engine says, or the text that says why it was not asked."""

        def call() -> Any:
            return function(
                self._array,
                items,
                StorePath,
                self._zarr_store,
                _is_plain,
                dropped,
                memory,
                places,
                n_threads,
                objects,
                cancel,
                *more,
            )

        result = call()
        is_new = result == _core.OTHER_SHAPE and not _regular_chunks(self._document)
        if is_new or result == _core.BEYOND:
            self._grow(items)
            result = call()
        return result


def _has_id(codec: Any) -> bool:
    return hasattr(codec, "codec_id")


def _checked(result: Any) -> Any:
    if isinstance(result, str):
        raise Refusal(result)
    return result
