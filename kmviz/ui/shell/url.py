"""The choices a visitor made, in the URL and in the session: the only module that knows both.

On arrival the URL is read into the session; at the end of a run it is written back. In between
pages use widgets with plain keys. Six things make this more than two assignments:

- Streamlit forgets the value of a widget that a page does not draw, and may remember an older one
  instead. A copy of every value is kept beside it, so that a choice holds from page to page.
- The Back button changes the URL under the session. A URL that is not the one last seen wins
  over the session, unless a widget was moved in the same breath.
- A value that is assigned is sent to its widget, and takes back what a visitor did to it in the
  meantime. So nothing is assigned that a widget drawn in the last run holds already; what no
  widget held is dropped at the end of a run, or it would come back, outdated, once a widget did.
- A hasty visitor ends a run before the browser has heard of all of it. What was assigned in it is
  assigned again until a run has ended; what the browser says of it meanwhile is no move but the
  past, and so is a URL that was the present one a moment ago.
- A URL that already says what the session holds is left as it is, so that Back always leads
  somewhere else; unless it is an old one: then the browser shows another by now.
- Where nothing was chosen, each page opens with a view of its own, and links to other pages say
  nothing of data and machine. Once something was, they say all of it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

from kmviz import datasets
from kmviz.ui import defaults
from kmviz.ui.params import Control, Param

_KEPT, _SEEN, _PARAMS, _PAGES = "kmviz.kept", "kmviz.seen", "kmviz.params", "kmviz.pages"
_CORRECTED, _LIMITS, _CONTROLS = "kmviz.corrected", "kmviz.limits", "kmviz.controls"
_CHOSEN, _OPENING, _OLD = "kmviz.chosen", "kmviz.opening", "kmviz.old"
_LOOSE, _PUT = "kmviz.loose", "kmviz.put"
_LATE, _LEFT = "kmviz.late", "kmviz.left"
#: URLs of the past that are known as such.
_TRAIL = 20
#: Seconds that a browser may take to show what it was sent.
_FLIGHT = 0.5
UPLOAD = "kmviz.upload"  #: the visitor's own data set, while the session lasts
_DRAWING = "kmviz.drawing"  #: the visitor's last drawing, likewise


#: The choices as they are, by URL parameter; read when asked, in whichever session asks.
PRESENT = cast("Mapping[str, Any]", st.session_state)


@dataclass
class _Loose:
    """A value that was assigned and may not have reached its widget.

    Attributes
    ----------
    past : list
        What the browser may still say: what it held before, or what it begins with.
    drawn : float or None
        When the widget was first seen to be drawn since.
    """

    past: list[Any] = field(default_factory=list)
    drawn: float | None = None


def data_names() -> tuple[str, ...]:
    """Return the data sets to choose from, the visitor's own included."""
    return datasets.names() + (("upload",) if UPLOAD in st.session_state else ())


def lost_upload() -> bool:
    """Whether the URL asks for a visitor's own data that this session does not have."""
    return st.query_params.get("data") == "upload" and UPLOAD not in st.session_state


def arrive(
    title: str,
    own: Mapping[str, Control | Param] | None = None,
    opening: Mapping[str, str] | None = None,
) -> None:
    """Bring session and URL together; call before the first widget of a page.

    Parameters
    ----------
    title : the page's
    own : its own choices, by URL parameter
    opening : the view that it opens with where nothing was chosen, as the URL would write it
    """
    session = st.session_state
    session[_CONTROLS] = controls = defaults.shared(data_names()) | dict(own or {})
    plain: dict[str, Any] = {n: getattr(one, "param", one) for n, one in controls.items()}
    is_new = _PARAMS not in session or session[_PARAMS][0] != title
    if is_new:
        session[_LOOSE] = {}
        _pass(session.get(_SEEN))
    url = st.query_params.to_dict() if is_new else _url()
    meant = defaults.led(url, title)
    params = defaults.opened(plain, meant, opening or {})
    session[_PARAMS] = (title, tuple(own or ()), params)
    kept = session.setdefault(_KEPT, {})
    said = session.pop(_PUT, {}) if is_new else _said(params)
    moved = any(n in said and n in kept and said[n] != kept[n] for n in params)
    told = url != session.get(_SEEN) and not moved
    if told or (is_new and not session.get(_CHOSEN)):
        session[_CORRECTED] = {}
        values = {name: param.read(meant.get(name)) for name, param in params.items()}
    else:
        values = {name: said.get(name, kept.get(name)) for name in params}
        values = {n: v if params[n].fits(v) else params[n].default for n, v in values.items()}
    kept.update(values)
    for name, value in values.items():
        if is_new or name not in session or session[name] != value or _is_undrawn(name):
            _assign(name, value)
    was, session[_SEEN] = session.get(_SEEN), url
    shown = st.query_params.to_dict()  # of another page, where one ended as this was opened
    session[_OLD] = (moved and url != was) or (shown != url and shown == session.get(_LEFT))
    if is_new:
        session[_LEFT] = was
    fresh = defaults.opened(plain, {}, opening or {})
    session[_OPENING] = {n: fresh[n].default for n in params if n not in session[_PARAMS][1]}
    session[_CHOSEN] = _is_chosen(was=session.get(_CHOSEN, False) and not (told and not url))


