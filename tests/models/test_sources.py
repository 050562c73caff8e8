"""Models from every place: what is read is what was put there, and damage is told, not followed."""

import hashlib
import json
import socket
import struct
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.stores import lay_out_store
from transplate.errors import TransplateError
from transplate.models import Model
from transplate.models.gguf import read_metadata
from transplate.models.source import read
from transplate.ollama.store import ModelName
from transplate.servers import http

GO = "{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}"
JINJA = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"


# --- GGUF -----------------------------------------------------------------------------------------------


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def gguf(entries: dict[str, Any], *, order: str = "<", version: int = 3) -> bytes:
    """A GGUF without tensors, written by hand: strings, flags, integers and arrays."""
    assert order in "<>"
    parts = [b"GGUF", struct.pack(f"{order}IQQ", version, 0, len(entries))]

    def string(value: str) -> bytes:
        return struct.pack(f"{order}Q", len(value.encode())) + value.encode()

    for name, value in entries.items():
        parts.append(string(name))
        if isinstance(value, str):
            parts += [struct.pack(f"{order}I", 8), string(value)]
        elif isinstance(value, bool):
            parts.append(struct.pack(f"{order}I?", 7, value))
        elif isinstance(value, int):
            parts.append(struct.pack(f"{order}II", 4, value))
        elif isinstance(value[0], str):
            parts += [struct.pack(f"{order}IIQ", 9, 8, len(value)), *map(string, value)]
        else:
            parts.append(struct.pack(f"{order}IIQ{len(value)}i", 9, 5, len(value), *value))
    return b"".join(parts)


ENTRIES = {
    "general.architecture": "llama",
    "tokenizer.ggml.tokens": ["<unk>", "<s>", "</s>"],
    "tokenizer.ggml.token_type": [2, 3, 3],
    "tokenizer.ggml.bos_token_id": 1,
    "tokenizer.ggml.eos_token_id": 2,
    "tokenizer.ggml.add_bos_token": True,
    "tokenizer.chat_template": JINJA,
}


@pytest.mark.parametrize("order", ["<", ">"])
def test_reads_a_gguf(tmp_path: Path, order: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf({**ENTRIES, "tokenizer.chat_template.tool_use": "T"}, order=order) + b"\xff" * 100)
    model = Model.load(path)
    assert (model.kind, model.family) == ("GGUF", "llama")
    assert (model.tokens.bos, model.tokens.eos, model.tokens.adds_bos) == ("<s>", "</s>", True)
    assert model.chat_template is not None
    assert model.chat_template.text == JINJA
    tools = model.chat_template_for(tools=True)
    assert tools is not None
    assert tools.text == "T"
    assert model.road().name == "gguf_chat_template"


def test_reads_what_the_gguf_package_writes(tmp_path: Path) -> None:
    writer_of = pytest.importorskip("gguf").GGUFWriter
    path = tmp_path / "model.gguf"
    writer = writer_of(str(path), "qwen3")
    writer.add_token_list(["a", "<|im_end|>"])
    writer.add_token_scores([0.5, 1.5])
    writer.add_eos_token_id(1)
    writer.add_add_bos_token(False)
    writer.add_chat_template([{"name": "default", "template": JINJA}, {"name": "tool_use", "template": "T"}])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    model = Model.load(path)
    assert {name: one.text for name, one in model.named.items()} == {"default": JINJA, "tool_use": "T"}
    assert (model.tokens.eos, model.tokens.adds_bos) == ("<|im_end|>", False)
    assert read_metadata(path)["tokenizer.ggml.scores"] == [0.5, 1.5]


