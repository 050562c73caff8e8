"""The functions that Ollama adds to Go's, and the clock that its date functions read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime, timedelta

from transplate.gotmpl import json
from transplate.gotmpl.types import ANY, STRING, STRING_SLICE, GoPointer, GoStruct, GoValue, Method
from transplate.ollama.model import PROPERTY_NAME, typescript_type

NOW: ContextVar[datetime | date | None] = ContextVar("now", default=None)
"""What the date functions take for now; None for the computer's clock."""


@contextmanager
def clock(now: datetime | date | None) -> Iterator[None]:
    """Let the date functions read ``now`` within the block; None lets them read the computer's clock."""
    token = NOW.set(now)
    try:
        yield
    finally:
        NOW.reset(token)


def _today() -> date:
    now = NOW.get()
    if now is None:
        return datetime.now().date()
    return now.date() if isinstance(now, datetime) else now


def _current_date(*_: str) -> str:
    return _today().isoformat()


def _yesterday_date(*_: str) -> str:
    today = _today()
    return "0000-12-31" if today == date.min else (today - timedelta(days=1)).isoformat()


def _json(value: GoValue) -> str:
    """Return a value as JSON; what has no JSON gives an empty string, because Ollama drops the error."""
    try:
        return json.marshal(value)
    except json.MarshalError:
        return ""


def _to_typescript_type(value: GoValue) -> str:
    target = value.target if isinstance(value, GoPointer) else value
    if isinstance(target, GoStruct) and target.go_type.name == PROPERTY_NAME:
        return typescript_type(target)
    return "any"


FUNCTIONS: Mapping[str, Method] = {
    "json": Method("json", _json, (ANY,), results=(STRING,)),
    "currentDate": Method("currentDate", _current_date, (STRING_SLICE,), variadic=True, results=(STRING,)),
    "yesterdayDate": Method(
        "yesterdayDate", _yesterday_date, (STRING_SLICE,), variadic=True, results=(STRING,)
    ),
    "toTypeScriptType": Method("toTypeScriptType", _to_typescript_type, (ANY,), results=(STRING,)),
}
"""The functions by name (Ollama's template/template.go)."""
