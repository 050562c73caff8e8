"""Templates and requests with real Ollama's answers; ``python -m tests.ollama.cases`` records them anew."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from tests.oracle.ollama import Answer, GoOracle

ANSWERS = Path(__file__).parent / "answers.jsonl"
NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)

DUMP = "{{ .System }}|{{ json .Messages }}|{{ json .Tools }}"


class Case(NamedTuple):
    """A template and the JSON text of a request: Ollama's ``template.Values``."""

    name: str
    template: str
    request: str


# --- how requests are read ------------------------------------------------------------------------------

_READ = {
    "keys in other case": '{"messages": [{"ROLE": "user", "Content": "x", "TOOL_name": "t"}]}',
    "keys with the long s and the Kelvin sign": '{"messages": [{"role": "user", "image\u017f": ["aGk="]}]}',
    "repeated keys": '{"messages": [{"role": "a", "content": "x", "role": "b", "content": null}]}',
    "repeated struct": '{"messages": [{"tool_calls": [{"function": {"name": "f", "index": 2}, "id": "1",'
    ' "function": {"arguments": {"a": 1}}}]}]}',
    "repeated list": '{"messages": [{"role": "u", "tool_calls": [{"id": "1", "function": {"name": "f"}}, {}],'
    ' "tool_calls": [{"function": {"index": 4}}]}]}',
    "repeated argument": '{"messages": [{"tool_calls": [{"function": {"arguments":'
    ' {"a": 1, "b": 2, "a": {"c": 3}}}}]}]}',
    "null everywhere": '{"messages": [null, {"role": null, "content": null, "images": null, "tool_calls":'
    ' [null, {"function": null, "id": null}]}], "tools": [null, {"function": {"parameters": null}}]}',
    "null messages and tools": '{"messages": null, "tools": null}',
    "nothing": "{}",
    "empty lists": '{"messages": [], "tools": []}',
    "unknown keys": '{"messages": [{"role": "user", "name": "n", "refusal": [1e999, {"a": null}]}]}',
    "roles in other case": '{"messages": [{"role": "SYSTEM", "content": "s"}, {"role": "\u0130\u03a3\u00c9",'
    ' "content": "x"}]}',
    "escapes": '{"messages": [{"role": "u", "content": "\\u00e9\\ud83d\\ude00\\/\\b\\ud800x\\udc00"}]}',
    "numbers": '{"messages": [{"tool_calls": [{"function": {"arguments": {"n": [0, -0, -0.0, 1, 1.0, 1e2,'
    " 12345678, 9007199254740993, 1e20, 1e21, 1e-6, 1e-7, 123456789012345678901234567890, 5e-324]}}}]}]}",
    "index": '{"messages": [{"tool_calls": [{"function": {"index": -0}}, {"function": {"index": 7}}]}]}',
    "images": '{"messages": [{"images": ["aGk=", "", "aG\\r\\nk=", [1, 255], null, "AB=="]}]}',
    "property types": '{"tools": [{"function": {"parameters": {"properties": {"a": {"type": null}, "b":'
    ' {"type": []}, "c": {"type": ["x"]}, "d": {"type": ["x", null]}, "e": {"type": "y"}, "f": {}}}}}]}',
    "schema": '{"tools": [{"type": "function", "items": {"z": 1, "a": [true]}, "function": {"name": "<f>",'
    ' "description": "\\u2028&", "parameters": {"type": "object", "$defs": {"b": 1, "a": 2}, "items": [],'
    ' "required": [], "additionalProperties": false, "properties": {"z": {"anyOf": [{"type": "x"}, {}],'
    ' "enum": [1, "a", null], "default": 3, "properties": {"k\\b\\f\\u0001<": {"properties": {}}, "a":'
    ' {"properties": null, "items": {"type": "q"}}}}, "a": {"description": "d"}}}}}]}',
}
_REFUSED = {
    "number for a text": '{"messages": [{"content": 1}]}',
    "text for a list": '{"messages": "x"}',
    "object for a list": '{"tools": {}}',
    "parts for a text": '{"messages": [{"content": [{"type": "text", "text": "x"}]}]}',
    "arguments as text": '{"messages": [{"tool_calls": [{"function": {"arguments": "{}"}}]}]}',
    "arguments as list": '{"messages": [{"tool_calls": [{"function": {"arguments": []}}]}]}',
    "index with a fraction": '{"messages": [{"tool_calls": [{"function": {"index": 1.0}}]}]}',
    "index beyond 64 bits": '{"messages": [{"tool_calls": [{"function": {"index": 9223372036854775808}}]}]}',
    "number beyond float64": '{"messages": [{"tool_calls": [{"function": {"arguments": {"a": 1e400}}}]}]}',
    "argument with half a character": '{"messages": [{"tool_calls": [{"function": {"arguments":'
    ' {"\\ud800": 1}}}]}]}',
    "bad base64": '{"messages": [{"images": ["aGk"]}]}',
    "byte too large": '{"messages": [{"images": [[256]]}]}',
    "required is a text": '{"tools": [{"function": {"parameters": {"required": "a"}}}]}',
    "property is a list": '{"tools": [{"function": {"parameters": {"properties": {"a": []}}}}]}',
    "properties are a list": '{"tools": [{"function": {"parameters": {"properties": []}}}]}',
    "type is a number": '{"tools": [{"function": {"parameters": {"properties": {"a": {"type": 1}}}}}]}',
    "function is a text": '{"tools": [{"function": "f"}]}',
}