def test_every_truncation_of_a_gguf_is_told(tmp_path: Path) -> None:
    whole = gguf(ENTRIES)
    path = tmp_path / "model.gguf"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(TransplateError, match=r"model\.gguf: (?:damaged|no) GGUF"):
            Model.load(path)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (gguf(ENTRIES, version=1), "version 1"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60), "entries"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**60), "ends in the middle"),
        (
            b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + struct.pack("<IIQ", 9, 8, 2**61),
            "ends in the",
        ),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + struct.pack("<I", 99), "no type"),
        (gguf({"tokenizer.chat_template": 7}), "a template is text"),
    ],
)
def test_refuses_a_damaged_gguf(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    with pytest.raises(TransplateError, match=said):
        Model.load(path)


# --- Ollama's store -------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with the model ``me/Mine:7b``, as ``ollama create`` lays it out."""
    folder = lay_out_store(
        tmp_path / "models",
        ("registry.ollama.ai", "me", "Mine", "7b"),
        {"model_format": "gguf", "model_family": "llama", "parser": "qwen3"},
        {
            "model": gguf(ENTRIES),
            "template": GO.encode(),
            "system": b"Be brief.",
            "params": b'{"stop": ["</s>"], "temperature": 0.5}',
            "messages": b'[{"role": "user", "content": "hi"}]',
            "license": b"free",
        },
    )
    monkeypatch.setenv("OLLAMA_MODELS", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize("name", ["ollama:me/Mine:7b", "me/mine:7B", "registry.ollama.ai/me/mine:7b"])
def test_reads_a_model_from_the_store(store: Path, name: str) -> None:
    model = Model.load(name)
    assert model.template is not None
    assert model.template.text == GO
    assert (model.system, model.messages, model.licenses) == ("Be brief.", (("user", "hi"),), ("free",))
    assert model.parameters == {"stop": ["</s>"], "temperature": 0.5}
    assert (model.parser, model.family, model.tokens.bos) == ("qwen3", "llama", "<s>")
    assert model.road().name == "parser"
    assert store.name == "models"


def test_a_blob_that_is_damaged_or_missing_is_told(store: Path) -> None:
    blob = store / "blobs" / f"sha256-{hashlib.sha256(GO.encode()).hexdigest()}"
    blob.write_text("{{ .Prompt }}")
    with pytest.raises(TransplateError, match="damaged"):
        Model.load("ollama:me/mine:7b")
    blob.unlink()
    with pytest.raises(TransplateError, match=f"{blob.name}: no such file"):
        Model.load("ollama:me/mine:7b")
    blob.symlink_to(blob)
    with pytest.raises(TransplateError, match="symbolic links"):
        Model.load("ollama:me/mine:7b")


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ("{", "invalid JSON"),
        ("[]", "JSON object"),
        ('{"layers": {}}', "array of objects"),
        (
            '{"layers": [{"mediaType": "application/vnd.ollama.image.system", "digest": "sha256:../x"}]}',
            "no digest",
        ),
    ],
)
def test_a_damaged_manifest_is_told(store: Path, manifest: str, said: str) -> None:
    (store / "manifests" / "registry.ollama.ai" / "me" / "Mine" / "7b").write_text(manifest)
    with pytest.raises(TransplateError, match=said):
        Model.load("me/mine:7b")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("llama3.2", "llama3.2:latest"),
        ("hf.co/org/repo:Q4_K_M", "hf.co/org/repo:Q4_K_M"),
        ("localhost:5000/a/b:c", "localhost:5000/a/b:c"),
        ("me/x", "me/x:latest"),
    ],
)
def test_names_as_ollama_spells_them(text: str, shown: str) -> None:
    assert str(ModelName.parse(text)) == shown


@pytest.mark.parametrize(
    "name",
    ["../../x", "..", "a/../b", "a//b", "", "a:", ":b", "a:b/../c", "/etc/passwd", "a\0b", "é", "a" * 81],
)
def test_names_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(TransplateError, match="no name of a model"):
        Model.load(f"ollama:{name}")


# --- Modelfiles and templates ---------------------------------------------------------------------------


def test_a_modelfile_takes_over_what_its_base_has(store: Path, tmp_path: Path) -> None:
    assert store.exists()
    path = tmp_path / "Modelfile"
    path.write_text("FROM me/mine:7b\nSYSTEM Be kind.\nPARAMETER temperature 1\nPARAMETER mirostat 1\n")
    model = Model.load(path)
    assert model.template is not None
    assert model.template.text == GO
    assert model.system == "Be kind."
    assert model.parameters == {"stop": ["</s>"], "temperature": 1.0}
    assert (model.parser, model.base) == ("qwen3", ("me/mine:7b",))
    assert model.warnings == ("PARAMETER mirostat: Ollama ignores it",)


