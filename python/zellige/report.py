"""Reports for people: what an array is, what a group holds."""

from __future__ import annotations

import json
import platform
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core

if TYPE_CHECKING:
    from .array import Array

__all__ = ["Report", "array_report", "lines", "print_debug_info", "size_text"]


class Report(str):
    """Text that shows as it reads when it is the value of a prompt."""

    def __repr__(self) -> str:
        return str(self)


def size_text(n_bytes: int) -> str:
    """1536 as "1536 (1.5 KiB)"."""
    size, unit = float(n_bytes), "bytes"
    for bigger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024:
            break
        size, unit = size / 1024, bigger
    return f"{n_bytes}" if unit == "bytes" else f"{n_bytes} ({size:.1f} {unit})"


def lines(pairs: list[tuple[str, Any]]) -> Report:
    """A name and a value on each line; values that are None are left out."""
    return Report(
        "\n".join(f"{name:<12}: {value}" for name, value in pairs if value is not None)
    )


def _codec_names(codecs: Any) -> str:
    if isinstance(codecs, dict):  # version 2
        found = [*(codecs.get("filters") or []), codecs.get("compressor")]
        return ", ".join(codec["id"] for codec in found if codec) or "none"
    names = [codec if isinstance(codec, str) else codec["name"] for codec in codecs]
    inner = [
        _codec_names(codec["configuration"]["codecs"])
        for codec in codecs
        if not isinstance(codec, str) and codec["name"] == "sharding_indexed"
    ]
    return ", ".join(names) + "".join(f" ({text})" for text in inner)


def array_report(array: Array, stored: tuple[int, int] | None = None) -> Report:
    """What an array is, one fact a line; `stored` is how many objects there are, and their
    bytes."""
    data_type = array.zarr_dtype
    sizes = (
        array.chunks if array._is_sharded or not array._is_rectilinear else "rectilinear"
    )
    return lines(
        [
            ("type", "array"),
            ("store", array.store.root or array.store.label),
            ("path", array.name),
            ("zarr format", array.zarr_format),
            ("shape", array.shape),
            ("dimensions", array.dimension_names),
            (
                "data type",
                data_type if isinstance(data_type, str) else json.dumps(data_type),
            ),
            ("numpy type", array.dtype),
            ("chunks", sizes),
            ("shards", array.shards),
            ("fill value", repr(array.fill_value)),
            ("codecs", _codec_names(array.codecs)),
            ("read only", array.read_only),
            ("n chunks", array.nchunks),
            ("n bytes", size_text(array.nbytes)),
            ("n stored", stored and stored[0]),
            ("bytes stored", stored and size_text(stored[1])),
        ]
    )


def print_debug_info() -> None:
    """Prints what a report of a fault should say: versions, and the libraries built in."""
    libraries = " ".join(_core.build_info().split())
    print(f"zellige: {_core.version()}\nbuilt with: {libraries}")
    print(f"numpy: {np.__version__}\npython: {platform.python_version()}")
    print(f"platform: {platform.platform()}")