# --- what is made of messages ---------------------------------------------------------------------------


def _request(*messages: tuple[str, str], **more: Any) -> str:
    made = [{"role": role, "content": content} for role, content in messages]
    return json.dumps({"messages": made, **more})


_CONVERSATIONS = {
    "none": _request(),
    "user": _request(("user", "hi")),
    "system": _request(("system", "s"), ("user", "hi")),
    "systems apart": _request(("system", "a"), ("user", "hi"), ("system", "b"), ("user", "ho")),
    "empty systems": _request(("system", ""), ("system", ""), ("user", "hi")),
    "joined": _request(("user", "a"), ("user", ""), ("user", "c"), ("assistant", "x"), ("assistant", "y")),
    "tools stay apart": _request(("user", "a"), ("tool", "1"), ("tool", "2"), ("user", "b"), ("user", "c")),
    "turns": _request(("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"), ("user", "e")),
    "assistant first": _request(("assistant", "b"), ("user", "c"), ("system", "late")),
    "assistant last": _request(("system", "s"), ("user", "c"), ("assistant", "so")),
    "other roles": _request(("user", "a"), ("wizard", "w"), ("user", "b"), ("assistant", "c"), ("tool", "t")),
    "empty response": _request(("user", "a"), ("assistant", ""), ("user", "b")),
    "suffix": _request(("user", "a"), prompt="P", suffix="S"),
    "prompt alone": _request(("user", "a"), prompt="P"),
    "thinking": _request(("user", "a"), think=True, think_level="high", is_think_set=True),
}
_MODES = {
    "messages": "{{ .System }}|{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}|{{ .Prompt }}"
    "|{{ .Response }}|{{ .Think }}{{ .ThinkLevel }}{{ .IsThinkSet }}",
    "legacy": "[{{ .System }}|{{ .Prompt }}|{{ .Response }}|{{ .Think }}{{ .ThinkLevel }}]",
    "legacy without response": "[{{ .System }}|{{ .Prompt }}|{{ .Suffix }}]",
    "legacy with else": "{{ if .System }}S{{ .System }}{{ else }}none{{ end }}{{ .Prompt }}>{{ .Response }}<",
}
_LEGACY = {
    "cut in a command": "{{ .Prompt }} {{ print .Response .Prompt }} {{ .System }}Z",
    "cut keeps a second response": "{{ .Prompt }}{{ print .Response .Prompt .Response }}Z",
    "cut in a pipeline": "{{ .Prompt }}{{ .Response | printf `%s!` }}Z",
    "cut in parentheses": "{{ .Prompt }}{{ print 1 (print .Response 2) 3 }}Z",
    "cut in a declaration": "{{ .Prompt }}{{ $x := .Response }}{{ $x }}Z",
    "cut in an if": "{{ .Prompt }}{{ if true }}a{{ .Response }}b{{ end }}c",
    "cut in a range": "{{ range 2 }}{{ $.Prompt }}{{ with $ }}{{ .Response }}b{{ end }}c{{ end }}d",
    "a condition does not cut": "{{ if .Response }}y{{ end }}{{ .Prompt }}Z",
    "a variable does not cut": "{{ .Prompt }}{{ $.Response }}Z",
    "parentheses do not cut": "{{ .Prompt }}{{ (print .Prompt).Response }}Z",
    "panic": "{{ if .Prompt }}a{{ .Response }}{{ else }}b{{ end }}",
    "no panic in the else": "{{ if not .Prompt }}a{{ else }}b{{ .Response }}c{{ end }}d",
    "panic in else if": "{{ if .System }}a{{ else if .Prompt }}{{ .Response }}{{ else }}b{{ end }}",
    "function in the last turn": "{{ .Prompt }}{{ json .Prompt }}{{ .Response }}",
    "function behind the response": "{{ .Prompt }}{{ .Response }}{{ json .Response }}",
    "template in the last turn": '{{ define "x" }}x{{ end }}{{ template "x" . }}{{ .Response }}',
    "template behind the response": '{{ define "x" }}x{{ end }}{{ .Response }}{{ template "x" . }}',
    "block in the last turn": '{{ block "x" . }}{{ .Response }}{{ end }}',
    "missing key in the last turn": "{{ .Nope.A }}{{ .Response }}",
    "missing key in an earlier turn": "{{ .Response }}{{ .Nope.A }}",
    "response in a define": '{{ define "x" }}{{ .Response }}{{ end }}{{ .Prompt }}{{ template "x" . }}',
    "error in an earlier turn prints nothing": "{{ .Prompt }}{{ if .Response }}{{ len 3 }}{{ end }}",
    "parenthesised messages are legacy": "{{ (index .Messages 0).Role }}",
}

