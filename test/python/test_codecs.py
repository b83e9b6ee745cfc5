"""zellige.codecs: what each class says of itself, and what it does to bytes."""

import enum
import json
import pickle
import threading
import zlib

import numpy as np
import pytest

import zellige
from zellige import codecs

SHORT = [
    codecs.Zstd(level=3),
    codecs.GZip(),
    codecs.Zlib(level=9),
    codecs.BZ2(),
    codecs.LZMA(),
    codecs.LZ4(),
    codecs.Blosc(cname="zstd", shuffle=codecs.Blosc.BITSHUFFLE),
    codecs.Base64(),
    codecs.Adler32(),
    codecs.CRC32(),
    codecs.CRC32C(),
    codecs.Fletcher32(),
    codecs.JenkinsLookup3(initval=5, prefix=b"ab"),
    codecs.Shuffle(elementsize=8),
]
TYPED = [
    (codecs.Delta("<i4"), np.arange(6, dtype="i4") ** 2),
    (codecs.Delta(">i4", astype=">i2"), np.arange(6, dtype=">i4")),
    (codecs.FixedScaleOffset(1, 2, "<f4", "u1"), np.arange(1, 7, dtype="f4")),
    (codecs.Quantize(3, "<f8"), np.arange(6) / 8),
    (codecs.AsType("<f4", "<f8"), np.arange(6, dtype="f8")),
    (codecs.PackBits(), np.array([True, False, True, True, False] * 3)),
    (codecs.Categorize(["a", "bc"], "<U2"), np.array(["a", "bc", "", "a"])),
]
LONG = [
    codecs.BytesCodec(),
    codecs.BytesCodec(endian=None),
    codecs.BloscCodec(typesize=4, cname="lz4", shuffle="shuffle"),
    codecs.GzipCodec(level=1),
    codecs.ZstdCodec(level=-1, checksum=True),
    codecs.Crc32cCodec(),
    codecs.TransposeCodec(order=(1, 0)),
    codecs.VLenUTF8Codec(),
    codecs.VLenBytesCodec(),
    codecs.ScaleOffset(offset=5, scale=0.1),
    codecs.CastValue(data_type="int8", out_of_range="clamp"),
    codecs.ShardingCodec(chunk_shape=(2, 2)),
]


def _name(codec):
    return type(codec).__name__


# ---------------------------------------------------------------------- short names


@pytest.mark.parametrize("codec", SHORT, ids=_name)
def test_bytes_come_back(codec):
    data = np.arange(1000, dtype="i8")
    for given in (
        data,
        bytes(data),
        bytearray(data),
        memoryview(data),
        data.reshape(10, 100),
    ):
        encoded = codec.encode(given)
        assert isinstance(encoded, bytes)
        assert codec.decode(encoded) == data.tobytes()
    # Fortran order is kept, as in numcodecs; anything else is brought to C order.
    grid = data.reshape(10, 100)
    assert codec.decode(codec.encode(grid.T)) == grid.tobytes()
    assert codec.decode(codec.encode(grid[:, ::2])) == grid[:, ::2].tobytes()
    assert codec.decode(codec.encode(b"")) == b""


@pytest.mark.parametrize("codec", SHORT, ids=_name)
def test_decoding_into_memory(codec):
    data = np.arange(1000, dtype="i8")
    encoded = codec.encode(data)
    out = np.zeros((10, 100), "i8")
    assert codec.decode(encoded, out=out) is out
    assert (out == data.reshape(10, 100)).all()
    out = np.zeros((100, 10), "i8").T
    codec.decode(encoded, out)
    assert (out.T.reshape(-1) == data).all()
    room = bytearray(9000)
    codec.decode(encoded, out=room)
    assert room[:8000] == data.tobytes()
    with pytest.raises(zellige.LimitError):
        codec.decode(encoded, out=np.zeros(999, "i8"))
    with pytest.raises((ValueError, BufferError)):
        codec.decode(encoded, out=data.tobytes())
    with pytest.raises(zellige.UsageError):
        codec.decode(encoded, out=np.zeros(2000, "i8")[::2])


@pytest.mark.parametrize("codec, data", TYPED, ids=lambda x: _name(x))
def test_elements_come_back(codec, data):
    encoded = codec.encode(data)
    assert isinstance(encoded, np.ndarray) or isinstance(codec, codecs.PackBits)
    back = codec.decode(encoded)
    assert back.dtype == data.dtype
    assert np.array_equal(back, data)
    assert np.array_equal(codec.decode(bytes(encoded)), data)
    out = np.zeros_like(data)
    assert codec.decode(encoded, out) is out
    assert np.array_equal(out, data)


@pytest.mark.parametrize(
    "codec",
    [*SHORT, *(c for c, _ in TYPED), codecs.JSON(), codecs.VLenArray("f4")],
    ids=_name,
)
def test_configurations(codec):
    config = codec.get_config()
    assert json.loads(json.dumps(config)) == config
    assert config["id"] == codec.codec_id
    assert codecs.get_codec(config) == codec
    assert type(codec).from_config(config) == codec
    assert pickle.loads(pickle.dumps(codec)) == codec
    assert eval(repr(codec), vars(codecs)) == codec
    assert codecs.from_dict(codec.to_dict()) == codec


