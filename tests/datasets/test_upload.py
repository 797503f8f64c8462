"""Good, odd and broken tables: each is read with a note or refused with a remedy."""

import gzip
import io
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kmviz.datasets import (
    DataError,
    content as content_module,
    encode_table,
    frames as frames_module,
    iter_frames,
    read_frame,
    read_table,
)
from kmviz.datasets.content import MAX_BYTES

HEADER = "width,height,colour,class\n"
ROWS = "".join(
    f"{j}.5,{(7 * j) % 10},{'red' if j % 3 else 'blue'},{'yes' if j % 2 else 'no'}\n"
    for j in range(20)
)
GOOD = HEADER + ROWS


def saved(text, encoding="utf-8"):
    return text.encode(encoding)


def table(frame, kind):
    buffer = io.BytesIO()
    getattr(frame, f"to_{kind}")(buffer)
    return buffer.getvalue()


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("table.csv", GOOD)
    return buffer.getvalue()


class Bomb:
    """Fails the test if anything unpickles it."""

    def __reduce__(self):
        return pytest.fail, ("a pickle was opened",)


WIDE = ",".join(f"c{j}" for j in range(10_001)) + "\n" + ",".join(["1"] * 10_001) + "\n"
NUMBERED = "".join(f"{j},{j % 3},{j % 2}\n" for j in range(20))
PARQUET = table(pd.read_csv(io.StringIO(GOOD)), "parquet")

BYTES = table(pd.DataFrame({"a": [b"\xff", b"1"] * 10, "class": ["yes", "no"] * 10}), "parquet")


def not_text():
    """A Parquet file whose text is none."""
    offsets, letters = np.arange(21, dtype=np.int32).tobytes(), b"\xff" * 20
    column = pa.StringArray.from_buffers(20, pa.py_buffer(offsets), pa.py_buffer(letters))
    buffer = io.BytesIO()
    pq.write_table(pa.table({"a": range(20), "class": column}), buffer)
    return buffer.getvalue()