def _url() -> dict[str, str]:
    """Return what the address bar says; where that is the past, what it was told since."""
    session, url = st.session_state, st.query_params.to_dict()
    is_late = url in session[_LATE] and url != session[_SEEN] and not went_back()
    return session[_SEEN] if is_late else url


def _pass(url: dict[str, str] | None) -> None:
    """Note that a URL is one of the past from now on."""
    late = st.session_state.setdefault(_LATE, [])
    st.session_state[_LATE] = [*late[-_TRAIL:], *([] if url is None else [url])]


def went_back() -> bool:
    """Whether the visitor came by the browser's Back or Forward."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def _said(params: Mapping[str, Param]) -> dict[str, Any]:
    """Return what visitor and callbacks say of the choices, without what the past says."""
    session, loose = st.session_state, st.session_state[_LOOSE]
    now, put = time.monotonic(), session.pop(_PUT, {})
    said = {name: session[name] for name in params if name in session}
    for name, one in list(loose.items()):
        if one.drawn is not None and now > one.drawn + _FLIGHT:
            del loose[name]
        elif said.get(name) in one.past:
            said[name] = session[_KEPT][name]
        elif name not in put and said.get(name) != session[_KEPT].get(name):
            del loose[name]  # the visitor has moved it: the browser shows it
    return said | put


def _is_undrawn(name: str) -> bool:
    loose = st.session_state[_LOOSE].get(name)
    return loose is not None and loose.drawn is None


def _assign(name: str, value: Any) -> None:
    """Assign a choice, and note that its widget has not heard of it."""
    session = st.session_state
    one = session.setdefault(_LOOSE, {}).setdefault(name, _Loose(_bare(name)))
    one.drawn = None
    if name in session and session[name] != value:
        one.past.append(session[name])
    session[name] = value


def _bare(name: str) -> list[Any]:
    """Return what a widget says before it is told: no value, or the first or least of them."""
    control = st.session_state.get(_CONTROLS, {}).get(name)
    values = control.values if isinstance(control, Control) else ()
    param = getattr(control, "param", control)
    first = (*getattr(param, "options", ())[:1], *values[:1])
    return [None, False, [], getattr(param, "low", None), *first]


def sent() -> None:
    """Note which widgets have been drawn: soon the browser says nothing of their past."""
    for name, one in st.session_state.get(_LOOSE, {}).items():
        if one.drawn is None and _is_drawn(name):
            one.drawn = time.monotonic()


def _is_chosen(was: bool) -> bool:
    """Whether the visitor chose data, machine or query: these then hold on every page."""
    session = st.session_state
    return was or any(session[name] != value for name, value in session[_OPENING].items())


def controls() -> dict[str, Any]:
    """Return the choices of this page by URL parameter, shared ones included."""
    return st.session_state[_CONTROLS]


def last() -> dict[str, Any]:
    """Return the choices as the last run left them: what a callback reads."""
    return st.session_state[_KEPT]


def settle() -> None:
    """Write the choices into the URL; the last thing a page does."""
    session = st.session_state
    title, own, params = session[_PARAMS]
    values = {name: session[name] for name in params}
    session[_KEPT].update(values)
    session.setdefault(_PAGES, {})[title] = _texts({n: values[n] for n in own}, params)
    url = session[_SEEN]
    told = {name: param.read(url.get(name)) for name, param in params.items()}
    if values != told | session[_CORRECTED] or session[_OLD]:
        _pass(url)
        session[_SEEN] = _texts(values, params)
        st.query_params.from_dict(session[_SEEN])
    for name in params:
        if not _is_drawn(name):
            del session[name]
    session[_LOOSE] = {}


def put(**values: Any) -> None:
    """Set choices from a callback (a click on a chart, a preset)."""
    st.session_state.setdefault(_PUT, {}).update(values)
    for name, value in values.items():
        _assign(name, value)


def put_data(name: str) -> None:
    """Look at a data set, with the machine that suits it; from a callback."""
    plain = {key: one.param for key, one in defaults.shared((*data_names(), name)).items()}
    fresh = defaults.opened(plain, {"data": name}, {})
    values = {key: param.read(None) for key, param in fresh.items() if key not in defaults.LESSON}
    if name == "sketch":
        values["drawn"] = st.session_state.get(_DRAWING, "")
    put(**values | {"data": name})
    st.session_state[_CHOSEN] = True


def put_drawing(text: str) -> None:
    """Look at a drawing, and keep it for when the visitor comes back from another data set."""
    st.session_state[_DRAWING] = text
    put(drawn=text)


def replace(name: str, value: Any) -> None:
    """Correct a choice that the data cannot serve, before its widget is drawn."""
    session = st.session_state
    if session[name] != value:
        _assign(name, value)
        session[_KEPT][name] = session[_CORRECTED][name] = value


def limit(name: str, low: float, high: float) -> None:
    """Clip a choice to what the data allows, before its widget is drawn."""
    session = st.session_state
    replace(name, min(max(session[name], low), high))
    limits = session.setdefault(_LIMITS, {})
    if limits.get(name) != (low, high):  # to Streamlit another slider, which holds no value yet
        limits[name] = (low, high)
        _assign(name, session[name])


def link(title: str | None = None) -> dict[str, str]:
    """Return the URL parameters that lead to a page with all choices kept.

    Without a title: to this page, as it is now.
    """
    session = st.session_state
    here, own, params = session[_PARAMS]
    texts = _texts({n: session[n] for n in params if n not in own}, params)
    if title in (None, here):
        return texts | _texts({n: session[n] for n in own}, params)
    known = session.get(_PAGES, {}).get(title, {})
    return texts | known if _is_chosen(session[_CHOSEN]) else known


def here() -> str:
    """Return the title of this page."""
    return st.session_state[_PARAMS][0]


def show(view: Mapping[str, str], opening: Mapping[str, str]) -> None:
    """Show a view of this page, from a callback: a link to the page one is on moves no URL."""
    put(**said(view, opening))


def said(
    view: Mapping[str, str], opening: Mapping[str, str], own: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return every choice of a page as a URL with these parameters would have it.

    Parameters
    ----------
    opening : the view that the page opens with where a URL says nothing
    own : the page's own choices; default: those of this page
    """
    every = controls() if own is None else defaults.shared(data_names()) | dict(own)
    plain: dict[str, Any] = {n: getattr(one, "param", one) for n, one in every.items()}
    params = defaults.opened(plain, view, opening)
    return {name: param.read(view.get(name)) for name, param in params.items()}


