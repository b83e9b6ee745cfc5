"""Data types: to NumPy and back."""

import sys

import numpy as np
import pytest
import zellige
from conftest import same, write_v2, write_v3
from zellige.dtype import numpy_dtype

PLAIN = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
SMALL = [
    "bfloat16",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float4_e2m1fn",
    "float6_e2m3fn",
    "float6_e3m2fn",
]


def some(dtype, n=6):
    rng = np.random.default_rng(1)
    return np.frombuffer(rng.bytes(n * np.dtype(dtype).itemsize), dtype)


@pytest.mark.parametrize("name", PLAIN[1:9] + PLAIN[10:])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_plain_types_round_trip(name, zarr_format):
    data = np.arange(6).astype(name)
    store = zellige.MemoryStore()
    zellige.create_array(store, data=data, chunks=4, zarr_format=zarr_format, fill_value=3)
    array = zellige.open_array(store)
    same(array[...], data)
    assert array.fill_value == np.dtype(name).type(3)


@pytest.mark.parametrize(
    "dtype", ["M8[ns]", "M8[25s]", "m8[D]", "S5", "U3", "V6", "?", "f2"]
)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_other_fixed_types_round_trip(dtype, zarr_format):
    data = np.array(["ab", "c", ""], dtype) if dtype[0] in "SU" else some(dtype)
    if dtype == "?":
        data = np.array([True, False, True])
    store = zellige.MemoryStore()
    zellige.create_array(store, data=data, chunks=2, zarr_format=zarr_format)
    array = zellige.open_array(store)
    assert array.dtype == data.dtype
    assert array[...].tobytes() == data.tobytes()
    assert array[1].tobytes() == data[1].tobytes()


def test_times_as_results(tmp_path):
    data = np.array(["2020-01-01", "NaT", "1969-12-31"], "M8[s]")
    array = zellige.open_array(write_v2(tmp_path, data, (2,)))
    found = array[...]
    assert found.dtype == data.dtype and (found[[0, 2]] == data[[0, 2]]).all()
    assert np.isnat(array[1])
    out = np.zeros(6, "M8[s]")[::2]
    array.read(out=out)
    assert out[0] == data[0] and np.isnat(out[1])


@pytest.mark.parametrize(
    "dtype",
    [
        [("a", "<i4"), ("b", "<f4", (2, 3))],
        [("p", [("x", "<i2"), ("y", "<M8[s]")]), ("s", "S3"), ("u", "<U2")],
        [("a", "u1"), ("b", [("c", [("d", "<f8"), ("e", "?")]), ("f", "<c8")])],
    ],
)
def test_records(tmp_path, dtype):
    data = np.zeros(5, dtype)
    data[data.dtype.names[0]][1:3] = 1
    array = zellige.open_array(write_v2(tmp_path, data, (3,), fill=None))
    same(array[...], data)
    assert array[1] == data[1]


def test_a_record_of_version_3():
    data = np.array(
        [(1, 2.5, (3, 4j)), (-1, 0, (5, 6))],
        [("a", "<i2"), ("b", "<f8"), ("n", [("x", "u1"), ("y", "<c8")])],
    )
    store = zellige.MemoryStore()
    zellige.create_array(store, data=data, fill_value=data[0])
    array = zellige.open_array(store)
    same(array[...], data)
    assert array.fill_value == data[0]
    assert array.zarr_dtype["name"] == "struct"


@pytest.mark.parametrize("name", SMALL)
def test_small_floats(tmp_path, name):
    raw = np.arange(1, 7, dtype="<u2" if name == "bfloat16" else "u1")
    array = zellige.open_array(write_v3(tmp_path, raw, (4,), fill=1.0, data_type=name))
    found = array[...]
    assert found.view(raw.dtype).tobytes() == raw.tobytes()
    assert array.zarr_dtype == name
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert found.dtype == np.dtype(getattr(ml_dtypes, name))


def test_small_floats_without_ml_dtypes(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    numpy_dtype.cache_clear()
    raw = np.arange(4, dtype="<u2")
    array = zellige.open_array(write_v3(tmp_path, raw, (4,), data_type="bfloat16"))
    same(array[...], raw)
    assert array.zarr_dtype == "bfloat16"
    numpy_dtype.cache_clear()


@pytest.mark.parametrize(
    "name, kind", [("int2", "i1"), ("int4", "i1"), ("uint2", "u1"), ("uint4", "u1")]
)
def test_narrow_integers(tmp_path, name, kind):
    raw = np.array([0, 1, 0xFF if kind == "i1" else 3, 0xFE if kind == "i1" else 2], "u1")
    array = zellige.open_array(write_v3(tmp_path, raw, (4,), data_type=name))
    same(array[...], raw.astype("u1").view(kind))


def test_complex_of_other_parts(tmp_path):
    raw = np.arange(8, dtype="<f2")
    # The bytes of four numbers look like those of four uint32.
    path = write_v3(
        tmp_path, raw.view("<u4"), (4,), data_type="complex_float16", fill_value=[0, 0]
    )
    array = zellige.open_array(path)
    assert array.dtype == np.dtype([("re", "f2"), ("im", "f2")])
    found = array[...]
    same(found["re"], raw[::2])
    same(found["im"], raw[1::2])


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_texts(zarr_format):
    words = np.array([["a", "ünï", ""], ["漢𝄞", "x" * 1000, "\0"]], dtype=object)
    store = zellige.MemoryStore()
    zellige.create_array(
        store,
        data=words,
        dtype="string",
        chunks=(1, 2),
        zarr_format=zarr_format,
        fill_value="?",
    )
    array = zellige.open_array(store)
    found = array[...]
    assert found.dtype.kind == ("T" if int(np.__version__.split(".")[0]) >= 2 else "O")
    assert found.tolist() == words.tolist()
    assert array[1, 0] == "漢𝄞" and isinstance(array[1, 0], str)
    assert array[:, ::-2].tolist() == words[:, ::-2].tolist()
    assert array.vindex[[0, 1], [1, 2]].tolist() == ["ünï", "\0"]
    assert array[1:1].shape == (0, 3)
    assert array.fill_value == "?"


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_byte_strings(zarr_format):
    data = np.array([b"", b"\0\xff", b"abc"], dtype=object)
    store = zellige.MemoryStore()
    zellige.create_array(store, data=data, dtype="bytes", chunks=2, zarr_format=zarr_format)
    array = zellige.open_array(store)
    assert array.dtype == object and array[...].tolist() == data.tolist()
    assert array[1] == b"\0\xff" and array.fill_value == b""


def test_texts_of_no_characters(tmp_path):
    path = write_v2(tmp_path, np.zeros(2, "S1"), (2,), dtype="|S0", fill=None)
    (tmp_path / "0").write_bytes(b"")
    assert zellige.open_array(path)[...].tolist() == [b"", b""]


def test_objects_are_ambiguous():
    with pytest.raises(zellige.UsageError, match="string"):
        zellige.create_array(zellige.MemoryStore(), data=np.array(["a"], dtype=object))
