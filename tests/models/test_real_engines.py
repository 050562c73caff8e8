"""Folders and GGUFs that we wrote, in what reads them: transformers, llama-server, the Hub's own library."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, run  # noqa: F401 - a fixture
from tests.models.test_real_ollama import CHATML, CONVERSATIONS, WITH_BOS
from tests.oracle.engines import TransformersEngine
from tests.oracle.llama import LlamaEngine, write_tiny_model
from transplate import JinjaTemplate, Model, OllamaTemplate, TransplateError
from transplate.models.gguf import read_metadata
from transplate.models.gguf_writer import write_with_template

GO = "{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}<|end|>\n{{ end }}<|assistant|>\n"


# --- transformers ---------------------------------------------------------------------------------------


def save_tokenizer(folder: Path, *, bos: str | None) -> None:
    """Write a tokenizer as transformers saves one, with ``<|end|>`` as a token of its own."""
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "<unk>": 1}, unk_token="<unk>"))
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", bos_token=bos, eos_token="</s>"
    )
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|end|>", "<|x|>"]})
    tokenizer.save_pretrained(str(folder))


@pytest.mark.parametrize("adds_bos", [False, True])
def test_transformers_prints_the_prompts_of_a_modelfile(
    transformers_engine: TransformersEngine, tmp_path: Path, adds_bos: bool
) -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("gguf")
    assert transformers_engine.name
    write_tiny_model(tmp_path / "tiny.gguf", adds_bos=adds_bos)
    path = tmp_path / "Modelfile"
    path.write_text(
        f'FROM ./tiny.gguf\nTEMPLATE """{GO}"""\nSYSTEM """Be "brief"."""\nMESSAGE user Hi\n'
        "MESSAGE assistant Ho\nPARAMETER stop <|end|>\nPARAMETER stop User:\nPARAMETER temperature 0\n"
        "PARAMETER num_ctx 64\n"
    )
    model = Model.load(path)
    out = tmp_path / "out"
    out.mkdir()
    save_tokenizer(out, bos="<s>")
    saving = model.save_pretrained(out)
    assert saving.parity is not None
    assert {difference.cause for difference in saving.parity.differences} <= {
        "text differs",
        "only the first goes on at the end",
    }
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(out))
    for messages in CONVERSATIONS:
        prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        # Ollama's tokenizer adds BOS to all prompts; that of transformers adds none to a chat's.
        begun = ("<s>" if adds_bos else "") + OllamaTemplate(GO).render(model.conversation(messages))
        assert prompt == begun
    # Ollama stops at EOS besides every stop.
    end = tokenizer.convert_tokens_to_ids(["</s>", "<|end|>"])
    generation = transformers.GenerationConfig.from_pretrained(str(out))
    assert (generation.eos_token_id, generation.stop_strings) == (end, ["User:"])
    assert generation.do_sample is False
    # And back, byte for byte; what transformers saves again is no other model.
    tokenizer.save_pretrained(str(out))
    Model.load(out).save_modelfile(tmp_path / "back.modelfile")
    assert (tmp_path / "back.modelfile").read_bytes() == path.read_bytes()


def test_transformers_finds_all_named_templates(
    transformers_engine: TransformersEngine, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    assert transformers_engine.name
    named = {
        "default": CHATML,
        "tool_use": "{{ tools[0].function.name }}",
        "rag": "R{{ messages[0].content }}",
    }
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    config = {"chat_template": [{"name": name, "template": text} for name, text in named.items()]}
    (source / "tokenizer_config.json").write_text(json.dumps(config))
    out.mkdir()
    save_tokenizer(out, bos=None)
    Model.load(source).save_pretrained(out)
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(out))
    assert tokenizer.chat_template == named
    messages = [{"role": "user", "content": "Hi"}]
    tools = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
    for choice, expected in (
        ({}, JinjaTemplate(CHATML).render(messages, add_generation_prompt=False)),
        ({"tools": tools}, "look"),
        ({"chat_template": "rag"}, "RHi"),
    ):
        assert tokenizer.apply_chat_template(messages, tokenize=False, **choice) == expected


def test_ids_of_a_generation_are_stops(tmp_path: Path) -> None:
    save_tokenizer(tmp_path, bos=None)
    (tmp_path / "chat_template.jinja").write_text(CHATML)
    ids = {text: number for number, text in enumerate(["a", "<unk>", "</s>", "<|end|>", "<|x|>"])}
    (tmp_path / "generation_config.json").write_text(
        json.dumps({"eos_token_id": [ids["</s>"], ids["<|x|>"], 99]})
    )
    saving = Model.load(tmp_path).save_modelfile(tmp_path / "Modelfile", dry_run=True)
    assert "stop <|x|>: token 4, which ends a generation" in saving.notes
    assert "token 99 ends a generation; no tokenizer here tells its text" in saving.notes


# --- llama-server ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("template", [CHATML, WITH_BOS])
def test_llama_server_runs_the_template_that_was_written(
    llama_engine: LlamaEngine, tmp_path: Path, template: str
) -> None:
    base, target = tmp_path / "base.gguf", tmp_path / "new.gguf"
    write_tiny_model(base)
    write_with_template(base, target, template)
    metadata = read_metadata(target)
    assert metadata.pop("tokenizer.chat_template") == template
    assert metadata == read_metadata(base)
    jinja = JinjaTemplate(template, special_tokens=Model.load(target).special_tokens)
    with llama_engine.serving(target) as ask:
        for messages in CONVERSATIONS:
            assert ask({"messages": messages}) == jinja.render(messages)


# --- the Hub --------------------------------------------------------------------------------------------

REPOSITORY = {
    "chat_template.jinja": CHATML,
    "tokenizer_config.json": '{"eos_token": "<|im_end|>"}',
    "generation_config.json": '{"temperature": 0.7}',
    "model.safetensors": "x" * 1000,
    "README.md": "no",
}
_COMMIT = "0123456789abcdef0123456789abcdef01234567"


class _Hub(BaseHTTPRequestHandler):
    """As much of the Hub as its own library asks for a small public repository."""

    asked: list[str]

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        path = self.path.partition("?")[0]
        if path.startswith("/api/models/org/name"):
            files = [{"rfilename": name} for name in REPOSITORY]
            listed = [
                {
                    "type": "file",
                    "path": name,
                    "size": len(text),
                    "oid": hashlib.sha1(text.encode()).hexdigest(),
                }
                for name, text in REPOSITORY.items()
            ]
            is_tree = "/tree/" in path
            body = listed if is_tree else {"id": "org/name", "sha": _COMMIT, "siblings": files}
            self._send(json.dumps(body).encode(), "application/json", with_body)
            return
        name = path.rpartition("/")[2]
        if not path.startswith("/org/name/resolve/") or name not in REPOSITORY:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if with_body:
            self.asked.append(name)
        self._send(REPOSITORY[name].encode(), "text/plain", with_body)

    def _send(self, body: bytes, kind: str, with_body: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", f'"{hashlib.sha1(body).hexdigest()}"')
        self.send_header("X-Repo-Commit", _COMMIT)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A Hub with the repository org/name; what files are asked of it."""
    constants = pytest.importorskip("huggingface_hub.constants")
    asked: list[str] = []
    handler = type("Hub", (_Hub,), {"asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(
        constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}"
    )
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield asked
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_repository_is_read_from_the_cache_that_the_library_lays_out(
    hub: list[str],
    tmp_path: Path,
    run: Run,  # noqa: F811
) -> None:
    with pytest.raises(
        TransplateError, match=r"is not in the cache; --download .* fetches it, or: hf download org/name --in"
    ):
        Model.load("hf:org/name")
    assert hub == []
    model = Model.load("hf:org/name", download=True)
    assert sorted(hub) == ["chat_template.jinja", "generation_config.json", "tokenizer_config.json"]
    assert model.chat_template is not None
    assert (model.chat_template.text, model.tokens.eos) == (CHATML, "<|im_end|>")
    hub.clear()
    again = run("render", "hf:org/name", "-m", "Hi")
    assert again.output == JinjaTemplate(CHATML).render([{"role": "user", "content": "Hi"}])
    assert hub == []
    # The cache is a store of blobs that snapshots link to: writing into one leaves the store as it is.
    snapshot = Path(model.place)
    link = snapshot / "chat_template.jinja"
    assert link.is_symlink()
    blob = link.resolve()
    (tmp_path / "x.modelfile").write_text(f'FROM x\nTEMPLATE """{GO}"""\n')
    Model.load(tmp_path / "x.modelfile").save_pretrained(snapshot, force=True)
    assert blob.read_text() == CHATML
    assert not link.is_symlink()
