"""What took long is found again after a restart, whole, and made anew where anything changed."""

import os
import time

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kmviz import NSVClassifier, ReducedSetClassifier, datasets, lessons
from kmviz.ui import menu, store, warm, work
from kmviz.ui.work import Private, Shelf
from tests.pages.helpers import live_arrays, open_page

PAGE = "pages/1_Nearest_Support_Vectors.py"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty store that keeps all it is given."""
    monkeypatch.setenv("KMVIZ_CACHE", str(tmp_path / "pages"))
    monkeypatch.setattr(store, "LONG", 0.0)
    monkeypatch.setattr(store, "BYTES_PER_SECOND", np.inf)
    restart(monkeypatch)
    return tmp_path / "pages"


def restart(monkeypatch):
    """Forget what is in memory, as a new process would."""
    monkeypatch.setattr(work, "_shared", work.Kept(work.SHARED_BYTES))


def never():
    raise AssertionError("made again")


def test_a_new_process_finds_what_was_made(folder, monkeypatch):
    sums, others, key = Shelf("sums"), Shelf("others"), ("banana", 3)
    assert sums.get(key, lambda: 6) == 6
    restart(monkeypatch)
    assert sums.get(key, never) == 6
    assert others.get(key, lambda: 7) == 7
    restart(monkeypatch)
    assert sums.later(key, never, "") == 6


def test_what_it_rests_on_changed_so_it_is_made_again(folder, monkeypatch):
    Shelf("sums").get("key", lambda: 6)
    restart(monkeypatch)
    monkeypatch.setattr(store, "stamp", lambda: "another version")
    assert Shelf("sums").get("key", lambda: 7) == 7


def test_a_visitors_own_and_what_has_no_name_stay_off_the_disk(folder):
    key = ("upload", Private("a1b2"))
    kept = work.Kept(1_000)
    token = work._own.set(kept)
    try:
        Shelf("sums").get(key, lambda: 6)
    finally:
        work._own.reset(token)
    Shelf().get("key", lambda: 6)
    Shelf("sums").get(("key", object()), lambda: 6)  # its name is another in each process
    assert not folder.exists()


def test_of_things_made_of_one_another_the_outermost_is_kept(folder):
    inner, outer = Shelf("inner"), Shelf("outer")
    assert outer.get("key", lambda: inner.get("key", lambda: 6) + 1) == 7
    assert store.load("outer", "key") == (7,)
    assert store.load("inner", "key") is None


def test_quick_things_are_not_kept_nor_large_ones(folder, monkeypatch):
    monkeypatch.setattr(store, "LONG", 0.03)
    assert not store.save("sums", "key", 6, seconds=0.02)
    monkeypatch.setattr(store, "BYTES_PER_SECOND", 1_000)
    assert not store.save("sums", "key", bytes(500), seconds=0.4)
    assert store.save("sums", "key", bytes(500), seconds=0.6)


def test_a_damaged_file_is_made_again(folder, monkeypatch):
    Shelf("sums").get("key", lambda: 6)
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:-3])
    restart(monkeypatch)
    assert Shelf("sums").get("key", lambda: 7) == 7
    assert store.load("sums", "key") == (7,)


def test_the_oldest_goes_where_it_is_too_much(folder, monkeypatch):
    for age, name in ((30, "old"), (20, "read"), (10, "young")):
        store.save(name, "key", bytes(400), 1.0)
        then = time.time() - age
        os.utime(store._path(name, "key"), (then, then))
    store.load("old", "key")  # asked for just now
    monkeypatch.setattr(store, "MOST_BYTES", 1_500)
    store.save("new", "key", bytes(400), 1.0)
    kept = [name for name in ("old", "read", "young", "new") if store.load(name, "key")]
    assert kept == ["old", "young", "new"]


@pytest.mark.skipif(os.name == "nt", reason="folders of a profile are closed to others there")
def test_a_folder_that_others_can_write_to_is_not_read(folder):
    store.save("sums", "key", 6, 1.0)
    folder.chmod(0o777)
    assert store.folder() is None
    assert store.load("sums", "key") is None


def test_every_size_of_a_reduced_set_comes_back(folder):
    data = datasets.load("two_moons", n=80)
    svc = SVC(gamma=2.0).fit(data.X_train, data.y_train)
    clf = ReducedSetClassifier(FrozenEstimator(svc), n_vectors=4, every_size=True)
    study = clf.fit(data.X_train).study(data.X_test[:20])
    store.save("study", "key", study, 1.0)
    back = store.load("study", "key")[0]
    assert list(back.readings["n_vectors"]) == [1, 2, 3, 4]
    for n in back.readings["n_vectors"]:
        np.testing.assert_array_equal(
            back.read(n_vectors=n).outputs, study.read(n_vectors=n).outputs
        )


def test_a_page_from_the_store_is_the_page_made_anew(folder, monkeypatch):
    view = {"data": "two_moons", "n": 80, "filter": "false"}
    made = open_page(PAGE, **view)
    restart(monkeypatch)
    monkeypatch.setattr(NSVClassifier, "fit", lambda *_: never())
    found = open_page(PAGE, **view)
    for name in ("effort", "trajectory", "effort_map"):
        assert flat(live_arrays(found, "w", name)) == flat(live_arrays(made, "w", name)), name


def flat(sent):
    return repr({key: np.asarray(value).tolist() if isinstance(value, np.ndarray) else value
                 for key, value in sent.items()})  # fmt: skip


def test_opening_views_and_lessons_are_prepared():
    prepared = {page.title: list(warm.views(page).values()) for page in menu.PAGES}
    for lesson in map(lessons.load, lessons.names()):
        for part in lesson.parts:
            assert part.view in prepared[part.page]
    assert prepared["Papers"] == [{}]
    assert all({} in views for views in prepared.values())
    assert sum({"data": "mnist", "pair": "3-8"} in views for views in prepared.values()) == 7
