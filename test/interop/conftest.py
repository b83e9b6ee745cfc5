"""Puts what was left out at the end of a run."""

from collections import Counter

from grid import CASES
from left_out import ALL, LEFT_OUT, why_not


def pytest_terminal_summary(terminalreporter):
    write = terminalreporter.write_line
    terminalreporter.section("left out")
    n_left_out, n_all = 0, len(LEFT_OUT) * len(ALL) * len(CASES)
    for peer in LEFT_OUT:
        asked = [why_not(peer, does, name) for does in ALL for name in CASES]
        reasons = Counter(rule.reason for rule in asked if rule)
        n_left_out += reasons.total()
        write(f"{peer}: {reasons.total()} of {len(asked)}")
        for reason, n in reasons.most_common():
            write(f"{n:7} {reason}")
    write(f"all peers: {n_left_out} of {n_all} left out")