# --- modes, functions and data --------------------------------------------------------------------------

_MODE_DETECTION = {
    "field in any case": "{{ .mEssages }}",
    "variable's field": "{{ $.messages }}{{ .Nope.A }}",
    "variable of that name": "{{ $messages := 1 }}{{ .Prompt }}",
    "in an else": "{{ if false }}{{ else }}{{ json .Messages }}{{ end }}",
    "in a define that is not called": '{{ define "x" }}{{ .Messages }}{{ end }}{{ .Tools }}',
    "empty file with a definition of itself": '{{ define "" }}{{ json .Messages }}{{ end }}',
    "call without an argument": '{{ define "x" }}x{{ end }}{{ template "x" }}',
    "call without an argument deep inside": '{{ define "x" }}{{ if 1 }}{{ template "x" }}{{ end }}{{ end }}',
}
_DATE_FUNCTIONS = {
    "dates": "{{ currentDate }} {{ yesterdayDate }} {{ currentDate `x` .Prompt }}",
    "date with a number": "{{ currentDate 1 }}",
    "date with a value of another type": "{{ yesterdayDate .Think }}",
    "json with two arguments": "{{ json 1 2 }}",
    "json of what has none": "[{{ json 1i }}][{{ json nil }}][{{ json `<` }}]",
    "typescript type of something else": "{{ toTypeScriptType 1 }}{{ toTypeScriptType nil }}",
}
_TOOLS = "{{ range .Tools }}%s{{ end }}"
_PROPERTIES = _TOOLS % "{{ range $name, $p := .Function.Parameters.Properties }}%s{{ end }}"
_NESTED = _PROPERTIES % "{{ with .Properties }}%s{{ end }}"
_CALLS = "{{ range .Messages }}{{ range .ToolCalls }}%s{{ end }}{{ end }}"
_DATA = {
    "all": DUMP,
    "tools": "{{ .Tools }}|{{ .Tools.String }}|{{ len .Tools }}",
    "tool": _TOOLS % "{{ . }}|{{ .Function }}|{{ .Function.Parameters }}|{{ .Type }}{{ .Items }}",
    "parameters": _TOOLS
    % "{{ with .Function.Parameters }}{{ .Type }}{{ .Defs }}{{ .Items }}{{ .Required }}{{ end }}",
    "properties": _TOOLS
    % "{{ with .Function.Parameters.Properties }}{{ . }}{{ .String }}{{ .nope }}{{ len . }}{{ end }}",
    "property": _PROPERTIES
    % (
        "{{ $name }}:{{ if not .Properties }}{{ $p }}{{ end }}|{{ $p.Type }}|{{ json $p }}"
        "|{{ json $p.Type }}|{{ $p.ToTypeScriptType }}"
        "|{{ toTypeScriptType $p }}|{{ $p.Enum }}{{ json $p.Enum }}|{{ $p.Items }}|{{ $p.AnyOf }}"
        "|{{ $p.Description }};"
    ),
    "nested properties": _NESTED
    % (
        "{{ .Len }}{{ len .ToMap }}{{ json .ToMap }}{{ json . }}{{ printf `%s` .MarshalJSON }}"
        "{{ range $k, $v := .All }}{{ $k }}={{ $v.Type }};{{ end }}{{ range .All }}{{ . }}{{ end }}"
        "{{ index .ToMap `a` | json }}"
    ),
    "no nested properties": _PROPERTIES
    % (
        "{{ .Properties.Len }}{{ len .Properties.ToMap }}{{ json .Properties }}"
        "{{ range .Properties.All }}x{{ end }}"
    ),
    "get": _NESTED % "{{ .Get `a` }}",
    "set": _NESTED % "{{ .Set `a` $p }}",
    "unexported": _NESTED % "{{ .om }}",
    "marshal on a nil pointer": _PROPERTIES
    % "{{ if not .Properties }}{{ .Properties.MarshalJSON }}{{ end }}",
    "required of a property": _PROPERTIES % "{{ .Required }}",
    "unmarshal of a type": _PROPERTIES % "{{ range .AnyOf }}{{ .Type.UnmarshalJSON `x` }}{{ end }}",
    "unmarshal where it cannot be": _PROPERTIES % "{{ .Type.UnmarshalJSON `x` }}",
    "messages": "{{ range .Messages }}{{ . }}|{{ printf `%v %+v` . . }}{{ end }}",
    "message": (
        "{{ range .Messages }}{{ .Role }}{{ .Content }}{{ .Thinking }}{{ .Images }}{{ .ToolName }}"
        "{{ .ToolCallID }}{{ json . }}{{ end }}"
    ),
    "calls": _CALLS % "{{ . }}|{{ .ID }}|{{ .Function }}|{{ .Function.Index }}|{{ .Function.Name }}",
    "arguments": _CALLS
    % (
        "{{ with .Function }}{{ .Arguments }}|{{ .Arguments.String }}|{{ json .Arguments }}"
        "{{ range $k, $v := .Arguments }}{{ $k }}={{ $v }};{{ end }}{{ .Arguments.nope }}{{ end }}"
    ),
    "missing fields": "{{ range .Messages }}{{ .Nope }}{{ end }}",
    "field of the tools": "{{ .Tools.Nope }}",
    "field of the messages": "{{ .Messages.Nope }}",
    "room behind calls": "{{ with index .Messages 2 }}{{ slice .ToolCalls 0 4 }}{{ end }}",
    "no more room behind calls": "{{ with index .Messages 2 }}{{ slice .ToolCalls 0 5 }}{{ end }}",
    "room behind an image": "{{ range .Messages }}{{ range .Images }}{{ slice . 0 3 }}{{ end }}{{ end }}",
}
_RICH = json.dumps(
    {
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "<é>", "images": ["aGk="], "thinking": "t"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {
                        "id": "1",
                        "function": {"name": "f", "index": 3, "arguments": {"b": 1, "a": [None, "<"]}},
                    },
                    {"function": {"name": "g", "arguments": {}}},
                    {"function": {"name": "h"}},
                ],
            },
            {"role": "tool", "content": "7", "tool_name": "f", "tool_call_id": "1"},
        ],
        "tools": json.loads(_READ["schema"])["tools"],
        "think": True,
        "think_level": "low",
        "is_think_set": True,
    }
)


