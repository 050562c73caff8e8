"""Whether each prompt of a growing conversation extends the one before, so that a prompt cache can be used.

A server keeps what it has read. If the next prompt begins with the last one, only what is new has to be read;
if the template takes something back, everything from there on is read again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from transplate.conversation import Conversation, Message, ToolCall
from transplate.parity.dates import CLOCK
from transplate.parity.experiments import COARSE, GENTLE
from transplate.parity.sides import JinjaSide, Side, Template, side_of
from transplate.parity.texts import common_prefix

_TOOL = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Look at a file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}
_EMPTY_THINK = re.compile(r"<think>\s*</think>\s*$")
_NAME = re.compile(r"(?<![\w.|'\"])[a-z]\w+(?!\w*\()")
_CHANGES = {change.name: change for change in (*GENTLE, *COARSE)}
_CAUSES: tuple[tuple[str, str], ...] = (
    ("thinking", "the thinking of earlier answers is dropped"),
    ("think-text", "the thinking in the text of earlier answers is dropped"),
    ("tools", "the tools move"),
    ("hoisted-system", "a later system message is moved to the front"),
    ("text-beside-call", "text beside a call is dropped"),
    ("content-white-space", "white space is cut off"),
)


@dataclass(frozen=True, slots=True)
class Replay:
    """A conversation that grows turn by turn.

    Attributes:
        name: What it is called.
        conversation: The whole of it.
        days: How many days pass between two turns.
    """

    name: str
    conversation: Conversation
    days: int = 0

    def turns(self) -> list[Conversation]:
        """Return the conversation as it is whenever the assistant is asked."""
        messages = self.conversation.messages
        return [
            replace(self.conversation, messages=messages[:at])
            for at, message in enumerate(messages)
            if at and message.role == "assistant"
        ]


@dataclass(frozen=True, slots=True)
class Break:
    """A turn whose prompt does not extend the one before.

    Attributes:
        replay: The name of the conversation.
        turn: The number of the turn, from 1.
        kept: How many characters both prompts begin with in common.
        lost: The share of the earlier prompt that has to be read again.
        cause: Why, found by experiment; empty if no experiment tells.
        variable: The variable of the template that avoids it, with its value; empty if none was found.
        before: The earlier prompt.
        after: The prompt that does not extend it.
    """

    replay: str
    turn: int
    kept: int
    lost: float
    cause: str
    variable: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class CacheReport:
    """What a replay of growing conversations found.

    Attributes:
        replayed: How many conversations were replayed.
        skipped: The names of those that the template or Ollama refuses.
        breaks: For each conversation the first turn that breaks the cache, if one does.
    """

    replayed: int
    skipped: tuple[str, ...]
    breaks: tuple[Break, ...]


def check_cache(template: Template, *, now: datetime | None = None) -> CacheReport:
    """Replay growing conversations and agent loops, and see which prompts do not extend the one before.

    Args:
        template: What stands for a template, as for :func:`check_parity`.
        now: The time of the first turn; a fixed date if None.

    Returns:
        The report.

    Raises:
        TransplateError: The template cannot be read.
    """
    side, clock = side_of(template), now or CLOCK
    skipped: list[str] = []
    breaks: list[Break] = []
    replays = list(_replays(side))
    for replay in replays:
        prompts = _prompts(side, replay, clock)
        if prompts is None:
            skipped.append(replay.name)
            continue
        for turn, (before, after) in enumerate(pairwise(prompts), 2):
            if not after.startswith(before):
                breaks.append(_break(side, replay, clock, turn, before, after))
                break
    return CacheReport(len(replays) - len(skipped), tuple(skipped), tuple(breaks))


def _break(side: Side, replay: Replay, clock: datetime, turn: int, before: str, after: str) -> Break:
    kept = common_prefix(before, after)
    return Break(
        replay=replay.name,
        turn=turn,
        kept=kept,
        lost=(len(before) - kept) / len(before),
        cause=_cause(side, replay, clock, before),
        variable=_variable(side, replay, clock),
        before=before,
        after=after,
    )


def _prompts(side: Side, replay: Replay, clock: datetime) -> list[str] | None:
    """Return the prompts of all turns, None if one fails."""
    prompts = []
    for number, conversation in enumerate(replay.turns()):
        outcome = side.render(conversation, clock + timedelta(days=replay.days * number))
        if outcome.error is not None:
            return None
        prompts.append(outcome.prompt)
    return prompts


def _extends(side: Side, replay: Replay, clock: datetime) -> bool:
    prompts = _prompts(side, replay, clock)
    if prompts is None:
        return False
    return all(after.startswith(before) for before, after in pairwise(prompts))


def _cause(side: Side, replay: Replay, clock: datetime, before: str) -> str:
    """Return why a replay breaks: what to change about it so that it does not."""
    if replay.days and _extends(side, replace(replay, days=0), clock):
        return "the date is in the prompt"
    for name, title in _CAUSES:
        change: Callable[[Conversation], Conversation] = _CHANGES[name].apply
        changed = change(replay.conversation)
        if changed is not replay.conversation and _extends(
            side, replace(replay, conversation=changed), clock
        ):
            return title
    if _EMPTY_THINK.search(before):
        return "the prompt ends with an empty think block that the history does not have"
    return ""


def _variable(side: Side, replay: Replay, clock: datetime) -> str:
    """Return the variable of a chat template with which a replay does not break."""
    if not isinstance(side, JinjaSide):
        return ""
    names = {name for arm in side.arms for name in _NAME.findall(arm.text)}
    for name in sorted(
        names - {"messages", "tools", "message", "add_generation_prompt", "loop", "not", "and", "or"}
    ):
        for value in (True, False):
            conversation = replace(replay.conversation, variables={name: value})
            if _extends(side, replace(replay, conversation=conversation), clock):
                return f"{name}={str(value).lower()}"
    return ""


def _replays(side: Side) -> Iterator[Replay]:
    """Yield the conversations to replay, as far as Ollama does not refuse them for the template."""

    def call(path: str, reasoning: str = "") -> Message:
        return Message("assistant", "", reasoning, (ToolCall("look", {"path": path}, f"call_{path}"),))

    def result(path: str) -> Message:
        return Message("tool", f"contents of {path}", name="look", tool_call_id=f"call_{path}")

    system, one, two = Message("system", "Be brief."), Message("user", "One?"), Message("user", "Two?")
    three, last = Message("user", "Three?"), Message("assistant", "End.")
    answers = [Message("assistant", text) for text in ("First.", "Second.")]
    thought = [Message("assistant", text, f"Why {text}") for text in ("First.", "Second.")]
    chat = Conversation((system, one, answers[0], two, answers[1], three, last))
    yield Replay("chat", chat)
    yield Replay("chat over days", chat, days=1)
    yield Replay(
        "chat with thinking", Conversation((one, thought[0], two, thought[1], three, last), think=True)
    )
    yield Replay(
        "chat without thinking", Conversation((one, answers[0], two, answers[1], three, last), think=False)
    )
    yield Replay(
        "system message in the middle",
        Conversation(
            (system, one, answers[0], Message("system", "Now rhyme."), two, answers[1], three, last)
        ),
    )
    if "tools" in side.abilities:
        loop = (one, call("a"), result("a"), call("b"), result("b"), answers[0], two, last)
        yield Replay("agent", Conversation((system, *loop), tools=(_TOOL,)))
        thinking = (
            one,
            call("a", "Look at a."),
            result("a"),
            call("b", "And b."),
            result("b"),
            thought[0],
            two,
            last,
        )
        yield Replay("agent with thinking", Conversation(thinking, tools=(_TOOL,), think=True))
