"""Shards have the bytes that zarr-python gives them, at first and after every change."""

from itertools import product

import numpy as np
import pytest
import zarr
import zellige
from edits import BACKWARDS, KINDS, REPEATED, apply, edits
from grid import BIG, CRC32C, LITTLE, numcodecs, sharding
from peers import PEERS

pytestmark = pytest.mark.filterwarnings("ignore")

# Shape, shard, inner chunk: inner grids of any lengths, and shards that hang over the edge.
GRIDS = {
    "1d": ((100,), (35,), (5,)),
    "1d one": ((9,), (4,), (4,)),
    "2d": ((23, 31), (12, 20), (4, 4)),
    "2d thin": ((16, 40), (16, 33), (16, 3)),
    "3d": ((7, 13, 20), (6, 10, 12), (2, 2, 3)),
    "3d odd": ((10, 10, 10), (9, 7, 5), (3, 1, 1)),
    "4d": ((5, 6, 7, 8), (4, 6, 3, 8), (1, 2, 3, 2)),
}
CHAINS = {
    "bytes": [LITTLE],
    "big": [BIG],
    "crc32c": [LITTLE, CRC32C],
    "bz2": [LITTLE, numcodecs("bz2", level=1)],  # its bytes have long been the same
    "nested": None,
}
INDICES = {"crc32c": (LITTLE, CRC32C), "bare": (BIG,)}


def objects(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "zarr.json"
    }


def same(one, other):
    one, other = objects(one), objects(other)
    assert one.keys() == other.keys()
    for key, value in one.items():
        assert value == other[key], key


@pytest.mark.parametrize(
    ("grid", "chain", "index", "location"),
    list(product(GRIDS, CHAINS, INDICES, ["start", "end"])),
)
def test_bytes_of_shards(grid, chain, index, location, tmp_path):
    shape, shard, inner = GRIDS[grid]
    codecs = CHAINS[chain] or [sharding([1] * len(inner), [LITTLE, CRC32C])]
    codecs = [sharding(inner, codecs, INDICES[index], location)]
    seed = len(grid + chain + index + location)
    pipeline = ("zarr-python", "zarr-python-fused")[seed % 2]
    rng = np.random.default_rng(seed)
    data = rng.integers(1, 9, shape).astype("i4")
    for axis, n in enumerate(shape):  # some inner chunks are empty, and some shards
        data[(slice(None),) * axis + (slice(n // 3, 2 * n // 3),)] = 0
    ours = zellige.create_array(
        tmp_path / "ours", shape=shape, dtype="i4", chunks=shard, codecs=codecs
    )
    ours[...] = data
    with zarr.config.set(PEERS[pipeline].config):
        zellige.create_array(
            tmp_path / "theirs", shape=shape, dtype="i4", chunks=shard, codecs=codecs
        )
        theirs = zarr.open_array(tmp_path / "theirs", mode="r+")
        theirs[...] = data
        same(tmp_path / "ours", tmp_path / "theirs")
        kinds = set(KINDS) - {BACKWARDS, REPEATED}
        source = np.array([0, 0, 5], "i4")
        for edit in edits(rng, kinds, data, ours.write_chunk_sizes, source):
            apply(ours, edit)
            apply(theirs, edit.boxed())
            same(tmp_path / "ours", tmp_path / "theirs")
    assert (ours[...] == data).all()
