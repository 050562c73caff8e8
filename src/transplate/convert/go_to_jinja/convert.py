"""Converts an Ollama Go template to a Jinja chat template: runs the passes in order."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from transplate.convert.go_to_jinja import build as b
from transplate.convert.go_to_jinja import generation_prompt, host, legacy
from transplate.convert.go_to_jinja.assumptions import Assumptions
from transplate.convert.go_to_jinja.calls import Calls
from transplate.convert.go_to_jinja.collation import MESSAGES, SYSTEM, collate, needs_collation
from transplate.convert.go_to_jinja.context import STATE, Context
from transplate.convert.go_to_jinja.conversations import has_odd_parts
from transplate.convert.go_to_jinja.facts import Facts
from transplate.convert.go_to_jinja.idioms.recognise import recognised
from transplate.convert.go_to_jinja.lower import lower
from transplate.convert.go_to_jinja.macros import macro_losses, macro_names, macros_for
from transplate.convert.go_to_jinja.naming import name_symbols
from transplate.convert.go_to_jinja.polish import polish
from transplate.convert.go_to_jinja.probes import closed_prefill, hides_tools
from transplate.convert.go_to_jinja.resolve import resolve
from transplate.convert.go_to_jinja.shapes import FIELDS, Shape, Value
from transplate.convert.go_to_jinja.simplify import assigned, simplify
from transplate.convert.go_to_jinja.text import BEHIND, BYTE_SLICE, CUT, ROLE_SLICE, UNSAYABLE
from transplate.convert.report import Conversion, Loss
from transplate.errors import TemplateExecutionError, UnsupportedTemplate
from transplate.gotmpl import nodes as go
from transplate.gotmpl.parser import parse
from transplate.jinja import nodes as j
from transplate.jinja import walk
from transplate.jinja.writer import write_template
from transplate.ollama.functions import FUNCTIONS
from transplate.ollama.inference import Inference, infer, running_body
from transplate.ollama.legacy import cut_at_response
from transplate.ollama.template import OllamaTemplate
from transplate.ollama.versions import NEWEST, Behaviour, behaviour_of, parse_version


def to_jinja(
    source: str | OllamaTemplate, *, exact: bool = False, assume: Iterable[str] = (), ollama: str = NEWEST
) -> Conversion:
    """Return an Ollama Go template as a Jinja chat template.

    Args:
        source: The Go template, as text or parsed.
        exact: Whether the result prints what Ollama prints on every request; else only on ordinary
            conversations, those that meet the assumptions which the result lists.
        assume: Names of assumptions to rely on as well.
        ollama: The version of Ollama to follow.

    Raises:
        TypeError: ``source`` is something else, such as a chat template or a path.
        TemplateSyntaxError: Ollama cannot read the template.
        UnsupportedTemplate: It has something that Jinja cannot say in the same way in all engines.
        ValueError: ``assume`` has a name that no assumption has.
    """
    text = source.source if isinstance(source, OllamaTemplate) else source
    if not isinstance(text, str):
        raise TypeError(
            f"to_jinja takes an Ollama template or its text, not a value of type {type(text).__name__}"
        )
    tree = parse(text, functions=FUNCTIONS)
    assumptions = Assumptions(exact=exact, assume=assume)
    try:
        return _Conversion(tree, assumptions, ollama).run()
    except RecursionError:
        message = "a template that is nested this deep cannot be converted"
        raise UnsupportedTemplate(message, source=tree.source, offset=0) from None


class _Conversion:
    """One conversion: what the passes share besides the tree that each hands on to the next."""

    def __init__(self, tree: go.TemplateTree, assumptions: Assumptions, ollama: str) -> None:
        self.inference: Inference = infer(tree)
        self.tree = recognised(tree) if "messages" in self.inference.variables else tree
        self.assumptions = assumptions
        self.ollama = ollama
        self.behaviour: Behaviour = behaviour_of(parse_version(ollama))
        self.thinks = "thinking" in self.inference.abilities
        self.resolution = resolve(self.tree)

    def run(self) -> Conversion:
        go_body = running_body(self.tree)
        if "messages" in self.inference.variables:
            c = self.context(self.messages_root())
            body = self.messages_mode(c, go_body)
        else:
            c = self.context(self.turn_root())
            body = self.legacy_mode(c, go_body)
        body = polish(self.for_hosts(c, body))
        features = frozenset() if self.behaviour.property_required else frozenset({"ollama<0.20"})
        macros = macros_for(body, self.assumptions, features=features)
        c.losses += macro_losses(macros)
        body = name_symbols(body, macro_names())
        listed = self.assumptions.used
        if not self.assumptions.allows("text-content"):
            c.losses.append(_ODD_PARTS)
        if not any(each.name == "open-prefill" for each in listed):
            c.losses += closed_prefill(self.tree.source.text, ollama=self.ollama)
        comment: j.Body = ()
        if listed:
            comment = (j.Comment(_wrapped("Assumes " + ", ".join(each.name for each in listed) + ".")),)
        return Conversion(write_template((*comment, *macros, *body)), listed, tuple(c.losses))

    # --- the two modes --------------------------------------------------------------------------------

    def messages_mode(self, c: Context, go_body: go.Body) -> j.Body:
        body = self.lowered(c, go_body)
        body = simplify(body)
        if self.assumptions.allows("some-message"):
            shorter = simplify(body, Facts({MESSAGES: True}))
            if shorter != body:
                self.assumptions.use("some-message")
                body = shorter
        body = self.finished(c, body)
        body = simplify(generation_prompt.gate(body, self.assumptions))
        if self.assumptions.allows("some-message"):
            body = simplify(body, Facts({MESSAGES: True}))
        if not needs_collation(self.assumptions, system=False) and host.ignores_system(body):
            self.assumptions.use("no-system")
        body = _with_state(body)
        body = collate(self.assumptions, body, keys=_message_keys(body))
        return (*self.think_settings(body), *body)

    def legacy_mode(self, c: Context, go_body: go.Body) -> j.Body:
        try:
            cut_body = cut_at_response(go_body)
        except TemplateExecutionError as error:
            raise c.refusal(_START, f"Ollama crashes on this template: {error.message}") from error
        full = self.lowered(c, go_body)
        refusals, losses = dict(c.refusals), list(c.losses)
        c.last_turn = True
        cut = self.lowered(c, cut_body)
        c.refusals |= refusals
        c.losses += [loss for loss in losses if loss not in c.losses]
        if all(map(self.assumptions.allows, _TURNS)):
            facts = Facts({legacy.PROMPT: True})
            turn_full = self.finished(c, simplify(full, facts))
            plain = legacy.plain_loop(turn_full, simplify(cut, facts))
            if plain is not None:
                for name in _TURNS:
                    self.assumptions.use(name)
                plain = _with_state(simplify(plain))
                return (*self.think_settings(plain), *plain)
        full, cut = (_with_state(self.finished(c, simplify(body))) for body in (full, cut))
        walked = simplify(legacy.walk_turns(self.assumptions, full, cut))
        return (*self.think_settings(walked), *walked)

    def for_hosts(self, c: Context, body: j.Body) -> j.Body:
        """Return a body with what hosts of templates were said to need."""
        completed = host.complete_tool_calls(body)
        if completed != body:
            if self.assumptions.use("llama-server"):
                body = simplify(completed)
            else:
                c.losses.append(
                    Loss("llama-server does not start: tool calls are no JSON (assume llama-server)")
                )
        if hides_tools(self.tree.source.text, ollama=self.ollama):
            body = (*host.read_tools(c.symbol("tool"), c.symbol("name")), *body)
        if not host.opens_with_bos(body) and self.assumptions.use("bos-token"):
            body = (j.Output((j.Name("bos_token"),)), *body)
        return body

    # --- passes ---------------------------------------------------------------------------------------

    def context(self, root: dict[str, Value]) -> Context:
        return Context(
            source=self.tree.source,
            resolution=self.resolution,
            assumptions=self.assumptions,
            root=root,
            calls=Calls(self.tree.body, self.tree.templates),
            collated=needs_collation(self.assumptions, system="system" in self.inference.variables),
            tool_calls_read="ToolCalls" in self.inference.fields,
            property_required=self.behaviour.property_required,
            tool_prints_json=self.behaviour.tool_string,
        )

    def messages_root(self) -> dict[str, Value]:
        return {
            "System": Value(Shape.TEXT, SYSTEM),
            "Messages": Value(Shape.MESSAGES, MESSAGES),
            "Tools": Value(Shape.TOOLS, j.Name("tools"), optional=True),
            "Response": Value(Shape.TEXT, j.EMPTY),
            **self.think_root(),
        }

    def turn_root(self) -> dict[str, Value]:
        return {
            "System": Value(Shape.TEXT, legacy.SYSTEM),
            "Prompt": Value(Shape.TEXT, legacy.PROMPT),
            "Response": Value(Shape.TEXT, legacy.RESPONSE),
            **self.think_root(),
        }

    def think_root(self) -> dict[str, Value]:
        """Return what the API's ``think`` becomes; a model that can think does so unless told otherwise."""
        is_set = j.TRUE if self.thinks else _IS_THINK_SET
        return {
            "Think": Value(Shape.BOOL, _THINK),
            "ThinkLevel": Value(Shape.TEXT, _THINK_LEVEL),
            "IsThinkSet": Value(Shape.BOOL, is_set),
        }

    def think_settings(self, body: j.Body) -> j.Body:
        """Return the definitions of the thinking settings that a body reads."""
        parts = set(walk.all_parts(body))
        enabled, effort = j.Name("enable_thinking"), j.Name("reasoning_effort")
        given = b.and_(j.Test(enabled, "defined"), j.Test(enabled, "none", negated=True))
        default = j.TRUE if self.thinks else j.Test(effort, "defined")
        think = j.Conditional(given, enabled, default)
        settings: list[j.Statement] = []
        if _IS_THINK_SET in parts:
            settings.append(j.Set(_IS_THINK_SET, b.or_(given, j.Test(effort, "defined"))))
        if _THINK in parts or _THINK_LEVEL in parts:
            settings.append(j.Set(_THINK, think))
        if _THINK_LEVEL in parts:
            level = j.Conditional(j.Test(effort, "defined"), effort, j.Literal("medium"))
            settings.append(j.Set(_THINK_LEVEL, j.Conditional(_THINK, level, j.EMPTY)))
        return tuple(settings)

    def lowered(self, c: Context, body: go.Body) -> j.Body:
        """Lower a body again and again until the shapes of its variables are known."""
        while True:
            before = {declaration: set(shapes) for declaration, shapes in c.shapes.items()}
            negatives, optionals, wide = set(c.negatives), set(c.optionals), set(c.wide)
            c.begin()
            lowered = lower(c, body)
            if (before, negatives, optionals, wide) == (c.shapes, c.negatives, c.optionals, c.wide):
                macros = tuple(macro for macro in c.macros.values() if macro is not None)
                return (*macros, *lowered)

    def finished(self, c: Context, body: j.Body) -> j.Body:
        """Refuse what is left of operations that Jinja does not have."""
        if self.assumptions.allows("ascii-texts"):
            counted = _by_characters(body)
            if counted != body:
                self.assumptions.use("ascii-texts")
                body = counted
        for part in walk.all_parts(body):
            if isinstance(part, j.Filter) and part.name in UNSAYABLE:
                raise c.refusal(*c.refusals.get(part, (_START, "a text is measured or cut by bytes")))
        return walk.map_expressions(
            body, lambda expression: walk.substitute(expression, lambda part: _role_slice(c, part))
        )


