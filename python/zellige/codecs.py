"""Codecs by themselves: to say what an array is stored with, and to encode and decode.

The classes of version 3 have the names and parameters of zarr-python::

    zellige.create_array("a.zarr", data=data, compressors=zellige.codecs.ZstdCodec(level=5))

The short names are those of numcodecs; they encode and decode buffers too::

    data = zellige.codecs.Zstd().decode(buffer)
    zellige.codecs.Zstd().decode(buffer, out=array)  # into memory that is there

:class:`Chain` does so for any list of codecs, also for the elements of a whole chunk.
:func:`register` makes codecs of numcodecs, or your own, known to the engine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, ClassVar, Literal

import numpy as np

from . import _core
from .buffers import as_bytes, decode, decode_into, encode
from .choices import (
    BloscCname,
    BloscShuffle,
    Endian,
    ShardingCodecIndexLocation,
    SubchunkWriteOrder,
)
from .coding import check_order
from .dtype import fill_to_json, memory_dtype, numpy_dtype, zarr_data_type
from .errors import UnsupportedError, UsageError
from .filters import (
    BZ2,
    CRC32,
    CRC32C,
    JSON,
    LZ4,
    LZMA,
    ZFPY,
    Adler32,
    AsType,
    Base64,
    BitRound,
    Blosc,
    Categorize,
    Delta,
    FixedScaleOffset,
    Fletcher32,
    GZip,
    JenkinsLookup3,
    MsgPack,
    PackBits,
    Quantize,
    Shuffle,
    VLenArray,
    VLenBytes,
    VLenUTF8,
    Zlib,
    Zstd,
    get_codec,
)
from .foreign import register

__all__ = [
    "BZ2",
    "CRC32",
    "CRC32C",
    "JSON",
    "LZ4",
    "LZMA",
    "ZFPY",
    "Adler32",
    "AsType",
    "Base64",
    "BitRound",
    "Blosc",
    "BloscCname",
    "BloscCodec",
    "BloscShuffle",
    "BytesCodec",
    "CastValue",
    "Categorize",
    "Chain",
    "Crc32cCodec",
    "Delta",
    "Endian",
    "FixedScaleOffset",
    "Fletcher32",
    "GZip",
    "GzipCodec",
    "JenkinsLookup3",
    "MsgPack",
    "PackBits",
    "Quantize",
    "ScaleOffset",
    "ShardingCodec",
    "ShardingCodecIndexLocation",
    "Shuffle",
    "SubchunkWriteOrder",
    "TransposeCodec",
    "VLenArray",
    "VLenBytes",
    "VLenBytesCodec",
    "VLenUTF8",
    "VLenUTF8Codec",
    "Zlib",
    "Zstd",
    "ZstdCodec",
    "from_dict",
    "get_codec",
    "register",
]


# ---------------------------------------------------------------------- version 3


class Codec:
    """A codec of version 3: a name and a configuration."""

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, Enum):  # a choice by its word
                object.__setattr__(self, field.name, value.value)

    def configuration(self) -> dict[str, Any]:
        """Its members as JSON; those that are None are left to the library."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)  # type: ignore[arg-type]
            if getattr(self, field.name) is not None
        }

    def to_dict(self) -> dict[str, Any]:
        """The codec as documents have it."""
        configuration = self.configuration()
        if not configuration:
            return {"name": self.name}
        return {"name": self.name, "configuration": configuration}


@dataclass(frozen=True, kw_only=True)
class BytesCodec(Codec):
    """Elements as they are, in one byte order; None for single bytes, which have none."""

    name = "bytes"
    endian: Literal["little", "big"] | Endian | None = "little"


@dataclass(frozen=True, kw_only=True)
class BloscCodec(Codec):
    """Blosc; `typesize` and `shuffle` are chosen by the data type when they are None."""

    name = "blosc"
    typesize: int | None = None
    cname: Literal["lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"] | BloscCname = (
        "zstd"
    )
    clevel: int = 5
    shuffle: Literal["noshuffle", "shuffle", "bitshuffle"] | BloscShuffle | None = None
    blocksize: int = 0


@dataclass(frozen=True, kw_only=True)
class GzipCodec(Codec):
    """gzip."""

    name = "gzip"
    level: int = 5


@dataclass(frozen=True, kw_only=True)
class ZstdCodec(Codec):
    """Zstandard."""

    name = "zstd"
    level: int = 0
    checksum: bool = False


@dataclass(frozen=True)
class Crc32cCodec(Codec):
    """Four bytes of CRC-32C behind the data."""

    name = "crc32c"


@dataclass(frozen=True, kw_only=True)
class TransposeCodec(Codec):
    """Axes in another order."""

    name = "transpose"
    order: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "order", tuple(int(axis) for axis in self.order))

    def configuration(self) -> dict[str, Any]:
        return {"order": list(self.order)}


@dataclass(frozen=True)
class VLenUTF8Codec(Codec):
    """Texts behind their lengths."""

    name = "vlen-utf8"


@dataclass(frozen=True)
class VLenBytesCodec(Codec):
    """Runs of bytes behind their lengths."""

    name = "vlen-bytes"


@dataclass(frozen=True, kw_only=True)
class ScaleOffset(Codec):
    """``(x - offset) * scale`` of each element."""

    name = "scale_offset"
    offset: Any = 0
    scale: Any = 1


