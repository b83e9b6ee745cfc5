"""Encoders write the bytes that numcodecs writes, wherever the format fixes them.

Left out is what NumPy leaves open, the conversion of numbers that the target does not hold,
and what is better than theirs:

- bitround leaves NaN alone, which theirs turns into infinity or -0 when few bits are kept;
- NaN that quantize makes out of infinity differ in their sign;
- delta refuses bool, which theirs does not decode to what was encoded.
"""

import json
import struct
import zlib

import numpy as np
import pytest
import zellige
from grid import JSON2, WORDS_2
from numcodecs import get_codec
from numcodecs.compat import ensure_bytes

INTEGERS = ["|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", ">i4"]
FLOATS = ["<f2", "<f4", "<f8", ">f8"]
LENGTHS = [1, 2, 7, 8, 9, 17, 64, 1000]
WORDS = ["", "a", "né", "\U0001f600 x", "nul\0in", "\u2028\uffff"]
WORDS += ['"\\/\b\f\n\r\t\x7f\x01', *("x" * n for n in (31, 32, 255, 256, 65535, 65536))]


def numbers(dtype, n):
    """Corners of a type, then any bits of it; floats of sizes that are in use."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(n)
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    if dtype.kind == "f":
        about = np.finfo(dtype)
        corners = [0, -0.0, np.inf, np.nan, -np.inf, about.max, about.tiny, 1.5, 2.5, -0.5]
        data = (rng.normal(0, 1, n) * 10.0 ** rng.integers(-6, 5, n)).astype(dtype)
    else:
        about = np.iinfo(dtype)
        corners = [about.min, about.max, 0, 1, about.max - 1, about.max // 2]
        data = np.frombuffer(rng.bytes(n * dtype.itemsize), dtype).copy()
    corners = corners[: n // 2]
    data[: len(corners)] = np.array(corners, dtype)
    return data


def small(dtype, n):
    return (np.arange(n) * 7 % 50).astype(dtype)


def stored(data, dtype=None, fill=None, **codecs):
    """The one object of an array."""
    store = zellige.MemoryStore()
    array = zellige.create_array(
        store,
        shape=data.shape,
        dtype=dtype or data.dtype,
        chunks=data.shape,
        fill_value=fill,
        zarr_format=2,
        codecs={"filters": None, "compressor": None, **codecs},
    )
    array.write(data, keep_empty=True)
    return bytes(store.get(".".join("0" * data.ndim) or "0"))


def same(data, configuration, **more):
    theirs = ensure_bytes(get_codec(dict(configuration)).encode(data.copy()))
    assert stored(data, filters=[configuration], **more) == theirs, (data, configuration)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_delta(dtype):
    for n in LENGTHS:
        same(numbers(dtype, n), {"id": "delta", "dtype": dtype})
        for astype in INTEGERS + FLOATS[1:]:
            if np.dtype(astype).kind == "f" or np.dtype(dtype).kind != "f":
                data = np.sort(small(dtype, n))
                same(data, {"id": "delta", "dtype": dtype, "astype": astype})


@pytest.mark.parametrize("dtype", FLOATS + ["<i4", "<i2", "|u1"])
def test_fixedscaleoffset(dtype):
    data = np.linspace(0, 25, 40).astype(dtype)
    for astype in ["|i1", "<i2", ">i2", "<i4", "<i8", "<f4", "<f8"]:
        for offset, scale in [(0, 1), (10, 4), (-3.5, 0.25), (0.1, 1.7)]:
            about = {"dtype": dtype, "astype": astype, "offset": offset, "scale": scale}
            same(data, {"id": "fixedscaleoffset", **about})
    if np.dtype(dtype).kind == "f":
        about = {"dtype": dtype, "astype": "<f8", "offset": 10, "scale": 4}
        with np.errstate(all="ignore"):
            same(numbers(dtype, 64), {"id": "fixedscaleoffset", **about})


@pytest.mark.parametrize("dtype", FLOATS)
def test_quantize(dtype):
    data = numbers(dtype, 64)
    data = data[np.abs(data) < 1e4]  # 10**digits times that is finite
    for astype in FLOATS:
        for digits in [-2, -1, 0, 1, 2]:
            with np.errstate(all="ignore"):
                about = {"dtype": dtype, "astype": astype, "digits": digits}
                same(data, {"id": "quantize", **about})


@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8"])
def test_bitround(dtype):
    n_bits = np.finfo(dtype).nmant
    data = numbers(dtype, 200)
    for keepbits in range(n_bits + 1):
        # The NaN of NumPy has but the upper bit of its mantissa set.
        kept = data if keepbits else data[~np.isnan(data)]
        same(kept, {"id": "bitround", "keepbits": keepbits})


def test_packbits():
    for n in [*range(1, 20), 64, 1000]:
        same(numbers("?", n), {"id": "packbits"})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS + ["|b1"])
def test_astype(dtype):
    """Integers wrap, floats become any float; what becomes an integer is small."""
    kinds = np.dtype(dtype).kind
    for target in INTEGERS + FLOATS + ["|b1"]:
        to_integer = kinds == "f" and np.dtype(target).kind in "iu"
        data = (small if to_integer else numbers)(dtype, 64)
        about = {"encode_dtype": target, "decode_dtype": dtype}
        same(data, {"id": "astype", **about})


BYTES = {
    "base64": [{}],
    "crc32": [{}, {"location": "start"}, {"location": "end"}],
    "crc32c": [{}, {"location": "start"}, {"location": "end"}],
    "adler32": [{}, {"location": "start"}, {"location": "end"}],
    "fletcher32": [{}],
    "jenkins_lookup3": [
        {},
        *({"initval": n, "prefix": None} for n in (0, 7, 2**32 - 1)),
    ],
}


@pytest.mark.parametrize("codec", BYTES)
def test_codecs_of_bytes(codec):
    for more in BYTES[codec]:
        for n in [*range(1, 30), 359, 360, 361, 719, 720, 721, 5000]:
            same(numbers("|u1", n), {"id": codec, **more})
        for dtype in ["<i2", "<f8", ">f8", "<f4"]:
            same(numbers(dtype, 77), {"id": codec, **more})


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 8, 16])
def test_shuffle(size):
    for n in (1, 2, 16, 17, 1000):
        same(numbers("|u1", n * max(size, 1)), {"id": "shuffle", "elementsize": size})
        same(numbers("<f8", 6 * n), {"id": "shuffle", "elementsize": size})


# ---------------------------------------------------------------------- objects


def objects(items):
    return np.array([*items, None], object)[:-1]


MSGPACK2 = WORDS_2["msgpack2"]


@pytest.mark.parametrize("shape", [(13,), (1, 13), (13, 1)])
def test_texts(shape):
    texts = objects(WORDS).reshape(shape)
    byte_strings = objects([w.encode() for w in WORDS]).reshape(shape)
    same(texts, {"id": "vlen-utf8"}, dtype="|O", fill="")
    same(byte_strings, {"id": "vlen-bytes"}, dtype="|O", fill="")
    for more in ({}, {"use_bin_type": False}, {"use_single_float": True}):
        same(texts, {**MSGPACK2, **more}, dtype="|O", fill="")
    same(texts, {**JSON2, "ensure_ascii": False}, dtype="|O", fill="")
    # Nothing but how texts are written is not as they say.
    codecs = {"filters": [{**JSON2, "indent": 2}], "dtype": "|O", "fill": ""}
    assert json.loads(stored(texts, **codecs)) == [*texts.tolist(), "|O", list(shape)]


@pytest.mark.parametrize("n", [1, 15, 16, 17, 65535, 65536])
def test_number_of_texts(n):
    texts = objects(["q"] * n)
    for codec in ({"id": "vlen-utf8"}, MSGPACK2, JSON2):
        same(texts, codec, dtype="|O", fill="")


@pytest.mark.parametrize("dtype", ["|u1", "<i2", ">i4", "<i8", "<f4", "<f8"])
def test_lists(dtype):
    lists = objects(numbers(dtype, n) for n in range(1, 20))
    lists[5] = np.empty(0, dtype)
    same(lists, {"id": "vlen-array", "dtype": dtype}, dtype="|O")


@pytest.mark.parametrize("astype", ["|u1", "|i1", "<u2", "<i4"])
def test_categorize(astype):
    words = ["a", "né", "", "zz", "new", "a"]
    about = {"id": "categorize", "astype": astype, "labels": ["né", "a", "", "zz"]}
    same(objects(words), {**about, "dtype": "|O"}, dtype="|O", fill="")
    same(np.array(words, "<U3"), {**about, "dtype": "<U3"}, fill="")


# ---------------------------------------------------------------------- compressors


def flat(configuration, data):
    return stored(data, compressor=configuration)


@pytest.mark.parametrize("n", [1, 5, 1000, 100_000])
def test_containers(n):
    """The header of each, and what stands around what is compressed."""
    data = small("|u1", n)
    raw = data.tobytes()
    for level in (1, 6, 9):
        found = flat({"id": "zlib", "level": level}, data)
        theirs = zlib.compress(raw, level)
        assert found[:2] == theirs[:2] and found[-4:] == theirs[-4:]
        found = flat({"id": "gzip", "level": level}, data)
        assert found[:8] == b"\x1f\x8b\x08\0\0\0\0\0" and found[9] == 255
        assert found[-8:] == struct.pack("<II", zlib.crc32(raw), n)
        found = flat({"id": "bz2", "level": level}, data)
        assert found == get_codec({"id": "bz2", "level": level}).encode(data)
    found = flat({"id": "lz4", "acceleration": 1}, data)
    assert found == get_codec({"id": "lz4", "acceleration": 1}).encode(data)
    about = {"id": "lzma", "format": 1, "check": -1, "preset": 1, "filters": None}
    found, theirs = flat(about, data), get_codec(dict(about)).encode(data)
    assert found[:12] == theirs[:12] and found[-2:] == theirs[-2:] == b"YZ"
    about = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}
    found, theirs = flat(about, data), get_codec(dict(about)).encode(data)
    assert found[:8] == theirs[:8]
