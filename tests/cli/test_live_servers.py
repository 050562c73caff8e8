"""``transplate check`` against running servers: the real Ollama, the real llama-server, and strange ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.oracle.llama import LlamaEngine
from tests.oracle.server.oracle import OllamaServer
from transplate import Conversation, Model
from transplate.errors import RequestError, TemplateExecutionError
from transplate.servers import live, open_server

USER = {"role": "user", "content": "What is <red> & blue?"}
TOOL = {"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}}
CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
CONVERSATIONS: list[Any] = [
    [USER],
    [{"role": "system", "content": "Own."}, {"role": "user", "content": "Hi é 日本\n"}],
    [USER, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c\n\nd"}],
    [{"role": "user", "content": "<|im_end|> {{ .System }}"}],
]


def write_conversations(*conversations: Any) -> str:
    Path("asked.jsonl").write_text("".join(json.dumps(each) + "\n" for each in conversations))
    return "asked.jsonl"


# --- Ollama ---------------------------------------------------------------------------------------------


def test_ollama_prints_what_a_converted_template_prints(
    ollama_server: OllamaServer, run: Run, folder: Path
) -> None:
    (folder / "chat_template.jinja").write_text(CHATML)
    Model.load("chat_template.jinja").save_modelfile("Modelfile", base=str(ollama_server.weights))
    ollama_server.create("live-chatml", folder / "Modelfile")
    address = f"{ollama_server.url}#live-chatml"
    result = run("check", "chat_template.jinja", address, write_conversations(*CONVERSATIONS))
    assert (result.status, result.errors) == (0, "")
    assert result.output == "EQUAL on 4 conversations\n"


def test_ollama_prints_something_else(ollama_server: OllamaServer, run: Run, folder: Path) -> None:
    go = "{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}"
    ollama_server.create("live-go", f'FROM ./tiny.gguf\nTEMPLATE """{go}<assistant>"""\nSYSTEM Be brief.\n')
    address = f"{ollama_server.url}#live-go"
    (folder / "Modelfile").write_text(f'FROM x\nTEMPLATE """{go}<ai>"""\nSYSTEM Be brief.\n')
    asked = write_conversations(*CONVERSATIONS[:2])
    result = run("check", "Modelfile", address, asked)
    assert result.status == 1
    assert 'go prints "<ai>"; server prints "<assistant>"' in result.output
    (folder / "Modelfile").write_text(f'FROM x\nTEMPLATE """{go}<assistant>"""\n')
    assert "system" in run("check", "Modelfile", address, asked, "--json").output


def test_ollama_itself_makes_the_prompt_and_refuses(ollama_server: OllamaServer) -> None:
    failing = (
        '{{ range .Messages }}{{ .Content }}{{ if eq .Role "system" }}{{ slice "a" 2 }}{{ end }}{{ end }}'
    )
    ollama_server.create(
        "live-failing", f"FROM ./tiny.gguf\nTEMPLATE '''{failing}'''\n".replace("'''", '"""')
    )
    server = open_server(f"{ollama_server.url}/#live-failing")
    assert server.abilities == frozenset()
    assert server.render(Conversation.read([USER])) == ollama_server.prompt(
        "live-failing", {"messages": [USER]}
    )
    with pytest.raises(RequestError, match="does not support tools"):
        server.render(Conversation.read({"messages": [USER], "tools": [TOOL]}))
    with pytest.raises(TemplateExecutionError, match="out of range"):
        server.render(Conversation.read(CONVERSATIONS[1]))


