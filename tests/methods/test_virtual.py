"""Virtual support vectors: contract, shifts, symmetries, what is kept."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.estimator_checks import parametrize_with_checks

from kmviz import VirtualSVClassifier
from kmviz.kernels import Polynomial
from kmviz.machines import KernelFisherClassifier, KernelMachine
from kmviz.methods.transforms import (
    Rotate,
    Shift,
    Straighten,
    Thicken,
    shifts,
)

X, Y = make_moons(120, noise=0.2, random_state=0)


def mirror(rows):
    """Change the sign of the first of two columns."""
    return rows * [-1, 1]


PIXELS, DIGITS = load_digits(return_X_y=True)


@parametrize_with_checks([VirtualSVClassifier()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_without_transforms_it_is_its_estimator():
    clf, svc = VirtualSVClassifier(SVC(C=3.0)).fit(X, Y), SVC(C=3.0).fit(X, Y)
    np.testing.assert_allclose(clf.decision_function(X), svc.decision_function(X), atol=1e-9)
    assert clf.machine_ is clf.original_


def test_digits_get_better_and_their_vectors_more():
    two = (DIGITS == 3) | (DIGITS == 8)
    images, y = PIXELS[two], DIGITS[two]
    pipe = make_pipeline(Normalizer(), SVC(kernel=Polynomial(5, 1.0, 0.0), C=10.0))
    plain = VirtualSVClassifier(pipe).fit(images[:120], y[:120])
    virtual = VirtualSVClassifier(pipe, image_shape=(8, 8)).fit(images[:120], y[:120])
    assert virtual.machine_.n_vectors > virtual.original_.n_vectors
    assert virtual.n_virtual_ == 5 * virtual.original_.n_vectors
    assert virtual.score(images[120:], y[120:]) >= plain.score(images[120:], y[120:])
    only = VirtualSVClassifier(pipe, image_shape=(8, 8), keep_original=False).fit(images, y)
    assert only.n_virtual_ == 4 * only.original_.n_vectors


@pytest.mark.parametrize(("down", "right"), [(1, 0), (-1, 0), (0, 1), (0, -2)])
def test_shifting_keeps_ink_inside_the_frame(down, right):
    image = np.zeros((1, 6, 7))
    image[0, 2:4, 2:5] = [[1, 2, 3], [4, 5, 6]]
    moved = Shift((6, 7), down, right)(image.reshape(1, -1)).reshape(6, 7)
    assert moved.sum() == image.sum()
    np.testing.assert_array_equal(moved, np.roll(image[0], (down, right), axis=(0, 1)))


def test_ink_that_leaves_does_not_come_back_on_the_other_side():
    image = np.zeros((4, 4))
    image[:, 3] = 1.0
    moved = Shift((4, 4), 0, 1)(image.reshape(1, -1)).reshape(4, 4)
    assert moved.sum() == 0
    up = Shift((4, 4), -1, 0)(image.reshape(1, -1)).reshape(4, 4)
    np.testing.assert_array_equal(up[:, 3], [1, 1, 1, 0])
    for by in (-5, -4, 4, 5):
        assert Shift((4, 4), by, 0)(image.reshape(1, -1)).sum() == 0


def slant(image):
    """Covariance of the ink's coordinates over the variance of its height."""
    row, column = np.indices(image.shape)
    ink = image / image.sum()
    up, along = row - (ink * row).sum(), column - (ink * column).sum()
    return (ink * up * along).sum() / (ink * up**2).sum()


def test_straightening_takes_the_slant_out_and_keeps_the_ink():
    leaning = np.zeros((9, 13))
    for row in range(9):
        leaning[row, 2 + row : 5 + row] = [1.0, 3.0, 1.0]
    assert slant(leaning) == pytest.approx(1.0)
    upright = Straighten((9, 13))(leaning.reshape(1, -1)).reshape(9, 13)
    np.testing.assert_allclose(upright, np.tile(leaning[4], (9, 1)), atol=1e-12)
    images = PIXELS[:200].reshape(-1, 8, 8)
    straight = Straighten((8, 8))(PIXELS[:200]).reshape(-1, 8, 8)
    before, after = ([abs(slant(image)) for image in some] for some in (images, straight))
    assert np.mean(after) < np.mean(before) / 4
    kept = straight.sum(axis=(1, 2)) / images.sum(axis=(1, 2))
    assert kept.min() > 0.7  # some leaves the small frame
    assert kept.max() < 1.0 + 1e-12


