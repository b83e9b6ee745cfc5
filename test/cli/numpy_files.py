#!/usr/bin/env python3
"""numpy_files ZELLIGE [SEED]: arrays written from NumPy's files by the command line, and read
back through it, against the same assignments in NumPy.

Types × layouts × selections, seeded; strings and other formats; and how much memory large
files take. Needs NumPy; ml_dtypes for the types that NumPy lacks.
"""

import contextlib
import io
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

ZELLIGE = os.path.abspath(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
MEMORY_BYTES = 100 << 20
LARGE_BYTES = 200 << 20

NUMBERS = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
OTHERS = [
    "datetime64[s]",
    "datetime64[25ns]",
    "datetime64[D]",
    "timedelta64[ms]",
    "S5",
    "U4",
    "V3",
    "record",
]
RECORD = np.dtype([("x", "<i2"), ("y", "<f4"), ("name", "S3")])
RECORD_V3 = json.dumps(
    {
        "name": "struct",
        "configuration": {
            "fields": [
                {"name": "x", "data_type": "int16"},
                {"name": "y", "data_type": "float32"},
                {
                    "name": "name",
                    "data_type": {
                        "name": "null_terminated_bytes",
                        "configuration": {"length_bytes": 3},
                    },
                },
            ]
        },
    }
)
RECORD_V2 = json.dumps([["x", "<i2"], ["y", "<f4"], ["name", "|S3"]])
LAYOUTS = [
    ["--format", "3", "--chunks", "3,4"],
    ["--format", "3", "--chunks", "2,3", "--shards", "4,9", "--codecs", "gzip:1"],
    ["--format", "3", "--chunks", "auto:64", "--shards", "auto:512", "--codecs", "none"],
    [
        "--format",
        "3",
        "--chunks",
        "5,5",
        "--order",
        "F",
        "--separator",
        ".",
        "--codecs",
        "blosc:zstd:3,crc32c",
    ],
    ["--format", "2", "--chunks", "3,4", "--codecs", "zlib:2"],
    [
        "--format",
        "2",
        "--chunks",
        "4,4",
        "--order",
        "F",
        "--separator",
        "/",
        "--codecs",
        "blosc",
    ],
]
SELECTIONS = [
    "",
    ":",
    "2:7,3",
    "::2,::-3",
    "-1",
    "...,4:8",
    "1,2",
    "[3,0,5],1:",
    "4:4",
    "6:1:-2,[0,2]",
]


def zellige(*arguments, data=None, check=True, **more):
    done = subprocess.run(
        [ZELLIGE, *map(str, arguments)], input=data, capture_output=True, **more
    )
    if check and (done.returncode or done.stderr):
        raise AssertionError(
            f"zellige {' '.join(map(str, arguments))}: exit "
            f"{done.returncode}: {done.stderr.decode()}"
        )
    return done


def dtype_of(name):
    return RECORD if name == "record" else np.dtype(name)


def name_for(name, layout):
    if name != "record":
        return name
    return RECORD_V3 if layout[1] == "3" else RECORD_V2


def values(random, dtype, shape):
    """Any bits there may be, but one form of each value."""
    n = int(np.prod(shape, dtype=int))
    if dtype.kind == "b":
        flat = random.integers(0, 2, n).astype(bool)
    elif dtype.kind in "iufcmMV" and not dtype.names:
        flat = np.frombuffer(random.bytes(n * dtype.itemsize), dtype)
    elif dtype.kind == "S":
        flat = np.array(
            [
                random.bytes(random.integers(0, dtype.itemsize + 1)).replace(b"\0", b"z")
                for _ in range(n)
            ],
            dtype,
        )
    elif dtype.kind == "U":
        letters = list('aé€𝄞 \t\n"\\')
        flat = np.array(
            ["".join(random.choice(letters, random.integers(0, 5))) for _ in range(n)],
            dtype,
        )
    else:
        flat = np.zeros(n, dtype)
        for field in dtype.names:
            flat[field] = values(random, dtype[field], (n,))
    return flat.reshape(shape).copy()


def select(array, text):
    """array[text], with lists that pick along their own axis."""
    key = eval(f"np.s_[{text or '...'}]")  # texts of this file
    lists = [k for k in (key if isinstance(key, tuple) else (key,)) if isinstance(k, list)]
    return array[key] if len(lists) < 2 else array[np.ix_(*key)]


def assign(array, text, value):
    value, shape = np.asarray(value).astype(array.dtype), select(array, text).shape
    value = np.broadcast_to(
        value.reshape(shape[: value.ndim]) if not shape else value, shape
    )
    array[eval(f"np.s_[{text or '...'}]")] = value if value.ndim else value[()]


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def read(path, *arguments):
    return np.load(io.BytesIO(zellige("cat", "--npy", path, "", *arguments).stdout))


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


# ---------------------------------------------------------------------- round trips


def swapped(array):
    return array.astype(array.dtype.newbyteorder(">"))


def write_one(random, path, model, text):
    """One write of one form, into both."""
    shape = select(model, text).shape
    value = values(random, model.dtype, shape)
    kind = random.integers(0, 6)
    if kind == 1:
        value = np.asfortranarray(value)
    elif kind == 2 and model.dtype.kind in "iufcMmU":
        value = swapped(value)
    elif kind == 3 and value.ndim > 1 and value.size:
        value = value[:1]
    elif kind == 4 and value.size:
        value = value.reshape(-1)[0]
    file = path.parent / "value.npy"
    np.save(file, value)
    region = ["--region", text] if text else []
    if kind == 5:
        zellige(
            "write", path, "-", "--raw", *region, data=np.ascontiguousarray(value).tobytes()
        )
    elif random.integers(0, 2):
        zellige("write", path, file, *region)
    else:
        zellige("write", path, "-", *region, data=file.read_bytes())
    assign(model, text, value)


def round_trip(random, folder, name, layout):
    dtype, path = dtype_of(name), folder / "a"
    zellige("create", path, "--shape", "8,10", "--dtype", name_for(name, layout), *layout)
    model = np.zeros((8, 10), dtype)
    assert same(read(path), model), "a new array"
    for text in random.permutation(SELECTIONS)[:5]:
        write_one(random, path, model, str(text))
    assert same(read(path), model), "after the writes"

    # What `cat` prints, `write` takes; but there are many NaNs, and one text.
    plain = model if dtype.kind not in "fc" and name != "record" else without_nan(model)
    zellige("write", path, "-", data=npy(plain))
    for form in [], ["--json"], ["--raw"]:
        copy = folder / "copy"
        zellige("create", copy, "--like", path, "--overwrite")
        printed = zellige("cat", path, *form).stdout
        zellige("write", copy, "-", *[f for f in form if f != "--json"], data=printed)
        assert same(read(copy), plain), f"through {form or 'text'}"

    more = values(random, dtype, (3, 10))
    zellige("write", path, "-", "--append", "0", data=npy(more))
    model = np.concatenate([plain, more])
    more = values(random, dtype, (11, 1))
    zellige("write", path, "-", "--append", "-1", "--raw", data=more.tobytes())
    model = np.concatenate([model, more], axis=1)
    assert same(read(path), model), "after appending"
    zellige("resize", path, "5,7")
    zellige("resize", path, "6,9")
    zellige("fill", path, "--region", "1:3,::2")
    grown = np.zeros((6, 9), dtype)
    grown[:5, :7] = model[:5, :7]
    grown[1:3, ::2] = np.zeros((), dtype)
    assert same(read(path), grown), "after resize and fill"


def without_nan(array):
    array = array.copy()
    if array.dtype.names:
        array["y"][np.isnan(array["y"])] = 1
    else:
        parts = array.view(array.real.dtype) if array.dtype.kind == "c" else array
        parts[np.isnan(parts)] = 1
    return array


def check_round_trips(folder, random):
    for name in NUMBERS + OTHERS:
        for i, layout in enumerate(LAYOUTS):
            if name == "record" and i in (3,):
                layout = [*layout[:-2], "--codecs", "zstd:1"]
            with case(f"{name} {' '.join(layout)}"):
                inner = folder / f"{name.replace('[', '_')}{i}"
                inner.mkdir()
                round_trip(random, inner, name, layout)


# ---------------------------------------------------------------------- other types


def check_small_floats(folder, random):
    """Every value, and numbers between them, as text; and as ml_dtypes' files."""
    if ml_dtypes is None:
        count("skipped", "ml_dtypes is not there")
        return
    names = [
        "bfloat16",
        "float8_e3m4",
        "float8_e4m3",
        "float8_e4m3b11fnuz",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
        "float6_e2m3fn",
        "float6_e3m2fn",
        "float4_e2m1fn",
        "float16",
        "int4",
        "uint4",
        "int2",
        "uint2",
    ]
    for name in names:
        with case(f"numbers of {name}"):
            dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
            is_float = "float" in name
            n_bits = (
                16
                if dtype.itemsize == 2
                else {"4": 4, "6": 6, "2": 2}.get(name.lstrip("ubfloaint")[0], 8)
            )
            path = folder / name
            every = np.arange(1 << n_bits, dtype="u2" if n_bits == 16 else "u1").view(dtype)
            every = every.astype(dtype)
            if name == "int4" or name == "int2":
                every = np.arange(-(1 << n_bits - 1), 1 << n_bits - 1, dtype="i1").astype(
                    dtype
                )
            zellige("create", path, "--shape", every.size, "--dtype", name)
            zellige("write", path, "-", data=npy(every))
            raw = zellige("cat", "--raw", path).stdout
            if is_float:
                assert raw == every.tobytes(), "as a file"
            else:
                got = np.frombuffer(raw, "u1" if name[0] == "u" else "i1")
                assert (got == every.astype(got.dtype)).all(), "as a file"
            if not is_float:
                continue
            with np.errstate(invalid="ignore"):
                wide = every.astype("f8")
            finite = np.sort(wide[np.isfinite(wide)])
            between = finite[:-1] + (finite[1:] - finite[:-1]) * random.choice(
                [0.25, 0.5, 0.75], finite.size - 1
            )
            numbers = np.concatenate([finite, between])
            zellige("create", path, "--shape", numbers.size, "--dtype", name, "--overwrite")
            zellige(
                "write", path, "-", data="\n".join(map(repr, numbers.tolist())).encode()
            )
            got = np.frombuffer(zellige("cat", "--raw", path).stdout, dtype)
            assert (got.astype("f8") == numbers.astype(dtype).astype("f8")).all(), "as text"


def check_strings(folder, random):
    letters = list('aé€𝄞 \n\t"\\,')
    texts = np.array(
        [
            ["".join(random.choice(letters, random.integers(1, 9))) for _ in range(5)]
            for _ in range(4)
        ]
    )
    texts[1, 1] = ""
    octets = np.array([t.encode() for t in texts.reshape(-1)]).reshape(texts.shape)
    for layout in LAYOUTS[:1] + LAYOUTS[1:2] + LAYOUTS[4:5]:
        for kind, model in ("string", texts), ("bytes", octets):
            with case(f"{kind} {' '.join(layout)}"):
                path, copy = folder / "strings", folder / "strings_copy"
                zellige(
                    "create",
                    path,
                    "--shape",
                    "4,5",
                    "--dtype",
                    kind,
                    "--overwrite",
                    *layout,
                )
                for value in model, np.asfortranarray(model):
                    zellige("write", path, "-", data=npy(value))
                    for form in [], ["--json"], ["--raw"]:
                        zellige("create", copy, "--like", path, "--overwrite")
                        zellige(
                            "write",
                            copy,
                            "-",
                            *[f for f in form if f != "--json"],
                            data=zellige("cat", path, *form).stdout,
                        )
                        printed = json.loads(zellige("cat", "--json", copy).stdout)
                        assert printed == as_json(model), f"through {form or 'text'}"
                zellige("write", path, "-", "--region", "1:3,[0,4]", data=npy(model[:1, 0]))
                zellige("write", path, "-", "--append", "0", data=npy(model[:2]))
                expected = model.copy()
                expected[1:3, [0, 4]] = model[0, 0]
                expected = np.concatenate([expected, model[:2]])
                assert json.loads(zellige("cat", "--json", path).stdout) == as_json(
                    expected
                )


def as_json(array):
    import base64

    return [
        [x if isinstance(x, str) else base64.b64encode(x).decode() for x in row]
        for row in array.tolist()
    ]


def check_dates(folder):
    with case("dates as text"):
        path = folder / "dates"
        for unit, dates in [
            ("Y", ["1969", "2001", "NaT"]),
            ("M", ["1969-12", "2024-02"]),
            ("W", ["1970-01-01", "1969-12-25"]),
            ("D", ["0001-01-01", "2024-02-29"]),
            ("h", ["1969-12-31T23", "2000-01-01T00"]),
            ("10m", ["2000-01-01T00:50"]),
            ("s", ["1900-03-01T12:34:56", "NaT"]),
            ("25ms", ["2000-01-01T00:00:00.075"]),
            ("us", ["2262-01-01T00:00:00.123456"]),
            ("ns", ["1677-09-22T00:00:00.000000001", "2262-04-11T23:47:16.854775807"]),
        ]:
            zellige(
                "create",
                path,
                "--shape",
                len(dates),
                "--dtype",
                f"datetime64[{unit}]",
                "--overwrite",
            )
            zellige("write", path, "-", data="\n".join(dates).encode())
            assert same(read(path), np.array(dates, f"M8[{unit}]")), unit
            assert zellige("cat", path).stdout.decode().split() == dates, unit


# ---------------------------------------------------------------------- memory


def limit():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))


