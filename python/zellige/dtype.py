"""Data types: which NumPy type elements have in memory, and what they are called in Zarr.

The binding describes a type as ``(name, part, n_bytes, unit, scale, fields)``: ``part`` is
the type of a complex number's parts or of a list's items, ``fields`` of a record are
``(name, shape, description)``.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from .errors import UsageError

__all__ = [
    "STRING",
    "element_bytes",
    "fill_to_json",
    "memory_dtype",
    "numpy_dtype",
    "told_dtype",
    "zarr_data_type",
    "zarr_name",
]

Description = tuple[str, str, int, "str | None", int, "tuple[Any, ...]"]

#: Strings of variable width where NumPy has them, else objects.
STRING: np.dtype[Any] = np.dtype(
    np.dtypes.StringDType()
    if hasattr(np, "dtypes") and hasattr(np.dtypes, "StringDType")
    else object
)
_NARROW = {"int2": "int8", "int4": "int8", "uint2": "uint8", "uint4": "uint8"}
_COMPLEX = {"float32": "complex64", "float64": "complex128"}
_VARIABLE = {"string": "vlen-utf8", "bytes": "vlen-bytes"}
_VARIABLE_BYTES = 64  # that an element of variable length is taken for


# ---------------------------------------------------------------------- to NumPy


def _small_float(name: str, n_bytes: int) -> np.dtype[Any]:
    """The type of ml_dtypes, or unsigned integers of the same bits without it."""
    try:
        import ml_dtypes
    except ImportError:
        return np.dtype(f"u{n_bytes}")
    return np.dtype(getattr(ml_dtypes, name, f"u{n_bytes}"))


def _record(fields: tuple[Any, ...]) -> np.dtype[Any]:
    # Padding of version 2 has no name: NumPy gives it one by its position.
    items: list[Any] = [(name, numpy_dtype(inner), shape) for name, shape, inner in fields]
    return np.dtype(items)


@lru_cache(maxsize=256)
def numpy_dtype(description: Description) -> np.dtype[Any]:
    """The NumPy type of elements as the library lays them out in memory."""
    name, part, n_bytes, unit, scale, fields = description
    if name == "complex":
        if part in _COMPLEX:
            return np.dtype(_COMPLEX[part])
        half = numpy_dtype((part, part, n_bytes // 2, None, 1, ()))
        return np.dtype([("re", half), ("im", half)])
    if name in ("datetime64", "timedelta64"):
        count = "" if unit in (None, "generic") else f"[{scale}{unit}]"
        return np.dtype(name + count)
    if name == "raw":
        return np.dtype((np.void, n_bytes))
    if name == "fixed_bytes":
        return np.dtype((np.bytes_, n_bytes))
    if name == "fixed_utf32":
        return np.dtype((np.str_, n_bytes // 4))
    if name == "struct":
        return _record(fields)
    if name == "string":
        return STRING
    if name in ("bytes", "vlen_array"):
        return np.dtype(object)
    if name == "bfloat16" or (name.startswith("float") and "_" in name):
        return _small_float(name, n_bytes)
    return np.dtype(_NARROW.get(name, name))


# ---------------------------------------------------------------------- to Zarr


def memory_dtype(dtype: Any) -> np.dtype[Any] | None:
    """A NumPy type for what a caller gave as `dtype`; None when it is a name of Zarr."""
    if isinstance(dtype, Mapping) or dtype is str or dtype is bytes:
        return None
    if isinstance(dtype, str) and (
        dtype in _VARIABLE or dtype in _NARROW or dtype in ("|O", "str")
    ):
        return None
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        if isinstance(dtype, str):
            return None
        raise
    return found


def told_dtype(dtype: Any) -> Any:
    """A type of zarr-python in words that are known here; anything else as it is."""
    if not hasattr(dtype, "to_native_dtype"):
        return dtype
    told = dtype.to_json(zarr_format=3)
    name = told.get("name") if isinstance(told, Mapping) else told
    if name in ("string", "bytes", "variable_length_bytes"):
        return "string" if name == "string" else "bytes"
    return dtype.to_native_dtype()


def element_bytes(dtype: Any) -> int:
    """The bytes that an element takes, or is taken to take."""
    found = memory_dtype(dtype)
    if found is not None and found.kind not in "OT":
        return found.itemsize
    return 8 if zarr_name(dtype) not in ("string", "bytes") else _VARIABLE_BYTES


def _time_unit(dtype: np.dtype[Any]) -> dict[str, Any]:
    unit, scale = np.datetime_data(dtype)
    return {"unit": unit, "scale_factor": scale}


def _name_v3(dtype: np.dtype[Any]) -> Any:
    if dtype.subdtype is not None:
        raise UsageError("version 3 has no records with arrays as fields")
    if dtype.names is not None:
        fields = [{"name": n, "data_type": _name_v3(dtype[n])} for n in dtype.names]
        return {"name": "struct", "configuration": {"fields": fields}}
    if dtype.kind == "M":
        return {"name": "numpy.datetime64", "configuration": _time_unit(dtype)}
    if dtype.kind == "m":
        return {"name": "numpy.timedelta64", "configuration": _time_unit(dtype)}
    fixed = {"S": "null_terminated_bytes", "U": "fixed_length_utf32"}.get(dtype.kind)
    if fixed is not None:
        return {"name": fixed, "configuration": {"length_bytes": dtype.itemsize}}
    if dtype.type is np.void:
        return f"r{8 * dtype.itemsize}"
    return dtype.name


def _name_v2(dtype: np.dtype[Any]) -> Any:
    if dtype.names is None:
        return dtype.str
    fields: list[list[Any]] = []
    for name in dtype.names:
        base, shape = dtype[name].base, dtype[name].shape
        fields.append(
            [name, _name_v2(base), list(shape)] if shape else [name, _name_v2(base)]
        )
    return fields


def zarr_name(dtype: Any) -> str | None:
    """The name of a type of variable length, or that of Zarr which was given; else None."""
    found = memory_dtype(dtype)
    if found is not None:
        return "string" if found.kind == "T" else None
    if isinstance(dtype, Mapping):
        dtype = dtype.get("name")
    name = {
        str: "string",
        "str": "string",
        bytes: "bytes",
        "variable_length_bytes": "bytes",
    }.get(dtype, dtype)
    return name if isinstance(name, str) else None


def zarr_data_type(dtype: Any, zarr_format: int) -> tuple[str, str | None]:
    """The data type as the library wants it, and the object codec of version 2 if any."""
    found = memory_dtype(dtype)
    if found is None:
        name = (
            {str: "string", "str": "string", bytes: "bytes"}.get(dtype, dtype)
            if isinstance(dtype, (str, type))
            else dtype
        )
    elif found.kind == "T":
        name = "string"
    elif found.kind == "O":
        raise UsageError('dtype object could be anything: say "string" or "bytes"')
    else:
        name = _name_v3(found) if zarr_format == 3 else _name_v2(found)
    if zarr_format == 2 and name in ("string", "bytes"):
        return "|O", _VARIABLE[name]
    return name if isinstance(name, str) else json.dumps(name), None


def _float_to_json(value: float) -> Any:
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _element_to_json(value: Any, dtype: np.dtype[Any], zarr_format: int) -> Any:
    item: Any = np.asarray(value, dtype=dtype)
    if dtype.names is not None and zarr_format == 3:
        return {n: _element_to_json(item[n], dtype[n], 3) for n in dtype.names}
    if dtype.names is not None or dtype.kind == "S" or dtype.type is np.void:
        if zarr_format == 3 and dtype.kind == "V":
            return list(item.tobytes())
        return base64.b64encode(item.tobytes()).decode()
    if dtype.kind == "c":
        return [_float_to_json(float(item.real)), _float_to_json(float(item.imag))]
    if dtype.kind in "mM":
        return int(item.astype(np.int64))
    if dtype.kind in "biuU":
        return item.item()
    return _float_to_json(float(item))


def fill_to_json(value: Any, dtype: Any, zarr_format: int) -> str | None:
    """A fill value as JSON; None stays the zero of the type."""
    if value is None:
        return None
    found = memory_dtype(dtype)
    if isinstance(value, bytes) and (found is None or found.kind == "O"):
        return json.dumps(base64.b64encode(value).decode())
    if found is not None and found.kind not in "OT":
        value = _element_to_json(value, found, zarr_format)
    elif isinstance(value, float):
        value = _float_to_json(value)
    return json.dumps(value)
