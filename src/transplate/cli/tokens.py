"""Special tokens that a chat template needs and that nothing tells: errors in, the options to give out."""

from __future__ import annotations

import re
from collections.abc import Iterable

_UNDEFINED = re.compile(r"'(\w+_token)' is undefined")


def missing_tokens(messages: Iterable[str]) -> list[str]:
    """Return the special tokens for want of which a chat template failed, by the messages of its errors."""
    found = (_UNDEFINED.fullmatch(message) for message in messages)
    return sorted({match[1] for match in found if match is not None})


def token_options(names: Iterable[str]) -> str:
    """Return the options that give special tokens, as one types them."""
    return " ".join(f"--token {name}=TEXT" for name in names)


def token_hint(messages: Iterable[str]) -> str:
    """Return what to do about errors for want of special tokens; empty where there are none such."""
    options = token_options(missing_tokens(messages))
    return options and f"hint: {options} gives what a chat template alone does not tell"
