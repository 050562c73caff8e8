"""A GGUF with another chat template: all else is as it was, as the gguf package reads it."""

from pathlib import Path

import pytest

from tests.models.test_sources import ENTRIES, gguf
from transplate.errors import TransplateError
from transplate.models import Model
from transplate.models.gguf import TEMPLATE, read_metadata
from transplate.models.gguf_writer import write_with_template


@pytest.mark.parametrize("alignment", [None, 64])
@pytest.mark.parametrize("before", [None, "old"])
def test_only_the_template_changes(tmp_path: Path, alignment: int | None, before: str | None) -> None:
    package = pytest.importorskip("gguf")
    numpy = pytest.importorskip("numpy")
    base, target = tmp_path / "base.gguf", tmp_path / "new.gguf"
    writer = package.GGUFWriter(str(base), "llama")
    if alignment:
        writer.add_custom_alignment(alignment)
    if before:
        writer.add_chat_template(before)
    writer.add_token_list(["a", "b"])
    for number in range(3):
        writer.add_tensor(f"t{number}", numpy.arange(number * 7 + 1, dtype=numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    data = base.read_bytes()
    seen: list[tuple[int, int]] = []
    write_with_template(base, target, "né{{ x }}", progress=lambda done, total: seen.append((done, total)))
    assert base.read_bytes() == data
    assert read_metadata(target) == read_metadata(base) | {TEMPLATE: "né{{ x }}"}
    old, new = package.GGUFReader(str(base)), package.GGUFReader(str(target))
    assert [one.name for one in new.tensors] == ["t0", "t1", "t2"]
    for one, other in zip(old.tensors, new.tensors, strict=True):
        assert one.data.tolist() == other.data.tolist()
    assert seen[-1][0] == seen[-1][1] > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base.gguf", "new.gguf"]


@pytest.mark.parametrize("order", ["<", ">"])
def test_both_orders_of_bytes(tmp_path: Path, order: str) -> None:
    base, target = tmp_path / "base.gguf", tmp_path / "new.gguf"
    base.write_bytes(gguf(ENTRIES, order=order))
    write_with_template(base, target, "new")
    assert target.read_bytes() == gguf(ENTRIES | {TEMPLATE: "new"}, order=order)


def test_named_templates(tmp_path: Path) -> None:
    writer_of = pytest.importorskip("gguf").GGUFWriter
    base, target = tmp_path / "base.gguf", tmp_path / "new.gguf"
    writer = writer_of(str(base), "llama")
    writer.add_chat_template([{"name": name, "template": name} for name in ("default", "tool_use", "rag")])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    write_with_template(base, target, "new", {"tool_use": "T", "more": "M"})
    assert read_metadata(target) == read_metadata(base) | {
        TEMPLATE: "new",
        f"{TEMPLATE}.tool_use": "T",
        f"{TEMPLATE}.more": "M",
        "tokenizer.chat_templates": ["more", "rag", "tool_use"],
    }
    assert set(Model.load(target).named) == {"default", "tool_use", "rag", "more"}


def test_nothing_half_written(tmp_path: Path) -> None:
    base, target = tmp_path / "base.gguf", tmp_path / "new.gguf"
    base.write_bytes(gguf(ENTRIES) + b"x" * 100)
    with pytest.raises(TransplateError, match="is the base itself"):
        write_with_template(base, base, "new")

    def stop(_: int, __: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_with_template(base, target, "new", progress=stop)
    with pytest.raises(TransplateError, match="no such folder"):
        write_with_template(base, tmp_path / "nowhere" / "new.gguf", "new")
    base.write_bytes(gguf(ENTRIES)[:-3])
    with pytest.raises(TransplateError, match="damaged GGUF"):
        write_with_template(base, target, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["base.gguf"]
