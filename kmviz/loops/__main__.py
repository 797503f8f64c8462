"""`python -m kmviz.loops` compiles every loop, so that no query waits for a compiler."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from kmviz.loops import modules, warm

if __name__ == "__main__":
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:  # a process a core
        for name in pool.map(warm, modules()):
            print("compiled the loops of", name, flush=True)
