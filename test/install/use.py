"""The wheel in an environment of its own: nothing but NumPy beside it, nothing of the
system below it, every codec works, every licence is there."""

import importlib.metadata
import pathlib
import subprocess
import sys

import numpy as np

before = set(sys.modules)
import zellige  # noqa: E402

loaded = {name.partition(".")[0] for name in set(sys.modules) - before}

# What every Linux has, or NumPy's own wheel needs as well.
OF_THE_SYSTEM = {
    "linux-vdso",
    "ld-linux-x86-64",
    "ld-linux-aarch64",
    "libc",
    "libm",
    "libdl",
    "libpthread",
    "librt",
    "libstdc++",
    "libgcc_s",
    "libz",
}
V2 = [
    {"id": "lz4"},
    {"id": "bz2"},
    {"id": "lzma"},
    {"id": "zlib"},
    {"id": "zstd"},
    *(
        {"id": "blosc", "cname": name}
        for name in ("blosclz", "lz4", "snappy", "zlib", "zstd")
    ),
]
V3 = ["zstd", "gzip", "blosc"]


def check_libraries(core):
    """All that is loaded besides the system's lies in the wheel."""
    folder = core.parents[1] / "zellige.libs"
    said = subprocess.run(["ldd", core], check=True, text=True, capture_output=True).stdout
    foreign = [
        line
        for line in said.splitlines()
        if pathlib.Path(line.split()[0]).name.split(".so")[0] not in OF_THE_SYSTEM
        and str(folder) not in str(pathlib.Path(line.split()[2]).resolve())
    ]
    assert not foreign, foreign


def check_licences():
    files = importlib.metadata.metadata("zellige").get_all("License-File")
    info = next(
        p for p in importlib.metadata.files("zellige") if p.name == "METADATA"
    ).locate()
    missing = [f for f in files if not (info.parent / "licenses" / f).is_file()]
    assert len(files) > 1 and not missing, (files, missing)


def check_codecs():
    data = np.arange(6000, dtype="f8").reshape(60, 100)
    ways = [{"zarr_format": 2, "compressors": codec} for codec in V2]
    ways += [{"zarr_format": 3, "compressors": {"name": name}} for name in V3]
    ways.append({"zarr_format": 2, "compressors": {"id": "zfpy", "mode": 5}, "order": "C"})
    for way in ways:
        array = zellige.create_array(
            zellige.MemoryStore(), data=data, chunks=(16, 32), **way
        )
        assert np.array_equal(array[...], data), way
        assert array.nbytes_stored() < data.nbytes, way


packages = {found.metadata["Name"].lower() for found in importlib.metadata.distributions()}
assert packages <= {"zellige", "numpy", "pip", "setuptools"}, packages
assert loaded <= sys.stdlib_module_names | {"zellige", "numpy"}, loaded
check_libraries(pathlib.Path(zellige._core.__file__))
check_licences()
check_codecs()
print(
    f"zellige {zellige.__version__} on Python {sys.version.split()[0]}, "
    f"NumPy {np.__version__}: {len(V2) + len(V3) + 1} codecs"
)
