"""The arrays that are exchanged: types x layouts and codecs x layouts, versions 2 and 3.

A case is what zellige.create_array is told, and the elements. Its name is
"v3/TYPE/LAYOUT/CODEC". Most arrays are 7 x 6 x 9: all their far chunks hang over the edge,
and lengths differ from axis to axis. One chunk, and one inner chunk of another, hold only
the fill value, so that writers leave them out.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from elements import TYPES_2, TYPES_3, Type, elements

SHAPE, SHARD, INNER, INNERMOST = (7, 6, 9), (4, 4, 6), (2, 4, 3), (1, 2, 3)
LARGE = (48, 64, 64)  # in chunks that compressors cut into blocks
EMPTY = np.s_[0:4, 4:6, 0:6], np.s_[0:2, 0:4, 3:6]
ORDER = (1, 2, 0)  # not its own inverse
TURNED = (4, 2, 2)  # (2, 4, 2) after it; zarr-python wants that both divide the shard


@dataclass(frozen=True)
class Case:
    name: str
    create: dict[str, Any]
    data: Any


# ---------------------------------------------------------------------- version 3


def codec(name, **configuration):
    return (
        {"name": name, "configuration": configuration} if configuration else {"name": name}
    )


def numcodecs(name, **configuration):
    return codec(f"numcodecs.{name}", **configuration)


LITTLE, BIG = codec("bytes", endian="little"), codec("bytes", endian="big")
CRC32C = codec("crc32c")
ZSTD = codec("zstd", level=3, checksum=False)
TRANSPOSE = codec("transpose", order=list(ORDER))
CNAMES = ("blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy")


def sharding(inner, codecs, index_codecs=(LITTLE, CRC32C), location="end"):
    return codec(
        "sharding_indexed",
        chunk_shape=list(inner),
        codecs=list(codecs),
        index_codecs=list(index_codecs),
        index_location=location,
    )


def blosc(cname, shuffle, typesize=4):
    return codec(
        "blosc", cname=cname, clevel=5, shuffle=shuffle, typesize=typesize, blocksize=0
    )


def keys(name, separator):
    return codec(name, separator=separator)


LAYOUTS_3 = {
    "plain": lambda chain: {"codecs": chain},
    "sharded": lambda chain: {"chunks": INNER, "shards": SHARD, "codecs": chain},
    "index_start": lambda chain: {"codecs": [sharding(INNER, chain, location="start")]},
    "index_bare": lambda chain: {"codecs": [sharding(INNER, chain, [BIG])]},
    "nested": lambda chain: {"codecs": [sharding(INNER, [sharding(INNERMOST, chain)])]},
    "transposed": lambda chain: {"codecs": [TRANSPOSE, *chain]},
    "transposed_inner": lambda chain: {"codecs": [sharding(INNER, [TRANSPOSE, *chain])]},
    "transposed_outer": lambda chain: {"codecs": [TRANSPOSE, sharding(TURNED, chain)]},
    "shard_zstd": lambda chain: {"codecs": [sharding(INNER, chain), ZSTD]},
    "keys_dot": lambda chain: {"codecs": chain, "chunk_key_encoding": keys("default", ".")},
    "keys_v2": lambda chain: {"codecs": chain, "chunk_key_encoding": keys("v2", ".")},
    "rectilinear": lambda chain: {
        "codecs": chain,
        "chunk_grid": codec(
            "rectilinear", kind="inline", chunk_shapes=[[3, 4], [4, 2], [[2, 4], 1]]
        ),
    },
    "thin": lambda chain: {"codecs": chain, "chunks": (4, 1, 6)},
    "large": lambda chain: {"codecs": chain, "shape": LARGE, "chunks": (32, 64, 64)},
    "scalar": lambda chain: {"codecs": chain, "shape": (), "chunks": ()},
    "empty": lambda chain: {"codecs": chain, "shape": (0, 6, 9)},
}
# Codec: chain, tried on float32.
CODECS_3 = {
    "bytes": [LITTLE],
    "big": [BIG],
    "crc32c": [LITTLE, CRC32C],
    "gzip": [LITTLE, codec("gzip", level=6)],
    "zstd_checksum": [LITTLE, codec("zstd", level=-5, checksum=True)],
    "three": [BIG, codec("gzip", level=1), ZSTD, CRC32C],
    **{
        f"blosc_{cname}_{shuffle}": [LITTLE, blosc(cname, shuffle)]
        for cname in CNAMES
        for shuffle in ("noshuffle", "shuffle", "bitshuffle")
    },
    **{
        f"numcodecs.{name}": [LITTLE, numcodecs(name, **configuration)]
        for name, configuration in {
            "zlib": {"level": 5},
            "gzip": {"level": 5},
            "bz2": {"level": 5},
            "lzma": {"preset": 1},
            "lz4": {"acceleration": 2},
            "zstd": {"level": 3},
            "blosc": {"cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0},
            "shuffle": {"elementsize": 4},
            "adler32": {},
            "crc32": {},
            "crc32c": {},
            "fletcher32": {},
            "jenkins_lookup3": {},
        }.items()
    },
}
# Codec: type, chain, tried on small numbers, of which none is lost.
FILTERS_3 = {
    "numcodecs.delta": ("int32", [numcodecs("delta", dtype="<i4", astype="<i4"), LITTLE]),
    "numcodecs.astype": (
        "float64",
        [numcodecs("astype", encode_dtype="<f4", decode_dtype="<f8"), LITTLE],
    ),
    "numcodecs.fixedscaleoffset": (
        "float64",
        [
            numcodecs("fixedscaleoffset", offset=10, scale=4, dtype="<f8", astype="<i2"),
            LITTLE,
        ],
    ),
    "numcodecs.quantize": (
        "float32",
        [numcodecs("quantize", digits=3, dtype="<f4"), LITTLE],
    ),
    "numcodecs.bitround": ("float32", [numcodecs("bitround", keepbits=12), LITTLE]),
    "numcodecs.packbits": ("bool", [numcodecs("packbits"), LITTLE]),
    "bitround": ("float32", [codec("bitround", keepbits=12), LITTLE]),
    "packbits": ("bool", [codec("packbits")]),
    "packbits_padded": ("int4", [codec("packbits", padding_encoding="last_byte")]),
    "cast_value": ("int32", [codec("cast_value", data_type="int16"), BIG]),
    "cast_value_map": (
        "float64",
        [
            codec(
                "cast_value",
                data_type="int8",
                rounding="towards-zero",
                out_of_range="clamp",
                scalar_map={"encode": [["NaN", 0]], "decode": [[0, "NaN"]]},
            ),
            LITTLE,
        ],
    ),
    "scale_offset": ("float64", [codec("scale_offset", offset=5, scale=0.25), LITTLE]),
    "reshape": ("int32", [codec("reshape", shape=[[0, 1], -1]), LITTLE]),
    "zarrs.squeeze": ("int32", [codec("zarrs.squeeze"), LITTLE]),
    "numcodecs.zfpy": (
        "float32",
        [numcodecs("zfpy", mode=2, tolerance=-1, rate=32, precision=-1)],
    ),
}


def case(name, kind, layout, data=None, **create):
    create = {
        "shape": SHAPE,
        "dtype": kind.dtype,
        "fill_value": kind.fill,
        **create,
        **layout,
    }
    if "chunk_grid" not in create:
        create.setdefault("chunks", SHARD)
    if data is None and create["shape"] == LARGE:
        waves = np.sin(np.arange(np.prod(LARGE)) / 50)
        data = np.round(100 * waves).astype(kind.memory).reshape(LARGE)
    if data is None:
        data = elements(kind, create["shape"], EMPTY if create["shape"] == SHAPE else ())
    return Case(name, create, data)


def gentle(kind):
    """A type with a fill value, and numbers, that no lossy codec changes."""
    data = np.resize(np.arange(1, 8 if kind.n_bits < 8 else 100), SHAPE).astype(kind.memory)
    for box in EMPTY:
        data[box] = 3
    return Type(kind.dtype, kind.memory.type(3).item(), kind.memory, kind.n_bits), data


def cases_3():
    for type_name, kind in TYPES_3.items():
        serializer = LITTLE if kind.serializer == "bytes" else codec(kind.serializer)
        for layout, lay in LAYOUTS_3.items():
            if layout != "large":
                chain = [serializer, ZSTD]
                yield case(f"v3/{type_name}/{layout}/zstd", kind, lay(chain))
        yield case(f"v3/{type_name}/plain/default", kind, {})
        if kind.serializer == "bytes" and kind.memory.itemsize > 1:
            for layout in ("plain", "sharded"):
                yield case(f"v3/{type_name}/{layout}/big", kind, LAYOUTS_3[layout]([BIG]))
    for name, chain in CODECS_3.items():
        for layout in ("plain", "sharded", "nested", "transposed_inner", "large"):
            lay = LAYOUTS_3[layout]
            yield case(f"v3/float32/{layout}/{name}", TYPES_3["float32"], lay(chain))
    for name, (type_name, chain) in FILTERS_3.items():
        for layout in ("plain", "sharded", "transposed", "thin"):
            lay = LAYOUTS_3[layout]
            kind, data = gentle(TYPES_3[type_name])
            yield case(f"v3/{type_name}/{layout}/{name}", kind, lay(chain), data)


# ---------------------------------------------------------------------- version 2

LAYOUTS_2 = {
    "C": {},
    "F": {"order": "F"},
    "nested_keys": {"separator": "/"},
    "large": {"shape": LARGE, "chunks": (32, 64, 64)},
    "scalar": {"shape": (), "chunks": ()},
    "empty": {"shape": (0, 6, 9)},
}
GZIP = {"id": "gzip", "level": 5}
COMPRESSORS_2 = {
    "none": None,
    "zlib": {"id": "zlib", "level": 1},
    "bz2": {"id": "bz2", "level": 5},
    "lzma": {"id": "lzma", "format": 1, "check": -1, "preset": 1, "filters": None},
    "lz4": {"id": "lz4", "acceleration": 1},
    "zstd_checksum": {"id": "zstd", "level": 3, "checksum": True},
    **{
        f"blosc_{cname}_{shuffle}": {
            "id": "blosc",
            "cname": cname,
            "clevel": 5,
            "shuffle": shuffle,
            "blocksize": 0,
        }
        for cname in CNAMES
        for shuffle in (0, 1, 2)
    },
}
FILTERS_2 = {
    "shuffle": ("float32", {"id": "shuffle", "elementsize": 4}),
    "base64": ("float32", {"id": "base64"}),
    "adler32": ("float32", {"id": "adler32"}),
    "crc32": ("float32", {"id": "crc32"}),
    "crc32c": ("float32", {"id": "crc32c"}),
    "fletcher32": ("float32", {"id": "fletcher32"}),
    "jenkins_lookup3": ("float32", {"id": "jenkins_lookup3", "initval": 7, "prefix": None}),
    "delta": ("int32", {"id": "delta", "dtype": "<i4", "astype": "<i4"}),
    "fixedscaleoffset": (
        "float64",
        {
            "id": "fixedscaleoffset",
            "scale": 4,
            "offset": 10,
            "dtype": "<f8",
            "astype": "<i2",
        },
    ),
    "quantize": (
        "float32",
        {"id": "quantize", "digits": 3, "dtype": "<f4", "astype": "<f4"},
    ),
    "bitround": ("float32", {"id": "bitround", "keepbits": 12}),
    "packbits": ("bool", {"id": "packbits"}),
    "astype": ("float64", {"id": "astype", "encode_dtype": "<f4", "decode_dtype": "<f8"}),
}
JSON2 = {
    "id": "json2",
    "encoding": "utf-8",
    "strict": True,
    "skipkeys": False,
    "ensure_ascii": True,
    "check_circular": True,
    "allow_nan": True,
    "sort_keys": True,
    "indent": None,
    "separators": [",", ":"],
}
WORDS_2 = {
    "json2": JSON2,
    "msgpack2": {
        "id": "msgpack2",
        "raw": False,
        "use_bin_type": True,
        "use_single_float": False,
    },
    "categorize": {
        "id": "categorize",
        "dtype": "|O",
        "astype": "|u1",
        "labels": ["né", "a", ""],
    },
}


def case_2(type_name, layout, name, filters, compressor, kind=None, data=None):
    kind = kind or TYPES_2[type_name]
    codecs = {"filters": filters, "compressor": compressor}
    name = f"v2/{type_name}/{layout}/{name}"
    return case(name, kind, LAYOUTS_2[layout], data, zarr_format=2, codecs=codecs)


def cases_2():
    for type_name, kind in TYPES_2.items():
        filters = [{"id": kind.serializer}] if kind.serializer != "bytes" else None
        for layout in LAYOUTS_2:
            if layout != "large":
                yield case_2(type_name, layout, "gzip", filters, GZIP)
        yield case(f"v2/{type_name}/C/default", kind, {}, zarr_format=2)
    for name, compressor in COMPRESSORS_2.items():
        for layout in ("C", "F", "large"):
            yield case_2("float32", layout, name, None, compressor)
    for name, (type_name, configuration) in FILTERS_2.items():
        for layout in ("C", "F"):
            kind, data = gentle(TYPES_2[type_name])
            yield case_2(type_name, layout, name, [configuration], GZIP, kind, data)
    kind, data = Type("|O", "", np.dtype(object)), np.resize(["né", "a", "", "a"], SHAPE)
    for name, configuration in WORDS_2.items():
        yield case_2("string", "C", name, [configuration], GZIP, kind, data.astype(object))
    lists = np.empty(SHAPE, object)
    lists.flat = [np.arange(i % 4, dtype="i2") for i in range(lists.size)]
    filters = [{"id": "vlen-array", "dtype": "<i2"}]
    yield case_2("lists", "C", "gzip", filters, GZIP, Type("|O", None, lists.dtype), lists)


CASES = {found.name: found for found in (*cases_3(), *cases_2())}
