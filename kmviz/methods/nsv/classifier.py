"""The estimator: options in, engines out."""

from __future__ import annotations

from copy import copy
from math import isfinite
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from kmviz.kernels import is_known
from kmviz.machines.votes import unbeaten
from kmviz.methods.base import FLOATS, BinaryProblem, MachineClassifier
from kmviz.methods.nsv.calibration import (
    CROSS_FITTED,
    FOLDS,
    FOLDS_A_PAIR,
    Calibrated,
    Calibrator,
)
from kmviz.methods.nsv.classes import SharedStages
from kmviz.methods.nsv.engine import NSVEngine
from kmviz.methods.nsv.layout import Options
from kmviz.methods.nsv.proof import refuse_few, widen_until_proved
from kmviz.methods.nsv.study import NSVStudy
from kmviz.methods.progress import part
from kmviz.methods.promise import check_classes, hold_out

#: Numbers in the rows from which fewer pairs, each asked about some rows, take less time than all
#: pairs, each asked about all rows.
MANY = 2**19

#: What a stored or copied classifier does without.
_LEFT_BEHIND = ("calibrated_", "proof_rows_")

#: How far cross-fitted thresholds are moved out, in scatters of their step.
CROSS_FIT_MARGIN = {"empty": 0.25, "approximate": 0.5, "reduced": 0.5}


