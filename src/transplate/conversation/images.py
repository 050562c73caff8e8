"""Images in messages: the base64 of them that Ollama takes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from transplate.conversation.messages import Part
from transplate.errors import RequestError

_DATA_URLS = ("data:;base64,", *(f"data:image/{kind};base64," for kind in ("jpeg", "jpg", "png", "webp")))


def image_data(part: Part, path: str) -> str:
    """Return the image of a part as base64.

    Raises:
        RequestError: It is no image, or one that is not here.
    """
    if part.kind == "image_url":
        source, path = part.given["image_url"], f"{path}.image_url"
        if isinstance(source, Mapping):
            source, path = source["url"], f"{path}.url"
    elif part.kind == "image":
        names = [name for name in ("base64", "image", "url") if isinstance(part.given.get(name), str)]
        if not names:
            raise RequestError(f"{path}: Ollama needs the image itself, as base64")
        source, path = part.given[names[0]], f"{path}.{names[0]}"
    else:
        raise RequestError(f"{path}.type: Ollama takes text and images, not {part.kind!r}")
    if source.startswith(("http://", "https://")):
        raise RequestError(f"{path}: Ollama fetches no images, it needs them as base64")
    for prefix in _DATA_URLS:
        if source.startswith(prefix):
            return proper_base64(source.removeprefix(prefix), path)
    if part.kind == "image" and not source.startswith("data:"):
        return proper_base64(source, path)
    raise RequestError(f"{path}: an image is a data URL of a JPEG, PNG or WebP file in base64")


def proper_base64(text: str, path: str) -> str:
    """Return base64 in its one proper form."""
    try:
        decoded = base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        raise RequestError(f"{path}: is not base64") from None
    return base64.b64encode(decoded).decode()
