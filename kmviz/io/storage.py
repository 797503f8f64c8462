"""Estimators as files: skops, with an explicit list of the types that may be in one.

A skops file holds arrays, numbers, text and the names of types. Loading builds objects of
trusted types only (kmviz's own, scikit-learn's estimators, NumPy's arrays) and runs no code
from the file; it never unpickles. What a file says is data all the same: a model from a
stranger can be wrong, not harmful.

skops is imported where it is used: it would take a quarter of `import kmviz`.
"""

from __future__ import annotations

import importlib.util
import inspect
import io
import json
import os
import pkgutil
import sys
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile
from zlib import error as ZlibError

from sklearn.pipeline import Pipeline

from kmviz import __version__
from kmviz.io.bombs import BombError, schema_within
from kmviz.io.soundness import refuse_unsound
from kmviz.io.table import TableClassifier
from kmviz.io.whole import written_whole
from kmviz.methods.rows import MachineRows

#: A file may unfold to no more than this.
MAX_BYTES = 2 * 2**30

#: The form of the files, and the entry that names it. It changes when an estimator stored before
#: would be read wrongly.
SCHEMA, STAMP = 4, "kmviz.json"

#: Letters of the digest that a file ends with.
DIGEST = 64

#: Parts of kmviz whose classes a stored estimator may consist of.
PARTS = (
    "kernels", "machines", "methods", "datasets.encoder", "io.table",
)  # fmt: skip

#: What fitted scikit-learn estimators hold beside what skops trusts by itself: sparse rows, a
#: frozen machine, a grid search with its folds and the score of its estimator, calibrated ones.
BESIDE = (
    "numpy.dtype",
    "scipy.sparse._csr.csr_matrix",
    "scipy.sparse._csr.csr_array",
    "sklearn.frozen._frozen.FrozenEstimator",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
)

#: What reading a file raises that was cut or changed on its way.
DAMAGED = (
    BadZipFile, ZlibError, KeyError, EOFError, json.JSONDecodeError, UnicodeDecodeError,
)  # fmt: skip

File = str | os.PathLike[str] | bytes | IO[bytes]


class StorageError(ValueError):
    """A file that cannot be stored or loaded; the message says why and what to do."""


def save(
    estimator: Any, path: str | os.PathLike[str], slim: bool = False, trusted: Iterable[str] = ()
) -> None:
    """Store a fitted estimator as a `.skops` file; a `PartitionedFaLK` as a `.falk` file.

    The file is written beside its place, loaded once, and renamed: no file stays that is written
    by half or that `load` refuses.

    Parameters
    ----------
    estimator : estimator
        Any kmviz or scikit-learn estimator, or a Pipeline of them.
    path : path
    slim : bool
        Whether the model that a fast method replaces is left out, where its answers need none of
        it: a smaller file that cannot be audited.
    trusted : iterable of str
        Full names of types of your own in the estimator; `load` must be given them as well.

    Raises
    ------
    StorageError
        A ValueError that names the part which `load` could not read.

    Examples
    --------
    >>> import tempfile, pathlib, kmviz
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> clf = kmviz.ExactClassifier().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "exact.skops"
    ...     kmviz.save(clf, path)
    ...     again = kmviz.load(path)
    >>> bool((again.predict(X) == clf.predict(X)).all())
    True
    """
    if hasattr(estimator, "boxes_"):
        from kmviz.io.partitioned import save_partitioned

        return save_partitioned(estimator, path)
    with written_whole(Path(path)) as place:
        place.write_bytes(readable_bytes(estimator, slim, trusted))
    return None


def readable_bytes(estimator: Any, slim: bool = False, trusted: Iterable[str] = ()) -> bytes:
    """Return what `save` writes, loaded once to prove that `load` reads it.

    Raises
    ------
    StorageError
        As `save` does.
    """
    content, name = dumps(estimator, slim), type(estimator).__name__
    if refused := sorted(untrusted_types(content, trusted)):
        in_model = not slim and not untrusted_types(dumps(estimator, slim=True), trusted)
        remedy = "leave out the model it replaces by slim=True" if in_model else "take another step"
        raise StorageError(
            f"{name} cannot be stored, because it holds {', '.join(refused)}, which load does not "
            f"trust: {remedy}, or allow these names in both, save(..., trusted=[...]) and "
            "load(..., trusted=[...])."
        )
    try:
        built(content, "its file", [*trusted_types(), *trusted])
    except StorageError as error:
        raise StorageError(f"{name} cannot be stored, for load would refuse it: {error}") from error
    return content


