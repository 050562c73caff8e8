"""A GGUF with another chat template: all else is as it was, as the gguf package reads it."""

import re
from pathlib import Path

import pytest

from tests.models.test_sources import ENTRIES, gguf
from transplate.errors import TransplateError
from transplate.models import Model
from transplate.models.gguf import TEMPLATE, read_metadata
from transplate.models.gguf_types import BLOCKS
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


def test_sizes_of_tensors() -> None:
    package = pytest.importorskip("gguf")
    sizes = {kind.value: size for kind, size in package.GGML_QUANT_SIZES.items()}
    assert {kind: size for kind, size in BLOCKS.items() if kind in sizes} == {
        kind: size for kind, size in sizes.items() if kind in BLOCKS
    }
    assert sizes.keys() - BLOCKS.keys() == set()


def test_a_gguf_that_is_cut_off_is_no_base(tmp_path: Path) -> None:
    package = pytest.importorskip("gguf")
    numpy = pytest.importorskip("numpy")
    base, target = tmp_path / "base.gguf", tmp_path / "new.gguf"
    writer = package.GGUFWriter(str(base), "llama")
    writer.add_chat_template("{{ messages[0].content }}")
    q8_0 = package.GGMLQuantizationType.Q8_0
    writer.add_tensor("a", package.quants.quantize(numpy.zeros((4, 64), numpy.float32), q8_0), raw_dtype=q8_0)
    writer.add_tensor("b", numpy.arange(30, dtype=numpy.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    data = base.read_bytes()
    end = len(data) - 4  # the last tensor is padded to 32 bytes
    base.write_bytes(data[:end])
    assert Model.load(base).warnings == ()
    write_with_template(base, target, "new")
    assert len(package.GGUFReader(str(target)).tensors) == 2
    target.unlink()
    for lost in (1, 60, 300):
        base.write_bytes(data[: end - lost])
        said = f"{base}: damaged GGUF: it ends {lost} bytes before its tensors do"
        model = Model.load(base)
        assert model.warnings == (said,)
        assert model.chat_template is not None
        with pytest.raises(TransplateError, match=re.escape(said)):
            write_with_template(base, target, "new")
        path = tmp_path / "Modelfile"
        path.write_text("FROM ./base.gguf\n")
        assert Model.load(path).warnings == (said,)
        assert [one.name for one in sorted(tmp_path.iterdir())] == ["Modelfile", "base.gguf"]
