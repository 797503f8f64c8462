"""A visitor's own fitted model: a .skops file, read without running anything in it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import streamlit as st

from kmviz.io.storage import StorageError
from kmviz.io.strangers import MACHINES, load_from_stranger
from kmviz.io.trial import refuse_harmful
from kmviz.ui.prepare import literal
from kmviz.ui.problem import Problem

MEGABYTES = 50
_MODEL, _SAID = "kmviz.model", "kmviz.model_said"


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted binary estimator; `digest` stands for its file."""

    estimator: Any
    digest: str
    name: str


def section(problem: Problem) -> None:
    """Draw the upload of a fitted model, and what became of it."""
    with st.expander("Use your own trained model", icon=":material/model_training:"):
        st.file_uploader(
            f"A fitted {', '.join(MACHINES)}, or a pipeline of scalers that ends in one, stored "
            "with skops. It takes the place of the machine on the left. Other types are listed "
            "and refused; pickles are never opened.",
            ["skops"],
            key="model_file",
            max_upload_size=MEGABYTES,
            on_change=_read,
        )
        said, kept = st.session_state.get(_SAID), st.session_state.get(_MODEL)
        if said:
            st.error(literal(said), icon=":material/error:")
        elif kept is not None and current(problem) is None:
            st.warning(
                f"**{literal(kept.name)}** takes {_width(kept.estimator)} features, these rows "
                f"have {problem.data.X_train.shape[1]}: choose its data on the left.",
                icon=":material/warning:",
            )
        elif kept is not None:
            st.success(
                f"**{literal(kept.name)}** is compared in place of the machine on the left. It is "
                "asked about the rows as they are shown: "
                f"{'; '.join(problem.notes) or 'unchanged'}.",
                icon=":material/check_circle:",
            )


def current(problem: Problem) -> Model | None:
    """Return the visitor's model, if it takes the rows at hand."""
    kept = st.session_state.get(_MODEL)
    if kept is None or _width(kept.estimator) != problem.data.X_train.shape[1]:
        return None
    return kept


def _width(estimator: Any) -> int:
    return int(estimator.n_features_in_)


def _read() -> None:
    """Callback: a file came or went."""
    session = st.session_state
    session.pop(_SAID, None)
    session.pop(_MODEL, None)
    file = session["model_file"]
    if file is None:
        return
    try:
        session[_MODEL] = read(file.getvalue(), file.name)
    except StorageError as error:
        session[_SAID] = str(error)


def read(content: bytes, name: str) -> Model:
    """Return the model in a file; StorageError where it is none that can be compared.

    It is tried in a process of its own first: what takes too much, or breaks, does so there.
    """
    refuse_harmful(content, name)
    estimator = load_from_stranger(content, name)
    return Model(estimator, hashlib.sha256(content).hexdigest(), name)
