"""Parts of a long table: kept where a folder is named, under the sources that made them."""

import pandas as pd
import pytest

from kmviz.papers import parts


@pytest.fixture
def made():
    calls = []

    def make():
        calls.append(len(calls))
        return pd.DataFrame(
            {"data": ["a", "b"], "ours": [0.1 + 0.2, None], "note": ["", "cut off"]}
        )

    return make, calls


def test_a_part_is_made_once(made, tmp_path, monkeypatch):
    make, calls = made
    monkeypatch.setenv("KMVIZ_PARTS", str(tmp_path / "new"))
    first, second = parts.part("x", make), parts.part("x", make)
    assert len(calls) == 1
    pd.testing.assert_frame_equal(first, second)
    assert second.to_csv() == make().to_csv(), "to the last digit"


def test_other_sources_make_it_again(made, tmp_path, monkeypatch):
    make, calls = made
    monkeypatch.setenv("KMVIZ_PARTS", str(tmp_path))
    parts.part("x", make)
    monkeypatch.setattr(parts, "_sources", lambda: "changed")
    parts.part("x", make)
    assert len(calls) == 2


def test_what_fails_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("KMVIZ_PARTS", str(tmp_path))
    with pytest.raises(ZeroDivisionError):
        parts.part("x", lambda: 1 / 0)
    assert not list(tmp_path.iterdir())


def test_without_a_folder_nothing_is_kept(made, monkeypatch):
    make, calls = made
    monkeypatch.delenv("KMVIZ_PARTS", raising=False)
    parts.part("x", make)
    parts.part("x", make)
    assert len(calls) == 2
