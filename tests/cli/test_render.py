"""``transplate render``: where the request comes from, and what is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

TEMPLATES = Path(__file__).parents[2] / "templates"
CHATML = TEMPLATES / "gotmpl" / "chatml.gotmpl"
THINKING = TEMPLATES / "gotmpl" / "chatml-tools-thinking.gotmpl"
HELLO = "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"
MESSAGES = [{"role": "user", "content": "Hello"}]


def test_without_a_request(run: Run) -> None:
    result = run("render", CHATML)
    assert result.status == 0
    assert result.errors == ""
    assert result.output.startswith("<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n")
    assert result.output.endswith("<|im_start|>assistant\n")


def test_a_system_prompt_replaces_that_of_the_example(run: Run) -> None:
    result = run("render", CHATML, "-s", "Be brief.")
    assert result.output.startswith("<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n")


@pytest.mark.parametrize(
    "body",
    [
        MESSAGES,
        {"messages": MESSAGES},
        {"model": "m", "stream": False, "options": {}, "messages": MESSAGES},
        {"prompt": "Hello"},
        {"model": "m", "prompt": "Hello", "suffix": ""},
    ],
)
@pytest.mark.parametrize("template", [CHATML, TEMPLATES / "jinja" / "chatml.jinja"])
def test_request_bodies(run: Run, folder: Path, body: object, template: Path) -> None:
    text = json.dumps(body)
    (folder / "request.json").write_text(text)
    from_file = run("render", template, "request.json")
    assert (from_file.status, from_file.output, from_file.errors) == (0, HELLO, "")
    assert run("render", template, "-", stdin=text) == from_file


@pytest.mark.parametrize("template", [CHATML, TEMPLATES / "jinja" / "chatml.jinja"])
def test_a_request_by_hand(run: Run, template: Path) -> None:
    result = run("render", template, "-s", "Be brief.", "-m", "a", "-m", "b", "-m", "c")
    turns = [("system", "Be brief."), ("user", "a"), ("assistant", "b"), ("user", "c")]
    expected = "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns)
    assert (result.status, result.output) == (0, expected + "<|im_start|>assistant\n")


@pytest.mark.parametrize("stem", ["chatml-tools-thinking", "llama3", "mistral"])
def test_tools_and_thinking(run: Run, folder: Path, stem: str) -> None:
    tool = {"type": "function", "function": {"name": "now", "description": "The time", "parameters": {}}}
    (folder / "tools.json").write_text(json.dumps([tool]))
    prompts = set()
    for language in ("gotmpl", "jinja"):
        template = TEMPLATES / language / f"{stem}.{language}"
        result = run("render", template, "-m", "Hello", "--tools", "tools.json")
        assert (result.status, result.errors) == (0, "")
        prompts.add(result.output)
    assert len(prompts) == 1
    assert "The time" in prompts.pop()


@pytest.mark.parametrize("word", ["false", "true", "low", "medium", "high", "max"])
def test_think(run: Run, word: str) -> None:
    empty_thinking = "<think>\n\n</think>\n\n" if word == "false" else ""
    for template in (THINKING, TEMPLATES / "jinja" / "chatml-tools-thinking.jinja"):
        assert run("render", template, "-m", "Hello", "--think", word).output == HELLO + empty_thinking


def test_think_that_is_no_level(run: Run) -> None:
    result = run("render", THINKING, "-m", "Hello", "--think", "hard")
    assert (result.status, result.output) == (2, "")
    assert result.errors.startswith('error: invalid think value: "hard"')


def test_template_from_standard_input(run: Run) -> None:
    assert (
        run("render", "-", "-m", "x", stdin="{{ range .Messages }}<{{ .Content }}>{{ end }}").output == "<x>"
    )
    assert (
        run("render", "-", "-m", "x", stdin="{% for m in messages %}<{{ m.content }}>{% endfor %}").output
        == "<x>"
    )
    assert run("render", "-", "-m", "x", stdin="{{ index .Messages 0 | len }}").status == 2
    assert run("render", "-", "-m", "x", stdin="{{ messages[0].content }}").output == "x"


def test_template_without_actions(run: Run, folder: Path) -> None:
    result = run("render", "-", "-m", "x", stdin="no action at all\n")
    assert (result.status, result.output) == (0, "no action at all\n")
    (folder / "empty.gotmpl").write_text("")
    result = run("render", "empty.gotmpl", "-m", "x")
    assert (result.status, result.output) == (0, "")


def test_an_empty_standard_input_is_no_template(run: Run) -> None:
    result = run("render", "-", "-m", "x", stdin="")
    assert (result.status, result.output) == (2, "")
    assert "standard input: is empty" in result.errors


def test_bytes_come_out_as_they_are(run: Run) -> None:
    text = "\u2028 é 日本 \U0001f44d\r\n\0"
    assert run("render", CHATML, "-m", text).output == HELLO.replace("Hello", text)


def test_json(run: Run) -> None:
    result = run("render", CHATML, "-m", "Hello", "--json")
    assert (result.status, result.data) == (0, {"prompt": HELLO})


def test_json_error(run: Run) -> None:
    result = run("render", "-", "-m", "x", "--json", stdin="a\n{{ end }}")
    assert result.status == 2
    assert result.data == {
        "error": "template: :2: unexpected {{end}}",
        "kind": "syntax",
        "line": 2,
        "column": 1,
        "source_line": "{{ end }}",
    }
    assert result.errors.startswith("error: template: :2: unexpected {{end}}\n")


def test_execution_error_shows_the_place(run: Run, folder: Path) -> None:
    (folder / "bad.gotmpl").write_text("Hello\n  {{ index .Messages 5 }}")
    result = run("render", "bad.gotmpl", "-m", "x")
    assert (result.status, result.output) == (2, "")
    assert result.errors == (
        'error: template: :2:5: executing "" at <index .Messages 5>: error calling index: '
        "index out of range: 5\n"
        "bad.gotmpl:2:6 |   {{ index .Messages 5 }}\n"
        "                      ^\n"
    )


class TestRequestThatCannotBeRead:
    def refused(self, run: Run, text: str | bytes) -> str:
        result = run("render", CHATML, "-", stdin=text)
        assert (result.status, result.output) == (2, "")
        return result.errors

    def test_no_json(self, run: Run) -> None:
        first, excerpt, caret = self.refused(run, '[\n  {"role": user}\n]').splitlines()
        assert first == "error: standard input: is no JSON: expecting value"
        assert excerpt.endswith('2:12 |   {"role": user}')
        assert caret.index("^") == excerpt.index("user")

    def test_nan(self, run: Run) -> None:
        assert "standard input: is no JSON: NaN is no number" in self.refused(run, "[NaN]")

    @pytest.mark.parametrize("text", ["", " \n"])
    def test_empty(self, run: Run, text: str) -> None:
        assert self.refused(run, text) == "error: standard input: is empty, where JSON was expected\n"

    def test_binary(self, run: Run) -> None:
        errors = self.refused(run, b"\xff\xfe\x00")
        assert errors == "error: standard input: not a text file: byte 0xff at offset 0 is not UTF-8\n"

    @pytest.mark.parametrize("text", ["5", "{}", '{"model": "m"}', '"hello"', "null"])
    def test_no_request(self, run: Run, text: str) -> None:
        assert "neither a request with messages or a prompt, nor a list of messages" in self.refused(
            run, text
        )

    def test_field_at_fault(self, run: Run) -> None:
        errors = self.refused(run, '[{"role": "user", "content": 5}]')
        assert errors == "error: standard input: messages[0].content: must be a string, not a number\n"

    def test_no_messages(self, run: Run) -> None:
        assert self.refused(run, "[]").startswith("error: standard input: messages: there are none")

    def test_nested_too_deeply(self, run: Run) -> None:
        assert "nested too deeply" in self.refused(run, "[" * 100_000)


def test_two_requests(run: Run, folder: Path) -> None:
    (folder / "r.json").write_text("[]")
    for arguments in (
        ["r.json", "-m", "x"],
        ["r.json", "--jsonl", "r.json"],
        ["-m", "x", "--jsonl", "r.json"],
    ):
        result = run("render", CHATML, *arguments)
        assert (result.status, result.output) == (2, "")
        assert "give a REQUEST, or -m, or --jsonl" in result.errors


def test_standard_input_twice(run: Run) -> None:
    result = run("render", "-", "-", stdin="")
    assert (result.status, result.output) == (2, "")
    assert "can be read only once" in result.errors


def test_json_with_a_byte_order_mark(run: Run, folder: Path) -> None:
    line = b'\xef\xbb\xbf{"messages": [{"role": "user", "content": "Hi"}]}'
    (folder / "t.gotmpl").write_text("<{{ .Prompt }}>")
    (folder / "r.json").write_bytes(line)
    assert run("render", "t.gotmpl", "r.json").output == "<Hi>"
    assert run("render", "t.gotmpl", "--jsonl", "r.json").data == {"prompt": "<Hi>"}


_OPENAIS = {
    "model": "gpt",
    "messages": [
        {
            "role": "user",
            "content": [{"type": "text", "text": "How warm"}, {"type": "text", "text": "is it?"}],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "measure", "arguments": '{"place": "Oslo"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "7 °C"},
    ],
}


def test_a_request_for_openais_api(run: Run, folder: Path) -> None:
    """Typed parts and arguments as text are read as Ollama's endpoint for OpenAI's clients reads them."""
    (folder / "openai.json").write_text(json.dumps(_OPENAIS))
    calls = "{{ range .ToolCalls }}({{ .Function.Name }} {{ .Function.Arguments }}){{ end }}"
    template = "{{ range .Messages }}[{{ .Role }} {{ .ToolName }}] {{ .Content }}" + calls + "\n{{ end }}"
    (folder / "a.gotmpl").write_text(template)
    result = run("render", "a.gotmpl", "openai.json")
    assert (result.status, result.errors) == (0, "")
    assert result.output == (
        '[user ] How warm\n\nis it?\n[assistant ] (measure {"place":"Oslo"})\n[tool measure] 7 °C\n'
    )
    assert run("render", "renderer:qwen3-coder", "openai.json").status == 0


def test_calls_that_a_continued_message_hides(run: Run, folder: Path) -> None:
    call = {"type": "function", "function": {"name": "measure", "arguments": {}}}
    last = {"role": "assistant", "content": "Wait.", "tool_calls": [call]}
    (folder / "calls.json").write_text(json.dumps([{"role": "user", "content": "Hi"}, last]))
    calls = "{% for call in m.tool_calls or [] %}({{ call.function.name }}){% endfor %}"
    (folder / "a.jinja").write_text("{% for m in messages %}{{ m.content }}" + calls + ";{% endfor %}")
    result = run("render", "a.jinja", "calls.json")
    assert (result.status, result.output) == (0, "Hi;Wait.")
    assert result.errors == (
        "warning: the calls of the last message are not in the prompt: measure; "
        "--no-generation-prompt shows what the template makes of them\n"
    )
    shown = run("render", "a.jinja", "calls.json", "--no-generation-prompt")
    assert (shown.output, shown.errors) == ("Hi;Wait.(measure);", "")


def test_what_check_takes_of_a_conversation_is_taken(run: Run, folder: Path) -> None:
    talk = {
        "messages": [{"role": "user", "content": "Hi"}],
        "date": "2026-03-14",
        "documents": [{"title": "T", "text": "D"}],
        "variables": {"mood": "sad", "enable_thinking": False},
    }
    (folder / "talk.json").write_text(json.dumps(talk))
    (folder / "a.jinja").write_text(
        "{{ strftime_now('%Y-%m-%d') }} {{ documents[0].title }} {{ mood }} {{ enable_thinking }}"
    )
    (folder / "a.gotmpl").write_text("{{ currentDate }} {{ range .Messages }}{{ .Content }}{{ end }}")
    assert run("render", "a.jinja", "talk.json").output == "2026-03-14 T sad False"
    assert run("render", "a.gotmpl", "talk.json").output == "2026-03-14 Hi"
    (folder / "talk.json").write_text(json.dumps({**talk, "date": "tomorrow"}))
    result = run("render", "a.gotmpl", "talk.json")
    assert (result.status, result.output) == (2, "")
    assert result.errors.startswith("error: talk.json: date: a date such as 2026-03-14 is needed")
