"""How far long calls are."""

import threading

import numpy as np
import pytest
import zellige
from conftest import write_v3


class Bar:
    """What a bar of tqdm has to do with."""

    total = n = 0

    def update(self, n):
        self.n += n


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """Takes many seconds to read: millions of objects are looked for, none is there."""
    folder = tmp_path_factory.mktemp("slow")
    path = write_v3(folder, np.zeros(1, "u1"), (1,), shape=[40_000_000], fill=0)
    return zellige.open_array(path)


def test_a_call(slow):
    told = []
    with zellige.progress(lambda *numbers: told.append(numbers)):
        slow[:300_000]
    done = [n_done for n_done, _ in told]
    assert {n_all for _, n_all in told} == {300_000}
    assert done == sorted(done) and done[0] == 0 and done[-1] == 300_000
    slow[:300_000]
    assert len(told) == len(done), "nobody watches any more"


def test_a_report_stops_the_call(slow):
    def stop(n_done, n_all):
        raise RuntimeError(f"{n_done} of {n_all}")

    with pytest.raises(RuntimeError, match=r"\d of 40000000"), zellige.progress(stop):
        slow[...]
    assert slow[5] == 0


def test_bar_over_several_calls(slow):
    bar = Bar()
    with zellige.progress(bar):
        slow[:300_000]
        assert bar.n == bar.total == 300_000
        with pytest.raises(zellige.CancelledError):
            slow.read(timeout=0.2)
        failed = bar.n
        assert failed >= 300_000
        slow[:200_000]
    assert bar.n == bar.total == failed + 200_000


def test_of_its_thread_only(slow):
    told = []
    other = threading.Thread(target=lambda: slow[:200_000])
    with zellige.progress(lambda *numbers: told.append(numbers)):
        other.start()
        other.join()
    assert told == []


def test_of_another_thread(slow):
    told = []

    def read():
        with zellige.progress(lambda *numbers: told.append(numbers)):
            slow[:300_000]

    other = threading.Thread(target=read)
    other.start()
    other.join()
    assert told[-1] == (300_000, 300_000)


def test_one_within_another(slow):
    outer, inner = Bar(), Bar()
    with zellige.progress(outer):
        with zellige.progress(inner):
            slow[:300_000]
        assert (outer.n, inner.n) == (0, 300_000)
        slow[:200_000]
    assert (outer.n, inner.n) == (200_000, 300_000)


def test_copy():
    source = zellige.create_group(zellige.MemoryStore())
    for name in "ab":
        source.create_array(name, data=np.ones((4000, 3000)), chunks=(1000, 1000))
    told = []
    with zellige.progress(lambda *numbers: told.append(numbers)):
        zellige.copy(source, zellige.MemoryStore())
    n_all = 4000 * 3000 * 8
    done = [n_done for n_done, _ in told]
    assert {n for _, n in told} == {n_all}
    assert done[0] == 0 and done.count(0) == done.count(n_all) == 2
    assert done[:3] == sorted(done[:3]) and len(done) >= 6