def test_a_base_that_is_not_here_is_a_warning(store: Path) -> None:
    assert store.exists()
    shown = (
        '# Modelfile generated by "ollama show"\n\nFROM ./no.gguf\nTEMPLATE x\u200by\nPARAMETER top_k hot\n'
    )
    model = read(shown.encode(), "standard input")
    assert model.kind == "Modelfile"
    assert [warning.partition(":")[0] for warning in model.warnings] == [
        "PARAMETER top_k",
        "Ollama deletes 1 characters that are not printable, the first in line 4",
        "FROM ./no.gguf",
    ]


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("standard input", GO, "Go template"),
        ("standard input", JINJA, "chat template"),
        ("x.jinja", "hello", "chat template"),
        ("standard input", "from the user: {{ .Prompt }}", "Modelfile"),
        ("standard input", "System {{ .Prompt }}", "Go template"),
        ("standard input", "# c\n\nSYSTEM x\nFROM a", "Modelfile"),
        ("my.modelfile", "FROM a", "Modelfile"),
    ],
)
def test_tells_what_a_text_is(name: str, data: str, kind: str) -> None:
    assert read(data.encode(), name).kind == kind


def test_nothing_there(store: Path) -> None:
    assert store.exists()
    with pytest.raises(TransplateError, match="no such file, and no model"):
        Model.load("nothing")
    for source in ("no\0thing", "x" * 5000, "/no/such/file.jinja", "nothing.jinja", "nothing.gotmpl"):
        with pytest.raises(TransplateError, match=r"no such file$"):
            Model.load(source)


def test_a_page_of_the_hub_is_no_server() -> None:
    with pytest.raises(TransplateError, match=r"the name is enough: hf:org/a\.name$"):
        Model.load("https://huggingface.co/org/a.name/blob/main/chat_template.jinja")


# --- Hugging Face folders -------------------------------------------------------------------------------


def test_reads_a_folder_as_transformers_does(tmp_path: Path) -> None:
    config = {
        "bos_token": {"content": "<s>", "lstrip": False},
        "eos_token": "</s>",
        "add_bos_token": True,
        "chat_template": [{"name": "default", "template": "old"}, {"name": "rag", "template": "R"}],
    }
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "generation_config.json").write_text('{"temperature": 0.6}')
    model = Model.load(tmp_path)
    assert {name: one.text for name, one in model.named.items()} == {"default": "old", "rag": "R"}
    assert (model.tokens.bos, model.tokens.eos, model.tokens.adds_bos) == ("<s>", "</s>", True)
    (tmp_path / "chat_template.jinja").write_text(JINJA)
    (tmp_path / "additional_chat_templates").mkdir()
    (tmp_path / "additional_chat_templates" / "tool_use.jinja").write_text("T")
    (tmp_path / "chat_template.json").write_text(json.dumps({"chat_template": JINJA}))
    model = Model.load(tmp_path)
    assert {name: one.text for name, one in model.named.items()} == {"default": JINJA, "tool_use": "T"}
    assert len(model.warnings) == 2
    assert model.generation == {"temperature": 0.6}
    assert Model.load(tmp_path / "chat_template.jinja").tokens.bos == "<s>"


