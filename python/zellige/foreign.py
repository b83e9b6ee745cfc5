"""Codecs written in Python, made known to the engine.

They are slower than its own, since only one thread of Python runs at a time, but what they
store can be read and written like anything else.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import numpy as np

from . import _core
from .buffers import as_bytes, open_codec
from .dtype import numpy_dtype
from .errors import UnsupportedError, UsageError

__all__ = ["know_class_of", "register"]

Kind = Literal["bytes-bytes", "array-bytes", "array-array"]

_KINDS: dict[str, int] = {"bytes-bytes": 1, "array-bytes": 2, "array-array": 3}
#: Codecs of numcodecs that are more than bytes to bytes.
_NUMCODECS_KINDS = {"pcodec": "array-bytes"}

#: Those that have been registered.
_ids: set[str] = set()


class _Adapter:
    """A codec of one array, between the engine's bytes and what the codec wants."""

    def __init__(self, codec: Any, dtype: np.dtype[Any] | None, kind: int) -> None:
        self.codec = codec
        self.dtype = dtype
        self.kind = kind

    def _array(self, data: bytes, shape: tuple[int, ...] | None) -> Any:
        if self.dtype is None or len(data) % self.dtype.itemsize != 0:
            return data
        array = np.frombuffer(data, self.dtype)
        return array if shape is None else array.reshape(shape)

    def encode(self, data: bytes, shape: tuple[int, ...] | None) -> Any:
        return as_bytes(self.codec.encode(self._array(data, shape)))[0]

    def decode(self, data: bytes, shape: tuple[int, ...] | None) -> Any:
        given = self._array(data, shape) if self.kind == 3 else data
        result = self.codec.decode(given)
        if self.kind != 1 and isinstance(result, np.ndarray) and self.dtype is not None:
            result = np.ascontiguousarray(result, dtype=self.dtype)
        return as_bytes(result)[0]


def _element_type(description: Any, swapped: bool) -> np.dtype[Any] | None:
    if description is None:
        return None
    dtype = numpy_dtype(description)
    if dtype.hasobject or dtype.itemsize == 0:
        return None
    return dtype.newbyteorder() if swapped else dtype


def _factory(make: Any, codec_id: str | None, kind: int) -> Any:
    def factory(
        configuration: str, zarr_format: int, description: Any, swapped: bool
    ) -> _Adapter:
        members = json.loads(configuration)
        if codec_id is not None:
            members["id"] = codec_id
        return _Adapter(make(members), _element_type(description, swapped), kind)

    return factory


def _maker(codec: Any) -> tuple[Any, str | None]:
    """What makes a codec of its configuration, and the id that numcodecs knows it by."""
    if isinstance(codec, str):
        try:
            from numcodecs.registry import get_codec  # type: ignore[import-untyped]
        except ImportError as error:
            raise UnsupportedError(f"codec {codec}: numcodecs is not installed") from error
        return get_codec, codec
    codec_id = getattr(codec, "codec_id", None)
    if hasattr(codec, "from_config"):
        return lambda members: codec.from_config(_without_id(members)), codec_id
    return lambda members: codec(**_without_id(members)), codec_id


def _without_id(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name != "id"}


def register(
    codec: Any,
    *,
    name: str | None = None,
    id: str | None = None,
    kind: Kind | None = None,
) -> Any:
    """Makes a codec known to the engine, for arrays that are opened from now on.

    `codec` is the id of a codec that numcodecs has ("pcodec"), or a class with ``encode``
    and ``decode`` whose objects are made of a configuration: by ``from_config(members)``
    where it has that, else by ``codec(**members)``.

    `name` is what documents of version 3 call it, `id` what those of version 2 do (a
    ``codec_id`` of the class, if it is left out); version 3 knows it as ``numcodecs.<id>``
    too. Codecs that the library has are not replaced.

    `kind` says what it takes and gives. "bytes-bytes" is given bytes, or in version 2 an
    array while its elements are known; "array-bytes" and "array-array" are given an array
    in the shape of the chunk. What they give is anything with a buffer; of "array-array" an
    array of the same shape and type.

    Gives back the class, so that it can stand above it as a decorator.
    """
    make, codec_id = _maker(codec)
    codec_id = id if id is not None else codec_id
    number = _KINDS.get(kind or _NUMCODECS_KINDS.get(codec_id or "", "bytes-bytes"))
    if number is None:
        raise UsageError(f"kind is one of {', '.join(_KINDS)}, not {kind!r}")
    if name is None and codec_id is None:
        raise UsageError("a codec has a name or an id")
    numcodecs_id = codec if isinstance(codec, str) else None
    _core.register_codec(name, codec_id, number, _factory(make, numcodecs_id, number))
    open_codec.cache_clear()
    if codec_id is not None:
        _ids.add(codec_id)
    return codec


def know_class_of(codec: Any) -> None:
    """Registers the class of an object of numcodecs, unless its id is known. numcodecs has
    "pickle" too, which is never loaded: of its own only those are taken that have a kind."""
    cls = type(codec)
    is_own = cls.__module__.startswith("numcodecs.")
    if cls.codec_id not in _ids and (not is_own or cls.codec_id in _NUMCODECS_KINDS):
        register(cls)
