"""Generated rows that challenge thresholds, and the examples of what only the tables use."""

import doctest

import numpy as np
import pytest
from kmviz.papers.generated import challenging_rows
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from kmviz.kernels import RBF
from kmviz.machines import KernelMachine
from kmviz.papers import generated, minimax

X, Y = make_moons(200, noise=0.2, random_state=0)


def test_generated_rows_lie_in_the_hull_just_across_the_border():
    machine = KernelMachine.from_estimator(SVC(gamma=2.0).fit(X, Y))
    rows = challenging_rows(machine, X, 100, random_state=0)
    assert len(rows) > 50
    assert (rows >= X.min(axis=0)).all()
    assert (rows <= X.max(axis=0)).all()
    assert np.abs(machine.decision_function(rows)).max() < 0.05
    one_side = KernelMachine(X[:3], [1.0, 1.0, 1.0], -5.0, RBF(1.0))
    assert len(challenging_rows(one_side, X, 10, random_state=0)) == 0


@pytest.mark.parametrize("module", [generated, minimax])
def test_the_examples_run(module):
    result = doctest.testmod(module)
    assert (result.attempted > 0, result.failed) == (True, 0)
