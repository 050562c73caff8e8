"""Templates of either language behind one interface: read from any source, rendered on a request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from transplate.cli.files import STDIN, name_of, opened
from transplate.cli.requests import Request, is_for_openai
from transplate.errors import RequestError, TransplateError, naming
from transplate.language import Language
from transplate.source import Source

if TYPE_CHECKING:
    from transplate import Conversation, JinjaTemplate, Model, OllamaTemplate
    from transplate.renderers import ServedRenderer
    from transplate.servers import LiveServer


@dataclass(frozen=True, slots=True)
class TemplateFile:
    """A template that was read.

    Attributes:
        source: Its text, under the name of its file.
        language: The language it is in.
        template: The template itself.
        render: Makes a prompt, as UTF-8, of a request.
        model: What it was found in.
    """

    source: Source
    language: Language
    template: OllamaTemplate | JinjaTemplate | ServedRenderer
    render: Callable[[Request], bytes]
    model: Model


def read_model(
    path: str,
    *,
    download: bool = False,
    language: Language | None = None,
    name: str | None = None,
    tokens: Mapping[str, str] = {},
) -> Model:
    """Return what a source is: a template alone, or a whole model.

    Args:
        path: The source, ``-`` for standard input.
        download: Whether the few small files of a repository that is not in the cache are fetched.
        language: The language of a template, where name and text do not tell.
        name: Which of the named chat templates is its only template; None for what it has.
        tokens: Special tokens besides, or instead of, those of the model.

    Raises:
        TransplateError: It cannot be read, standard input is empty, or there is no such chat template.
    """
    from transplate.models.source import load, read

    if path != STDIN:
        model = load(path, download=download, language=language)
    else:
        with opened(path) as file:
            data = file.read()
        if not data:
            raise TransplateError(f"{name_of(path)}: is empty, where a template or a Modelfile was expected")
        model = read(data, name_of(path), language=language)
    if name is not None:
        model = _with_named(model, name)
    return _with_tokens(model, tokens) if tokens else model


def read_template(
    path: str,
    *,
    download: bool = False,
    language: Language | None = None,
    name: str | None = None,
    tokens: Mapping[str, str] = {},
) -> TemplateFile:
    """Return the template of a source; of a model with several, the one that Ollama runs.

    Args:
        path: The source, ``-`` for standard input.
        download: As for :func:`read_model`.
        language: Likewise.
        name: Which of the named chat templates to take.
        tokens: Special tokens besides, or instead of, those of the model.

    Raises:
        TransplateError: It cannot be read, or there is no template in it.
    """
    return template_of(read_model(path, download=download, language=language, name=name, tokens=tokens))


def read_sides(
    sources: Sequence[str],
    *,
    download: bool = False,
    name: str | None = None,
    tokens: Mapping[str, str] = {},
) -> list[OllamaTemplate | JinjaTemplate | ServedRenderer | LiveServer]:
    """Return what makes the prompts of each source in a comparison: of a running server the server itself.

    Args:
        sources: The sources, ``-`` for standard input.
        download: As for :func:`read_model`.
        name: Which chat template to take of the sources that have several.
        tokens: As for :func:`read_model`.

    Raises:
        TransplateError: One cannot be read, or there is no template in it, or no such server.
    """
    from transplate.servers import open_server
    from transplate.servers.http import SCHEMES

    models = [
        None if source.startswith(SCHEMES) else read_model(source, download=download, tokens=tokens)
        for source in sources
    ]
    if name is not None:
        if not any(model is not None and model.named for model in models):
            raise TransplateError(f"{' and '.join(sources)}: there are no chat templates with names")
        models = [_with_named(model, name) if model and model.named else model for model in models]
    return [
        open_server(source) if model is None else template_of(model).template
        for source, model in zip(sources, models, strict=True)
    ]


def template_of(model: Model) -> TemplateFile:
    """Return the template of a model, the one that Ollama runs where it has several.

    Raises:
        TransplateError: There is none, or it is none that can be read.
    """
    from transplate.models.prompts import counting_template, template_of

    source, language = counting_template(model)
    with naming(source):
        template = template_of(model)
        if model.renderer:
            render = _render_by_renderer(template)
        else:
            render = _render_jinja(source, model) if language == "jinja" else _render_go(source.text)

    def render_named(request: Request) -> bytes:
        with naming(source):
            return render(request if model.renderer else _begun(request, model))

    return TemplateFile(source, language, template, render_named, model)


def _with_named(model: Model, name: str) -> Model:
    """Return a model whose only template is one of its named chat templates.

    Raises:
        TransplateError: It has none of this name.
    """
    named = dict(model.named) or ({"default": model.chat_template} if model.chat_template else {})
    if name not in named:
        known = f"; its names are {', '.join(sorted(named))}" if named else ""
        raise TransplateError(f"{model.name}: has no chat template of the name {name!r}{known}")
    return replace(model, template=None, renderer="", chat_template=named[name], named={})


def _with_tokens(model: Model, tokens: Mapping[str, str]) -> Model:
    own = model.tokens
    others = {key: text for key, text in tokens.items() if key not in ("bos_token", "eos_token")}
    bos, eos = tokens.get("bos_token", own.bos), tokens.get("eos_token", own.eos)
    return replace(model, tokens=replace(own, bos=bos, eos=eos, others={**own.others, **others}))


def _begun(request: Request, model: Model) -> Request:
    """Return a request with the SYSTEM and the MESSAGEs of a model."""
    if not model.system and not model.messages:
        return request
    if request.prompt or request.suffix or not isinstance(request.messages, list):
        system = model.system if request.system is None else request.system
        history = model.conversation([], system="") if request.prompt and not request.messages else None
        return replace(request, system=system, messages=history or request.messages)
    messages = model.conversation(request.messages, system=request.system)
    return replace(request, messages=messages, system=None)


def _render_go(text: str) -> Callable[[Request], bytes]:
    from transplate import OllamaTemplate
    from transplate.conversation.reading import read_date

    template = OllamaTemplate(text)

    def render(request: Request) -> bytes:
        request = _for_ollama(request)
        if request.generation_prompt is not None:
            raise RequestError("a Go template decides itself whether it opens the assistant's turn")
        return template.render_bytes(
            request.messages,
            request.tools,
            system=request.system,
            think=request.think,
            prompt=request.prompt,
            suffix=request.suffix,
            now=read_date(request.others.get("date")),
        )

    return render


def _for_ollama(request: Request) -> Request:
    """Return a request for OpenAI's API as Ollama's endpoint for that makes one of its own of it."""
    if not is_for_openai(request.messages):
        return request
    from transplate import Conversation

    made = Conversation.read({"messages": request.messages, "tools": request.tools}).to_ollama()
    return replace(request, messages=made["messages"], tools=made.get("tools"))


def _render_by_renderer(renderer: Any) -> Callable[[Request], bytes]:
    from transplate.conversation.reading import read_date

    def render(request: Request) -> bytes:
        request = _for_ollama(request)
        if request.generation_prompt is not None:
            raise RequestError("a renderer decides itself whether it opens the assistant's turn")
        if request.suffix:
            raise RequestError("suffix: the model does not support insert")
        prompt: str = renderer.render(
            request.messages,
            request.tools,
            system=request.system,
            think=request.think,
            prompt=request.prompt,
            now=read_date(request.others.get("date")),
        )
        return prompt.encode("utf-8", "replace")

    return render


def _render_jinja(source: Source, model: Model) -> Callable[[Request], bytes]:
    from transplate import JinjaTemplate

    template = JinjaTemplate(source.text, special_tokens=model.special_tokens)

    def render(request: Request) -> bytes:
        chosen = template
        # As transformers does: with tools, the template of that name.
        if request.tools and "tool_use" in model.named and model.named.get("default") == source:
            chosen = JinjaTemplate(model.named["tool_use"].text, special_tokens=model.special_tokens)
        arguments = _conversation(request).to_hf()
        if request.generation_prompt is not None:
            arguments["add_generation_prompt"] = request.generation_prompt
            arguments["continue_final_message"] = False
        return chosen.render(**arguments).encode("utf-8", "replace")

    return render


def _conversation(request: Request) -> Conversation:
    """Return a request as a conversation that a chat template can be given."""
    from transplate import Conversation

    if request.suffix:
        raise RequestError("suffix: a chat template knows none")
    given = {"messages": request.messages, "prompt": request.prompt, "system": request.system}
    body = {name: value for name, value in given.items() if value}
    conversation = Conversation.read(
        {**request.others, **body, "tools": request.tools, "think": request.think}
    )
    if request.system and conversation.messages[0].role != "system":
        first = Conversation.read([{"role": "system", "content": request.system}]).messages
        conversation = replace(conversation, messages=first + conversation.messages)
    return conversation
