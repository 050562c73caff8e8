"""Comparisons of pairs, one at a time or many at once over all processors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from transplate.cli.formats.checked import Checked
from transplate.cli.templates import read_model, read_sides
from transplate.errors import TransplateError

if TYPE_CHECKING:
    from transplate import Conversation
    from transplate.parity.sides import Template

GGUF = " (GGUF)"
"""What is behind the name of a model whose chat template is meant, not its TEMPLATE."""


@dataclass(frozen=True, slots=True)
class Job:
    """A pair to compare, and how.

    Attributes:
        sources: Where the templates are; the second may be the chat template in the GGUF of the first.
        conversations: What to compare them on; the built-in conversations if there are none.
        generate: Whether to make more conversations; never for a running server.
        unusual: Whether to compare on conversations that people hardly send, too.
        download: Whether small files of repositories may be fetched.
        name: Which chat template to take of a source that has several; None for the default.
        tokens: Special tokens for chat templates, by their names.
    """

    sources: tuple[str, str]
    conversations: tuple[Conversation, ...] = ()
    generate: bool = True
    unusual: bool = False
    download: bool = False
    name: str | None = None
    tokens: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Compared:
    """What became of a job.

    Attributes:
        job: The job.
        checked: What was found; None if there was nothing to compare.
        sorts: Of what sort both sides are: go, jinja, renderer or server; empty likewise.
        error: Why nothing was compared; None also where a model simply has only one of the templates.
    """

    job: Job
    checked: Checked | None = None
    sorts: tuple[str, ...] = ()
    error: TransplateError | None = None


def compare(job: Job) -> Compared:
    """Return what a comparison finds.

    Raises:
        TransplateError: A template cannot be read.
    """
    from transplate import check_parity
    from transplate.parity.conversations import usual_conversations
    from transplate.servers import LiveServer

    pair = _templates(job)
    if pair is None:
        return Compared(job)
    # Each prompt of a running server is a question to it: hundreds, not thousands.
    is_live = any(isinstance(template, LiveServer) for template in pair)
    report = check_parity(
        *pair,
        job.conversations or None,
        explain=True,
        generate=job.generate and not is_live,
        unusual=job.unusual,
    )
    names = tuple(conversation.name for conversation in job.conversations or usual_conversations())
    return Compared(job, Checked(job.sources, report, names), tuple(map(_sort, pair)))


def _sort(template: Template) -> str:
    from transplate import JinjaTemplate, OllamaTemplate
    from transplate.servers import LiveServer

    sorts = {OllamaTemplate: "go", JinjaTemplate: "jinja", LiveServer: "server"}
    return next((name for sort, name in sorts.items() if isinstance(template, sort)), "renderer")


def _templates(job: Job) -> tuple[Template, Template] | None:
    """Return both templates; None for a model that has only one of them."""
    from transplate import JinjaTemplate, OllamaTemplate

    first, second = job.sources
    if second != first + GGUF:
        a, b = read_sides(job.sources, download=job.download, name=job.name, tokens=job.tokens)
        return a, b
    model = read_model(first)
    if model.template is None or model.chat_template is None:
        return None
    chat = JinjaTemplate(model.chat_template.text, special_tokens=model.special_tokens)
    return OllamaTemplate(model.template.text), chat


def compare_all(jobs: Sequence[Job], *, processes: int | None = None) -> Iterator[Compared]:
    """Yield what the comparisons find, in the order of the jobs; what cannot be read is an error in them.

    Args:
        jobs: The pairs.
        processes: How many work at the same time; as many as there are processors if None.
    """
    count = min(len(jobs), processes or os.cpu_count() or 1)
    if count < 2:
        yield from map(_compared, jobs)
        return
    with ProcessPoolExecutor(count) as pool:
        yield from pool.map(_compared, jobs)


def _compared(job: Job) -> Compared:
    try:
        return compare(job)
    except TransplateError as error:
        return Compared(job, error=error)
