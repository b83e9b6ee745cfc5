"""The short names of zellige.codecs and numcodecs: one reads what the other has encoded, by
the same parameters; and the long names say what those of zarr-python say."""

import inspect
import json

import numcodecs
import numpy as np
import pytest
import zarr.codecs

import zellige
from zellige import codecs

rng = np.random.default_rng(1)
BYTES = [
    b"",
    bytes(range(256)) * 5,
    np.arange(1000, dtype="i4"),
    np.arange(24, dtype="f8").reshape(4, 6).T,
    rng.integers(0, 256, 4096, "u1"),
    np.arange(100).astype("M8[s]"),
]
NAMES = [
    "Zstd",
    "GZip",
    "Zlib",
    "BZ2",
    "LZMA",
    "LZ4",
    "Blosc",
    "Base64",
    "Adler32",
    "CRC32",
    "CRC32C",
    "Fletcher32",
    "JenkinsLookup3",
    "Shuffle",
]
#: numcodecs does not decode nothing by these.
NOT_EMPTY = {"Zstd", "LZ4", "Blosc", "Fletcher32", "Shuffle"}
TYPED = [
    ("CRC32", ["end"], np.arange(60, dtype="u1")),
    ("Delta", ["<i4"], np.arange(60, dtype="i4") ** 2),
    ("Delta", ["<f8", "<f4"], np.arange(60.0)),
    ("FixedScaleOffset", [1, 2, "<f4", "u1"], np.arange(1, 61, dtype="f4")),
    ("Quantize", [3, "<f4"], np.arange(60, dtype="f4") / 7),
    ("AsType", ["<f4", "<f8"], np.arange(60.0)),
    ("BitRound", [5], np.arange(60, dtype="f4") / 7),
    ("PackBits", [], np.arange(61) % 3 == 0),
    ("Categorize", [["a", "bc"], "<U2"], np.array(["a", "bc", "x"] * 20)),
    ("VLenUTF8", [], np.array(["", "a", "\u2603" * 9], dtype=object)),
    ("VLenBytes", [], np.array([b"", b"a", b"\0" * 9], dtype=object)),
]


def plain(data):
    return data if isinstance(data, bytes) else data.tobytes("A")


def pair(name, *arguments):
    return getattr(codecs, name)(*arguments), getattr(numcodecs, name)(*arguments)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("i", range(len(BYTES)))
def test_each_reads_the_other(name, i):
    ours, theirs = pair(name)
    data = BYTES[i]
    encoded = ours.encode(data)
    if len(plain(data)) > 0 or name not in NOT_EMPTY:
        assert bytes(theirs.decode(encoded)) == plain(data)
        assert bytes(ours.decode(theirs.encode(data))) == plain(data)
    out = np.zeros(len(plain(data)), "u1")
    assert ours.decode(encoded, out=out) is out
    assert out.tobytes() == plain(data)


@pytest.mark.parametrize("name", ["JSON", "MsgPack"])
def test_texts_as_documents(name):
    """Their bytes may be spelled in other ways."""
    ours = getattr(codecs, name)()
    theirs = numcodecs.get_codec({"id": ours.codec_id})
    data = np.array(["", "a", "\u2603" * 9] * 7, dtype=object)
    assert list(theirs.decode(ours.encode(data))) == list(data)
    assert list(ours.decode(theirs.encode(data))) == list(data)


@pytest.mark.parametrize("name, arguments, data", TYPED, ids=lambda x: str(x)[:20])
def test_elements(name, arguments, data):
    ours, theirs = pair(name, *arguments)
    assert bytes(ours.encode(data)) == bytes(theirs.encode(data))
    found, wanted = ours.decode(ours.encode(data)), theirs.decode(theirs.encode(data))
    if isinstance(found, bytes):
        assert found == bytes(wanted)
        return
    assert np.array_equal(found, wanted)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype


@pytest.mark.parametrize(
    "name, arguments",
    [
        *((n, []) for n in NAMES),
        *((n, a) for n, a, _ in TYPED),
        ("JSON", []),
        ("VLenArray", ["f4"]),
    ],
    ids=str,
)
def test_configurations(name, arguments):
    ours, theirs = pair(name, *arguments)
    assert ours.get_config() == json.loads(json.dumps(theirs.get_config()))
    assert numcodecs.get_codec(ours.get_config()) == theirs
    assert codecs.get_codec(theirs.get_config()) == ours
    # The other parameters have the same names and defaults.
    found = inspect.signature(type(ours)).parameters
    for parameter in inspect.signature(type(theirs)).parameters.values():
        if name == "JSON" and parameter.name == "separators":
            continue  # None there stands for the usual ones
        assert found[parameter.name].default == parameter.default


