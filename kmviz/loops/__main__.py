"""`python -m kmviz.loops` compiles every loop, so that no query waits for a compiler."""

from kmviz.loops import compile_all, modules

if __name__ == "__main__":
    for name in compile_all(modules()):
        print("compiled the loops of", name, flush=True)
