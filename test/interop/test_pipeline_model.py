"""The codec pipeline against zarr-python's own on random arrays and random selections.

Each seed makes an array twice, in two stores of one kind: one is written and read through
our pipeline, one through `BatchedCodecPipeline`. What is read, what is refused, which keys
there are and (of codecs that leave bytes as they are) what is stored must be the same.
`ZELLIGE_MODEL_SECONDS` makes the run longer, `ZELLIGE_MODEL_SEED` says where it begins.
"""

import itertools
import os
import time

import numcodecs
import numpy as np
import pytest
import zarr
from zarr.codecs import (
    BloscCodec,
    BytesCodec,
    Crc32cCodec,
    GzipCodec,
    ShardingCodec,
    TransposeCodec,
    ZstdCodec,
)
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync
from zarr.storage import LocalStore, MemoryStore

import zellige

OURS = "zellige.ZelligeCodecPipeline"
THEIRS = "zarr.core.codec_pipeline.BatchedCodecPipeline"
if not hasattr(zarr.storage, "ManagedMemoryStore"):
    pytest.skip("zarr-python 3.1 has errors of its own", allow_module_level=True)

SECONDS = float(os.environ.get("ZELLIGE_MODEL_SECONDS", "12"))
FIRST = int(os.environ.get("ZELLIGE_MODEL_SEED", "1"))
WORDS = ["", "a", "ab", "äöü", "zarr", "\U0001f600", "x" * 9]
ORDERS = getattr(zarr.codecs.sharding, "SUBCHUNK_WRITE_ORDER", None)  # since 3.3

# ---------------------------------------------------------------------- what there is

RECORD = np.dtype([("a", "<i4"), ("b", "<f8"), ("c", "S3")])
SWAPPED = np.dtype([("a", ">u2"), ("b", "<i8")])
NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
OTHERS = ["bool", "M8[s]", "M8[10ns]", "m8[ms]", "M8", "S4", "U3", "V5", RECORD, SWAPPED]


def pick(rng, items):
    return items[int(rng.integers(len(items)))]


def chance(rng, p):
    return bool(rng.random() < p)


def pick_dtype(rng, zarr_format):
    kind = rng.random()
    if kind < 0.6:
        dtype = np.dtype(pick(rng, NUMBERS))
        return dtype.newbyteorder(">") if chance(rng, 0.25) else dtype
    if kind < 0.85:
        dtype = np.dtype(pick(rng, OTHERS))
        swaps = dtype.kind in "MmU" and dtype.str != "<M8" and chance(rng, 0.25)
        return dtype.newbyteorder(">") if swaps else dtype  # NumPy does not swap "M8"
    return str if zarr_format == 3 or chance(rng, 0.7) else np.dtype("S2")


def values(rng, dtype, shape):
    """Few different ones, so that chunks are empty now and then."""
    n = int(np.prod(shape, dtype=int))
    dtype = np.dtype(object) if dtype is str else np.dtype(dtype)
    if dtype.kind == "O":
        return np.array([pick(rng, WORDS) for _ in range(n)], object).reshape(shape)
    if dtype.kind == "T":
        return np.array([pick(rng, WORDS) for _ in range(n)], dtype).reshape(shape)
    if dtype.names:
        out = np.zeros(shape, dtype)
        for name in dtype.names:
            out[name] = values(rng, dtype[name], shape)
        return out
    if dtype.kind in "SU":
        words = WORDS if dtype.kind == "U" else ["", "a", "ab", "abcd"]
        return np.array([pick(rng, words) for _ in range(n)]).astype(dtype).reshape(shape)
    if dtype.kind == "V":
        return rng.integers(0, 3, n * dtype.itemsize, "u1").view(dtype).reshape(shape)
    if dtype.kind in "Mm":
        numbers = rng.integers(-2, 3, n)
        numbers[rng.random(n) < 0.2] = np.iinfo("i8").min
        return (
            numbers.astype("i8").view(dtype.newbyteorder("=")).astype(dtype).reshape(shape)
        )
    if dtype.kind in "fc":
        few = np.array([0.0, -0.0, 1.5, np.nan, -np.nan, np.inf, 2.0, -3.25])
        numbers = few[rng.integers(0, len(few), n)].astype(dtype.newbyteorder("="))
        if dtype.kind == "c":
            numbers.imag = few[rng.integers(0, len(few), n)]
        return numbers.astype(dtype).reshape(shape)
    low = -2 if dtype.kind == "i" else 0
    few = rng.integers(low, 3, n) if chance(rng, 0.5) else rng.integers(low, 120, n)
    return few.astype(dtype).reshape(shape)


