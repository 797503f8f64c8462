"""The URL and the session: the only module that reads and writes both.

Three rules say which of them wins:

1. The URL is read when a page is opened, and when the visitor goes Back or Forward. At all other
   times the session is right: a browser may be a moment behind with what its address bar shows.
2. What Python has assigned (from a URL, in a callback) is assigned again until a run has come to
   its end: the browser may not know it before. A widget that the visitor has moved since wins.
3. At the end of a run the choices are written into the URL, unless it stands for them already.

Where nothing was chosen, each page opens with a view of its own, and links to other pages say
nothing of data and SVM. Once something was chosen, they say all of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from kmviz import datasets
from kmviz.views import openings
from kmviz.views.controls import CONTROLS, SHARED, read, write
from kmviz.views.prepare import literal
from kmviz.views.yours import MODEL

UPLOAD = "kmviz.upload"  #: the visitor's own data set, while the session lasts
_PAGE, _ASSIGNED, _LIMITS = "kmviz.page", "kmviz.assigned", "kmviz.limits"
_DEFAULTS, _REPLACED, _NOTE = "kmviz.defaults", "kmviz.replaced", "kmviz.note"
_OWN, _CHOSEN, _OPENING = "kmviz.own", "kmviz.chosen", "kmviz.opening"
_WRITTEN, _DRAWING = "kmviz.written", "kmviz.drawing"

#: The choices as they are, by URL parameter.
PRESENT = cast("Mapping[str, Any]", st.session_state)


def begin(title: str, own: tuple[str, ...] = (), opening: Mapping[str, str] | None = None) -> None:
    """Bring session and URL together; call it before the first widget of a page.

    Parameters
    ----------
    title : the page's
    own : the names of its own choices
    opening : the view that it opens with where nothing was chosen, as the URL would write it
    """
    session = st.session_state
    is_new = session.get(_PAGE, ("",))[0] != title
    session[_PAGE] = title, own, dict(opening or {})
    if is_new or went_back():
        _read_url()
    else:
        _assign_again()
    for name in names():
        if name not in session or not CONTROLS[name].allows(session[name]):
            session[name] = session[_DEFAULTS][name]


def went_back() -> bool:
    """Return True if the visitor came by the browser's Back or Forward."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def names() -> tuple[str, ...]:
    """Return the names of this page's choices, shared ones first."""
    return (*SHARED, *st.session_state[_PAGE][1])


def here() -> str:
    """Return the title of this page."""
    return st.session_state[_PAGE][0]


def _read_url() -> None:
    """Take the choices from the URL (rule 1)."""
    session, opening = st.session_state, st.session_state[_PAGE][2]
    url = openings.lesson_view(_url(), here())
    session[_DEFAULTS] = openings.defaults(names(), url, opening)
    values, refused = read(names(), url, session[_DEFAULTS])
    session[_REPLACED] = {name: (text, values[name]) for name, text in refused.items()}
    session[_OPENING] = openings.defaults(tuple(SHARED), {}, opening)
    session[_CHOSEN] = bool(url) and session.get(_CHOSEN, False)
    session[_ASSIGNED], session[_WRITTEN] = {}, None
    _assign(values)


def _url() -> dict[str, str]:
    """Return the parameters of the URL, without a data set that this session does not have."""
    url = st.query_params.to_dict()
    if url.get("data") in SHARED["data"].options and url["data"] not in data_names():
        del url["data"]
    return url


def _assign(values: Mapping[str, Any]) -> None:
    """Assign choices, and note what the browser may still report of them."""
    session = st.session_state
    assigned = session.setdefault(_ASSIGNED, {})
    for name, value in values.items():
        _, past = assigned.get(name, (None, ()))
        assigned[name] = value, (*past, session.get(name))
        session[name] = value


def _assign_again() -> None:
    """Assign what the last run may not have shown, but for what the visitor has moved (rule 2)."""
    session = st.session_state
    for name, (value, past) in list(session[_ASSIGNED].items()):
        if session.get(name, value) in (value, *past):
            session[name] = value
        else:
            del session[_ASSIGNED][name]


def end() -> None:
    """Write the choices into the URL (rule 3); the last thing a page does."""
    session = st.session_state
    title, own, opening = session[_PAGE]
    values = {name: session[name] for name in names()}
    session.setdefault(_OWN, {})[title] = write(own, values)
    replaced = {n: one for n, one in session[_REPLACED].items() if values.get(n) == one[1]}
    session[_CHOSEN] = _is_chosen()
    url = _url()
    view = openings.lesson_view(url, title)
    stands_for, _ = read(names(), url, openings.defaults(names(), view, opening))
    stands_for |= {name: value for name, (_, value) in replaced.items()}
    texts = write(names(), values)
    if values != stands_for or session[_WRITTEN] not in (None, texts):
        st.query_params.from_dict(texts)
        session[_WRITTEN] = texts
    session[_ASSIGNED], session[_REPLACED] = {}, replaced
    _say_replaced()


def _is_chosen() -> bool:
    """Return True if the visitor chose data, SVM or query: these then hold on every page."""
    session = st.session_state
    return session[_CHOSEN] or any(session[n] != value for n, value in session[_OPENING].items())


