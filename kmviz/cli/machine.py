"""The estimators that the options of a command describe."""

from __future__ import annotations

import argparse
import ast
from typing import Any

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kmviz.cli.console import BadInput
from kmviz.machines.named import kernel_parameters, named_svc
from kmviz.methods.register import offered


def machine(options: argparse.Namespace, scaled: bool, cache: float = 200.0) -> Any:
    """Return the unfitted SVC, behind a StandardScaler where columns come in units of their own."""
    svc = named_svc(options.kernel, options.C, gamma_of(options), options.degree, cache_size=cache)
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
    clf = offered(options.method)[1].make()
    clf.set_params(**_settings(options.set, clf))
    if "estimator" in clf.get_params(deep=False):
        return clf.set_params(estimator=machine(options, scaled, cache))
    kernel = kernel_parameters(options.kernel, gamma_of(options), options.degree)
    given = {"C": options.C, **kernel}
    free = set(clf.get_params(deep=False)) - set(_names(options.set))
    clf.set_params(**{name: value for name, value in given.items() if name in free})
    return make_pipeline(StandardScaler(), clf) if scaled else clf


def _names(settings: list[str]) -> list[str]:
    return [setting.partition("=")[0] for setting in settings]


def _settings(settings: list[str], clf: Any) -> dict[str, Any]:
    """Read name=value pairs; a value is a Python literal (true and false too), or else text."""
    known = [name for name in clf.get_params(deep=False) if name != "estimator"]
    found = {}
    for given in settings:
        name, equals, text = given.partition("=")
        if not equals or name not in known:
            raise BadInput(f"--set takes name=value with one of {', '.join(known)}; got {given!r}.")
        try:
            found[name] = ast.literal_eval(text.title() if text in ("true", "false") else text)
        except (ValueError, SyntaxError):
            found[name] = text
    return found
