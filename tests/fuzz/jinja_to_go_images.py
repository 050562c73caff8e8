"""Compares what chat templates print for an image with where converted templates have Ollama's tag for it.

``python -m tests.fuzz.jinja_to_go_images`` renders an image and a question as typed parts with the chat
template, and the text that Ollama makes of them with the converted one in real Ollama. It prints how many
print the same but for the image, and what these print for it.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from typing import Any

from tests.fuzz.jinja_to_go_corpus import TOKENS, add_choice, chosen
from tests.fuzz.jinja_to_go_judge import Judge, RealJudge
from tests.fuzz.jinja_to_go_requests import NOW
from transplate.convert import to_go
from transplate.errors import TransplateError
from transplate.jinja import JinjaTemplate

_QUESTION, _TAG = "What is this?", "[img-0]"
_TEXT = {"type": "text", "text": _QUESTION}
_IMAGE = {"type": "image"}


def image_printed(source: str, judge: Judge) -> tuple[str, str]:
    """Return how the two prompts for an image compare, and what the chat template prints for the image.

    Raises:
        TransplateError: The template cannot be converted.
    """
    template = JinjaTemplate(source, special_tokens=TOKENS)
    converted = to_go(source, special_tokens=TOKENS, ollama=judge.ollama).text
    with_image, without = (_printed(template, parts) for parts in ([_IMAGE, _TEXT], [_TEXT]))
    if with_image is None:
        return "the chat template fails", ""
    if with_image == without:
        return "the chat template prints nothing for it", ""
    case = {"messages": [{"role": "user", "content": _TAG + _QUESTION}]}
    found = judge.found(converted, [case])[0]
    if found.text is None:
        return "the converted template fails", found.error or ""
    before, tag, behind = found.text.partition(_TAG)
    if not tag:
        return "the converted template prints no text", ""
    length = len(with_image) - len(before) - len(behind)
    if length >= 0 and with_image.startswith(before) and with_image.endswith(behind):
        return "the same but for the image", with_image[len(before) : len(before) + length]
    return "more than the image differs", ""


def _printed(template: JinjaTemplate, parts: list[dict[str, Any]]) -> str | None:
    try:
        return template.render([{"role": "user", "content": parts}], add_generation_prompt=True, now=NOW)
    except TransplateError:
        return None


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_choice(parser)
    arguments = parser.parse_args()
    judge = RealJudge()
    kinds: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for name, source in chosen(arguments.corpus, part=arguments.part, only=arguments.only):
        if "image" in source:
            try:
                kinds[image_printed(source, judge)].append(name)
            except TransplateError:
                kinds["not converted", ""].append(name)
    judge.close()
    for verdict in sorted({verdict for verdict, _ in kinds}):
        printed = {shown: names for (one, shown), names in kinds.items() if one == verdict}
        print(f"{verdict}: {sum(map(len, printed.values()))} templates")
        for shown, names in sorted(printed.items(), key=lambda item: -len(item[1])):
            print(f"    {len(names)} {shown[:80]!r}: {', '.join(names[:3])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
