"""Processes that open, or make, the same thing at the same time: each of them gets it."""

import multiprocessing

import numpy as np
import pytest
import zellige
from forecasts import backend, fields, give, stored
from zellige import _core
from zellige.mapping import Mapped

TOGETHER = multiprocessing.get_context("spawn")
N_PROCESSES, N_ROUNDS = 4, 25


class Overtaken(Mapped):
    """A store in which somebody else makes a node just before we do."""

    def __init__(self, make):
        super().__init__({})
        self.make = make

    def change(self, key, *how):
        if key == "a/zarr.json" and self.make is not None:
            make, self.make = self.make, None
            others = {}
            make(others)
            self.mapping.update(others)
        return super().change(key, *how)


def overtaken(make):
    return _core.open_store(
        zellige.MemoryStore, Overtaken(make), False, False, False, False
    )


def an_array(store):
    zellige.create_array(store, path="a", shape=3, dtype="i2", attributes={"by": "others"})


def a_group(store):
    zellige.create_group(store, path="a", attributes={"by": "others"})


SHAPE = {"shape": 3, "dtype": "i2"}


@pytest.mark.parametrize(
    ("make", "call", "more"),
    [
        (a_group, zellige.open_group, {}),
        (a_group, zellige.group, {}),
        (a_group, zellige.open, {"mode": "a"}),
        (an_array, zellige.open_array, {"mode": "a", **SHAPE}),
        (an_array, zellige.open_array, {"mode": "a", "data": np.ones(3, "i2")}),
        (an_array, zellige.open, SHAPE),
    ],
)
def test_somebody_else_was_faster(make, call, more):
    node = call(overtaken(make), path="a", **more)
    assert node.attrs == {"by": "others"}


@pytest.mark.parametrize(
    ("make", "call", "more"),
    [
        (a_group, zellige.open_array, {"mode": "a", **SHAPE}),
        (an_array, zellige.open_group, {}),
        (a_group, zellige.open_group, {"mode": "w-"}),
        (an_array, zellige.open_array, {"mode": "w-", **SHAPE}),
    ],
)
def test_somebody_else_made_something_else(make, call, more):
    store = overtaken(make)
    with pytest.raises(zellige.ExistsError):
        call(store, path="a", **more)
    assert zellige.open(store, "r", path="a").attrs == {"by": "others"}


def work(call, path, barrier):
    """One of the processes."""
    try:
        for k in range(N_ROUNDS):
            barrier.wait(60)
            call(f"{path}/{k}")
    except BaseException:
        barrier.abort()  # the others need not wait
        raise


def together(call, path):
    barrier = TOGETHER.Barrier(N_PROCESSES)
    ranks = [
        TOGETHER.Process(target=work, args=(call, path, barrier))
        for _ in range(N_PROCESSES)
    ]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join(90)
    return [rank.exitcode for rank in ranks]


def open_a_group(path):
    zellige.open_group(path)


def open_members(path):
    zellige.open_group(path, "a", "a/b")
    zellige.open_array(path, "a", "a/c/d", **SHAPE)
    zellige.open_group(path).require_groups("e", "a/f")


def open_a_backend(path):
    with backend(path, 4, blocking=False) as io:
        give(io, fields(4))
    assert np.array_equal(stored(path)[...], fields(4))


@pytest.mark.parametrize("call", [open_a_group, open_members, open_a_backend])
def test_processes_that_start_together(tmp_path, call):
    assert together(call, tmp_path) == [0] * N_PROCESSES
    assert zellige.open_group(tmp_path / "0", "r").read_only