def pick_fill(rng, dtype, zarr_format):
    if zarr_format == 2 and chance(rng, 0.2):
        return None
    if chance(rng, 0.4):
        return "auto"
    if dtype is str:
        return pick(rng, WORDS)
    if dtype.names or dtype.kind == "V":
        return "auto"
    fill = values(rng, dtype, (1,))[0]
    if fill != fill and dtype.kind in "fc":
        return dtype.type(np.nan)  # others are not told by the document
    return fill if dtype.kind != "c" or zarr_format == 3 else dtype.type(1)


# ---------------------------------------------------------------------- codecs


def filters_of(rng, dtype, ndim, zarr_format):
    if dtype is str or dtype.names or dtype.kind not in "iufc":
        numbers = False
    else:
        numbers = dtype.isnative
    if zarr_format == 2:
        if not numbers or dtype.kind == "c" or chance(rng, 0.6):
            return None
        return [numcodecs.Delta(dtype=dtype.str)] if dtype.kind != "f" else None
    found = []
    if chance(rng, 0.3):
        found.append(TransposeCodec(order=[int(i) for i in rng.permutation(ndim)]))
    if numbers and dtype.kind in "iu" and chance(rng, 0.2):
        codecs = zarr.codecs.numcodecs
        found.append(codecs.Delta(dtype=dtype.str))
    if found and numbers and dtype.str == "<f4" and chance(rng, 0.3):
        found.append(zarr.codecs.numcodecs.AsType(encode_dtype="<f8", decode_dtype="<f4"))
    return found or None


def _shuffle(dtype):
    size = 1 if dtype is str else dtype.itemsize
    return zarr.codecs.numcodecs.Shuffle(elementsize=size)


def compressors_of(rng, dtype, zarr_format):
    """(codecs, whether the bytes are those that any implementation makes)"""
    if chance(rng, 0.4):
        return None, True
    if zarr_format == 2:
        codecs = [
            numcodecs.Zstd(level=1),
            numcodecs.Blosc(cname="lz4"),
            numcodecs.GZip(1),
            numcodecs.LZ4(),
            numcodecs.BZ2(1),
            numcodecs.Zlib(1),
        ]
        return pick(rng, codecs), False
    how = int(rng.integers(6))
    if how == 0:
        return [Crc32cCodec()], True
    if how == 1:
        return [_shuffle(dtype), Crc32cCodec()], True
    codecs = [ZstdCodec(level=1), GzipCodec(level=1), BloscCodec(cname="zstd"), ZstdCodec()]
    return [codecs[how - 2]], False


def sharding_of(rng, inner, **options):
    """The codec whose chunks are the inner ones, sometimes with shards inside."""
    if ORDERS:
        options["subchunk_write_order"] = pick(rng, ORDERS)
    return ShardingCodec(
        chunk_shape=inner,
        index_location=pick(rng, ["start", "end"]),
        index_codecs=[BytesCodec(), Crc32cCodec()] if chance(rng, 0.8) else [BytesCodec()],
        **options,
    )


