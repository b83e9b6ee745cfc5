"""Writers that are resumed: what is known, what is stored again, and when a journal goes."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import zellige
from writing import DATA, array  # noqa: F401  a fixture

@pytest.fixture
def journal(array, tmp_path):  # noqa: F811
    return tmp_path / "a.journal"


def give_rows(writer, rows, data=DATA):
    for row in rows:
        writer.submit(row, data[row])


def stored_shards(writer):
    return [writer.is_stored(slice(row, row + 4)) for row in (0, 4, 8)]


def test_only_what_is_missing_is_stored(array, journal):  # noqa: F811
    writer = zellige.Writer(array, journal=journal)
    assert stored_shards(writer) == [False, False, False]
    give_rows(writer, range(5))
    writer.drain()
    assert stored_shards(writer) == [True, False, False]
    writer.abort()
    assert journal.is_dir()
    with zellige.Writer(array, journal=journal) as writer:
        assert stored_shards(writer) == [True, False, False]
        assert writer.is_stored((0, 0, 0)) and not writer.is_stored(...)
        ticket = writer.submit(0, DATA[0])
        assert ticket.state == "stored"
        give_rows(writer, range(1, 12))
        writer.drain()
        assert writer.counts["resumed"] == 4
        assert writer.counts["bytes_resumed"] == DATA[:4].nbytes
        assert writer.counts["stored"] == 8
        assert writer.is_stored(...)
    assert not journal.exists()
    np.testing.assert_array_equal(array[:], DATA)


def test_without_a_journal_nothing_is_known(array):  # noqa: F811
    with zellige.Writer(array) as writer:
        give_rows(writer, range(4))
        writer.drain()
        assert not writer.is_stored(0)


def test_a_group(tmp_path):
    group = zellige.create_group(tmp_path / "g")
    for name in ("a", "b"):
        group.create_array(name, shape=(4,), dtype="i4", chunks=(2,))
    journal = tmp_path / "g.journal"
    writer = zellige.Writer(group, journal=journal)
    writer.submit("b", slice(0, 2), [1, 2])
    writer.drain()
    writer.abort()
    with zellige.Writer(group, journal=journal) as writer:
        assert writer.is_stored("b", slice(0, 2)) and not writer.is_stored("b", 2)
        assert not writer.is_stored("a", 0)
        with pytest.raises(IndexError):
            writer.is_stored("a", 9)
        with pytest.raises(TypeError, match="name"):
            writer.is_stored(0)


def test_a_writer_that_cannot_be(array, journal):  # noqa: F811
    """It leaves no journal, but does not take one that is there, nor threads or files."""
    def fail():
        before = os.listdir("/proc/self/task"), os.listdir("/proc/self/fd")
        for bad in ({"memory_budget": 1}, {"claim": 99}):
            with pytest.raises((zellige.LimitError, IndexError)):
                zellige.Writer(array, journal=journal, **bad)
        assert (os.listdir("/proc/self/task"), os.listdir("/proc/self/fd")) == before

    fail()
    assert not journal.exists()
    writer = zellige.Writer(array, journal=journal)
    fail()
    give_rows(writer, range(4))
    writer.drain()
    writer.abort()
    fail()
    with zellige.Writer(array, journal=journal) as writer:
        assert stored_shards(writer) == [True, False, False]
    assert not journal.exists()


def test_an_error_keeps_it(array, journal):  # noqa: F811
    with pytest.raises(KeyError, match="mine"):
        with zellige.Writer(array, journal=journal) as writer:
            give_rows(writer, range(6))
            raise KeyError("mine")
    np.testing.assert_array_equal(array[:6], DATA[:6])  # stored, but not whole
    assert journal.is_dir()

    async def run():
        async with zellige.Writer(array, journal=journal) as writer:
            assert stored_shards(writer) == [True, False, False]
            give_rows(writer, range(8))
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(run())
    with zellige.Writer(array, journal=journal) as writer:
        assert stored_shards(writer) == [True, True, False]
    assert not journal.exists()


def test_claims_hold_between_processes(array, journal, tmp_path):  # noqa: F811
    code = f"""
        import sys, zellige
        array = zellige.open_array({str(tmp_path / "a")!r}, "r+")
        writer = zellige.Writer(array, journal={str(journal)!r}, claim=slice(4, 8))
        print("claimed", flush=True)
        sys.stdin.read()
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout.readline() == b"claimed\n"
        with pytest.raises(zellige.ExistsError, match="objects 1 to 1 of axis 0"):
            zellige.Writer(array, journal=journal, claim=slice(7, 12))
        with zellige.Writer(array, journal=journal, claim=slice(8, 12)) as writer:
            give_rows(writer, range(8, 12))
        assert journal.is_dir()
    finally:
        process.kill()
        process.communicate()
    with zellige.Writer(array, journal=journal, claim=slice(4, 8)) as writer:
        assert stored_shards(writer) == [False, False, True]
    assert not journal.exists()


def test_a_kill(array, journal, tmp_path):  # noqa: F811
    code = f"""
        import os, signal, sys, zellige
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from writing import DATA
        array = zellige.open_array({str(tmp_path / "a")!r}, "r+")
        writer = zellige.Writer(array, journal={str(journal)!r})
        for row in (0, 1, 2, 3, 8, 9):
            ticket = writer.submit(row, DATA[row])
            if row == 3:
                ticket.result()
        os.kill(os.getpid(), signal.SIGKILL)
    """
    code = subprocess.run([sys.executable, "-c", textwrap.dedent(code)]).returncode
    assert code == -signal.SIGKILL
    with zellige.Writer(array, journal=journal) as writer:
        assert stored_shards(writer) == [True, False, False]
        give_rows(writer, range(12), -DATA)
    assert not journal.exists()
    np.testing.assert_array_equal(array[:4], DATA[:4])
    np.testing.assert_array_equal(array[4:], -DATA[4:])


def test_a_program_that_does_not_close(array, journal, tmp_path):  # noqa: F811
    code = f"""
        import zellige
        array = zellige.open_array({str(tmp_path / "a")!r}, "r+")
        writer = zellige.Writer(array, journal={str(journal)!r})
        writer.submit(slice(0, 5), 7)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert done.returncode == 0 and "was not closed" in done.stderr
    assert (array[:5] == 7).all()
    with zellige.Writer(array, journal=journal) as writer:
        assert stored_shards(writer) == [True, False, False]
