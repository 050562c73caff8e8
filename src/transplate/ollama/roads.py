"""Which prompt Ollama builds for a model: its texts and settings in, the road that Ollama takes and why out.

The rules are those of Ollama's server as of 0.33.0; the road by the chat template inside the GGUF came with
0.30.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from transplate.ollama.template import OllamaTemplate
from transplate.ollama.versions import NEWEST, behaviour_of, parse_version

RoadName: TypeAlias = Literal[
    "renderer", "parser", "harmony", "go_template", "gguf_chat_template", "none", "unknown"
]

_HARMONY_FAMILIES = ("gptoss", "gpt-oss")
_JINJA_TOOL_MESSAGE = (
    "tool_response",
    "tool_results",
    *(f"role{one}] == {other}tool{other}" for one in "'\"" for other in "'\""),
    *(f"message.role == {quote}tool{quote}" for quote in "'\""),
    "ipython",
)
_GO_TOOL_MESSAGE = ('eq .Role "tool"', "tool_response", "TOOL_RESULTS")


@dataclass(frozen=True, slots=True)
class Road:
    """The road that Ollama takes from a conversation to a prompt.

    Attributes:
        name: Which it is; ``unknown`` where that depends on a model that is not here.
        reason: Why, in one sentence.
        unused_template: Whether there is a Go TEMPLATE that is never run.
    """

    name: RoadName
    reason: str
    unused_template: bool = False

    @property
    def prompt_from(self) -> Literal["renderer", "gotmpl", "jinja", "none"]:
        """What makes the prompt: a built-in renderer, the TEMPLATE, the GGUF's chat template or nothing."""
        match self.name:
            case "renderer" | "none":
                return self.name
            case "unknown":
                return "none"
            case "gguf_chat_template":
                return "jinja"
        return "gotmpl"


@dataclass(frozen=True, slots=True)
class Abilities:
    """What Ollama takes a template to be able to.

    Attributes:
        names: ``tools``, ``insert`` and ``thinking``, as far as it has them.
        tool_round_trip: Whether it shows tool calls together with their results.
    """

    names: frozenset[str]
    tool_round_trip: bool


def choose_road(
    template: str | None,
    jinja: str | None = None,
    *,
    renderer: str = "",
    parser: str = "",
    family: str = "",
    is_mlx: bool = False,
    prefer_go: bool | None = None,
    ollama: str = NEWEST,
) -> Road:
    """Return the road that Ollama takes for a model.

    Args:
        template: The Go TEMPLATE, None where the model has none.
        jinja: The chat template in the GGUF, None where it has none.
        renderer: RENDERER of the Modelfile or of the model that it is made from.
        parser: PARSER, likewise.
        family: The model's family, by which harmony is known.
        is_mlx: Whether the model runs by MLX, which takes no Jinja.
        prefer_go: OLLAMA_GO_TEMPLATE; None where it is not set.
        ollama: The version of Ollama.

    Raises:
        TemplateSyntaxError: Ollama refuses the TEMPLATE.
        TransplateError: The version is not known.
    """
    if renderer:
        reason = f"RENDERER {renderer} is set: a renderer built into Ollama makes the prompt"
        return Road("renderer", reason, unused_template=template is not None)
    if is_mlx or not behaviour_of(parse_version(ollama)).gguf_chat_template:
        jinja = None
    if template is None:
        if jinja is None:
            return Road("none", "there is neither a TEMPLATE nor a chat template: the prompt goes as it is")
        return Road("gguf_chat_template", "there is no TEMPLATE, and the GGUF has a chat template")
    if parser:
        return Road("parser", f"PARSER {parser} is set without a RENDERER: the TEMPLATE makes the prompt")
    if family in _HARMONY_FAMILIES and "<|start|>" in template and "<|end|>" in template:
        return Road("harmony", "the model is gpt-oss and its TEMPLATE speaks harmony")
    if jinja is None:
        return Road(
            "go_template", "there is a TEMPLATE, and no chat template in the GGUF that could take its place"
        )
    if prefer_go is not None:
        name: RoadName = "go_template" if prefer_go else "gguf_chat_template"
        reason = f"OLLAMA_GO_TEMPLATE is {str(prefer_go).lower()}, which decides alone"
        return Road(name, reason, unused_template=not prefer_go)
    return _compare(abilities_of_template(OllamaTemplate(template)), abilities_of_jinja(jinja))


def _compare(go: Abilities, jinja: Abilities) -> Road:
    """Return the road for a model that has both templates and nothing set by hand."""
    more = sorted(jinja.names - go.names)
    if len(jinja.names) > len(go.names):
        if go.tool_round_trip and not jinja.tool_round_trip:
            return Road("go_template", "only the TEMPLATE shows tool calls together with their results")
        reason = f"the GGUF's chat template can do more than the TEMPLATE ({', '.join(more)})"
        return Road("gguf_chat_template", reason, unused_template=True)
    if go.names == jinja.names and "tools" in go.names and jinja.tool_round_trip and not go.tool_round_trip:
        reason = "only the GGUF's chat template shows tool calls together with their results"
        return Road("gguf_chat_template", reason, unused_template=True)
    return Road("go_template", "the GGUF's chat template can do no more than the TEMPLATE")


def abilities_of_template(template: OllamaTemplate) -> Abilities:
    """Return what Ollama takes a TEMPLATE to be able to, by what it infers from its tree and by its text."""
    inference = template.inference
    tools = {"tools", "toolcalls"} <= set(inference.variables)
    shows_results = any(mark in template.source for mark in _GO_TOOL_MESSAGE)
    return Abilities(frozenset(inference.abilities), tools and shows_results)


def abilities_of_jinja(jinja: str) -> Abilities:
    """Return what Ollama takes a chat template to be able to, by what occurs in it."""
    names = set()
    if "tools" in jinja or "tool_call" in jinja:
        names.add("tools")
    if _thinks(jinja):
        names.add("thinking")
    shows_calls = "tool_calls" in jinja or "assistant_tool_call" in jinja
    shows_results = any(mark in jinja for mark in _JINJA_TOOL_MESSAGE)
    return Abilities(frozenset(names), "tools" in names and shows_calls and shows_results)


def _thinks(jinja: str) -> bool:
    if "<think>" in jinja and "</think>" in jinja:
        return True
    splits = "content.split('</think>')" in jinja or 'content.split("</think>")' in jinja
    return splits and "reasoning_content" not in jinja and "<SPECIAL_12>" not in jinja
