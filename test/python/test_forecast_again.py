"""Writes of a forecast that were refused, and what is given again of them.

When close returns, everything is stored that any write was given; it raises only as long as
something is not.
"""

import contextlib
import random

import numpy as np
import pytest
from forecasts import (
    BOTH,
    WAYS,
    blocked,
    coords,
    fields,
    give_one,
    leads,
    stored,
    times,
    watched,
)
from zellige.errors import ZelligeError


def failed(tmp_path, options):
    """A backend of 8 steps whose array has failed with the last four, and what heals it."""
    io, heal = blocked(tmp_path, 8, **options)
    with pytest.raises(OSError, match="t2m"):
        io.write(fields(8)[:, 4:], coords(leads(8)[4:]), "t2m")
        io.flush()
    return io, heal


@pytest.mark.parametrize("options", WAYS)
def test_a_part_of_a_refused_write_is_given_again(tmp_path, options):
    x = fields(8)
    io, heal = failed(tmp_path, options)
    with pytest.raises(OSError, match="t2m"):
        io.write(x[:, :3], coords(leads(8)[:3]), "t2m")
    heal()
    give_one(io, x, 0, 0)
    for call in (io.flush, io.close):
        with pytest.raises(OSError, match="2 fields of t2m were refused, and not given"):
            call()
    io.write(x[:, 1:3], coords(leads(8)[1:3]), "t2m")
    io.close()
    assert np.array_equal(np.delete(stored(tmp_path)[...], 3, 1), np.delete(x, 3, 1))


@pytest.mark.parametrize("options", WAYS)
def test_a_refused_write_is_given_again_in_a_larger_one(tmp_path, options):
    x = fields(8)
    io, heal = failed(tmp_path, options)
    with pytest.raises(OSError, match="t2m"):
        give_one(io, x, 0, 2)
    heal()
    io.write(x, coords(leads(8)), "t2m")
    io.close()
    assert np.array_equal(stored(tmp_path)[...], x)


def test_an_array_that_cannot_be_made():
    """Nothing is known of it yet but its name and where the fields would lie."""
    x = fields(4)
    store, io = watched(4, blocking=False)
    store.fail("t2m/zarr.json")
    for part in (slice(0, 2), slice(2, 3)):
        with pytest.raises(OSError, match="t2m"):
            io.write(x[:, part], coords(leads(4)[part]), "t2m")
    store.heal()
    with pytest.raises(OSError, match="3 fields of t2m were refused"):
        io.close()
    backwards = dict(reversed(coords(leads(4)[1:]).items()))
    io.write(x[:, 1:].transpose(), backwards, "t2m")
    with pytest.raises(OSError, match="1 fields of t2m were refused"):
        io.close()
    io.write(x[:, :1].transpose(), {**backwards, "lead_time": leads(4)[:1]}, "t2m")
    io.close()
    assert np.array_equal(stored(store)[...], x.transpose())


# ---------------------------------------------------------------------- a model


class Model:
    """A store that fails now and then, and what must be stored at last."""

    def __init__(self, seed):
        self.random = r = random.Random(seed)
        self.shape = r.randint(1, 3), r.randint(1, 7)
        self.failing = False
        ways = {"blocking": r.random() < 0.3}
        if r.random() < 0.7:
            ways["shard_coords"] = {"lead_time": r.randint(1, self.shape[1])}
        self.store, self.io = watched(self.shape[1], self.shape[0], **ways)
        self.data = {name: np.zeros_like(fields(*self.shape[::-1])) for name in BOTH}
        self.raised = set()  # where writes raised: some of it may have been taken

    def fail_or_heal(self):
        self.failing = not self.failing
        if self.failing:
            self.store.fail(self.random.choice(["t2m/c/", "z500/c/", "t2m/", "/"]))
        else:
            self.store.heal()
            with contextlib.suppress(ZelligeError):  # puts that had begun before still fail
                self.io.flush()

    def some(self):
        """Times and lead times: one, or several in any order."""
        for n in self.shape:
            many = self.random.randint(1, n) if self.random.random() < 0.4 else 1
            yield self.random.sample(range(n), many)

    def write(self):
        """Fields that no write had before."""
        names = self.random.sample(BOTH, self.random.randint(1, 2))
        i, j = self.some()
        seed = self.random.randint(1, 15)
        given = [fields(*self.shape[::-1], seed=seed + k)[np.ix_(i, j)] for k in range(2)]
        for name, field in zip(names, given):
            self.data[name][np.ix_(i, j)] = field
        self.give(names, i, j)

    def give(self, names, i, j):
        n_times, n_leads = self.shape
        where = coords(leads(n_leads)[j], times(n_times)[i])
        cells = {(name, a, b) for name in names for a in i for b in j}
        try:
            self.io.write([self.data[name][np.ix_(i, j)] for name in names], where, names)
        except ZelligeError:
            assert self.failing or self.raised
            self.raised |= cells
        else:
            self.raised -= cells

    def end(self, call):
        """Flushes or closes; True where that went well."""
        try:
            call()
        except ZelligeError:
            assert self.failing or self.raised, "nothing is missing"
            return False
        for name, data in self.data.items():
            if data.any():
                assert np.array_equal(stored(self.store, name)[...], data), name
        return True

    def give_again(self):
        """What raised, in other parts than it came, until there is none."""
        while self.raised:
            name, i, j = self.random.choice(sorted(self.raised))
            more_i, more_j = self.some()
            whole = np.ix_([i, *more_i], [j, *more_j])
            if self.data[name][whole].all():  # each of these was given
                self.give([name], [*{i, *more_i}], [*{j, *more_j}])
            self.give([name], [i], [j])



@pytest.mark.parametrize("first", range(0, 200, 50))
def test_refused_and_repeated_at_random(first):
    for seed in range(first, first + 50):
        model = Model(seed)
        for _ in range(model.random.randint(5, 30)):
            chance = model.random.random()
            if chance < 0.75:
                model.write()
            elif chance < 0.88:
                model.fail_or_heal()
            else:
                model.end(model.random.choice([model.io.flush, model.io.close]))
        if model.failing:
            model.fail_or_heal()
        model.end(model.io.close)
        model.give_again()
        assert model.end(model.io.close), seed
