"""No template hangs, fills the memory or raises anything of Python, and no object of a caller does."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from random import Random, SystemRandom
from typing import Any

import pytest

from tests.fuzz.hostile import LANGUAGES, MESSAGES, SMALL, TOOLS, run_go, run_jinja
from transplate import JinjaTemplate, Limits, OllamaTemplate, Values
from transplate.errors import ErrorKind, TemplateExecutionError, TransplateError

_IN_MESSAGES = "{{range .Messages}}{{end}}"
_LOOPS = "{{range $.Messages}}" * 6
_ENDS = "{{end}}" * 6
_GROWN = (
    '{{$x := "aaaaaaaaaaaaaaaa"}}{{range $.Messages}}{{range $.Messages}}'
    "{{if lt (len $x) 100000}}{{$x = print $x $x}}{{end}}{{end}}{{end}}"
)


def _in_loops(body: str) -> str:
    """Return a template that does something with a long text 12**6 times."""
    return _GROWN + _LOOPS + body + _ENDS


ENDLESS = {
    "doubled": '{{$x := "aa"}}' + _LOOPS + "{{$x = print $x $x}}" + _ENDS,
    "quoted": '{{$x := "a\\""}}' + _LOOPS + '{{$x = printf "%q" $x}}' + _ENDS,
    "html": _in_loops("{{$y := html $x}}"),
    "js": _in_loops("{{$y := js $x}}"),
    "urlquery": _in_loops("{{$y := urlquery $x}}"),
    "compared": _in_loops('{{if eq $x (print $x "")}}{{end}}'),
    "ordered": _in_loops('{{if lt $x "b"}}{{end}}'),
    "measured": _in_loops('{{$y := len (print $x "ü")}}'),
    "sliced": _in_loops("{{$y := slice $x 1}}"),
    "list sliced": _in_loops("{{if slice $.Messages 1}}{{end}}"),
    "printed": _in_loops("{{$x}}"),
    "json": _in_loops("{{$y := json $x}}"),
    "structs": _in_loops('{{$y := printf "%v" $.Messages}}'),
    "cut to nothing": _in_loops('{{$y := printf "%.0s%.0x" $.Messages $x}}'),
    "padded": _LOOPS + '{{printf "%*s" 1000000 ""}}' + _ENDS,
    "padded by a number": _LOOPS + '{{printf "%1000000d" 1}}' + _ENDS,
    "precise": _LOOPS + '{{$y := printf "%.1000000f" 1.5}}' + _ENDS,
    "verbs": _LOOPS + '{{$y := printf "' + "%[1]v" * 3000 + '" 1}}' + _ENDS,
    "arguments": _LOOPS + "{{range .ToolCalls}}{{.Function.Arguments}}{{end}}" + _ENDS,
    "pipeline": _IN_MESSAGES + "{{1" + ' | printf "%d"' * 10_000 + "}}",
    "integers": "{{range $i := 100000000000}}{{$i}}{{end}}" + _IN_MESSAGES,
    "turns": "{{range 100000000000}}{{$.Prompt}}{{end}}",
    "large body": _LOOPS + "{{.Role}}" * 2000 + _ENDS,
    "recursion": '{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}' + _IN_MESSAGES,
    "two ways down": '{{define "a"}}{{template "b" .}}{{template "b" .}}{{end}}{{define "b"}}{{if .}}'
    '{{range $.Messages}}{{template "c" $}}{{end}}{{end}}{{end}}{{define "c"}}'
    "{{range .Messages}}{{range $.Messages}}{{range $.Messages}}{{range $.Messages}}{{range $.Messages}}"
    'x{{end}}{{end}}{{end}}{{end}}{{end}}{{end}}{{template "a" .}}',
}


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_template_reaches_a_limit(name: str) -> None:
    error = run_go(ENDLESS[name], Limits(output=1 << 22, steps=500_000))
    assert isinstance(error, TransplateError), len(error)
    assert error.kind is ErrorKind.LIMIT, error.message
    assert "(limit: " in error.message


def test_output_before_a_limit_is_kept_in_every_form() -> None:
    source = "{{range .Messages}}{{.Role}};{{end}}" + _LOOPS + "{{end}}" * 6
    error = run_go(source)
    assert isinstance(error, TransplateError)
    assert error.output.startswith("user;assistant;tool;")  # type: ignore[attr-defined]


@pytest.mark.parametrize("language", LANGUAGES)
def test_hostile_templates_raise_only_own_errors(language: str) -> None:
    seed = SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # which pytest shows where this fails
    rng = Random(seed)
    make, run = LANGUAGES[language]
    for _ in range(80 if language == "go" else 25):
        outcome = run(make(rng).template())
        if isinstance(outcome, TransplateError):
            assert outcome.message
            assert str(outcome)


@pytest.mark.parametrize("run", [run_go, run_jinja])
@pytest.mark.parametrize(
    "source",
    ["{{1}}" * 300_000, "{{.System}}" * 380_000, "{{x}}" * 800_000, "{{" + "x " * 500_000 + "}}"],
    ids=lambda source: source[:12],
)
def test_source_with_very_many_tokens_is_refused(run: Callable[..., Any], source: str) -> None:
    for limits in (Limits(), Limits(source=1 << 19)):
        error = run(source, limits)
        assert isinstance(error, TransplateError)
        assert error.kind is ErrorKind.LIMIT
        assert "(limit: source)" in error.message


def test_long_conversations_and_messages_pass() -> None:
    go = OllamaTemplate("{{range $i, $m := .Messages}}<{{.Role}}>{{html .Content}}{{end}}")
    jinja = JinjaTemplate("{% for m in messages %}<{{ m.role }}>{{ m.content|trim }}{% endfor %}")
    long = [
        {"role": ("user", "assistant")[index % 2], "content": "word ü " * 300 + "."} for index in range(2000)
    ]
    whole = [{"role": "user", "content": "word " * 200_000 + "."}]
    for messages in (long, whole):
        text = "".join(f"<{message['role']}>{message['content']}" for message in messages)
        assert go.execute(Values(messages)) == text
        assert jinja.render(messages) == text


def test_nastiest_templates_stay_within_memory() -> None:
    """The default limits keep what takes most within the memory of a small machine."""
    script = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from tests.test_bounds import ENDLESS
from tests.fuzz.hostile import run_go, run_jinja
from transplate import Limits
for name in ("doubled", "quoted", "padded", "pipeline"):
    error = run_go(ENDLESS[name], Limits())
    assert "(limit: " in error.message, (name, error)
loops = "{% set ns = namespace(a=[]) %}{% for i in range(99999) %}{% for j in range(99) %}"
for value in ("dict.fromkeys(range(99999))", "[" + "1, " * 2000 + "]", "range(99999)|list"):
    error = run_jinja(loops + "{% set ns.a = [ns.a, " + value + "] %}{% endfor %}{% endfor %}", Limits())
    assert "(limit: " in error.message, (value, error)
"""
    pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr


