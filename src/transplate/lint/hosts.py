"""Rules about what runs a template: Ollama and its versions, training."""

from __future__ import annotations

import re
from collections.abc import Iterator

from transplate.errors import TransplateError
from transplate.lint.finding import Fault, Rule
from transplate.lint.subject import Subject
from transplate.ollama.versions import parse_version


def _template_not_run(subject: Subject) -> Iterator[Fault]:
    model = subject.model
    if model.template is None:
        return
    road = model.road()
    if road.unused_template:
        yield Fault(f"Ollama never runs the TEMPLATE: {road.reason}")


def _newer_than_ollama(subject: Subject) -> Iterator[Fault]:
    named = subject.ollama or _required(subject)
    if named is None or subject.go is None:
        return
    version = parse_version(named)
    for name, since in subject.go.inference.since.items():
        if parse_version(since) > version:
            place = subject.find(r"\belse\s+with\b" if name == "else with" else rf"\b{re.escape(name)}\b")
            yield Fault(f"{name} came with Ollama {since}, and it has to work with {version}", place)


def _required(subject: Subject) -> str | None:
    """Return the Ollama that a Modelfile asks for, if that is a version."""
    try:
        parse_version(subject.model.requires)
    except TransplateError:
        return None
    return subject.model.requires


_GENERATION = re.compile(r"\{%[-+]?\s*generation\b")


def _no_generation_markers(subject: Subject) -> Iterator[Fault]:
    if subject.language == "jinja" and not _GENERATION.search(subject.source.text):
        yield Fault("there is no {% generation %}, so that training cannot tell answers from the rest")


RULES = (
    Rule("template-not-run", "error", "Ollama makes the prompt in another way.", _template_not_run),
    Rule(
        "newer-than-ollama",
        "error",
        "The template uses what the named Ollama does not have yet.",
        _newer_than_ollama,
    ),
    Rule(
        "no-generation-markers",
        "note",
        "Nothing marks answers for training on them alone.",
        _no_generation_markers,
    ),
)
