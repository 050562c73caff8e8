"""Real models there and back: ``python -m tests.models.pairs`` takes all pairs and all public Modelfiles."""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from transplate import Model, Modelfile, ModelfileError, TransplateError

_HOMELESS = {"num_ctx", "num_keep"}
"""PARAMETERs of the library that Hugging Face has no place for."""


def read_pairs(shared: Path) -> list[dict[str, Any]]:
    """The pairs of the library: TEMPLATE, chat template and PARAMETERs of a model each."""
    lines = (shared / "corpus" / "ollama_library_pairs.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def go_and_come_back(pair: dict[str, Any], folder: Path) -> None:
    """Convert a pair to a Hugging Face folder and back, and check what comes back."""
    modelfile = Modelfile.parse("FROM nothing\n")
    modelfile.set("template", pair["gotmpl"])
    modelfile.set("system", 'You are "a" model.\n')
    modelfile.set("message", ["user: Who are you?", "assistant: A model."])
    for name, value in (pair["params"] or {}).items():
        modelfile.set(name, [str(one) for one in value] if isinstance(value, list) else str(value))
    (folder / "Modelfile").write_bytes(bytes(modelfile))
    model = Model.load(folder / "Modelfile")
    assert dict(model.parameters) == (pair["params"] or {})
    saving = model.save_pretrained(folder / "out")
    assert saving.parity is not None
    assert saving.conversion is not None
    unannounced = [
        one.conversation.name
        for one in saving.parity.differences
        if saving.conversion.covers(one.conversation)
    ]
    assert not unannounced
    Model.load(folder / "out").save_modelfile(folder / "back")
    assert (folder / "back").read_bytes() == bytes(modelfile)
    # Without what was kept aside, the folder's own settings say as much as Hugging Face can.
    (folder / "out" / "ollama.json").unlink()
    Model.load(folder / "out").save_modelfile(folder / "anew")
    anew = Model.load(folder / "anew").parameters
    for name, value in model.parameters.items():
        if name not in _HOMELESS:
            assert anew[name] == value or (name == "stop" and set(value) <= set(anew[name])), name


def edit_and_convert(text: str, folder: Path) -> str:
    """Edit a Modelfile, read it back, convert it to a folder and back; return how far it got."""
    folder.mkdir()
    path = folder / "Modelfile"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        model = Model.load(path)
    except ModelfileError:
        return "refused by Ollama"
    assert model.modelfile is not None
    model.modelfile.set("temperature", "0.25")
    model.modelfile.set("stop", ["<|a|>", "<|b|>"])
    path.write_bytes(bytes(model.modelfile))
    model = Model.load(path)
    assert (model.parameters["temperature"], model.parameters["stop"]) == (0.25, ["<|a|>", "<|b|>"])
    try:
        model.save_pretrained(folder / "out")
    except TransplateError as error:
        end = "no template" if "no template" in error.message else f"refused: {error.message}"
        assert not (folder / "out").exists()
        return end
    Model.load(folder / "out").save_modelfile(folder / "back")
    assert (folder / "back").read_bytes() == path.read_bytes()
    return "converted"


def main() -> None:
    """Take them all and print how many came back."""
    shared = Path(os.environ.get("TRANSPLATE_SHARED") or Path(__file__).parents[3] / "shared")
    pairs = read_pairs(shared)
    for pair in pairs:
        with tempfile.TemporaryDirectory() as folder:
            go_and_come_back(pair, Path(folder))
    print(f"{len(pairs)} pairs of the library went to a folder and came back")
    with gzip.open(shared / "corpus" / "modelfiles_public.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    with tempfile.TemporaryDirectory() as folder:
        ends = Counter(
            edit_and_convert(text, Path(folder) / str(number)) for number, text in enumerate(texts)
        )
    print(
        f"{len(texts)} public Modelfiles:", ", ".join(f"{count} {end}" for end, count in ends.most_common())
    )


if __name__ == "__main__":
    sys.exit(main())
