"""What was skipped was not seen to hold: a skip is a failure, but for those of scikit-learn's own that are listed here."""

import re

import pytest

ALLOWED = {
    r"DP\w+ is non deterministic": "noise: two fits differ",
    r".*SCIPY_ARRAY_API.*": "array API input is optional, and off",
}


def refused(report):
    """A skip of another reason becomes a failure."""
    reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr).replace("Skipped: ", "")
    if report.skipped and not hasattr(report, "wasxfail") and not any(re.fullmatch(each, reason) for each in ALLOWED):
        report.outcome, report.longrepr = "failed", f"skipped for a reason that is not in {__file__}: {reason}"
    return report


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    refused(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report():
    outcome = yield
    refused(outcome.get_result())
