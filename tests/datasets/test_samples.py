"""The shipped values are the stated ones, and splits are what they say."""

import hashlib
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from kmviz import datasets
from kmviz.datasets import digits as digits_module, shipped as shipped_module

# rows, columns, rows of class +1, first digits of the SHA-256 of X (float64) and y (int8)
SHIPPED = {
    "banana": (5300, 2, 2376, "1232f888b94b3bca"),
    "sonar": (208, 60, 97, "d3d2fdb33688a0ab"),
    "haberman": (306, 3, 81, "5c44a5106851b24f"),
    "heart": (270, 13, 120, "11b00c7a7c449169"),
    "thyroid": (215, 5, 65, "e08fd219c20b38e8"),
    "image": (2310, 18, 1320, "da9d298289278100"),
    "german": (1000, 20, 300, "f2f88f90f4f7e833"),
    "diabetis": (768, 8, 268, "7d3c11db784ef955"),
    "breast_cancer": (277, 9, 81, "c7e111aa93fa7e71"),
    "splice": (3175, 60, 1527, "1dcc9f5eb7ba7b14"),
    "liver": (345, 6, 200, "b1bf36fd32967808"),
    "tic_tac_toe": (958, 9, 626, "de3e0347e778f747"),
    "australian": (690, 14, 307, "80548c8c77949a75"),
    "breast": (683, 9, 444, "a646a782f4a4a9f0"),
}
TRAIN_SIZES = {
    "banana": 400,
    "heart": 170,
    "thyroid": 140,
    "image": 1300,
    "german": 700,
    "diabetis": 468,
    "breast_cancer": 200,
    "splice": 1000,
}
FIELDS = (
    "X_train y_train X_test y_test name feature_names class_names image_shape about source licence"
)


def digest(*arrays):
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]


@pytest.mark.parametrize("name", SHIPPED)
def test_values(name):
    data = datasets.load(name, whole=True)
    rows, columns, positive, checksum = SHIPPED[name]
    assert data.X_train.shape == (rows, columns)
    assert (data.y_train == 1).sum() == positive
    assert (data.y_train == -1).sum() == rows - positive
    assert digest(data.X_train, data.y_train.astype(np.int8)) == checksum
    np.testing.assert_array_equal(data.X_train, data.X_test)
    np.testing.assert_array_equal(data.y_train, data.y_test)


@pytest.mark.parametrize("name", SHIPPED)
def test_split(name):
    data, again = datasets.load(name, seed=7), datasets.load(name, seed=7)
    rows, _, positive, _ = SHIPPED[name]
    size = TRAIN_SIZES.get(name, round(rows * 2 / 3))
    assert (len(data.y_train), len(data.y_test)) == (size, rows - size)
    assert abs((data.y_train == 1).sum() - size * positive / rows) < 1, "stratified"
    np.testing.assert_array_equal(data.X_train, again.X_train)
    assert not np.array_equal(data.X_train, datasets.load(name, seed=8).X_train)
    both = np.vstack([data.X_train, data.X_test])
    whole = datasets.load(name, whole=True).X_train
    np.testing.assert_array_equal(np.sort(both, axis=0), np.sort(whole, axis=0))


@pytest.mark.parametrize("name", datasets.names())
def test_every_record_is_complete(name):
    data = datasets.load(name)
    assert [field.name for field in fields(data)] == FIELDS.split()
    assert data.name == name
    assert len(data.feature_names) == data.X_train.shape[1] == data.X_test.shape[1]
    assert len(data.class_names) == len(np.unique(data.y_train))
    assert set(data.y_test) <= set(data.y_train)
    assert np.isfinite(data.X_train).all()
    assert data.about
    assert data.source
    assert data.licence
    if data.image_shape is None:
        assert set(data.y_train) == {-1, 1}
        assert data.scaled() is data
    with pytest.raises(FrozenInstanceError):
        data.name = "other"


def test_about_says_how_values_are_scaled():
    assert "standardised" in datasets.load("banana").about
    assert "scaled to [-1, 1]" in datasets.load("heart").about
    np.testing.assert_allclose(
        datasets.load("banana", whole=True).X_train.std(axis=0), 1, atol=1e-2
    )
    assert abs(datasets.load("heart", whole=True).X_train).max() == 1