def pick_sizes(rng, ndim):
    """(shape, shards, inner chunks, those inside of these)"""
    smallest = [int(n) for n in rng.integers(1, 4, ndim)]
    inner = [n * int(rng.integers(1, 4)) for n in smallest]
    outer = [n * int(rng.integers(1, 4)) for n in inner]
    shape = [int(rng.integers(1, 3 * n + 2)) for n in outer]
    if ndim and chance(rng, 0.05):
        shape[int(rng.integers(ndim))] = 0
    return tuple(shape), tuple(outer), tuple(inner), tuple(smallest)


def cut(rng, length):
    """Edges of a rectilinear grid."""
    edges = []
    while sum(edges) < length:
        edges.append(min(int(rng.integers(1, 6)), length - sum(edges)))
    return edges or [1]


def pick_options(rng):
    """What zarr.create_array is told, and whether bytes can be compared."""
    zarr_format = 3 if chance(rng, 0.7) else 2
    ndim = int(rng.integers(0, 5)) if chance(rng, 0.5) else 2
    dtype = pick_dtype(rng, zarr_format)
    shape, outer, inner, smallest = pick_sizes(rng, ndim)
    filters = filters_of(rng, dtype, ndim, zarr_format)
    compressors, is_exact = compressors_of(rng, dtype, zarr_format)
    options = {
        "shape": shape,
        "chunks": inner,
        "dtype": dtype,
        "zarr_format": zarr_format,
        "compressors": compressors,
        "config": {"order": pick(rng, "CF"), "write_empty_chunks": chance(rng, 0.3)},
    }
    fill = pick_fill(rng, dtype, zarr_format)
    if not isinstance(fill, str) or fill != "auto":
        options["fill_value"] = fill
    if filters:
        options["filters"] = filters
        options["config"]["order"] = "C"  # numcodecs look at the order in memory
    if zarr_format == 2:
        options["order"] = pick(rng, "CF")
        separator = {"name": "v2", "separator": pick(rng, "./")}
        options["chunk_key_encoding"] = separator
        del options["config"]["order"]
        return options, is_exact
    if chance(rng, 0.3):
        name = pick(rng, ["default", "v2"])
        encoding = {"name": name, "separator": pick(rng, "./")}
        options["chunk_key_encoding"] = encoding
    how = rng.random()
    if ndim and how < 0.1:
        options["chunks"] = [cut(rng, n) for n in shape]
    elif ndim and how < 0.5 and 0 not in shape:
        _shard(rng, options, outer, inner, smallest)
    if chance(rng, 0.1):
        options["config"]["read_missing_chunks"] = False
    return options, is_exact


def _shard(rng, options, outer, inner, smallest):
    if chance(rng, 0.5):
        options["shards"] = outer
        return
    codecs = list(options.pop("filters", None) or [])
    after = list(options["compressors"] or [])
    is_text = options["dtype"] is str
    serializer = zarr.codecs.VLenUTF8Codec() if is_text else BytesCodec()
    if chance(rng, 0.4):
        serializer = sharding_of(rng, smallest, codecs=[serializer, *after])
        codecs = [codec for codec in codecs if isinstance(codec, TransposeCodec)]
        if codecs:  # edges as they are when the axes are exchanged
            codecs = [TransposeCodec(order=range(len(inner)))]
        after = []
    codec = sharding_of(rng, inner, codecs=[*codecs, serializer, *after])
    options.update(chunks=outer, serializer=codec, compressors=None)
    if chance(rng, 0.15):
        options["compressors"] = [Crc32cCodec()]
    if chance(rng, 0.15):
        options["filters"] = [TransposeCodec(order=range(len(inner)))]


# ---------------------------------------------------------------------- selections


def a_slice(rng, n):
    start, stop = sorted(int(i) for i in rng.integers(0, n + 1, 2))
    return slice(start, stop, int(rng.integers(1, 4)) if chance(rng, 0.4) else None)


