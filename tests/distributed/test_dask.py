"""FaLK-SVM trained by a real Dask cluster: two worker processes on this machine."""

import os
import pickle
import signal
from concurrent.futures import CancelledError
from importlib import import_module

import dask
import dask.array as da
import dask.dataframe as dd
import joblib
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster, WorkerPlugin
from numba.core.dispatcher import Dispatcher
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons

from kmviz import FaLKClassifier, PartitionedFaLK
from kmviz.methods.falk import cluster, selection, survey
from kmviz.methods.falk.cells import Scratch
from kmviz.methods.falk.cluster import NeighborSearch, block_size, local_threads
from kmviz.methods.falk.partition import Partition
from kmviz.methods.falk.sources import source_of
from kmviz.methods.falk.training import BLOCK
from kmviz.methods.progress import listening

PARTS = ("starts", "index", "weight", "bias", "gammas")
MANY = {"n_neighbors": 80, "n_cover": 6, "C": 10.0, "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    return make_moons(4000, noise=0.3, random_state=0)


@pytest.fixture(scope="module")
def local(moons):
    """Trained by threads; also leaves every loop compiled on disk, where workers look."""
    return FaLKClassifier(**MANY, n_jobs=2).fit(*moons)


@pytest.fixture(scope="module")
def client(local):
    """A killed worker is started again by its nanny, however long that takes on a busy machine;
    the cluster's own rule would close the nanny after 15 s, and start nobody in its place."""
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address=None, worker_dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        yield client


def assert_same_bits(ours, theirs):
    np.testing.assert_array_equal(ours.centers_, theirs.centers_)
    np.testing.assert_array_equal(ours.center_of_, theirs.center_of_)
    for part in PARTS:
        mine, other = getattr(ours.models_, part), getattr(theirs.models_, part)
        assert mine.dtype == other.dtype, part
        assert mine.tobytes() == other.tobytes(), part


def compilations(names=("falk_train", "falk_smo")):
    """How many loops a process compiled itself instead of finding them on disk."""
    modules = [import_module(f"kmviz.loops.{name}") for name in names]
    loops = [loop for module in modules for loop in vars(module).values()]
    return sum(
        sum(loop.stats.cache_misses.values()) for loop in loops if isinstance(loop, Dispatcher)
    )


def test_same_model_to_the_last_bit(client, moons, local, monkeypatch):
    sent, scatter = [], Client.scatter

    def recorded(self, data, **options):
        sent.append(([part.nbytes for part in data], options["broadcast"]))
        return scatter(self, data, **options)

    def refused(self):
        raise AssertionError("a compiled loop was pickled")

    monkeypatch.setattr(Client, "scatter", recorded)
    monkeypatch.setattr(Dispatcher, "_reduce_states", refused)
    with joblib.parallel_config("dask"):
        ours = FaLKClassifier(**MANY).fit(*moons)
    assert len(ours.models_) > 8 * BLOCK
    assert_same_bits(ours, local)
    assert sent == [([local.embedded_.nbytes, local.labels_.nbytes], True)], "sent once"
    assert client.run(compilations) == dict.fromkeys(client.run(os.getpid), 0)


@pytest.mark.parametrize("options", [{"gamma": "local"}, {"kernel": "poly"}])
def test_same_bits_with_more_classes_other_kernels_and_float32(client, options):
    X, y = make_blobs(600, centers=3, cluster_std=3.0, random_state=0)
    X = X.astype(np.float32)
    options = {"n_neighbors": 40, "random_state": 1, **options}
    with joblib.parallel_config("dask"):
        ours = FaLKClassifier(**options).fit(X, y)
        outputs = ours.decision_function(X)
    theirs = FaLKClassifier(**options).fit(X, y)
    assert_same_bits(ours, theirs)
    assert outputs.tobytes() == theirs.decision_function(X).tobytes()


def test_blocks_hold_64_models_or_more_and_search_stays_here(client):
    assert block_size(10**6, 2, BLOCK, 1e-5) == BLOCK, "threads need no large blocks"
    assert local_threads(3) == 3
    with joblib.parallel_config("dask"):
        sizes = [block_size(n, None, BLOCK, 1e-4) for n in (1, 500, 5_000)]
        assert block_size(10**6, None, BLOCK, 1e-2) == BLOCK
        assert local_threads(3) == len(os.sched_getaffinity(0))
    assert sizes == [64, 250, 1000]


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_the_cover_is_the_same_when_workers_search_for_it(client, moons, monkeypatch, kernel):
    searched, away = [], NeighborSearch._away

    def counted(self, queries):
        searched.append(len(queries))
        return away(self, queries)

    monkeypatch.setattr(NeighborSearch, "_away", counted)
    X, y = moons[0][:1000], moons[1][:1000]
    here = FaLKClassifier(60, kernel=kernel, random_state=0).fit(X, y)
    assert not searched
    monkeypatch.setattr(cluster, "MESSAGES", -1.0)  # as if messages took no time
    with joblib.parallel_config("dask"):
        there = FaLKClassifier(60, kernel=kernel, random_state=0).fit(X, y)
    assert sum(searched) >= len(there.centers_)
    assert_same_bits(there, here)


def test_a_search_goes_where_it_is_sooner_done():
    search = NeighborSearch(None, k=10, n_threads=2)
    search.n_workers, search.seconds = 8, 1e-3
    assert search._saved(1000) == pytest.approx(0.75)
    search.n_workers = 0
    assert search._saved(1000) == 0.0


class Killer:
    """Kills a worker, once, while it holds unfinished models of a training that has begun."""

    def __init__(self, client):
        self.client, self.killed = client, None
        self.pids = client.run(os.getpid)

    def __call__(self, share, text):
        if share <= 0.5 or self.killed is not None:  # the second half is training
            return
        for worker, pid in self.pids.items():
            os.kill(pid, signal.SIGSTOP)  # it cannot finish while we look
            if self.client.processing([worker])[worker]:
                os.kill(pid, signal.SIGKILL)
                self.killed = pid
                return
            os.kill(pid, signal.SIGCONT)


def test_a_worker_killed_in_mid_training_is_survived(client, moons, local, monkeypatch):
    monkeypatch.setattr(cluster, "TASK", 0.0)  # many small tasks
    killer = Killer(client)
    with joblib.parallel_config("dask"), listening(killer):
        ours = FaLKClassifier(**MANY).fit(*moons)
    assert killer.killed is not None
    assert killer.killed not in client.run(os.getpid).values()
    assert_same_bits(ours, local)


@pytest.mark.parametrize("losses", [1, cluster.TRIES])
def test_calls_whose_data_was_lost_are_sent_again(monkeypatch, losses):
    begun = []

    class Losing(joblib.Parallel):
        """Loses what was sent after three results, as often as said."""

        def __call__(self, calls):
            begun.append(len(calls))
            yield from super().__call__(calls[:3])
            if len(begun) <= losses:
                raise CancelledError("already forgotten")
            yield from super().__call__(calls[3:])

    monkeypatch.setattr(cluster, "Parallel", Losing)
    found = cluster.results([joblib.delayed(abs)(-n) for n in range(20)], (), n_jobs=1)
    if losses < cluster.TRIES:
        assert list(found) == list(range(20))
        assert begun == [20, 17]
    else:
        with pytest.raises(CancelledError):
            list(found)


def test_a_search_whose_index_was_lost_goes_on_here(monkeypatch):
    def lost(calls):
        raise CancelledError("already forgotten")

    class Index:
        def query(self, queries, k, n_threads):
            return np.tile(np.arange(k), (len(queries), 1))

    monkeypatch.setattr(cluster, "Parallel", lambda **options: lost)
    search = NeighborSearch(Index(), k=3, n_threads=1)
    search.n_workers, search.seconds = 8, 1.0
    np.testing.assert_array_equal(search(np.zeros((5, 2))), np.tile([0, 1, 2], (5, 1)))
    assert search.n_workers == 0, "it asks the workers no more"


MODEL = FaLKClassifier(n_neighbors=40, C=10.0, random_state=0)
MEMORY = 400_000


class Deadly(WorkerPlugin):
    """In every worker, those that come later too: the first call of a function kills one."""

    def __init__(self, place, name, only, grave):
        self.place, self.function, self.only, self.grave = place, name, only, grave

    def setup(self, worker):
        module = import_module(f"kmviz.methods.falk.{self.place}")
        plain = getattr(module, self.function)

        def killing(*given, **options):
            if self.only is None or self.only in given:
                try:
                    self.grave.open("x").close()
                except FileExistsError:
                    return plain(*given, **options)
                os.kill(os.getpid(), signal.SIGKILL)
            return plain(*given, **options)

        setattr(module, self.function, killing)


@pytest.fixture
def doomed(client, tmp_path):
    """Return a function that dooms the worker which is first to do a piece of work."""
    grave = tmp_path / "killed"

    def doom(place, name, only=None):
        client.wait_for_workers(2, timeout=120)  # whoever was killed before
        client.register_plugin(Deadly(place, name, only, grave), name=str(grave))

    yield doom
    client.unregister_worker_plugin(str(grave))
    assert grave.exists(), "nobody was killed"


@pytest.fixture(scope="module")
def here(moons, tmp_path_factory):
    """Cells that were trained in this process."""
    path = tmp_path_factory.mktemp("cells") / "here.falk"
    return PartitionedFaLK(MODEL, path=path, memory=MEMORY).fit(
        moons[0].astype(np.float32), moons[1]
    )


@pytest.fixture
def blocks(moons):
    """The same rows in ten blocks of Dask."""
    X, y = moons[0].astype(np.float32), moons[1]
    return da.from_array(X, chunks=(400, 1)), da.from_array(y, chunks=500)


def assert_same_cells(ours, theirs):
    n_cells = len(theirs.boxes_)
    assert len(ours.boxes_) == n_cells >= 3
    for cell in range(n_cells):
        mine, other = (clf.archive_.read_cell(cell, n_cells) for clf in (ours, theirs))
        assert mine.rows.tobytes() == other.rows.tobytes()
        assert mine.owner_model.tobytes() == other.owner_model.tobytes()
        for part in PARTS:
            assert getattr(mine.models, part).tobytes() == getattr(other.models, part).tobytes()


@pytest.mark.parametrize("work", ["cover", "train"])
def test_cells_are_made_where_the_workers_are_though_one_dies(moons, here, tmp_path, doomed, work):
    """The same cells to the last bit."""
    doomed("layout", "work_on", work)
    away = PartitionedFaLK(MODEL, path=tmp_path / "away.falk", memory=MEMORY)
    with joblib.parallel_config("dask"):
        away.fit(moons[0].astype(np.float32), moons[1])
    assert_same_cells(away, here)


def test_parameters_are_chosen_on_the_workers_though_one_dies(moons, doomed, monkeypatch):
    monkeypatch.setattr(selection, "HELD_OUT", (200, 200))
    X, y = moons[0][:1000], moons[1][:1000]
    model = FaLKClassifier(20, tune=True, random_state=0)
    here = clone(model).fit(X, y)
    doomed("selection", "neighborhood_errors")
    with joblib.parallel_config("dask"):
        there = clone(model).fit(X, y)
    assert_same_bits(there, here)
    assert there.selection_["error"].tolist() == here.selection_["error"].tolist()


def test_blocks_are_scattered_where_they_are_though_a_worker_dies(blocks, here, tmp_path, doomed):
    doomed("survey", "scattered")
    away = PartitionedFaLK(MODEL, path=tmp_path / "away.falk", memory=MEMORY).fit(*blocks)
    assert_same_cells(away, here)


def test_rows_stay_where_they_are(client, moons, tmp_path, monkeypatch):
    monkeypatch.setattr(survey, "SAMPLE", 200)
    X = np.tile(moons[0], 10)  # as many bytes as tell
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(20)])
    frame["side"] = np.where(moons[1] == 1, "upper", "lower")
    collection = dd.from_pandas(frame, npartitions=8)
    handled, each = [], type(source_of(collection, "side")).each

    def recorded(self, work, arguments):
        found = each(self, work, arguments)
        handled.append((work.__name__, len(pickle.dumps((arguments, found)))))
        return found

    monkeypatch.setattr("kmviz.methods.falk.sources.DaskSource.each", recorded)
    away = PartitionedFaLK(MODEL, path=tmp_path / "away.falk", memory=MEMORY)
    away.fit(collection, "side")
    assert [name for name, _ in handled] == ["surveyed", "scattered"]
    assert max(size for _, size in handled) < 0.25 * X.astype(np.float32).nbytes
    n_cells = len(away.boxes_)
    largest = max(len(away.archive_.read_cell(cell, n_cells).rows) for cell in range(n_cells))
    assert largest < 0.75 * len(X), "no worker has all rows"
    answers = away.predict(collection.drop(columns="side"))
    assert answers.compute().tolist() == away.predict(X).tolist()
    assert np.mean(answers.compute() == frame["side"]) > 0.9


