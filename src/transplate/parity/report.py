"""What a comparison found: whether two templates are equal, and each kind of difference once."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from transplate.conversation import Conversation
from transplate.errors import TransplateError


class Verdict(Enum):
    """The answer of a comparison."""

    EQUAL = "equal"
    """The sides have the same prompt on all conversations."""
    CONDITIONAL = "equal under conditions"
    """They have wherever some conditions hold, all of them on what is said in the conversation."""
    DIFFERENT = "different"
    """There are differences that no condition on the conversation keeps out."""
    NOTHING = "nothing compared"
    """There was no conversation on which they could be compared."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A conversation on which two templates do not print the same.

    Attributes:
        cause: What kind of difference it is, in a few words.
        conversation: The conversation.
        prompts: What each side printed; of a side that failed, what it had printed by then.
        errors: Why a side failed, None where it did not.
        position: Number of characters that the prompts begin with in common.
        causes: The names of all causes that were found by experiment; empty if none was looked for.
    """

    cause: str
    conversation: Conversation
    prompts: tuple[str, str]
    errors: tuple[TransplateError | None, TransplateError | None]
    position: int
    causes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where the bytes come from at which two prompts part.

    Attributes:
        line: The line of the template that printed them, from 1; None if that cannot be told.
        column: The column, in characters.
        text: That line of the template.
    """

    line: int | None
    column: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of difference, found by experiment.

    Attributes:
        name: The name of its cause.
        title: The cause in a few words.
        condition: What has to hold of a conversation for it not to arise; empty if nothing helps.
        sides: What each side does, in a few words; empty where there is nothing to say.
        count: On how many of the conversations it is among the causes.
        conversations: Their names, as far as they have some.
        smallest: The smallest conversation that was found for it.
        byte: The first byte in which the prompts of the smallest conversation differ, from 0.
        message: The number of the message from which that byte comes or before which it is, from 0; None if
            it is behind all messages.
        places: The places in both templates that printed it.
        form: The form in which chat templates were given the conversation, where that matters.
        unusual: Whether even the smallest conversation is one that people hardly send.
    """

    name: str
    title: str
    condition: str
    sides: tuple[str, str]
    count: int
    conversations: tuple[str, ...]
    smallest: Difference
    byte: int
    message: int | None
    places: tuple[Place | None, Place | None]
    form: str = ""
    unusual: bool = False


@dataclass(frozen=True, slots=True)
class Reach:
    """Which branches of a template the conversations took.

    Attributes:
        arms: How many ways the template can go, at all places together.
        taken: How many of them were taken.
        dead: How many cannot be taken by any conversation, each with the reason.
        open: Those that were not taken, though nothing says that they cannot be.
    """

    arms: int
    taken: int
    dead: tuple[tuple[str, str], ...]
    open: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ParityReport:
    """What a comparison found.

    Attributes:
        equal: Whether there is no difference, and at least one conversation was compared.
        checked: Number of conversations compared.
        differences: Those on which the sides differ: in their prompts, or in that only one has a prompt.
        refused: Names of the conversations that could not be compared, because neither side has a prompt, or
            because Ollama refuses the request before any template sees it (tools for a template without them,
            thinking for one that does not think, an image that is not there). They count neither for nor
            against equality.
        reasons: Why, each reason once.
        kinds: Each kind of difference once, the most frequent first, those on unusual
            conversations last; empty unless causes were looked for.
        reach: Of both templates the branches that were taken; empty unless conversations were generated.
        stopped: Why the comparison ended before all was compared and explained; empty if it did not.
    """

    equal: bool
    checked: int
    differences: tuple[Difference, ...]
    refused: tuple[str, ...] = ()
    reasons: tuple[str, ...] = field(default=(), kw_only=True)
    kinds: tuple[Kind, ...] = ()
    reach: tuple[Reach, ...] = ()
    stopped: str = ""

    @property
    def verdict(self) -> Verdict:
        """The answer in one word."""
        if self.equal:
            return Verdict.EQUAL
        if not self.differences:
            return Verdict.NOTHING
        has_equal = len(self.differences) < self.checked
        if self.kinds and has_equal and not self.stopped and all(kind.condition for kind in self.kinds):
            return Verdict.CONDITIONAL
        return Verdict.DIFFERENT

    @property
    def conditions(self) -> tuple[str, ...]:
        """What has to hold of a conversation for the sides to have the same prompt."""
        return tuple(dict.fromkeys(kind.condition for kind in self.kinds if kind.condition))
