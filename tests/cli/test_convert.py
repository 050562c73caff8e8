"""``transplate convert``: what is written where, and what is refused."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from transplate import Conversion, to_jinja

TEMPLATES = Path(__file__).parents[2] / "templates"
CHATML = TEMPLATES / "gotmpl" / "chatml.gotmpl"
CONVERTED = to_jinja(CHATML.read_text()).text


def test_to_a_file(run: Run, folder: Path) -> None:
    result = run("convert", CHATML, "chat_template.jinja")
    assert (result.status, result.output) == (0, "")
    assert (folder / "chat_template.jinja").read_text() == CONVERTED
    assert "conversations" in result.errors
    assert "assumes alternating-roles: " in result.errors
    assert result.errors.endswith("\nwrote chat_template.jinja\n")
    assert os.listdir() == ["chat_template.jinja"]


def test_to_standard_output(run: Run) -> None:
    result = run("convert", CHATML)
    assert (result.status, result.output) == (0, CONVERTED)
    assert "assumes " in result.errors


def test_a_dash_is_standard_output(run: Run, folder: Path) -> None:
    result = run("convert", CHATML, "-")
    assert (result.status, result.output) == (0, CONVERTED)
    assert list(folder.iterdir()) == []
    assert run("convert", CHATML, "-", "--to", "hf").status == 2


@pytest.mark.parametrize("arguments", [[], ["--to", "jinja"]])
def test_a_gguf_needs_a_base(run: Run, folder: Path, arguments: list[str]) -> None:
    (folder / "m.gguf").write_bytes(b"GGUF")
    result = run("convert", CHATML, "m.gguf", *arguments)
    assert result.status == 2
    assert "m.gguf: a GGUF is written as a copy of another, which --base names" in result.errors
    assert (folder / "m.gguf").read_bytes() == b"GGUF"


def test_from_standard_input(run: Run) -> None:
    assert run("convert", "-", "--to", "jinja", stdin=CHATML.read_text()).output == CONVERTED


def test_exact(run: Run) -> None:
    result = run("convert", CHATML, "--exact", "--json")
    assert result.status == 0
    assert result.data["text"] == to_jinja(CHATML.read_text(), exact=True).text
    assert result.data["assumptions"] == []
    assert result.data["parity"]["equal"] is True
    assert result.data["parity"]["checked"] > 10


def test_what_is_not_as_assumed_is_said_and_no_failure(run: Run) -> None:
    result = run("convert", CHATML)
    assert result.status == 0
    assert "3 more differ (see alternating-roles): two-systems, same-role-user" in result.errors
    result = run("convert", CHATML, "--json")
    assert result.status == 0
    parity = result.data["parity"]
    assert (parity["equal"], parity["equal_as_assumed"]) == (False, True)
    assert [each["outside"] for each in parity["differences"]] == [["alternating-roles"]] * 3


def test_of_many_conversations_some_are_named(run: Run) -> None:
    result = run(
        "convert", TEMPLATES / "gotmpl" / "chatml-tools-thinking.gotmpl", "--assume", "hf-json", "--exact"
    )
    assert result.status == 0
    line = next(line for line in result.errors.splitlines() if "see hf-json" in line)
    assert line.endswith(" others")
    assert line.count(",") == 5


def test_why_conversations_are_left_out_is_said(run: Run, folder: Path) -> None:
    assert "\n28 more left out: Ollama sees no support for tools or thinking in the template\n" in (
        run("convert", CHATML).errors
    )
    (folder / "t.jinja").write_text(
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('No system here') }}{% endif %}"
        "{{ m.content }}{% endfor %}{% if tools %}{{ tools }}{% endif %}"
    )
    errors = run("convert", "t.jinja", "t.gotmpl").errors
    assert "more left out: No system here; Ollama sees no support for thinking in the template\n" in errors


def test_causes_in_ollama_are_told_together(run: Run, folder: Path) -> None:
    (folder / "t.jinja").write_text(
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}"
        "{% if enable_thinking is not defined or not enable_thinking %}<think></think>{% endif %}"
    )
    errors = run("convert", "t.jinja", "t.gotmpl").errors
    roles = "Ollama joins neighbouring messages of one role"
    thinking = "turns thinking on where a request leaves it open"
    assert (
        f"3 more differ because {roles} and {thinking}: two-systems, same-role-user, same-role-as" in errors
    )


def test_a_closed_prefill_is_explained(run: Run, folder: Path) -> None:
    (folder / "closing.gotmpl").write_text("{{ range .Messages }}<{{ .Role }}>{{ .Content }}</s>{{ end }}")
    result = run("convert", "closing.gotmpl", "--exact")
    assert result.status == 0
    assert "2 more differ (see closed-prefill): prefill, prefill-turns" in result.errors
    assert "may differ, closed-prefill: where a host continues" in result.errors
    result = run("convert", "closing.gotmpl", "--exact", "--json")
    assert [loss["name"] for loss in result.data["losses"]] == ["odd-parts", "closed-prefill"]


def test_a_difference_that_nothing_explains_is_a_no(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Conversion("{{ messages[0].content }}")
    monkeypatch.setattr("transplate.to_jinja", lambda *_, **__: wrong, raising=False)
    result = run("convert", CHATML)
    assert result.status == 1
    assert "different on " in result.errors


@pytest.mark.parametrize("more", [(), ("--exact",)])
def test_what_ollama_makes_of_a_request_is_no_failure(run: Run, more: tuple[str, ...]) -> None:
    result = run("convert", TEMPLATES / "jinja" / "intern-s1.jinja", *more, "--json")
    assert result.status == 0
    assert result.data["parity"]["equal_as_assumed"] is True
    outside = {each["conversation"]: each["outside"] for each in result.data["parity"]["differences"]}
    assert outside["two-systems"] == ["Ollama joins neighbouring messages of one role"]
    assert outside["tools"] == ["Ollama has an order of its own for the keys of tools"]
    result = run("convert", TEMPLATES / "jinja" / "chatml.jinja", *more)
    assert result.status == 0
    assert "equal on 29 conversations" in result.errors
    assert "2 more differ because Ollama keeps what closes an answer that is to be continued" in result.errors


@pytest.mark.parametrize("more", [(), ("--exact",)])
def test_a_result_that_fails_is_a_no(run: Run, folder: Path, more: tuple[str, ...]) -> None:
    (folder / "a.jinja").write_text(
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
        "{% if tools %}{{ tools|batch(2)|list }}{% endif %}"
    )
    result = run("convert", "a.jinja", *more)
    assert result.status == 1
    assert "different on 25 of" in result.errors
    assert "not converted: the filter batch" in result.errors


def test_a_wrong_go_template_is_a_no(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.jinja").write_text("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    wrong = Conversion("{{ range .Messages }}<{{ .Role }}>{{ end }}")
    monkeypatch.setattr("transplate.to_go", lambda *_, **__: wrong, raising=False)
    assert run("convert", "a.jinja").status == 1


def test_json_has_text_and_report(run: Run, folder: Path) -> None:
    result = run("convert", CHATML, "out.jinja", "--json")
    assert result.status == 0
    assert result.data["text"] == (folder / "out.jinja").read_text() == CONVERTED
    assert {"name", "meaning"} == set(result.data["assumptions"][0])
    assert result.data["losses"] == []


def test_unknown_assumption(run: Run) -> None:
    result = run("convert", CHATML, "--assume", "nonsense")
    assert (result.status, result.output) == (2, "")
    assert "no assumption is called 'nonsense'" in result.errors


UNSUPPORTED = "{{ range .Messages }}{{ .Role }}\n{{ len .Content }}{{ end }}"


def test_what_jinja_cannot_say_is_refused_before_anything_is_written(run: Run, folder: Path) -> None:
    (folder / "out.jinja").write_text("old")
    (folder / "in.gotmpl").write_text(UNSUPPORTED)
    result = run("convert", "in.gotmpl", "out.jinja")
    assert (result.status, result.output) == (1, "")
    message, excerpt, caret = result.errors.splitlines()
    assert message.startswith("error: ")
    assert excerpt == "in.gotmpl:2:4 | {{ len .Content }}{{ end }}"
    assert caret.index("^") == excerpt.index("len")
    assert (folder / "out.jinja").read_text() == "old"


def test_refusal_as_json(run: Run) -> None:
    result = run("convert", "-", "--json", stdin=UNSUPPORTED)
    assert result.status == 1
    assert (result.data["kind"], result.data["line"]) == ("unsupported", 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([CHATML, "out.gotmpl"], "is a Go template already"),
        ([CHATML, "--to", "gotmpl"], "is a Go template already"),
        ([CHATML, "out.jinja", "--to", "gotmpl"], "do not go together"),
    ],
)
def test_bad_usage(run: Run, folder: Path, arguments: list[str | Path], message: str) -> None:
    result = run("convert", *arguments)
    assert (result.status, result.output) == (2, "")
    assert message in result.errors
    assert os.listdir(folder) == []


def test_jinja_becomes_a_template_that_ollama_renders(run: Run, folder: Path) -> None:
    (folder / "small.jinja").write_text("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    result = run("convert", folder / "small.jinja", "out.gotmpl")
    assert (result.status, result.output) == (0, "")
    assert (
        folder / "out.gotmpl"
    ).read_text() == "{{ range .Messages }}<{{ .Role }}>{{ .Content }}\n{{- end }}"


def test_jinja_that_go_cannot_say_is_refused_and_nothing_is_written(run: Run, folder: Path) -> None:
    (folder / "odd.jinja").write_text("{{ messages|batch(2) }}")
    result = run("convert", folder / "odd.jinja", "out.gotmpl")
    assert (result.status, result.output) == (1, "")
    assert "the filter batch cannot be converted" in result.errors
    assert not (folder / "out.gotmpl").exists()


class TestWriting:
    """Files are written as a whole or not at all."""

    def test_mode_and_link_are_kept(self, run: Run, folder: Path) -> None:
        (folder / "real.jinja").write_text("old")
        (folder / "real.jinja").chmod(0o640)
        (folder / "link.jinja").symlink_to("real.jinja")
        assert run("convert", CHATML, "link.jinja").status == 0
        assert (folder / "link.jinja").is_symlink()
        assert (folder / "real.jinja").read_text() == CONVERTED
        assert stat.S_IMODE((folder / "real.jinja").stat().st_mode) == 0o640
        assert sorted(os.listdir()) == ["link.jinja", "real.jinja"]

    def test_folder(self, run: Run, folder: Path) -> None:
        (folder / "out.jinja").mkdir()
        result = run("convert", CHATML, "out.jinja")
        assert result.status == 2
        assert "out.jinja: is a folder, not a file" in result.errors
        assert os.listdir("out.jinja") == []

    @pytest.mark.usefixtures("folder")
    def test_no_such_folder(self, run: Run) -> None:
        result = run("convert", CHATML, "missing/out.jinja")
        assert result.status == 2
        assert "missing/out.jinja: no such folder" in result.errors

    def test_pipe_is_written_to(self, run: Run) -> None:
        reading, writing = os.pipe()
        assert run("convert", CHATML, f"/dev/fd/{writing}").status == 0
        os.close(writing)
        with os.fdopen(reading) as pipe:
            assert pipe.read() == CONVERTED


def test_each_side_of_the_verdict_has_its_own_name(run: Run, folder: Path) -> None:
    source = "{% for m in messages %}[{{ m.content }}]{% endfor %}"
    (folder / "in.jinja").write_text(source)
    report = json.loads(run("convert", "in.jinja", "out.gotmpl", "--json").output)
    check = json.loads(run("check", "--quick", "in.jinja", "out.gotmpl", "--json").output)
    compared = [[each["conversation"], each["prompts"]] for each in report["parity"]["differences"]]
    checked = [[each["conversation"], each["prompts"]] for each in check["differences"]]
    assert compared == checked[: len(compared)]


GO = "{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}<assistant>"
MODELFILE = f'FROM x\nTEMPLATE """{GO}"""\nSYSTEM You are Ada.\nMESSAGE user Hi\nMESSAGE assistant Yes?\n'


@pytest.mark.parametrize("exact", [[], ["--exact"]])
def test_a_chat_template_begins_as_the_modelfile_does(run: Run, folder: Path, exact: list[str]) -> None:
    (folder / "Modelfile").write_text(MODELFILE)
    assert run("convert", "Modelfile", "s.jinja", *exact).status == 0
    expected = run("render", "Modelfile", "-m", "Bye").output
    assert expected.startswith("<system>You are Ada.<user>Hi<assistant>Yes?<user>Bye")
    assert run("render", "s.jinja", "-m", "Bye").output == expected
    data = run("convert", "Modelfile", "--json", *exact).data
    assert (data["text"], data["parity"]["equal_as_assumed"]) == (Path("s.jinja").read_text(), True)


def test_the_bare_template_of_a_model(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(MODELFILE)
    result = run("convert", "Modelfile", "t.gotmpl")
    assert result.status == 0
    assert "left out: SYSTEM, MESSAGE, no part of a TEMPLATE" in result.errors
    assert (folder / "t.gotmpl").read_text() == GO
    assert run("convert", "Modelfile", "--to", "gotmpl").output == GO
    (folder / "model").mkdir()
    chat = "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}"
    (folder / "model" / "chat_template.jinja").write_text(chat)
    (folder / "model" / "tokenizer_config.json").write_text("{}")
    assert run("convert", "model", "t.jinja", "--dry-run").errors == (
        "would write t.jinja, without any conversion\n"
    )
    assert run("convert", "model", "t.jinja").status == 0
    assert (folder / "t.jinja").read_text() == chat
    assert run("convert", "t.jinja", "u.jinja").status == 2


def test_a_go_template_has_no_place_for_system(run: Run, folder: Path) -> None:
    (folder / "model").mkdir()
    chat = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"
    (folder / "model" / "tokenizer_config.json").write_text(json.dumps({"chat_template": chat}))
    (folder / "Modelfile").write_text("FROM ./model\nSYSTEM You are Ada.\n")
    assert "left out: SYSTEM, no part of a TEMPLATE" in run("convert", "Modelfile", "t.gotmpl").errors
