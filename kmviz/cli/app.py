"""`kmviz app`: the app in a browser, started from anywhere."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from importlib.util import find_spec

from kmviz.cli.console import BadInput, Console
from kmviz.io.places import app_folder


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.description = (
        "Start the app and print its address; Ctrl-C ends it. It listens on this "
        "machine only, unless --host says otherwise: whoever reaches it can use it."
    )
    parser.add_argument("--port", type=int, default=8501, help="default: 8501")
    parser.add_argument("--host", default="localhost", help="where to listen; 0.0.0.0: everywhere")
    parser.add_argument("--model", metavar="FILE", help="a stored classifier to show on all pages")
    parser.add_argument("--data", metavar="FILE", help="the table of rows to look at it with")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> int:
    """Start Streamlit on the app and wait until it ends."""
    missing = [name for name in ("streamlit", "plotly", "segno") if find_spec(name) is None]
    if missing:
        raise BadInput(f"The app needs {', '.join(missing)}: pip install {' '.join(missing)}")
    if not 1 <= options.port <= 65_535:
        raise BadInput(f"--port takes a number from 1 to 65535; got {options.port}.")
    from kmviz.views import yours

    try:
        model = yours.environment(options.model, options.data)
    except (ValueError, OSError) as error:
        raise BadInput(str(error)) from error
    command = [
        sys.executable, "-m", "kmviz.ui.runtime.serve", str(app_folder() / "app.py"),
        "--server.port", str(options.port), "--server.address", options.host,
    ]  # fmt: skip
    with subprocess.Popen(command, env=os.environ | model) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:  # the way to end it
            return 0
        finally:
            process.terminate()
