"""What the scripts here share: tests of others, taken from PyPI and run with a codec pipeline.

A script takes the source distribution of a peer, installs what its tests need and this
package into an environment of its own below build/suites, runs the tests with the pipeline
that it is told, and compares what failed with the list in expected/. It prints counts for
tools/check, and ends with an error when anything failed that is not in the list, or when the
list says of a test that it fails and it passed.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BUILD = ROOT / "build" / "suites"
RUN = BUILD / "runs" / Path(sys.argv[0]).stem  # what belongs to one script
PIPELINES = {
    "zellige": "zellige.ZelligeCodecPipeline",
    "batched": "zarr.core.codec_pipeline.BatchedCodecPipeline",
    "fused": "zarr.core.codec_pipeline.FusedCodecPipeline",
}


def asked(description):
    """The name of the pipeline to run with, as the command line says it."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("pipeline", choices=PIPELINES, nargs="?", default="zellige")
    return parser.parse_args().pipeline


# ------------------------------------------------------------------- what is installed


def python(least="3.12", most="3.99"):
    """The newest interpreter found between two versions, of the system or of pyenv."""
    pyenv = Path.home() / ".pyenv" / "versions"
    for minor in range(int(most[2:]), int(least[2:]) - 1, -1):
        for found in (f"python3.{minor}", *pyenv.glob(f"3.{minor}.*/bin/python")):
            try:
                subprocess.run([found, "-c", ""], check=True, capture_output=True)
            except (OSError, subprocess.CalledProcessError):
                continue
            return str(found)
    return None


