"""Typed content parts: what real Ollama makes of images with a converted template, and what is said of it."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.fuzz.jinja_to_go import STYLES
from tests.fuzz.jinja_to_go_images import image_printed
from tests.fuzz.jinja_to_go_judge import OwnJudge
from tests.oracle.engines import TransformersEngine
from tests.oracle.ollama import OLLAMA_VERSION
from tests.oracle.server.oracle import OllamaServer
from transplate import Conversation
from transplate.convert import to_go

_IMAGE = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
_PART = {"type": "image", "base64": _IMAGE}
VISION = """\
{%- set images = namespace(count=0) -%}
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{% if message.content is string -%}
{{ message.content }}
{%- else -%}
{%- for part in message.content -%}
{%- if part.type == 'image' or 'image' in part -%}
{%- set images.count = images.count + 1 -%}
<|vision_start|><|image_pad|><|vision_end|>
{%- elif 'text' in part -%}
{{ part.text }}
{%- endif -%}
{%- endfor -%}
{%- endif -%}
<|im_end|>
{% endfor -%}
<|im_start|>assistant
"""
_MARKERS = "<|vision_start|><|image_pad|><|vision_end|>"


QUESTION = "What is this?"
_TEXT = {"type": "text", "text": QUESTION}


@pytest.mark.parametrize(
    ("message", "seen"),
    [
        ({"content": QUESTION, "images": [_IMAGE]}, f"[img-0]{QUESTION}"),
        ({"content": QUESTION, "images": [_IMAGE, _IMAGE]}, f"[img-0][img-1]{QUESTION}"),
        # Ollama makes a message of each part, and joins them.
        ({"content": [_PART, _TEXT]}, f"[img-0]\n\n{QUESTION}"),
        ({"content": [_TEXT, _PART]}, f"{QUESTION}\n\n[img-0]"),
        ({"content": [_TEXT]}, QUESTION),
    ],
)
@pytest.mark.parametrize("style", STYLES)
def test_an_image_is_a_tag_where_the_jinja_has_its_markers(
    message: dict[str, Any],
    seen: str,
    style: str,
    ollama_server: OllamaServer,
    transformers_engine: TransformersEngine,
) -> None:
    def printed(content: Any) -> str | None:
        messages = [{"role": "user", "content": content}]
        return transformers_engine.apply_chat_template(VISION, messages, add_generation_prompt=True).text

    conversation = Conversation.read({"messages": [{"role": "user", **message}]})
    made = to_go(VISION, exact=STYLES[style], ollama=OLLAMA_VERSION)
    ollama_server.create(f"vision-{style}", f'FROM ./tiny.gguf\nTEMPLATE """{made.text}"""\n')
    prompt = ollama_server.prompt(f"vision-{style}", conversation.to_ollama())
    assert prompt == printed(seen)
    assert made.covers(conversation) is (seen == QUESTION)
    if message.get("images") == [_IMAGE]:
        assert printed([_PART, _TEXT]) == prompt.replace("[img-0]", _MARKERS)


def test_the_loss_names_where_images_are_looked_for() -> None:
    (loss,) = to_go(VISION).losses
    assert (loss.name, loss.line) == ("images", 8)
    assert to_go("{{ messages[0].content }}{{ 'image' ~ 'x' }}").losses[0].name == "images"
    assert to_go("{{ messages[0].content }} image").losses == ()
    assert to_go(VISION.replace(_MARKERS, "{{ '[img-' ~ images.count ~ ']' }}")).losses == ()


def test_a_template_that_takes_only_parts_is_named() -> None:
    parts = "{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}"
    (loss,) = to_go(parts).losses
    assert "only where they are typed parts" in loss.message
    raising = "{% if messages[0].content is string %}{{ raise_exception('parts') }}{% endif %}" + parts
    assert "only where they are typed parts" in to_go(raising).losses[0].message
    both = "{% for m in messages %}{{ m.content if m.content is string else m.content[0].text }}{% endfor %}"
    assert to_go(both).losses == ()
    assert to_go("{{ messages|length }}").losses == ()


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        (VISION, ("the same but for the image", _MARKERS)),
        (VISION.replace(_MARKERS, ""), ("the chat template prints nothing for it", "")),
        (VISION.replace("<|im_start|>{{", "{{ message.content[0].type }}{{"), None),
        (VISION.replace("{{ message.content }}", ""), ("the converted template prints no text", "")),
    ],
)
def test_what_is_printed_for_an_image(source: str, verdict: tuple[str, str] | None) -> None:
    assert image_printed(source, OwnJudge()) == (verdict or ("more than the image differs", ""))