_START = go.NOWHERE
_ODD_PARTS = Loss(
    "typed parts of a tool's result or beside reasoning and tool calls, parts that are neither text nor"
    " image, images that belong to one text",
    name="odd-parts",
    affects=has_odd_parts,
)
_TURNS = ("alternating-turns", "text-content")
_THINK, _THINK_LEVEL, _IS_THINK_SET = j.Name("think"), j.Name("think_level"), j.Name("is_think_set")


def _by_characters(body: j.Body) -> j.Body:
    """Return a body that cuts texts by characters, which engines count alike in ASCII only."""

    def sliced(part: j.Expression) -> j.Expression:
        match part:
            case j.Filter(value, name, (count,)) if name == CUT:
                return j.Slice(value, None, count)
            case j.Filter(value, name, (count,)) if name == BEHIND:
                return j.Slice(value, count)
            case _:
                return part

    return walk.map_expressions(body, lambda expression: walk.substitute(expression, sliced))


def _role_slice(c: Context, part: j.Expression) -> j.Expression:
    match part:
        case j.Filter(value, name, (start,)) if name == ROLE_SLICE:
            span, _ = c.refusals.get(j.Filter(value, BYTE_SLICE, (start,)), (_START, ""))
            c.lose(span, "a role that is cut within a character of several bytes")
            return j.Slice(value, start)
        case _:
            return part


