"""Values to write, made into memory that the library can take them from.

As in NumPy and zarr-python, what is assigned is cast to the type of the array, whatever it
was: a float loses its fraction, a large integer its upper bits. Nothing is copied that has
the type already, in either byte order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _core
from .errors import UsageError

__all__ = ["Casting", "as_array", "as_objects", "cast", "encoder", "fit", "kept", "pack"]

Casting = Literal["safe", "same_kind", "unsafe"]
Dtype = np.dtype[Any]
Shape = tuple[int, ...]
_ALL = np.ones((), bool)


def _is_memory(value: Any) -> bool:
    """True for what NumPy can look at as an array, without taking it for a list."""
    if any(hasattr(value, f"__array{name}__") for name in ("_interface", "_struct", "")):
        return True
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


def as_array(value: Any, dtype: Dtype | None) -> npt.NDArray[Any]:
    """An array of what is given: a view of memory in its own type, others in `dtype`."""
    if np.ma.is_masked(value):
        raise UsageError("masked elements cannot be stored: fill them first")
    if isinstance(value, (str, bytes)):
        return np.asarray(value, dtype)
    if _is_memory(value):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    return np.asarray(value, dtype)


def _once(source: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The elements that a repeating view has, each once."""
    if 0 not in source.strides:
        return source
    return source[tuple(slice(0, 1 if step == 0 else None) for step in source.strides)]


def cast(value: Any, dtype: Dtype) -> tuple[npt.NDArray[Any], bool]:
    """An array of a type; or one whose numbers are in the other byte order, and True."""
    source = as_array(value, dtype)
    if source.dtype == dtype:
        return source, False
    if source.dtype == dtype.newbyteorder("S"):
        return source, True
    return np.broadcast_to(_once(source).astype(dtype), source.shape), False


def _holds(found: npt.NDArray[Any], dtype: Dtype) -> bool:
    """True where numbers that had no type are elements of this one: no fractions among
    integers, and none that is too large."""
    if dtype.kind not in "iub":
        return True
    if found.dtype.kind in "fcO":
        return False
    if dtype.kind == "b" or found.dtype.kind not in "iu" or found.size == 0:
        return True
    limits = np.iinfo(dtype)
    return int(limits.min) <= int(found.min()) and int(found.max()) <= int(limits.max)


def recast(values: npt.NDArray[Any], dtype: Dtype) -> npt.NDArray[Any] | None:
    """In another type; None where NumPy (from 2.5) says that a time ends before that."""
    try:
        return values.astype(dtype)
    except OverflowError:
        return None