def is_at(view: Mapping[str, str], opening: Mapping[str, str]) -> bool:
    """Whether this page shows a view, given as URL parameters.

    The lesson is no part of it, nor is a setting that was kept beside the present one.

    Parameters
    ----------
    opening : the view that the page opens with where a URL says nothing
    """
    session, wanted = st.session_state, said(view, opening)
    wanted |= {n: value for n, value in session[_CORRECTED].items() if n not in view}
    beside = (*defaults.LESSON, "a")
    return all(session[n] == v for n, v in wanted.items() if n not in beside)


def address() -> str:
    """Return the whole URL that rebuilds this view, with the host that the visitor came by."""
    here = urlsplit(st.context.url or "")
    return f"{root()}{here.path or '/'}?{urlencode(link(), safe=',')}"


def root() -> str:
    """Return where the app is, by the host that the visitor came by."""
    came = urlsplit(st.context.headers.get("Origin") or "")
    host = came if came.netloc else urlsplit(st.context.url or "")
    return urlunsplit((host.scheme, host.netloc, "", "", ""))


def _is_drawn(name: str) -> bool:
    """Whether a widget of this run holds the value: then Streamlit refuses to assign it."""
    try:
        st.session_state[name] = st.session_state[name]
    except StreamlitAPIException:
        return True
    return False


def _texts(values: Mapping[str, Any], params: Mapping[str, Param]) -> dict[str, str]:
    texts = {name: params[name].write(value) for name, value in values.items()}
    return {name: text for name, text in texts.items() if text is not None}
