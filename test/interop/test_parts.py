"""Parts of arrays are written: by Zellige alone, by Zellige into what a peer wrote, by a
peer into what Zellige wrote. All of them read what a model in NumPy holds."""

import random
import shutil
import zlib
from copy import deepcopy

import numpy as np
import pytest
import zellige
from edits import KINDS, apply, edits, erased
from elements import TYPES_3, plain
from grid import CASES
from left_out import READS, UPDATES, WRITES, why_not
from peers import PEERS

pytestmark = pytest.mark.filterwarnings("ignore")

ONE_OF = 6  # of so many cases, each time one


def sampled(found, seed):
    """Cases by chance, the same at every run."""
    found = list(found)
    return sorted(random.Random(seed).sample(found, -(-len(found) // ONE_OF)))


def pairs(does):
    return [
        (peer, name) for peer in PEERS for name in CASES if not why_not(peer, does, name)
    ]


def readers(name):
    return [peer for peer in PEERS if not why_not(peer, READS, name)]


def chance(*words):
    return np.random.default_rng(zlib.crc32(" ".join(words).encode()))


def is_read(peers, name, folder, model):
    """Zellige and these peers read the model."""
    assert plain(zellige.open_array(folder)[...]) == plain(model)
    for peer in peers:
        found = PEERS[peer].read(folder, model.dtype)
        if model.dtype == "i1":  # tensorstore keeps what lies above the bits of a type
            unused = 8 - TYPES_3[name.split("/")[1]].n_bits
            found = found.astype("i1") << unused >> unused
        assert plain(found) == plain(model), peer


def create(name, folder):
    """An array of a case without elements, and the model of it."""
    case = CASES[name]
    array = zellige.create_array(folder, **case.create)
    model = np.empty(case.data.shape, case.data.dtype)
    if case.create["fill_value"] is None:
        array[...] = case.data  # each peer has its own idea of what stands there
    model[...] = array[...]
    return array, model


def change(array, model, name, rng):
    """Edits of every kind by Zellige."""
    sizes = array.write_chunk_sizes
    for edit in edits(rng, KINDS, model, sizes, CASES[name].data):
        apply(array, edit)
    assert plain(array[...]) == plain(model)


@pytest.mark.parametrize("name", sampled(CASES, "ours"))
def test_ours_alone(name, tmp_path):
    """Written in parts from the start; one block is empty in the end."""
    array, model = create(name, tmp_path)
    empty, rng = model.copy(), chance(name)
    change(array, model, name, rng)
    if model.size and model.shape:
        apply(array, erased(rng, model, array.write_chunk_sizes, empty.flat[:1]))
    is_read(readers(name), name, tmp_path, model)


@pytest.mark.parametrize(("peer", "name"), sampled(pairs(WRITES), "theirs"))
def test_theirs_changed_by_us(peer, name, tmp_path):
    document = deepcopy(create(name, tmp_path / "ours")[0].metadata)
    if document["zarr_format"] == 2:
        document.pop("attributes", None)
    model = CASES[name].data.copy()
    PEERS[peer].write(tmp_path / "theirs", document, model)
    array = zellige.open_array(tmp_path / "theirs", "r+")
    change(array, model, name, chance(peer, name))
    if hasattr(PEERS[peer], "is_read_by_all"):
        is_read([peer] if peer in readers(name) else [], name, tmp_path / "theirs", model)
        file = "zarr.json" if document["zarr_format"] == 3 else ".zarray"
        shutil.copy(tmp_path / "ours" / file, tmp_path / "theirs")
    is_read(readers(name), name, tmp_path / "theirs", model)


@pytest.mark.parametrize(("peer", "name"), sampled(pairs(UPDATES), "changed"))
def test_ours_changed_by_them(peer, name, tmp_path):
    is_changed(peer, name, tmp_path)


def is_changed(peer, name, folder):
    array, model = create(name, folder)
    array[...] = model[...] = CASES[name].data
    rng, kinds, source = chance(name), PEERS[peer].kinds, model
    if model.dtype.kind == "c":  # a chunk of any of their NaNs is empty for zarr-python
        source = model[~np.isnan(model)]
    done = list(edits(rng, kinds, model, array.write_chunk_sizes, source.copy()))
    PEERS[peer].update(folder, done, model.dtype)
    is_read([peer], name, folder, model)
