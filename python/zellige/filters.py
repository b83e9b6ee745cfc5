"""Codecs by the names and parameters of numcodecs, run by the library.

Each has ``encode(buf)``, ``decode(buf, out=None)`` and ``get_config()``. Those that know
what their bytes hold give arrays, the others bytes. In documents of version 3 they are
called ``numcodecs.<id>``.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from . import _core
from .buffers import BYTES, as_bytes, decode, decode_into, encode, open_codec
from .errors import UnsupportedError, UsageError

_CLASSES: dict[str, type[Codec]] = {}


def get_codec(config: Mapping[str, Any]) -> Codec:
    """The codec of a configuration, as ``get_config`` gives it."""
    members = dict(config)
    codec_id = members.pop("id", None)
    if codec_id not in _CLASSES:
        raise UnsupportedError(f"codec {codec_id}: there is no class for it")
    return _CLASSES[codec_id].from_config(members)


def _type_string(dtype: Any) -> str:
    text: str = np.dtype(dtype).str
    return text


class Codec:
    """What all have in common."""

    codec_id: ClassVar[str]

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "codec_id"):
            _CLASSES[cls.codec_id] = cls

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Codec:
        """The codec of these members; an id among them is its own."""
        return cls(**{name: value for name, value in config.items() if name != "id"})

    def get_config(self) -> dict[str, Any]:
        """The configuration as documents of version 2 have it."""
        members = {
            field.name: getattr(self, field.name)
            for field in fields(self)  # type: ignore[arg-type]
        }
        return {"id": self.codec_id, **members}

    def to_dict(self) -> dict[str, Any]:
        """The codec as documents of version 3 have it."""
        configuration = self.get_config()
        return {
            "name": f"numcodecs.{configuration.pop('id')}",
            "configuration": configuration,
        }

    @cached_property
    def _text(self) -> str:
        members = self.get_config()
        return json.dumps({k: v for k, v in members.items() if v is not None})

    def _types(self) -> tuple[str | None, str | None]:
        """Of decoded and of encoded elements; None: bytes of which nothing is known."""
        return None, None

    def encode(self, buf: Any) -> Any:
        """What the bytes of a buffer become."""
        data, dtype = as_bytes(buf)
        encoded = encode(open_codec(self._text, dtype), data)
        item = self._types()[1]
        return encoded if item is None else np.frombuffer(encoded, item)

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Back; into `out`, which is given back, if there is one."""
        data, _ = as_bytes(buf)
        handle = open_codec(self._text, BYTES)
        item, encoded = self._types()
        if out is None and item is None:
            return decode(handle, data)
        if out is None and encoded is not None:
            out = np.empty(len(data) // np.dtype(encoded).itemsize, item)
        if out is None:
            return np.frombuffer(decode(handle, data), item)
        decode_into(handle, data, out)
        return out


# ---------------------------------------------------------------------- compressors


@dataclass(frozen=True)
class Zstd(Codec):
    """Zstandard."""

    codec_id = "zstd"
    level: int = 0
    checksum: bool = False


@dataclass(frozen=True)
class GZip(Codec):
    """gzip."""

    codec_id = "gzip"
    level: int = 1


@dataclass(frozen=True)
class Zlib(Codec):
    """zlib."""

    codec_id = "zlib"
    level: int = 1


@dataclass(frozen=True)
class BZ2(Codec):
    """bzip2."""

    codec_id = "bz2"
    level: int = 1


@dataclass(frozen=True)
class LZMA(Codec):
    """xz and its relatives; the numbers are those of Python's lzma."""

    codec_id = "lzma"
    format: int = 1
    check: int = -1
    preset: int | None = None
    filters: Any = None


@dataclass(frozen=True)
class LZ4(Codec):
    """LZ4."""

    codec_id = "lz4"
    acceleration: int = 1


@dataclass(frozen=True)
class Blosc(Codec):
    """Blosc; shuffle -1 chooses by the size of elements, which is that of the buffer's
    unless `typesize` says another one."""

    NOSHUFFLE: ClassVar[int] = 0
    SHUFFLE: ClassVar[int] = 1
    BITSHUFFLE: ClassVar[int] = 2
    AUTOSHUFFLE: ClassVar[int] = -1

    codec_id = "blosc"
    cname: str = "lz4"
    clevel: int = 5
    shuffle: int = 1
    blocksize: int = 0
    typesize: int | None = None

    def get_config(self) -> dict[str, Any]:
        members = super().get_config()
        if self.typesize is None:
            del members["typesize"]
        return members

    def encode(self, buf: Any) -> Any:
        if self.typesize is None:
            return super().encode(buf)
        data, _ = as_bytes(buf)
        return super().encode(np.frombuffer(data, f"V{self.typesize}"))


@dataclass(frozen=True)
class Base64(Codec):
    """base64."""

    codec_id = "base64"


# ---------------------------------------------------------------------- checksums


@dataclass(frozen=True)
class _Sum(Codec):
    """Four bytes at the start or the end."""

    location: Literal["start", "end"] | None = None

    def get_config(self) -> dict[str, Any]:
        members = super().get_config()
        if self.location is None:
            del members["location"]
        return members


@dataclass(frozen=True)
class Adler32(_Sum):
    """Adler-32, before the data unless `location` says otherwise."""

    codec_id = "adler32"


@dataclass(frozen=True)
class CRC32(_Sum):
    """CRC-32, before the data unless `location` says otherwise."""

    codec_id = "crc32"


@dataclass(frozen=True)
class CRC32C(_Sum):
    """CRC-32C, behind the data unless `location` says otherwise."""

    codec_id = "crc32c"


@dataclass(frozen=True)
class Fletcher32(Codec):
    """HDF5's Fletcher-32 behind the data."""

    codec_id = "fletcher32"


@dataclass(frozen=True)
class JenkinsLookup3(Codec):
    """Jenkins' lookup3 behind the data, of `prefix` and the data."""

    codec_id = "jenkins_lookup3"
    initval: int = 0
    prefix: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.prefix, bytes):
            text = base64.b64encode(self.prefix).decode("ascii")
            object.__setattr__(self, "prefix", text)


