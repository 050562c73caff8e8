"""What becomes of typed parts of content, of which Ollama makes one text with tags for images."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from transplate.conversation import Conversation, Part
from transplate.convert.report import Loss
from transplate.errors import TransplateError
from transplate.jinja import JinjaTemplate
from transplate.jinja import nodes as j
from transplate.jinja.reader import JinjaTree

_KINDS = frozenset({"image", "image_url"})
_TAG = "[img-"
_QUESTION = "A question"


def image_loss(tree: JinjaTree) -> Loss | None:
    """Return what becomes of images, if a chat template prints something else for them.

    Ollama puts a tag, ``[img-0]``, in front of the message's text (``chatPrompt`` in server/prompt.go), and
    its runner the image in the place of the tag, with the markers that the model wants around it.
    """
    first: int | None = None
    is_found = False
    pending: list[tuple[object, int | None]] = [(tree.body, None)]
    while pending:
        part, place = pending.pop()
        if isinstance(part, j.Literal):
            if isinstance(part.value, str) and part.value.startswith(_TAG):
                return None  # it writes the tags itself
            if part.value in _KINDS and not is_found:
                first, is_found = place, True
        elif isinstance(part, tuple):
            pending.extend((one, place) for one in reversed(part))
        elif is_dataclass(part):
            place = tree.places.get(id(part), place)
            pending.extend((getattr(part, one.name), place) for one in reversed(fields(part)))
    if not is_found:
        return None
    position = None if first is None else tree.source.position(first)
    return Loss(
        "an image is Ollama's tag [img-0] in front of the message's text, and Ollama puts the model's "
        "markers around it; what the chat template prints for images is left out",
        None if position is None else position.line,
        None if position is None else position.column,
        name="images",
        affects=_has_images,
    )


def parts_loss(chat: JinjaTemplate) -> Loss | None:
    """Return what becomes of texts, if a chat template prints them only as typed parts."""

    def prints(content: str | list[dict[str, str]]) -> bool:
        try:
            return _QUESTION in chat.render([{"role": "user", "content": content}])
        except TransplateError:
            return False

    if prints(_QUESTION) or not prints([{"type": "text", "text": _QUESTION}]):
        return None
    return Loss(
        "the chat template prints texts only where they are typed parts, and Ollama hands over no parts: of "
        "messages from a user nothing is printed"
    )


def _has_images(conversation: Conversation) -> bool:
    return any(message.images or _has_image_part(message.content) for message in conversation.messages)


def _has_image_part(content: str | tuple[Part, ...] | None) -> bool:
    return isinstance(content, tuple) and any(part.kind in _KINDS for part in content)
