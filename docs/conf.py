"""The documentation site: `make docs` builds it into site/, offline, and runs every example."""

from __future__ import annotations

import plotly.io as pio
from plotly.io._base_renderers import HtmlRenderer

import kmviz

project = "kmviz"
author = "kmviz contributors"
copyright = author
version = release = kmviz.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery/README.txt"]
html_theme = "furo"
html_title = "kmviz"
html_static_path: list[str] = []
autosummary_generate = True
numpydoc_show_class_members = False
myst_enable_extensions = ["dollarmath", "deflist"]
suppress_warnings = ["config.cache"]

# Pictures of the gallery stand in the page itself: no request leaves the reader's machine.
pio.renderers["docs"] = HtmlRenderer(connected=False, include_plotlyjs="directory")
pio.renderers.default = "docs"
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"\.py$",
    "image_scrapers": (),
    "capture_repr": ("_repr_html_", "__repr__"),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
}
