"""A class at once: sessions that move server-side controls, over Streamlit's own websocket.

Each visitor opens a page, then changes one control after the other by its address, as the Back
button does, with a pause in between. An answer is the time from the request until the page is
drawn; what a page adds to that (more sizes, other settings compared) is there when its script has
ended for good, and only then a visitor moves on. Controls that answer live ask no server, and add
nothing here. Of what a class asks for only the pages' opening views are computed before.

The server's memory is taken before the first visitor, at its highest, after the last has left, and
after a second, shorter class of the same visitors: what caches keep is there after the first, so
that growth by the second is what is never given back. A leak is an address that the server writes
for one visitor with a choice of another's. Times are wall time, so that they want a quiet machine.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pandas as pd
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from kmviz.ui.runtime.jobs import FOLLOWS
from tests.browser.harness import serve_process

PAGES = (
    "", "Nearest_Support_Vectors", "Anytime_Bounds", "Reduced_Set", "Local_Models",
    "Support_Vector_Tree",
)  # fmt: skip
DATA = ("banana", "checkerboard")
#: What a visitor moves, and where to.
MOVES = {"C": ("1.0", "3.0", "10.0", "30.0"), "gamma": ("scale", "0.5", "1.0", "2.0"),
         "query": ("0", "1", "2", "3", "5", "8")}  # fmt: skip
#: Seconds after the first visitor at which the class comes: opening views are computed by then.
OPENED = 45.0
#: No answer is waited for longer.
PATIENCE = 120.0
#: What is drawn of work under way, and how a script ends that is run again with what it made.
BARS, RUN_AGAIN = ("progress", "empty"), 2


@dataclass
class Visitor:
    """One session.

    Parameters
    ----------
    address : of the server
    seed : what it does, and when

    Attributes
    ----------
    seconds, whole : lists
        Of each answer: until the page was drawn, and until nothing was left to add to it.
    """

    address: str
    seed: int
    seconds: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)

    async def stay(self, until: float, pause: float, moves: int = 10**9) -> None:
        """Open a page and move controls until a time, or so many."""
        chance = random.Random(self.seed)
        page, choice = PAGES[self.seed % len(PAGES)], {"data": DATA[self.seed % len(DATA)]}
        url = self.address.replace("http", "ws") + "/_stcore/stream"
        try:
            async with websockets.connect(
                url, max_size=None, ping_interval=None, origin=self.address
            ) as socket:
                await self._ask(socket, page, choice)
                for _ in range(moves):
                    await asyncio.sleep(pause * chance.uniform(0.5, 1.5))
                    if time.monotonic() > until:
                        return
                    name = chance.choice(list(MOVES))
                    choice[name] = chance.choice(MOVES[name])
                    drawn, whole = await self._ask(socket, page, choice)
                    self.seconds.append(drawn)
                    self.whole.append(whole)
        except (TimeoutError, OSError, websockets.WebSocketException) as error:
            self.errors.append(f"{page} {choice}: {type(error).__name__} {error}")

    async def _ask(self, socket: Any, page: str, choice: dict[str, str]) -> tuple[float, float]:
        """Send one request, read until its script has ended, and return both times."""
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.query_string = "&".join(f"{k}={v}" for k, v in choice.items())
        message.rerun_script.is_history_navigation = True
        await socket.send(message.SerializeToString())
        start, drawn, latest = time.monotonic(), 0.0, 0.0
        async with asyncio.timeout(PATIENCE):
            while True:
                heard = ForwardMsg.FromString(await socket.recv())
                kind, spent = heard.WhichOneof("type"), time.monotonic() - start
                if kind == "delta" and heard.delta.new_element.WhichOneof("type") not in BARS:
                    latest = spent
                if kind == "delta" and heard.delta.new_element.progress.text.startswith(FOLLOWS):
                    drawn = drawn or latest  # what is left comes later, or with the next move
                if kind == "page_info_changed":
                    self._note_others(heard.page_info_changed.query_string, choice)
                if kind == "delta" and heard.delta.new_element.HasField("exception"):
                    said = heard.delta.new_element.exception
                    self.errors.append(f"{page} {choice}: {said.type} {said.message}")
                if kind == "script_finished" and heard.script_finished != RUN_AGAIN:
                    return drawn or spent, spent

    def _note_others(self, written: str, choice: dict[str, str]) -> None:
        """Note what the server writes into the address that this visitor did not choose."""
        for name, values in parse_qs(written).items():
            if name in choice and not is_same(values[-1], choice[name]):
                self.leaks.append(f"{name}={values[-1]} for {choice}")


def is_same(written: str, chosen: str) -> bool:
    """Whether two texts are the same choice: the same word, or the same number."""
    try:
        return float(written) == float(chosen)
    except ValueError:
        return written == chosen


async def class_of(
    address: str, n: int, seconds: float, pause: float = 3.0, moves: int = 10**9
) -> list[Visitor]:
    """Let n visitors stay for so many seconds."""
    visitors = [Visitor(address, seed) for seed in range(n)]
    until = time.monotonic() + seconds
    await asyncio.gather(*(visitor.stay(until, pause, moves) for visitor in visitors))
    return visitors


def resident(pid: int) -> float:
    """Return the megabytes that a process holds in memory."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds that a process has used."""
    used = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")


def tables(quick: bool) -> dict[str, pd.DataFrame]:
    """Return the tables of this benchmark: each class at a server of its own."""
    return {"load": pd.DataFrame([measured(n, 30.0 if quick else 180.0) for n in (10, 30)])}


def measured(n: int, seconds: float) -> dict[str, Any]:
    """Return the figures of a class of n."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serve_process(Path(folder) / "log.txt") as (address, process),
    ):
        asyncio.run(class_of(address, 1, seconds=5.0, moves=1))  # loops are loaded
        time.sleep(OPENED)
        before, highest = resident(process.pid), 0.0
        cpu_before = cpu_seconds(process.pid)

        async def watched() -> list[Visitor]:
            nonlocal highest
            visit = asyncio.create_task(class_of(address, n, seconds))
            while not visit.done():
                highest = max(highest, resident(process.pid))
                await asyncio.sleep(0.5)
            return await visit

        visitors = asyncio.run(watched())
        time.sleep(5.0)
        after, cpu = resident(process.pid), cpu_seconds(process.pid) - cpu_before
        visitors += asyncio.run(class_of(address, n, seconds / 3))
        time.sleep(5.0)
        again = resident(process.pid)
    spent = [s for visitor in visitors[:n] for s in visitor.seconds]
    whole = [s for visitor in visitors[:n] for s in visitor.whole]
    if len(spent) < 2:
        raise RuntimeError(f"{n} visitors had {len(spent)} answers in {seconds:.0f} s.")
    return {
        "sessions": n, "seconds": seconds, "answers": len(spent),
        "median_s": statistics.median(spent), "p95_s": statistics.quantiles(spent, n=20)[-1],
        "worst_s": max(spent), "whole_median_s": statistics.median(whole),
        "whole_p95_s": statistics.quantiles(whole, n=20)[-1], "cpu_s_per_answer": cpu / len(spent),
        "errors": sum(len(v.errors) for v in visitors),
        "leaks": sum(len(v.leaks) for v in visitors),
        "first_error": next((e for v in visitors for e in v.errors), ""),
        "memory_before_MB": before, "memory_highest_MB": highest, "memory_after_MB": after,
        "memory_again_MB": again,
    }  # fmt: skip
