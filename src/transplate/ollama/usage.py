"""What a template uses of Ollama: functions, fields and roles, and the oldest version that has them all.

The walk follows the types of Ollama's data through dot and variables, because the same name came to different
types at different times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from transplate.gotmpl.compiler.trampoline import Task, run
from transplate.gotmpl.nodes import (
    Action,
    Block,
    Body,
    Branch,
    Chain,
    Command,
    Dot,
    Else,
    Field,
    Identifier,
    If,
    Operand,
    Pipeline,
    Range,
    String,
    TemplateCall,
    TemplateTree,
    Variable,
    With,
)
from transplate.gotmpl.types import BOOL, STRING, GoType, Kind
from transplate.ollama.model import MESSAGES, tool_types
from transplate.ollama.versions import NEWEST, behaviour_of, parse_version

BASE = "0.1.24"
"""The oldest version that was looked at; it runs templates of System, Prompt and Response."""

_TOOLS = tool_types(behaviour_of(parse_version(NEWEST)))
_ROOT: Mapping[str, GoType] = {
    "Messages": MESSAGES,
    "Tools": _TOOLS.tools_type,
    "System": STRING,
    "Prompt": STRING,
    "Response": STRING,
    "Suffix": STRING,
    "Think": BOOL,
    "ThinkLevel": STRING,
    "IsThinkSet": BOOL,
}
_ROLE = GoType("string", Kind.STRING)
"""The type of a message's role, a string that is told from others."""

# Found by looking through the source of each of these versions and of the one before it: template/template.go
# (or where it was then) for functions and the fields of dot, api/types.go for the rest.
_FUNCTIONS_SINCE = {
    "json": "0.2.6",
    "currentDate": "0.11.1",
    "toTypeScriptType": "0.11.3",
    "yesterdayDate": "0.13.3",
}
_FIELDS_SINCE = {
    ("", "Messages"): "0.2.2",
    ("", "Tools"): "0.2.6",
    ("", "Suffix"): "0.2.6",
    ("", "Think"): "0.9.0",
    ("", "IsThinkSet"): "0.9.0",
    ("", "ThinkLevel"): "0.11.1",
    ("template.templateMessage", "ToolCalls"): "0.2.6",
    ("template.templateMessage", "Thinking"): "0.9.0",
    ("template.templateMessage", "ToolName"): "0.9.6",
    ("template.templateMessage", "ToolCallID"): "0.12.10",
    ("template.templateToolCall", "ID"): "0.12.10",
    ("template.templateToolCallFunction", "Index"): "0.4.7",
    ("template.templateTools", "String"): "0.2.7",
    ("template.templateTool", "Items"): "0.6.6",
    ("template.templateTool", "String"): "0.30.0",
    ("template.templateToolFunctionParameters", "Defs"): "0.6.6",
    ("template.templateToolFunctionParameters", "Items"): "0.6.6",
    ("api.ToolProperty", "AnyOf"): "0.11.3",
    ("api.ToolProperty", "Items"): "0.6.6",
    ("api.ToolProperty", "Properties"): "0.13.5",
    ("api.ToolProperty", "Required"): "0.20.0",
    ("api.ToolProperty", "ToTypeScriptType"): "0.11.3",
    ("api.PropertyType", "String"): "0.6.6",
    ("api.PropertyType", "MarshalJSON"): "0.6.6",
    ("api.ToolPropertiesMap", "All"): "0.14.0",
    ("api.ToolPropertiesMap", "Len"): "0.14.0",
    ("api.ToolPropertiesMap", "ToMap"): "0.14.0",
    ("api.ToolPropertiesMap", "MarshalJSON"): "0.14.0",
}
_ELSE_WITH_SINCE = "0.5.2"
"""``{{else with}}`` came with Go 1.23, which Ollama's go.mod asks for since then."""


class _Root:
    """The type of the map that a template is executed on."""


_ROOT_TYPE = _Root()
_Type: TypeAlias = GoType | _Root | None
"""The type of a value where it is known."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a template uses; all tuples are sorted.

    Attributes:
        functions: The functions that it calls.
        fields: The fields and methods that it names.
        roles: The texts that it compares a role with.
        oldest_ollama: The oldest version from which on all of that is there.
        since: The version that brought each of the things that were not there from the beginning.
    """

    functions: tuple[str, ...]
    fields: tuple[str, ...]
    roles: tuple[str, ...]
    oldest_ollama: str
    since: Mapping[str, str]


def find_usage(tree: TemplateTree, main: Body) -> Usage:
    """Return what a template uses.

    Args:
        tree: The parsed template.
        main: The body that runs.
    """
    walk = _Walk(tree.templates)
    run(walk.body(main, _ROOT_TYPE, {"$": _ROOT_TYPE}))
    for name, body in tree.templates.items():
        if name not in walk.called:
            run(walk.body(body, None, {"$": None}))
    needed = [parse_version(version) for version in walk.since.values()]
    return Usage(
        functions=tuple(sorted(walk.functions)),
        fields=tuple(sorted(walk.fields)),
        roles=tuple(sorted(walk.roles)),
        oldest_ollama=str(max(needed, default=parse_version(BASE))),
        since=dict(sorted(walk.since.items())),
    )


_Scope: TypeAlias = dict[str, _Type]


