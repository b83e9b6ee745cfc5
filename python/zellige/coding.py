"""Codecs in the words of callers, as the JSON of a version of Zarr.

A codec may be given as JSON, by its name, or as an object of zarr-python (`to_dict`) or of
numcodecs (`get_config`). Those of one version are put into the words of the other.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from .document import to_json
from .dtype import element_bytes, zarr_name
from .errors import UnsupportedError, UsageError
from .foreign import know_class_of

__all__ = [
    "Parts",
    "as_codec",
    "check_order",
    "codecs_to_json",
    "inner_codecs",
    "is_auto",
    "split",
]

Parts = tuple[Any, Any, Any]  # filters, serializer, compressors

_ZSTD_V2 = {"id": "zstd", "level": 0}
_ZSTD_V3 = {"name": "zstd", "configuration": {"level": 0, "checksum": False}}
_BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
_SHUFFLES = ("noshuffle", "shuffle", "bitshuffle")
_OF_BOTH = (
    "blosc",
    "crc32c",
    "gzip",
    "zstd",
)  # codecs with a name of their own in version 3

#: Codecs that make bytes of elements. What stands before one is a filter, what stands
#: behind it a compressor.
_SERIALIZERS = frozenset(
    ("bytes", "endian", "sharding_indexed", "optional", "packbits", "zfp", "pcodec")
    + ("vlen-utf8", "vlen-bytes", "vlen-array", "json2", "msgpack2")
    + ("numcodecs.zfpy", "numcodecs.pcodec", "numcodecs.json2", "numcodecs.msgpack2")
    + ("numcodecs.vlen-utf8", "numcodecs.vlen-bytes", "numcodecs.vlen-array")
)

#: Filters of version 2 that take texts as they are.
_TEXT_CODECS = frozenset(("vlen-utf8", "json2", "msgpack2", "categorize"))


def is_auto(value: Any) -> bool:
    """True for the text that leaves a choice to the library."""
    return isinstance(value, str) and value == "auto"


# ---------------------------------------------------------------------- one codec


def check_order(codec: Any) -> None:
    """zarr-python has the order of inner chunks on the object, and in no document."""
    order = getattr(codec, "subchunk_write_order", "morton")
    if order != "morton":
        raise UnsupportedError(f"subchunk_write_order {order!r}: no document keeps it")
    for inner in getattr(codec, "codecs", ()):
        check_order(inner)


def _told(codec: Any, zarr_format: int) -> Any:
    """What an object tells of itself; one of zellige.codecs can in the words of either."""
    check_order(codec)
    tells = ("to_dict", "get_config")
    for tell in tells if zarr_format == 3 else reversed(tells):
        if hasattr(codec, tell):
            return getattr(codec, tell)()
    return codec


def _of_version_3(codec: Mapping[str, Any], n_bytes: int) -> dict[str, Any]:
    """The codec of version 3 that does what one of numcodecs does."""
    settings = {name: value for name, value in codec.items() if name != "id"}
    name = codec["id"]
    if name not in _OF_BOTH:
        return {"name": f"numcodecs.{name}", "configuration": settings}
    if name == "zstd":
        settings.setdefault("checksum", False)
    if name == "blosc":
        shuffle = settings.pop("shuffle", 1)
        if shuffle == -1:  # bits for elements of a byte
            shuffle = 2 if n_bytes == 1 else 1
        settings["shuffle"] = _SHUFFLES[shuffle] if isinstance(shuffle, int) else shuffle
        settings.setdefault("typesize", n_bytes)
        settings.setdefault("blocksize", 0)
    return {"name": name, "configuration": settings}


def _of_version_2(codec: Mapping[str, Any]) -> dict[str, Any]:
    """The codec of numcodecs that does what one of version 3 does."""
    name = codec["name"].removeprefix("numcodecs.")
    settings = dict(codec.get("configuration") or {})
    if name == "blosc":
        settings.pop("typesize", None)
        shuffle = settings.get("shuffle")
        if isinstance(shuffle, str) and shuffle in _SHUFFLES:
            settings["shuffle"] = _SHUFFLES.index(shuffle)
    return {"id": name, **settings}


def _for_older_readers(codec: Mapping[str, Any]) -> dict[str, Any]:
    """A codec of version 2 without the settings that say nothing, and that some refuse."""
    settings = dict(codec)
    if settings.get("id") == "zstd" and settings.get("checksum") is False:
        del settings["checksum"]
    return settings


def _codec(codec: Any, zarr_format: int, dtype: Any) -> Any:
    """A codec as JSON of a version. What is none is left for the library to refuse."""
    numcodecs = sys.modules.get("numcodecs.abc")
    if numcodecs is not None and isinstance(codec, numcodecs.Codec):
        know_class_of(codec)
    learns = getattr(codec, "_tunable_attrs", ())
    codec = _told(codec, zarr_format)
    if not isinstance(codec, Mapping):
        if zarr_format == 2 and isinstance(codec, str):
            return {"id": codec}
        return _BYTES if codec == "bytes" else codec
    if zarr_format == 2:
        if "name" in codec and "id" not in codec:
            codec = _of_version_2(codec)
        return _for_older_readers(codec)
    if "id" in codec and "name" not in codec:
        return _of_version_3(codec, element_bytes(dtype))
    if not learns:
        return dict(codec)
    # Blosc of zarr-python learns the size of elements when an array is made.
    n_bytes = element_bytes(dtype)
    learnt = {"typesize": n_bytes, "shuffle": _SHUFFLES[2 if n_bytes == 1 else 1]}
    settings = {name: learnt[name] for name in learns if name in learnt}
    return {**codec, "configuration": {**codec["configuration"], **settings}}


# ---------------------------------------------------------------------- several


def _listed(codecs: Any, default: list[Any], zarr_format: int, dtype: Any) -> list[Any]:
    if is_auto(codecs):
        return default
    if codecs is None:
        return []
    if isinstance(codecs, (str, Mapping)) or not isinstance(codecs, Iterable):
        codecs = [codecs]
    return [_codec(codec, zarr_format, dtype) for codec in codecs]


def _serializer(dtype: Any) -> Any:
    """What makes bytes of elements, where nobody says it."""
    name = zarr_name(dtype)
    if name == "string":
        return {"name": "vlen-utf8"}
    if name == "bytes":
        return {"name": "vlen-bytes"}
    return _BYTES


def _parts_v2(parts: Parts, dtype: Any, object_codec: str | None) -> dict[str, Any]:
    filters, serializer, compressors = parts
    if not is_auto(serializer) and serializer is not None:
        raise UsageError("version 2 has no serializer")
    first = _listed(filters, [], 2, dtype)
    last = _listed(compressors, [_ZSTD_V2], 2, dtype)
    if object_codec == "vlen-utf8":
        enough = _TEXT_CODECS
    else:
        enough = frozenset((object_codec,) if object_codec else ())
    if object_codec is not None and not any(c.get("id") in enough for c in first):
        first.insert(0, {"id": object_codec})
    if len(last) > 1:
        raise UsageError("version 2 has one compressor")
    return {"filters": first or None, "compressor": last[0] if last else None}


def codecs_to_json(
    codecs: Any, parts: Parts, dtype: Any, zarr_format: int, object_codec: str | None
) -> str | None:
    """The JSON of codecs given at once, or in parts; None leaves them to the library."""
    if codecs is not None and not is_auto(codecs):
        if not all(is_auto(part) for part in parts):
            raise UsageError("codecs say it all: no filters, serializer or compressors")
        if isinstance(codecs, Mapping):
            return to_json(codecs)
        return to_json(_listed(codecs, [], zarr_format, dtype))
    if all(is_auto(part) for part in parts) and object_codec is None:
        return None
    if zarr_format == 2:
        return to_json(_parts_v2(parts, dtype, object_codec))
    filters, serializer, compressors = parts
    if is_auto(serializer) or serializer is None:
        middle = _serializer(dtype)
    else:
        middle = _codec(serializer, 3, dtype)
    before = _listed(filters, [], 3, dtype)
    return to_json([*before, middle, *_listed(compressors, [_ZSTD_V3], 3, dtype)])


# ---------------------------------------------------------------------- of an array


def _name(codec: Any) -> str:
    return codec if isinstance(codec, str) else str(codec.get("name"))


def _as_object(codec: Any) -> Any:
    return {"name": codec} if isinstance(codec, str) else codec


def as_codec(codec: Mapping[str, Any]) -> Any:
    """An object that tells the same; the JSON itself of a codec that has no class."""
    from .codecs import from_dict

    try:
        return from_dict(codec)
    except (TypeError, ValueError):
        return codec


def inner_codecs(codecs: Any) -> Any:
    """The codecs of inner chunks where there are shards, else the codecs."""
    for codec in codecs if isinstance(codecs, list) else ():
        if _name(codec) == "sharding_indexed":
            return codec["configuration"]["codecs"]
    return codecs


def split(codecs: Any) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
    """Filters, serializer and compressors of the (inner) chunks, as JSON."""
    codecs = inner_codecs(codecs)
    if isinstance(codecs, dict):  # version 2
        compressor = codecs.get("compressor")
        return (
            tuple(codecs.get("filters") or ()),
            None,
            () if compressor is None else (compressor,),
        )
    found = [_as_object(codec) for codec in codecs]
    at = next(
        (i for i, codec in enumerate(found) if _name(codec) in _SERIALIZERS), len(found)
    )
    return tuple(found[:at]), found[at] if at < len(found) else None, tuple(found[at + 1 :])