@pytest.mark.parametrize(
    "ours",
    [
        codecs.BytesCodec(),
        codecs.BloscCodec(typesize=4, shuffle="shuffle"),
        codecs.Crc32cCodec(),
        codecs.GzipCodec(),
        codecs.ZstdCodec(level=3, checksum=True),
        codecs.TransposeCodec(order=(1, 0)),
        codecs.ShardingCodec(chunk_shape=(2, 3)),
        codecs.VLenUTF8Codec(),
        codecs.VLenBytesCodec(),
        codecs.ScaleOffset(offset=2, scale=3),
        codecs.CastValue(data_type="int8"),
    ],
    ids=lambda codec: type(codec).__name__,
)
def test_definitions(ours):
    name = type(ours).__name__
    theirs = getattr(zarr.codecs, name).from_dict(ours.to_dict())
    wanted = json.loads(json.dumps(theirs.to_dict()))
    found = ours.to_dict()
    assert found["name"] == wanted["name"]
    given, taken = found.get("configuration", {}), wanted.get("configuration", {})
    assert {k: v for k, v in given.items() if k in taken} == taken
    parameters = inspect.signature(type(ours)).parameters
    assert set(inspect.signature(getattr(zarr.codecs, name)).parameters) <= set(parameters)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_object_of_numcodecs_makes_its_class_known(zarr_format):
    class Turned(numcodecs.abc.Codec):
        codec_id = f"test-turned-{zarr_format}"

        def __init__(self, by=1):
            self.by = by

        def encode(self, buf):
            return bytes((np.ascontiguousarray(buf).view("u1") + self.by).astype("u1"))

        def decode(self, buf, out=None):
            return bytes((np.frombuffer(buf, "u1") - self.by).astype("u1"))

    data = np.arange(60, dtype="u1").reshape(6, 10)
    store = zellige.MemoryStore()
    array = zellige.create_array(
        store, data=data, zarr_format=zarr_format, compressors=Turned(7), chunks=(6, 10)
    )
    assert np.array_equal(zellige.open_array(store)[:], data)
    assert array.store.get("0.0" if zarr_format == 2 else "c/0/0")[:3] == bytes([7, 8, 9])


def test_pickle_stays_unknown():
    with pytest.raises(zellige.UnsupportedError, match="pickled objects are never loaded"):
        zellige.create_array(
            {}, data=np.arange(3), zarr_format=2, compressors=numcodecs.Pickle()
        )


def test_what_is_registered_is_not_replaced():
    class Array(numcodecs.abc.Codec):
        codec_id = "test-of-arrays"

        def encode(self, buf):
            assert buf.shape == (6, 10)
            return buf.tobytes()

        def decode(self, buf, out=None):
            return np.frombuffer(buf, "i4")

    codecs.register(Array, kind="array-bytes")
    data = np.arange(60, dtype="i4").reshape(6, 10)
    array = zellige.create_array({}, data=data, serializer=Array(), chunks=(6, 10))
    assert np.array_equal(array[:], data)


def test_codecs_of_numcodecs_by_their_id():
    data = np.arange(60, dtype="i4").reshape(6, 10)

    class Caesar(numcodecs.abc.Codec):
        codec_id = "test-caesar"

        def encode(self, buf):
            return bytes((np.frombuffer(buf, "u1") + 3).astype("u1"))

        def decode(self, buf, out=None):
            return bytes((np.frombuffer(buf, "u1") - 3).astype("u1"))

    numcodecs.register_codec(Caesar)
    codecs.register("test-caesar")
    array = zellige.create_array(
        zellige.MemoryStore(), data=data, zarr_format=2, compressors=Caesar()
    )
    assert np.array_equal(array[:], data)
    with pytest.raises(zellige.UnsupportedError, match="not known"):
        zellige.create_array(
            zellige.MemoryStore(),
            data=data,
            zarr_format=2,
            compressors={"id": "test-nothing"},
        )


@pytest.mark.skipif(
    "subchunk_write_order" not in inspect.signature(zarr.codecs.ShardingCodec).parameters,
    reason="zarr-python before 3.3",
)
def test_an_order_of_inner_chunks_is_not_dropped():
    def shard(length, order="morton", inner=None):
        return zarr.codecs.ShardingCodec(
            chunk_shape=(length,),
            codecs=[inner or zarr.codecs.BytesCodec()],
            subchunk_write_order=order,
        )

    for serializer in shard(2, "lexicographic"), shard(4, inner=shard(2, "lexicographic")):
        with pytest.raises(zellige.UnsupportedError, match="subchunk_write_order"):
            zellige.create_array(shape=16, chunks=8, dtype="i4", serializer=serializer)
    array = zellige.create_array(shape=16, chunks=8, dtype="i4", serializer=shard(2))
    assert array.codecs[0]["name"] == "sharding_indexed"