def note_here() -> None:
    """Let the line on values that were replaced stand here."""
    st.session_state[_NOTE] = st.empty()


def _say_replaced() -> None:
    session = st.session_state
    found = [
        f"{name}={literal(text[:40])} ({CONTROLS[name].spoken(value) or 'none'} is used)"
        for name, (text, value) in session[_REPLACED].items()
        if text is not None
    ]
    if found and session.get(_NOTE) is not None:
        session[_NOTE].caption(f":material/info: Not possible here: {'; '.join(found)}.")


def put(**values: Any) -> None:
    """Set choices, from a callback (a click on a chart, a preset)."""
    _assign(values)


def put_data(name: str) -> None:
    """Look at a data set, with the SVM that suits it; from a callback."""
    values = openings.defaults(tuple(SHARED), {"data": name}, {}) | {"data": name}
    if name == "sketch":
        values["drawn"] = st.session_state.get(_DRAWING, "")
    put(**{key: value for key, value in values.items() if key not in openings.LESSON})
    st.session_state[_CHOSEN] = True


def put_drawing(text: str) -> None:
    """Look at a drawing, and keep it for when the visitor comes back from another data set."""
    st.session_state[_DRAWING] = text
    put(drawn=text)


def reset() -> None:
    """Bring back the opening settings of this page and this data set; a callback."""
    session = st.session_state
    opening, data = session[_PAGE][2], session["data"]
    is_opening = data == session[_OPENING]["data"]
    values = values_of({} if is_opening else {"data": data}, opening)
    kept = {"data", "drawn", *openings.LESSON}
    put(**{name: value for name, value in values.items() if name not in kept})


def replace(name: str, value: Any) -> None:
    """Correct a choice that the data cannot serve, before its widget is drawn."""
    session = st.session_state
    before = session[name]
    if before != value:
        session[name] = value
        is_default = before in (session[_DEFAULTS][name], CONTROLS[name].default)
        session[_REPLACED][name] = None if is_default else CONTROLS[name].text(before), value


def limit(name: str, low: float, high: float) -> None:
    """Clip a number to what the data allows, before its widget is drawn."""
    session = st.session_state
    replace(name, min(max(session[name], low), high))
    limits = session.setdefault(_LIMITS, {})
    if limits.get(name) != (low, high):  # to Streamlit another slider, which holds no value yet
        limits[name] = (low, high)
        session[name] = session[name]


def data_names() -> tuple[str, ...]:
    """Return the data sets to choose from, the visitor's own included."""
    own = {"upload": UPLOAD in st.session_state, "yours": MODEL in os.environ}
    return (*datasets.names(), *(name for name, is_there in own.items() if is_there))


def lost_upload() -> bool:
    """Return True if the URL asks for a visitor's own data that this session does not have."""
    return st.query_params.get("data") == "upload" and UPLOAD not in st.session_state


def values_of(
    view: Mapping[str, str], opening: Mapping[str, str], own: tuple[str, ...] | None = None
) -> dict[str, Any]:
    """Return every choice of a page as a URL with these parameters would have it.

    Parameters
    ----------
    opening : the view that the page opens with where a URL says nothing
    own : the page's own choices; default: those of this page
    """
    every = names() if own is None else (*SHARED, *own)
    return read(every, view, openings.defaults(every, view, opening))[0]


def show(view: Mapping[str, str], opening: Mapping[str, str]) -> None:
    """Show a view of this page, from a callback: a link to the page one is on moves no URL."""
    put(**values_of(view, opening))


def is_at(view: Mapping[str, str], opening: Mapping[str, str]) -> bool:
    """Return True if this page shows a view, given as URL parameters.

    The lesson is no part of it, nor is a setting that was kept beside the present one.

    Parameters
    ----------
    opening : the view that the page opens with where a URL says nothing
    """
    session, wanted = st.session_state, values_of(view, opening)
    wanted |= {n: value for n, (_, value) in session[_REPLACED].items() if n not in view}
    beside = (*openings.LESSON, "a")
    return all(session[n] == v for n, v in wanted.items() if n not in beside)


def link(title: str | None = None) -> dict[str, str]:
    """Return the URL parameters that lead to a page with all choices kept.

    Without a title: to this page, as it is now.
    """
    session = st.session_state
    page, own, _ = session[_PAGE]
    texts = write(tuple(SHARED), PRESENT)
    if title in (None, page):
        return texts | write(own, PRESENT)
    known = session.get(_OWN, {}).get(title, {})
    return texts | known if _is_chosen() else known


def address() -> str:
    """Return the whole URL that rebuilds this view, with the host that the visitor came by."""
    path = urlsplit(st.context.url or "").path or "/"
    return f"{root()}{path}?{urlencode(link(), safe=',')}"


def root() -> str:
    """Return where the app is, by the host that the visitor came by."""
    came = urlsplit(st.context.headers.get("Origin") or "")
    host = came if came.netloc else urlsplit(st.context.url or "")
    return urlunsplit((host.scheme, host.netloc, "", "", ""))
