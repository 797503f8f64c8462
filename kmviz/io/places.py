"""Where the app and its stored tables are: in a checkout, or inside an installed package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def app_folder() -> Path:
    """Return the folder that holds `app.py`, `pages/`, `.streamlit/` and `benchmarks/papers/`.

    An installed package carries them in `kmviz/app`; in a checkout they stand beside the package.
    """
    for folder in (_PACKAGE / "app", _PACKAGE.parent):
        if (folder / "app.py").is_file() and (folder / "pages").is_dir():
            return folder
    raise FileNotFoundError(
        f"No app.py with its pages/ in {_PACKAGE / 'app'} or {_PACKAGE.parent}: install kmviz "
        "again."
    )


def tables_folder() -> Path:
    """Return the folder of the papers' stored tables."""
    return app_folder() / "benchmarks" / "papers"
