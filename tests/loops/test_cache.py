"""Compiled loops are kept where nobody else can write, and a bad cache is no obstacle."""

import errno
import os
import stat

import numpy as np
import pytest

from kmviz.loops import cache
from kmviz.loops.compile import compiled
from kmviz.loops.embed import unit_rows

ROWS = np.array([[3.0, 4.0], [0.0, 2.0]])
UNITS = [[0.6, 0.8], [0.0, 1.0]]
posix = pytest.mark.skipif(os.name == "nt", reason="modes and owners are POSIX's")


def answer(loop):
    units = np.empty_like(ROWS)
    loop(ROWS, 1.0, 0.0, units)
    return units


def fresh(monkeypatch, *folders):
    """The loop as a new process would have it, with these folders to keep it in."""
    monkeypatch.setattr(cache, "folders", lambda: folders)
    return compiled(unit_rows.py_func)


def counts(loop):
    return sum(loop.stats.cache_hits.values()), sum(loop.stats.cache_misses.values())


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A folder in which the loop has been kept."""
    answer(fresh(monkeypatch, tmp_path))
    return tmp_path


def test_a_loop_is_compiled_once(kept, monkeypatch):
    loop = fresh(monkeypatch, kept)
    np.testing.assert_allclose(answer(loop), UNITS, rtol=1e-12)
    assert counts(loop) == (1, 0)


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_what_is_cut_short_is_compiled_and_kept_again(kept, monkeypatch, suffix, share):
    for file in kept.glob(f"*{suffix}"):
        content = file.read_bytes()
        file.write_bytes(content[: int(share * len(content))])
    loop = fresh(monkeypatch, kept)
    np.testing.assert_allclose(answer(loop), UNITS, rtol=1e-12)
    assert counts(loop) == (0, 1)
    again = fresh(monkeypatch, kept)
    answer(again)
    assert counts(again) == (1, 0)


def test_a_full_disk_is_no_obstacle(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile._save_data", full)
    loop = fresh(monkeypatch, tmp_path)
    np.testing.assert_allclose(answer(loop), UNITS, rtol=1e-12)
    again = fresh(monkeypatch, tmp_path)  # the index names what was not written
    answer(again)
    assert counts(again) == (0, 1)


def test_the_first_folder_that_takes_it_keeps_it_and_all_are_read(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.touch()
    beside = tmp_path / "beside"
    answer(fresh(monkeypatch, file / "below", beside))
    assert list(beside.glob("*.nbc"))
    loop = fresh(monkeypatch, tmp_path / "empty", beside)
    answer(loop)
    assert counts(loop) == (1, 0)
    assert not (tmp_path / "empty").exists()


def test_without_a_folder_loops_are_compiled_in_memory(monkeypatch):
    np.testing.assert_allclose(answer(fresh(monkeypatch)), UNITS, rtol=1e-12)


def test_a_change_in_a_loop_that_is_built_in_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "PACKAGE", tmp_path)
    (tmp_path / "outer.py").write_text("from kmviz.loops.inner import (\n    add,\n)\n")
    (tmp_path / "inner.py").write_text("one")
    before = cache.source_stamp.__wrapped__("outer")
    (tmp_path / "inner.py").write_text("two")
    cache.source_stamp.cache_clear()
    assert cache.source_stamp.__wrapped__("outer") != before
    cache.source_stamp.cache_clear()


@posix
@pytest.mark.parametrize(
    ("above", "mode", "is_private"),
    [
        (0o700, 0o700, True),
        (0o755, 0o755, True),
        (0o700, 0o777, False),
        (0o700, 0o1777, False),  # others may add files to it
        (0o777, 0o700, False),  # others may put another folder in its place
        (0o1777, 0o700, True),  # as /tmp: they may not
        (0o777, None, False),
        (0o1777, None, False),  # not there yet: others could be first
        (0o700, None, True),
    ],
)
def test_only_folders_closed_to_others_are_private(tmp_path, above, mode, is_private):
    outer = tmp_path / "outer"
    outer.mkdir()
    if mode is not None:
        (outer / "inner").mkdir()
        (outer / "inner").chmod(mode)
    outer.chmod(above)
    assert cache.is_private(outer / "inner") is is_private


@posix
def test_a_folder_of_another_user_is_not_private(tmp_path, monkeypatch):
    owner = os.geteuid()
    if owner == 0:
        os.chown(tmp_path, 12345, -1)
    else:
        monkeypatch.setattr(cache.os, "geteuid", lambda: owner + 1)
    assert not cache.is_private(tmp_path)


@posix
def test_a_group_may_write_only_if_it_is_the_users_own(tmp_path, monkeypatch):
    tmp_path.chmod(0o770)
    monkeypatch.setattr(cache, "_is_group_of_one", lambda gid: gid == tmp_path.stat().st_gid)
    assert cache.is_private(tmp_path)
    monkeypatch.setattr(cache, "_is_group_of_one", lambda gid: False)
    assert not cache.is_private(tmp_path)


def test_a_home_that_is_not_found_keeps_nothing(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert not cache.is_private(cache.Path("~") / ".cache")


@posix
def test_an_open_package_leaves_the_users_own_cache_and_an_open_home_nothing(tmp_path, monkeypatch):
    package, home = tmp_path / "package", tmp_path / "home"
    package.mkdir()
    home.mkdir()
    package.chmod(0o777)
    monkeypatch.setattr(cache, "PACKAGE", package)
    monkeypatch.setattr(cache.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    monkeypatch.setenv("HOME", str(home))
    (own,) = cache.folders.__wrapped__()
    assert own.is_relative_to(home)
    cache._Locator(unit_rows.py_func, own).ensure_cache_path()
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    home.chmod(0o777)
    assert cache.folders.__wrapped__() == ()