def test_equality_is_of_parameters():
    assert codecs.Zstd(1) == codecs.Zstd(level=1)
    assert codecs.Zstd(1) != codecs.Zstd(2)
    assert codecs.GZip(1) != codecs.Zlib(1)
    assert len({codecs.Zstd(1), codecs.Zstd(1), codecs.Zstd(2)}) == 2
    assert codecs.Delta("int32") == codecs.Delta("<i4", "<i4")


def test_known_bytes():
    data = bytes(range(200)) * 9
    assert zlib.decompress(codecs.Zlib(9).encode(data)) == data
    assert codecs.Zlib().decode(zlib.compress(data)) == data
    assert codecs.Base64().encode(b"abc") == b"YWJj"
    assert (
        codecs.CRC32().encode(b"abc") == zlib.crc32(b"abc").to_bytes(4, "little") + b"abc"
    )
    assert codecs.Shuffle(2).encode(b"a1b2c3") == b"abc123"
    assert list(codecs.Delta("u1").encode(b"\x01\x03\x06")) == [1, 2, 3]
    assert codecs.VLenUTF8().encode(["a"]) == b"\x01\0\0\0\x01\0\0\0a"


def test_bitround_keeps_shape_and_type():
    data = (np.arange(12, dtype="f4") / 7).reshape(3, 4)
    rounded = codecs.BitRound(3).encode(data)
    assert rounded.dtype == data.dtype and rounded.shape == data.shape
    assert np.abs(rounded - data).max() < 0.2 and not np.array_equal(rounded, data)
    assert np.array_equal(codecs.BitRound(3).decode(rounded), rounded)


@pytest.mark.parametrize(
    "codec, items",
    [
        (codecs.VLenUTF8(), ["", "a", "\N{SNOWMAN}" * 300]),
        (codecs.VLenBytes(), [b"", b"a", b"\0" * 300]),
        (codecs.VLenUTF8(), []),
    ],
    ids=str,
)
def test_objects(codec, items):
    encoded = codec.encode(np.array(items, dtype=object))
    assert list(codec.decode(encoded)) == items
    out = np.empty(len(items), dtype=object)
    assert codec.decode(encoded, out) is out and list(out) == items


def test_lists_and_shapes():
    lists = np.empty(3, dtype=object)
    lists[:] = [np.array([1, 2], "i4"), np.array([], "i4"), np.array([3], "i4")]
    back = codecs.VLenArray("i4").decode(codecs.VLenArray("i4").encode(lists))
    assert all(np.array_equal(a, b) for a, b in zip(back, lists))
    grid = np.array([["a", "b"], ["c", ""]], dtype=object)
    assert codecs.JSON().encode(grid) == b'[["a","b"],["c",""],"|O",[2,2]]'
    assert np.array_equal(codecs.JSON().decode(codecs.JSON().encode(grid)), grid)
    many = np.array([str(i) for i in range(70000)], dtype=object)
    for n in (0, 1, 13, 14, 70000):
        for codec in (codecs.MsgPack(), codecs.JSON(), codecs.VLenUTF8()):
            assert list(codec.decode(codec.encode(many[:n]))) == list(many[:n])


def test_objects_of_damaged_bytes():
    for data in (b"\x02\0\0\0\x01\0\0\0a", b"\xff\xff\xff\xff", b"\x01\0\0\0\xff\0\0\0a"):
        with pytest.raises(ValueError):
            codecs.VLenUTF8().decode(data)
    for data in (b"", b"[]", b"[1", b'["a",2]', b'["a","|O",[7]]'):
        with pytest.raises(ValueError):
            codecs.JSON().decode(data)
    for data in (b"", b"\x90", b"\xdc", b"\x9f", b"\xdd\xff\xff\xff\xff", b"\x93a"):
        with pytest.raises(ValueError):
            codecs.MsgPack().decode(data)


def test_zfp_needs_the_array():
    data = np.linspace(0, 1, 64).reshape(8, 8)
    try:
        encoded = codecs.ZFPY(mode=4, tolerance=1e-3).encode(data)
    except zellige.UnsupportedError:
        pytest.skip("built without zfp")
    out = np.empty_like(data)
    assert codecs.ZFPY(mode=4, tolerance=1e-3).decode(encoded, out) is out
    assert np.abs(out - data).max() < 1e-3
    with pytest.raises(zellige.UsageError):
        codecs.ZFPY().decode(encoded)


def test_what_is_refused():
    for bad in (b"no frame", b"(\xb5/\xfd"):
        with pytest.raises(zellige.CorruptError, match="codec zstd"):
            codecs.Zstd().decode(bad)
    with pytest.raises(zellige.MetadataError, match="level"):
        codecs.Zlib(level=99).encode(b"")
    with pytest.raises(zellige.UsageError):
        codecs.Zstd().encode(np.array([None]))
    with pytest.raises(TypeError):
        codecs.Zstd().encode(5)
    with pytest.raises(zellige.UnsupportedError):
        codecs.Categorize(["a"], object).encode(["a"])
    with pytest.raises(zellige.UnsupportedError, match="nothing"):
        codecs.get_codec({"id": "nothing"})
    with pytest.raises(TypeError):
        codecs.get_codec({"id": "zstd", "colour": 1})