def kept(found: npt.NDArray[Any], made: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which values are the same after a cast that NumPy calls safe. Integers that have more
    digits than a float, and times that end before the other unit does, may not be."""
    kinds = found.dtype.kind + made.dtype.kind
    if kinds[0] in "iu" and kinds[1] in "fc":
        n_bits = 8 * found.itemsize - (kinds[0] == "i")
        numbers: npt.NDArray[Any] = np.real(made)
        if n_bits <= np.finfo(numbers.dtype).nmant + 1:
            return _ALL
        with np.errstate(invalid="ignore"):  # of those that became too large
            back = numbers.astype(found.dtype)
        same: npt.NDArray[np.bool_] = (numbers < 2.0**n_bits) & (back == found)
        return same
    if kinds in ("mm", "MM"):
        same = made.astype(found.dtype) == found
        return same | (np.isnat(found) & np.isnat(made))
    return _ALL


def fit(value: Any, dtype: Dtype, casting: Casting) -> tuple[npt.NDArray[Any], bool]:
    """As :func:`cast`, where NumPy allows it. What has no type of its own yet, numbers and
    lists of them, may be any that the type holds."""
    if type(value) is np.ndarray and value.dtype == dtype:
        return value, False
    typed = not isinstance(value, (str, bytes))
    typed = typed and (_is_memory(value) or hasattr(value, "__dlpack__"))
    found = as_array(value, None)
    if typed:
        allowed = np.can_cast(found.dtype, dtype, casting)
    else:
        allowed = casting == "unsafe" or _holds(found, dtype)
    try:
        made = cast(found if typed else value, dtype) if allowed else None
    except OverflowError:  # times, as in recast
        made = None
    if made is None or (casting == "safe" and not kept(found, made[0]).all()):
        raise UsageError(
            f"values of type {found.dtype} may be changed as elements of type {dtype}: cast "
            "them first, or open the writer with another casting"
        )
    return made


# ---------------------------------------------------------------------- variable length

#: Elements -> their bytes, one behind the other, and how many each has.
Encoder = Callable[[list[Any]], tuple[bytes, npt.NDArray[np.int64]]]


def _join(items: list[bytes]) -> tuple[bytes, npt.NDArray[np.int64]]:
    return b"".join(items), np.fromiter(map(len, items), np.int64, len(items))


def _encode_lists(items: list[Any], part: Dtype) -> tuple[bytes, npt.NDArray[np.int64]]:
    return _join(
        [np.array(as_array(item, part), part, order="C").tobytes() for item in items]
    )


def encoder(name: str, part: Dtype | None) -> Encoder:
    """What makes the bytes of elements: of texts, of bytes, of lists."""
    if name == "vlen_array":
        assert part is not None
        return partial(_encode_lists, part=part)
    kinds: Any = str if name == "string" else (bytes, bytearray, memoryview)

    def check(items: list[Any]) -> None:
        for kind in set(map(type, items)):
            if not issubclass(kind, kinds):
                raise TypeError(
                    f"elements of type {name}, not {kind.__name__}, are written here"
                )

    def encode(items: list[Any]) -> tuple[bytes, npt.NDArray[np.int64]]:
        check(items)
        return _join(list(map(bytes, items)))

    def encode_texts(items: list[Any]) -> tuple[bytes, npt.NDArray[np.int64]]:
        try:
            encoded, lengths = _core.join_texts(items)
            return encoded, np.frombuffer(lengths, np.int64)
        except TypeError:  # looking first would cost more than a tenth of the time
            check(items)
            raise

    return encode_texts if kinds is str else encode


def _rows(value: npt.NDArray[Any], ndim: int) -> npt.NDArray[Any]:
    """What lies below the first `ndim` axes, as elements."""
    found = np.empty(value.shape[:ndim] if value.ndim > ndim else (), dtype=object)
    for place in np.ndindex(found.shape):
        found[place] = value[place]
    return found


def _nested(value: Any, ndim: int) -> npt.NDArray[Any]:
    """What lies below the first `ndim` levels of a list, as elements."""
    lengths: list[int] = []
    items = [value]
    while len(lengths) < ndim and items and isinstance(items[0], (list, tuple)):
        n = len(items[0])
        if any(not isinstance(item, (list, tuple)) or len(item) != n for item in items):
            raise UsageError("lists of lists that differ in length are no array")
        lengths.append(n)
        items = [below for item in items for below in item]
    found = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):  # at once, NumPy would look into the items
        found[i] = item
    return found.reshape(lengths)


def as_objects(value: Any, ndim: int, name: str) -> npt.NDArray[Any]:
    """An array of what becomes an element each, of up to `ndim` axes."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "OTUS":
        return value
    if name != "vlen_array":
        return np.asarray(value, dtype=object)
    return _rows(value, ndim) if isinstance(value, np.ndarray) else _nested(value, ndim)


def _repeat(source: npt.NDArray[Any], shape: Shape) -> npt.NDArray[Any]:
    while source.ndim > len(shape) and source.shape[0] == 1:
        source = source[0]
    try:
        return np.broadcast_to(source, shape)
    except ValueError:
        raise UsageError(
            f"a value of shape {source.shape} does not fit a selection of shape {shape}"
        ) from None


def pack(
    source: npt.NDArray[Any], shape: Shape, encode: Encoder, may_be_one: bool
) -> tuple[bytes, npt.NDArray[np.int64]]:
    """The bytes of all elements and the offsets between them: n + 1, or 2 for one element
    that is meant for all."""
    if not (may_be_one and source.ndim == 0):
        source = _repeat(source, shape)
    items = source.ravel().tolist()
    encoded, lengths = encode(items)
    offsets = np.zeros(len(items) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return encoded, offsets
