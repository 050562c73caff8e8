"""Rules about thinking."""

from __future__ import annotations

from collections.abc import Iterator

from transplate.lint.finding import Fault, Rule
from transplate.lint.subject import ANSWER, NEXT, QUESTION, SYSTEM, Subject, assistant, system, user
from transplate.parity.texts import markers

_REASONING = "Roses come to mind."
_COMMON = (("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>"))


def _tags(subject: Subject) -> set[tuple[str, str]]:
    """Return the tags that stand around thinking: the usual ones, and what stands around some in a prompt."""
    tags = set(_COMMON)
    for messages in (
        [user(QUESTION), assistant(ANSWER, reasoning_content=_REASONING), user(NEXT)],
        [user(QUESTION), assistant("", reasoning_content=_REASONING, tool_calls=[_CALL]), _RESULT],
    ):
        before, found, behind = subject.printed(messages).prompt.partition(_REASONING)
        opening = markers(before)
        if found and opening and behind.lstrip().startswith("</" + opening[-1][1:]):
            tags.add((opening[-1], "</" + opening[-1][1:]))
    return tags


_CALL = {"id": "call00001", "type": "function", "function": {"name": "look", "arguments": {}}}
_RESULT = {"role": "tool", "name": "look", "tool_call_id": "call00001", "content": "Red."}


def _content_in_tags(subject: Subject) -> Iterator[Fault]:
    tags = _tags(subject)
    for messages, texts in (
        ([system(SYSTEM), user(QUESTION), assistant(ANSWER), user(NEXT)], (SYSTEM, QUESTION, ANSWER)),
        ([user(QUESTION), assistant(ANSWER), user(NEXT)], (QUESTION, ANSWER, NEXT)),
        ([user(QUESTION), assistant(ANSWER, reasoning_content=_REASONING), user(NEXT)], (QUESTION, ANSWER)),
    ):
        prompt = subject.printed(messages).prompt
        for text in texts:
            for opening, closing in sorted(tags):
                if _stands_in(prompt, text, opening, closing):
                    whose = next(message["role"] for message in messages if message["content"] == text)
                    yield Fault(
                        f"what the {whose} says stands between {opening} and {closing}",
                        subject.find(opening),
                    )
                    return


def _stands_in(prompt: str, text: str, opening: str, closing: str) -> bool:
    """Return whether a text stands in tags that are opened and closed in its own turn."""
    before, found, behind = prompt.partition(text)
    if not found or before.rfind(opening) <= before.rfind(closing):
        return False
    within = before[before.rfind(opening) :]
    if any(other in within for other in (SYSTEM, QUESTION, ANSWER)):
        return False
    end = behind.find(closing)
    others = [at for at in map(behind.find, (QUESTION, ANSWER, NEXT, opening)) if at >= 0]
    return end >= 0 and all(end < at for at in others)


RULES = (
    Rule(
        "content-in-thinking-tags",
        "error",
        "What is said stands between the tags of what is thought.",
        _content_in_tags,
    ),
)
