"""FaLK-SVM trained by a real Dask cluster: two worker processes on this machine."""

import os
import signal
from importlib import import_module

import dask
import joblib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster, WorkerPlugin
from numba.core.dispatcher import Dispatcher
from sklearn.datasets import make_blobs, make_moons

from kmviz import FaLKClassifier, PartitionedFaLK
from kmviz.methods.falk import partitioned

ARRAYS = ("starts", "index", "weight", "bias", "gammas")
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
    for name in ARRAYS:
        mine, other = getattr(ours.models_, name), getattr(theirs.models_, name)
        assert mine.dtype == other.dtype, name
        assert mine.tobytes() == other.tobytes(), name


def compilations(names=("falk_train", "falk_smo")):
    """How many loops a process compiled itself instead of finding them on disk."""
    modules = [import_module(f"kmviz.loops.{name}") for name in names]
    loops = [loop for module in modules for loop in vars(module).values()]
    return sum(
        sum(loop.stats.cache_misses.values()) for loop in loops if isinstance(loop, Dispatcher)
    )


def test_same_model_to_the_last_bit(client, moons, local, monkeypatch):
    def refused(self):
        raise AssertionError("a compiled loop was pickled")

    monkeypatch.setattr(Dispatcher, "_reduce_states", refused)
    with joblib.parallel_config("dask"):
        ours = FaLKClassifier(**MANY).fit(*moons)
    assert_same_bits(ours, local)
    assert client.run(compilations) == dict.fromkeys(client.run(os.getpid), 0)


@pytest.mark.parametrize("options", [{"gamma": "local"}, {"kernel": "poly"}, {"tune": True}])
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


class Deadly(WorkerPlugin):
    """In every worker, those that come later too: the first box to be trained kills one."""

    def __init__(self, grave):
        self.grave = grave

    def setup(self, worker):
        train_box = partitioned.train_box

        def killing(*call):
            if self.grave.exists():
                train_box(*call)
            else:
                self.grave.touch()
                os.kill(os.getpid(), signal.SIGKILL)

        partitioned.train_box = killing


def test_boxes_are_trained_by_the_workers_though_one_dies(client, moons, tmp_path):
    X, y = moons
    columns = {"u": X[:, 0], "v": X[:, 1], "side": y}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    model, memory = FaLKClassifier(n_neighbors=40, C=10.0, random_state=0), 200_000
    here = PartitionedFaLK(model, memory=memory).fit(tmp_path / "rows.parquet", "side")
    client.register_plugin(Deadly(tmp_path / "killed"), name="deadly")
    away = PartitionedFaLK(model, path=tmp_path / "away.falk", memory=memory)
    with joblib.parallel_config("dask"):
        away.fit(tmp_path / "rows.parquet", "side")
    client.unregister_worker_plugin("deadly")
    assert (tmp_path / "killed").exists(), "nobody was killed"
    assert (away.n_rows_, away.halo_) == (len(X), here.halo_)
    assert len(away.boxes_) >= 4
    for number in range(len(away.boxes_)):
        assert_same_bits(away.box(number), here.box(number))
