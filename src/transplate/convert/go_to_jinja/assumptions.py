"""The named assumptions: what each one takes for granted, and which of them a conversion starts from."""

from __future__ import annotations

from collections.abc import Iterable

from transplate.convert.go_to_jinja import conversations
from transplate.convert.report import Assumption, named_assumptions

_ALL = (
    Assumption(
        "alternating-roles",
        "roles are lower-case, and only tool messages follow one of their kind",
        conversations.has_alternating_roles,
    ),
    Assumption(
        "alternating-turns",
        "user and assistant take turns after a system message, if there is one, and no text is empty",
        conversations.has_alternating_turns,
    ),
    Assumption(
        "leading-system", "only the first message may be of role system", conversations.leads_with_system
    ),
    Assumption("text-content", "every content is text", conversations.has_text_content),
    Assumption("some-message", "there is at least one message", conversations.has_messages),
    Assumption(
        "no-system",
        "there is no system message, which this template would not print",
        conversations.has_no_system,
    ),
    Assumption("object-arguments", "the arguments of a tool call are an object"),
    Assumption(
        "plain-numbers",
        "numbers need no exponent, no more than 6 decimals and no fraction .0",
        conversations.has_plain_numbers,
    ),
    Assumption(
        "plain-space",
        "the white space around texts is spaces, tabs and line ends",
        conversations.has_plain_space,
    ),
    Assumption(
        "ascii-texts", "texts that are cut or counted by characters are ASCII", conversations.has_ascii_texts
    ),
    Assumption(
        "plain-schemas",
        "tools have a description and parameters; properties have one type and are not nested",
        conversations.has_plain_schemas,
    ),
    Assumption(
        "open-prefill",
        "a final message of the assistant is rendered without a generation prompt, and continued",
        conversations.ends_without_assistant,
    ),
    Assumption(
        "hf-json",
        "tools and arguments are printed by tojson, as the vendor's template does",
        conversations.has_no_tools,
    ),
    Assumption(
        "llama-server",
        "a tool call that is not quite JSON may be completed, so that llama-server starts",
        conversations.has_no_tool_calls,
    ),
    Assumption("bos-token", "the host does not add the BOS token, so the template prints it"),
)

ASSUMPTIONS = {assumption.name: assumption for assumption in _ALL}
"""Every assumption by name, in the order in which they are listed."""

OPT_IN = frozenset({"hf-json", "llama-server", "bos-token"})
"""The assumptions that hold only where they are asked for."""


class Assumptions:
    """The assumptions that a conversion may rely on, and those that it did rely on."""

    def __init__(self, *, exact: bool, assume: Iterable[str] = ()) -> None:
        """Start from none of them (``exact``) or from all that ordinary conversations meet.

        Raises:
            ValueError: ``assume`` has a name that no assumption has.
        """
        named = named_assumptions(assume, ASSUMPTIONS)
        self.allowed = named if exact else named | (ASSUMPTIONS.keys() - OPT_IN)
        self._used: set[str] = set()

    def allows(self, name: str) -> bool:
        """Return whether an assumption may be relied on, without relying on it."""
        return name in self.allowed

    def use(self, name: str) -> bool:
        """Return whether an assumption may be relied on; if so, note that it was."""
        if name in self.allowed:
            self._used.add(name)
            return True
        return False

    @property
    def used(self) -> tuple[Assumption, ...]:
        """The assumptions relied on, in their order."""
        return tuple(assumption for name, assumption in ASSUMPTIONS.items() if name in self._used)
