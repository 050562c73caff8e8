"""Whole models that we wrote, in a real Ollama: it makes, shows and stores them, and prints their prompts."""

from __future__ import annotations

import gzip
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.models.pairs import read_pairs
from tests.models.safetensors_model import write_model
from tests.oracle.llama import write_tiny_model
from tests.oracle.server.oracle import OllamaServer, ServerRefusal
from transplate import Conversation, JinjaTemplate, Model, Modelfile, ModelfileError
from transplate.models.prompts import template_of
from transplate.ollama.versions import OLDEST
from transplate.renderers import template_text

CONVERSATIONS: list[list[dict[str, Any]]] = [
    [{"role": "user", "content": "What is <red> & blue?"}],
    [{"role": "system", "content": "Own."}, {"role": "user", "content": "Hi é 日本"}],
    [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c\n\nd"},
    ],
]

CHATML = (
    "{% if messages[0].role != 'system' %}"
    "{{ '<|im_start|>system\n' + 'You are \"kind\".<|im_end|>\n' }}{% endif %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
WITH_BOS = (
    "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{{ eos_token }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
THINKING = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</turn>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% if enable_thinking is defined and not enable_thinking %}"
    "<think></think>{% endif %}{% endif %}"
)


def hf_folder(folder: Path, template: str, *, bos: str | None = None) -> Path:
    """A folder as somebody saved a model that was fine-tuned, with a GGUF made of it."""
    folder.mkdir()
    write_tiny_model(folder / "model.gguf")
    (folder / "chat_template.jinja").write_text(template)
    config = {"bos_token": bos, "eos_token": "</s>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    generation = {"temperature": 0.6, "top_k": 20, "max_new_tokens": 9, "stop_strings": ["User:"]}
    (folder / "generation_config.json").write_text(json.dumps(generation))
    (folder / "LICENSE").write_text('Do "what" you want.\n')
    return folder


@pytest.mark.parametrize(
    ("name", "template", "bos"),
    [("chatml", CHATML, None), ("bos", WITH_BOS, "<s>"), ("think", THINKING, None)],
)
def test_a_folder_becomes_a_model_with_its_prompts(
    ollama_server: OllamaServer, tmp_path: Path, name: str, template: str, bos: str | None
) -> None:
    folder = hf_folder(tmp_path / "model", template, bos=bos)
    path = tmp_path / "Modelfile"
    saving = Model.load(folder).save_modelfile(path)
    ollama_server.create(name, path)
    written = Model.load(path)
    shown = Model.load(f"{ollama_server.url}#{name}")
    assert (shown.system, shown.licenses) == (written.system, written.licenses)
    assert (
        shown.parameters
        == written.parameters
        == {
            "temperature": 0.6,
            "top_k": 20,
            "num_predict": 9,
            "stop": written.parameters["stop"],
        }
    )
    assert {"</s>", "User:"} <= set(written.parameters["stop"])
    assert shown.template is not None
    assert written.template is not None
    assert shown.template.text == written.template.text
    jinja = JinjaTemplate(template, special_tokens={"bos_token": bos or "", "eos_token": "</s>"})
    for messages in CONVERSATIONS:
        assert ollama_server.prompt(name, {"messages": messages}) == jinja.render(messages)
    assert saving.parity is not None


def test_a_folder_with_the_prompts_of_a_renderer_gets_it(ollama_server: OllamaServer, tmp_path: Path) -> None:
    template = template_text("qwen3-coder", ollama=OLDEST)
    folder = hf_folder(tmp_path / "model", template)
    path = tmp_path / "Modelfile"
    saving = Model.load(folder).save_modelfile(path)
    assert "road: renderer: qwen3-coder, which is built into Ollama, prints the same prompts" in saving.notes
    modelfile = Modelfile.parse(path.read_bytes())
    assert [modelfile.get(name) for name in ("renderer", "parser", "template")] == ["qwen3-coder"] * 2 + [
        None
    ]
    assert "<|im_end|>" in modelfile.values("stop")
    ollama_server.create("by-renderer", path)
    for messages in CONVERSATIONS:
        prompt = ollama_server.prompt("by-renderer", {"messages": messages})
        assert prompt == JinjaTemplate(template).render(messages)


def test_the_store_holds_what_was_written(
    ollama_server: OllamaServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tiny_model(tmp_path / "tiny.gguf")
    path = tmp_path / "Modelfile"
    text = (
        'FROM ./tiny.gguf\nTEMPLATE """{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}\n"""\n'
        "SYSTEM Be brief.\nMESSAGE user Hi\nMESSAGE assistant Ho\nPARAMETER stop <user>\n"
        "PARAMETER num_ctx 64\nLICENSE free\n"
    )
    path.write_text(text)
    ollama_server.create("me/stored:7b", path)
    monkeypatch.setenv("OLLAMA_MODELS", str(ollama_server.store))
    stored, written = Model.load("ollama:me/stored:7b"), Model.load(path)
    assert stored.template is not None
    assert written.template is not None
    assert stored.template.text == written.template.text
    for name in ("system", "messages", "parameters", "licenses", "tokens"):
        assert getattr(stored, name) == getattr(written, name), name
    # The Modelfile of a stored model makes the same model again, and that one is a folder's equal.
    again = tmp_path / "again.modelfile"
    stored.save_modelfile(again)
    ollama_server.create("again", again)
    stored.save_pretrained(tmp_path / "out")
    folder = Model.load(tmp_path / "out")
    assert folder.chat_template is not None
    for messages in CONVERSATIONS:
        prompt = ollama_server.prompt("me/stored:7b", {"messages": messages})
        assert ollama_server.prompt("again", {"messages": messages}) == prompt
        assert JinjaTemplate(folder.chat_template.text).render(messages) == prompt


def test_the_python_client_makes_the_model(ollama_server: OllamaServer, tmp_path: Path) -> None:
    ollama = pytest.importorskip("ollama")
    write_tiny_model(tmp_path / "tiny.gguf")
    path = tmp_path / "Modelfile"
    path.write_text(
        "FROM ./tiny.gguf\nTEMPLATE <{{ .System }}>{{ .Prompt }}\nSYSTEM Be brief.\nMESSAGE user Hi\n"
        "MESSAGE assistant Ho\nPARAMETER stop <\nPARAMETER stop >\nPARAMETER temperature 0\nLICENSE free\n"
    )
    model = Model.load(path)
    fields = model.create_fields()
    client = ollama.Client(host=ollama_server.url, trust_env=False)
    with closing(client._client):
        digest = client.create_blob(tmp_path / "tiny.gguf")
        assert fields["files"] == {"tiny.gguf": digest}
        assert client.create("client", **fields).status == "success"
        shown = Model.load(f"{ollama_server.url}#client")
        for name in ("system", "messages", "parameters", "licenses"):
            assert getattr(shown, name) == getattr(model, name), name
        path.write_text("FROM client\nSYSTEM Other.\n")
        fields = Model.load(path).create_fields()
        assert fields == {"from_": "client", "system": "Other."}
        ollama._types.CreateRequest(model="other", **fields)
        assert client.create("other", **fields).status == "success"
    assert ollama_server.show("other")["system"] == "Other."


def test_a_server_tells_its_renderer(ollama_server: OllamaServer, tmp_path: Path) -> None:
    write_tiny_model(tmp_path / "tiny.gguf")
    path = tmp_path / "Modelfile"
    path.write_text("FROM ./tiny.gguf\nRENDERER qwen3-coder\nPARSER qwen3-coder\n")
    ollama_server.create("coder", path)
    shown = Model.load(f"{ollama_server.url}#coder")
    assert (shown.renderer, shown.parser) == ("qwen3-coder", "qwen3-coder")
    assert shown.road(ollama="0.17.4").name == "renderer"


def test_public_modelfiles_mean_the_same(ollama_server: OllamaServer, shared_folder: Path) -> None:
    """Some of them, with the tiny model as FROM: what is made of them, and the prompts."""
    with gzip.open(shared_folder / "corpus" / "modelfiles_public.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file][::9]
    made = 0
    path = ollama_server.weights.parent / "public.modelfile"
    for text in texts:
        try:
            modelfile = Modelfile.parse(text.encode("utf-8", "surrogatepass"))
        except ModelfileError:
            continue
        modelfile.set("from", "./tiny.gguf")
        for name in ("adapter", "draft", "draft_num_predict"):  # the last two are newer than this server
            modelfile.remove(name)
        if not modelfile.get("template"):
            modelfile.set("template", "{{ .System }}|{{ .Prompt }}|")
        path.write_bytes(bytes(modelfile))
        model = Model.load(path)
        refused = [warning for warning in model.warnings if "refuses" in warning]
        if refused:
            with pytest.raises(ServerRefusal):
                ollama_server.create("public", path)
            continue
        ollama_server.create("public", path)
        made += 1
        shown = Model.load(f"{ollama_server.url}#public")
        assert (shown.system, shown.messages) == (model.system, model.messages)
        assert shown.parameters == model.parameters
        assert "\n".join(shown.licenses) == "\n".join(model.licenses)
        if not model.renderer:
            for messages in CONVERSATIONS[:2]:
                prompt = ollama_server.prompt("public", {"messages": messages})
                assert prompt == template_of(model).render(messages)
    assert made > 20


@pytest.mark.parametrize(
    ("config", "adds_bos", "imported"),
    [
        ({}, False, None),
        ({"add_bos_token": True, "chat_template": "C"}, True, "C"),
        ({"add_bos_token": False, "chat_template": [{"name": "default", "template": "D"}]}, False, "D"),
    ],
)
def test_what_the_import_of_a_folder_takes_over(
    ollama_server: OllamaServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    config: dict[str, Any],
    adds_bos: bool,
    imported: str | None,
) -> None:
    pytest.importorskip("safetensors")
    folder = tmp_path / "model"
    write_model(folder, {"bos_token": "<s>", "eos_token": "</s>", **config})
    (folder / "chat_template.jinja").write_text("{{ bos_token }}" + CHATML)
    path = tmp_path / "Modelfile"
    saving = Model.load(folder).save_modelfile(path)
    assert any(note.startswith("bos: ") for note in saving.notes) is adds_bos
    ollama_server.create("imported", path)
    monkeypatch.setenv("OLLAMA_MODELS", str(ollama_server.store))
    model = Model.load("ollama:imported")
    assert model.tokens.adds_bos is adds_bos
    assert (model.chat_template and model.chat_template.text) == imported
    prompt = template_of(model).render([{"role": "user", "content": "Hi"}])
    # Between them, tokenizer and TEMPLATE print BOS once.
    assert prompt.startswith("<s>") is not adds_bos


def test_folders_made_of_the_librarys_templates(
    ollama_server: OllamaServer, shared_folder: Path, tmp_path: Path
) -> None:
    """Some of them, with SYSTEM, MESSAGEs and a tokenizer that adds BOS: both give the model the same."""
    write_tiny_model(tmp_path / "tiny.gguf", adds_bos=True)
    for number, pair in enumerate(read_pairs(shared_folder)[::16]):
        modelfile = Modelfile.parse("FROM ./tiny.gguf\n")
        modelfile.set("template", pair["gotmpl"])
        modelfile.set("system", 'Be "kind".\nAlways.')
        modelfile.set("message", ["user: one", "assistant: two"])
        path = tmp_path / "Modelfile"
        path.write_bytes(bytes(modelfile))
        ollama_server.create("library", path)
        Model.load(path).save_pretrained(tmp_path / str(number))
        folder = Model.load(tmp_path / str(number))
        assert folder.chat_template is not None
        chat = JinjaTemplate(folder.chat_template.text, special_tokens=folder.special_tokens)
        for messages in CONVERSATIONS[:2]:
            given = "<s>" + ollama_server.prompt("library", {"messages": messages})
            assert chat.render(**Conversation.read(messages).to_hf()) == given, pair["gotmpl"]
