"""JSON lines: an object a line, its fields the columns.

A line need not name every field, so a short file may stand for many cells: they are counted.
"""

import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kmviz.datasets.errors import DataError
from kmviz.datasets.limits import refuse_above, refuse_wide

OnBad = Callable[[int, str], None]

CELL_BYTES = 24  # of a cell on its way to a frame, its text aside


def is_json_lines(text: str) -> bool:
    """Whether a text starts as JSON lines do."""
    return text.lstrip().startswith("{")


def whole_rows(text: str, name: str, most: int) -> tuple[list[str], list[int], list[list[str]]]:
    """The fields of a text, its rows' numbers and their cells, which take at most so many bytes."""
    lines = _lines(text)
    names, numbers, cells = fields(lines, name), [], []
    for number, row in rows(lines, names, name):
        numbers.append(number)
        cells.append(row)
        refuse_above(len(cells) * len(names) * CELL_BYTES, most, name)
    return names, numbers, cells


def fields_of_start(start: str, name: str) -> list[str]:
    """The fields that a start names, which may be cut in the middle of a line."""
    lines = _lines(start)
    is_cut = len(lines) > 1 and not start.endswith("\n")
    return fields(lines[: len(lines) - is_cut], name)


def _lines(text: str) -> list[str]:
    """Lines as a file has them: a text in JSON may hold the other ends that `splitlines` knows."""
    return list(io.StringIO(text, newline=""))


def fields(lines: Iterable[str], name: str) -> list[str]:
    """The fields of all objects, in the order in which they come."""
    found: dict[str, None] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            found |= dict.fromkeys(map(str, _object(line, number, name)))
            refuse_wide(len(found), name)
    if len(found) < 2:
        raise DataError(
            f"{name} has only one field. A table needs one to predict and others to predict from."
        )
    return list(found)


def rows(
    lines: Iterable[str], names: list[str], name: str, on_bad: OnBad | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Each line's number and its cells as text; a bad line raises, unless `on_bad` takes it."""
    known = set(names)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found = _object(line, number, name)
            if more := [field for field in found if field not in known]:
                raise DataError(
                    f"Row {number} of {name} has a field {more[0]!r} that no line before it has. "
                    "Give it to the first line too, as null where it has no value."
                )
            cells = [_cell(found.get(field), field, number, name) for field in names]
        except DataError as error:
            if on_bad is None:
                raise
            on_bad(number, str(error))
            continue
        yield number, cells


def _object(line: str, number: int, name: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
        if "\\u" in line:
            json.dumps(found, ensure_ascii=False).encode()  # half a character is none
    except (ValueError, RecursionError) as error:  # a number may have too many digits
        raise DataError(
            f"Row {number} of {name} is not JSON ({error}). Write one object a line."
        ) from error
    if not isinstance(found, dict):
        raise DataError(
            f"Row {number} of {name} is no object of fields and values. Write one object a line."
        )
    return found


def _cell(value: Any, field: str, number: int, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise DataError(
        f"Row {number} of {name} holds a list or an object in field {field!r}. Give each of its "
        "values a field of its own."
    )
