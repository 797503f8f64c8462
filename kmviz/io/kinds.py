"""Of what kind each part of a stored object is: what the annotations of its class say.

A compiled loop is made for numbers and arrays of one kind, and takes whatever lies in memory for
that. A class of kmviz annotates every number and array that it keeps; here a loaded object is held
to it. Lengths are for its own `check`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import validate_parameter_constraints

#: What each kind of number may be; a bool is none of them.
NUMBERS: dict[Any, type] = {float: Real, int: Integral}

#: Kinds of arrays, by what stands in `NDArray[...]`; any other type may hold whatever loops know.
ARRAYS = {np.floating: "f", np.integer: "iu", np.bool_: "b"}


def refuse_other_kinds(thing: Any) -> None:
    """Raise ValueError where a part of an object is not what its class says."""
    cls: Any = type(thing)
    for name, hint in declared(cls).items():
        if name in (held := parts_of(thing)) and not fits(held[name], hint):
            raise ValueError(f"{name} of {type(thing).__name__} is {_said(held[name])}.")


def refuse_parameters(estimator: BaseEstimator) -> None:
    """Raise ValueError where an estimator has parameters, or columns, that no `fit` would take."""
    rules = getattr(estimator, "_parameter_constraints", {})
    given = estimator.get_params(deep=False)
    validate_parameter_constraints(rules, given, type(estimator).__name__)
    columns = vars(estimator).get("n_features_in_", 1)
    if not isinstance(columns, Integral) or columns < 0:
        raise ValueError(f"n_features_in_ of {type(estimator).__name__} is {_said(columns)}.")


def parts_of(thing: Any) -> dict[str, Any]:
    """Return what an object holds by name, or a tuple whose places have names."""
    return thing._asdict() if hasattr(thing, "_asdict") else getattr(thing, "__dict__", {})


@cache
def declared(cls: Any) -> dict[str, Any]:
    """Return the annotations of a class and of those it is derived from."""
    return get_type_hints(cls)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is what an annotation says, as far as numbers, arrays and kmviz's own go.

    Examples
    --------
    >>> import numpy as np
    >>> from numpy.typing import NDArray
    >>> fits(np.zeros(3), NDArray[np.float64]), fits(0.5, NDArray[np.float64] | None)
    (True, False)
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in inner)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _holds(value, *get_args(inner[1]))
    if origin in (list, tuple) and inner:
        wanted = inner[:1] if origin is list or inner[-1] is Ellipsis else inner
        each = wanted * len(value) if len(wanted) == 1 and isinstance(value, origin) else wanted
        return isinstance(value, origin) and len(value) == len(each) and all(map(fits, value, each))
    if origin in (dict, Mapping):
        return isinstance(value, Mapping) and all(fits(one, inner[1]) for one in value.values())
    if hint in NUMBERS:
        return isinstance(value, NUMBERS[hint]) and not isinstance(value, bool)
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    if hint in (str, NoneType) or (isinstance(hint, type) and hint.__module__.startswith("kmviz.")):
        return isinstance(value, hint)
    return True


def _holds(array: np.ndarray, numbers: Any) -> bool:
    """Whether an array holds numbers of the type that its annotation names."""
    if numbers is Any:  # labels, or what `check` holds to numbers: the annotation promises nothing
        return True
    kinds = [kind for base, kind in ARRAYS.items() if issubclass(numbers, base)]
    return array.dtype.kind in (kinds[0] if kinds else "fiub")


def _said(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and type {value.dtype}, which it cannot be"
    return f"{str(value)[:40]!r}, a {type(value).__name__}, which it cannot be"
