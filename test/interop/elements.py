"""Types, and elements that try their corners."""

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class Type:
    """What Zellige is told, the fill value, and what the elements are in memory."""

    dtype: Any
    fill: Any
    memory: Any
    n_bits: int = 8  # used in the byte of a narrow type
    serializer: str = "bytes"
    fill_element: Any = None  # where `fill` is JSON

    def element(self):
        return self.fill if self.fill_element is None else self.fill_element


def number(name, fill):
    return Type(name, fill, np.dtype(name))


def narrow(name, fill, n_bits=8):
    memory = getattr(ml_dtypes, name) if name.startswith(("b", "f")) else name[:-1] + "8"
    return Type(name, fill, np.dtype(memory), n_bits)


def pair(part, memory=None):
    """Complex numbers that NumPy lacks."""
    half = np.dtype(memory or getattr(ml_dtypes, part))
    record = np.dtype([("re", half), ("im", half)])
    return Type(f"complex_{part}", [1.5, -2.0], record, fill_element=(1.5, -2.0))


def big(kind):
    memory = kind.memory.newbyteorder(">")
    return Type(memory, kind.fill, memory)


NAN = float("nan")
RECORD = np.dtype([("x", "f4"), ("né", "i2"), ("z", "u1")])
NESTED = np.dtype([("a", ">i4"), ("b", [("c", "S3"), ("d", "<f8")]), ("e", "<u2", (2, 3))])
THREE = np.void(b"\1\2\3")
RAW_BYTES = {"name": "raw_bytes", "configuration": {"length_bytes": 3}}

BOTH = {
    "bool": number("bool", True),
    **{
        f"{sign}int{n}": number(f"{sign}int{n}", 7)
        for sign in ("", "u")
        for n in (8, 16, 32, 64)
    },
    "float16": number("float16", NAN),
    "float32": number("float32", NAN),
    "float64": number("float64", float("-inf")),
    "complex64": number("complex64", complex(NAN, -1.5)),
    "complex128": number("complex128", 2.5 - 1.5j),
    "datetime64": number("datetime64[10us]", np.datetime64("NaT", "us")),
    "timedelta64": number("timedelta64[D]", np.timedelta64(3, "D")),
    "fixed_bytes": number("S5", b"ab"),
    "fixed_utf32": number("U4", "né"),
    "struct": Type(RECORD, (1.5, -2, 3), RECORD),
    "string": Type("string", "né", np.dtype(object), serializer="vlen-utf8"),
    "bytes": Type("bytes", b"\0\xff", np.dtype(object), serializer="vlen-bytes"),
}
TYPES_3 = {
    **BOTH,
    "raw": Type("r24", [1, 2, 3], np.dtype("V3"), fill_element=THREE),
    "raw_bytes": Type(RAW_BYTES, "AQID", np.dtype("V3"), fill_element=THREE),
    "int2": narrow("int2", -2, 2),
    "int4": narrow("int4", -7, 4),
    "uint2": narrow("uint2", 2, 2),
    "uint4": narrow("uint4", 7, 4),
    "bfloat16": narrow("bfloat16", NAN),
    "float4_e2m1fn": narrow("float4_e2m1fn", 1.5, 4),
    "float6_e2m3fn": narrow("float6_e2m3fn", 1.5, 6),
    "float6_e3m2fn": narrow("float6_e3m2fn", 1.5, 6),
    "float8_e3m4": narrow("float8_e3m4", 1.5),
    "float8_e4m3": narrow("float8_e4m3", 1.5),
    "float8_e4m3b11fnuz": narrow("float8_e4m3b11fnuz", 1.5),
    "float8_e4m3fnuz": narrow("float8_e4m3fnuz", 1.5),
    "float8_e5m2": narrow("float8_e5m2", NAN),
    "float8_e5m2fnuz": narrow("float8_e5m2fnuz", 1.5),
    "float8_e8m0fnu": narrow("float8_e8m0fnu", 2.0),
    "complex_float16": pair("float16", "float16"),
    "complex_bfloat16": pair("bfloat16"),
    "complex_float8_e4m3": pair("float8_e4m3"),
}
TYPES_2 = {
    **BOTH,
    **{f"big_{name}": big(kind) for name, kind in BOTH.items()
       if kind.memory.newbyteorder() != kind.memory},
    "nested": Type(NESTED, (1, (b"x", 2.5), 3), NESTED),
    "raw": Type("V3", THREE, np.dtype("V3")),
}  # fmt: skip

# ---------------------------------------------------------------------- elements

WORDS = ["", "a", "né", "\U0001f600 and more", "nul\0inside", "x" * 300]
REALS = [NAN, float("inf"), float("-inf"), -0.0, 6e-8, 1.0]


def _numbers(memory, n, rng):
    reals = rng.normal(0, 1000, 2 * n)
    reals[: n // 2] = np.resize(REALS, n // 2)
    return (reals.view("c16") if memory.kind == "c" else reals[:n]).astype(memory)


def _record(memory, n):
    found = np.zeros(n, memory)
    for name in memory.names:
        base, shape = memory[name].base, memory[name].shape
        many = int(np.prod(shape, dtype=int))
        found[name] = _sample(base, n * many).reshape(n, *shape)
    return found


def _sample(memory, n, n_bits=8):
    rng = np.random.default_rng(n)
    if memory.names is not None:
        return _record(memory, n)
    if memory == object:
        return np.resize(np.array(WORDS, object), n)
    if memory.kind in "SU":
        words = [w.encode() for w in WORDS] if memory.kind == "S" else WORDS
        return np.resize(np.array(words), n).astype(memory)
    if memory.kind in "fc" and memory.type.__module__ == "numpy":
        return _numbers(memory, n, rng)
    if memory.kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    raw = rng.integers(0, 256, n * memory.itemsize).astype(
        "i1" if memory.kind == "i" else "u1"
    )
    return (raw << (8 - n_bits) >> (8 - n_bits)).view(memory)


def elements(kind, shape, empty=()):
    """An array of them, with boxes that hold only the fill value."""
    n = int(np.prod(shape, dtype=int))
    data = _sample(kind.memory, n, kind.n_bits)
    if kind.serializer == "vlen-bytes":
        data = np.array([*(text.encode() for text in data), None], object)[:-1]
    data = data.reshape(shape)
    for box in empty:
        data[box] = kind.element()
    return data


def plain(array):
    """Shape and elements in a form that compares: the bytes of little-endian elements, or
    a list of what has no fixed size."""
    array = np.asarray(array)
    if array.dtype.kind in "OT":
        return array.shape, [
            v.tobytes() if hasattr(v, "tobytes") else v for v in array.flat
        ]
    return array.shape, array.astype(array.dtype.newbyteorder("<")).tobytes()
