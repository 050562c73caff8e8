"""``to_go``: a Jinja chat template in, a template for Ollama out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from transplate.convert.jinja_to_go import build, defines
from transplate.convert.jinja_to_go.assumptions import (
    ASSUMPTIONS,
    OPT_IN,
    broken_by,
    has_ascii_space,
    renders,
)
from transplate.convert.jinja_to_go.cleanup import cleaned, without_argument_checks
from transplate.convert.jinja_to_go.collated import without_collation
from transplate.convert.jinja_to_go.collected import printed_at_once
from transplate.convert.jinja_to_go.compiler import Compiler
from transplate.convert.jinja_to_go.copies import without_copies
from transplate.convert.jinja_to_go.guards import with_searches
from transplate.convert.jinja_to_go.images import image_loss, parts_loss
from transplate.convert.jinja_to_go.layout import on_lines
from transplate.convert.jinja_to_go.nested import without_nested_namespaces
from transplate.convert.jinja_to_go.outlined import outlined
from transplate.convert.jinja_to_go.reads import parts_of
from transplate.convert.jinja_to_go.recognised import NUMBERS
from transplate.convert.jinja_to_go.refusals import LONGEST, Refused, TooLong
from transplate.convert.jinja_to_go.shape import shape_block
from transplate.convert.jinja_to_go.sharing import shared
from transplate.convert.jinja_to_go.trees import called_in
from transplate.convert.jinja_to_go.unread import without_unread
from transplate.convert.jinja_to_go.values import Const, DictOf, Go, ListOf, Value
from transplate.convert.report import Conversion, Loss, named_assumptions
from transplate.errors import UnsupportedTemplate
from transplate.gotmpl.nodes import Body, Comment, Define, Item, Variable
from transplate.gotmpl.parser import parse
from transplate.gotmpl.printer import print_template
from transplate.jinja import JinjaTemplate
from transplate.jinja.reader import read
from transplate.ollama.functions import FUNCTIONS
from transplate.ollama.versions import NEWEST, behaviour_of, parse_version
from transplate.source import check_text

_LONG = 60_000
"""Characters of a result that is to be shorter, though it runs slower."""
_MOST_VARIABLES = 8_000
"""How many variables a template may get before it is taken to be too long."""


def to_go(
    source: str,
    *,
    special_tokens: Mapping[str, str] = {},
    variables: Mapping[str, Any] = {},
    exact: bool = False,
    assume: Collection[str] = (),
    ollama: str = NEWEST,
) -> Conversion:
    """Convert a chat template to a template for Ollama.

    The result prints for a request what the Jinja template prints for Ollama's view of it: neighbouring
    messages of one role joined, arguments and properties in the order of their names, keys of tools that
    Ollama does not know gone.

    Args:
        source: The chat template.
        special_tokens: The tokenizer's special tokens, ``{"bos_token": "<s>"}``.
        variables: Fixes other variables of the template; those that are not given are undefined.
        exact: Print the same for every request, not only for ordinary ones.
        assume: Names of things to take for granted besides.
        ollama: The version of Ollama to convert for.

    Returns:
        The template, and what it takes for granted.

    Raises:
        TemplateSyntaxError: Jinja refuses the template.
        UnsupportedTemplate: Go cannot say the same; the error names what and where.
        ValueError: ``assume`` has a name that is not known.
    """
    named = named_assumptions(assume, ASSUMPTIONS)
    allowed = named if exact else named | (ASSUMPTIONS.keys() - OPT_IN)
    check_text(source, "to_go")
    tree = read(source)
    collated = replace(tree, body=without_nested_namespaces(without_collation(tree.body)))
    chat = JinjaTemplate(source, special_tokens={**special_tokens, **variables})
    given = {name: _value(value) for name, value in {**special_tokens, **variables}.items()}
    is_older = not behaviour_of(parse_version(ollama)).property_required
    features = frozenset({"ollama<0.20"} if is_older else ())
    parts = parts_of((tree.body, tuple(given.values())))
    own = frozenset(part for part in parts if isinstance(part, str) and part)
    broken = broken_by(own)
    allowed -= broken & {"plain-json"}

    def converted(*, is_compact: bool) -> tuple[Compiler, Conversion]:
        compiler = Compiler(
            collated,
            _request(given),
            allowed=allowed,
            budget=_MOST_VARIABLES,
            features=features,
            is_compact=is_compact,
        )
        compiler.broken = broken
        _compile(compiler)
        return compiler, _conversion(compiler, chat, ollama)

    try:
        compiler, made = converted(is_compact=False)
        if compiler.has_run and len(made.text) > _LONG:
            compact = converted(is_compact=True)
            if len(compact[1].losses) <= len(made.losses):
                compiler, made = compact
    except (TooLong, RecursionError, MemoryError):
        raise UnsupportedTemplate(
            f"the converted template would be longer than {LONGEST:,} characters", source=tree.source
        ) from None
    met = {
        "needed-values": renders(source, special_tokens, variables, ollama),
        "ascii-space": has_ascii_space(own, anywhere=compiler.cuts_anywhere),
    }
    no_texts = parts_loss(chat)
    return replace(
        made,
        losses=made.losses if no_texts is None else (no_texts, *made.losses),
        assumptions=tuple(
            replace(one, holds=met[one.name]) if one.name in met else one for one in made.assumptions
        ),
    )


def _compile(compiler: Compiler) -> None:
    compiler.state.facts["$.Messages"] = True
    try:
        compiler.body(compiler.tree.body)
    except Refused as refused:
        raise UnsupportedTemplate(
            f"{refused.reason} cannot be converted", source=compiler.tree.source, offset=compiler.place
        ) from None


def _conversion(compiler: Compiler, chat: JinjaTemplate, ollama: str) -> Conversion:
    """Return what a compiler has written, as a template."""
    is_plain = "plain-json" in compiler.taken
    templates = [made for made in compiler.macro_templates.values() if made.name]
    names = defines.PRINTING | {made.name for made in templates}
    bodies = [
        without_unread(with_searches(tuple(items), compiler.searches, compiler.guards))
        for items in (compiler.items, *(made.items for made in templates))
    ]
    if not compiler.writes_arguments:
        bodies = [without_argument_checks(one) for one in bodies]
    shared_definitions: list[Define] = []
    while True:
        bodies = [printed_at_once(one, names) for one in bodies]
        bodies, made = shared(bodies, compiler.encodings, names | compiler.failures, is_plain=is_plain)
        shared_definitions += made
        if not made:
            break
        names |= {one.name.value for one in made}
    bodies = [without_copies(one, compiler.encodings) for one in bodies]
    names |= defines.DEFINES.keys()
    together, outlines = outlined(
        [*bodies, *(one.body for one in shared_definitions)], names, compiler.failures
    )
    shared_definitions = [
        Define(one.name, body) for one, body in zip(shared_definitions, together[len(bodies) :], strict=True)
    ]
    bodies = together[: len(bodies)]
    written, *inner = bodies
    body = cleaned(written, compiler.encodings)
    assumptions = tuple(ASSUMPTIONS[name] for name in ASSUMPTIONS if name in compiler.taken)
    head: list[Item] = []
    if assumptions:
        said = "; ".join(f"{one.name}: {one.meaning}" for one in assumptions)
        head.append(Comment(f"/* Assumes {said}. */"))
    macros = [
        Define(build.string(made.name), cleaned(items, compiler.encodings))
        for made, items in zip(templates, inner, strict=True)
    ]
    definitions = (
        *_definitions(
            [*bodies, *(one.body for one in (*shared_definitions, *outlines))],
            defines.texts_of(is_plain=is_plain, may_be_arguments=compiler.writes_arguments),
        ),
        *shared_definitions,
        *(Define(one.name, cleaned(one.body, compiler.encodings)) for one in outlines),
        *macros,
    )
    text = print_template((*definitions, *body))
    if len(text) > LONGEST:
        raise TooLong
    block = shape_block(text, chat, ollama, is_whole=not compiler.losses)
    if block.hidden:
        body = cleaned(written, compiler.encodings, hidden=block.hidden)
    whole = (*on_lines((*head, *block.body, *definitions)), *body)
    return Conversion(print_template(whole), assumptions, tuple(_losses(compiler)))


def _losses(compiler: Compiler) -> Iterator[Loss]:
    images = image_loss(compiler.tree)
    if images is not None:
        yield images
    if compiler.prints_numbers:
        yield NUMBERS
    for name in sorted(compiler.tokens_not_given):
        yield Loss(
            f"{name} was not given (special_tokens=, --token): it prints nothing, or fails beside a +",
            name="special-tokens",
        )
    for reason, place in dict.fromkeys(compiler.losses):
        position = None if place is None else compiler.tree.source.position(place)
        yield Loss(
            f"fails where this is reached: {reason} cannot be converted",
            None if position is None else position.line,
            None if position is None else position.column,
        )


def _request(given: dict[str, Value]) -> dict[str, Value]:
    """Return the variables that Ollama has something for."""

    def at(*names: str) -> Variable:
        return Variable("$", names)

    last = build.go("index $m (len (slice $m 1))", m=at("Messages"))
    return {
        "tools": Go(frozenset({"tools"}), at("Tools"), at("Tools"), "none"),
        "documents": Const(None),
        "enable_thinking": Go(frozenset({"bool"}), at("Think"), at("IsThinkSet")),
        "reasoning_effort": Go(frozenset({"str"}), at("ThinkLevel"), at("ThinkLevel")),
        **given,
        "messages": Go(frozenset({"messages"}), at("Messages")),
        "add_generation_prompt": Go(
            frozenset({"bool"}), build.call("ne", build.field(last, "Role"), build.string("assistant"))
        ),
    }


def _value(value: Any) -> Value:
    if isinstance(value, list | tuple):
        return ListOf(tuple(_value(item) for item in value))
    if isinstance(value, dict):
        return DictOf(tuple((Const(key), _value(item)) for key, item in value.items()))
    return Const(value)


def _definitions(bodies: Sequence[Body], texts: Mapping[str, str]) -> Body:
    """Return the definitions of the templates of ours that are called."""
    made: list[Item] = []
    for name in sorted(set().union(*map(called_in, bodies)) & texts.keys()):
        body = parse(texts[name], functions=FUNCTIONS).body
        made.append(Define(build.string(name), body))
    return tuple(made)
