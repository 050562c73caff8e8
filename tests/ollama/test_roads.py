"""The road that Ollama takes: its rules, and what its own code said of the models of its library."""

import json
from pathlib import Path

import pytest

from transplate.ollama.roads import Road, choose_road

BY_JINJA = [
    *("deepcoder:14b", "deepseek-r1:8b", "deepseek-r1:latest", "deepseek-v3:671b", "glm4:9b"),
    *("granite3.2-vision:2b", "llama3.2-vision:90b", "llama3.2-vision:latest", "phi4-mini-reasoning"),
    *("phi4-reasoning", "qwen3-coder:30b", "qwen3:0.6b", "qwq", "qwq", "r1-1776:671b"),
]
CHATML = (
    "{{ range .Messages }}<|im_start|>{{ .Role }}\n{{ .Content }}<|im_end|>\n{{ end }}<|im_start|>assistant\n"
)
TOOLS = "{{ .Tools }}{{ range .Messages }}{{ .ToolCalls }}{{ .Content }}{{ end }}"
ROUND_TRIP = TOOLS + '{{ range .Messages }}{{ if eq .Role "tool" }}{{ end }}{{ end }}'
JINJA_TOOLS = "{{ tools }}{{ messages }}"
JINJA_ROUND_TRIP = JINJA_TOOLS + "{% if message.role == 'tool' %}{{ message.tool_calls }}{% endif %}"


def test_the_library_goes_as_ollamas_own_code_says(shared_folder: Path) -> None:
    lines = (shared_folder / "corpus" / "ollama_library_pairs.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    roads = [
        (pair["model"].removeprefix("library/"), choose_road(pair["gotmpl"], pair["jinja"])) for pair in pairs
    ]
    by_jinja = [model for model, road in roads if road.prompt_from == "jinja"]
    assert len(roads) == 97
    assert len(by_jinja) == 15
    exact = {model for model in BY_JINJA if ":" in model}
    assert exact <= set(by_jinja)
    assert sorted(model.partition(":")[0] for model in by_jinja) == sorted(
        model.partition(":")[0] for model in BY_JINJA
    )
    assert sum(road.prompt_from == "gotmpl" for _, road in roads) == 82
    assert all(
        choose_road(pair["gotmpl"], pair["jinja"], ollama="0.17.4").prompt_from == "gotmpl" for pair in pairs
    )


@pytest.mark.parametrize(
    ("road", "name", "unused"),
    [
        (choose_road(CHATML, JINJA_TOOLS, renderer="qwen3-coder", parser="qwen3-coder"), "renderer", True),
        (choose_road(None, None, renderer="qwen3-coder"), "renderer", False),
        (choose_road(CHATML, JINJA_TOOLS, parser="qwen3"), "parser", False),
        (choose_road("<|start|>{{ .Prompt }}<|end|>", JINJA_TOOLS, family="gptoss"), "harmony", False),
        (choose_road(CHATML), "go_template", False),
        (choose_road(None, JINJA_TOOLS), "gguf_chat_template", False),
        (choose_road(None, JINJA_TOOLS, is_mlx=True), "none", False),
        (choose_road(None), "none", False),
        (choose_road(CHATML, JINJA_TOOLS), "gguf_chat_template", True),
        (choose_road(CHATML, JINJA_TOOLS, is_mlx=True), "go_template", False),
        (choose_road(CHATML, JINJA_TOOLS, prefer_go=True), "go_template", False),
        (choose_road(ROUND_TRIP, "{{ messages }}", prefer_go=False), "gguf_chat_template", True),
        (choose_road(TOOLS, JINJA_ROUND_TRIP), "gguf_chat_template", True),
        (choose_road(ROUND_TRIP, JINJA_ROUND_TRIP), "go_template", False),
        (choose_road(ROUND_TRIP, JINJA_TOOLS + "<think></think>"), "go_template", False),
        (choose_road(CHATML, "{{ content.split('</think>') }}"), "gguf_chat_template", True),
        (choose_road(CHATML, "{{ content.split('</think>') }}reasoning_content"), "go_template", False),
    ],
)
def test_rules(road: Road, name: str, unused: bool) -> None:
    assert (road.name, road.unused_template) == (name, unused)
    assert road.reason