# ---------------------------------------------------------------------- filters


@dataclass(frozen=True)
class Shuffle(Codec):
    """The first bytes of all elements, then the second ones, and so on."""

    codec_id = "shuffle"
    elementsize: int = 4


class _Typed(Codec):
    """A filter whose `dtype` becomes `astype`, which is the same unless it is given."""

    dtype: Any
    astype: Any

    def __post_init__(self) -> None:
        astype = self.dtype if self.astype is None else self.astype
        object.__setattr__(self, "dtype", _type_string(self.dtype))
        object.__setattr__(self, "astype", _type_string(astype))

    def _types(self) -> tuple[str | None, str | None]:
        return self.dtype, self.astype


@dataclass(frozen=True)
class Delta(_Typed):
    """Differences of neighbours."""

    codec_id = "delta"
    dtype: Any
    astype: Any = None


@dataclass(frozen=True)
class FixedScaleOffset(_Typed):
    """``(x - offset) * scale``, rounded."""

    codec_id = "fixedscaleoffset"
    offset: Any
    scale: Any
    dtype: Any
    astype: Any = None


@dataclass(frozen=True)
class Quantize(_Typed):
    """Floats of so many decimal digits."""

    codec_id = "quantize"
    digits: int
    dtype: Any
    astype: Any = None


@dataclass(frozen=True)
class AsType(Codec):
    """Elements of another type."""

    codec_id = "astype"
    encode_dtype: Any
    decode_dtype: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "encode_dtype", _type_string(self.encode_dtype))
        object.__setattr__(self, "decode_dtype", _type_string(self.decode_dtype))

    def _types(self) -> tuple[str | None, str | None]:
        return self.decode_dtype, self.encode_dtype


@dataclass(frozen=True)
class BitRound(Codec):
    """Floats with so many bits of their mantissa; decoding changes nothing."""

    codec_id = "bitround"
    keepbits: int

    def encode(self, buf: Any) -> Any:
        encoded = super().encode(buf)
        if not isinstance(buf, np.ndarray):
            return encoded
        items: np.ndarray[Any, Any] = np.frombuffer(encoded, buf.dtype)
        if buf.flags.f_contiguous and not buf.flags.c_contiguous:
            return items.reshape(buf.shape[::-1]).T
        return items.reshape(buf.shape)

    def decode(self, buf: Any, out: Any = None) -> Any:
        if out is None:
            return buf
        return super().decode(buf, out)


@dataclass(frozen=True)
class PackBits(Codec):
    """Booleans as bits."""

    codec_id = "packbits"

    def encode(self, buf: Any) -> Any:
        return super().encode(np.asarray(buf, dtype=bool))

    def _types(self) -> tuple[str | None, str | None]:
        return "|b1", None


@dataclass(frozen=True)
class Categorize(Codec):
    """Texts of fixed width as numbers, 0 for what is in no category."""

    codec_id = "categorize"
    labels: Any
    dtype: Any
    astype: Any = "u1"

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", list(self.labels))
        object.__setattr__(self, "dtype", _type_string(self.dtype))
        object.__setattr__(self, "astype", _type_string(self.astype))

    def __hash__(self) -> int:
        return hash((tuple(self.labels), self.dtype, self.astype))

    def _handle(self, n: int) -> Any:
        if self.dtype == "|O":
            raise UnsupportedError("codec categorize: objects are encoded in arrays only")
        return _core.open_codec(self._text, 2, self.dtype, None, (n,))

    def encode(self, buf: Any) -> Any:
        items = np.asarray(buf, dtype=self.dtype).reshape(-1)
        encoded = encode(self._handle(len(items)), as_bytes(items)[0])
        return np.frombuffer(encoded, self.astype)

    def decode(self, buf: Any, out: Any = None) -> Any:
        data, _ = as_bytes(buf)
        n = len(data) // np.dtype(self.astype).itemsize
        result = np.empty(n, self.dtype) if out is None else out
        decode_into(self._handle(n), data, result)
        return result


