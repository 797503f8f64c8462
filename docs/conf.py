"""The documentation site: `make docs` builds it into site/, offline, and runs every example."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import plotly
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from plotly.graph_objects import Figure

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
html_static_path = [str(Path(plotly.__file__).with_name("package_data") / "plotly.min.js")]
html_math_renderer = "mathml"
autosummary_generate = True
numpydoc_show_class_members = False
myst_enable_extensions = ["dollarmath", "deflist"]
# scikit-learn's inherited docstrings point at labels of its own site.
suppress_warnings = ["config.cache", "ref.ref"]

# No request leaves the reader's machine: pictures use the plotly.js that stands beside the pages,
# formulas are MathML, which browsers draw by themselves.
Figure._repr_html_ = lambda self: self.to_html(
    full_html=False, include_plotlyjs="../_static/plotly.min.js", include_mathjax=False
)

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"\.py$",
    "image_scrapers": (),
    "reset_modules": (),
    "capture_repr": ("_repr_html_", "__repr__"),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
}


def setup(app: Any) -> None:
    """Write formulas as MathML."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(tex2mathml(node.astext(), as_block=True))
    raise nodes.SkipNode
