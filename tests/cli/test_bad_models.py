"""Whole models that are damaged, or targets that cannot be written: an error, status 2, and nothing else."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_process import COMMAND
from tests.models.test_sources import ENTRIES, gguf
from transplate import Model
from transplate.servers import http

MODELFILE = 'FROM nothing\nTEMPLATE """{{ .Prompt }}"""\nPARAMETER stop x\n'


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder, hidden ones, too."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


# --- sources --------------------------------------------------------------------------------------------


def loop(folder: Path) -> None:
    (folder / "model").mkdir()
    (folder / "model" / "chat_template.jinja").symlink_to("chat_template.jinja")


def folder_loop(folder: Path) -> None:
    (folder / "model").symlink_to("model")


def files(**contents: str | bytes) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "model").mkdir()
        for name, content in contents.items():
            data = content if isinstance(content, bytes) else content.encode()
            (folder / "model" / name.replace("__", ".")).write_bytes(data)

    return write


@pytest.mark.parametrize(
    ("make", "source", "said"),
    [
        (files(m__gguf=gguf(ENTRIES)[:-9]), "model/m.gguf", "damaged GGUF"),
        (files(m__gguf=b"GGML" + gguf(ENTRIES)[4:]), "model/m.gguf", "no GGUF"),
        (files(m__gguf=gguf({"tokenizer.chat_template": 3})), "model", "a template is text"),
        (files(chat_template__jinja=b"\xff\xfe"), "model", "not a text file"),
        (files(tokenizer_config__json="{,}"), "model", "invalid JSON"),
        (files(tokenizer_config__json="[1]"), "model", "a JSON object is needed"),
        (files(tokenizer_config__json='{"a": ' * 100_000), "model", "nested too deep"),
        (
            files(tokenizer_config__json='{"chat_template": 3}'),
            "model",
            "a text, or names with texts, is needed",
        ),
        (files(tokenizer_config__json='{"chat_template": [{"name": 1}]}'), "model", "a text, or names with"),
        (files(template="{{ .Prompt }}", params="{"), "model", "invalid JSON"),
        (
            files(template="{{ .Prompt }}", params='{"top_k": true}'),
            "model",
            "top_k: Ollama refuses",
        ),
        (files(README="x"), "model", "in this folder"),
        (loop, "model", "symbolic links"),
        (folder_loop, "model", "symbolic links"),
        (files(), "ollama:../../model", "no name of a model"),
        (files(), "ollama:a/../../model", "no name of a model"),
        (files(), "hf:../model", "no name of a repository"),
        (files(), "model/../nope/../model/x", "no such file"),
        (files(), "http://127.0.0.1:1#m", "no answer"),
        (files(), "http://127.0.0.1:1", "a model is missing"),
    ],
)
@pytest.mark.parametrize("target", ["out/", "out.modelfile"])
def test_a_damaged_source(
    run: Run, folder: Path, make: Callable[[Path], None], source: str, said: str, target: str
) -> None:
    make(folder)
    before = set(folder.rglob("*"))
    result = run("convert", source, target)
    assert (result.status, result.output) == (2, "")
    assert said in result.errors
    assert "Traceback" not in result.errors
    assert set(folder.rglob("*")) == before
    assert run(source).status == 2


def test_a_damaged_blob(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs, manifest = (
        folder / "blobs",
        folder / "manifests" / "registry.ollama.ai" / "library" / "m" / "latest",
    )
    blobs.mkdir()
    manifest.parent.mkdir(parents=True)
    digest = hashlib.sha256(b"{{ .Prompt }}").hexdigest()
    layer = {"mediaType": "application/vnd.ollama.image.template", "digest": f"sha256:{digest}", "size": 13}
    manifest.write_text(json.dumps({"layers": [layer]}))
    monkeypatch.setenv("OLLAMA_MODELS", str(folder))
    for content, said in ((None, "no such file"), (b"{{ .System }}", "damaged"), (b"{{ .Prompt }}", "")):
        if content is not None:
            (blobs / f"sha256-{digest}").write_bytes(content)
        result = run("convert", "m", "out/")
        assert result.status == (2 if said else 0)
        assert said in result.errors
        assert (folder / "out").exists() is not said


def test_a_server_that_hangs(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "TIMEOUT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        result = run("convert", f"http://127.0.0.1:{listening.getsockname()[1]}#m", "out/")
    assert (result.status, result.output) == (2, "")
    assert "no whole answer within 0.3 seconds" in result.errors
    assert tree(folder) == {}


def test_a_server_that_answers_a_byte_at_a_time(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "TIMEOUT", 0.4)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n{")
                for _ in range(100):
                    connection.sendall(b" ")
                    time.sleep(0.02)

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        result = run("convert", f"http://127.0.0.1:{listening.getsockname()[1]}#m", "out/")
        thread.join()
    assert (result.status, result.output) == (2, "")
    assert "no whole answer within 0.4 seconds" in result.errors
    assert tree(folder) == {}


# --- targets --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["nope/../out.jinja", "nope/../Modelfile", "nope/x.jinja"])
def test_a_path_through_a_folder_that_is_not_there(run: Run, folder: Path, target: str) -> None:
    (folder / "t.gotmpl").write_text("{{ .Prompt }}")
    (folder / "m").mkdir()
    (folder / "m" / "chat_template.jinja").write_text("{{ messages[0].content }}")
    before = tree(folder)
    result = run("convert", "m/" if target.endswith("file") else "t.gotmpl", target)
    assert (result.status, result.output) == (2, "")
    assert "no such folder" in result.errors
    assert tree(folder) == before


def test_a_target_that_a_folder_is_in_the_way_of(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(MODELFILE)
    (folder / "out" / "generation_config.json").mkdir(parents=True)
    before = tree(folder)
    result = run("convert", "Modelfile", "out/")
    assert (result.status, result.output) == (2, "")
    assert "generation_config.json: is a folder" in result.errors
    assert tree(folder) == before


def test_a_link_in_the_target_is_replaced_and_not_followed(run: Run, folder: Path) -> None:
    (folder / "Modelfile").write_text(MODELFILE)
    (folder / "precious").write_text('{"temperature": 1}')
    (folder / "out").mkdir()
    (folder / "out" / "generation_config.json").symlink_to("../precious")
    assert run("convert", "Modelfile", "out/").status == 0
    assert (folder / "precious").read_text() == '{"temperature": 1}'
    merged = json.loads((folder / "out" / "generation_config.json").read_text())
    assert merged == {"temperature": 1, "stop_strings": ["x"]}


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.ENOSPC])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_target_that_cannot_be_written(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, code: int, after: int
) -> None:
    """Whichever file it is that cannot be written, none is."""
    (folder / "Modelfile").write_text(MODELFILE)
    before = tree(folder)
    opened, left = Path.open, after

    def failing(path: Path, mode: str = "r", **options: object) -> object:
        nonlocal left
        if "x" in mode:
            if not left:
                raise OSError(code, os.strerror(code))
            left -= 1
        return opened(path, mode, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", failing)
    result = run("convert", "Modelfile", "out/deep/")
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert (result.status, result.output) == (2, "")
    assert os.strerror(code).lower() in result.errors
    assert tree(folder) == before


def test_a_full_disk(folder: Path) -> None:
    """The kernel refuses what is written beyond a size, as it does when there is no room."""
    (folder / "Modelfile").write_text(MODELFILE + f"SYSTEM {'long ' * 1000}\n")
    (folder / "old.gguf").write_bytes(gguf(ENTRIES) + b"x" * 5000)
    (folder / "t.jinja").write_text("{{ messages[0].content }}")
    before = tree(folder)
    for arguments in (["Modelfile", "out/"], ["t.jinja", "new.gguf", "--base", "old.gguf"]):
        done = subprocess.run(
            [*COMMAND, "convert", *arguments],
            capture_output=True,
            text=True,
            cwd=folder,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert "file too large" in done.stderr
        assert tree(folder) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_process_that_is_ended_half_way(folder: Path, number: signal.Signals) -> None:
    """The new GGUF is not there; only SIGKILL leaves what was written beside its place."""
    size = 400_000_000
    with (folder / "old.gguf").open("wb") as file:
        file.write(gguf(ENTRIES))
        file.truncate(size)
    (folder / "t.jinja").write_text("{{ messages[0].content }}")
    process = subprocess.Popen(
        [*COMMAND, "convert", "t.jinja", "new.gguf", "--base", "old.gguf"],
        cwd=folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        deadline = time.monotonic() + 30
        while not list(folder.glob(".new.gguf.*")) and time.monotonic() < deadline:
            time.sleep(0.002)
        process.send_signal(number)
        process.wait(30)
    assert process.returncode in (-number, 128 + number)
    assert not (folder / "new.gguf").exists()
    left = list(folder.glob(".new.gguf.*"))
    assert bool(left) is (number == signal.SIGKILL)
    assert (folder / "old.gguf").stat().st_size == size
    for path in (folder / "old.gguf", *left):
        path.unlink()


def test_a_folder_appears_with_all_of_its_files(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever it is looked at, it is not there, or whole."""
    (folder / "Modelfile").write_text(MODELFILE)
    seen: list[list[str]] = []
    opened = Path.open

    def looking(path: Path, mode: str = "r", **options: object) -> object:
        out = folder / "out"
        seen.append(sorted(one.name for one in out.iterdir()) if out.exists() else [])
        return opened(path, mode, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", looking)
    assert run("convert", "Modelfile", "out/").status == 0
    assert seen
    assert not any(seen)
    assert len(list((folder / "out").iterdir())) == 3
    assert sorted(path.name for path in folder.iterdir()) == ["Modelfile", "out"]


@pytest.mark.parametrize("number", ["1e400", "NaN", "-Infinity", "1e39"])
def test_a_number_that_no_json_has_is_never_written(run: Run, folder: Path, number: str) -> None:
    """Python writes NaN and Infinity into JSON, which others cannot read; 1e39 does not fit in 32 bits."""
    (folder / "m").mkdir()
    (folder / "m" / "chat_template.jinja").write_text("{{ messages[0].content }}")
    settings = folder / "m" / "generation_config.json"
    settings.write_text(f'{{"temperature": {number}}}')
    before = tree(folder)
    result = run("convert", "m", "Modelfile")
    assert result.status == 2
    assert "generation_config.json: temperature: Ollama refuses" in result.errors
    assert tree(folder) == before
    (folder / "Modelfile").write_text(f"{MODELFILE}PARAMETER temperature {number}\nPARAMETER top_k 1\n")
    settings.write_text(f'{{"other": {number}}}')
    before = tree(folder)
    result = run("convert", "Modelfile", "m/", "--force")
    if number == "1e39":
        assert result.status == 1
        assert "temperature" not in json.loads(settings.read_text())
        return
    assert result.status == 2
    assert f"{settings.relative_to(folder)}: NaN, or a number too large" in result.errors
    assert tree(folder) == before
    assert run("convert", "Modelfile", "new/").status == 1
    written = json.loads((folder / "new" / "generation_config.json").read_text())
    assert written == {
        "top_k": 1,
        "stop_strings": ["x"],
    }
    assert run("convert", "Modelfile", "hub/", "--to", "hub").status == 1
    assert set(json.loads((folder / "hub" / "params").read_text())) == {"top_k", "stop"}


def test_whole_numbers_are_written_as_ollama_reads_them(run: Run, folder: Path) -> None:
    (folder / "m").mkdir()
    (folder / "m" / "chat_template.jinja").write_text("{{ messages[0].content }}")
    (folder / "m" / "generation_config.json").write_text('{"top_k": 50.0}')
    assert run("convert", "m", "Modelfile").status == 0
    assert "PARAMETER top_k 50\n" in (folder / "Modelfile").read_text()
    (folder / "m" / "generation_config.json").write_text('{"top_k": 0.5}')
    assert "Ollama refuses 0.5 as PARAMETER top_k" in run("convert", "m", "other.modelfile").errors


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_hides_no_modelfile(run: Run, folder: Path, encoding: str) -> None:
    """The mark is no part of the text, so that FROM behind it begins a line."""
    (folder / "mine").write_bytes(MODELFILE.encode(encoding))
    assert Model.load(folder / "mine").kind == "Modelfile"
    assert run("convert", "mine", "out.jinja").status == 0
    assert "FROM" not in (folder / "out.jinja").read_text()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('{"stop_strings": 5}', "stop_strings: a text"),
        ('{"stop_strings": ["x", 5]}', "stop_strings: a text"),
        ('{"eos_token_id": "x"}', "eos_token_id: the id of a token"),
        ('{"eos_token_id": [[1]]}', "eos_token_id: the id of a token"),
        ('{"eos_token_id": true}', "eos_token_id: the id of a token"),
    ],
)
def test_stops_of_another_type_are_told(run: Run, folder: Path, settings: str, said: str) -> None:
    (folder / "m").mkdir()
    (folder / "m" / "chat_template.jinja").write_text("{{ messages[0].content }}")
    (folder / "m" / "generation_config.json").write_text(settings)
    result = run("convert", "m", "Modelfile")
    assert result.status == 2
    assert f"generation_config.json: {said}" in result.errors
    assert not (folder / "Modelfile").exists()


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("tokenizer_config.json", '{"eos_token": {"content": 5}}', "eos_token: a text, or an object with"),
        ("tokenizer_config.json", '{"bos_token": 5}', "bos_token: a text, or an object with"),
        ("tokenizer_config.json", '{"add_bos_token": "yes"}', "add_bos_token: true or false is needed"),
        ("ollama.json", '{"modelfile": 5}', "ollama.json"),
        (
            "ollama.json",
            '{"modelfile": "FROM x", "generation_config": {}}',
            "sha256: a text",
        ),
        ("ollama.json", '{"chat_template_sha256": "", "generation_config": {}}', "no Modelfile in it"),
        ("ollama.json", '{"modelfile": "FORM", "generation_config": {}, "chat_template_sha256": ""}', "EOF"),
        ("ollama.json", "{", "invalid JSON"),
    ],
)
def test_settings_of_another_type_are_told(
    run: Run, folder: Path, file: str, content: str, said: str
) -> None:
    (folder / "m").mkdir()
    (folder / "m" / "chat_template.jinja").write_text("{{ messages[0].content }}")
    (folder / "m" / file).write_text(content)
    result = run("convert", "m", "Modelfile")
    assert result.status == 2
    assert said in result.errors
    assert not (folder / "Modelfile").exists()


