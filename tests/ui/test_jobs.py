"""Long work: bounded, done once for many, stopped when nobody waits."""

import threading
import time
from functools import partial

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from kmviz.methods import progress
from kmviz.ui import pool as pools, work
from kmviz.ui.pool import Pool, is_inside
from kmviz.ui.sizes import size_of
from kmviz.ui.work import Kept


def asked(pool, n, key, make, show=None):
    """The answers of n who ask at once."""
    answers: list = []

    def ask():
        try:
            answers.append(pool.wait(key, make, show))
        except Exception as error:
            answers.append(error)

    threads = [threading.Thread(target=ask) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    return answers


def test_the_same_work_is_done_once_for_all_who_ask():
    made = []

    def make():
        made.append(is_inside())
        time.sleep(0.1)
        return "done"

    assert asked(Pool(2), 8, "key", make) == ["done"] * 8
    assert made == [True]
    assert not is_inside()


def test_no_more_work_at_a_time_than_there_are_workers():
    pool, now, most = Pool(2), [0], [0]
    lock = threading.Lock()

    def make():
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.02)
        with lock:
            now[0] -= 1

    threads = [threading.Thread(target=pool.wait, args=(k, make)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert most == [2]


def test_what_takes_long_does_not_keep_others_waiting(monkeypatch):
    monkeypatch.setattr(pools, "LONG", 0.05)
    pool, done = Pool(1), threading.Event()
    slow = threading.Thread(target=pool.wait, args=("slow", lambda: done.wait(10)))
    slow.start()
    assert pool.wait("quick", lambda: "answer") == "answer"
    assert not done.is_set()
    done.set()
    slow.join(10)
    assert not slow.is_alive()


def started(pool, name, make, is_last):
    """A thread that asks for one thing, once the pool has it, or had it."""
    ask = (
        (lambda: pool.collect({name: make}, None, 9)) if is_last else lambda: pool.wait(name, make)
    )
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    while name not in pool._jobs and thread.is_alive():
        time.sleep(0.001)
    return thread


def test_what_is_asked_for_last_waits_for_the_others_and_keeps_none_of_them():
    pool, go, order = Pool(1), threading.Event(), []

    def make(name):
        order.append(name)
        return go.wait(10) if name == "under way" else name

    threads = []
    for name, is_last in {"under way": True, "more": True, "page": False}.items():
        threads.append(started(pool, name, lambda name=name: make(name), is_last))
        while name != "more" and name not in order:  # a page does not wait for what is under way
            time.sleep(0.001)
    assert order == ["under way", "page"]
    go.set()
    for thread in threads:
        thread.join(10)
    assert order == ["under way", "page", "more"]


def test_what_is_asked_for_last_takes_no_more_than_a_free_worker():
    pool, order, go = Pool(1), [], threading.Event()

    def make(name):
        order.append(name)
        return go.wait(10) if name != "page" else name

    threads = [started(pool, name, lambda name=name: make(name), True) for name in ("a", "b", "c")]
    time.sleep(0.05)
    assert order == ["a"]
    assert pool.wait("page", lambda: make("page")) == "page"
    assert order == ["a", "page"]
    go.set()
    for thread in threads:
        thread.join(10)
    assert order == ["a", "page", "b", "c"]


def test_what_is_asked_for_last_rests_while_pages_need_the_workers():
    pool, begun, go, heard = Pool(1), threading.Event(), threading.Event(), []

    def last():
        begun.set()
        while not go.is_set():
            progress.report(0.5)
            heard.append("last")
            time.sleep(0.001)

    def page():
        time.sleep(0.05)  # what was said before this is heard
        heard.clear()
        time.sleep(0.1)
        return list(heard)

    thread = started(pool, "last", last, is_last=True)
    assert begun.wait(10)
    assert pool.wait("page", page) == []
    heard.clear()
    deadline = time.monotonic() + 10
    while not heard and time.monotonic() < deadline:
        time.sleep(0.001)
    assert heard  # it goes on by itself
    go.set()
    thread.join(10)
    assert not thread.is_alive()


def test_who_waits_for_what_rests_does_not_wait_for_ever():
    pool, begun, go = Pool(1), threading.Event(), threading.Event()

    def last():
        begun.set()
        while not go.is_set():
            progress.report(0.5)

    def ask():
        made.append(pool.collect({"last": last}, None, 9, time.monotonic() + 0.3))

    made = []
    visitor = threading.Thread(target=ask, daemon=True)
    visitor.start()
    assert begun.wait(10)
    page = threading.Thread(target=pool.wait, args=("page", lambda: go.wait(10)))
    page.start()
    visitor.join(5)
    assert made == [[]]
    go.set()
    page.join(10)


def test_the_page_that_began_first_is_served_first():
    pool, go, order = Pool(1), threading.Event(), []
    threads = [started(pool, "under way", lambda: go.wait(10), is_last=False)]
    for name, since in {"began late": 2.0, "began early": 1.0}.items():
        asked = (name, partial(order.append, name), None, since)
        threads.append(threading.Thread(target=pool.wait, args=asked))
        threads[-1].start()
        while name not in pool._jobs:
            time.sleep(0.001)
    go.set()
    for thread in threads:
        thread.join(10)
    assert order == ["began early", "began late"]


def crowd(pool, n, busy):
    """Visitors who keep the pool from ever being idle until an event is set."""

    def visit(name):
        while not busy.is_set():
            pool.wait((name, time.monotonic()), lambda: time.sleep(0.02))

    threads = [threading.Thread(target=visit, args=(k,)) for k in range(n)]
    for thread in threads:
        thread.start()
    return threads


def test_who_collects_returns_with_what_there_is_and_the_rest_keeps_its_place(monkeypatch):
    monkeypatch.setattr(pools, "GRACE", 0.0)
    pool, drawn, reported, made = Pool(1), threading.Event(), threading.Event(), []

    def slow():
        while not reported.is_set():
            progress.report(0.5)
            if drawn.is_set():  # nobody waits just now
                reported.set()
        time.sleep(0.1)
        made.append("slow")

    assert pool.collect({"quick": lambda: None, "slow": slow}, None, patience=0.0) == ["quick"]
    drawn.set()
    assert reported.wait(10)
    assert pool.collect({"slow": slow}, None, patience=9.0) == ["slow"]
    assert made == ["slow"]


def test_who_never_has_a_turn_does_not_wait_for_ever():
    pool, gone, made = Pool(1), threading.Event(), []
    visitors = crowd(pool, 3, gone)

    def ask():
        made.append(pool.collect({"rest": lambda: 1}, None, 0.0, time.monotonic() + 0.3))

    asks = threading.Thread(target=ask, daemon=True)
    asks.start()
    asks.join(3.0)
    is_held = asks.is_alive()
    gone.set()
    for thread in visitors:
        thread.join(10)
    assert not is_held
    assert made == [[]]


def test_who_has_a_turn_waits_to_its_end():
    start = time.monotonic()
    made = Pool(1).collect({"rest": lambda: time.sleep(0.2)}, None, 0.0, until=start)
    assert made == ["rest"]


def a_page_with_a_rest():
    import streamlit as st

    from kmviz.ui import work

    work.bars_here()
    shelf = st.session_state.setdefault("shelf", work.Shelf())
    st.write(f"rest: {shelf.later('rest', lambda: 7, 'Rest')}")
    work.catch_up()


def test_a_page_without_a_turn_stays_as_it_is_and_says_so(monkeypatch):
    asked = []

    def collect(wanted, show, patience, until):
        asked.append(until - time.monotonic())
        return [] if len(asked) < 2 else Pool.collect(work.POOL, wanted, show, patience, until)

    monkeypatch.setattr(work.POOL, "collect", collect)
    page = AppTest.from_function(a_page_with_a_rest).run()
    assert [text.value for text in page.markdown] == ["rest: None"]
    assert "follows with your next move" in page.caption[0].value
    page.run()  # the next move
    assert [text.value for text in page.markdown] == ["rest: 7"]
    assert not page.caption
    assert asked == pytest.approx([work.LONGEST] * 2, abs=1.0)


def test_what_fails_later_fails_for_the_page():
    def fail():
        raise ValueError("no machine")

    with pytest.raises(ValueError, match="no machine"):
        Pool(1).collect({"a": lambda: 1, "b": fail}, None, patience=9.0)


def test_long_work_is_bounded_too(monkeypatch):
    monkeypatch.setattr(pools, "LONG", 0.01)
    pool, done, running = Pool(1), threading.Event(), []

    def make():
        running.append(1)
        done.wait(10)

    threads = [threading.Thread(target=pool.wait, args=(k, make)) for k in range(8)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 10
    while len(running) < pools.MOST and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.3)  # in which one more would start
    assert len(running) == pools.MOST
    done.set()
    for thread in threads:
        thread.join(10)
    assert len(running) == 8


def test_what_fails_fails_for_all_and_is_tried_again():
    def fail():
        raise ValueError("no machine")

    pool = Pool(1)
    assert [str(answer) for answer in asked(pool, 3, "key", fail)] == ["no machine"] * 3
    assert pool.wait("key", lambda: 1) == 1


class LeftError(Exception):
    pass


def leave(share, text):
    raise LeftError


def test_work_that_nobody_waits_for_is_stopped(monkeypatch):
    monkeypatch.setattr(pools, "GRACE", 0.05)
    pool, ended = Pool(1), threading.Event()

    def make():
        try:
            while True:
                time.sleep(0.01)
                progress.report(0.5)
        finally:
            ended.set()

    with pytest.raises(LeftError):
        pool.wait("key", make, leave)
    assert ended.wait(5)
    assert pool.wait("key", lambda: "anew") == "anew"


def test_who_comes_back_in_a_moment_finds_the_work_going_on(monkeypatch):
    monkeypatch.setattr(pools, "GRACE", 5.0)
    pool, made, go = Pool(1), [], threading.Event()

    def make():
        made.append(1)
        go.wait(5)
        progress.report(1.0)
        return "done"

    with pytest.raises(LeftError):
        pool.wait("key", make, leave)
    go.set()
    assert pool.wait("key", make) == "done"
    assert made == [1]


def test_who_leaves_takes_nothing_from_the_others(monkeypatch):
    monkeypatch.setattr(pools, "GRACE", 0.0)
    pool, gone = Pool(1), threading.Event()

    def make():
        gone.wait(5)
        time.sleep(0.02)
        progress.report(0.5)
        return "done"

    answers: list = []
    stays = threading.Thread(target=lambda: answers.append(pool.wait("key", make)))
    stays.start()
    while not pool._jobs:
        time.sleep(0.01)
    with pytest.raises(LeftError):
        pool.wait("key", make, leave)
    gone.set()
    stays.join(10)
    assert answers == ["done"]


def test_what_is_kept_is_bounded_by_its_bytes():
    kept = Kept(1_000_000)
    for k in range(20):
        kept.put(k, np.zeros(25_000))  # 200 kB
    assert kept.total <= 1_000_000
    assert [k for k in range(20) if kept.find(k)] == [15, 16, 17, 18, 19]
    kept.put("large", np.zeros(500_000))
    assert kept.find("large") is not None
    assert kept.find(19) is None


def test_what_was_soon_made_for_its_bytes_goes_before_what_took_long():
    kept = Kept(1_000_000)
    kept.put("machine", np.zeros(2_500), seconds=0.1)  # 20 kB
    for n in range(40):
        kept.put(("sums", n), np.zeros(50_000), seconds=0.02)  # 400 kB
    assert kept.find("machine") is not None
    assert kept.find(("sums", 39)) is not None
    assert kept.find(("sums", 0)) is None
    assert kept.total <= 1_000_000


def test_what_took_long_goes_too_once_nobody_asks_for_it_any_more():
    kept = Kept(1_000_000)
    kept.put("old", np.zeros(2_500), seconds=0.1)
    for n in range(400):
        kept.put(("new", n), np.zeros(2_500), seconds=0.1)
    assert kept.find("old") is None
    assert kept.find(("new", 399)) is not None


def test_what_grows_when_it_is_read_is_weighed_again(monkeypatch):
    monkeypatch.setattr(work, "WEIGH_AGAIN", 0.0)
    kept = Kept(1_000_000)
    studies = {k: {} for k in range(10)}
    for k, study in studies.items():
        kept.put(k, study)
        kept.find(k)[0]["sums"] = np.zeros(25_000)  # 200 kB
    assert kept.total <= 1_000_000
    assert [k for k in studies if kept.find(k)] == [5, 6, 7, 8, 9]


def test_what_several_share_takes_its_room_once():
    kept, shared = Kept(1_000_000), np.zeros(50_000)  # 400 kB
    for k in range(4):
        kept.put(k, {"rows": shared, "own": np.zeros(10_000)})  # 80 kB
    assert all(kept.find(k) for k in range(4))
    assert kept.total == pytest.approx(720_000, rel=0.01)
    for k in range(3):
        kept.put(k, None)
    assert kept.total == pytest.approx(480_000, rel=0.01)
    kept.put("large", np.zeros(100_000))
    assert kept.find(3) is None
    assert kept.total == pytest.approx(800_000, rel=0.01)


def test_memory_that_something_else_holds_is_counted():
    assert size_of(np.frombuffer(bytearray(80_000))) >= 80_000


def test_an_array_that_two_share_takes_its_room_once():
    shared = np.zeros(10_000)
    assert size_of([shared, shared, shared[:5]]) < 90_000
    assert size_of(Kept(5)) > 0
