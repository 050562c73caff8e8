"""One conversation, and what each side gets of it: a request to Ollama, or a chat template's arguments.

A conversation is read from JSON as OpenAI, Hugging Face or Ollama write it. The table of
``docs/conversations.md`` is carried out here and nowhere else: every comparison of a Go template with a Jinja
template rests on it.
"""

from transplate.conversation.conversation import Conversation
from transplate.conversation.for_hf import ChatTemplateArguments
from transplate.conversation.for_ollama import OllamaRequest
from transplate.conversation.messages import LEVELS, Message, Part, Think, ToolCall

__all__ = [
    "LEVELS",
    "ChatTemplateArguments",
    "Conversation",
    "Message",
    "OllamaRequest",
    "Part",
    "Think",
    "ToolCall",
]
