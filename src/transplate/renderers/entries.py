"""The table of Ollama's renderers.

Names and parsers are those of ``model/renderers`` and ``model/parsers`` of Ollama 0.33.0; the stops are
what ends a turn in what the renderer prints.
"""

from __future__ import annotations

from transplate.renderers.catalog import Entry, Form, Switches

_CHATML = ("<|im_end|>",)
_DEEPSEEK = ("<｜end▁of▁sentence｜>",)
_GLM = ("<|user|>", "<|observation|>")
_OLMO = (
    "You are Olmo, a helpful AI assistant built by Ai2. Your date cutoff is December 2024, and your model "
    "weights are available at https://huggingface.co/allenai."
)
_JSON = "it writes < > & in JSON as they are, and the fields of a tool in the order given"
_PLACE = "; system messages stay where they are"
_OWN_SYSTEM = "its own system message has another text"
_SILENT = "it does not think unless told to"
_QWEN = {"folds_instructions": False, "has_efforts": False, "keeps_thoughts": False}
_NEMOTRON: Switches = {
    "follows_vendor": True,
    "has_toggles": True,
    "has_efforts": False,
    "after_reasoning": "\n</think>\n",
}


def _vl(*, thinks: bool, says_no_thoughts: bool = False) -> Form:
    return Form("qwen3-vl", {"thinks": thinks, "says_no_thoughts": says_no_thoughts})


def _olmo(family: str, system: str) -> Form:
    return Form(family, {"default_system": system})


def _lfm2(*, thinks: bool, calls_before_thoughts: bool) -> Form:
    return Form("lfm2", {"thinks": thinks, "calls_before_thoughts": calls_before_thoughts})


def _entry(
    models: str,
    newest: Form,
    *,
    oldest: Form | None = None,
    is_new: bool = False,
    parser: str,
    stops: tuple[str, ...],
    differences: str = "",
) -> Entry:
    return Entry(models, newest, None if is_new else oldest or newest, parser, stops, differences)


