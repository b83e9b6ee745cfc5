"""Memory of results: of its own, independent, and used again once it is free."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import zellige

SIDE = 1 << 20


@pytest.fixture(scope="module")
def array(tmp_path_factory: pytest.TempPathFactory) -> tuple[zellige.Array, np.ndarray]:
    data = np.random.default_rng(5).integers(0, 255, 8 * SIDE, dtype="uint8")
    folder: Path = tmp_path_factory.mktemp("memory")
    return zellige.create_array(f"{folder}/a.zarr", data=data, chunks=(1 << 16,)), data


def address(result: np.ndarray) -> int:
    return int(result.__array_interface__["data"][0])


@pytest.mark.parametrize(
    "n", [1, 4095, 4096, 4097, 65536, 100_001, SIDE, 4 * SIDE - 1, 5 * SIDE]
)
def test_values_of_every_size(array: tuple[zellige.Array, np.ndarray], n: int) -> None:
    stored, data = array
    results = [stored[k : k + n] for k in range(3)]
    results[1][...] = 7
    for k in (0, 2):
        assert np.array_equal(results[k], data[k : k + n])
        assert results[k].flags.writeable and results[k].flags.c_contiguous
    assert np.array_equal(pickle.loads(pickle.dumps(results[0])), results[0])


def test_results_do_not_overlap(array: tuple[zellige.Array, np.ndarray]) -> None:
    stored, _ = array
    rng = np.random.default_rng(6)
    alive: list[np.ndarray] = []
    for n in rng.integers(4096, 300_000, 400).tolist():
        alive.append(stored[:n])
        if len(alive) > 50:
            del alive[int(rng.integers(0, 50))]
        ranges = sorted((address(a), address(a) + a.nbytes) for a in alive)
        assert all(low[1] <= high[0] for low, high in zip(ranges, ranges[1:]))


def test_free_memory_is_used_again(array: tuple[zellige.Array, np.ndarray]) -> None:
    stored, _ = array
    gc.collect()
    first = stored[:65536]
    where = address(first)
    del first
    assert address(stored[:65536]) == where


def test_a_view_keeps_its_memory(array: tuple[zellige.Array, np.ndarray]) -> None:
    stored, data = array
    part = stored[:65536][100:200]
    others = [stored[65536 * k : 65536 * (k + 1)] for k in range(1, 20)]
    assert np.array_equal(part, data[100:200])
    assert len(others) == 19


def test_a_result_is_an_array_like_others(array: tuple[zellige.Array, np.ndarray]) -> None:
    stored, data = array
    result = stored[:65536]
    assert result.flags.aligned and memoryview(result.base).nbytes == result.nbytes
    for other in (result.copy(), copy.deepcopy(result)):
        assert other.flags.owndata and np.array_equal(other, data[:65536])
    with pytest.raises(ValueError, match="resize"):
        result.resize(70000)
    assert np.array_equal(result, data[:65536])


def mapped() -> list[tuple[int, int]]:
    """Ranges of addresses that this process has."""
    with open("/proc/self/maps") as maps:
        fields = [line.split(" ", 1)[0].split("-") for line in maps]
    return [(int(low, 16), int(high, 16)) for low, high in fields]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is needed")
def test_little_memory_stays_when_results_are_gone(
    array: tuple[zellige.Array, np.ndarray],
) -> None:
    stored, _ = array
    gc.collect()
    alive = [stored[:SIDE] for _ in range(64)]
    places = [address(result) for result in alive]
    alive.clear()
    ranges = mapped()
    kept = [any(low <= at < high for low, high in ranges) for at in places]
    assert 0 < sum(kept) <= 16


@pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses are needed")
def test_numpy_serves_where_no_region_can_be_mapped(
    array: tuple[zellige.Array, np.ndarray],
) -> None:
    """In a process of its own, whose addresses run out below the size of a region."""
    script = textwrap.dedent(f"""
        import resource
        import numpy as np
        import zellige
        stored = zellige.open_array({array[0].store.root!r})
        alive = [stored[:65536] for _ in range(8)]
        with open("/proc/self/status") as status:
            kib = next(int(s.split()[1]) for s in status if s.startswith("VmSize"))
        limit = (kib << 10) + (6 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        while not alive[-1].flags.owndata:
            alive.append(stored[:65536])
        print(len(alive), all(np.array_equal(alive[0], result) for result in alive))
    """)
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert result.stdout.split() == ["129", "True"], result.stderr


def test_threads(array: tuple[zellige.Array, np.ndarray]) -> None:
    stored, data = array
    wrong: list[int] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(200):
            k, n = int(rng.integers(0, SIDE)), int(rng.integers(1, 200_000))
            if not np.array_equal(stored[k : k + n], data[k : k + n]):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


SPARE = textwrap.dedent("""
    import ctypes, sys
    import numpy as np
    import zellige

    def peak(call):
        with open("/proc/self/clear_refs", "w") as reset:
            reset.write("5")
        kib = {}
        def read(name):
            with open("/proc/self/status") as status:
                return next(int(s.split()[1]) for s in status if s.startswith(name + ":"))
        before = read("VmRSS")
        call()
        return (read("VmHWM") - before) / 1024

    n, root = 128 << 20, sys.argv[1]
    raw = {"compressors": None, "dtype": "u1", "shape": (64, n // 64)}
    data = np.random.default_rng(0).integers(1, 255, (64, n // 64), dtype="u1")
    plain = zellige.create_array(root, path="plain", chunks=(1, n // 64), **raw)
    shards = zellige.create_array(root, path="s", chunks=(1, 1 << 20), shards=(2, 2 << 20), **raw)
    wide = zellige.create_array(root, path="w", chunks=(1, 1 << 16), **{**raw, "dtype": "u2"})
    texts = zellige.create_array(root, path="t", shape=n, dtype=str, chunks=1 << 16)
    swapped = data.view(">u2")
    plain[0], shards[0], texts[0] = 1, 1, "x"
    for call in (
        lambda: plain.__setitem__(..., data),
        lambda: plain.__setitem__(..., memoryview(data)),
        lambda: shards.__setitem__(..., data),
        lambda: shards.__setitem__((slice(None), slice(5, -5)), data[::-1, 5:-5]),
        lambda: wide.__setitem__((slice(None), slice(0, n // 128)), swapped),
        lambda: plain.append(data[:8]),
        lambda: plain.fill(7),
        lambda: zellige.write_many([(plain, slice(0, 64), data), (shards, ..., data)]),
        lambda: zellige.copy(plain, root, path="copy"),
    ):
        print(round(peak(call), 1))
""")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is needed")
def test_writing_copies_nothing(tmp_path: Path) -> None:
    """128 MiB are written; beyond them there is room for the pieces in work alone."""
    result = subprocess.run(
        [sys.executable, "-c", SPARE, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    peaks = [float(text) for text in result.stdout.split()]
    assert len(peaks) == 9, result.stderr
    assert all(peak < 40 for peak in peaks[:-1]), peaks
    assert peaks[-1] < 100, peaks
