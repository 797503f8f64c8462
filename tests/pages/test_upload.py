"""A visitor's own table: shown letter by letter, and gone with the session."""

import gc
import weakref

import numpy as np
import pytest
from sklearn.svm import SVC
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from kmviz.datasets import encode_table
from kmviz.io.storage import dumps
from kmviz.ui.shell import parts, url
from kmviz.ui.upload import Upload
from tests.pages.helpers import ROOT, run

PICTURE = "![x](https://example.org/x.png)"


@pytest.fixture
def table(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 2))
    lines = [f"{a:.4f},{b:.4f},{'yes' if a > b else 'no'}" for a, b in rows]
    path = tmp_path / f"{PICTURE.replace('/', '')}.csv"
    path.write_text("\n".join([f"{PICTURE},width,kind", *lines]) + "\n")
    return path


def opened(table, page="app.py"):
    data, encoder = encode_table(table)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.session_state[url.UPLOAD] = Upload(data, encoder, table.name, "digest")
    if page != "app.py":
        app.switch_page(page)
    app.query_params["data"] = "upload"
    return run(app), weakref.ref(data)


@pytest.mark.parametrize("page", ["app.py", "pages/6_Compare.py", "pages/5_Support_Vector_Tree.py"])
def test_nothing_made_of_an_upload_outlives_its_session(page, table, monkeypatch):
    monkeypatch.setattr(parts, "_download", lambda *_: None)  # files to fetch have their own store
    dumps(SVC())  # skops imports Dask where it is there, which keeps the thread that imports it
    app, data = opened(table, page)
    rows = weakref.ref(data().X_train)
    assert rows() is not None
    del app
    clear_session_resource_cache("test session id")  # as Streamlit does where a socket closes
    gc.collect()
    assert data() is None
    assert rows() is None


def test_names_from_outside_are_no_markdown(table):
    app, _ = opened(table)
    written = [*app.markdown, *app.caption, *app.success, *app.subheader, *app.info]
    assert any("example.org" in text.value for text in written), "the name is shown"
    for text in written:
        assert PICTURE.replace("/", "") not in text.value
        assert PICTURE not in text.value