def test_what_has_no_slant_stays():
    blank, line = np.zeros((5, 5)), np.zeros((5, 5))
    line[2] = [0, 1, 2, 3, 0]
    for image in (blank, line, np.eye(5) + np.eye(5)[::-1]):
        np.testing.assert_array_equal(Straighten((5, 5))(image.reshape(1, -1))[0], image.ravel())


def test_straightening_keeps_tables_and_floats():
    pixels = (10 * PIXELS[:1500]).astype(np.uint8)
    rows = Straighten((8, 8))(pixels)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows[1200:1210], Straighten((8, 8))(pixels[1200:1210]))
    table = Straighten((8, 8))(pd.DataFrame(PIXELS[:3]))
    assert list(table.columns) == list(range(64))


def test_straightening_goes_before_the_machine():
    pipe = make_pipeline(FunctionTransformer(Straighten((8, 8))), Normalizer(), SVC())
    clf = VirtualSVClassifier(pipe, image_shape=(8, 8)).fit(PIXELS[:300], DIGITS[:300] % 2)
    assert clf.score(PIXELS[300:], DIGITS[300:] % 2) > 0.85


def test_a_symmetric_toy_becomes_symmetric():
    rng = np.random.default_rng(0)
    rows = np.abs(rng.normal(size=(60, 2))) * [1.0, 1.0]  # one quadrant only
    y = rows.sum(axis=1) > 1.5
    queries = rng.normal(size=(200, 2)) * 1.5
    mirrored = queries * [-1, 1]
    plain = VirtualSVClassifier(SVC(C=10.0)).fit(rows, y)
    virtual = VirtualSVClassifier(SVC(C=10.0), transforms=[mirror]).fit(rows, y)
    assert np.mean(plain.predict(queries) != plain.predict(mirrored)) > 0.1
    np.testing.assert_allclose(
        virtual.decision_function(queries), virtual.decision_function(mirrored), atol=0.02
    )


def test_columns_that_change_places():
    rng = np.random.default_rng(0)
    rows = np.sort(rng.normal(size=(80, 2)), axis=1)
    y = rows.sum(axis=1) > 0.3
    clf = VirtualSVClassifier(SVC(C=10.0), transforms=lambda rows: rows[:, ::-1]).fit(rows, y)
    outputs = clf.decision_function(rows)
    np.testing.assert_allclose(outputs, clf.decision_function(rows[:, ::-1].copy()), atol=0.02)


def test_a_frozen_machine_stays_and_a_copy_is_trained():
    svc = SVC(kernel="poly", degree=3).fit(PIXELS[:300] / 16.0, DIGITS[:300] % 2)
    before = svc.dual_coef_.copy()
    clf = VirtualSVClassifier(FrozenEstimator(svc), image_shape=(8, 8)).fit(PIXELS[:5] / 16.0)
    np.testing.assert_array_equal(svc.dual_coef_, before)
    assert clf.estimator_ is not svc
    assert clf.original_.n_vectors == svc.n_support_.sum()
    assert clf.n_virtual_ == 5 * clf.original_.n_vectors
    assert clf.score(PIXELS[300:] / 16.0, DIGITS[300:] % 2) > 0.85


def test_ten_classes():
    clf = VirtualSVClassifier(SVC(gamma=0.02), image_shape=(8, 8))
    clf.fit(PIXELS[:300] / 4.0, DIGITS[:300])
    assert len(clf.machines_) == len(clf.original_) == 45
    assert clf.score(PIXELS[300:] / 4.0, DIGITS[300:]) > 0.9


def test_tables_stay_tables_on_their_way():
    table = pd.DataFrame(X, columns=["u", "v"])
    pipe = make_pipeline(StandardScaler(), SVC())
    clf = VirtualSVClassifier(pipe, transforms=[lambda t: t * [1, -1]]).fit(table, Y)
    assert clf.predict(table).shape == (120,)
    plain = VirtualSVClassifier(pipe, transforms=[lambda t: np.asarray(t) * [1, -1]]).fit(table, Y)
    np.testing.assert_allclose(plain.decision_function(table), clf.decision_function(table))


@pytest.mark.parametrize("frozen", [False, True])
def test_a_transform_may_write_to_the_rows_it_is_given(frozen):
    def flip(rows):
        rows *= [1, -1]
        return rows

    estimator = FrozenEstimator(SVC(C=10.0).fit(X, Y)) if frozen else SVC(C=10.0)
    given = X.copy()
    ours = VirtualSVClassifier(estimator, transforms=[flip, flip]).fit(given, Y)
    wanted = VirtualSVClassifier(estimator, transforms=[lambda rows: rows * [1, -1]] * 2).fit(X, Y)
    np.testing.assert_array_equal(given, X)
    np.testing.assert_allclose(ours.decision_function(X), wanted.decision_function(X))


