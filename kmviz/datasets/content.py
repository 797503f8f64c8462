"""What a file is: its bytes, its kind and its text encoding. Nothing is ever unpickled."""

import gzip
import io
import re
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np

from kmviz.datasets.record import DataError, TooLarge

MAX_BYTES = 50 * 2**20

File = str | Path | bytes | bytearray | memoryview | IO[Any]

SAVE_AS_CSV = "Save the table itself as CSV, TSV or Parquet and choose that file."
_FOREIGN = {
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"PK\x05\x06": "an empty zip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3": "an SQLite database",
    b"%PDF": "a PDF document",
    b"FEA1": "a Feather file of the first version",
    b"{": "JSON",
}
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")


def read_bytes(file: File, limit: int = MAX_BYTES) -> tuple[bytes, str]:
    """The content of a path, a buffer or an open file, and a name for it."""
    name = Path(str(getattr(file, "name", "table"))).name
    if isinstance(file, bytes | bytearray | memoryview):
        content = bytes(file)
    elif isinstance(file, str | Path):
        path = Path(file)
        if not path.is_file():
            raise DataError(f"There is no file {str(path)!r}. Check the path.")
        name = path.name
        with path.open("rb") as stream:
            content = stream.read(limit + 1)
    else:
        if hasattr(file, "seekable") and file.seekable():
            file.seek(0)
        read = file.read(limit + 1)
        content = read.encode() if isinstance(read, str) else bytes(read)
    if len(content) > limit:
        raise TooLarge(
            f"{name} is larger than {limit / 2**20:,.3g} MB. Keep a sample of its rows, or the "
            "columns that matter, and try again."
        )
    if is_packed(content):
        content, name = _unpacked(content, name, limit), name.removesuffix(".gz")
    if not content:
        raise DataError(f"{name} is empty. Choose a file with a header line and rows below it.")
    return content, name


def is_packed(head: bytes) -> bool:
    """Whether these are the first bytes of a gzip file."""
    return head.startswith(b"\x1f\x8b")


def _unpacked(content: bytes, name: str, limit: int) -> bytes:
    try:
        with gzip.open(io.BytesIO(content)) as stream:
            found = stream.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{name} is damaged: {error}. Pack it again.") from error
    if len(found) > limit:
        raise TooLarge(
            f"{name} unfolds to more than {limit / 2**20:,.3g} MB. Keep a sample of its rows, or "
            "the columns that matter, and try again."
        )
    return found


def kind_of(head: bytes, name: str) -> str:
    """Return 'parquet', 'arrow', 'arrow stream', 'array' or 'text', by the first bytes alone."""
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "arrow"
    if head.startswith(b"\xff\xff\xff\xff"):
        return "arrow stream"
    if head.startswith(b"\x93NUMPY"):
        return "array"
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise DataError(f"{name} is {what}, not a table. {SAVE_AS_CSV}")
    if _PICKLE.match(head):
        raise DataError(
            f"{name} is a Python pickle, which can run code when opened, so it was not opened. "
            f"{SAVE_AS_CSV}"
        )
    return "text"


def encoding_of(content: bytes, name: str, complete: bool = True) -> str:
    """The text encoding; `complete=False` if `content` is only the start of the file."""
    if content.startswith(b"\xef\xbb\xbf"):
        encoding = "utf-8-sig"
    elif content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif content[1:2] == b"\x00":
        encoding = "utf-16-le"
    elif content[:1] == b"\x00":
        encoding = "utf-16-be"
    else:
        encoding = "utf-8"
    # a cut in the middle of a character is no fault of the file
    tried = content if complete else content[: max(len(content) - 4, 0) // 4 * 4]
    for candidate in (encoding, "cp1252") if encoding == "utf-8" else (encoding,):
        try:
            text = tried.decode(candidate)
        except UnicodeDecodeError:
            continue
        if not _CONTROL.search(text):
            return candidate
        break
    raise DataError(
        f"{name} is not readable as text: its encoding is not UTF-8, UTF-16 or Latin-1, or it is "
        "not a table at all. In your spreadsheet choose 'Save as', 'CSV UTF-8'."
    )


def open_array(file: str | Path) -> np.ndarray:
    """Return the rows of a .npy file, mapped into memory."""
    path = Path(file)
    if not path.is_file():
        raise DataError(f"There is no file {str(path)!r}. Check the path.")
    try:
        X = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError) as error:
        message = f"{path.name} is not a plain .npy array: {error}. Save it with numpy.save."
        raise DataError(message) from error
    if X.ndim != 2 or not np.issubdtype(X.dtype, np.number):
        raise DataError(
            f"{path.name} must hold rows of numbers; it has shape {X.shape} and type {X.dtype}. "
            "Save a two-dimensional array."
        )
    return X