def test_answers_are_computed_where_the_blocks_are_though_a_worker_dies(blocks, here, doomed):
    doomed("partitioned", "answered")
    X, rows = blocks[0], blocks[0].compute()
    np.testing.assert_array_equal(here.predict(X).compute(), here.predict(rows))
    np.testing.assert_array_equal(here.decision_function(X).compute(), here.decision_function(rows))


def test_a_fit_of_a_collection_is_one_in_cells(blocks, here):
    X, rows = blocks[0], blocks[0].compute()
    clf = clone(MODEL).fit(*blocks)
    np.testing.assert_array_equal(clf.predict(X).compute(), clf.predict(rows))
    assert clf.cells_.n_rows_ == len(rows)
    assert np.mean(clf.predict(rows) == here.predict(rows)) >= 0.995


def test_collections_that_do_not_fit_together_are_refused(blocks):
    with pytest.raises(ValueError, match="arrays with two and one dimensions"):
        PartitionedFaLK(MODEL).fit(blocks[0], np.zeros(4000))
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0]}), npartitions=1)
    with pytest.raises(ValueError, match="names the column of the classes"):
        PartitionedFaLK(MODEL).fit(frame, "b")


def test_what_is_sent_of_a_partition_is_small(moons, tmp_path):
    X, y = moons[0].astype(np.float32), moons[1]
    model = FaLKClassifier(n_neighbors=40, random_state=0)
    made = Partition(model, source_of(X, y), Scratch(tmp_path), 400_000)
    assert len(pickle.dumps(made)) < 20_000 < X.nbytes
