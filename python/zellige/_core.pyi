"""The binding. Its types are subclassed in array.py, group.py and store.py."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, TypeVar

import numpy as np

from .adapting import Adapter
from .mapping import Mapped
from .store import Promise
from .store import Store as PublicStore

_Store = TypeVar("_Store", bound=Store)
_Array = TypeVar("_Array", bound=Array)
_Group = TypeVar("_Group", bound=Group)
_Bytes = bytes | bytearray | memoryview

STATUS: tuple[tuple[int, str, int, str], ...]
SCATTERED: str
OTHER_MEMORY: str
BEYOND: str
OTHER_SHAPE: str
LIMITS: tuple[tuple[str, int, str, str], ...]

def version() -> str: ...
def build_info() -> str: ...
def open_store(
    type: type[_Store],
    path: str | Mapped | Adapter | None,
    read_only: bool,
    create: bool,
    follow_links: bool,
    no_locks: bool,
    /,
) -> _Store: ...
def open_array(
    type: type[_Array],
    store: Store,
    path: str,
    zarr_format: int,
    read_only: bool,
    promise: Promise | None,
    keep_empty: bool,
    /,
) -> _Array: ...
def open_group(
    type: type[_Group],
    store: Store,
    path: str,
    zarr_format: int,
    read_only: bool,
    use_consolidated: bool,
    promise: Promise | None,
    keep_empty: bool,
    /,
) -> _Group: ...
def open_member(
    group: Group, path: str, array_type: type[_Array], group_type: type[_Group], /
) -> _Array | _Group: ...
def create_array(
    type: type[_Array],
    store: Store,
    path: str,
    zarr_format: int,
    shape: tuple[int, ...],
    object_shape: tuple[int, ...] | None,
    chunk_shape: tuple[int, ...] | None,
    data_type: str | None,
    fill_value: str | None,
    codecs: str | None,
    attributes: str | None,
    dimension_names: tuple[str | None, ...] | None,
    index_location: str | None,
    chunk_grid: str | None,
    chunk_key_encoding: str | None,
    separator: str | None,
    order: str | None,
    overwrite: bool,
    exist_ok: bool,
    python_tokens: bool,
    like: Array | None,
    target_chunk_bytes: int,
    target_shard_bytes: int,
    promise: Promise | None,
    keep_empty: bool,
) -> _Array: ...
def create_group(
    type: type[_Group],
    store: Store,
    path: str,
    zarr_format: int,
    attributes: str | None,
    overwrite: bool,
    exist_ok: bool,
    python_tokens: bool,
    promise: Promise | None,
    keep_empty: bool,
    /,
) -> _Group: ...
def read_many(
    reads: list[Any],
    out: list[Any] | None,
    timeout: float | None,
    missing_is_error: bool,
    progress: Any,
    cancel: Any,
    transform: Callable[[Any, tuple[int, ...], Any], Any] | None,
    raw: bool,
    /,
) -> list[Any]: ...
def write_many(
    writes: list[Any],
    promise: Promise | None,
    keep_empty: bool | None,
    timeout: float | None,
    progress: Any,
    cancel: Any,
    /,
) -> None: ...
def join_texts(items: list[str], /) -> tuple[bytes, bytearray]: ...
def array_from_metadata(
    type: type[_Array], store: Store, path: str, metadata: str, /
) -> _Array: ...
def chunk_coordinates(array: Array, key: str, /) -> tuple[int, ...] | None: ...
def explain_chunks(*args: Any) -> Any: ...
def read_chunks(*args: Any) -> Any: ...
def write_chunks(*args: Any) -> Any: ...
def set_context(
    threads: int,
    memory_budget: int,
    index_cache: int,
    chunk_cache: int,
    limits: dict[str, int],
    /,
) -> None: ...
def set_threads(n: int, /) -> None: ...
def set_attributes(
    node: Node,
    values: str | None,
    remove: tuple[bytes, ...],
    replace: bool,
    python_tokens: bool,
    promise: Promise | None,
    /,
) -> None: ...
def delete_node(store: Store, path: str, /) -> None: ...
def move_node(store: Store, source: str, destination: str, /) -> None: ...
def consolidate(
    store: Store,
    path: str,
    promise: Promise | None,
    python_tokens: bool,
    cancel: Any,
    /,
) -> None: ...
def open_codec(
    codecs: str,
    zarr_format: int,
    data_type: str | None,
    fill_value: str | None,
    shape: tuple[int, ...],
    /,
) -> object: ...
def codec_encode(codec: object, data: Any, /) -> bytes: ...
def codec_decode(codec: object, data: Any, out: Any, /) -> Any: ...
def register_codec(
    name: str | None, id: str | None, kind: int, factory: Callable[..., Any], /
) -> None: ...
def open_writer(
    store: Store,
    memory_budget: int,
    threads: int,
    promise: Promise | None,
    existing: int,
    keep_empty: bool | None,
    partial: int,
    side_directory: str | None,
    journal: str | None = None,
    /,
) -> Writer: ...
def watch(
    report: Callable[[int, int], object] | None, /
) -> Callable[[int, int], object] | None: ...
def leave(cancel: Any, /) -> None: ...
def put(cancel: Any, destination: Any, key: Any, source: Any, /) -> bool: ...

class Store:
    @property
    def root(self) -> str | None: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def follow_links(self) -> bool: ...
    @property
    def no_locks(self) -> bool: ...
    def get(self, key: str, /) -> bytes: ...
    def put(self, key: str, data: bytes | bytearray | memoryview, /) -> None: ...
    def delete(self, key: str, /) -> None: ...
    def sweep(self, prefix: str = "", /) -> int: ...
    def _list(self, prefix: str, delimited: bool, /) -> list[tuple[str, bool, int]]: ...
    def _kind(self, path: str, zarr_format: int, /) -> int: ...

class Node:
    @property
    def path(self) -> str: ...
    @property
    def store(self) -> PublicStore: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def zarr_format(self) -> int: ...
    @property
    def promise(self) -> Promise: ...
    @property
    def keep_empty(self) -> bool: ...
    @property
    def missing_is_error(self) -> bool: ...
    def _attributes(self) -> str: ...
    def _with_ways(self, keep_empty: bool, missing_is_error: bool, /) -> Self: ...
    def _metadata(self) -> str: ...

class Array(Node):
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def dimension_names(self) -> tuple[str | None, ...] | None: ...
    @property
    def _chunk_shape(self) -> tuple[int, ...]: ...
    def _goes_apart(self, timeout: float | None) -> bool: ...
    @property
    def _object_shape(self) -> tuple[int, ...]: ...
    @property
    def _grid_shape(self) -> tuple[int, ...]: ...
    @property
    def _is_sharded(self) -> bool: ...
    @property
    def _is_rectilinear(self) -> bool: ...
    @property
    def _description(self) -> tuple[str, str, int, str | None, int, tuple[Any, ...]]: ...
    @property
    def _fill(self) -> bytes: ...
    def read(
        self,
        selection: Any = ...,
        out: Any = None,
        timeout: float | None = None,
        missing_is_error: bool | None = None,
        progress: Any = None,
        cancel: Any = None,
        transform: Callable[[tuple[int, ...], Any], Any] | None = None,
        raw: bool = False,
    ) -> Any: ...
    def read_encoded(
        self, chunks: Iterable[Sequence[int] | int], *, timeout: float | None = None
    ) -> list[bytes | None]: ...
    def write_encoded(
        self,
        chunks: Mapping[Any, _Bytes | None]
        | Iterable[tuple[Sequence[int] | int, _Bytes | None]],
        *,
        promise: Promise | None = None,
        timeout: float | None = None,
    ) -> None: ...
    def write(
        self,
        value: Any,
        selection: Any = ...,
        *,
        promise: Promise | None = None,
        keep_empty: bool | None = None,
        timeout: float | None = None,
        progress: Any = None,
        cancel: Any = None,
    ) -> None: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def _clear(
        self,
        selection: Any,
        promise: Promise | None,
        keep_empty: bool | None,
        timeout: float | None,
        cancel: Any,
        /,
    ) -> None: ...
    def _refresh(self) -> None: ...
    def _resize(
        self,
        shape: tuple[int, ...],
        promise: Promise | None,
        timeout: float | None,
        cancel: Any,
        /,
    ) -> None: ...
    def _append(
        self,
        data: Any,
        shape: tuple[int, ...],
        axis: int,
        promise: Promise | None,
        keep_empty: bool | None,
        timeout: float | None,
        cancel: Any,
        /,
    ) -> None: ...
    def _explain(self, selection: Any, resolve: bool, max_objects: int, /) -> str: ...
    def _edges(self, axis: int, /) -> tuple[int, ...]: ...
    def _codecs(self) -> str: ...
    def _stored(self) -> tuple[int, int]: ...

class Group(Node):
    @property
    def is_consolidated(self) -> bool: ...
    def _reopen(self, use_consolidated: bool, /) -> None: ...
    def _members(self, recursive: bool, /) -> list[tuple[str, int]]: ...
    def _kind(self, path: str, /) -> int: ...

class Writer:
    """Takes parts of arrays and stores them later: zlg_writer.

    Values are arrays of NumPy of the type of the array that they go to, or the same with
    the numbers in the other byte order (`swapped`); a value is broadcast to its box. With
    `borrow` they are read until their ticket is taken. A timeout of None waits for ever,
    one of 0 does not wait for memory. `cancel` is the memory of one int that another thread
    sets to stop the call, or None."""

    def add(
        self, array: Array, start: tuple[int, ...] | None, count: tuple[int, ...] | None, /
    ) -> int: ...
    def add_coarser(
        self, fine: int, coarse: int, factors: tuple[int, ...], how: int, /
    ) -> None: ...
    def submit(
        self,
        parts: list[
            tuple[
                int,  # of the array
                tuple[int, ...],  # start of the box
                tuple[int | None, ...],  # its lengths; None: 1, an axis that the value lacks
                np.ndarray[Any, Any],
                bool,  # swapped
                bool,  # borrow
            ]
        ],
        timeout: float | None,
        cancel: Any,
        /,
    ) -> int: ...
    def append(
        self,
        number: int,
        axis: int,
        shape: tuple[int | None, ...],
        value: np.ndarray[Any, Any],
        swapped: bool,
        timeout: float | None,
        cancel: Any,
        /,
    ) -> tuple[int, int]: ...
    def poll(self, ticket: int, /) -> int: ...
    def wait(
        self, ticket: int, state: int, timeout: float | None, cancel: Any, /
    ) -> None: ...
    def drain(self, timeout: float | None, progress: Any, cancel: Any, /) -> None: ...
    def flush(self, timeout: float | None, progress: Any, cancel: Any, /) -> None: ...
    def close(self, timeout: float | None, progress: Any, cancel: Any, /) -> None: ...
    def abort(self) -> None: ...
    def leave(self) -> None: ...  # it is never freed: for a process that ends
    def counts(self) -> dict[str, int]: ...
    def estimate(self) -> tuple[int, int]: ...
    def is_stored(
        self, number: int, start: tuple[int, ...], count: tuple[int, ...], /
    ) -> bool: ...
