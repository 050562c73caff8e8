"""The five templates the project started from are kept byte for byte: nothing may touch them."""

from hashlib import sha256
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).parent.parent / "templates"

SEEDS = {
    "gotmpl/cohere-tools.gotmpl": "a54b39fabdb694e80bacb55cdc752b69813653af9de979f28bc131f0a0f7bb4d",
    "jinja/cohere-command.jinja": "ada8528d3b8c43cebba4c056f67a8c40243ba723c53cb14c8b34531ab7edc0eb",
    "jinja/intern-s1.jinja": "d513edc4ab2a6a568468d70837bdf2c1f3e3b8d3faebe54acd9be2f271759045",
    "jinja/llama-ipython-tools.jinja": "af79f774b9d33d277a55de4f079edfea7e708401cb5be50ff82c1024cb610e7e",
    "jinja/qwen3-vl.jinja": "9d879ef91075acbfb2df7e441fd79d60bacfca989cf6d511d2af45c681e94f10",
}


@pytest.mark.parametrize("name", SEEDS)
def test_seed_is_untouched(name: str) -> None:
    assert sha256((TEMPLATES / name).read_bytes()).hexdigest() == SEEDS[name]
