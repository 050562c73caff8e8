"""What templates print around what is said: which cause a difference in it has, and where it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from transplate.conversation import Conversation
from transplate.parity.measuring import Measure
from transplate.parity.sides import JinjaSide
from transplate.parity.texts import Hunk, Place, hunk_at, places, words_of

FEATURES = (
    *("tool-results", "tool-calls", "tools", "think-switch", "thinking", "system", "history"),
    *("long-text", "text-not-parts", "words"),
)
"""The changes that take out a whole feature."""
_PLAIN_FEATURES = 5
"""How many of them say more of a difference than where it is."""
_LATER = timedelta(days=3777, hours=7)
"""To a time at which day, month, year, weekday and hour are others."""
_TOKEN_ALONE = re.compile(r"\s*(<[^<>\s]+>|\[[a-zA-Z_]+\])+\s*")
_END_TOKEN = re.compile(r"</s>|<\|?(?:im_end|eot_id|end|endoftext|end_of_turn|end_of_text|eos|END_OF_TURN)")
_SPEAKERS = ("system", "user", "assistant", "tool")


class FixedText:
    """Names what is left of a difference once experiments have been made, if it is all fixed text.

    Args:
        measure: Makes experiments on the pair; it gets to know what is accepted.
    """

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._pair = measure.pair

    def accept(self, conversation: Conversation, names: Iterable[str]) -> bool:
        """Name and accept what is left of a difference, if it is all fixed text; return whether it is."""
        changed = self._measure.changed(conversation, names)
        outcomes = self._pair.outcomes(changed)
        if outcomes[0].error or outcomes[1].error:
            return False
        one, other = self._measure.prompts(outcomes, names)
        contents = self._measure.contents(changed)
        found = [(place, hunk_at(one, other, place, contents)) for place in places(one, other)]
        said = frozenset().union(*(words_of((hunk.a, hunk.b)) & contents for _, hunk in found))
        seen = self._seen_by_one(changed) if said else {}
        if not said <= seen.keys():
            return False
        for place, hunk in found:
            if hunk not in self._measure.accepted:
                roles = {seen[word] for word in words_of((hunk.a, hunk.b)) & contents}
                cause = self._fixed_cause(changed, names, (one, other), place, hunk)
                self._measure.accepted[hunk] = f"only-one-shows-{min(roles)}" if roles else cause
        return True

    def _seen_by_one(self, conversation: Conversation) -> dict[str, str]:
        """Return the words of messages that only one side prints, each with the role of its message.

        The experiment: give the messages of a role another text and see whose prompt changes.
        """
        seen: dict[str, str] = {}
        before = self._pair.outcomes(conversation)
        for role in dict.fromkeys(message.role for message in conversation.messages):
            messages = tuple(
                replace(message, content="Wv8") if message.role == role else message
                for message in conversation.messages
            )
            after = self._pair.outcomes(replace(conversation, messages=messages))
            changed = [old.prompt != new.prompt for old, new in zip(before, after, strict=True)]
            if changed[0] != changed[1]:
                texts = [message.content for message in conversation.messages if message.role == role]
                name = role if role in _SPEAKERS else "other"
                seen |= dict.fromkeys(words_of(text for text in texts if isinstance(text, str)), name)
        return seen

    def _fixed_cause(
        self,
        conversation: Conversation,
        names: Iterable[str],
        prompts: tuple[str, str],
        place: Place,
        hunk: Hunk,
    ) -> str:
        """Return the cause of a difference in fixed text: by what makes it go, else by where it is."""
        if self._moves_with_clock(conversation, hunk):
            return "date"
        for name in FEATURES[:_PLAIN_FEATURES]:
            if self._goes_with(conversation, names, name, hunk):
                return name
        if place.start_a == place.start_b == 0 and (
            (_is_token(hunk.a) and not hunk.b.strip()) or (_is_token(hunk.b) and not hunk.a.strip())
        ):
            return "bos"
        if self._is_generation_prompt(conversation, prompts, place):
            return "generation-prompt"
        if hunk.is_space:
            return "white-space"
        if _END_TOKEN.match(hunk.a.strip()) or _END_TOKEN.match(hunk.b.strip()):
            return "eos"
        for name in FEATURES[_PLAIN_FEATURES:]:
            if self._goes_with(conversation, names, name, hunk):
                return name
        return "fixed-text"

    def _moves_with_clock(self, conversation: Conversation, hunk: Hunk) -> bool:
        """Return whether a side prints something else there at another time."""
        now = conversation.now or self._pair.clock
        later = replace(conversation, now=now + _LATER)
        for side, text in zip(self._pair.sides, (hunk.a, hunk.b), strict=True):
            if text.strip() and text not in side.render(later, later.now).prompt:
                return True
        return False

    def _goes_with(self, conversation: Conversation, names: Iterable[str], name: str, hunk: Hunk) -> bool:
        """Return whether a difference is not there any more once a feature is taken out."""
        changed = self._measure.changes[name].apply(conversation)
        if changed is conversation:
            return False
        outcomes = self._pair.outcomes(changed)
        if outcomes[0].error or outcomes[1].error:
            return False
        one, other = self._measure.prompts(outcomes, names)
        contents = self._measure.contents(changed)
        return all(hunk_at(one, other, place, contents) != hunk for place in places(one, other))

    def _is_generation_prompt(
        self, conversation: Conversation, prompts: tuple[str, str], place: Place
    ) -> bool:
        """Return whether a place is in what a side prints for the answer to come."""
        for at, (side, prompt) in enumerate(zip(self._pair.sides, prompts, strict=True)):
            if not isinstance(side, JinjaSide):
                continue
            arguments: dict[str, Any] = {**conversation.to_hf(), "now": conversation.now or self._pair.clock}
            if not arguments["add_generation_prompt"]:
                continue
            closed = side.template.render(**{**arguments, "add_generation_prompt": False})
            start = (place.start_a, place.start_b)[at]
            end = (place.end_a, place.end_b)[at]
            if len(closed) < len(prompt) and prompt.startswith(closed):
                return start >= len(closed) or (start < end and end > len(closed) and start >= len(closed))
        text = conversation.messages[-1].content
        if isinstance(text, str) and text.strip():
            ends = tuple(prompt.rfind(text.strip()) + len(text.strip()) for prompt in prompts)
            return place.end_a == len(prompts[0]) and place.start_a >= ends[0] and place.start_b >= ends[1]
        return False


def _is_token(text: str) -> bool:
    return bool(_TOKEN_ALONE.fullmatch(text))
