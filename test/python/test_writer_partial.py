"""Writers that keep what is partial: stored once, safe after each flush, there after a kill."""

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

ROWS = (0, 1, 2, 4)


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "a.journal"


def kept(journal):
    return sorted(name for name in os.listdir(journal) if name.endswith(".kept"))


def known(writer):
    return [row for row in range(12) if writer.is_stored(row)]


def test_flush_keeps(array, journal):  # noqa: F811
    with zellige.Writer(array, journal=journal, partial="keep") as writer:
        for row in range(12):
            ticket = writer.submit(row, DATA[row])
            writer.flush()
            assert ticket.state == "stored" and writer.is_stored(row)
            assert (array[: row // 4 * 4] == DATA[: row // 4 * 4]).all()
            assert row % 4 == 3 or not array[row // 4 * 4 :].any()
            assert len(kept(journal)) == (0 if row % 4 == 3 else 4)
        counts = writer.counts
        assert counts["stored"] == 12 and counts["partial"] == 0 and counts["opened"] == 0
        assert counts["kept"] == 9 * 9 and counts["bytes_kept"] > 0
    assert not journal.exists()
    np.testing.assert_array_equal(array[:], DATA)


def test_after_a_kill(array, journal, tmp_path):  # noqa: F811
    code = f"""
        import os, signal, sys, zellige
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from writing import DATA
        array = zellige.open_array({str(tmp_path / "a")!r}, "r+")
        writer = zellige.Writer(array, journal={str(journal)!r}, partial="keep")
        for row in {ROWS}:
            writer.submit(row, DATA[row])
        writer.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    """
    code = subprocess.run([sys.executable, "-c", textwrap.dedent(code)]).returncode
    assert code == -signal.SIGKILL
    assert not array[:].any() and len(kept(journal)) == 8
    with zellige.Writer(array, journal=journal, partial="keep") as writer:
        assert known(writer) == list(ROWS)
        writer.submit(3, DATA[3])
        writer.drain()
        assert writer.counts["stored"] == 4 and writer.counts["opened"] == 0
    rows = sorted({*ROWS, 3})
    np.testing.assert_array_equal(array[:][rows], DATA[rows])
    assert not array[:][[row for row in range(12) if row not in rows]].any()
    assert not journal.exists()


def test_a_block_left_by_an_exception(array, journal):  # noqa: F811
    async def run():
        async with zellige.Writer(array, journal=journal, partial="keep") as writer:
            await writer.submit_async(0, DATA[0])
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(run())
    assert not array[:].any() and len(kept(journal)) == 4
    with zellige.Writer(array, journal=journal) as writer:
        assert known(writer) == [0]
    np.testing.assert_array_equal(array[0], DATA[0])


def test_damage_is_told(array, journal):  # noqa: F811
    writer = zellige.Writer(array, journal=journal, partial="keep")
    writer.submit(0, DATA[0])
    writer.flush()
    writer.abort()
    path = journal / kept(journal)[-1]
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(zellige.ZelligeError, match=path.name):
        zellige.Writer(array, journal=journal)
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    writer = zellige.Writer(array, journal=journal)
    with pytest.raises(zellige.ZelligeError, match=r"array .*c/0/.*, kept in .*\.kept"):
        writer.close()
    writer.abort()
    path = journal / kept(journal)[-1]  # it was taken
    path.write_bytes(content)
    zellige.Writer(array, journal=journal).close()
    np.testing.assert_array_equal(array[0], DATA[0])


def test_what_is_refused(array, journal):  # noqa: F811
    with pytest.raises(zellige.UsageError, match="without a journal"):
        zellige.Writer(array, partial="keep")
    with pytest.raises(zellige.UsageError, match="publish, keep"):
        zellige.Writer(array, journal=journal, partial="side")
    with pytest.raises(zellige.UsageError, match="a journal needs a path"):
        zellige.Writer(array, journal="")
    assert not journal.exists()