def dumps(estimator: Any, slim: bool = False) -> bytes:
    """Return an estimator as a `.skops` file, which `load` may yet refuse."""
    from skops import io as skops
    from skops.io.exceptions import UnsupportedTypeException

    if slim:
        estimator = slimmed(estimator)
    try:
        content = skops.dumps(estimator, compression=ZIP_DEFLATED, compresslevel=1)
    except UnsupportedTypeException as error:
        raise StorageError(
            f"{type(estimator).__name__} cannot be stored: {error} "
            "Replace functions and lambdas by estimators or kmviz kernels."
        ) from error
    if lost := sorted(filter(_is_lost, untrusted_types(content))):
        raise StorageError(
            f"{type(estimator).__name__} holds {', '.join(lost)}, which no other process could "
            "find again: a lambda, or what a function defines inside. Give it a name in a module, "
            "or take a kernel of kmviz.kernels."
        )
    return _stamped(content)


def slimmed(estimator: Any) -> Any:
    """Return a copy of a fast method, or of what holds one, without the model that it replaces."""
    if isinstance(estimator, TableClassifier):
        return TableClassifier(estimator.encoder, slimmed(estimator.classifier))
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return Pipeline([*estimator.steps[:-1], (name, slimmed(last))])
    return estimator.slim() if isinstance(estimator, MachineRows) else estimator


def _is_lost(name: str) -> bool:
    """Whether a type or function, by its full name, stands in no module under that name."""
    module, _, last = name.rpartition(".")
    return module in sys.modules and not hasattr(sys.modules[module], last)


def _stamped(content: bytes) -> bytes:
    """Add which kmviz wrote a file, in which form, and at its end a digest of all before."""
    file = io.BytesIO(content)
    with ZipFile(file, "a", ZIP_DEFLATED) as archive:
        archive.writestr(STAMP, json.dumps({"kmviz": __version__, "schema": SCHEMA}))
        archive.comment = bytes(DIGEST)  # room for it
    written = file.getvalue()[:-DIGEST]
    return written + _digest(written)


def _digest(content: bytes) -> bytes:
    return sha256(content).hexdigest().encode()


def load(path: File, trusted: Iterable[str] = ()) -> Any:
    """Load what `save` stored, or a scikit-learn estimator that skops stored.

    Parameters
    ----------
    path : path, bytes or binary file
    trusted : iterable of str
        Full names of types, beside kmviz's and scikit-learn's own, that you know and allow.

    Raises
    ------
    StorageError
        A ValueError: the file is no skops file, is damaged, or names types that are not
        trusted. They are listed, and nothing of the file has been built.

    Examples
    --------
    >>> import kmviz
    >>> try:
    ...     kmviz.load(b"no model at all")
    ... except ValueError as error:
    ...     print(error)
    The file is not a skops file. Store the estimator with kmviz.save or skops.io.dump.
    """
    if isinstance(path, str | os.PathLike) and Path(path).suffix == ".falk":
        from kmviz.io.partitioned import load_partitioned

        return load_partitioned(path)
    content, name = _content(path)
    return built(content, name, [*trusted_types(), *trusted])


def built(content: bytes, name: str, allowed: list[str]) -> Any:
    """Return the estimator in a file, which may consist of types with these full names.

    Raises
    ------
    StorageError
        As `load` does.
    """
    from skops import io as skops
    from skops.io.exceptions import UntrustedTypesFoundException

    refuse_foreign(content, name)
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            schema_of(archive, name)
            _refuse_other_schemas(archive, content, name)
        loaded = skops.loads(content, trusted=allowed)
        refuse_unsound(loaded)
        return loaded
    except UntrustedTypesFoundException:
        listed = ", ".join(sorted(untrusted_types(content, allowed)))
        raise StorageError(
            f"{name} names types that are not trusted: {listed}. Nothing was loaded. If they are "
            "yours, allow them by name with load(path, trusted=[...])."
        ) from None
    except StorageError:
        raise
    except DAMAGED as error:
        raise StorageError(f"{name} is not a skops file, or it is damaged: {error}.") from error
    except (
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        ArithmeticError,
        ImportError,
    ) as error:
        raise StorageError(
            f"{name} does not describe an estimator that this version can build: {error}"
        ) from error
    except (RecursionError, NotImplementedError, RuntimeError, OSError, MemoryError) as error:
        raise StorageError(f"{name} is malformed: {type(error).__name__} {error}") from error