def test_banana_takes_any_number_of_rows():
    data = datasets.load("banana", n=1000)
    assert (len(data.y_train), len(data.y_test)) == (1000, 4300)
    with pytest.raises(ValueError, match="choose 2 to 5298"):
        datasets.load("banana", n=6000)
    with pytest.raises(ValueError, match="leave out n"):
        datasets.load("banana", n=10, whole=True)


def test_mnist_is_read_once_and_stays_in_bytes():
    data, again = datasets.load("mnist"), datasets.load("mnist", n=1000)
    assert (data.X_train.shape, data.X_test.shape) == ((60_000, 784), (10_000, 784))
    assert data.X_train.dtype == data.X_test.dtype == np.uint8
    assert np.shares_memory(data.X_train, again.X_train)
    assert not data.X_train.flags.writeable
    labels = data.y_train.astype(np.uint8), data.y_test.astype(np.uint8)
    assert digest(data.X_train, labels[0], data.X_test, labels[1]) == "06b0d1f124c4e5fa"
    assert digits_module._mnist_pixels.cache_info().currsize == 1


def test_mnist_pair():
    data = datasets.load("mnist", pair=(8, 3))
    assert data.X_train.dtype == np.uint8
    assert data.X_train.shape == (6131 + 5851, 784)
    assert set(data.y_train) == {3, 8}
    assert data.class_names == ("3", "8")
    small = datasets.load("mnist", pair=(3, 8), n=100)
    np.testing.assert_array_equal(small.X_train, data.X_train[:100])
    scaled = small.scaled()
    assert scaled.X_train.dtype == np.float32
    np.testing.assert_array_equal(scaled.X_train, small.X_train / np.float32(255))
    assert scaled.scaled() is scaled


def test_digits():
    data = datasets.load("digits", pair=(1, 7))
    assert data.image_shape == (8, 8)
    assert len(data.y_train) + len(data.y_test) == 182 + 179
    assert data.scaled().X_train.max() == 1.0
    assert datasets.load("digits").class_names == tuple("0123456789")


@pytest.mark.parametrize("pair", [(3, 3), (3, 10), (1, 2, 3), (-1, 2)])
@pytest.mark.parametrize("name", ["digits", "mnist"])
def test_bad_pair(name, pair):
    with pytest.raises(ValueError, match="two different digits"):
        datasets.load(name, pair=pair)


@pytest.mark.parametrize("name", ["digits", "mnist"])
def test_bad_number_of_rows(name):
    with pytest.raises(ValueError, match="choose 2 to"):
        datasets.load(name, n=10**6)


@pytest.mark.parametrize(
    "chosen", [{"n": 2.5}, {"seed": -1}, {"seed": "x"}, {"noise": -1.0}, {"noise": np.nan}]
)
def test_numbers_that_are_none_are_named(chosen):
    (option,) = chosen
    with pytest.raises(ValueError, match=f"{option}="):
        datasets.load("two_moons", **chosen)


def test_options_that_do_not_apply_are_named():
    with pytest.raises(ValueError, match=r"'sonar' takes no option 'noise'.*n, seed, whole"):
        datasets.load("sonar", noise=0.1)
    with pytest.raises(ValueError, match="No data set is called 'iris'; choose one of banana"):
        datasets.load("iris")


def test_absent_values_say_where_they_were_looked_for(monkeypatch, tmp_path):
    monkeypatch.setattr(shipped_module, "FOLDERS", (tmp_path / "a", tmp_path / "b"))
    with pytest.raises(FileNotFoundError, match=r"no sonar.npz in .*a or .*b\. Reinstall"):
        datasets.load("sonar")


def test_banana_takes_noise():
    plain = datasets.load("banana", seed=2)
    moved = datasets.load("banana", seed=2, noise=0.1)
    np.testing.assert_array_equal(plain.y_train, moved.y_train)
    spread = (moved.X_train - plain.X_train).std()
    assert spread == pytest.approx(0.1, rel=0.1)