def basic(rng, shape):
    if chance(rng, 0.15):
        return Ellipsis
    parts = []
    for n in shape:
        how = rng.random()
        if how < 0.2 and n > 0:
            parts.append(int(rng.integers(-n, n)))
        else:
            parts.append(slice(None) if how < 0.4 else a_slice(rng, n))
    return tuple(parts)


def indices(rng, n):
    count = int(rng.integers(0 if chance(rng, 0.2) else 1, n + 3))
    found = rng.integers(0, n, count)
    return np.sort(found) if chance(rng, 0.3) else found


def orthogonal(rng, shape):
    parts = []
    for n in shape:
        how = rng.random()
        if n == 0 or how < 0.3:
            parts.append(a_slice(rng, n))
        elif how < 0.4:
            parts.append(int(rng.integers(n)))
        elif how < 0.6:
            parts.append(rng.random(n) < 0.5)
        else:
            parts.append(indices(rng, n))
    return tuple(parts)


def points(rng, shape):
    n = int(rng.integers(1, 12))
    return tuple(rng.integers(0, length, n) for length in shape)


def blocks(rng, counts):
    parts = []
    for n in counts:
        first = int(rng.integers(n))
        end = int(rng.integers(first, n)) + 1
        parts.append(first if chance(rng, 0.3) else slice(first, end))
    return tuple(parts)


def pick_selection(rng, array):
    """(name of the methods, selection)"""
    shape = array.shape
    how = rng.random()
    if how < 0.45 or not shape or 0 in shape:
        return "basic", basic(rng, shape)
    if how < 0.7:
        return "orthogonal", orthogonal(rng, shape)
    if how < 0.82:
        return "coordinate", points(rng, shape)
    if how < 0.9:
        return "mask", rng.random(shape) < rng.random()
    return "block", blocks(rng, array._chunk_grid_shape)


def unique(kind, selection):
    """Of several values for one element, which one zarr-python writes is chance."""
    if kind == "coordinate":
        return tuple(np.unique(np.stack(selection), axis=1))
    if kind != "orthogonal":
        return selection
    return tuple(
        np.unique(part)[::-1]
        if isinstance(part, np.ndarray) and part.dtype != bool
        else part
        for part in selection
    )


# ---------------------------------------------------------------------- values


def disguise(rng, value):
    """The same values otherwise in memory."""
    how = int(rng.integers(7)) if value.ndim else 6
    if how == 0:
        return np.asfortranarray(value)
    if how == 1:
        wide = np.empty((*value.shape[:-1], 2 * value.shape[-1] + 1), value.dtype)
        wide[..., 1::2] = value
        return wide[..., 1::2]
    if how == 2:
        return np.ascontiguousarray(value[::-1])[::-1]
    if how == 3:
        value = value.copy()
        value.flags.writeable = False
    if how == 4 and value.dtype.kind in "iufcMmU" and value.dtype.str != "<M8":
        return value.astype(value.dtype.newbyteorder())
    return value


def pick_value(rng, array, shape):
    dtype = array.dtype
    how = rng.random()
    if how < 0.15:
        return values(rng, dtype, ())[()]
    if how < 0.25 and array.fill_value is not None:
        return np.full(shape, array.fill_value, dtype)
    if how < 0.35 and len(shape) > 1 and dtype.kind not in "OT":
        return np.broadcast_to(values(rng, dtype, shape[1:]), shape)
    return disguise(rng, values(rng, dtype, shape))


# ---------------------------------------------------------------------- stores


def _fsspec(path):
    return zarr.storage.FsspecStore.from_url(f"memory://{path}")


def _obstore(path):
    obstore = pytest.importorskip("obstore")
    return zarr.storage.ObjectStore(obstore.store.MemoryStore())


def _zip(path):
    path.parent.mkdir(exist_ok=True)
    return zarr.storage.ZipStore(f"{path}.zip", mode="w")


def _managed(path):
    return zarr.storage.ManagedMemoryStore(str(path).replace("/", "-"), path="deep/er")


