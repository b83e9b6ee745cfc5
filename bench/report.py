"""Ratios from one run of the peers' program: Zellige over the best peer, and over ideal.

usage: report.py --tasks            the tasks to run, with commas
       report.py BENCH.json IDEAL.log
"""

from __future__ import annotations

import json
import sys

# task: (bar against the best peer or None, bar of readinto against the ideal loop or None)
BARS: dict[str, tuple[float, float | None]] = {
    "read:raw": (1.0, 1.25),
    "read:zstd": (1.0, 1.1),
    "read:gzip": (0.95, None),
    "read:blosc": (0.95, None),
    "read:small": (0.75, 1.3),
    "read:shard": (0.8, 1.15),
    "read:shardraw": (0.65, 1.4),
    "read:million": (0.5, 2.0),
    "boxes:shard": (0.7, None),
    "batch:shard": (0.4, None),
    "batch:zstd": (0.2, None),
    "inner:shard": (0.85, None),
    "inner:million": (0.4, None),
    "plane:shard": (0.7, None),
    "series:shard": (0.7, None),
    "strided:shard": (0.5, None),
    "points:shard": (1.0, None),
    "open:shard": (1.0, None),
    "write:raw": (1.0, None),
    "write:zstd": (1.0, None),
    "write:gzip": (0.9, None),
    "write:blosc": (0.95, None),
    "write:small": (1.0, None),
    "write:shard": (0.9, None),
    "write:shardraw": (0.8, None),
    "write:million": (0.6, None),
    "update:shard": (0.6, None),
}
NOISE = 1.03


def into(task: str) -> str:
    return task.replace("read:", "readinto:")


def tasks() -> list[str]:
    return list(BARS) + [into(task) for task, (_, ideal) in BARS.items() if ideal]


def ideals(path: str) -> dict[str, float]:
    """Seconds by layout from lines such as "ideal read:raw threads 2 best 0.0220 s (..)"."""
    with open(path) as log:
        return {words[1].split(":")[1]: float(words[5]) for words in map(str.split, log)}


def mark(ratio: float, bar: float | None) -> str:
    if bar is None:
        return ""
    return f"{ratio:.2f} (≤ {bar:g})" + ("" if ratio <= bar * NOISE else " **missed**")


def main() -> None:
    if sys.argv[1:] == ["--tasks"]:
        print(",".join(tasks()))
        return
    with open(sys.argv[1]) as file:
        results = json.load(file)
    floor = ideals(sys.argv[2])
    print("| task | best peer | seconds | Zellige | Zellige ÷ best peer | into warm memory ÷ ideal |")
    print("|---|---|---|---|---|---|")
    for task, (bar, ideal_bar) in BARS.items():
        best = {tool: min(e["t"]) for tool, e in results[task].items() if e["t"]}
        ours = best.pop("zellige")
        peer = min(best, key=lambda tool: best[tool])
        ideal = ""
        if ideal_bar is not None:
            seconds = min(results[into(task)]["zellige"]["t"])
            ideal = mark(seconds / floor[task.split(":")[1]], ideal_bar)
        print(f"| {task} | {peer} | {best[peer]:.4f} | {ours:.4f} | "
              f"{mark(ours / best[peer], bar)} | {ideal} |")


if __name__ == "__main__":
    main()