def test_a_file_of_the_same_name_that_is_none_of_ours(run: Run, folder: Path) -> None:
    (folder / "m").mkdir()
    (folder / "m" / "chat_template.jinja").write_text("{{ messages[0].content }}")
    (folder / "m" / "ollama.json").write_text('{"host": "example.org"}')
    result = run("convert", "m", "Modelfile")
    assert result.status == 0
    assert "m/ollama.json holds no Modelfile, and is not used" in result.errors


@pytest.mark.parametrize("target", ["out/", "out.modelfile", "out.gotmpl", "out.jinja", "out.gguf", "--to"])
@pytest.mark.parametrize("key", ["chat_template", "eos_token", "stop_strings"])
def test_half_a_surrogate_pair_is_no_text(run: Run, folder: Path, key: str, target: str) -> None:
    """JSON can say it with an escape, and no file can hold it."""
    (folder / "m").mkdir()
    (folder / "old.gguf").write_bytes(gguf(ENTRIES))
    file = "generation_config.json" if key == "stop_strings" else "tokenizer_config.json"
    (folder / "m" / "tokenizer_config.json").write_text('{"chat_template": "{{ messages[0].content }}"}')
    (folder / "m" / file).write_text(
        json.dumps({"chat_template": "x{{ messages[0].content }}", key: "a\ud800"})
    )
    before = tree(folder)
    more = {"--to": ["hub", "out/"], "out.gguf": ["--base", "old.gguf"]}.get(target, [])
    result = run("convert", "m", target, *more)
    if key == "stop_strings" and target in ("out/", "out.gotmpl", "out.jinja", "out.gguf"):
        assert result.status == 0
        return
    assert result.status == 2
    assert "a lone surrogate, which is no text" in result.errors
    assert tree(folder) == before
    run("m")


def test_a_gguf_that_is_cut_off(run: Run, folder: Path) -> None:
    entries = {**ENTRIES, "tokenizer.chat_template": "{{ messages[0].content }}"}
    whole = gguf(entries)
    tensor = struct.pack("<Q", 1) + b"a" + struct.pack("<IQIQ", 1, 8, 0, 0)  # 8 numbers of 4 bytes
    head = whole[:8] + struct.pack("<Q", 1) + whole[16:] + tensor
    (folder / "cut.gguf").write_bytes(head + bytes(-len(head) % 32) + bytes(31))
    (folder / "t.jinja").write_text("new {{ messages[0].content }}")
    said = "cut.gguf: damaged GGUF: it ends 1 bytes before its tensors do"
    for more in ((), ("--dry-run",)):
        result = run("convert", "t.jinja", "new.gguf", "--base", "cut.gguf", *more)
        assert (result.status, said in result.errors) == (2, True)
    assert not (folder / "new.gguf").exists()
    for command in (("lint", "cut.gguf"), ("convert", "cut.gguf", "Modelfile")):
        assert f"warning: {said}" in run(*command).errors
    assert said in run("cut.gguf").output
