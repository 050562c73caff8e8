"""What causes of differences are called, besides those that experiments on conversations show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from transplate.parity.texts import Hunk, without_escapes, without_json_spacing

FORM = "only given "
"""What the names of causes begin with that lie in the form of what chat templates are given."""


@dataclass(frozen=True, slots=True)
class OutputChange:
    """An experiment on the prompts: a way of writing that is the same on both sides afterwards.

    Attributes:
        name: The name of the cause that it shows.
        title: The cause in a few words.
        apply: Makes the changed prompt.
    """

    name: str
    title: str
    apply: Callable[[str], str]


OUTPUT: tuple[OutputChange, ...] = (
    OutputChange("json-spacing", "JSON spacing", without_json_spacing),
    OutputChange("json-escaping", "JSON escaping", without_escapes),
)

FIXED: Mapping[str, str] = {
    "bos": "BOS",
    "eos": "the text that ends an answer",
    "generation-prompt": "trailing generation prompt",
    "default-system": "default system prompt",
    "date": "date",
    "white-space": "white space around the messages",
    "fixed-text": "fixed text around the messages",
    "only-one-shows-system": "only one side shows the system message",
    "only-one-shows-user": "only one side shows what the user says",
    "only-one-shows-assistant": "only one side shows what the assistant says",
    "only-one-shows-tool": "only one side shows tool results",
    "only-one-shows-other": "only one side shows messages of another role",
    "raises": "one side raises",
    "unexplained": "unexplained",
}
"""Titles of the causes that no change of the conversation shows."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why the sides differ on a conversation.

    Attributes:
        causes: The names of the causes, all of which it takes.
        fixed: The differences in fixed text, with the name of the cause of each.
        unexplained: What no experiment accounts for.
        changes: The experiments to be made together, of which the causes are named.
    """

    causes: tuple[str, ...]
    fixed: tuple[Hunk, ...] = ()
    unexplained: tuple[Hunk, ...] = ()
    changes: tuple[str, ...] = ()
