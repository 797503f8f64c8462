"""From any data set to two classes."""

from dataclasses import replace

import numpy as np
import pytest

from kmviz import datasets
from kmviz.datasets import DataError
from kmviz.views import prepare


@pytest.fixture
def three():
    """Three classes, one of them with a hyphen in its name; features of two scales."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 2)) * [1.0, 500.0] + y[:, None]
    base = datasets.load("two_moons", n=20)
    return replace(
        base, X_train=X, y_train=y, X_test=X, y_test=y, class_names=("a", "b-c", "d"), name="three"
    )


@pytest.mark.parametrize(
    ("pair", "kept"),
    [
        ("a-d", ("a", "d")),
        ("d-a", ("a", "d")),
        ("b-c-d", ("b-c", "d")),
        ("", ("a", "b-c")),
        ("a-z", ("a", "b-c")),
        ("---", ("a", "b-c")),
    ],
)
def test_a_pair_is_found_by_name_or_falls_back(three, pair, kept):
    two, text = prepare.two_classes(three, pair), prepare.pair_text(three, pair)
    assert two.class_names == kept
    assert text == "-".join(kept)
    assert set(two.y_train) == {-1, 1}
    assert len(two.y_train) == len(two.X_train) == 80


def test_the_second_class_of_the_pair_is_plus_one(three):
    two = prepare.two_classes(three, "a-d")
    assert np.array_equal(two.X_train[two.y_train > 0], three.X_train[three.y_train == 2])


def test_uneven_features_are_standardised_by_training_rows(three):
    made = prepare.prepare(three, "a-d", None)
    assert made.scaler is not None
    np.testing.assert_allclose(made.data.X_train.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(made.data.X_train.std(axis=0), 1)
    assert any("standardised" in note for note in made.notes)


def test_first_rows_of_one_class_only_are_not_a_problem(three):
    made = prepare.prepare(three, "a-d", 20)  # sorted by class: the first 20 are all "a"
    assert set(made.data.y_train) == {-1, 1}


def test_images_come_as_numbers_from_0_to_1():
    made = prepare.prepare(datasets.load("digits"), "3-8", None)
    assert made.data.X_train.max() == 1.0
    assert made.data.class_names == ("3", "8")
    assert made.scaler is None


def test_large_sets_are_cut_and_that_is_said():
    made = prepare.prepare(prepare.load("twonorm", None, 0, 6_000), "", None)
    assert (len(made.data.y_train), len(made.data.y_test)) == (5_000, 2_000)
    assert len(made.notes) == 2


def test_options_a_set_does_not_take_are_left_out():
    data = prepare.load("sonar", noise=0.3, seed=1, n=50)
    assert data.name == "sonar"


def test_names_stand_as_they_are_in_a_text(three):
    odd = replace(three, class_names=("$10", "$20", "*more*"))
    assert prepare.prepare(odd, "$10-*more*", None).notes[0].startswith(r"\$10 against \*more\* of")
    assert prepare.literal("a_b <i> :red[x]") == r"a\_b \<i\> \:red\[x\]"


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150])
def test_rows_whose_squares_cannot_be_held_are_refused_in_words(size):
    data = datasets.load("two_moons", n=40, n_test=20)
    far = replace(data, X_train=data.X_train * size, X_test=data.X_test * size)
    with pytest.raises(DataError, match="in another unit"):
        prepare.prepare(far, "", None)
