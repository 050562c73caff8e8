"""Random changes of conversations: every one of them is a conversation again, whatever came before."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from transplate.conversation import Conversation
from transplate.parity.mutation import Mutator


@pytest.mark.parametrize("parameters", [0.5, [], ["a"], "text", {"properties": 3}, {"properties": ["a"]}])
def test_tools_that_are_no_schemas_can_be_changed(parameters: Any) -> None:
    """An earlier change may have made a number of what was an object."""
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    asked = Conversation.read({"messages": [{"role": "user", "content": "x"}], "tools": [tool]})
    for seed in range(150):
        mutant = Mutator(Random(seed), ["x"], ["parameters", "properties"]).mutant(asked, asked)
        assert mutant.messages
