"""Where a model cuts its machine's output: at 0, or where a wrapper moves the cut to.

A threshold of one's own (`FixedThresholdClassifier`, `TunedThresholdClassifierCV`) and a
calibrator of two classes (`CalibratedClassifierCV(ensemble=False)`, whose probability passes 1/2
somewhere) leave a kernel machine with another bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from kmviz.machines.unwrap import chain

#: A cut beyond every output.
NEVER = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Cut:
    """The second class is answered where sign (f(x) - at) is positive."""

    at: float = 0.0
    sign: float = 1.0


def cut_of(estimator: Any) -> Cut:
    """Return where a fitted model of two classes cuts the output of the machine inside.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.model_selection import FixedThresholdClassifier
    >>> from sklearn.svm import SVC
    >>> from kmviz.machines.cut import cut_of
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> model = FixedThresholdClassifier(SVC(), threshold=0.3, response_method="decision_function")
    >>> cut_of(model.fit(X, y))
    Cut(at=0.3, sign=1.0)
    """
    level, of_probability = None, False
    for one in chain(estimator):
        if isinstance(one, FixedThresholdClassifier | TunedThresholdClassifierCV):
            if level is None:  # the outermost decides
                level, of_probability = _level(one)
        elif isinstance(one, CalibratedClassifierCV):
            if level is not None and not of_probability:
                raise TypeError(f"{type(estimator).__name__} cuts a score that no machine gives.")
            return crossing(one.calibrated_classifiers_[0].calibrators[0], level or 0.5)
    if of_probability:
        raise TypeError(
            f"{type(estimator).__name__} cuts a probability that was fitted with the SVC itself, "
            "and that is no fixed cut of its machine. Give response_method='decision_function', "
            "or calibrate by CalibratedClassifierCV(ensemble=False)."
        )
    return Cut() if level is None else Cut(level)


def crossing(calibrator: Any, level: float) -> Cut:
    """Return where a calibrator of two classes passes a probability."""
    if isinstance(calibrator, IsotonicRegression):
        below = np.flatnonzero(calibrator.y_thresholds_ <= level)
        x, y = calibrator.X_thresholds_, calibrator.y_thresholds_
        if not len(below):
            return Cut(-NEVER)
        last = below[-1]
        if last + 1 == len(x):
            return Cut(NEVER)
        share = (level - y[last]) / (y[last + 1] - y[last])
        return Cut(float(x[last] + share * (x[last + 1] - x[last])))
    odds = log(level / (1.0 - level))
    if hasattr(calibrator, "a_"):  # p = 1 / (1 + exp(a f + b))
        if calibrator.a_ == 0.0:
            raise TypeError("The calibrator gives every query the same probability.")
        return Cut(float(-(calibrator.b_ + odds) / calibrator.a_), -float(np.sign(calibrator.a_)))
    return Cut(odds / (2.0 * float(calibrator.beta_)))  # a temperature: logits (-f, f)


def _level(wrapper: Any) -> tuple[float, bool]:
    """Return the level of a threshold, seen from the second class, and whether of probability."""
    inner = getattr(wrapper, "estimator_", wrapper.estimator)
    asks = wrapper.response_method
    of_probability = asks == "predict_proba" or (asks == "auto" and hasattr(inner, "predict_proba"))
    level = getattr(wrapper, "best_threshold_", None)
    if level is None:
        level = wrapper.threshold
    if level == "auto":
        level = 0.5 if of_probability else 0.0
    label = getattr(wrapper, "pos_label", None)
    if label is not None and label == wrapper.classes_[0]:
        level = 1.0 - level if of_probability else -level
    return float(level), of_probability
