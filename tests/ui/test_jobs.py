"""Slow results: computed once for many, cancelled when nobody waits, cached."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from kmviz.methods import progress
from kmviz.ui.runtime import jobs
from kmviz.ui.runtime.jobs import Cache, Job

_names = count()


@pytest.fixture
def cache():
    """A cache that no other test has filled."""
    return Cache(f"test {next(_names)}")


@pytest.fixture
def one_worker(monkeypatch):
    """A pool of one thread."""
    monkeypatch.setattr(jobs, "_PAGES", ThreadPoolExecutor(1))


def asked(cache, n, make, key="key"):
    """The answers of n who need one result at once."""
    answers: list = []

    def ask():
        try:
            answers.append(cache.get(key, make, "Computing"))
        except Exception as error:
            answers.append(error)

    threads = [threading.Thread(target=ask) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    return answers


def until(is_true, seconds=5.0):
    """Wait for something to happen."""
    end = time.monotonic() + seconds
    while not is_true() and time.monotonic() < end:
        time.sleep(0.01)
    return is_true()


def test_a_result_is_computed_once_for_all_who_need_it(cache):
    made = []

    def make():
        made.append(jobs.is_inside())
        time.sleep(0.1)
        return "done"

    assert asked(cache, 8, make) == ["done"] * 8
    assert made == [True]
    assert not jobs.is_inside()
    assert cache.get("key", lambda: "again", "Computing") == "done"


def test_no_more_run_at_a_time_than_there_are_workers(cache, monkeypatch):
    monkeypatch.setattr(jobs, "_PAGES", ThreadPoolExecutor(2))
    now, most, lock = [0], [0], threading.Lock()

    def make():
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.02)
        with lock:
            now[0] -= 1

    threads = [threading.Thread(target=cache.get, args=(k, make, "Computing")) for k in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert most == [2]


def test_what_fails_fails_for_all_and_is_tried_again(cache):
    def fail():
        time.sleep(0.1)
        raise ValueError("no SVM")

    assert [str(answer) for answer in asked(cache, 3, fail)] == ["no SVM"] * 3
    assert cache.get("key", lambda: 1, "Computing") == 1


def test_a_failed_result_holds_none_of_its_arrays(cache):
    def fail():
        raise ValueError("no SVM")

    with pytest.raises(ValueError, match="no SVM") as caught:
        cache.get("key", fail, "Computing")
    frames = [entry.name for entry in caught.traceback]
    assert "fail" not in frames, "a traceback would keep what the job had in hand"


def endless(ended):
    """Return a computation that ends where it is cancelled."""

    def make():
        try:
            while True:
                time.sleep(0.01)
                progress.report(0.5, "half way")
        finally:
            ended.set()

    return make


def test_a_job_that_nobody_waits_for_is_cancelled():
    ended = threading.Event()
    job = Job(endless(ended))
    job.grace = 0.05
    with job.held():
        job.queue(jobs._PAGES)
        assert until(lambda: job.text == "half way")
    assert ended.wait(5)
    assert isinstance(job.future.exception(5), progress.Cancelled)


def test_a_visitor_who_comes_back_in_a_moment_finds_the_job_going_on():
    go = threading.Event()

    def make():
        go.wait(5)
        progress.report(1.0)
        return "done"

    job = Job(make)
    with job.held():
        job.queue(jobs._PAGES)
    with job.held():
        go.set()
        assert job.future.result(5) == "done"


def test_a_visitor_who_leaves_takes_nothing_from_the_others():
    job = Job(lambda: [time.sleep(0.02) or progress.report(0.5) for _ in range(5)] and "done")
    job.grace = 0.0
    with job.held():
        job.queue(jobs._PAGES)
        with job.held():
            pass
        assert job.future.result(5) == "done"


def test_who_needs_a_result_that_was_cancelled_for_another_has_it_computed(cache):
    left = cache._job("key", endless(threading.Event()))
    left.grace = 0.0
    left.queue(jobs._PAGES)
    assert until(lambda: left.has_failed)
    assert cache.get("key", lambda: "anew", "Computing") == "anew"


def test_a_job_computes_what_it_rests_on_itself(cache, one_worker):
    inner = Cache(f"{cache.name} inner")
    assert cache.get("key", lambda: inner.get("key", lambda: 6, "Inside") + 1, "Outside") == 7
    assert inner.get("key", lambda: 0, "Inside") == 6, "and others find it"


def test_what_takes_a_moment_is_computed_in_the_page_itself(cache):
    assert cache.get("key", threading.get_ident) == threading.get_ident()


def test_a_result_of_a_visitors_own_leaves_with_the_session():
    app = AppTest.from_function(a_page_of_ones_own).run()
    made = app.session_state["made"]
    app.run()
    assert app.session_state["made"] == made == 1
    clear_session_resource_cache("test session id")  # as Streamlit does where a socket closes
    app.run()
    assert app.session_state["made"] == 2


def a_page_of_ones_own():
    import streamlit as st

    from kmviz.ui.runtime.jobs import Cache, Private

    session = st.session_state
    session.setdefault("made", 0)

    def make():
        session["made"] += 1

    Cache("own").get(("upload", Private("digest")), make)


def a_page_with_a_rest():
    import streamlit as st

    from kmviz.ui.runtime import jobs

    jobs.begin()
    made = jobs.Cache(st.session_state["name"]).later("rest", st.session_state["make"], "Rest")
    st.write(f"rest: {made}")
    jobs.finish()


def page_with(cache, make):
    app = AppTest.from_function(a_page_with_a_rest)
    app.session_state["name"], app.session_state["make"] = cache.name, make
    return app.run()


def test_a_page_is_run_again_with_what_it_left_for_later(cache):
    page = page_with(cache, lambda: 7)
    assert [text.value for text in page.markdown] == ["rest: 7"]


def test_a_page_without_a_turn_stays_as_it_is_and_says_so(cache, monkeypatch):
    monkeypatch.setattr(jobs, "_AFTER", ThreadPoolExecutor(1))
    monkeypatch.setattr(jobs, "LONGEST", 0.1)
    go = threading.Event()
    jobs._AFTER.submit(go.wait, 5)
    page = page_with(cache, lambda: 7)
    assert [text.value for text in page.markdown] == ["rest: None"]
    assert "Change any control to load the rest" in page.caption[0].value
    go.set()
    page.run()  # the next move
    assert [text.value for text in page.markdown] == ["rest: 7"]
    assert not page.caption


def test_what_fails_later_fails_for_the_page(cache):
    def fail():
        raise ValueError("no SVM")

    assert page_with(cache, fail).exception[0].value


def test_what_a_page_needs_at_once_does_not_wait_behind_what_is_for_later(cache, monkeypatch):
    monkeypatch.setattr(jobs, "_AFTER", ThreadPoolExecutor(1))
    go = threading.Event()
    jobs._AFTER.submit(go.wait, 10)
    cache._job("key", lambda: 7).queue(jobs._AFTER)
    assert cache.get("key", lambda: 8, "Computing") == 7
    go.set()


def test_work_in_the_background_begins_when_no_page_does(monkeypatch):
    monkeypatch.setattr(jobs, "QUIET", 0.3)
    monkeypatch.setattr(jobs, "_page_began", [time.monotonic()])
    began = []
    start = time.monotonic()
    rest = threading.Thread(
        target=jobs.in_background, args=(lambda: began.append(time.monotonic() - start),)
    )
    rest.start()
    rest.join(5)
    assert 0.25 < began[0] < 3.0


def test_work_in_the_background_rests_while_a_page_waits(monkeypatch):
    monkeypatch.setattr(jobs, "LONGEST_REST", 0.3)
    monkeypatch.setattr(jobs, "QUIET", 0.0)
    go, spent = threading.Event(), []
    job = Job(lambda: go.wait(5))
    with job.held():
        job.queue(jobs._PAGES)
        assert until(lambda: job in jobs._running)
        start = time.monotonic()
        rest = threading.Thread(target=jobs.in_background, args=(lambda: progress.report(0.5),))
        rest.start()
        rest.join(5)
        spent.append(time.monotonic() - start)
        go.set()
        job.future.result(5)
    assert 0.25 < spent[0] < 3.0, "and not for ever"
