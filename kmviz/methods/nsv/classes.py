"""Reduced vectors that all pairs of classes share, and a promise over the prediction.

Beyond the paper, which has two classes. A few reduced vectors of each pair make one basis, on
which every pair's output is regressed: so many kernel values say something of all pairs. Those
that tell most of all outputs for the machines' own vectors come first. What a
row is tested by is no threshold of a pair but the *lead* of a class: the smallest of its outputs
against the others, in scatters of f around them. A stage decides where the lead is larger than
that of every calibration row whose prediction it gets wrong, but for one in 4,000. Leads, as all
thresholds, are taken from stages that have not seen the row.

Of a row that no stage decides, large machines answer only the pairs that can still change the
prediction (`kmviz.machines.votes`), each walked as with `start="approximate"`, two scatters
further out and without a filter; small ones answer all, each distinct support vector once, which
takes less time than to sort out which.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmviz.loops.nsv_shared import decide_shared, lead_rows
from kmviz.loops.threads import over_chunks
from kmviz.machines import KernelMachine
from kmviz.machines.shared import SharedMachines
from kmviz.machines.soundness import shaped
from kmviz.machines.votes import Rule, classes_of_pairs, settle
from kmviz.methods.nsv.landmarks import Landmarks
from kmviz.methods.nsv.stages import FOLDS
from kmviz.methods.reduction.path import grow
from kmviz.methods.reduction.space import space_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: Reduced vectors of each pair, at most; and those of all that a stage may end with.
MOST, SIZES = 16, (8, 16, 32, 64, 128, 256, 512)

#: How strongly regressions are held; a vector of which the others leave less tells nothing new.
RIDGE, NEW = 1e-4, 1e-6

#: One calibration row in so many may be predicted otherwise by a stage: a single odd one would else
#: leave most queries to the machines.
SPARED = 4_000

#: Numbers in the support vectors from which pairs are asked one by one.
LARGE = 2**19

#: Leads have to be larger by so many scatters, and thresholds of single pairs are so much further
#: out, whatever the margin. Of 5,000 training digits of ten classes that set nothing 3 are then
#: predicted otherwise, 5 at half of both; settled with a look at test digits, too.
CAUTION, FURTHER = 1.0, 2.0

#: Rows that go through the stages at once.
CHUNK = 512

#: What the choice of stages counts beside multiplications: a kernel value's own function, who leads
#: in a row, and what asking pairs one by one takes of asking all.
FUNCTION, LEADING, BY_PAIRS = 8.0, 1_000.0, 0.125


class SharedStages:
    """Stages on reduced vectors that the machines of all pairs share.

    Parameters
    ----------
    machines : list of KernelMachine
        In the order of pairs.
    form : kernel
        The formula of their kernel.
    X : array of shape (n, d)
        Calibration rows that no machine has seen.
    winners : callable
        The class, by its place, that outputs of all pairs vote for.
    """

    landmarks: Landmarks
    weights: NDArray[np.floating]
    bias: NDArray[np.floating]
    scale: NDArray[np.floating]
    ends: Ints
    needed: Floats
    leads: Floats
    asks: NDArray[np.floating]
    margin: float
    sure: float
    n_classes: int
    n_rest: int
    by_pairs: bool

    def __init__(
        self,
        machines: list[KernelMachine],
        form: Any,
        X: NDArray[Any],
        winners: Callable[[Floats], Ints],
    ) -> None:
        self.n_classes = classes_of_pairs(len(machines))
        self.margin = 0.0
        self.walkers: list[Any] | None = None  # engines as they answer single pairs, once asked
        self.tables: tuple[Any, ...] | None = None
        self.rest: SharedMachines | None = SharedMachines(machines)
        rest = self.rest
        self.n_rest = len(rest.vectors)
        self.by_pairs = rest.vectors.size >= LARGE
        vectors = _union(machines, form, self.n_rest // 2)
        narrow = all(machine.fits_float32 for machine in machines)
        self.landmarks = Landmarks(vectors, form, rest.vectors, np.float32 if narrow else float)
        exact, known = rest.outputs(X), rest.outputs(rest.vectors)  # which teach, too
        self.landmarks.take(telling(self._values(rest.vectors), known))
        n = self.landmarks.right.shape[1]
        self.ends = np.array([size for size in SIZES if size < n] + [n], dtype=np.intp)
        values, seen = self._values(X), self._values(rest.vectors)
        told = self._regress(values, exact, seen, known)
        own = [
            values[:, :end] @ w[:end] - b for end, w, b in zip(self.ends, self.weights, self.bias)
        ]
        truth = winners(exact)
        needed = [
            max(_not_spared(wrong_leads(z, truth, self.n_classes)) for z in both) + CAUTION
            for both in zip(told, own, strict=True)
        ]
        kept = self._kept_stages(told, np.array(needed))
        wrong = [wrong_pairs(z[kept[-1]], truth, self.n_classes) for z in (told, own)]
        self.sure = max(_not_spared(found) for found in wrong) + CAUTION
        self._keep(kept, told, np.array(needed)[kept])

    def _values(self, X: NDArray[Any]) -> Floats:
        rows, n = self.landmarks.read(X), self.landmarks.right.shape[1]
        return self.landmarks.values(rows, 0, n).astype(np.float64)

    def _regress(self, values: Floats, exact: Floats, seen: Floats, known: Floats) -> list[Floats]:
        """Regress every pair's output on the first kernel values of each stage, in scatters of f.

        Returns what each stage says of rows that it has not seen.
        """
        A, S = (np.column_stack([np.ones(len(v)), v]) for v in (values, seen))
        parts = [np.arange(len(A)) % FOLDS == k for k in range(FOLDS)]
        grams = np.array([A[part].T @ A[part] for part in parts])
        sides = np.array([A[part].T @ exact[part] for part in parts])
        gram, side = grams.sum(axis=0) + S.T @ S, sides.sum(axis=0) + S.T @ known
        n, p = values.shape[1], exact.shape[1]
        weights, bias = np.zeros((len(self.ends), n, p)), np.empty((len(self.ends), p))
        self.scale, told = np.empty_like(bias), []
        for s, end in enumerate(self.ends):
            i = slice(0, 1 + int(end))
            outputs = np.empty_like(exact)
            for k, part in enumerate(parts):
                held = _solved((gram - grams[k])[i, i], (side - sides[k])[i])
                outputs[part] = A[part, i] @ held
            self.scale[s] = 1.0 / np.maximum(np.std(exact - outputs, axis=0), 1e-300)
            found = _solved(gram[i, i], side[i]) * self.scale[s]
            weights[s, :end], bias[s] = found[1:], -found[0]
            told.append(outputs * self.scale[s])
        self.weights, self.bias = weights, bias
        return told

    def _kept_stages(self, told: list[Floats], needed: Floats) -> Ints:
        """The stages by which calibration rows take the fewest multiplications."""
        leads = np.array([leading(z, self.n_classes)[1] for z in told]).T
        passed, p = leads > needed, told[0].shape[1]
        rest = self.n_rest * (self.landmarks.columns + p) * (BY_PAIRS if self.by_pairs else 1.0)

        def cost(stages: Ints) -> float:
            ends = self.ends[stages]
            left = np.logical_and.accumulate(~passed[:, stages], axis=1).mean(axis=0)
            each = np.diff(ends, prepend=0) * (self.landmarks.width + FUNCTION) + ends * p + LEADING
            return float(each @ np.append(1.0, left[:-1]) + left[-1] * rest)

        last = len(told)
        some = (np.array(kept) for n in range(last) for kept in combinations(range(last), n + 1))
        return min(some, key=cost)

    def _keep(self, kept: Ints, told: list[Floats], needed: Floats) -> None:
        dtype, n = self.landmarks.right.dtype, int(self.ends[kept[-1]])
        self.weights = np.ascontiguousarray(self.weights[kept, :n], dtype)
        self.bias = self.bias[kept].astype(dtype)
        self.ends, self.needed = self.ends[kept], needed
        self.scale = self.scale[kept].astype(dtype)
        self.landmarks.take(np.arange(n))
        self.leads = np.array([leading(told[s], self.n_classes)[1] for s in kept]).T
        self.asks = np.empty((0, 0), np.float32)
        if self.by_pairs:  # how far ahead of each other class the leader is, for `overhead`
            z = _signed(told[kept[-1]], self.n_classes)
            best = z.min(axis=2).argmax(axis=1)
            self.asks = np.abs(z[np.arange(len(z)), best]).astype(np.float32)

    def under(self, margin: float) -> SharedStages:
        """Return the same with leads that have to be larger by so many scatters."""
        found = copy(self)
        found.margin, found.walkers, found.tables = float(margin), None, None
        return found

    def run(self, X: NDArray[Any]) -> tuple[Floats, Ints, Ints, int]:
        """Ask the stages.

        Returns
        -------
        outputs : array of shape (n, p)
        stage, winner : arrays of shape (n,)
            What decides (-1: no stage), and who leads then (-1: nobody).
        left : int
            How many rows no stage decides: those that are not finite are among them.
        """
        n, tables, rows = len(X), self._tables(), self.landmarks.rows(X)
        outputs = np.empty((n, self.scale.shape[1]))
        stage, winner = np.empty(n, np.intp), np.empty(n, np.intp)
        if n <= CHUNK:
            return outputs, stage, winner, decide_shared(*tables, rows, outputs, stage, winner)
        left = []

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            found = (outputs[part], stage[part], winner[part])
            left.append(decide_shared(*tables, rows[part], *found))

        over_chunks(work, n, CHUNK)
        return outputs, stage, winner, sum(left)

    def _tables(self) -> tuple[Any, ...]:
        """What the loop reads, laid out once."""
        if self.tables is None:
            bounds = zip([0, *self.ends[:-1].tolist()], self.ends.tolist())
            blocks = [self.landmarks.right[:, begin:end].ravel() for begin, end in bounds]
            self.tables = (
                *self.landmarks.tables, self.n_classes, np.concatenate(blocks), self.ends,
                self.weights, self.bias, self.scale, self.needed + self.margin,
            )  # fmt: skip
        return self.tables

    def finish(
        self,
        X: NDArray[Any],
        engines: list[Any],
        rule: Rule,
        found: Any,
        steps: Ints | None = None,
    ) -> tuple[Floats, Ints]:
        """Return outputs of all pairs, and the class that wins all its own (-1: none surely does).

        Parameters
        ----------
        engines : list
            Those of the pairs, to be asked where no stage decides.
        rule : Rule
            How the model decides.
        found : tuple
            What `run` returned for the same rows; its arrays are written into.
        steps : array of shape (n, p), optional
            Takes the kernel values of each pair; those that pairs share stand with the first.
        """
        outputs, stage, winner, n_left = found
        if steps is not None:
            steps[:] = 0
            steps[:, 0] = self.ends[stage]
        if not n_left:
            return outputs, winner
        left = np.flatnonzero(stage < 0)
        if self.by_pairs:
            winner[left] = self._ask_pairs(X, left, engines, rule, outputs, steps)
            left = left[winner[left] < 0]
        if len(left):
            outputs[left] = self._rest(engines).outputs(X[left])
            winner[left] = leading(outputs[left], self.n_classes)[0]
            if steps is not None:
                steps[left, 0] += self.n_rest
        return outputs, winner

    def _ask_pairs(
        self, X: Any, left: Ints, engines: Any, rule: Rule, outputs: Floats, steps: Any
    ) -> Ints:
        rows, guesses = X[left], outputs[left]
        known = np.abs(guesses * self.scale[-1]) > self.sure + self.margin
        walkers = self._walkers(engines)

        def ask(pair: int, which: Ints) -> Floats:
            if steps is None:
                return walkers[pair].outputs(rows[which])
            found, taken = walkers[pair].run(rows[which])
            steps[left[which], pair] += taken
            return found

        winner = settle(guesses, known, self.n_classes, ask, rule, self.scale[-1])
        outputs[left] = guesses
        return winner

    def _walkers(self, engines: list[Any]) -> list[Any]:
        """The engines as they answer single pairs."""
        if self.walkers is None:
            further = self.margin + FURTHER
            self.walkers = [engine.under(engine.window, further, False) for engine in engines]
        return self.walkers

    def _rest(self, engines: list[Any]) -> SharedMachines:
        if self.rest is None:  # not stored: the machines are
            self.rest = SharedMachines([engine.machine for engine in engines])
        return self.rest

    def overhead(self, engines: list[Any]) -> float:
        """What a calibration row costs beside its steps, in kernel values.

        A weight for each vector and pair takes a multiplication, as a column of a vector does;
        a component that rows are projected on takes as many as a kernel value.
        """
        passed = self.leads > self.needed + self.margin
        left = np.logical_and.accumulate(~passed, axis=1)
        asked = self.ends @ np.append(1.0, left[:, :-1].mean(axis=0))
        found = asked * self.scale.shape[1] / self.landmarks.columns
        if self.landmarks.projects:
            found += self.landmarks.into.shape[1]
        if self.by_pairs:
            pairs = (self.asks <= self.sure + self.margin).sum(axis=1) @ left[:, -1] / len(left)
            found += pairs * np.mean([walker.overhead for walker in self._walkers(engines)])
        return float(found)

    def __getstate__(self) -> dict[str, Any]:
        made = dict.fromkeys(("rest", "walkers", "tables"))  # from what is stored
        return vars(self) | made | {"landmarks": vars(self.landmarks)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        landmarks = Landmarks.__new__(Landmarks)
        landmarks.__dict__.update(state["landmarks"])
        self.__dict__.update(state, landmarks=landmarks)

    def check(self) -> None:
        """Refuse arrays that do not fit together (ValueError)."""
        s, n, p = np.shape(self.weights)
        self.landmarks.check()
        shaped("right", self.landmarks.right, None, n)
        for name, array, shape in (
            ("ends", self.ends, (s,)), ("bias", self.bias, (s, p)), ("scale", self.scale, (s, p)),
            ("needed", self.needed, (s,)),
        ):  # fmt: skip
            shaped(name, array, *shape)
        rising = np.diff(self.ends, prepend=0) > 0
        if not s or not rising.all() or self.ends[-1] > n:
            raise ValueError("ends does not rise from stage to stage.")
        if p != self.n_classes * (self.n_classes - 1) // 2:
            raise ValueError("n_classes does not fit the pairs of classes.")


def leading(outputs: NDArray[Any], n_classes: int) -> tuple[Ints, Floats]:
    """Return the class ahead in all its pairs, -1 where none is, and its smallest output."""
    winner, lead = np.empty(len(outputs), dtype=np.intp), np.empty(len(outputs))
    lead_rows(outputs, n_classes, winner, lead)
    return winner, lead


def _signed(outputs: Floats, n_classes: int) -> Floats:
    """What each class (second axis) has against each other (third), inf against itself."""
    first, second = np.triu_indices(n_classes, 1)
    found = np.full((len(outputs), n_classes, n_classes), np.inf)
    found[:, first, second], found[:, second, first] = outputs, -outputs
    return found


def wrong_leads(z: Floats, truth: Ints, n_classes: int) -> Floats:
    """The leads of those who should not have any; 0 for the other rows."""
    winner, lead = leading(z, n_classes)
    return np.where((winner >= 0) & (winner != truth), lead, 0.0)


def wrong_pairs(z: Floats, truth: Ints, n_classes: int) -> Floats:
    """By how much the true class is beaten, at most, in each row; 0 where it is not."""
    own = -_signed(z, n_classes)[np.arange(len(z)), truth]
    return np.maximum(own.max(axis=1), 0.0)


def _not_spared(wrong: Floats) -> float:
    """The largest number but for one row in so many."""
    return float(np.sort(wrong)[-1 - len(wrong) // SPARED])


def _union(machines: list[KernelMachine], form: Any, most: int) -> Floats:
    """Reduced vectors of all pairs, as many of each."""
    size = max([2**k for k in range(5) if 2**k <= MOST and 2**k * len(machines) <= most] or [1])
    found = []
    for machine in machines:
        plain = KernelMachine(machine.vectors, machine.beta, machine.bias, form)
        path = grow(plain, space_of(form, machine.vectors), [size], "incremental")
        found.append(path.stages[-1].vectors[:size])
    return np.concatenate(found)


def telling(values: Floats, outputs: Floats) -> Ints:
    """Order columns of values so that the first few tell most of all columns of outputs.

    Each next one is that which lowers the squared error of the outputs, in their own scatters, by
    most when they are regressed on it and those before. Those that tell nothing new are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from kmviz.methods.nsv.classes import telling
    >>> values = np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 2.0], [0.0, -2.0, -4.0], [5.0, 0.0, 0.0]])
    >>> telling(values, values[:, 1:2])
    array([1, 0])
    """
    A, Y = values - values.mean(axis=0), outputs - outputs.mean(axis=0)
    gram, side = A.T @ A, A.T @ (Y / np.maximum(Y.std(axis=0), 1e-300))
    whole = np.diag(gram).copy()
    found: list[int] = []
    while True:
        own = np.diag(gram)
        fresh = own > NEW * np.maximum(whole, 1e-300)
        if not fresh.any():
            return np.array(found, dtype=np.intp)
        gain = np.einsum("ij,ij->i", side, side) / np.where(fresh, own, np.inf)
        best = int(np.argmax(np.where(fresh, gain, -1.0)))
        share = gram[best] / own[best]
        side, gram = side - np.outer(share, side[best]), gram - np.outer(share, gram[best])
        whole[best] = np.inf  # it is taken
        found.append(best)


def _solved(gram: Floats, side: Floats) -> Floats:
    size = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    inner = gram / np.outer(size, size)
    inner[1:, 1:] += RIDGE * np.eye(len(gram) - 1)
    return np.linalg.solve(inner, side / size[:, None]) / size[:, None]
