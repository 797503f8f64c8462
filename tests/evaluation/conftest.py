"""What tests of the evaluation share."""

import time

import pytest

from kmviz.evaluation import cost


@pytest.fixture
def hasty(monkeypatch):
    """Times are taken once and in a moment: for tests of answers, which come with a time."""
    monkeypatch.setattr(cost.cpu_seconds, "__defaults__", (1, 0.001, time.process_time))