def _with_state(body: j.Body) -> j.Body:
    """Return a body behind the definition of the namespace that its variables need, if any."""
    initial: dict[str, j.Expression] = {}
    kept: list[j.Statement] = []
    changing = {STATE, *assigned(body)}
    for at, statement in enumerate(body):
        match statement:
            case j.Set(j.Attribute(value, name), given) if (
                value == STATE and name not in initial and not changing & set(walk.parts(given))
            ):
                initial[name] = given
            case j.Set() | j.Output() | j.Macro():
                kept.append(statement)
                continue
            case _:
                kept += body[at:]
                break
    for statement in walk.statements(tuple(kept)):
        match statement:
            case j.Set(j.Attribute(owner, name)) if owner == STATE:
                initial.setdefault(name, j.Literal(None))
            case _:
                pass
    if not initial:
        return body
    return (j.Set(STATE, j.Call(j.Name("namespace"), keywords=tuple(initial.items()))), *kept)


def _message_keys(body: j.Body) -> frozenset[str]:
    """Return the keys of messages that a body reads."""
    keys = frozenset(field.key for field in FIELDS[Shape.MESSAGE].values())
    read: set[str] = set()
    for part in walk.all_parts(body):
        match part:
            case j.Attribute(value, name) if not _is_function(value):
                read.add(name)
            case j.Call(j.Name("message_json" | "messages_json")):
                return keys
            case _:
                pass
    return keys & read


def _is_function(value: j.Expression) -> bool:
    """Return whether an expression is a tool's function or a tool call's, which have names, too."""
    match value:
        case j.Attribute(_, "function"):
            return True
        case j.Name(symbol):
            return symbol.startswith("function#")
        case _:
            return False


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, 100, break_on_hyphens=False))