class Trap(Exception):
    """What a hostile object raises."""


def _spring(*_: Any, **__: Any) -> Any:
    raise Trap


SPECIAL = (
    *("__str__", "__repr__", "__hash__", "__eq__", "__iter__", "__len__", "__getitem__", "__contains__"),
    *("__bool__", "__getattribute__", "__format__", "__lt__", "__index__", "__int__", "__float__", "__add__"),
    *("items", "keys", "get", "encode", "isascii", "model_dump"),
)
BASES: dict[str, Callable[[Any], Any]] = {
    "str": lambda made: made("user"),
    "dict": lambda made: made(role="user", content="x"),
    "list": lambda made: made([1]),
    "int": lambda made: made(3),
    "float": lambda made: made(1.5),
    "tuple": lambda made: made((1, 2)),
    "bytes": lambda made: made(b"x"),
    "object": lambda made: made(),
}
TYPES: dict[str, type] = {kind.__name__: kind for kind in (str, dict, list, int, float, tuple, bytes, object)}


def _places(value: Any) -> list[Any]:
    """Return messages that hold a value in all places."""
    message = {"role": "user", "content": "x"}
    call = {"function": {"name": "f", "arguments": value}}
    argument = {"function": {"name": "f", "arguments": {"a": value}}}
    return [
        value,
        [value],
        [{**message, "content": value}],
        [{**message, "role": value}],
        [{**message, "images": [value]}],
        [{**message, "tool_calls": value}],
        [{**message, "tool_calls": [call]}],
        [{**message, "tool_calls": [argument]}],
        [{**message, "unknown": value}],
    ]


@pytest.mark.parametrize("base", TYPES)
def test_hostile_objects_raise_only_own_errors(base: str) -> None:
    go = OllamaTemplate(
        "{{range .Messages}}{{.Role}}{{.Content}}{{range .ToolCalls}}{{.Function}}{{end}}{{end}}{{.Tools}}"
    )
    jinja = JinjaTemplate(
        "{% for m in messages %}{{ m.role }}{{ m|tojson }}{% endfor %}{{ tools|tojson }}{{ x }}"
    )
    plain = [{"role": "user", "content": "x"}]
    for names in (*((name,) for name in SPECIAL), SPECIAL):
        value = BASES[base](type("Hostile", (TYPES[base],), dict.fromkeys(names, _spring)))
        for held in _places(value):
            calls: list[Callable[[], Any]] = [
                lambda held=held: go.render(held),
                lambda held=held: go.render(plain, held),
                lambda held=held: go.render(plain, system=held),
                lambda held=held: go.render(plain, think=held),
                lambda held=held: go.render(plain, prompt=held),
                lambda held=held: go.render_request(held),
                lambda held=held: go.render_request({"messages": held}),
                lambda held=held: go.execute(Values(held)),
                lambda held=held: jinja.render(held),
                lambda held=held: jinja.render(plain, held),
                lambda held=held: jinja.render(plain, variables={"x": held, "documents": held}),
            ]
            for call in calls:
                try:
                    call()
                except TransplateError:
                    continue


def test_threads_share_templates_that_reach_limits() -> None:
    go = OllamaTemplate("{{range .Messages}}{{.Content}}{{end}}" + _LOOPS + _ENDS, limits=SMALL)
    results: list[bool] = []

    def work() -> None:
        for count in (1, 12):
            try:
                outcome = go.execute(Values(MESSAGES[:count], TOOLS))
            except TransplateError as error:
                outcome = error.message
            results.append(("(limit: steps)" in outcome) == (count == 12))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 12


def test_a_place_that_takes_too_much_stack_to_find_is_left_out() -> None:
    def render_below(frames: int, template: JinjaTemplate) -> str:
        return render_below(frames - 1, template) if frames else template.render(MESSAGES)

    unplaced = 0
    for depth in range(100, 200, 10):
        template = JinjaTemplate("{{ 'a'" + "|string" * depth + " }}{{ [] + 1 }}")
        with pytest.raises(TemplateExecutionError) as caught:
            render_below(300, template)
        assert "can only concatenate list" in caught.value.message
        unplaced += caught.value.offset is None
    assert 0 < unplaced < 10