@pytest.mark.parametrize("estimator", [KernelFisherClassifier(), LinearSVC()])
def test_machines_without_support_vectors_of_their_own(estimator):
    clf = VirtualSVClassifier(estimator, transforms=[np.array]).fit(X, Y)
    assert isinstance(clf.machine_, KernelMachine)
    assert clf.score(X, Y) > 0.8


def test_a_linear_machine_of_three_classes_but_not_a_frozen_one():
    rows, y = load_iris(return_X_y=True)
    clf = VirtualSVClassifier(LinearSVC(), transforms=[np.array]).fit(rows, y)
    assert clf.score(rows, y) > 0.85
    frozen = FrozenEstimator(LinearSVC().fit(X, Y))
    with pytest.raises(TypeError, match="frozen LinearSVC"):
        VirtualSVClassifier(frozen, transforms=[np.fliplr]).fit(X)
    untouched = VirtualSVClassifier(frozen).fit(X)  # nothing to transform: as it is
    np.testing.assert_allclose(untouched.decision_function(X), frozen.decision_function(X))
    assert untouched.n_virtual_ == 0


def test_four_ways_to_shift():
    moves = {(s.down, s.right) for s in shifts((8, 8), 2)}
    assert moves == {(-2, 0), (2, 0), (0, -2), (0, 2)}


@pytest.mark.parametrize(
    ("params", "word"),
    [
        ({"image_shape": (8, 7)}, "56 pixels, but X has 64 columns"),
        ({"image_shape": (64,)}, "image_shape"),
        ({"image_shape": (8.0, 8.0)}, "image_shape"),
        ({"image_shape": (8, 8), "shift": -1}, "shift"),
        ({"image_shape": (8, 8), "shift": 8}, "shift=8"),
        ({"transforms": ["up"]}, "transforms"),
        ({"transforms": [lambda X: X[:, :3]]}, "transforms must keep the shape"),
        ({"keep_original": 2}, "keep_original"),
    ],
)
def test_bad_parameters_are_named(params, word):
    with pytest.raises((InvalidParameterError, ValueError), match=word):
        VirtualSVClassifier(**params).fit(PIXELS[:60], DIGITS[:60] > 4)


def test_a_frozen_pipeline_shifts_images_and_not_what_its_first_steps_made_of_them():
    two = (DIGITS == 3) | (DIGITS == 8)
    images, y = PIXELS[two][:150], DIGITS[two][:150]
    pipe = make_pipeline(StandardScaler(), SVC(C=10.0, gamma=0.01))
    wanted = VirtualSVClassifier(pipe, image_shape=(8, 8)).fit(images, y)
    frozen = FrozenEstimator(
        make_pipeline(StandardScaler(), SVC(C=10.0, gamma=0.01)).fit(images, y)
    )
    found = VirtualSVClassifier(frozen, image_shape=(8, 8)).fit(images)
    np.testing.assert_allclose(
        found.decision_function(PIXELS), wanted.decision_function(PIXELS), atol=1e-9
    )
    with pytest.raises(ValueError, match="the X that the pipeline was trained on"):
        VirtualSVClassifier(frozen, image_shape=(8, 8)).fit(images[:50])


def test_images_turn_and_thicken():
    bar = np.zeros((1, 5, 5))
    bar[0, 1:4, 2] = 1.0
    turned = Rotate((5, 5), degrees=90)(bar.reshape(1, 25)).reshape(5, 5)
    np.testing.assert_allclose(turned, bar[0].T, atol=1e-6)
    lean = Rotate((5, 5), degrees=10)(bar.reshape(1, 25)).reshape(5, 5)
    assert lean[1, 1] > 0  # to the left at the top
    assert lean[3, 3] > 0
    thick = Thicken((5, 5), amount=1.0)(bar.reshape(1, 25)).reshape(5, 5)
    assert thick.sum() == 11
    thin = Thicken((5, 5), amount=-1.0)(thick.reshape(1, 25)).reshape(5, 5)
    np.testing.assert_array_equal(thin, bar[0])
    assert Thicken((5, 5))(np.full((1, 25), 3, dtype=np.uint8)).dtype.kind == "f"
