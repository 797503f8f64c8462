"""`python -m kmviz`: the command line (see `kmviz.cli`)."""

import sys

from kmviz.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