def test_many_threads():
    data, wrong = np.arange(50000), []

    def work():
        codec = codecs.Zstd()
        for _ in range(20):
            if codec.decode(codec.encode(data)) != data.tobytes():
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---------------------------------------------------------------------- version 3


@pytest.mark.parametrize("codec", LONG, ids=_name)
def test_definitions(codec):
    definition = codec.to_dict()
    assert json.loads(json.dumps(definition)) == definition
    assert codecs.from_dict(definition).to_dict() == definition
    assert pickle.loads(pickle.dumps(codec)) == codec
    assert eval(repr(codec), vars(codecs)) == codec


def test_enumerations_are_their_values():
    class Shuffle(enum.Enum):
        bit = "bitshuffle"

    codec = codecs.BloscCodec(shuffle=Shuffle.bit)
    assert codec == codecs.BloscCodec(shuffle="bitshuffle")
    assert codec.to_dict()["configuration"]["shuffle"] == "bitshuffle"


def test_definitions_by_name():
    assert codecs.from_dict("zstd") == codecs.ZstdCodec()
    assert codecs.CastValue(data_type=np.dtype("<i2")).to_dict() == {
        "name": "cast_value",
        "configuration": {"data_type": "int16", "rounding": "nearest-even"},
    }
    assert codecs.ShardingCodec(chunk_shape=2).chunk_shape == (2,)
    with pytest.raises(zellige.UnsupportedError):
        codecs.from_dict("example.nothing")
    with pytest.raises(zellige.UnsupportedError):
        codecs.ShardingCodec(chunk_shape=2, subchunk_write_order="lexicographic")
    with pytest.raises(TypeError):
        codecs.ZstdCodec(5)


def test_arrays_take_them():
    data = np.arange(100, dtype="i4").reshape(10, 10)
    for names in (
        {
            "codecs": [
                codecs.TransposeCodec(order=(1, 0)),
                codecs.BytesCodec(),
                codecs.BloscCodec(),
                codecs.Crc32cCodec(),
            ]
        },
        {
            "codecs": [
                codecs.ShardingCodec(
                    chunk_shape=(5, 5), codecs=[codecs.BytesCodec(), codecs.ZstdCodec()]
                )
            ]
        },
        {"filters": codecs.Delta("<i4"), "compressors": codecs.Zstd()},
        {"zarr_format": 2, "filters": codecs.Delta("<i4"), "compressors": codecs.Zstd(5)},
        {"zarr_format": 2, "compressors": codecs.Blosc()},
    ):
        array = zellige.create_array(
            zellige.MemoryStore(), data=data, chunks=(10, 10), **names
        )
        assert np.array_equal(array[:], data)


# ---------------------------------------------------------------------- chains


def test_chains_of_bytes():
    for given in (
        "zstd",
        ["zstd", codecs.Crc32cCodec()],
        codecs.GzipCodec(),
        [],
        {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}},
    ):
        chain = codecs.Chain(given)
        encoded = chain.encode(b"abc" * 100)
        assert chain.decode(encoded) == b"abc" * 100
        out = bytearray(300)
        assert chain.decode(encoded, out) is out and out == b"abc" * 100


@pytest.mark.parametrize("dtype", ["i4", ">f8", "bool", "M8[ns]", "c8", "S3", "bfloat16"])
def test_chains_of_elements(dtype):
    memory = np.dtype(dtype) if dtype != "bfloat16" else None
    chain = codecs.Chain(
        [codecs.TransposeCodec(order=(1, 0)), codecs.BytesCodec(endian="big"), "zstd"],
        dtype=dtype,
        shape=(3, 4),
    )
    data = np.arange(12).reshape(3, 4).astype(memory or chain.dtype)
    back = chain.decode(chain.encode(data))
    assert back.shape == (3, 4) and np.array_equal(back, data)
    out = np.empty_like(back)
    assert chain.decode(chain.encode(data), out) is out and np.array_equal(out, data)
    with pytest.raises(zellige.UsageError):
        chain.encode(data[:2])
    with pytest.raises(zellige.CorruptError):
        chain.decode(b"")


def test_chain_is_what_arrays_store():
    data = np.arange(24, dtype="f4").reshape(4, 6)
    list_ = [codecs.TransposeCodec(order=(1, 0)), codecs.BytesCodec(), codecs.ZstdCodec()]
    array = zellige.create_array(
        zellige.MemoryStore(), data=data, chunks=(4, 6), codecs=list_
    )
    stored = array.store.get("c/0/0")
    chain = codecs.Chain(list_, dtype="f4", shape=(4, 6))
    assert chain.encode(data) == stored
    assert np.array_equal(chain.decode(stored), data)