BROKEN = {
    "a title without end": (saved("x" * 140_000 + "," + GOOD), "columns short names"),
    "a column of bytes": (BYTES, "Column 'a' .* holds bytes"),
    "text that is none": (not_text(), "Invalid UTF8"),
    "empty": (b"", "is empty"),
    "blank lines": (b"\n\n \n", "is empty"),
    "only a byte order mark": (b"\xef\xbb\xbf", "is empty"),
    "header only": (saved(HEADER), "no rows"),
    "one row": (saved(HEADER + "1,2,red,yes\n"), "one row only"),
    "one column": (b"class\nyes\nno\nyes\nno\n", "only one column"),
    "one class": (saved(GOOD.replace("no", "yes")), "one class only"),
    "class with one row": (saved(GOOD + "1,2,red,rare\n"), "'rare'.*one row only"),
    "all NaN": (b"a,b,c\n" + b"NaN,NaN,NaN\n" * 9, "All cells are missing"),
    "all features NaN": (b"a,b,class\nNaN,,u\nNaN,,v\n,NaN,u\n,,v\n", "has no values"),
    "empty target": (b"a,b,class\n1,2,\n3,4,NaN\n", "'class' is empty"),
    "infinite": (saved(GOOD + "inf,1,red,yes\n"), "Row 22 of column 'width' is infinite"),
    "minus infinity": (saved(GOOD + "1,-Infinity,red,no\n"), "column 'height' is infinite"),
    "overflowing number": (saved(GOOD + "1e400,1,red,no\n"), "'width' is infinite"),
    "huge integers": (saved(GOOD + f"{10**30},1,red,no\n"), "too large"),
    "no numbers": (
        b"name,class\n" + b"".join(b"person %d abc,%d\n" % (j, j % 2) for j in range(99)),
        "No column can be used",
    ),
    "constant columns": (b"a,b,class\n" + b"1,x,u\n1,x,v\n" * 9, "one value only"),
    "text in a numeric column": (saved(GOOD + "wide,1,red,no\n"), "Row 22.*'width' is 'wide'"),
    "ragged, long": (saved(GOOD + "1,2,red,no,5\n"), "Row 22 .* has 5 cells.* has 4"),
    "ragged, short": (saved(HEADER + "1,2\n" + ROWS), "Row 2 .* has 2 cells"),
    "duplicate columns": (b"a,a,class\n1,2,u\n3,4,v\n", "more than one column named 'a'"),
    "10,001 columns": (saved(WIDE), "10,001 columns"),
    "regression target": (
        b"a,target\n" + b"".join(b"%d,%d.25\n" % (j, j) for j in range(60)),
        "a quantity or a name",
    ),
    "identifier as target": (
        b"a,label\n" + b"".join(b"%d,id%d\n" % (j, j) for j in range(60)),
        "60 different values",
    ),
    "nothing to predict": (
        b"a,b\n" + b"".join(b"%d.5,%d.5\n" % (j, j) for j in range(60)),
        "No column looks like a class",
    ),
    "zip": (zipped(), "zip archive or an Excel workbook"),
    "gzip of a pickle": (gzip.compress(pickle.dumps(Bomb(), protocol=4)), "Python pickle"),
    "damaged gzip": (gzip.compress(saved(GOOD))[:-20], "damaged"),
    "gzip of too much": (gzip.compress(b"0" * (MAX_BYTES + 1)), "unfolds to more than 50 MB"),
    "JSON lines": (b'{"a": 1, "class": "x"}\n' * 9, "is JSON, not a table. Save the table itself"),
    "pickle renamed": (pickle.dumps(Bomb(), protocol=4), "Python pickle"),
    "old pickle renamed": (pickle.dumps(Bomb(), protocol=0), "."),
    "NumPy array": (b"\x93NUMPY\x01\x00rest", "a NumPy array"),
    "Excel 97": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest", "old Excel workbook"),
    "binary": (bytes(range(1, 256)) * 4, "not readable as text"),
    "damaged Parquet": (PARQUET[: len(PARQUET) // 2], "damaged"),
    "damaged Arrow": (b"ARROW1\x00\x00nonsense", "damaged"),
    "empty Parquet": (table(pd.DataFrame({"a": [], "class": []}), "parquet"), "no rows"),
    "unclosed quotation mark": (saved(HEADER + '"' + ROWS), "Row 2"),
    "unclosed in the last cell": (saved(GOOD + '1,2,red,"a\n2,3,red,b\n'), "never closed"),
    "a quotation mark at the end": (saved(GOOD + '"'), "never closed"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_table_is_refused_with_a_remedy(case):
    content, message = BROKEN[case]
    with pytest.raises(DataError, match=f"(?s){message}") as caught:
        read_table(content)
    text = str(caught.value)
    assert text.endswith((".", ")")), "a sentence"
    assert text.count(".") >= 2, "what is wrong, then what to do"


READ = "import sys, kmviz.datasets as d\ntry: d.read_table(sys.stdin.buffer.read())\n"
READ += "except d.DataError as error: print(error)"


def test_a_parquet_file_whose_columns_belie_its_schema_does_not_end_the_process():
    optional, required = b"\x25\x02\x18", b"\x25\x00\x18"
    content = PARQUET.replace(optional, required)
    assert content != PARQUET
    child = subprocess.run([sys.executable, "-c", READ], input=content, capture_output=True)
    assert child.returncode == 0, child.stderr[-300:]
    assert b"damaged" in child.stdout


def test_too_large():
    over = b"a,class\n" + b"1,2\n" * (content_module.MAX_BYTES // 4)
    with pytest.raises(DataError, match="larger than 50 MB"):
        read_table(over)


def arrow_file(found, **options):
    """An Arrow file, compressed as Feather is."""
    file = io.BytesIO()
    with pa.ipc.new_file(file, found.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(found)
    return file.getvalue()


def parquet_file(found):
    file = io.BytesIO()
    pq.write_table(found, file, compression="zstd")
    return file.getvalue()


LONG = pa.DictionaryArray.from_arrays(pa.array([0] * 400, pa.int32()), pa.array(["x" * 50_000]))
BOMBS = {  # name: a file of some kilobytes, of which 20 MB would be made
    "numbers": parquet_file(pa.table({"a": np.zeros(10**6), "class": np.zeros(10**6)})),
    "numbers in Arrow": arrow_file(pa.table({"a": np.zeros(2 * 10**6)}), compression="zstd"),
    "a long text": parquet_file(pa.table({"a": LONG.dictionary_decode()})),
    "a long text by reference": parquet_file(pa.table({"a": LONG})),
    "a long text in Arrow": arrow_file(pa.table({"a": LONG}), compression="lz4"),
    "cells without a value": arrow_file(pa.table({"a": pa.nulls(10**6), "b": pa.nulls(10**6)})),
    "cells of a bit": parquet_file(pa.table({"a": np.zeros(10**6, dtype=bool)})),
    "texts in Arrow": arrow_file(pa.table({"a": LONG.dictionary_decode()}), compression="lz4"),
}


@pytest.mark.parametrize("case", BOMBS)
def test_a_small_file_that_unfolds_to_much_is_refused_before(case, monkeypatch):
    assert len(BOMBS[case]) < 200_000
    monkeypatch.setattr(frames_module, "MAX_DECODED", 2**20)
    with pytest.raises(DataError, match="unfolds to more than 1"):
        read_table(BOMBS[case])


@pytest.mark.parametrize("made", [parquet_file, arrow_file])
def test_lists_are_refused_before_they_are_read(made):
    with pytest.raises(DataError, match="'a' of table holds lists or records"):
        read_table(made(pa.table({"a": [[0.0] * 9] * 4, "y": ["a", "b"] * 2})))


def test_a_text_that_is_no_cell_of_a_table():
    with pytest.raises(DataError, match="'a' of table holds a text of more than"):
        read_table(parquet_file(pa.table({"a": ["x" * 200_000, "z"], "y": ["a", "b"]})))


def test_texts_by_reference_are_read_as_texts():
    frame = pa.table({"a": [1.0, 2.0, 3.0] * 8, "class": ["no", "yes", "yes"] * 8})
    coded = frame.set_column(1, "class", frame["class"].dictionary_encode())
    for made in (parquet_file, arrow_file):
        assert read_table(made(coded)).class_names == ("no", "yes")
        np.testing.assert_array_equal(read_table(made(coded)).X_test,
                                      read_table(made(frame)).X_test)  # fmt: skip


def test_good_table():
    data = read_table(saved(GOOD))
    assert data.feature_names == ("width", "height", "colour=red")
    assert data.class_names == ("no", "yes")
    assert set(data.y_train) == set(data.y_test) == {-1, 1}
    assert (len(data.y_train), len(data.y_test)) == (14, 6)
    assert "'class' was taken as the class to predict" in data.about
    assert "0/1 columns: colour" in data.about


ODD = {
    "byte order mark": saved(GOOD, "utf-8-sig"),
    "UTF-16": saved(GOOD, "utf-16"),
    "UTF-16 without a mark": saved(GOOD, "utf-16-le"),
    "Windows line ends": saved(GOOD.replace("\n", "\r\n")),
    "semicolons": saved(GOOD.replace(",", ";")),
    "tabs": saved(GOOD.replace(",", "\t")),
    "decimal commas": saved(GOOD.replace(",", ";").replace(".", ",")),
    "blank lines": saved("\n" + GOOD.replace("\n", "\n\n", 5) + "\n\n"),
    "quotes": saved(GOOD.replace("red", '"red"').replace("class", '"class"')),
    "spaces": saved(GOOD.replace(",", " ,")),
    "Parquet": PARQUET,
    "Feather": table(pd.read_csv(io.StringIO(GOOD)), "feather"),
}


@pytest.mark.parametrize("case", ODD)
def test_an_odd_table_gives_the_same_data(case):
    expected, data = read_table(saved(GOOD)), read_table(ODD[case])
    assert data.feature_names == expected.feature_names
    np.testing.assert_array_equal(data.X_train, expected.X_train)
    np.testing.assert_array_equal(data.y_test, expected.y_test)


def test_latin_1_is_read_and_said():
    data = read_table(saved(GOOD.replace("blue", "bläu"), "latin-1"))
    assert "Latin-1" in data.about
    assert read_table(saved(GOOD.replace("red", "grün"), "latin-1")).feature_names[2] == (
        "colour=grün"
    )


def test_no_header():
    data = read_table(saved(NUMBERED))
    assert data.feature_names == ("x1", "x2")
    assert "no header" in data.about
    assert len(data.y_train) + len(data.y_test) == 20


def test_missing_cells_are_filled_and_said():
    data = read_table(saved(GOOD + ",?,NA,yes\n" * 3))
    assert "9 missing cells were filled" in data.about
    assert np.isfinite(data.X_train).all()
    assert np.isfinite(data.X_test).all()


def test_rows_without_a_class_are_left_out_and_said():
    data = read_table(saved(GOOD + "1,2,red,\n"))
    assert "1 rows without a class were left out" in data.about
    assert len(data.y_train) + len(data.y_test) == 20


def test_useless_columns_are_left_out_and_said():
    lines = GOOD.splitlines()
    rows = [f"{line},same,name {j}" for j, line in enumerate(lines[1:])]
    data = read_table(saved("\n".join([lines[0] + ",constant,who", *rows])))
    assert data.feature_names == ("width", "height", "colour=red")
    assert "'constant' was left out: it has one value only" in data.about
    assert "'who' was left out: it is text with" in data.about


def test_formulas_are_plain_text():
    formula = "=HYPERLINK(A1)"
    data = read_table(saved(GOOD.replace("blue", formula)))
    assert data.feature_names[2] == "colour=red"
    assert set(data.X_train[:, 2]) == {0.0, 1.0}


def test_target_is_found_or_chosen():
    frame = b"Y,kind,size\n" + b"".join(b"%d,%d,%d.5\n" % (j % 2, j % 4, j) for j in range(40))
    assert "'Y'" in read_table(frame).about
    chosen = read_table(frame, target="kind")
    assert chosen.class_names == ("0", "1", "2", "3")
    assert set(chosen.y_train) == {0, 1, 2, 3}
    unnamed = read_table(frame.replace(b"Y", b"z", 1))
    assert "Column 'kind'" in unnamed.about, "the last column with few values"
    with pytest.raises(DataError, match=r"no column 'kinds' to predict\. Choose one of Y, kind"):
        read_table(frame, target="kinds")


def test_split_is_seeded_and_stratified():
    same = [read_table(saved(GOOD), seed=3).X_test for _ in range(2)]
    np.testing.assert_array_equal(*same)
    assert not np.array_equal(same[0], read_table(saved(GOOD), seed=4).X_test)
    data = read_table(saved(GOOD), test_share=0.5)
    assert (data.y_train == 1).sum() == (data.y_test == 1).sum() == 5
    with pytest.raises(ValueError, match="test_share"):
        read_table(saved(GOOD), test_share=1.0)


def test_paths_and_open_files(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(GOOD)
    data = read_table(path)
    assert (data.name, data.source) == ("mine", "your file mine.csv")
    with path.open("rb") as stream:
        stream.read(10)  # an uploaded file may have been read before
        np.testing.assert_array_equal(read_table(stream).X_train, data.X_train)
    np.testing.assert_array_equal(read_table(io.StringIO(GOOD)).X_train, data.X_train)
    with pytest.raises(DataError, match="no file"):
        read_table(tmp_path / "absent.csv")


@pytest.mark.parametrize("case", ["decimal commas", "UTF-16", "Parquet", "Feather", "tabs"])
def test_streamed_rows_are_encoded_like_the_training_table(case, tmp_path):
    path = tmp_path / "rows"
    path.write_bytes(ODD[case])
    _, encoder = encode_table(ODD[case])
    frame, _ = read_frame(path)
    chunks = [encoder.transform(chunk) for chunk in iter_frames(path, rows=6)]
    assert max(map(len, chunks)) <= 20
    np.testing.assert_array_equal(np.vstack(chunks), encoder.transform(frame))


@pytest.mark.parametrize("row", ["1,2,red,no,5", "1,2"])
def test_streaming_refuses_ragged_rows(row, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(GOOD + row + "\n")
    frames = iter_frames(path, rows=10)
    assert len(next(frames)) == 10
    with pytest.raises(DataError, match=r"Row 22 of rows.csv has \d cells"):
        list(frames)


def test_streaming_refuses_absent_and_empty_files(tmp_path):
    with pytest.raises(DataError, match="no file"):
        list(iter_frames(tmp_path / "absent"))
    (tmp_path / "empty.csv").touch()
    with pytest.raises(DataError, match="is empty"):
        list(iter_frames(tmp_path / "empty.csv"))


def test_rows_after_an_unclosed_quotation_mark_are_not_lost_in_silence(tmp_path):
    path = tmp_path / "open.csv"
    path.write_text(GOOD + '1,2,red,"a\n2,3,red,b\n3,4,red,b\n')
    with pytest.raises(DataError, match="never closed"):
        list(iter_frames(path))
    bad = {}
    kept = pd.concat(iter_frames(path, on_bad=bad.__setitem__))
    assert len(kept) == len(GOOD.splitlines()) - 1
    assert list(bad) == [len(GOOD.splitlines()) + 1]


def test_an_array_is_read_in_parts(tmp_path):
    X = np.arange(20.0).reshape(10, 2)
    np.save(tmp_path / "rows.npy", X)
    frames = list(iter_frames(tmp_path / "rows.npy", 4))
    assert [len(frame) for frame in frames] == [4, 4, 2]
    assert frames[1].index.tolist() == [5, 6, 7, 8]
    np.testing.assert_array_equal(pd.concat(frames).to_numpy(), X)


@pytest.mark.parametrize("made", [np.arange(3.0), np.array([["a"]]), np.array([[None]])])
def test_an_array_that_holds_no_rows_of_numbers_is_refused(made, tmp_path):
    np.save(tmp_path / "rows.npy", made, allow_pickle=True)
    with pytest.raises(DataError, match=r"rows\.npy"):
        list(iter_frames(tmp_path / "rows.npy"))


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_table_in_parts_is_the_whole_table(delimiter, tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text("\n" + GOOD.replace(",", delimiter).replace(".5", ",5"), "utf-8-sig")
    whole, notes = read_frame(path)
    pd.testing.assert_frame_equal(pd.concat(iter_frames(path, 3)), whole)
    monkeypatch.setattr(frames_module, "BATCH_ROWS", 3)
    pd.testing.assert_frame_equal(read_frame(path)[0], whole)
    assert notes == ["Decimal commas were read as points."]
    assert read_frame(path)[1] == notes


def test_a_limit_of_ones_own():
    assert len(read_frame(saved(GOOD), limit=1_000)[0]) == 20
    with pytest.raises(DataError, match="larger than"):
        read_frame(saved(GOOD), limit=100)


def test_a_packed_csv_is_the_csv(tmp_path):
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(saved(GOOD)))
    pd.testing.assert_frame_equal(next(iter_frames(path)), read_frame(saved(GOOD))[0])
    path.write_bytes(gzip.compress(saved(GOOD))[:-12])
    with pytest.raises(DataError, match="damaged"):
        list(iter_frames(path))


def test_dates_and_row_numbers_are_left_out_and_said():
    frame = pd.DataFrame({
        "id": np.arange(1, 41), "day": [f"2024-03-{1 + j % 28:02d}" for j in range(40)],
        "size": np.arange(40) % 7, "class": ["x", "y"] * 20,
    })  # fmt: skip
    data = read_table(frame.to_csv(index=False).encode())
    assert data.feature_names == ("size",)
    assert "'id' was left out: it numbers the rows" in data.about
    assert "'day' was left out: it holds dates" in data.about


def test_no_rows_are_held_out_where_none_are_asked_for():
    data = read_table(gzip.compress(saved(GOOD)), test_share=0.0)
    assert (len(data.X_train), len(data.X_test)) == (20, 0)
