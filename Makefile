# The commands people type. CMake does the building: see CMakeLists.txt.
#
#   make           libraries and command into build/
#   make python    the Python package into .venv
#   make wheel     a wheel for Python 3.11 and later, with its libraries, in build/wheel
#   make demo      real climate data written, read, checked, timed and drawn
#   make check     every check there is, from nothing; this is what CI runs
#   make suites    tests of zarr-python, xarray and others through the codec pipeline
#   make soak      hundreds of killed writers and cut powers, an hour of fuzzing
#   make bench     speed, against peers and against an ideal loop
#   make format    lays the C code out as .clang-format says
#
# They install the Debian packages they lack, when they may, and make a newer libzstd where
# Debian's is old.
PYTHON ?= python3

build:
	@tools/setup build && tools/zstd
	@cmake -S . -B build -G Ninja -DZELLIGE_TESTS=OFF --log-level=NOTICE
	@cmake --build build

python:
	@tools/setup build && tools/zstd
	@test -x .venv/bin/python || $(PYTHON) -m venv .venv
	@.venv/bin/pip install --quiet '.$(EXTRA)'

wheel:
	@tools/setup build && tools/zstd
	@$(PYTHON) tools/wheel

demo:
	@tools/setup demo
	@$(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory python EXTRA='[demo]'
	@.venv/bin/python examples/demo.py

check:
	@tools/setup check && tools/zstd
	@tools/check

suites:
	@tools/setup check && tools/zstd
	@tools/suites

soak:
	@tools/setup check && tools/zstd
	@tools/soak

bench: build python
	@bench/run

format:
	@tools/format --apply

clean:
	rm -rf build .venv

.PHONY: build python wheel demo check suites soak bench format clean
