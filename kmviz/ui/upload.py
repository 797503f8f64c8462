"""The visitor's own data: read once, kept while the session lasts, usable on every page.

Tables only, read as tables: nothing a visitor sends is ever unpickled.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import streamlit as st

from kmviz.datasets import DataError, Dataset, TableEncoder, encode_table
from kmviz.datasets.frames import read_frame
from kmviz.ui.shell import url
from kmviz.views.prepare import literal

MEGABYTES = 50
TYPES = ["csv", "tsv", "txt", "parquet", "arrow", "feather"]
_SAID = "kmviz.upload_said"
_COLUMNS = "kmviz.upload_columns"
FIND = "find it for me"


@dataclass(frozen=True, eq=False)
class Upload:
    """A data set made of a visitor's file; `digest` stands for file and target."""

    data: Dataset
    encoder: TableEncoder
    file: str
    digest: str


def section() -> None:
    """Draw the upload of a table."""
    with st.expander(
        "Use your own data",
        icon=":material/upload_file:",
        expanded=url.UPLOAD in st.session_state,
    ):
        st.file_uploader(
            f"A table with a column to predict: CSV, TSV or Parquet, up to {MEGABYTES} MB. "
            "It stays on this machine and is forgotten when the session ends.",
            TYPES,
            key="upload_file",
            max_upload_size=MEGABYTES,
            on_change=_new_file,
        )
        columns = st.session_state.get(_COLUMNS)
        if columns and st.session_state.get("upload_file") is not None:
            st.selectbox(
                "Column to predict", [FIND, *columns], key="upload_target", on_change=_read
            )
        _say()


def _say() -> None:
    """Say what became of the file."""
    problem = st.session_state.get(_SAID)
    kept = st.session_state.get(url.UPLOAD)
    if problem:
        st.error(literal(problem), icon=":material/error:")
    elif kept is not None:
        st.success(
            f"**{literal(kept.data.name)}** is in use on all pages. {literal(kept.data.about)}",
            icon=":material/check_circle:",
        )


def _new_file() -> None:
    """Callback: a file came or went."""
    session = st.session_state
    session.pop(_SAID, None)
    session.pop(_COLUMNS, None)
    session["upload_target"] = FIND
    if session["upload_file"] is not None:
        _read()


def _read() -> None:
    """Callback: read the file with the target chosen, and look at it on every page."""
    session = st.session_state
    file, target = session["upload_file"], session["upload_target"]
    try:
        with st.spinner("Reading the table …"):
            if _COLUMNS not in session:
                session[_COLUMNS] = list(read_frame(file)[0].columns)
                file.seek(0)
            data, encoder = encode_table(file, None if target == FIND else target)
    except DataError as error:
        session[_SAID] = str(error)
        return
    session.pop(_SAID, None)
    digest = hashlib.sha256(file.getvalue() + target.encode()).hexdigest()
    session[url.UPLOAD] = Upload(data, encoder, file.name, digest)
    url.put_data("upload")
