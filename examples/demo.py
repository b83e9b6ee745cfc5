"""The main job on real data: climate fields from netCDF to sharded Zarr and back.

Writes the fields of the package iris-sample-data (two climate scenarios, sea surface
temperatures, an ocean grid) with their coordinates and attributes as sharded version 3
arrays, reads them back whole, by inner chunk, by box and at points, compares every value
with the source, times the reads, and draws a map and a time series.

Run it with ``make demo``.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import iris_sample_data
import netCDF4
import numpy as np

import zellige

ROOT = Path(__file__).resolve().parent.parent / "build" / "demo"
COMMAND = ROOT.parent / "zellige"
SOURCES = {
    "A1B": "A1B_north_america.nc",
    "E1": "E1_north_america.nc",
    "ostia": "ostia_monthly.nc",
    "orca2": "orca2_votemper.nc",
    "nemo/2015-01": "NEMO/nemo_1m_20150101-20150201_grid-T.nc",
    "nemo/2015-02": "NEMO/nemo_1m_20150201-20150301_grid-T.nc",
    "nemo/2015-03": "NEMO/nemo_1m_20150301-20150401_grid-T.nc",
}
TIMED_BYTES = 256_000_000
ROUNDS = 5


def plain(value: Any) -> Any:
    """An attribute of netCDF as JSON knows it."""
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    return value.item() if isinstance(value, np.generic) else value


def shapes(shape: tuple[int, ...]) -> dict[str, Any]:
    """Inner chunks of about 90 KB in shards of ten and more; small arrays stay whole."""
    if np.prod(shape, dtype=int) < 100_000:
        return {"chunks": tuple(max(1, n) for n in shape)}
    steps = max(1, shape[0] // 20)
    chunks = (steps, *shape[1:])
    return {"chunks": chunks, "shards": (steps * min(10, -(-shape[0] // steps)), *shape[1:])}


def fields() -> Iterator[tuple[str, str, np.ndarray, dict[str, Any], tuple[str, ...]]]:
    """Group, name, values as stored, attributes and dimensions of every numeric variable."""
    for group, file in SOURCES.items():
        with netCDF4.Dataset(Path(iris_sample_data.path) / file) as source:
            source.set_auto_maskandscale(False)
            for name, variable in source.variables.items():
                if variable.dtype is not str and variable.dtype.kind in "iuf":
                    attributes = {k: plain(variable.getncattr(k)) for k in variable.ncattrs()}
                    yield group, name, np.asarray(variable[...]), attributes, variable.dimensions


def write(store: Path) -> dict[str, np.ndarray]:
    """Writes every field; returns the sources by path."""
    zellige.create_group(str(store), attributes={"title": "Sample climate fields"},
                         overwrite=True)
    for group in SOURCES:
        zellige.create_group(str(store), path=group, attributes={"source": SOURCES[group]})
    written = {}
    for group, name, values, attributes, dimensions in fields():
        zellige.create_array(
            str(store), path=f"{group}/{name}", data=values, attributes=attributes,
            dimension_names=dimensions, fill_value=attributes.get("_FillValue"),
            **shapes(values.shape))
        written[f"{group}/{name}"] = values
    return written


def same(got: Any, expected: np.ndarray, what: str) -> None:
    if not np.array_equal(np.asarray(got), expected, equal_nan=expected.dtype.kind == "f"):
        raise SystemExit(f"{what}: what was read differs from the source")


def check(store: Path, written: dict[str, np.ndarray]) -> int:
    """Reads every field in four ways and compares; returns how many reads that were."""
    rng = np.random.default_rng(1)
    n_reads = 0
    root = zellige.open_group(str(store))
    for path, values in written.items():
        array = root[path]
        same(array[...], values, f"{path} whole")
        n_reads += 1
        if values.ndim == 0:
            continue
        grid = [range(0, n, c) for n, c in zip(values.shape, array.chunks)]
        corners = np.stack(np.meshgrid(*grid, indexing="ij"), -1).reshape(-1, values.ndim)
        boxes = [tuple(slice(int(s), min(int(s) + c, n)) for s, c, n in
                       zip(corner, array.chunks, values.shape)) for corner in corners]
        for box, got in zip(boxes, zellige.read_many([(array, box) for box in boxes])):
            same(got, values[box], f"{path} inner chunk {box}")
        box = tuple(slice(n // 3, n // 3 + max(1, n // 2)) for n in values.shape)
        same(array[box], values[box], f"{path} box")
        points = tuple(rng.integers(0, n, 100) for n in values.shape)
        same(array.vindex[points], values[points], f"{path} points")
        n_reads += len(boxes) + 2
    return n_reads


def best(run: Callable[[], Any]) -> float:
    """Seconds of the fastest of some rounds; memory and files are warm after the first."""
    times = []
    for _ in range(ROUNDS + 1):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times[1:])


def measure(store: Path, values: np.ndarray) -> None:
    """Times reads of one real field repeated to 256 MB."""
    repeats = -(-TIMED_BYTES // values.nbytes)
    long = np.tile(values, (repeats, 1, 1))
    chunks = (12, *values.shape[1:])
    array = zellige.create_array(str(store), data=long, chunks=chunks,
                                 shards=(480, *values.shape[1:]), overwrite=True)
    out = np.ones_like(long)
    rng = np.random.default_rng(2)
    boxes = [(slice(t, t + 12), slice(5, 20), slice(10, 30))
             for t in rng.integers(0, long.shape[0] - 12, 500).tolist()]
    points = tuple(rng.integers(0, n, 10_000) for n in long.shape)
    n_chunks = -(-long.shape[0] // 12)
    print(f"\nTimed on A1B air_temperature repeated {repeats} times to "
          f"{long.nbytes / 1e6:.0f} MB ({array.nbytes_stored() / 1e6:.0f} MB stored), warm, "
          f"best of {ROUNDS}:\n")
    print(f"  {'read':<34}{'seconds':>10}{'MB/s':>10}{'inner chunks/s':>18}")
    tasks: list[tuple[str, Callable[[], Any], int, int]] = [
        ("whole array", lambda: array.read(out=out), long.nbytes, n_chunks),
        ("500 boxes in one call", lambda: zellige.read_many([(array, b) for b in boxes]),
         500 * 12 * 15 * 20 * 4, 0),
        ("10,000 points in one call", lambda: array.vindex[points], 40_000, 0),
        ("one time series", lambda: array[:, 18, 24], long.shape[0] * 4, n_chunks),
    ]
    for name, run, n_bytes, n_pieces in tasks:
        seconds = best(run)
        pieces = f"{n_pieces / seconds:>18,.0f}" if n_pieces else f"{'':>18}"
        print(f"  {name:<34}{seconds:>10.4f}{n_bytes / seconds / 1e6:>10,.1f}{pieces}")
    same(out, long, "the timed array")


def draw(store: Path) -> None:
    for selection, name in (("0, :, :", "map.png"), (":, 18, 24", "series.png")):
        subprocess.run([COMMAND, "plot", store, "A1B/air_temperature", selection, "-o",
                        ROOT / name], check=True)
        print(f"  {(ROOT / name).relative_to(ROOT.parent.parent)}")


def main() -> None:
    ROOT.mkdir(parents=True, exist_ok=True)
    store = ROOT / "climate.zarr"
    start = time.perf_counter()
    written = write(store)
    n_bytes = sum(values.nbytes for values in written.values())
    print(f"Wrote {len(written)} arrays, {n_bytes / 1e6:.1f} MB, as sharded Zarr version 3 "
          f"in {time.perf_counter() - start:.2f} s:\n")
    print(zellige.open_group(str(store)).tree())
    print(f"\nRead back {check(store, written)} times, whole, by inner chunk, by box and at "
          "points: every value equals the source.")
    measure(ROOT / "timed.zarr", written["A1B/air_temperature"])
    print("\nDrawn:\n")
    draw(store)


if __name__ == "__main__":
    main()
