"""How large a table may be: its columns, and what it becomes in memory."""

from kmviz.datasets.errors import DataError

MAX_COLUMNS = 10_000


def refuse_wide(n_columns: int, name: str) -> None:
    if n_columns > MAX_COLUMNS:
        raise DataError(
            f"{name} has {n_columns:,} columns; at most {MAX_COLUMNS:,} are read. "
            "Keep the columns that matter."
        )


def refuse_above(decoded: int, most: int, name: str) -> None:
    if decoded > most:
        raise DataError(
            f"{name} unfolds to more than {most / 2**20:,.1f} MB. Keep a sample of its rows, or "
            "the columns that matter, and try again."
        )
