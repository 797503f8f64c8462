"""`kmviz` and `python -m kmviz`: the command line (see `kmviz.cli`)."""

import sys


def main() -> int:
    """Run one command; without what reads tables, only the loops can be compiled."""
    try:
        from kmviz.cli.main import main as run
    except ModuleNotFoundError as error:
        if error.name not in ("pandas", "pyarrow"):
            raise
        if sys.argv[1:] == ["compile"]:
            from kmviz.loops import compile_all, modules

            for name in compile_all(modules()):
                print("compiled the loops of", name, flush=True)
            return 0
        print(f'kmviz: {error.name} is missing: pip install "kmviz[tables]"', file=sys.stderr)
        return 2
    return run()


if __name__ == "__main__":
    sys.exit(main())
