"""The real Ollama server of the tests: it makes models, shows them, and tells their prompts."""

import pytest

from tests.oracle.server.oracle import OllamaServer, ServerRefusal

MODELFILE = '''FROM ./tiny.gguf
TEMPLATE """{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}<assistant>"""
SYSTEM Be brief.
PARAMETER stop <user>
'''


def test_makes_shows_and_renders_a_model(ollama_server: OllamaServer) -> None:
    ollama_server.create("brief", MODELFILE)
    shown = ollama_server.show("brief")
    assert shown["system"] == "Be brief."
    assert shown["parameters"].split() == ["stop", '"<user>"']
    question = [{"role": "user", "content": "Hi"}]
    assert ollama_server.prompt("brief", {"messages": question}) == ("<system>Be brief.<user>Hi<assistant>")
    assert ollama_server.prompt("brief", {"prompt": "Hi", "system": "X"}) == "<system>X<user>Hi<assistant>"
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    with pytest.raises(ServerRefusal, match="does not support tools"):
        ollama_server.prompt("brief", {"messages": question, "tools": tools})


def test_tells_why_it_makes_no_model(ollama_server: OllamaServer) -> None:
    with pytest.raises(ServerRefusal, match="command must be one of"):
        ollama_server.create("none", "FORM ./tiny.gguf\n")