# ---------------------------------------------------------------------- objects
#
# Elements of variable length go by way of an array of one chunk in memory.


def _one_chunk(codec: Codec, shape: tuple[int, ...]) -> Any:
    from .create import create_array
    from .store import MemoryStore

    return create_array(
        MemoryStore(),
        shape=shape,
        chunks=shape,
        dtype="|O",
        zarr_format=2,
        filters=[codec.get_config()],
        compressors=None,
        keep_empty=True,
    )


def _key(shape: tuple[int, ...]) -> str:
    return ".".join("0" for _ in shape) or "0"


class _Objects(Codec):
    """Elements are objects. What is encoded says their number or shape, at the front."""

    def _shape(self, data: bytes) -> tuple[int, ...]:
        n = int.from_bytes(data[:4], "little")
        if len(data) < 4 * (n + 1):
            raise UsageError(f"{len(data)} bytes are too few for {n} elements")
        return (n,)

    def _nothing(self) -> bytes:
        """No elements, encoded: no array has such a chunk."""
        return bytes(4)

    def encode(self, buf: Any) -> bytes:
        items = buf if isinstance(buf, np.ndarray) else np.array(buf, dtype=object)
        if items.size == 0:
            return self._nothing()
        array = _one_chunk(self, items.shape)
        array[...] = items
        return bytes(array.store.get(_key(items.shape)))

    def decode(self, buf: Any, out: Any = None) -> Any:
        data = bytes(as_bytes(buf)[0])
        shape = self._shape(data)
        items = np.empty(shape, dtype=object)
        if items.size > 0:
            array = _one_chunk(self, shape)
            array.store.put(_key(shape), data)
            items[...] = array[...]
        if out is None:
            return items
        out[...] = items.reshape(out.shape)
        return out


@dataclass(frozen=True)
class VLenUTF8(_Objects):
    """Texts behind their lengths."""

    codec_id = "vlen-utf8"


@dataclass(frozen=True)
class VLenBytes(_Objects):
    """Runs of bytes behind their lengths."""

    codec_id = "vlen-bytes"


@dataclass(frozen=True)
class VLenArray(_Objects):
    """Lists of numbers behind their lengths."""

    codec_id = "vlen-array"
    dtype: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", _type_string(self.dtype))


@dataclass(frozen=True)
class JSON(_Objects):
    """Texts as one JSON list, with their shape at its end."""

    codec_id = "json2"
    encoding: str = "utf-8"
    skipkeys: bool = False
    ensure_ascii: bool = True
    check_circular: bool = True
    allow_nan: bool = True
    sort_keys: bool = True
    indent: int | None = None
    separators: Any = (",", ":")
    strict: bool = True

    def __post_init__(self) -> None:
        if self.separators is not None:
            object.__setattr__(self, "separators", tuple(self.separators))

    def get_config(self) -> dict[str, Any]:
        members = super().get_config()
        if self.separators is not None:
            members["separators"] = list(self.separators)
        return members

    def _shape(self, data: bytes) -> tuple[int, ...]:
        items = json.loads(data)
        if not isinstance(items, list) or not items or not isinstance(items[-1], list):
            raise UsageError("no JSON list with a shape at its end")
        return tuple(int(n) for n in items[-1])

    def _nothing(self) -> bytes:
        return b'["|O",[0]]'


@dataclass(frozen=True)
class MsgPack(_Objects):
    """Texts of one axis as one list of MessagePack, with their shape at its end."""

    codec_id = "msgpack2"
    use_single_float: bool = False
    use_bin_type: bool = True
    raw: bool = False

    def _shape(self, data: bytes) -> tuple[int, ...]:
        head = data[0] if data else 0
        n_bytes = {0xDC: 2, 0xDD: 4}.get(head, 0)
        n = int.from_bytes(data[1 : 1 + n_bytes], "big") if n_bytes else head - 0x90
        if not 2 <= n <= len(data) or (not n_bytes and n > 15):
            raise UsageError("no list of MessagePack with a type and a shape at its end")
        return (n - 2,)

    def _nothing(self) -> bytes:
        return b"\x92\xa2|O\x91\x00"


# ---------------------------------------------------------------------- zfp


@dataclass(frozen=True)
class ZFPY(Codec):
    """zfp of an array of up to four axes. Decoding needs `out`: its type and shape."""

    codec_id = "zfpy"
    mode: int = 4
    tolerance: float = -1
    rate: float = -1
    precision: int = -1

    def _handle(self, array: Any) -> Any:
        return _core.open_codec(self._text, 2, array.dtype.str, None, array.shape)

    def encode(self, buf: Any) -> bytes:
        array = np.ascontiguousarray(buf)
        return encode(self._handle(array), as_bytes(array)[0])

    def decode(self, buf: Any, out: Any = None) -> Any:
        if not isinstance(out, np.ndarray):
            raise UsageError("codec zfpy: out says of which type and shape the array is")
        decode_into(self._handle(out), as_bytes(buf)[0], out)
        return out
