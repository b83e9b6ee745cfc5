"""What codecs take and give: anything with a buffer, as bytes in C order."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from . import _core
from .apart import apart, on_main_thread, put
from .errors import UsageError

__all__ = ["as_bytes", "as_room", "decode", "decode_into", "encode", "open_codec"]

BYTES = "|u1"
_SIZES = {"b": 1, "i": 8, "u": 8, "f": 8, "c": 16}


def _type_string(dtype: np.dtype[Any]) -> str:
    """What elements are, in the words of version 2; at least their size."""
    if dtype.itemsize > 0 and dtype.names is None:
        if dtype.itemsize <= _SIZES.get(dtype.kind, 0) or dtype.kind in "mMSU":
            return dtype.str
    return f"|V{max(dtype.itemsize, 1)}"


def as_bytes(data: Any) -> tuple[Any, str]:
    """The bytes of a buffer, and of which type its elements are. Copies only what does not
    lie in one piece; an array in Fortran order keeps it."""
    if isinstance(data, (bytes, bytearray)):
        return data, BYTES
    array = np.asarray(data if hasattr(data, "__array__") else memoryview(data))
    if array.dtype.hasobject:
        raise UsageError("objects of Python have no bytes")
    if not array.flags.c_contiguous:
        array = array.T if array.flags.f_contiguous else np.ascontiguousarray(array)
    return array.reshape(-1).view("u1"), _type_string(array.dtype)


def as_room(out: Any) -> Any:
    """The bytes of a buffer that is written to."""
    array = out if isinstance(out, np.ndarray) else np.frombuffer(out, "u1")
    if array.dtype.hasobject or not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise UsageError("out is no buffer in one piece")
    if not array.flags.c_contiguous:
        array = array.T
    return array.reshape(-1).view("u1")


# On the main thread large ones are left behind when Ctrl-C comes: see apart.py. What is read
# is then bytes, or a copy, since nobody else must change it meanwhile.

#: Some milliseconds of encoding; encoded bytes may become a thousand times as many.
_LARGE, _LARGE_ENCODED = 4 << 20, 256 << 10


def encode(handle: Any, data: Any) -> bytes:
    """What bytes become."""
    if len(data) < _LARGE or not on_main_thread():
        return _core.codec_encode(handle, data)
    kept = bytes(data)
    return apart(lambda cancel: _core.codec_encode(handle, kept))


def decode(handle: Any, data: Any) -> bytes:
    """What bytes were."""

    def run(data: Any, cancel: Any = None) -> bytes:
        found: bytes = _core.codec_decode(handle, data, None)
        return found

    if len(data) < _LARGE_ENCODED or not on_main_thread():
        return run(data)
    return apart(run, bytes(data))


def decode_into(handle: Any, data: Any, out: Any) -> None:
    """The same into a buffer, as much as there is."""
    room = as_room(out)
    if len(room) < _LARGE or not on_main_thread():
        _core.codec_decode(handle, data, room)
        return
    kept = bytes(data)

    def run(cancel: Any) -> None:
        found = np.empty(len(room), "u1")
        n = _core.codec_decode(handle, kept, found)
        put(room[:n], found[:n], cancel)

    apart(run)


@lru_cache(maxsize=256)
def open_codec(codecs: str, dtype: str) -> Any:
    """The library's handle of numcodecs configurations, for bytes of such elements."""
    return _core.open_codec(codecs, 2, dtype, None, ())
