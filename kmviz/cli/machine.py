"""The estimators that the options of a command describe."""

from __future__ import annotations

import argparse
import ast
from typing import Any

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kmviz.cli.console import BadInput
from kmviz.evaluation.catalogue import SETTINGS
from kmviz.kernels import Normalized, Polynomial


def machine(options: argparse.Namespace, scaled: bool, cache: float = 200.0) -> Any:
    """Return the unfitted SVC, behind a StandardScaler where columns come in units of their own."""
    shared = {"C": options.C, "cache_size": cache}
    if options.kernel == "poly_normalized":
        svc = SVC(kernel=Normalized(Polynomial(degree=options.degree)), **shared)
    else:
        svc = SVC(
            kernel=options.kernel, gamma=gamma_of(options), degree=options.degree,
            coef0=1.0 if options.kernel == "poly" else 0.0, **shared,
        )  # fmt: skip
    return make_pipeline(StandardScaler(), svc) if scaled else svc


def gamma_of(options: argparse.Namespace) -> float | str:
    """Return gamma as a number, or "scale"."""
    if options.gamma == "scale":
        return "scale"
    try:
        return float(options.gamma)
    except ValueError:
        raise BadInput(f"--gamma takes a number or 'scale'; got {options.gamma!r}.") from None


def method(options: argparse.Namespace, scaled: bool, cache: float = 200.0) -> Any:
    """Return the unfitted method, with `--set name=value` applied."""
    clf = SETTINGS[options.method].make() if options.method in SETTINGS else _exact()
    clf.set_params(**_settings(options.set, clf))
    if "estimator" in clf.get_params(deep=False):
        return clf.set_params(estimator=machine(options, scaled, cache))
    if options.kernel == "poly_normalized":
        raise BadInput(f"--method {options.method} takes the kernels rbf, linear and poly.")
    given = {"kernel": options.kernel, "C": options.C, "gamma": gamma_of(options)}
    clf.set_params(**{name: v for name, v in given.items() if name not in _names(options.set)})
    return make_pipeline(StandardScaler(), clf) if scaled else clf


def _exact() -> Any:
    from kmviz.methods.exact import ExactClassifier

    return ExactClassifier()


def _names(settings: list[str]) -> list[str]:
    return [setting.partition("=")[0] for setting in settings]


def _settings(settings: list[str], clf: Any) -> dict[str, Any]:
    """Read name=value pairs; a value is a Python literal, or else text."""
    known = [name for name in clf.get_params(deep=False) if name != "estimator"]
    found = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or name not in known:
            raise BadInput(
                f"--set takes name=value with one of {', '.join(known)}; got {setting!r}."
            )
        try:
            found[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            found[name] = text
    return found
