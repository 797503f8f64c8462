"""`kmviz` and `python -m kmviz`: the command line (see `kmviz.cli`)."""

import sys

from kmviz import __version__


def main() -> int:
    """Run one command; without what reads tables, only the loops can be compiled."""
    if sys.argv[1:] == ["--version"]:  # at once: no command is needed for it
        print(f"kmviz {__version__}")
        return 0
    try:
        from kmviz.cli.main import main as run
    except ModuleNotFoundError as error:
        if error.name not in ("pandas", "pyarrow"):
            raise
        if sys.argv[1:] == ["compile"]:
            from kmviz.loops.__main__ import main as compile_loops

            return compile_loops()
        print(f"kmviz: {error.name} is missing: pip install pandas pyarrow", file=sys.stderr)
        return 2
    return run()


if __name__ == "__main__":
    sys.exit(main())