STORES = {
    "local": LocalStore,
    "memory": lambda path: MemoryStore(),
    "wrapper": lambda path: zarr.storage.WrapperStore(MemoryStore()),
    "fsspec": _fsspec,
    "obstore": _obstore,
    "zip": _zip,
    "managed": _managed,
}


async def _objects(store):
    prototype = default_buffer_prototype()
    keys = sorted([key async for key in store.list()])
    return {key: (await store.get(key, prototype)).to_bytes() for key in keys}


def objects(store):
    return sync(_objects(store))


# ---------------------------------------------------------------------- two arrays


class Pair:
    """The same array twice, and all that is done to it done twice."""

    def __init__(self, rng, kind, path):
        self.rng, self.kind = rng, kind
        self.options, self.is_exact = pick_options(rng)
        self.name = pick(rng, ["", "a", "some/group/b", "ü ö/%2F;x"])
        self.log, self.is_over = [], False
        self.arrays = []
        for which, pipeline in (("ours", OURS), ("theirs", THEIRS)):
            with zarr.config.set({"codec_pipeline.path": pipeline}):
                store = STORES[kind](path / which)
                self.arrays.append(self.make(store))

    def make(self, store):
        options = dict(self.options)
        array = zarr.create_array(store, name=self.name or None, **options)
        return array

    def both(self, what, *args):
        """What both say: equal results, or the same refusal."""
        self.log.append((what, *args))
        found = []
        for array, pipeline in zip(self.arrays, (OURS, THEIRS)):
            with zarr.config.set({"codec_pipeline.path": pipeline}):
                try:
                    found.append(getattr(array, what)(*args))
                except Exception as error:
                    found.append(error)
        ours, theirs = found
        if isinstance(ours, Exception) or isinstance(theirs, Exception):
            both = isinstance(ours, Exception) and isinstance(theirs, Exception)
            if not both:
                raise AssertionError(f"ours: {ours!r}, theirs: {theirs!r}") from (
                    ours if isinstance(ours, Exception) else theirs
                )
            # What was written until then is chance.
            self.is_over = not what.startswith("get")
            return None
        if what.startswith("get"):
            same(ours, theirs)
        return theirs

    def write(self):
        kind, selection = pick_selection(self.rng, self.arrays[1])
        selection = unique(kind, selection)
        shape = self.shape_of(kind, selection)
        if shape is None:
            return
        value = pick_value(self.rng, self.arrays[1], shape)
        self.both(f"set_{kind}_selection", selection, value)

    def shape_of(self, kind, selection):
        """That of the selection, of an array that has no chunk."""
        ghost = np.broadcast_to(np.zeros((), "u1"), self.arrays[1].shape)
        if kind == "basic":
            return ghost[selection].shape
        if kind == "coordinate":
            return selection[0].shape
        if kind == "mask":
            return (int(np.count_nonzero(selection)),)
        with zarr.config.set({"codec_pipeline.path": THEIRS}):
            try:
                return getattr(self.arrays[1], f"get_{kind}_selection")(selection).shape
            except Exception:
                return None

    def read(self):
        kind, selection = pick_selection(self.rng, self.arrays[1])
        if kind == "basic" and chance(self.rng, 0.3):
            self.read_into(selection)
        else:
            self.both(f"get_{kind}_selection", selection)
        names = self.arrays[1].dtype.names
        if names and chance(self.rng, 0.3):
            self.both("get_basic_selection", Ellipsis, pick(self.rng, names))

    def read_into(self, selection):
        """Memory of odd strides; what lies between stays."""
        shape = self.shape_of("basic", selection)
        dtype = self.arrays[1].dtype
        if dtype.kind in "OT" or any(array.dtype != dtype for array in self.arrays):
            return
        self.log.append(("into", selection))
        steps = [int(n) for n in self.rng.integers(1, 3, len(shape))]
        order = [int(n) for n in self.rng.permutation(len(shape))]
        wide = [shape[i] * steps[i] for i in order]
        found = []
        for array in self.arrays:
            memory = np.zeros(wide, dtype)
            view = memory.transpose(np.argsort(order)) if shape else memory
            view = view[tuple(slice(None, None, step) for step in steps)] if shape else view
            out = zarr.core.buffer.cpu.NDBuffer.from_ndarray_like(view)
            try:
                array.get_basic_selection(selection, out=out)
            except zarr.errors.ChunkNotFoundError:
                memory = None
            found.append(memory)
        if found[0] is not None or found[1] is not None:
            same(*found)

    def resize(self):
        shape = tuple(
            max(0, n + int(self.rng.integers(-4, 8))) for n in self.arrays[1].shape
        )
        if shape:
            self.both("resize", shape)

    def append(self):
        shape = list(self.arrays[1].shape)
        if not shape:
            return
        axis = int(self.rng.integers(len(shape)))
        shape[axis] = int(self.rng.integers(1, 6))
        self.both("append", values(self.rng, self.arrays[1].dtype, tuple(shape)), axis)

    def reopen(self):
        self.log.append(("reopen",))
        for i, pipeline in enumerate((OURS, THEIRS)):
            with zarr.config.set({"codec_pipeline.path": pipeline}):
                old = self.arrays[i]
                self.arrays[i] = zarr.open_array(
                    old.store, path=self.name, mode="r+", config=old._async_array._config
                )

    def compare(self):
        ours, theirs = (objects(array.store) for array in self.arrays)
        assert list(ours) == list(theirs)
        if self.is_exact:
            for key in ours:
                assert ours[key] == theirs[key], key
            return
        with zarr.config.set({"codec_pipeline.path": THEIRS}):
            config = {"order": "C"} if self.options["zarr_format"] == 3 else None
            both = [
                zarr.open_array(a.store, path=self.name, mode="r+", config=config)[...]
                for a in self.arrays
            ]
        same(*both)

    def run(self, n):
        for _ in range(n):
            how = self.rng.random()
            if how < 0.45:
                self.write()
            elif how < 0.85:
                self.read()
            elif how < 0.9:
                self.resize()
            elif how < 0.95:
                self.append()
            else:
                self.reopen()
            if self.is_over:
                return
        self.both("get_basic_selection", Ellipsis)
        self.compare()


