"""The public names: all there, nothing loaded before it is used."""

import subprocess
import sys
from pathlib import Path

import pytest

import transplate


@pytest.mark.parametrize("name", transplate.__all__)
def test_public_name_is_there(name: str) -> None:
    assert getattr(transplate, name) is not None


def test_public_names_are_listed() -> None:
    assert set(transplate.__all__) == set(transplate._HOME)
    assert set(transplate.__all__) <= set(dir(transplate))


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = transplate.nonsense


def test_import_loads_nothing() -> None:
    code = "import sys, transplate; print(*sorted(m for m in sys.modules if m.startswith('transplate')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["transplate"]


@pytest.mark.parametrize("taker", ["GoTemplate", "JinjaTemplate", "OllamaTemplate", "to_go", "to_jinja"])
@pytest.mark.parametrize("value", [Path("x.gotmpl"), None, b"{{ .Prompt }}", 3])
def test_what_is_no_text_is_a_type_error(taker: str, value: object) -> None:
    with pytest.raises(TypeError, match=f"{taker} takes .* not a value of type {type(value).__name__}"):
        getattr(transplate, taker)(value)