@dataclass(frozen=True, kw_only=True)
class CastValue(Codec):
    """Elements of another type; what does not fit needs a rule."""

    name = "cast_value"
    data_type: Any
    rounding: Literal[
        "nearest-even",
        "towards-zero",
        "towards-positive",
        "towards-negative",
        "nearest-away",
    ] = "nearest-even"
    out_of_range: Literal["clamp", "wrap"] | None = None
    scalar_map: Any = None

    def configuration(self) -> dict[str, Any]:
        members = super().configuration()
        if not isinstance(self.data_type, (str, Mapping)):
            members["data_type"] = _definition(zarr_data_type(self.data_type, 3)[0])
        return members


@dataclass(frozen=True, kw_only=True)
class ShardingCodec(Codec):
    """Inner chunks, each through `codecs`, and an index of where they lie.

    In which order inner chunks are written is said to arrays, not here.
    """

    name = "sharding_indexed"
    chunk_shape: tuple[int, ...]
    codecs: tuple[Any, ...] = (BytesCodec(),)
    index_codecs: tuple[Any, ...] = (BytesCodec(), Crc32cCodec())
    index_location: Literal["start", "end"] | ShardingCodecIndexLocation = "end"
    subchunk_write_order: Literal["morton"] = "morton"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_order(self)
        shape = (
            (self.chunk_shape,) if isinstance(self.chunk_shape, int) else self.chunk_shape
        )
        object.__setattr__(self, "chunk_shape", tuple(int(n) for n in shape))
        for name in ("codecs", "index_codecs"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def configuration(self) -> dict[str, Any]:
        return {
            "chunk_shape": list(self.chunk_shape),
            "codecs": [_definition(codec) for codec in self.codecs],
            "index_codecs": [_definition(codec) for codec in self.index_codecs],
            "index_location": self.index_location,
        }


_CLASSES: dict[str, type[Codec]] = {
    cls.name: cls
    for cls in (
        BloscCodec,
        BytesCodec,
        CastValue,
        Crc32cCodec,
        GzipCodec,
        ScaleOffset,
        ShardingCodec,
        TransposeCodec,
        VLenBytesCodec,
        VLenUTF8Codec,
        ZstdCodec,
    )
}


def from_dict(codec: str | Mapping[str, Any]) -> Any:
    """The codec of a definition in a document of version 3, or of a numcodecs one."""
    if isinstance(codec, str):
        codec = {"name": codec}
    if "id" in codec:
        return get_codec(codec)
    name, configuration = codec["name"], dict(codec.get("configuration") or {})
    if name.startswith("numcodecs."):
        return get_codec({"id": name.removeprefix("numcodecs."), **configuration})
    if name not in _CLASSES:
        raise UnsupportedError(f"codec {name}: there is no class for it")
    if name == BytesCodec.name:
        configuration.setdefault("endian", None)
    return _CLASSES[name](**configuration)


# ---------------------------------------------------------------------- chains


def _definition(codec: Any) -> Any:
    """A codec as JSON."""
    if isinstance(codec, str):
        return json.loads(codec) if codec.startswith("{") else codec
    return codec.to_dict() if hasattr(codec, "to_dict") else codec


class Chain:
    """Codecs one behind the other, as an array of version 3 has them.

    Without `dtype` they go from bytes to bytes. With it and the `shape` of a chunk, from
    the elements of the chunk to what is stored of it.
    """

    def __init__(
        self,
        codecs: Any,
        *,
        dtype: Any = None,
        shape: int | Iterable[int] = (),
        fill_value: Any = None,
    ) -> None:
        if isinstance(codecs, (str, Mapping)) or not isinstance(codecs, Iterable):
            codecs = [codecs]
        self.codecs = [_definition(codec) for codec in codecs]
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype: np.dtype[Any] | None = None
        data_type = fill = None
        if dtype is not None:
            data_type = zarr_data_type(dtype, 3)[0]
            fill = fill_to_json(fill_value, dtype, 3)
            self.dtype = _memory_dtype(dtype)
        self._handle = _core.open_codec(
            json.dumps(self.codecs), 3, data_type, fill, self.shape
        )

    def encode(self, data: Any) -> bytes:
        """What is stored: of a chunk, or of bytes."""
        if self.dtype is not None:
            data = np.asarray(data, dtype=self.dtype)
            if data.shape != self.shape:
                raise UsageError(f"a chunk has the shape {self.shape}, not {data.shape}")
        return encode(self._handle, as_bytes(data)[0])

    def decode(self, data: Any, out: Any = None) -> Any:
        """A chunk as an array, or bytes; or into `out`, which is given back."""
        buffer = as_bytes(data)[0]
        if out is None and self.dtype is None:
            return decode(self._handle, buffer)
        result = np.empty(self.shape, self.dtype) if out is None else out
        decode_into(self._handle, buffer, result)
        return result

    def __repr__(self) -> str:
        return f"<zellige.codecs.Chain {json.dumps(self.codecs)}>"


def _memory_dtype(dtype: Any) -> np.dtype[Any]:
    """The NumPy type of a data type in any words."""
    found = memory_dtype(dtype)
    if found is not None:
        return found
    if not isinstance(dtype, str):
        raise UnsupportedError(f"data type {dtype}: chains know types by their names")
    return numpy_dtype((dtype, dtype, 2 if dtype == "bfloat16" else 1, None, 1, ()))
