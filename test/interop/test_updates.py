"""A part of what a peer wrote is written anew by Zellige, and the peer reads all of it."""

from copy import deepcopy

import numpy as np
import pytest
import zellige
from elements import plain
from grid import CASES
from left_out import READS, WRITES, why_not
from peers import PEERS

pytestmark = pytest.mark.filterwarnings("ignore")

TRIED = [
    (peer, name)
    for peer in PEERS
    for name in CASES
    if not why_not(peer, WRITES, name) and not why_not(peer, READS, name)
]


def part_of(shape):
    """Every third element along the first axis, backwards along the last."""
    key = [slice(None)] * len(shape)
    if shape:
        key[0] = slice(1, None, 3)
        key[-1] = slice(-2, None, -2)
    return tuple(key)


@pytest.mark.parametrize(("peer", "name"), TRIED)
def test_update(peer, name, tmp_path):
    case = CASES[name]
    document = deepcopy(zellige.create_array(tmp_path / "ours", **case.create).metadata)
    if document["zarr_format"] == 2:
        document.pop("attributes", None)
    PEERS[peer].write(tmp_path / "theirs", document, case.data)
    array = zellige.open_array(tmp_path / "theirs", "r+")
    model, key = case.data.copy(), part_of(case.data.shape)
    value = np.flip(model[key]) if model.shape else model[key]
    model[key] = array[key] = value.copy() if model.shape else value
    assert plain(array[...]) == plain(model)
    found = PEERS[peer].read(tmp_path / "theirs", model.dtype)
    if model.dtype.kind == "i":
        found = found.astype(model.dtype)  # tensorstore keeps what lies above four bits
    assert plain(found) == plain(model)
