"""Ratios of the pipeline for zarr-python over zarr+zarrs and over zarr-python's own.

usage: pipeline.py --tools | --tasks    what to run, with commas
       pipeline.py BENCH.json
"""

from __future__ import annotations

import json
import sys

from report import NOISE, mark

OURS, ZARRS, BUILT_IN = "zarr+zellige", "zarr+zarrs", ("zarr-batched", "zarr-fused")
# task: bar against zarr+zarrs, or None. Against zarr-python's own it is 1 for all.
BARS: dict[str, float | None] = {
    "read:raw": 1.0,
    "read:zstd": None,
    "read:small": None,
    "read:shard": 0.85,
    "read:million": 0.6,
    "boxes:shard": 0.8,
    "inner:shard": None,
    "plane:shard": None,
    "strided:shard": 0.4,
    "points:shard": 0.3,
    "open:shard": None,
    "write:raw": None,
    "write:zstd": None,
    "write:small": None,
    "write:shard": 0.9,
    "write:shardraw": 0.9,
    "update:shard": 0.3,
}


def ratio(ours: float, theirs: float, bar: float | None) -> str:
    return f"{ours / theirs:.2f}" if bar is None else mark(ours / theirs, bar)


def main() -> None:
    if sys.argv[1:] == ["--tools"]:
        print(",".join([*BUILT_IN, ZARRS, OURS]))
        return
    if sys.argv[1:] == ["--tasks"]:
        print(",".join(BARS))
        return
    with open(sys.argv[1]) as file:
        results = json.load(file)
    print("| task | zarr+zarrs | zarr-python's own | Zellige's pipeline | ÷ zarr+zarrs | ÷ zarr-python's own |")
    print("|---|---|---|---|---|---|")
    for task, bar in BARS.items():
        best = {tool: min(e["t"]) for tool, e in results[task].items() if e["t"]}
        ours, zarrs = best[OURS], best[ZARRS]
        own = min(best[tool] for tool in BUILT_IN)
        slower = "" if ours <= own * NOISE else " **missed**"
        print(f"| {task} | {zarrs:.4f} | {own:.4f} | {ours:.4f} | "
              f"{ratio(ours, zarrs, bar)} | {ours / own:.2f}{slower} |")


if __name__ == "__main__":
    main()
