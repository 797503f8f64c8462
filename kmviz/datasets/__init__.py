"""Samples, generators and the reading of a user's own tables.

Examples
--------
>>> from kmviz import datasets
>>> data = datasets.load("two_moons", n=100, seed=1)
>>> data.X_train.shape
(100, 2)
"""

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from kmviz.datasets import digits as _digits, generators as _generators
from kmviz.datasets.catalogue import SHIPPED
from kmviz.datasets.drawing import sketch
from kmviz.datasets.record import DataError, Dataset
from kmviz.datasets.shipped import banana, recorded

if TYPE_CHECKING:
    from kmviz.datasets.encoder import TableEncoder
    from kmviz.datasets.frames import iter_frames, read_frame
    from kmviz.datasets.upload import encode_table, read_table

__all__ = [
    "DataError",
    "Dataset",
    "TableEncoder",
    "encode_table",
    "iter_frames",
    "load",
    "names",
    "options",
    "read_frame",
    "read_table",
]

#: What reads tables, and with it pandas: imported when it is first asked for.
_TABLES = {
    "TableEncoder": "encoder",
    "encode_table": "upload",
    "iter_frames": "frames",
    "read_frame": "frames",
    "read_table": "upload",
}


def __getattr__(name: str) -> Any:
    if name not in _TABLES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(f"{__name__}.{_TABLES[name]}"), name)
    return found


_LOADERS: dict[str, Callable[..., Dataset]] = {
    "banana": banana,
    "two_moons": _generators.two_moons,
    "two_spirals": _generators.two_spirals,
    "checkerboard": _generators.checkerboard,
    "ndcc": _generators.ndcc,
    "ringnorm": _generators.ringnorm,
    "twonorm": _generators.twonorm,
    "waveform": _generators.waveform,
    "sketch": sketch,
    **{name: partial(recorded, name) for name in SHIPPED if name != "banana"},
    "digits": _digits.digits,
    "mnist": _digits.mnist,
}


def names() -> tuple[str, ...]:
    """The names that `load` knows."""
    return tuple(_LOADERS)


def options(name: str) -> dict[str, Any]:
    """The options that `load(name)` takes, with their defaults.

    Examples
    --------
    >>> options("sonar")
    {'n': None, 'seed': 0, 'whole': False}
    """
    parameters = inspect.signature(_loader(name)).parameters
    return {option: parameter.default for option, parameter in parameters.items()}


def load(name: str, **chosen: Any) -> Dataset:
    """An embedded data set.

    Parameters
    ----------
    name : str
        One of `names()`.
    **chosen
        What `options(name)` lists. Generators take `n` (training rows), `noise`, `seed` and
        `n_test`; checkerboard also `jitter`. Recorded sets take `seed` (which split), `n`
        (training rows) and `whole=True` (no split: all rows in file order, for training and
        test alike). `digits` and `mnist` take `pair=(3, 8)` and `n`; `sketch` takes `drawn`,
        a drawing as the app's link carries it.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load("sonar", whole=True).X_train.shape
    (208, 60)
    """
    known = options(name)
    for option in chosen:
        if option not in known:
            raise ValueError(
                f"{name!r} takes no option {option!r}: leave it out, or use one of "
                f"{', '.join(known)}."
            )
    _refuse_numbers(chosen)
    return _loader(name)(**chosen)


def _refuse_numbers(chosen: dict[str, Any]) -> None:
    """Say which option is no number of its kind."""
    for option in ("n", "n_test", "seed"):
        value = chosen.get(option)
        if value is not None and not isinstance(value, Integral):
            raise ValueError(f"{option}={value!r}: give a whole number.")
    for option in ("seed", "noise", "jitter"):
        value = chosen.get(option)
        if value is not None and not (isinstance(value, Real) and 0 <= float(value) < inf):
            raise ValueError(f"{option}={value!r}: give a number from 0 up.")


def _loader(name: str) -> Callable[..., Dataset]:
    if name not in _LOADERS:
        raise ValueError(f"No data set is called {name!r}; choose one of {', '.join(_LOADERS)}.")
    return _LOADERS[name]