@dataclass(slots=True)
class _Walk:
    """One walk through a template; the sets are what it has found."""

    templates: Mapping[str, Body]
    functions: set[str] = field(default_factory=set)
    fields: set[str] = field(default_factory=set)
    roles: set[str] = field(default_factory=set)
    since: dict[str, str] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    _seen: set[tuple[str, int]] = field(default_factory=set)

    def body(self, body: Body, dot: _Type, scope: _Scope) -> Task[None]:
        """Walk through items with a type of dot, adding declared variables to the scope."""
        for item in body:
            if isinstance(item, Action):
                yield self._pipeline(item.pipeline, dot, scope)
            elif isinstance(item, If | With | Range):
                yield self._branch(item, dot, scope)
            elif isinstance(item, TemplateCall | Block):
                argument = None
                if item.pipeline is not None:
                    argument = yield self._pipeline(item.pipeline, dot, scope)
                yield self._call(item.name.value, argument)

    def _branch(self, branch: Branch, dot: _Type, scope: _Scope) -> Task[None]:
        inner = dict(scope)
        value = yield self._pipeline(branch.pipeline, dot, inner, is_range=isinstance(branch, Range))
        inside = dot
        if isinstance(branch, With):
            inside = value
        elif isinstance(branch, Range):
            inside = _element(value)
        yield self.body(branch.body, inside, dict(inner))
        if isinstance(branch.orelse, Else):
            yield self.body(branch.orelse.body, dot, dict(inner))
        elif branch.orelse is not None:
            if isinstance(branch.orelse, With):
                self.since["else with"] = _ELSE_WITH_SINCE
            yield self._branch(branch.orelse, dot, inner)

    def _call(self, name: str, argument: _Type) -> Task[None]:
        self.called.add(name)
        if name in self.templates and (name, id(argument)) not in self._seen:
            self._seen.add((name, id(argument)))
            yield self.body(self.templates[name], argument, {"$": argument})

    def _pipeline(
        self, pipeline: Pipeline, dot: _Type, scope: _Scope, *, is_range: bool = False
    ) -> Task[_Type]:
        value: _Type = None
        for number, command in enumerate(pipeline.commands):
            value = yield self._command(command, dot, scope, value if number else None)
        names = [variable.name for variable in pipeline.declarations]
        types: list[_Type] = [value]
        if is_range:
            types = [_key(value), _element(value)] if len(names) == 2 else [_element(value)]
        for name, found in zip(names, types, strict=False):
            is_same = not pipeline.is_assignment or scope.get(name) is found
            scope[name] = found if is_same else None
        return value

    def _command(self, command: Command, dot: _Type, scope: _Scope, final: _Type) -> Task[_Type]:
        types: list[_Type] = []
        for operand in command.operands:
            operand_type: _Type = yield self._operand(operand, dot, scope)
            types.append(operand_type)
        first = command.operands[0]
        if not isinstance(first, Identifier):
            return types[0]
        if first.name in ("eq", "ne") and any(found is _ROLE for found in (*types, final)):
            self.roles.update(operand.value for operand in command.operands if isinstance(operand, String))
        arguments = [*types[1:], final]
        if first.name == "index" and len(command.operands) > 1:
            for _ in command.operands[2:]:
                arguments[0] = _element(arguments[0])
            return arguments[0]
        if first.name == "slice":
            return arguments[0]
        return None

    def _operand(self, operand: Operand, dot: _Type, scope: _Scope) -> Task[_Type]:
        if isinstance(operand, Dot):
            return dot
        if isinstance(operand, Field):
            return self._chain(dot, operand.names)
        if isinstance(operand, Variable):
            return self._chain(scope.get(operand.name), operand.fields)
        if isinstance(operand, Chain):
            inner = yield self._operand(operand.operand, dot, scope)
            return self._chain(inner, operand.fields)
        if isinstance(operand, Pipeline):
            value: _Type = yield self._pipeline(operand, dot, scope)
            return value
        if isinstance(operand, Identifier):
            self.functions.add(operand.name)
            if operand.name in _FUNCTIONS_SINCE:
                self.since[operand.name] = _FUNCTIONS_SINCE[operand.name]
        return None

    def _chain(self, value: _Type, names: Iterable[str]) -> _Type:
        for name in names:
            self.fields.add(name)
            value = self._field(value, name)
        return value

    def _field(self, value: _Type, name: str) -> _Type:
        if value is None:
            known = [since for (_, member), since in _FIELDS_SINCE.items() if member == name]
            if known and name not in _AMBIGUOUS:
                self._needs(name, min(known, key=parse_version))
            return _ROLE if name == "Role" else None
        if isinstance(value, _Root):
            self._need("", name)
            return _ROOT.get(name)
        target = value.elem if value.kind is Kind.POINTER and value.elem is not None else value
        self._need(target.name, name)
        if name in target.methods:
            results = target.methods[name].results
            return results[0] if results else None
        if target.kind is Kind.MAP:
            return target.elem
        if name == "Role":
            return _ROLE
        index = target.field_indexes.get(name)
        return None if index is None else target.fields[index].type

    def _need(self, owner: str, name: str) -> None:
        since = _FIELDS_SINCE.get((owner, name))
        if since is not None:
            self._needs(name, since)

    def _needs(self, name: str, since: str) -> None:
        self.since[name] = max(since, self.since.get(name, since), key=parse_version)


_AMBIGUOUS = frozenset({"ID", "Index", "Items", "Properties", "Required", "String", "Defs"})
"""Names that say nothing about the version where the type of what has them is unknown."""


def _element(value: _Type) -> _Type:
    if isinstance(value, GoType) and value.kind in (Kind.SLICE, Kind.MAP):
        return value.elem
    if isinstance(value, GoType) and value.name.startswith("iter.Seq2"):
        return _TOOLS.property_type
    return None


def _key(value: _Type) -> _Type:
    return value.key if isinstance(value, GoType) and value.kind is Kind.MAP else None