def wheel():
    """This package, built anew when any of its sources is newer."""
    parts = "CMakeLists.txt", "pyproject.toml", "cmake", "include", "python", "src"
    sources = [p for part in parts for p in (ROOT / part, *(ROOT / part).rglob("*"))]
    newest = max(p.stat().st_mtime for p in sources if "__pycache__" not in str(p))
    folder = BUILD / "wheel"
    built = list(folder.glob("*.whl"))
    if not built or built[0].stat().st_mtime < newest:
        shutil.rmtree(folder, ignore_errors=True)
        run("-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT, by=python())
        built = list(folder.glob("*.whl"))
    return built[0]


def run(*arguments, by, **options):
    subprocess.run([by, *map(str, arguments)], check=True, **options)


def environment(name, requirements, interpreter=None):
    """An environment with these requirements and this package; gives its interpreter."""
    interpreter = interpreter or python()
    if interpreter is None:
        print("no Python 3.12 or newer")
        print("counts: 0 0 1")
        sys.exit()
    folder = BUILD / "environments" / name
    found, stamp = folder / "bin" / "python", folder / "has"
    wanted = "\n".join([interpreter, *requirements])
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        run("-m", "venv", folder, by=interpreter)
        run("-m", "pip", "install", "--quiet", *requirements, by=found)
        stamp.write_text(wanted)
    package = wheel()
    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    installed = folder / "package"
    if not installed.exists() or installed.read_text() != digest:
        options = "--quiet", "--no-deps", "--force-reinstall"
        run("-m", "pip", "install", *options, package, by=found)
        run("-c", "import zellige", by=found)
        installed.write_text(digest)
    return found


# pip asks for the metadata of a source distribution, and by that for compilers of three
# languages. All of it stands in PKG-INFO, so this answers in place of the build systems.
BACKENDS = "hatchling/build.py", "maturin.py", "mesonpy.py", "setuptools/build_meta.py"
BACKEND = '''
import pathlib, shutil

def prepare_metadata_for_build_wheel(folder, config_settings=None):
    text = pathlib.Path("PKG-INFO").read_text()
    name, version = (
        next(line.split(": ")[1] for line in text.splitlines() if line.startswith(key))
        for key in ("Name: ", "Version: ")
    )
    info = pathlib.Path(folder, f"{name.replace('-', '_')}-{version}.dist-info")
    info.mkdir()
    shutil.copy("PKG-INFO", info / "METADATA")
    return info.name
'''


def source(name, version):
    """The unpacked source distribution of a peer, fresh."""
    folder, backends = BUILD / "sources", BUILD / "backends"
    packed = folder / f"{name}-{version}.tar.gz"
    if not packed.exists():
        for backend in BACKENDS:
            path = backends / backend
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(BACKEND)
        options = "--quiet", "--no-deps", "--no-build-isolation", "--no-binary", name
        environ = dict(os.environ, PYTHONPATH=str(backends))
        by = python()
        where = "-d", folder
        run("-m", "pip", "download", *options, *where, f"{name}=={version}", by=by, env=environ)
    unpacked = RUN / f"{name}-{version}"
    shutil.rmtree(unpacked, ignore_errors=True)
    with tarfile.open(packed) as archive:
        archive.extractall(RUN, filter="data")
    return unpacked


# --------------------------------------------------------------------- what is expected


@dataclass(frozen=True)
class Expected:
    """Tests that may fail, with the reason. `always`: that they passed is told as well."""

    pattern: str
    reason: str
    always: bool

    def matches(self, test):
        pattern = ".*".join(map(re.escape, self.pattern.split("*")))
        return re.fullmatch(pattern, test) is not None


def expected(name):
    """The list of a suite: lines `fails: REASON` or `may fail: REASON`, and under each the
    tests that it holds for, where * stands for anything."""
    rules, reason, always = [], None, True
    path = HERE / "expected" / f"{name}.txt"
    for line in path.read_text().splitlines() if path.exists() else ():
        if line.startswith(("fails: ", "may fail: ")):
            kind, reason = line.split(": ", 1)
            always = kind == "fails"
        elif line.startswith(" "):
            rules.append(Expected(line.strip(), reason, always))
    return rules


# ----------------------------------------------------------------------- what was found


@dataclass
class Result:
    """What the tests of one run gave: their outcomes by name, and the native share."""

    outcomes: dict
    stats: list
    seconds: float

    def count(self):
        return Counter(self.outcomes.values())


def tests(interpreter, folder, *arguments, pipeline, workers=0, environ=()):
    """Runs pytest in a folder of a peer and gives its outcomes."""
    RUN.mkdir(parents=True, exist_ok=True)
    outcomes, stats = RUN / "outcomes", RUN / "stats"
    outcomes.unlink(missing_ok=True)
    stats.unlink(missing_ok=True)
    environ = {
        **os.environ,
        "PYTHONPATH": str(HERE / "plugin"),
        "ZELLIGE_OUTCOMES": str(outcomes),
        "ZELLIGE_STATS": str(stats),
        "ZARR_CODEC_PIPELINE__PATH": PIPELINES[pipeline],
        **dict(environ),
    }
    options = ["-p", "suite_outcomes", "-p", "no:cacheprovider", "-q", "--no-header"]
    options += ["-n", str(workers)] if workers else []
    before = time.monotonic()
    command = [interpreter, "-m", "pytest", *options, *arguments]
    status = subprocess.run(list(map(str, command)), cwd=folder, env=environ).returncode
    if status not in (0, 1) or not outcomes.exists():
        sys.exit(f"pytest ended with status {status}")
    lines = outcomes.read_text().splitlines()
    found = dict(json.loads(line) for line in lines)
    totals = [json.loads(s) for s in stats.read_text().splitlines()] if stats.exists() else []
    return Result(found, totals, time.monotonic() - before)


def shares(stats):
    """How much of the work on chunks was native, a line for each label; and what was not."""
    counts, reasons = {}, Counter()
    for label, counted in stats:
        reasons.update(counted.pop("reasons", {}))
        counts.setdefault(label, Counter()).update(counted)
    for label, count in counts.items():
        native = count["read_native"] + count["written_native"]
        n_all = native + count["read_fallback"] + count["written_fallback"]
        if n_all:
            yield f"{label}: {100 * native / n_all:.1f} % of {n_all} chunks native"
    for reason, n in reasons.most_common():
        yield f"{n:8} fell back: {reason}"


def conclude(name, pipeline, result, least=1, n_absent=0):
    """Compares with the list, prints all that is to be said, and ends the script."""
    bad, excused = [], Counter()
    rules = expected(name)
    unused = {rule for rule in rules if rule.always}
    for test, outcome in result.outcomes.items():
        rule = next((r for r in rules if r.matches(test)), None)
        if outcome == "failed" and rule:
            excused[rule.reason] += 1
            unused.discard(rule)
        elif outcome == "failed":
            bad.append(f"{test} failed")
    # Nothing to compare with where another pipeline ran: the lists are those of ours.
    if pipeline == "zellige":
        bad += [f"{r.pattern} did not fail, but is listed: {r.reason}" for r in unused]
    count = result.count()
    passed, skipped = count["passed"], count["skipped"]
    if passed < least:
        bad.append(f"{passed} passed, of at least {least}")
    print()
    for line in bad:
        print(line)
    for reason, n in excused.most_common():
        print(f"{n:6} excused: {reason}")
    print(
        f"{name} with {pipeline}: {passed} passed, {len(bad)} failed, "
        f"{excused.total()} excused, {skipped} skipped, {count['xfailed']} expected by the "
        f"peer itself to fail; {result.seconds:.0f} s"
    )
    for line in shares(result.stats):
        print(line)
    print(f"counts: {passed} {len(bad)} {int(n_absent)}")
    sys.exit(bool(bad))


