"""A small file that would become much memory, or much work, is refused before it is built."""

import io
import json
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_moons
from sklearn.svm import SVC

import kmviz
from kmviz.io import storage

X, y = make_moons(60, noise=0.2, random_state=0)


def node(loader, module, name, **others):
    return {"__class__": name, "__module__": module, "__loader__": loader, **others}


def listed(*content, **others):
    return node("ListNode", "builtins", "list", content=list(content), **others)


def array(file, **others):
    return node("NdArrayNode", "numpy", "ndarray", type="numpy", file=file, **others)


def archive(schema, **entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("schema.json", json.dumps({**schema, "protocol": 2}))
        for name, content in entries.items():
            zipped.writestr(name, content)
    return file.getvalue()


def npy(found):
    file = io.BytesIO()
    np.save(file, found)
    return file.getvalue()


def refused(content, words):
    with pytest.raises(storage.StorageError, match=words):
        kmviz.load(content)


@pytest.fixture
def megabyte(monkeypatch):
    monkeypatch.setattr(storage, "MAX_BYTES", 2**20)


def test_many_nodes_that_name_one_array(megabyte):
    zeros = npy(np.zeros(25_000))  # 200 kB in memory, 300 bytes in the file
    assert len(kmviz.load(archive(listed(*[array("a")] * 3), a=zeros))) == 3
    for name in ({}, {"__id__": 0}):
        refused(archive(listed(*[array("a", **name)] * 50), a=zeros), "unfolds to")


def test_an_array_that_several_share_is_counted_once(megabyte):
    shared = array("a", __id__=7)
    again = kmviz.load(archive(listed(*[shared] * 50), a=npy(np.zeros(25_000))))
    assert again[0] is again[49]


def test_a_name_that_stands_for_two_arrays(megabyte):
    files = {name: npy(np.zeros(10_000)) for name in "abcdefghijklmnop"}
    refused(archive(listed(*[array(name, __id__=7) for name in files]), **files), "unfolds to")


def test_an_archive_inside_the_archive(megabyte):
    inner = io.BytesIO()
    sp.save_npz(inner, sp.csr_matrix(np.ones((300, 300))))
    sparse = node("SparseMatrixNode", "scipy.sparse", "csr_matrix", type="scipy", file="m")
    assert len(inner.getvalue()) < 10_000
    refused(archive(sparse, m=inner.getvalue()), "unfolds to")


def test_objects_that_refer_to_one_another():
    tree = listed(__id__=1)
    for level in range(2, 60):  # 2**58 paths lead to the first
        tree = listed(tree, {"__id__": level - 1}, __id__=level)
    refused(archive(tree), "under one name")


def test_a_schema_of_many_objects(megabyte):
    refused(archive(listed(*[listed()] * 1_000)), "unfolds to")


def test_a_sparse_matrix_that_points_outside():
    svc = SVC().fit(sp.csr_matrix(X), y)
    assert (kmviz.load(storage.dumps(svc)).predict(X) == svc.predict(X)).all()
    svc.support_vectors_.indices[0] = 10**6
    refused(storage.dumps(svc), "does not describe an estimator")
    svc = SVC().fit(sp.csr_matrix(X), y)
    svc.support_vectors_._shape = (10**9, 10**9)
    refused(storage.dumps(svc), "does not describe an estimator")
