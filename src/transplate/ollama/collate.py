"""What Ollama does to the messages before a template sees them: gathering, joining, image tags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from transplate.ollama.request import Message

SEPARATOR = "\n\n"
"""What Ollama puts between texts that it joins."""


def collate(messages: Iterable[Message]) -> tuple[str, list[Message]]:
    """Gather the system messages and join neighbours of the same role, as ``collate`` in template.go.

    Messages of the role ``tool`` stay apart. Of joined messages only the contents are joined: all else is
    the first one's.

    Returns:
        The system messages' contents joined to one text, and the messages.
    """
    system: list[str] = []
    collated: list[Message] = []
    last_role = None
    joined: list[str] = []

    def finish() -> None:
        if len(joined) > 1:
            role, _, *rest = collated[-1]
            collated[-1] = (role, SEPARATOR.join(joined), *rest)  # type: ignore[assignment]

    for message in messages:
        role, content = message[0], message[1]
        if role == "system":
            system.append(content)
        if role == last_role and role != "tool":
            joined.append(content)
        else:
            finish()
            collated.append(message)
            joined = [content]
            last_role = role
    finish()
    return SEPARATOR.join(system), collated


def tag_images(messages: Sequence[Message]) -> list[Message]:
    """Put a tag for each image into its message, as ``chatPrompt`` in Ollama's server/prompt.go.

    A tag takes the place of the first ``[img]`` in the content, or stands in front of it.
    """
    tagged: list[Message] = []
    number = 0
    for message in messages:
        images = message[3]
        if images:
            role, content, *rest = message
            prefix = ""
            for _ in images:
                tag = f"[img-{number}]"
                number += 1
                if "[img]" in content:
                    content = content.replace("[img]", tag, 1)
                else:
                    prefix += tag
            message = (role, prefix + content, *rest)  # type: ignore[assignment]
        tagged.append(message)
    return tagged
