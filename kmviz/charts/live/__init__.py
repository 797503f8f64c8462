"""The canvas renderer: JavaScript and style, as text. It draws numbers that Python computed."""

from pathlib import Path

_HERE = Path(__file__).parent
#: The renderer's files, each one concern, in the order in which one needs the other.
FILES = (
    *("part", "decode", "theme", "canvas", "axes", "layers"),
    *("pointer", "view", "slider", "live"),
)


def source(*names: str) -> str:
    """Return files of the renderer, one after another."""
    return "\n".join((_HERE / f"{name}.js").read_text("utf-8") for name in names)


def style() -> str:
    """Return the style of what the renderer draws."""
    return (_HERE / "live.css").read_text("utf-8")
