"""A small ensemble forecast that is stored while it is computed.

The model is a damped persistence: each member starts from a month of the sample data's sea
surface temperatures, is carried west and disturbed with each step, and falls back towards the
mean. Its fields go into a sharded store as they come, member after member; then the store is
read again, compared, and drawn.

Run it with ``.venv/bin/python examples/ensemble.py`` after ``make demo``. It needs
matplotlib: ``.venv/bin/pip install matplotlib``.
"""

from __future__ import annotations

import shutil
import time
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

import iris_sample_data
import netCDF4
import numpy as np

import zellige
from zellige.forecast import AsyncZarrBackend

ROOT = Path(__file__).resolve().parent.parent / "build" / "ensemble"
N_MEMBERS, N_STEPS = 12, 40
STEP = np.timedelta64(6, "h")


def sample() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Monthly fields of temperatures, with their latitudes and longitudes."""
    with netCDF4.Dataset(Path(iris_sample_data.path) / "ostia_monthly.nc") as source:
        fields = source["surface_temperature"][...]
        lat, lon = source["latitude"][...], source["longitude"][...]
    return np.ma.filled(fields, np.nan).astype("f4"), np.asarray(lat), np.asarray(lon)


def run(member: int, fields: np.ndarray) -> Iterator[dict[str, np.ndarray]]:
    """The steps of one member: temperatures, and how far they are from the mean."""
    rng = np.random.default_rng(member)
    mean = fields.mean(axis=0)  # no number over land
    around = np.linspace(0, 2 * np.pi, fields.shape[2], endpoint=False, dtype="f4")
    state = np.nan_to_num(fields[0] - mean)
    for _ in range(N_STEPS):
        yield {"temperature": mean + state, "anomaly": np.where(np.isnan(mean), mean, state)}
        wave = np.cos(rng.integers(1, 6) * around + rng.uniform(0, 2 * np.pi))
        state = 0.97 * np.roll(state, -1, axis=1) + np.float32(rng.normal(0, 0.15)) * wave
        state = state.astype("f4")


def forecast(store: Path, fields: np.ndarray, lat: np.ndarray, lon: np.ndarray) -> float:
    """Computes and stores all members; gives the seconds that writes took."""
    members, steps = np.arange(N_MEMBERS), np.arange(N_STEPS) * STEP
    start = np.array(["2026-01-01"], "M8[ns]")
    seconds = 0.0
    with AsyncZarrBackend(
        store,
        OrderedDict(ensemble=members, time=start, lead_time=steps),
        blocking=False,
        shard_coords={"lead_time": 10},
        zarr_codecs={"name": "zstd"},
        fill_value=np.nan,
        time_encoding="cf",
    ) as io:
        for member in members:
            for step, made in zip(steps, run(member, fields)):
                coords = OrderedDict(
                    ensemble=members[[member]],
                    time=start,
                    lead_time=np.array([step]),
                    latitude=lat,
                    longitude=lon,
                )
                before = time.perf_counter()
                io.write([x[None, None, None] for x in made.values()], coords, list(made))
                seconds += time.perf_counter() - before
    counts = io.counts()
    print(
        f"Stored {counts['stored']} shards, {counts['bytes_submitted'] / 1e6:.1f} MB as "
        f"{counts['bytes_stored'] / 1e6:.1f} MB, with {counts['bytes_peak'] / 1e6:.1f} MB of "
        f"memory and {counts['opened']} reads."
    )
    return seconds


def check(store: Path, fields: np.ndarray) -> None:
    """Every step of every member is there as it was computed."""
    array = zellige.open_array(store, "r", path="temperature")
    for member in range(N_MEMBERS):
        stored = array[member, 0]
        for step, made in enumerate(run(member, fields)):
            if not np.array_equal(stored[step], made["temperature"], equal_nan=True):
                raise SystemExit(f"member {member}, step {step}: what was read differs")
    print(f"Read back: {array.shape} values are what was computed.")


def draw(store: Path) -> None:
    """The spread of the members at one place, and the last field of their mean."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    group = zellige.open_group(store, mode="r")
    temperature = group["temperature"]
    lat, lon = group["latitude"][...], group["longitude"][...]
    y, x = len(lat) // 2, len(lon) // 2
    days = np.arange(N_STEPS) * 0.25
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4))
    left.plot(days, temperature[:, 0, :, y, x].T, color="tab:blue", alpha=0.5, linewidth=0.8)
    left.set(xlabel="days", ylabel="temperature (K)", title=f"{lat[y]:.0f}°, {lon[x]:.0f}°")
    mean = temperature[:, 0, -1].mean(axis=0)
    shown = right.pcolormesh(lon, lat, mean, shading="auto")
    right.set(xlabel="longitude", ylabel="latitude", title=f"mean after {days[-1]:.1f} days")
    figure.colorbar(shown, label="K")
    figure.savefig(ROOT / "ensemble.png", dpi=100, bbox_inches="tight")
    print(f"Drawn: {(ROOT / 'ensemble.png').relative_to(ROOT.parent.parent)}")


def main() -> None:
    shutil.rmtree(ROOT, ignore_errors=True)
    ROOT.mkdir(parents=True)
    fields, lat, lon = sample()
    before = time.perf_counter()
    seconds = forecast(ROOT / "forecast.zarr", fields, lat, lon)
    whole = time.perf_counter() - before
    print(f"{N_MEMBERS} members of {N_STEPS} steps in {whole:.2f} s, {seconds:.2f} s in writes.")
    check(ROOT / "forecast.zarr", fields)
    draw(ROOT / "forecast.zarr")


if __name__ == "__main__":
    main()
