"""Parquet and Arrow files as pandas frames, measured by what they become in memory.

A file of some kilobytes may unfold to gigabytes: long lists, a long text that many rows name,
columns that compress to nothing. What it says of its own size is read first, and what is decoded
is counted batch by batch.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import BufferedReader
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kmviz.datasets.record import DataError, TooLarge

#: Rows that are decoded before they are counted, and the head of each text in memory.
BATCH_ROWS, TEXT_HEAD = 2_000, 64

#: What a cell takes at least, however few bits it is stored in: it becomes a number of 64.
CELL_BYTES = 8

#: Bytes of one text; a CSV file may hold no longer ones either.
MAX_TEXT = 2**17

#: Bytes before the stream of batches in an Arrow file: its magic word, padded.
MAGIC = 8


def arrow_frames(
    stream: Any, kind: str, name: str, rows: int, most: int | None = None
) -> Iterator[pd.DataFrame]:
    """Yield up to `rows` rows at a time; pandas' own metadata is not trusted.

    Parameters
    ----------
    stream : binary file
    kind : {"parquet", "arrow", "arrow stream"}
    most : bytes that the table may unfold to; None: any number
    """
    start, decoded = 1, 0
    try:
        if most is not None:
            _refuse_above(_declared_bytes(stream, kind), most, name)
        for batch in _batches(stream, kind, name, rows):
            batch.validate(full=True)  # text that is none would fail much later
            decoded += _decoded_bytes(batch)
            if most is not None:
                _refuse_above(decoded, most, name)
            _refuse_long_text(batch, name)
            plain = pa.Table.from_batches([batch]).replace_schema_metadata(None)
            frame = plain.to_pandas(ignore_metadata=True)
            frame.index = pd.RangeIndex(start, start + len(frame))
            start += len(frame)
            yield frame
    except (pa.ArrowException, OSError, struct.error, UnicodeDecodeError, MemoryError) as error:
        raise DataError(f"{name} is damaged: {str(error).rstrip('.')}. Save it again.") from error
    finally:
        pa.default_memory_pool().release_unused()  # it would keep what the file took


def _refuse_above(decoded: int, most: int, name: str) -> None:
    if decoded > most:
        raise TooLarge(
            f"{name} unfolds to more than {most / 2**20:,.1f} MB. Keep a sample of its rows, or "
            "the columns that matter, and try again."
        )


def _refuse_long_text(batch: pa.RecordBatch, name: str) -> None:
    for title, column in zip(batch.schema.names, batch.columns, strict=True):
        texts = column.dictionary if pa.types.is_dictionary(column.type) else column
        if _is_text(texts.type) and (pc.max(pc.binary_length(texts)).as_py() or 0) > MAX_TEXT:
            raise DataError(
                f"Column {title!r} of {name} holds a text of more than {MAX_TEXT:,} bytes. Leave "
                "it out."
            )


def _batches(stream: Any, kind: str, name: str, rows: int) -> Iterator[pa.RecordBatch]:
    stream.seek(MAGIC if kind == "arrow" else 0)
    if kind == "parquet":
        schema = pq.read_schema(stream)
        _refuse_columns(schema, name)
        texts = [field.name for field in schema if _is_text(field.type)]
        # A file of its own is mapped: else all columns of a group of rows are read at once, beside
        # what they unfold to. pre_buffer would keep all that was read until the end.
        source = pa.memory_map(stream.name) if isinstance(stream, BufferedReader) else stream
        parquet = pq.ParquetFile(source, pre_buffer=False, read_dictionary=texts)
        yield from parquet.iter_batches(batch_size=rows, use_threads=False)
    else:  # an Arrow file is a stream between its magic word and its footer
        reader = pa.ipc.open_stream(stream)
        _refuse_columns(reader.schema, name)
        yield from reader


def _refuse_columns(schema: pa.Schema, name: str) -> None:
    for field in schema:
        inner = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_binary(inner) or pa.types.is_large_binary(inner):
            held = "bytes"
        elif pa.types.is_nested(inner):
            held = "lists or records"
        else:
            continue
        raise DataError(
            f"Column {field.name!r} of {name} holds {held}, neither numbers nor text. Leave it out."
        )


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _decoded_bytes(batch: pa.RecordBatch) -> int:
    """What a batch takes once every cell stands for itself."""
    total = 0
    for column in batch.columns:
        if pa.types.is_dictionary(column.type) and _is_text(column.type.value_type):
            lengths = pc.binary_length(column.dictionary)
            total += pc.sum(pc.take(lengths, column.indices)).as_py() or 0
            total += TEXT_HEAD * len(column)
        else:
            stored = column.nbytes + TEXT_HEAD * len(column) * _is_text(column.type)
            total += max(stored, CELL_BYTES * len(column))
    return total


def _declared_bytes(stream: Any, kind: str) -> int:
    """What a file says that its columns unfold to."""
    stream.seek(MAGIC if kind == "arrow" else 0)
    if kind == "parquet":
        found = pq.read_metadata(stream)
        # What a group says of each of its columns may be damaged: asking for it ends the process.
        return sum(found.row_group(j).total_byte_size for j in range(found.num_row_groups))
    return sum(map(_message_bytes, pa.ipc.MessageReader.open_stream(stream)))


def _message_bytes(message: pa.Message) -> int:
    """What the buffers of one Arrow message unfold to: a compressed one begins with its length."""
    if message.type not in ("record batch", "dictionary batch", "dictionary"):
        return 0
    meta, body = memoryview(message.metadata), memoryview(message.body)
    header = _child(meta, _root(meta), 2)
    if message.type != "record batch":
        header = _child(meta, header, 1)
    is_compressed = _slot(meta, header, 3) != 0
    places = _child(meta, header, 2)
    total = 0
    for j in range(struct.unpack_from("<I", meta, places)[0]):
        offset, length = struct.unpack_from("<qq", meta, places + 4 + 16 * j)
        if is_compressed and length > 8:
            length = max(struct.unpack_from("<q", body, offset)[0], length)
        total += length
    return total


def _root(meta: memoryview) -> int:
    """Where the first table of a flatbuffer stands."""
    return struct.unpack_from("<I", meta, 0)[0]


def _slot(meta: memoryview, table: int, field: int) -> int:
    """Where a field of a table stands, from its beginning; 0 where it is left out."""
    index = table - struct.unpack_from("<i", meta, table)[0]
    size = struct.unpack_from("<H", meta, index)[0]
    place = 4 + 2 * field
    return struct.unpack_from("<H", meta, index + place)[0] if place < size else 0


def _child(meta: memoryview, table: int, field: int) -> int:
    """Where what a field points to stands."""
    place = table + _slot(meta, table, field)
    return place + struct.unpack_from("<I", meta, place)[0]
