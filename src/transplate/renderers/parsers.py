"""Ollama's built-in PARSERs: what each says that a model can do, and its relatives in vLLM and SGLang."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parser:
    """A parser of answers.

    Attributes:
        tools: Whether it tells Ollama that the model takes tools.
        thinks: Whether it tells Ollama that the model thinks, so that unless told otherwise it does.
        vllm_tools: What ``vllm serve --tool-call-parser`` takes for the same answers; empty for none known.
        vllm_reasoning: Likewise ``vllm serve --reasoning-parser``.
        sglang_tools: Likewise SGLang's ``--tool-call-parser``.
        sglang_reasoning: Likewise SGLang's ``--reasoning-parser``.
    """

    tools: bool = True
    thinks: bool = True
    vllm_tools: str = ""
    vllm_reasoning: str = ""
    sglang_tools: str = ""
    sglang_reasoning: str = ""

    @property
    def vllm_flags(self) -> str:
        """The options of ``vllm serve``, empty for none known."""
        on = "--enable-auto-tool-choice " if self.vllm_tools else ""
        return on + _flags(self.vllm_tools, self.vllm_reasoning)

    @property
    def sglang_flags(self) -> str:
        """The options of ``sglang serve``, empty for none known."""
        return _flags(self.sglang_tools, self.sglang_reasoning)


def _flags(tools: str, reasoning: str) -> str:
    given = {"--tool-call-parser": tools, "--reasoning-parser": reasoning}
    return " ".join(f"{name} {value}" for name, value in given.items() if value)


def _same(tools: str, reasoning: str = "", *, thinks: bool = True) -> Parser:
    """Return a parser whose relatives have the same names in vLLM and SGLang."""
    return Parser(True, thinks, tools, reasoning, tools, reasoning)


# What a model can do is from model/parsers of Ollama 0.33.0. The relatives are from the tables of
# docs.vllm.ai (Tool Calling, Reasoning Outputs, the registries in vllm/tool_parsers and vllm/reasoning, and
# the recipes of Qwen3.5 and Nemotron 3) and docs.sglang.io (Tool Parser, Reasoning Parser, the cookbook).
PARSERS = {
    "passthrough": Parser(tools=False, thinks=False),
    "harmony": Parser(vllm_tools="openai", sglang_tools="gpt-oss", sglang_reasoning="gpt-oss"),
    "qwen3": Parser(True, False, "hermes", "", "qwen"),
    "qwen3-thinking": Parser(True, True, "hermes", "qwen3", "qwen", "qwen3"),
    "qwen3-coder": _same("qwen3_coder", thinks=False),
    "qwen3-vl-instruct": Parser(True, False, "hermes", "", "qwen"),
    "qwen3-vl-thinking": Parser(True, True, "hermes", "qwen3", "qwen", "qwen3"),
    "qwen3.5": _same("qwen3_coder", "qwen3"),
    "ornith": _same("qwen3_coder", "qwen3"),
    "ministral": Parser(True, False, "mistral", "", "mistral"),
    "cogito": Parser(vllm_tools="deepseek_v3", sglang_tools="deepseekv3"),
    "deepseek3": Parser(True, True, "deepseek_v31", "deepseek_v3", "deepseekv31", "deepseek-v3"),
    "olmo3": Parser(thinks=False, vllm_tools="olmo3"),
    "olmo3-think": Parser(tools=False, vllm_reasoning="olmo3"),
    "nemotron-3-nano": Parser(True, True, "qwen3_coder", "nemotron_v3", "qwen3_coder", "nemotron_3"),
    "gemma4": _same("gemma4", "gemma4"),
    "gemma4-no-thinking": _same("gemma4", thinks=False),
    "functiongemma": Parser(thinks=False, vllm_tools="functiongemma"),
    "glm-4.7": _same("glm47", "glm45"),
    "glm-ocr": Parser(thinks=False),
    "lfm2": _same("lfm2", thinks=False),
    "lfm2-thinking": _same("lfm2"),
    "laguna": _same("poolside_v1", "poolside_v1"),
    "poolside-v1": _same("poolside_v1", "poolside_v1"),
    "cohere": _same("cohere_command4", "cohere_command4"),
    "glimmer": Parser(vllm_reasoning="muse_glimmer", sglang_tools="muse"),
}
"""The parsers by name."""