def test_reads_the_hubs_files_for_ollama(tmp_path: Path) -> None:
    for name, content in (("template", GO), ("system", "S"), ("params", '{"stop": ["x"]}')):
        (tmp_path / name).write_text(content)
    (tmp_path / "m.gguf").write_bytes(gguf(ENTRIES))
    model = Model.load(tmp_path)
    assert model.template is not None
    assert (model.template.text, model.system, model.parameters) == (GO, "S", {"stop": ["x"]})
    (tmp_path / "params").write_text('{"stop": ["x"], "nope": 1, "mirostat": 2, "top_k": 5.0, "seed": null}')
    model = Model.load(tmp_path)
    assert model.parameters == {"stop": ["x"], "top_k": 5}
    assert model.warnings == ("PARAMETER nope: Ollama ignores it", "PARAMETER mirostat: Ollama ignores it")
    assert model.chat_template is not None
    assert model.chat_template.text == JINJA


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("tokenizer_config.json", "{", "invalid JSON"),
        ("tokenizer_config.json", "[]", "a JSON object is needed"),
        ("tokenizer_config.json", '{"chat_template": 7}', "a text, or names with texts"),
        ("tokenizer_config.json", '{"chat_template": [{"name": "default"}]}', "a text, or names with texts"),
        ("chat_template.jinja", b"\xff", "not UTF-8"),
        ("params", '{"top_k": "many"}', 'PARAMETER top_k: Ollama refuses the value "many"'),
        ("params", '{"stop": "x"}', "PARAMETER stop: Ollama refuses"),
        ("README.md", "", "in this folder"),
    ],
)
def test_a_damaged_folder_is_told(tmp_path: Path, file: str, content: str | bytes, said: str) -> None:
    (tmp_path / "template").write_text(GO) if file == "params" else None
    (tmp_path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(TransplateError, match=said):
        Model.load(tmp_path)


def test_reads_the_hubs_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(TransplateError, match="hf download org/name --include"):
        Model.load("hf:org/name")
    commit = "0" * 40
    repository = tmp_path / "models--org--name"
    snapshot = repository / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    (snapshot / "chat_template.jinja").write_text(JINJA)
    model = Model.load("hf:org/name")
    assert model.name == "hf:org/name"
    assert model.chat_template is not None
    assert model.chat_template.text == JINJA
    with pytest.raises(TransplateError, match="no name of a repository"):
        Model.load("hf:../../x")


# --- servers --------------------------------------------------------------------------------------------


@pytest.fixture
def address(answer: tuple[int, str]) -> Iterator[str]:
    status, body = answer

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


SHOWN = {
    "template": GO,
    "system": "S",
    "parameters": 'stop                           "a\\"b\\n"\nnum_ctx                        64',
    "messages": [{"role": "user", "content": "hi"}],
    "details": {"family": "llama"},
}


@pytest.mark.parametrize("answer", [(200, json.dumps(SHOWN))])
def test_reads_a_server(address: str) -> None:
    model = Model.load(f"{address}#mine")
    assert model.template is not None
    assert (model.template.text, model.system, model.family) == (GO, "S", "llama")
    assert model.parameters == {"stop": ['a"b\n'], "num_ctx": 64}
    assert model.messages == (("user", "hi"),)
    assert "does not show" in model.road().reason


@pytest.mark.parametrize(
    "answer",
    [
        (404, '{"error": "model not found"}'),
        (500, "x"),
        (200, "<html>"),
        (200, "[]"),
        (200, '{"template": 1}'),
    ],
)
def test_a_strange_answer_is_told(address: str, answer: tuple[int, str]) -> None:
    said = {404: "model not found", 500: "status 500"}.get(answer[0], "no JSON|no text")
    with pytest.raises(TransplateError, match=said):
        Model.load(f"{address}#mine")


def test_a_server_that_hangs_or_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(TransplateError, match="no whole answer within"):
            Model.load(f"http://127.0.0.1:{silent.getsockname()[1]}#m")
        port = silent.getsockname()[1]
    with pytest.raises(TransplateError, match="no answer"):
        Model.load(f"http://127.0.0.1:{port}#m")
    with pytest.raises(TransplateError, match="a model is missing"):
        Model.load("http://127.0.0.1:1")


# --- anything -------------------------------------------------------------------------------------------

KEYS = st.sampled_from(
    [
        *("chat_template", "eos_token", "eos_token_id", "bos_token", "add_bos_token", "added_tokens_decoder"),
        *("temperature", "stop_strings", "do_sample", "max_new_tokens", "stop", "num_ctx", "added_tokens"),
        *("chat_template_sha256", "modelfile", "modelfile_base64", "modelfile_folder", "generation_config"),
    ]
)
ANYTHING = st.recursive(
    st.sampled_from([None, True, 0, 1.5, -1, 2**70, "", "FROM x", "{{ messages }}", "\ud800", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.just("0"), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                *("tokenizer_config.json", "generation_config.json", "tokenizer.json", "added_tokens.json"),
                *("params", "ollama.json", "config.json", "chat_template.json"),
            ]
        ),
        st.dictionaries(KEYS, ANYTHING, max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_files_with_anything_in_them(files: dict[str, dict[str, Any]]) -> None:
    """They are read, or refused with an error of ours."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "chat_template.jinja").write_text("{{ messages[0].content }}")
        for file, content in files.items():
            (folder / file).write_text(json.dumps(content))
        for save in (Model.save_modelfile, Model.save_pretrained, Model.save_hub_files):
            with suppress(TransplateError):
                save(Model.load(folder), folder / "out", dry_run=True)  # type: ignore[operator]
