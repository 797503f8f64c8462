"""What can be compared, by name: the settings of the register, and the peers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from sklearn.base import clone

from kmviz.evaluation.peers import PEERS, Peer, installed
from kmviz.methods.register import Setting, method_offering, setting, settings, usual

Methods = Mapping[str, Any] | Iterable[Any]


#: The family of the peers, beside those of the register.
OTHERS = "what else one might take"


def offered() -> list[str]:
    """Return the names of all settings, in the order in which tables show them, then the peers.

    Examples
    --------
    >>> from kmviz.evaluation.catalogue import offered
    >>> offered()[:2]
    ['nsv', 'nsv_w2']
    """
    return [*settings(), *PEERS]


def title_of(name: str) -> str:
    """Return how a setting or a peer is called in tables; the name itself if it is neither."""
    known = setting(name) or PEERS.get(name)
    return known.title if known else name


def family_of(name: str) -> str:
    """Return the family that a setting or a peer is drawn with."""
    method = method_offering(name)
    return method.family if method else OTHERS


def resolve(methods: Methods | None = None) -> dict[str, Any]:
    """Return name -> `Setting`, `Peer` or unfitted estimator.

    Parameters
    ----------
    methods : mapping, list or None
        Names of settings and peers, estimators, or a mapping of names to either. An estimator
        goes by its class, the second of a class by "NSVClassifier-2". None is what is usual of
        the methods, and every peer that is installed.

    Examples
    --------
    >>> from kmviz.evaluation.catalogue import resolve
    >>> list(resolve(["exact", "linear_svc"]))
    ['exact', 'linear_svc']
    """
    if methods is None:
        methods = [*usual(), *installed()]
    if isinstance(methods, str):
        methods = [methods]
    if isinstance(methods, Mapping):
        return {name: _made(method) for name, method in methods.items()}
    made: dict[str, Any] = {}
    for name, method in map(_named, methods):
        made[_free(name, made) if not isinstance(method, str) else name] = _made(method)
    return made


def _free(name: str, taken: dict[str, Any]) -> str:
    """Return the name, numbered where estimators of the same class stand before it."""
    names = (name if n == 1 else f"{name}-{n}" for n in count(1))
    return next(free for free in names if free not in taken)


def _named(method: Any) -> tuple[str, Any]:
    if isinstance(method, tuple) and len(method) == 2:
        return method
    return (method if isinstance(method, str) else type(method).__name__), method


def _made(method: Any) -> Any | Peer | Setting:
    if not isinstance(method, str):
        return clone(method)
    known = setting(method) or PEERS.get(method)
    if known is None:
        names = ", ".join(offered())
        raise ValueError(f"No method is called {method!r}; choose among {names}.")
    return known
