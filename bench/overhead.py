"""CPU time of one-chunk reads through Python: an 8 KiB chunk of a warm local file."""

from __future__ import annotations

import tempfile
import time

import numpy as np

import zellige

CALLS = 5000


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = np.arange(40 * 4096, dtype="uint16").reshape(40, 4096)
        array = zellige.create_array(f"{folder}/a.zarr", data=data, chunks=(1, 4096),
                                     codecs=[{"name": "bytes",
                                              "configuration": {"endian": "little"}}])
        best = float("inf")
        for _ in range(7):
            start = time.process_time()
            for i in range(CALLS):
                array[i % 40]
            best = min(best, time.process_time() - start)
        assert np.array_equal(array[7], data[7])
    print(f"Python, local file, one 8 KiB chunk: {best / CALLS * 1e6:.1f} us of CPU")


if __name__ == "__main__":
    main()
