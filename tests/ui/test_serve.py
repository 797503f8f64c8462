"""What the server does beside its pages."""

import pytest

from kmviz.ui.runtime import serve


class EnoughError(Exception):
    pass


def test_free_memory_is_given_back_again_and_again(monkeypatch):
    done = []
    monkeypatch.setattr(serve.time, "sleep", lambda seconds: done.append(seconds))

    def trim(kept):
        done.append(kept)
        if len(done) == 4:
            raise EnoughError

    with pytest.raises(EnoughError):
        serve._give_back(trim)
    assert done == [serve.GIVE_BACK, 0, serve.GIVE_BACK, 0]
