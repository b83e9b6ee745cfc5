"""Every peer reads what Zellige writes, and Zellige reads what every peer writes."""

from copy import deepcopy
from functools import cache

import pytest
import zellige
from elements import plain
from grid import CASES
from left_out import LEFT_OUT, READS, UPDATES, WRITES, why_not
from peers import PEERS
from test_parts import is_changed

pytestmark = pytest.mark.filterwarnings("ignore")


def tried(does):
    return [
        (peer, name) for peer in PEERS for name in CASES if not why_not(peer, does, name)
    ]


@pytest.fixture(scope="session")
def ours(tmp_path_factory):
    """The folder of a case as Zellige writes it."""
    root = tmp_path_factory.mktemp("ours")

    @cache
    def written(name):
        array = zellige.create_array(root / name, **CASES[name].create)
        array[...] = CASES[name].data
        return root / name

    return written


@pytest.fixture(scope="session")
def theirs(tmp_path_factory, ours):
    """The folder of a case as a peer writes it, from the document that Zellige wrote."""
    root = tmp_path_factory.mktemp("theirs")

    def written(peer, name):
        document = deepcopy(zellige.open_array(ours(name)).metadata)
        if document["zarr_format"] == 2:
            document.pop("attributes", None)
        PEERS[peer].write(root / peer / name, document, CASES[name].data)
        return root / peer / name

    return written


def reads(peer, name, ours):
    data = CASES[name].data
    assert plain(PEERS[peer].read(ours(name), data.dtype)) == plain(data)


def is_read(peer, name, theirs):
    found = zellige.open_array(theirs(peer, name))[...]
    assert plain(found) == plain(CASES[name].data)


@pytest.mark.parametrize(("peer", "name"), tried(READS))
def test_peer_reads_ours(peer, name, ours):
    reads(peer, name, ours)


@pytest.mark.parametrize(("peer", "name"), tried(WRITES))
def test_ours_reads_peer(peer, name, theirs):
    is_read(peer, name, theirs)


@pytest.mark.parametrize("peer", LEFT_OUT)
def test_left_out_for_a_reason(peer, ours, theirs, tmp_path):
    """A case of every rule fails. (A panic of Rust is no Exception.)"""
    for rule in LEFT_OUT[peer]:
        for does in rule.does:
            name = next((n for n in CASES if why_not(peer, does, n) is rule), None)
            assert name is not None, f"no case is left out because of: {rule}"
            test, folder = {
                READS: (reads, ours),
                WRITES: (is_read, theirs),
                UPDATES: (is_changed, tmp_path / name),
            }[does]
            if rule.is_tried:
                with pytest.raises(BaseException):
                    test(peer, name, folder)


def test_every_case_of_ours_is_read_by_a_peer():
    assert not [n for n in CASES if all(why_not(peer, READS, n) for peer in PEERS)]


def test_one_chunk_is_missing(ours):
    """The grid has what it claims: of eight chunks, one is not stored."""
    for name in ("v3/int16/plain/zstd", "v2/int16/C/gzip", "v3/string/sharded/zstd"):
        assert zellige.open_array(ours(name))._stored()[0] == 7
