"""A plugin of pytest that writes the outcome of each test, and what the pipeline counted,
of the whole process or of each test that says so by the property "counted"."""

import json
import os
import sys

OUTCOMES, STATS = os.environ["ZELLIGE_OUTCOMES"], os.environ["ZELLIGE_STATS"]
outcomes, counted = {}, []


def pytest_runtest_logreport(report):
    if report.when == "teardown":
        counted.extend(v for name, v in report.user_properties if name == "counted")
    if report.when != "call" and report.outcome == "passed":
        return
    outcome = report.outcome
    if hasattr(report, "wasxfail"):
        outcome = "xfailed" if report.outcome == "skipped" else "xpassed"
    if outcomes.get(report.nodeid) != "failed":
        outcomes[report.nodeid] = outcome


def pytest_collectreport(report):
    if report.outcome == "failed":
        outcomes[report.nodeid] = "failed"


def pytest_sessionfinish(session):
    is_worker = hasattr(session.config, "workerinput")
    lines = [] if is_worker else counted
    if not counted and "zellige" in sys.modules:
        stats = getattr(sys.modules["zellige"], "pipeline_stats", dict)()
        lines = [["all", stats]]
    with open(STATS, "a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    if not is_worker:
        with open(OUTCOMES, "w") as file:
            file.writelines(json.dumps(item) + "\n" for item in outcomes.items())