def cases() -> Iterator[Case]:
    """Yield all cases; their names are distinct."""
    for name, request in {**_READ, **_REFUSED}.items():
        yield Case(f"read/{name}", DUMP, request)
    for mode, template in _MODES.items():
        for name, request in _CONVERSATIONS.items():
            yield Case(f"{mode}/{name}", template, request)
    for name, template in _LEGACY.items():
        yield Case(f"legacy/{name}", template, _CONVERSATIONS["turns"])
    for name, template in {**_MODE_DETECTION, **_DATE_FUNCTIONS}.items():
        yield Case(f"functions/{name}", template, _CONVERSATIONS["user"])
        yield Case(f"functions/{name}, suffix", template, _CONVERSATIONS["suffix"])
    for name, template in _DATA.items():
        yield Case(f"data/{name}", template + "{{ if .Messages }}{{ end }}", _RICH)


def recorded() -> dict[str, Answer]:
    """Return the recorded answers by the cases' names."""
    with ANSWERS.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {row["name"]: Answer(base64.b64decode(row["output"]), row["error"], row["stage"]) for row in rows}


def ask(oracle: GoOracle) -> dict[str, Answer]:
    """Return what real Ollama answers now, by the cases' names."""
    asked = list(cases())
    answers = oracle.render_many(((case.template, [case.request.encode()]) for case in asked), now=NOW)
    return {case.name: answer for case, (answer,) in zip(asked, answers, strict=True)}


def main() -> None:
    """Record the answers of real Ollama."""
    oracle = GoOracle()
    with ANSWERS.open("w", encoding="utf-8") as lines:
        for name, answer in ask(oracle).items():
            row = {
                "name": name,
                "output": base64.b64encode(answer.output).decode(),
                "error": answer.error,
                "stage": answer.stage,
            }
            lines.write(json.dumps(row) + "\n")
    oracle.close()


if __name__ == "__main__":
    main()
