"""A class of ten at one server."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from benchmarks.load import class_of


def test_ten_sessions_at_once_are_all_answered(address):
    class_at_once = class_of(address, 10, seconds=60.0, pause=0.2, moves=1)
    with ThreadPoolExecutor(1) as apart:  # from the browser's own event loop
        visitors = apart.submit(asyncio.run, class_at_once).result()
    assert [error for visitor in visitors for error in visitor.errors] == []
    assert all(len(visitor.seconds) == 1 for visitor in visitors)
