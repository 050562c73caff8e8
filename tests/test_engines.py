"""The wrappers of the real engines answer as the engines do."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.oracle.engines import Engine, MinijinjaEngine, NodeEngine, Rendered, TransformersEngine
from tests.oracle.llama import LlamaEngine
from tests.oracle.older_minijinja import OlderMinijinjaEngine
from tests.oracle.ollama import Answer, GoOracle, Inference

NOW = datetime(2024, 3, 1, 12, 30)
USER = {"messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture(params=["node_engine", "minijinja_engine", "older_minijinja_engine", "transformers_engine"])
def engine(request: pytest.FixtureRequest) -> Engine:
    started: Engine = request.getfixturevalue(request.param)
    return started


def test_engine_renders(engine: Engine) -> None:
    template = "{% for m in messages %}\n  {{ m.content }}<é>&{% endfor %}\n{{ missing }}"
    assert engine.render(template, USER) == Rendered(text="  hi<é>&")


def test_engine_reports_errors(engine: Engine) -> None:
    rendered = engine.render("{{ raise_exception('no ' ~ 'system') }}", {})
    assert rendered.text is None
    assert rendered.error is not None
    assert "no system" in rendered.error
    assert engine.render("{% if %}", {}).error


def test_engine_clock(engine: Engine) -> None:
    template = "{{ strftime_now('%d %B %Y') }}"
    assert engine.render(template, {}, now=NOW) == Rendered(text="01 March 2024")
    assert engine.render(template, {}) != Rendered(text="01 March 2024")


def test_apply_chat_template(transformers_engine: TransformersEngine) -> None:
    template = (
        "{{ bos_token }}{{ messages[0].content }}{{ tools is none }}{{ x }}{{ strftime_now('%Y') }}"
        "{% if add_generation_prompt %}A{% endif %}"
    )
    rendered = transformers_engine.apply_chat_template(
        template, USER["messages"], special_tokens={"bos_token": "<s>"}, variables={"x": 1}, now=NOW
    )
    assert rendered == Rendered(text="<s>hiTrue12024A")
    refused = transformers_engine.apply_chat_template(template, [])
    assert refused.error is not None
    assert "empty conversation" in refused.error


def test_node_survives_an_endless_template(node_engine: NodeEngine) -> None:
    del node_engine  # only asks for Node; this one is to be ended
    node = NodeEngine(seconds=2)
    template = "{% for a in range(10000000000) %}{% endfor %}"
    assert node.render(template, {}).error
    assert node.render("{{ 1 + 1 }}", {}) == Rendered(text="2")
    node.close()


def test_minijinja_prints_python_style(minijinja_engine: MinijinjaEngine) -> None:
    assert minijinja_engine.render("{{ x }} {{ 'A'.lower() }}", {"x": [True, None]}).text == "[True, None] a"


def test_older_minijinja_is_the_older(older_minijinja_engine: OlderMinijinjaEngine) -> None:
    assert older_minijinja_engine.render("{{ x }}", {"x": None}).text == "none"


def test_llama_server(llama_engine: LlamaEngine) -> None:
    template = (
        "{%- for m in messages %}{{- '<' ~ m.role ~ '>' ~ m.content }}{%- endfor %}"
        "{{- '<think>' if enable_thinking }}{{- '<assistant>' if add_generation_prompt }}"
    )
    question = {**USER, "enable_thinking": True, "add_generation_prompt": True}
    assert llama_engine.render(template, question) == Rendered(text="<user>hi<think><assistant>")
    question |= {"enable_thinking": False, "add_generation_prompt": False}
    assert llama_engine.render(template, question) == Rendered(text="<user>hi")
    abilities = llama_engine.abilities(template)
    assert isinstance(abilities, dict)
    assert abilities["supports_system_role"]
    assert not abilities["supports_tools"]


def test_llama_server_says_why_it_does_not_start(llama_engine: LlamaEngine) -> None:
    refused = llama_engine.render("{{ raise_exception('no ' ~ 'system') }}", USER)
    assert refused.error is not None
    assert "does not start" in refused.error
    assert "no system" in refused.error


def test_go_render_and_errors(go_oracle: GoOracle) -> None:
    assert go_oracle.render("{{range .Messages}}{{.Role}}:{{.Content}}{{end}}", USER) == Answer(b"user:hi")
    assert go_oracle.render("a{{len 3}}", USER) == Answer(
        b"", 'template: :1:3: executing "" at <len 3>: error calling len: len of type int', "exec"
    )
    assert go_oracle.render("a{{.Messages}}{{len 3}}", {"messages": []}) == Answer(
        b"a[]", 'template: :1:16: executing "" at <len 3>: error calling len: len of type int', "exec"
    )
    assert go_oracle.render("{{if .Response}}a{{.Response}}{{else}}b{{end}}", USER).stage == "panic"
    assert go_oracle.render("{{.Messages", USER) == Answer(b"", "template: :1: unclosed action", "parse")
    assert go_oracle.render("", {"messages": 3}).stage == "request"


def test_go_transports_bytes(go_oracle: GoOracle) -> None:
    assert go_oracle.render('{{slice "é" 0 1}}{{.Prompt}}{{"\\xff"}}', USER).output == b"\xc3hi\xff"
    assert go_oracle.render("\udcff{{.Prompt}}", USER).output == b"\xffhi"
    assert (
        go_oracle.parse("{{\udcff").error == "template: :1: unrecognized character in action: U+FFFD '\ufffd'"
    )


@pytest.mark.usefixtures("go_oracle")
def test_go_survives_what_kills_it() -> None:
    doubling = '{{$x := "a"}}{{range 100}}{{$x = print $x $x}}{{end}}{{.Messages}}'
    # Oracles of its own: one that this leaves out of step would answer later tests with what it owes here.
    with GoOracle(seconds=120) as oracle:
        oracle.submit("{{.Prompt}}1", [USER])
        oracle.submit(doubling, [USER, USER])
        oracle.submit("{{.Prompt}}2", [USER])
        assert oracle.answers() == [Answer(b"hi1")]
        assert oracle.answers() == [Answer(b"", "memory", "crash")] * 2
        assert oracle.answers() == [Answer(b"hi2")]
    with GoOracle(seconds=0.5) as quick:
        assert quick.render("{{range 1000000000000}}{{end}}", USER) == Answer(b"", "timeout", "crash")


def test_go_clock(go_oracle: GoOracle) -> None:
    template = "{{currentDate}} {{yesterdayDate}}{{.Messages}}"
    assert go_oracle.render(template, {"messages": []}, now=NOW).output == b"2024-03-01 2024-02-29[]"
    today = datetime.now().strftime("%Y-%m-%d").encode()
    assert go_oracle.render(template, {"messages": []}).output[:10] >= today


def test_go_inference(go_oracle: GoOracle) -> None:
    template = (
        "{{range .Messages}}{{if .Thinking}}<t>{{.Thinking}}</t>{{end}}"
        "{{if .ToolCalls}}[C]{{json .ToolCalls}}{{end}}{{end}}"
    )
    assert go_oracle.infer(template) == Inference(
        ("messages", "thinking", "toolcalls"), ("<t>", "</t>"), "[C]", ("json",)
    )


def test_go_plain_text_and_json(go_oracle: GoOracle) -> None:
    assert go_oracle.text('{{printf "%T" .a}}{{add 1 2}}', [{"a": 1}, {"a": 1.0}, {"a": [1]}]) == [
        Answer(b"int3"),
        Answer(b"float643"),
        Answer(b"[]interface {}3"),
    ]
    assert go_oracle.marshal([{"b": 1e21, "a": "<"}]) == [Answer(b'{"a":"\\u003c","b":1e+21}')]


def test_go_measures(go_oracle: GoOracle) -> None:
    (timing,) = go_oracle.measure("{{.Messages}}", [USER])
    assert timing is not None
    assert 0 < timing.execute < timing.unmarshal_execute
    assert timing.parse > 0