def test_only_ollama_fails(ollama_server: OllamaServer, run: Run, folder: Path) -> None:
    failing = (
        '{{ range .Messages }}{{ if eq .Role "system" }}{{ slice "a" 2 }}{{ end }}{{ .Content }}{{ end }}'
    )
    ollama_server.create("live-half", f'FROM ./tiny.gguf\nTEMPLATE """{failing}"""\n')
    (folder / "a.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    dated = {"messages": [USER], "date": "2024-01-02"}
    asked = write_conversations(*CONVERSATIONS[:2], dated)
    result = run("check", "a.jinja", f"{ollama_server.url}#live-half", asked)
    assert result.status == 1
    # The clock of a server cannot be set, so a conversation with a date says nothing.
    assert "equal on 1 of 2 conversations · 1 left out" in result.output
    assert "server fails: template: " in result.output
    missing = run("check", "a.jinja", f"{ollama_server.url}#live-none", asked)
    assert (missing.status, missing.output) == (2, "")
    assert "live-none: model 'live-none' not found" in missing.errors
    unnamed = run("check", "a.jinja", ollama_server.url, asked)
    assert (unnamed.status, unnamed.output) == (2, "")
    assert "a model is missing" in unnamed.errors


# --- llama-server ---------------------------------------------------------------------------------------


def test_llama_server(llama_engine: LlamaEngine, run: Run, folder: Path) -> None:
    assert llama_engine.start(CHATML) is None
    (folder / "same.jinja").write_text(CHATML)
    (folder / "other.jinja").write_text(CHATML.replace("assistant", "model"))
    asked = write_conversations(*CONVERSATIONS)
    same = run("check", "same.jinja", llama_engine.url, asked)
    assert (same.status, same.output, same.errors) == (0, "EQUAL on 4 conversations\n", "")
    other = run("check", "other.jinja", llama_engine.url, asked)
    assert other.status == 1
    assert 'jinja prints "model"; server prints "assistant"' in other.output


def test_llama_server_thinks_and_fails(llama_engine: LlamaEngine) -> None:
    template = (
        "{% if messages|length > 1 %}{{ raise_exception('too long') }}{% endif %}{{ messages[0].content }}"
        "{% if enable_thinking %}<think>{% else %}<no>{% endif %}{{ level }}"
    )
    assert llama_engine.start(template) is None
    server = open_server(llama_engine.url)
    thinking = Conversation.read({"messages": [USER], "think": True, "variables": {"level": "7"}})
    assert server.render(thinking) == f"{USER['content']}<think>7"
    assert server.render(Conversation.read({"messages": [USER], "think": False})) == f"{USER['content']}<no>"
    with pytest.raises(TemplateExecutionError, match="too long"):
        server.render(Conversation.read([USER, USER]))


# --- strange servers ------------------------------------------------------------------------------------

OLLAMA = {"/api/version": (200, '{"version": "0.9.0"}'), "/api/show": (200, '{"capabilities": ["tools"]}')}
LLAMA = {"/props": (200, '{"chat_template": ""}')}


@pytest.fixture
def serve() -> Iterator[Callable[[dict[str, tuple[int, str]]], str]]:
    """Serve fixed answers by path; one without a text never ends."""
    with ExitStack() as stack:

        def serve(answers: dict[str, tuple[int, str]]) -> str:
            done = threading.Event()

            class Handler(BaseHTTPRequestHandler):
                def do_GET(self) -> None:
                    status, text = answers.get(self.path, (404, "no"))
                    self.rfile.read(int(self.headers.get("Content-Length", 0)))
                    self.send_response(status)
                    self.end_headers()
                    self.wfile.write(text.encode())
                    if not text:
                        done.wait(10)

                def do_POST(self) -> None:
                    self.do_GET()

                def log_message(self, *_: object) -> None:
                    pass

            running = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
            threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
            stack.callback(running.shutdown)
            stack.callback(done.set)
            return f"http://127.0.0.1:{running.server_port}"

        yield serve


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({}, "neither Ollama (/api/version) nor llama-server (/props): status 404"),
        ({"/api/version": (200, "[]"), "/props": (200, "<html>")}, "neither Ollama"),
        ({"/props": (503, '{"error": {"code": 503, "message": "Loading model"}}')}, "Loading model"),
        ({**OLLAMA, "/api/chat": (200, '{"message": {}}')}, "Ollama 0.9.0 does not show its prompts"),
        ({**OLLAMA, "/api/chat": (200, "<html>")}, "status 200"),
        ({**OLLAMA, "/api/chat": (503, '{"error": "server busy"}')}, "m: server busy"),
        ({**OLLAMA, "/api/chat": (200, '{"_debug_info": {}}')}, "the answer holds no prompt"),
        ({**OLLAMA, "/api/chat": (200, "")}, "no whole answer within 0.3 seconds"),
        ({**LLAMA, "/apply-template": (401, '{"error": {"message": "Invalid API Key"}}')}, "Invalid API Key"),
        ({**LLAMA, "/apply-template": (200, "")}, "no whole answer within 0.3 seconds"),
    ],
)
def test_a_server_that_cannot_be_compared_with(
    serve: Callable[[dict[str, tuple[int, str]]], str],
    run: Run,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    answers: dict[str, tuple[int, str]],
    said: str,
) -> None:
    monkeypatch.setattr(live, "PATIENCE", 0.3)
    (folder / "a.jinja").write_text(CHATML)
    result = run("check", "a.jinja", f"{serve(answers)}#m", write_conversations([USER]))
    assert (result.status, result.output) == (2, "")
    assert said in result.errors