def same(ours, theirs):
    assert type(ours) is type(theirs)
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    if ours.dtype.kind in "OT":
        assert ours.tolist() == theirs.tolist()
    else:
        assert ours.tobytes() == theirs.tobytes()
        assert ours.strides == theirs.strides


def run_seed(kind, seed, path):
    rng = np.random.default_rng(seed)
    pair = Pair(rng, kind, path)
    try:
        pair.run(int(rng.integers(1, 10)))
    except BaseException as error:
        options = {**pair.options, "fill_value": "?"}  # some cannot be shown
        error.add_note(f"{kind}, seed {seed}, {pair.name!r}: {options}")
        for what, *args in pair.log:
            shown = [a if not hasattr(a, "dtype") else (a.dtype, a.shape) for a in args]
            error.add_note(f"{what}: {shown}")
        raise


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.filterwarnings("ignore")
def test_as_zarr_python(kind, tmp_path):
    if kind == "fsspec":
        pytest.importorskip("fsspec")
    end = time.monotonic() + SECONDS / len(STORES)
    zellige.pipeline_stats(reset=True)
    with zarr.config.set({"array.rectilinear_chunks": True}):
        for seed in itertools.count(FIRST):
            if seed > FIRST and time.monotonic() > end:
                break
            run_seed(kind, seed, tmp_path / str(seed))
    stats = zellige.pipeline_stats(reset=True)
    print(f"\n{kind}: {seed - FIRST} arrays, {stats}")