def check_memory(folder):
    """A file larger than the memory that may be had, from a file and from a pipe."""
    file = folder / "large.npy"
    shape = (LARGE_BYTES // 4 // 1000, 1000)
    large = np.lib.format.open_memmap(file, "w+", "<f4", shape)
    large[:] = np.arange(shape[0], dtype="f4")[:, None] + np.arange(1000, dtype="f4")
    large.flush()
    for layout in (
        ["--chunks", "1000,100"],
        ["--chunks", "500,100", "--shards", "10000,1000"],
    ):
        for pipe in False, True:
            with case(f"memory {layout} {'pipe' if pipe else 'file'}"):
                path = folder / "large"
                zellige(
                    "create",
                    path,
                    "--shape",
                    f"{shape[0]},1000",
                    "--dtype",
                    "float32",
                    "--codecs",
                    "zstd:1",
                    *layout,
                    "--overwrite",
                )
                with contextlib.ExitStack() as stack:
                    stdin = None
                    if pipe:
                        source = stack.enter_context(
                            subprocess.Popen(["cat", file], stdout=subprocess.PIPE)
                        )
                        stdin = source.stdout
                    done = subprocess.run(
                        [ZELLIGE, "write", path, "-" if pipe else file, "--threads", "2"],
                        stdin=stdin,
                        capture_output=True,
                        preexec_fn=limit,
                    )
                assert done.returncode == 0, done.stderr.decode()
                assert (read(path, "::997") == large[::997]).all()


# ---------------------------------------------------------------------- counting

counts = {"passed": 0, "failed": 0, "skipped": 0}


def count(what, text):
    counts[what] += 1
    if what != "passed":
        print(f"--- {what}: {text}")


@contextlib.contextmanager
def case(name):
    try:
        yield
    except AssertionError as error:
        count("failed", f"{name}: {error}")
    else:
        count("passed", name)


def main():
    random = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check_round_trips(folder, random)
        check_small_floats(folder, random)
        check_strings(folder, random)
        check_dates(folder)
        check_memory(folder)
    print("counts:", *counts.values())
    return 1 if counts["failed"] else 0


sys.exit(main())