class NSVClassifier(MachineClassifier):
    """A kernel machine that asks a query's nearest support vectors, and only as many as it takes.

    The defaults go beyond the paper in two things: `order` and `calibration`. As published it is
    `NSVClassifier(order="tug_of_war", calibration="train")`.

    Parameters
    ----------
    estimator : estimator, default=None
        What trains the machine; None is `SVC()`. Give `FrozenEstimator(svc)` to take a trained
        one as it is: X is then the calibration set, and y is not used. `GridSearchCV` over
        `estimator__C` needs it given.
    window : int, default=10
        w of the paper's MaxSmoothed thresholds: each is the widest of w steps before and after;
        0 is Simple.
    order : {"nearest", "tug_of_war", "exact"}, default="nearest"
        By the kernel of the first principal components; the same, balanced between the classes;
        or by the kernel itself (which costs as much as the exact machine: a yardstick). The
        paper's is "tug_of_war".
    n_components : int, default=20
        q, the principal components to order by. The approximation takes 3.2 times as many, and
        is tried before with .4, .8 or 1.6 times as many where that makes calibration rows
        cheaper.
    linear_filter : bool, default=True
        Whether a linear SVM may decide first. (`start="reduced"` asks it all the same, and uses
        what it says, unless all pairs of several classes share their vectors.)
    start : {"empty", "approximate", "reduced"}, default="empty"
        Whether the sum starts from -b, as published, or from the approximation of all terms; or
        from that, after up to 160 reduced vectors have decided what they can. "reduced" is the
        fastest on machines of many vectors and columns. Both go beyond the paper.
    calibration : {"cross_fit", "left_out", "train"}, default="cross_fit"
        Which rows set the thresholds when only training rows are at hand: left-out tenths, one
        left-out tenth (a second machine to train and not ten, for slow ones), or the training
        rows (as published). No choice where the machine is frozen or `X_calibration` is given.
    margin : float, default=None
        a: thresholds move out by a times the scatter of f - g_k. None is 0, and .25 (from empty)
        or .5 (from elsewhere) for cross-fitted ones.
    max_disagreement : float, default=None
        Promise that at most this share of queries is answered differently from the exact
        machine: the smallest margin for which rows held out from training and calibration prove
        it. Takes the place of `margin`.
    confidence : float, default=0.95
        The confidence of that promise.
    random_state : int, RandomState or None, default=None
        Deals rows into folds and halves.

    Attributes
    ----------
    machine_ : KernelMachine
        The exact machine (`machines_`, one a pair, for more than two classes).
    low_, high_ : array of shape (m + 1,)
        The thresholds of each step; lists of them for more than two classes.
    overhead_ : float
        What an average calibration row costs beside its steps, in kernel values that the walk
        computes one by one: projecting, ordering, and the terms of the approximation, by times
        measured on one computer (`kmviz.methods.nsv.layout`). Kernel values of reduced vectors
        are among the steps, as whole ones, though several are computed at once.
    margin_ : float
    promise_ : Promise or None
    shared_ : SharedStages or None
        With several classes and `start="reduced"`: reduced vectors that all pairs share, where
        calibration rows are unseen by the machines (a frozen estimator, or `X_calibration`). What
        they do not decide is asked of the exact machines where these are small, of the pairs that
        can still change the prediction where they are large; the filter then changes traces alone.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> from kmviz import NSVClassifier
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> clf = NSVClassifier(SVC(gamma=2.0), random_state=0).fit(X, y)
    >>> bool(clf.steps(X).mean() < clf.machine_.n_vectors)
    True
    >>> trace = clf.trace(X[0])
    >>> bool(trace.output == clf.decision_function(X[:1])[0])
    True
    """

    study_class = NSVStudy

    #: Parameters that `refitted` takes.
    refits: ClassVar = ("window", "order", "n_components", "linear_filter", "start", "margin")

    margin_: float

    _stops_early = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "window": [Interval(Integral, 0, None, closed="left")],
        "order": [StrOptions({"nearest", "tug_of_war", "exact"})],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "linear_filter": ["boolean"],
        "start": [StrOptions({"empty", "approximate", "reduced"})],
        "calibration": [StrOptions({"cross_fit", "left_out", "train"})],
        "margin": [Interval(Real, 0, None, closed="both"), None],
        "max_disagreement": [Interval(Real, 0, 1, closed="neither"), None],
        "confidence": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        window: int = 10,
        order: str = "nearest",
        n_components: int = 20,
        linear_filter: bool = True,
        start: str = "empty",
        calibration: str = "cross_fit",
        margin: float | None = None,
        max_disagreement: float | None = None,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.window = window
        self.order = order
        self.n_components = n_components
        self.linear_filter = linear_filter
        self.start = start
        self.calibration = calibration
        self.margin = margin
        self.max_disagreement = max_disagreement
        self.confidence = confidence
        self.random_state = random_state

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, X_calibration: ArrayLike | None = None
    ) -> NSVClassifier:
        """Train the estimator (unless it is frozen) and set the thresholds.

        Parameters
        ----------
        X : array of shape (n, d)
            Training rows. With a `FrozenEstimator`, rows to calibrate on.
        y : array of shape (n,)
            Classes; not used with a `FrozenEstimator`.
        X_calibration : array of shape (n_calibration, d), optional
            Rows, without labels, that the machine has not seen; they set the thresholds in
            place of X. With `max_disagreement`, half of them set and half of them prove.
        """
        self._validate_params()
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        frozen = isinstance(self.estimator, FrozenEstimator)
        proof: Any = None
        if self.max_disagreement is not None:
            if X_calibration is not None:
                X_calibration, _, proof = hold_out(X_calibration, None, seed, share=0.5)
            elif frozen:
                X, _, proof = hold_out(X, None, seed, share=0.5)
            else:
                check_classes(X, y)
                X, y, proof = hold_out(X, y, seed)
                refuse_few(self, _num_samples(proof))
        with part(0.0, 0.1):
            problems = self._train(X, y)
        given = None if X_calibration is None else self._calibration_rows(X_calibration)
        with part(0.1, 0.7):
            calibrated = self._calibrated(problems, given, seed)
        return self._assemble(calibrated, proof)

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        if hasattr(self, "machine_"):
            rows = self._unchecked_rows(X)
            if rows is not None:
                output = self.engines_[0].outputs(rows)
                if isfinite(output.dot(output)):
                    return output[:, None]
        return super()._outputs(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row.

        With several classes, pairs are asked until a class has won all of its own: the same as
        the vote of all pairs in `decision_function`, which `steps` counts.
        """
        if not hasattr(self, "engines_") or len(self.classes_) == 2 or self.rule_.rest:
            return super().predict(X)
        if self.shared_ is not None:
            return self.classes_[self._shared_winners(self.shared_, X)]
        rows = self._rows(X)
        winner = np.full(len(rows), -1)
        if rows.size >= MANY:
            winner = unbeaten(
                len(rows),
                len(self.classes_),
                lambda pair, i: self.engines_[pair].outputs(rows[i]),
                self.rule_,
            )
        rest = np.flatnonzero(winner < 0)
        if len(rest):
            some = rows[rest] if len(rest) < len(rows) else rows
            outputs = np.column_stack([engine.outputs(some) for engine in self.engines_])
            winner[rest] = self.rule_.winners(outputs)
        return self.classes_[winner]

    def _shared_winners(self, shared: SharedStages, X: Any) -> NDArray[np.intp]:
        """The place of each row's class. Stages decide no row that is not finite."""
        rows = self._unchecked_rows(X)
        if rows is None:
            rows = self._rows(X)
        found = shared.run(rows)
        if not found[3]:
            return found[2]
        rows = self._rows(X)
        outputs, winner = shared.finish(rows, self.engines_, self.rule_, found)
        rest = np.flatnonzero(winner < 0)
        if len(rest):
            winner[rest] = self.rule_.winners(outputs[rest])
        return winner

    def _runs(self, X: Any) -> list[tuple[NDArray[np.float64], NDArray[np.intp]]]:
        if getattr(self, "shared_", None) is None:
            return super()._runs(X)
        outputs, steps = self.answer_pairs(self._rows(X))
        return list(zip(outputs.T, steps.T, strict=True))

    def answer_pairs(self, rows: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return outputs and steps of each pair, for rows as the machines read them.

        What shared reduced vectors take stands with the first pair.
        """
        if self.shared_ is None:
            found = self._compared(rows, [engine.run(rows) for engine in self.engines_])
            return np.column_stack([f[0] for f in found]), np.column_stack([f[1] for f in found])
        steps = np.empty((len(rows), len(self.engines_)), dtype=np.intp)
        stages = self.shared_.run(rows)
        return self.shared_.finish(rows, self.engines_, self.rule_, stages, steps)[0], steps

    def refitted(self, **parameters: Any) -> NSVClassifier:
        """Return what `fit` would give with other parameters, without training anything.

        The machines and the rows that calibrate are those of this fit, kept in
        `calibrated_` and in no stored file; only the envelopes are measured again.

        Parameters
        ----------
        **parameters
            `window`, `order`, `n_components`, `linear_filter`, `start` or `margin`.

        Examples
        --------
        >>> from sklearn.datasets import make_moons
        >>> from kmviz import NSVClassifier
        >>> X, y = make_moons(200, noise=0.2, random_state=0)
        >>> clf = NSVClassifier(random_state=0).fit(X, y)
        >>> clf.refitted(start="approximate").start
        'approximate'
        """
        check_is_fitted(self, "engines_")
        for name in parameters:
            if name not in self.refits:
                raise ValueError(f"{name} cannot be changed without fitting; {self.refits} can.")
        if not hasattr(self, "calibrated_"):
            raise ValueError(
                "This NSVClassifier was stored or copied, and what calibrates it was left behind: "
                "call fit, or clf.study(X).classifier(...) for another window, margin or filter."
            )
        found = copy(self).set_params(**parameters)
        found._validate_params()
        shares = self.shared_ is not None  # then reduced vectors alone take no filter
        had = self.linear_filter or (self._takes_filter and not shares)
        if not had and (found.linear_filter or (found._takes_filter and not shares)):
            raise ValueError(
                "linear_filter=True and start='reduced' take a filter, and this was fitted "
                "without one."
            )
        found.calibrated_, found.proof_rows_ = self.calibrated_, self.proof_rows_
        return found._assemble(self.calibrated_, self.proof_rows_)

    def __getstate__(self) -> dict[str, Any]:
        """What is stored or copied: all but the machines and rows of the calibration."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in _LEFT_BEHIND}

    @property
    def _takes_filter(self) -> bool:
        return self.linear_filter or self.start == "reduced"

    @property
    def low_(self) -> Any:
        return self._thresholds("low")

    @property
    def high_(self) -> Any:
        return self._thresholds("high")

    def _thresholds(self, which: str) -> Any:
        found = [getattr(engine.limits, which) for engine in self.engines_]
        return found[0] if len(found) == 1 else found

    def _calibrated(
        self, problems: list[BinaryProblem], given: NDArray[Any] | None, seed: int
    ) -> list[Calibrated]:
        """Train the filters and find the calibration rows: what no reading option changes."""
        calibration = "given" if given is not None or problems[0].y is None else self.calibration
        folds = FOLDS if len(problems) == 1 else FOLDS_A_PAIR
        shares = self._shares(problems[0].machine.kernel, calibration)
        filtered = self.linear_filter or (self._takes_filter and not shares)
        calibrator = Calibrator(self.calibration, filtered, seed, folds)
        found = []
        for done, problem in enumerate(problems):
            with part(done / len(problems), (done + 1) / len(problems)):
                linear, parts = calibrator(problem, given)
            found.append(Calibrated(problem.machine, linear, parts, calibration))
        return found

    def _assemble(self, calibrated: list[Calibrated], proof: Any) -> NSVClassifier:
        """Measure the envelopes under the present parameters, and prove what is promised."""
        self.calibrated_, self.proof_rows_ = calibrated, proof
        cross_fitted = calibrated[0].calibration in CROSS_FITTED
        usual = CROSS_FIT_MARGIN[self.start] if cross_fitted else 0.0
        self.margin_ = usual if self.margin is None else float(self.margin)
        is_shared = self._shares(calibrated[0].machine.kernel, calibrated[0].calibration)
        start = "approximate" if is_shared else self.start  # of what traces show
        options = Options(self.order, self.n_components, start)
        reads = (self.window, self.margin_, self.linear_filter)
        with part(0.7, 0.9):
            self._adopt(
                [NSVEngine(c.machine, c.linear, options, c.parts, *reads) for c in calibrated]
            )
        self.shared_ = self._shared_stages(calibrated) if is_shared else None
        self.count_overhead()
        self.promise_ = None
        if proof is not None:
            with part(0.9, 1.0):
                self.prove(proof)
        return self

    def _shares(self, kernel: Any, calibration: str) -> bool:
        """Whether all pairs share reduced vectors: rows that no machine has seen must set them."""
        several = len(self.classes_) > 2 and self.start == "reduced" and not self.rule_.rest
        return several and calibration == "given" and is_known(kernel)

    def _shared_stages(self, calibrated: list[Calibrated]) -> SharedStages:
        first = self.engines_[0]
        shared = SharedStages(
            self.machines_, first.form,
            np.concatenate([part.rows for part in calibrated[0].parts]),
            self.rule_.winners,
        )  # fmt: skip
        return shared.under(self.margin_)

    def count_overhead(self) -> None:
        """Say anew what a query costs beside its steps."""
        of_pairs = float(sum(engine.overhead for engine in self.engines_))
        self.overhead_ = of_pairs if self.shared_ is None else self.shared_.overhead(self.engines_)

    def prove(self, X: Any, labels: Any = None) -> None:
        """Widen the thresholds until rows that set nothing prove `max_disagreement`.

        Parameters
        ----------
        X : array of shape (n, d)
            Rows that neither the machine nor the thresholds have seen.
        labels : array of shape (n,), optional
            What the fitted estimator answers to them, where that is known already.
        """
        rows = self._calibration_rows(X)
        widen_until_proved(self, rows, self.estimator_labels(X) if labels is None else labels)

    def _calibration_rows(self, X: Any) -> NDArray[Any]:
        self._refuse_width("X_calibration", X)
        if self.preprocessing_ is not None:
            validate_data(self, X, reset=False, skip_check_array=True)
            return self._transformed(X)
        return validate_data(self, X, reset=False, dtype=FLOATS)
