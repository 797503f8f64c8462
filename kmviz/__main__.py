"""`kmviz` and `python -m kmviz`: the command line (see `kmviz.cli`)."""

import sys

from kmviz.cli.main import main as run


def main() -> int:
    """Run one command; most of them need pandas and pyarrow."""
    try:
        return run()
    except ModuleNotFoundError as error:
        if error.name not in ("pandas", "pyarrow"):
            raise
        print(f"kmviz: {error.name} is missing: pip install pandas pyarrow", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
