"""Fields: tensors of torch and arrays of others as arrays of NumPy, copied only off a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from threading import Lock
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import UnsupportedError

__all__ = ["Fields", "element_type"]

Field = npt.NDArray[Any]

#: Kinds of NumPy that can be stored: truth, whole numbers, numbers with a point, complex
#: ones, spans and times.
_KINDS = "biufcmM"
_KNOWN: dict[Any, np.dtype[Any]] = {}


def element_type(given: Any) -> np.dtype[Any]:
    """The type of NumPy for one of torch, or for anything that NumPy knows."""
    text = str(given)
    name = text.removeprefix("torch.")
    try:
        found = np.dtype(name if name != text else given)
    except TypeError as error:
        raise UnsupportedError(f"elements of type {text} cannot be stored") from error
    if found.kind not in _KINDS or found.itemsize > 16 or found.char in "gG":
        raise UnsupportedError(f"elements of type {text} cannot be stored")
    return found


def _checked(field: Any) -> Any:
    dtype = field.dtype
    if dtype not in _KNOWN:
        _KNOWN[dtype] = element_type(dtype)
    return field


def _as_array(field: Any) -> Field:
    """An array over the memory of a field, which lies in the memory of the CPU."""
    if isinstance(field, np.ndarray):
        array: Field = _checked(field)
    elif hasattr(field, "detach"):  # a tensor of torch
        array = _checked(field).numpy(force=True)
    elif hasattr(field, "__dlpack__"):
        array = _checked(np.from_dlpack(field))
    else:
        array = _checked(np.asarray(field))
    return array


class _Pinned:
    """Memory from which a GPU copies by itself, kept for the next write of any thread."""

    def __init__(self) -> None:
        self._free: list[Any] = []
        self._lock = Lock()

    def take(self, n_bytes: int) -> Any:
        with self._lock:
            for i, buffer in enumerate(self._free):
                if buffer.numel() >= n_bytes:
                    return self._free.pop(i)
            self._free.clear()  # too small for what is written now
        torch = import_module("torch")
        return torch.empty(n_bytes, dtype=torch.uint8, pin_memory=True)

    def give(self, buffer: Any) -> None:
        self._free.append(buffer)


_PINNED = _Pinned()
_ALIGNED = 256


class Fields:
    """The fields of one write as arrays, in a block that ends when they have been given on.

    Those on a GPU are copied together, after what their streams still have to do; then the
    block is entered, and the caller may change them.
    """

    def __init__(self, fields: Sequence[Any]) -> None:
        self._fields = fields
        self._buffer: Any = None

    @property
    def are_copies(self) -> bool:
        """True where the memory is not the caller's, and is used again."""
        return self._buffer is not None

    def __enter__(self) -> list[Field]:
        on_gpu = [field for field in self._fields if getattr(field, "is_cuda", False)]
        if not on_gpu:
            return [_as_array(field) for field in self._fields]
        copies = dict(zip(map(id, on_gpu), self._fetch(on_gpu)))
        return [
            copies[id(field)] if id(field) in copies else _as_array(field)
            for field in self._fields
        ]

    def _fetch(self, tensors: list[Any]) -> list[Field]:
        sizes = [-(-t.numel() * t.element_size() // _ALIGNED) * _ALIGNED for t in tensors]
        self._buffer = _PINNED.take(sum(sizes))
        arrays: list[Field] = []
        at = 0
        for tensor, size in zip(tensors, sizes):
            n_bytes = tensor.numel() * tensor.element_size()
            part = self._buffer[at : at + n_bytes].view(_checked(tensor).dtype)
            part = part.view(tensor.shape)
            part.copy_(tensor.detach(), non_blocking=True)
            arrays.append(part.numpy())
            at += size
        for device in {tensor.device for tensor in tensors}:
            import_module("torch").cuda.current_stream(device).synchronize()
        return arrays

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._buffer is not None:
            _PINNED.give(self._buffer)
