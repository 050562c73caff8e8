"""What a template prints on a few conversations, where hosts go by that or cut it."""

from __future__ import annotations

from transplate.conversation import Conversation
from transplate.convert.report import Loss
from transplate.errors import TransplateError
from transplate.limits import Limits
from transplate.ollama.template import OllamaTemplate

_BEGINNING = "The capital is"
_CONVERSATIONS: tuple[list[dict[str, str]], ...] = (
    [{"role": "user", "content": "Capital?"}, {"role": "assistant", "content": _BEGINNING}],
    [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Capital?"},
        {"role": "assistant", "content": _BEGINNING},
    ],
)
_TOOL = {
    "type": "function",
    "function": {
        "name": "probed_tool",
        "description": "Probe.",
        "parameters": {"type": "object", "properties": {"x": {"type": "string", "description": "X."}}},
    },
}
_LIMITS = Limits(steps=20_000, output=1_000_000)


def closed_prefill(source: str, *, ollama: str) -> list[Loss]:
    """Return the loss of a template with which Ollama prints something behind a final answer, if so.

    Hosts that continue an answer cut the prompt behind it, whatever the template prints there.
    """
    try:
        template = OllamaTemplate(source, ollama=ollama, limits=_LIMITS)
        is_open = all(template.render(messages).endswith(_BEGINNING) for messages in _CONVERSATIONS)
    except TransplateError:
        return []
    return [] if is_open else [Loss(_MESSAGE, name="closed-prefill", affects=_continues_answer)]


def hides_tools(source: str, *, ollama: str) -> bool:
    """Return whether a template that knows tools prints none of them for a lone question.

    That is the request on which llama-server finds out whether a template supports tools.
    """
    try:
        template = OllamaTemplate(source, ollama=ollama, limits=_LIMITS)
        if "tools" not in template.inference.abilities:
            return False
        return "probed_tool" not in template.render([{"role": "user", "content": "Hi"}], tools=[_TOOL])
    except TransplateError:
        return False


_MESSAGE = "where a host continues the assistant's last message, it cuts off what Ollama prints behind it"


def _continues_answer(conversation: Conversation) -> bool:
    return conversation.to_hf()["continue_final_message"] is not False