ENTRIES = {
    "qwen3-coder": _entry(
        "Qwen3-Coder and Qwen3-Coder-Next",
        Form("qwen3-coder"),
        parser="qwen3-coder",
        stops=_CHATML,
        differences="it writes the schemas of tools otherwise, and keeps an empty system message",
    ),
    "qwen3-vl-instruct": _entry(
        "Qwen3-VL Instruct",
        _vl(thinks=False),
        parser="qwen3-vl-instruct",
        stops=_CHATML,
        differences=_JSON + _PLACE,
    ),
    "qwen3-vl-thinking": _entry(
        "Qwen3-VL Thinking",
        _vl(thinks=True),
        parser="qwen3-vl-thinking",
        stops=_CHATML,
        differences=_JSON + "; it cannot be told not to think",
    ),
    "qwen3.5": _entry(
        "Qwen3.5 and Qwen3.6",
        Form("qwen3.5", _QWEN),
        oldest=_vl(thinks=True, says_no_thoughts=True),
        parser="qwen3.5",
        stops=_CHATML,
        differences=_JSON,
    ),
    "qwen3.8": _entry(
        "Qwen3.8",
        Form("qwen3.5", {"folds_instructions": True, "has_efforts": True, "keeps_thoughts": True}),
        is_new=True,
        parser="qwen3.5",
        stops=_CHATML,
    ),
    "ornith": _entry(
        "Ornith",
        Form("qwen3.5", {**_QWEN, "keeps_thoughts": True}),
        is_new=True,
        parser="ornith",
        stops=_CHATML,
        differences=_JSON,
    ),
    "cogito": _entry(
        "Cogito v2.1",
        Form("cogito"),
        parser="cogito",
        stops=_DEEPSEEK,
    ),
    "deepseek3.1": _entry(
        "DeepSeek-V3.1",
        Form("deepseek3.1"),
        parser="deepseek3",
        stops=_DEEPSEEK,
        differences="it prints <think></think> where there is no thinking, not </think> alone",
    ),
    "olmo3": _entry(
        "Olmo 3 Instruct",
        _olmo("olmo3", "You are a helpful function-calling AI assistant. "),
        parser="olmo3",
        stops=_CHATML,
        differences=_JSON + _PLACE,
    ),
    "olmo3.1": _entry(
        "Olmo 3.1 Instruct",
        _olmo("olmo3", _OLMO + " "),
        parser="olmo3",
        stops=_CHATML,
        differences=_JSON + _PLACE,
    ),
    "olmo3-think": _entry(
        "Olmo 3 7B Think and Olmo 3.1 32B Think",
        _olmo("olmo3-think", _OLMO),
        parser="olmo3-think",
        stops=_CHATML,
        differences=_OWN_SYSTEM + _PLACE,
    ),
    "olmo3-32b-think": _entry(
        "Olmo 3 32B Think",
        _olmo("olmo3-think", "You are a helpful AI assistant."),
        parser="olmo3-think",
        stops=_CHATML,
        differences="system messages stay where they are",
    ),
    "nemotron-3-nano": _entry(
        "Nemotron 3 Nano",
        Form("nemotron-3-nano", _NEMOTRON),
        oldest=Form("nemotron-3-nano", {**_NEMOTRON, "follows_vendor": False, "has_toggles": False}),
        parser="nemotron-3-nano",
        stops=_CHATML,
        differences="it treats white space at the ends of texts and arguments inside arguments otherwise",
    ),
    "nemotron-3.5-nano": _entry(
        "Nemotron 3.5 Nano",
        Form(
            "nemotron-3-nano",
            {**_NEMOTRON, "has_toggles": False, "has_efforts": True, "after_reasoning": "</think>"},
        ),
        is_new=True,
        parser="nemotron-3-nano",
        stops=_CHATML,
    ),
    "gemma4": _entry(
        "Gemma 4, where neither name nor size says which",
        Form("gemma4", {"closes_empty_thought": False}),
        is_new=True,
        parser="gemma4",
        stops=("<turn|>",),
        differences=_SILENT,
    ),
    "gemma4-small": _entry(
        "Gemma 4 E2B and E4B",
        Form("gemma4", {"closes_empty_thought": False}),
        is_new=True,
        parser="gemma4",
        stops=("<turn|>",),
        differences=_SILENT,
    ),
    "gemma4-large": _entry(
        "Gemma 4 12B, 26B and 31B",
        Form("gemma4", {"closes_empty_thought": True}),
        is_new=True,
        parser="gemma4",
        stops=("<turn|>",),
        differences=_SILENT + "; it opens no turn after the results of calls",
    ),
    "functiongemma": _entry(
        "FunctionGemma",
        Form("functiongemma"),
        parser="functiongemma",
        stops=("<end_of_turn>", "<start_function_response>"),
        differences="it writes tools, calls of them and an empty system message otherwise",
    ),
    "glm-4.7": _entry(
        "GLM-4.7 and GLM-4.7-Flash",
        Form("glm-4.7"),
        parser="glm-4.7",
        stops=_GLM,
        differences=_JSON + "; it strips answers and drops thoughts of earlier ones",
    ),
    "glm-ocr": _entry(
        "GLM-OCR",
        Form("glm-ocr", {"tags_images": True}),
        oldest=Form("glm-ocr", {"tags_images": False}),
        parser="glm-ocr",
        stops=_GLM,
        differences="it ends no message with a line end",
    ),
    "lfm2": _entry(
        "LFM2 and LFM2.5",
        _lfm2(thinks=False, calls_before_thoughts=True),
        oldest=_lfm2(thinks=False, calls_before_thoughts=False),
        parser="lfm2",
        stops=_CHATML,
        differences="it lists tools in another form",
    ),
    "lfm2-thinking": _entry(
        "LFM2.5 Thinking",
        _lfm2(thinks=True, calls_before_thoughts=True),
        oldest=_lfm2(thinks=True, calls_before_thoughts=False),
        parser="lfm2-thinking",
        stops=_CHATML,
        differences="it lists tools in another form",
    ),
    "laguna": _entry(
        "Laguna with a template of version 2",
        Form("laguna"),
        is_new=True,
        parser="laguna",
        stops=("</assistant>",),
        differences=_SILENT + "; " + _JSON,
    ),
    "poolside-v1": _entry(
        "Laguna with a template of version 8",
        Form("poolside-v1"),
        is_new=True,
        parser="poolside-v1",
        stops=("</assistant>",),
        differences=_SILENT + "; " + _JSON,
    ),
    "cohere": _entry(
        "Cohere North and Command A of 2026",
        Form("cohere"),
        is_new=True,
        parser="cohere",
        stops=("<|END_OF_TURN_TOKEN|>",),
        differences="it begins with a preamble",
    ),
    "glimmer": _entry(
        "Muse Glimmer",
        Form("glimmer"),
        is_new=True,
        parser="glimmer",
        stops=("<|eot|>",),
    ),
}
"""The renderers by name."""