def untrusted_types(content: bytes, allowed: Iterable[str] = ()) -> set[str]:
    """Return the names of the types in a stored file that `load` would refuse."""
    from skops import io as skops

    return set(skops.get_untrusted_types(data=content)) - {*trusted_types(), *allowed}


@cache
def trusted_types() -> tuple[str, ...]:
    """Return the full names of kmviz's own classes and the few others that estimators hold."""
    names = set(BESIDE)
    tables = importlib.util.find_spec("pandas") is not None  # no encoder is loaded without it
    for part in [name for name in PARTS if tables or name != "datasets.encoder"]:
        for module in _modules(f"kmviz.{part}"):
            names |= {
                f"{cls.__module__}.{cls.__qualname__}"
                for _, cls in inspect.getmembers(module, inspect.isclass)
                if cls.__module__ == module.__name__ and not issubclass(cls, BaseException)
            }
    return tuple(sorted(names))


def _modules(name: str) -> list[Any]:
    """Return a module and, of a package, everything below it."""
    module = importlib.import_module(name)
    below = pkgutil.walk_packages(getattr(module, "__path__", ()), prefix=f"{name}.")
    return [module, *(importlib.import_module(found.name) for found in below)]


def _content(file: File) -> tuple[bytes, str]:
    if isinstance(file, bytes):
        return file, "The file"
    if isinstance(file, str | os.PathLike):
        place = Path(file)
        if not place.is_file():
            raise FileNotFoundError(f"There is no file {str(place)!r}.")
        return place.read_bytes(), place.name
    return file.read(), Path(str(getattr(file, "name", "The file"))).name


def refuse_foreign(content: bytes, name: str) -> None:
    if content[:1] == b"\x80" or content[:2] in (b"(d", b"(l", b"c_"):
        raise StorageError(
            f"{name} is a pickle, which can run any code when opened, so it was not opened. "
            "Store the estimator with kmviz.save or skops.io.dump."
        )
    if content[:4] != b"PK\x03\x04":
        raise StorageError(
            f"{name} is not a skops file. Store the estimator with kmviz.save or skops.io.dump."
        )


def _refuse_other_schemas(archive: ZipFile, content: bytes, name: str) -> None:
    """Refuse a kmviz estimator that was written in another form than this version reads."""
    if STAMP not in archive.namelist():
        if b'"kmviz.methods.' in archive.read("schema.json"):
            raise StorageError(
                f"{name} holds a kmviz estimator and names no version: it was written by kmviz "
                "0.1, or by skops itself. Fit it again, or store it with kmviz.save."
            )
        return  # scikit-learn's estimators are as they were
    stamp = json.loads(archive.read(STAMP))
    if not isinstance(stamp, dict) or stamp.get("schema") != SCHEMA:
        written = stamp.get("kmviz", "?") if isinstance(stamp, dict) else "?"
        raise StorageError(
            f"{name} was written by kmviz {str(written)[:20]}, in a form that kmviz {__version__} "
            "does not read. Load it with that version, or fit and store it again."
        )
    if _digest(content[:-DIGEST]) != content[-DIGEST:]:
        raise StorageError(f"{name} was changed on its way: its bytes are not those written.")


def schema_of(archive: ZipFile, name: str, most: int | None = None) -> dict[str, Any]:
    """Return what a file says it holds; StorageError where that is too much, or nothing."""
    if "schema.json" not in archive.namelist():
        raise StorageError(f"{name} is a zip archive without a skops schema.")
    try:
        return schema_within(archive, MAX_BYTES if most is None else most)
    except BombError as error:
        raise StorageError(f"{name} {error}") from error
