"""`python -m kmviz.loops` compiles every loop, so that no query waits for a compiler."""

from kmviz.loops import compile_all, modules


def main() -> int:
    """Compile them all, and say so of each module."""
    for name in compile_all(modules()):
        print("compiled the loops of", name, flush=True)
    return 0


if __name__ == "__main__":
    main()
