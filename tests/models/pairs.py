"""Real models there and back: ``python -m tests.models.pairs`` takes all pairs and all public Modelfiles.

``--part 2/5`` takes every fifth of each, from the second on, so that several processes share the work.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from transplate import JinjaTemplate, Model, Modelfile, ModelfileError, TransplateError, check_parity
from transplate.cli.explained import explanations
from transplate.convert import Conversion
from transplate.models.prompts import template_of
from transplate.parity import Difference, ParityReport
from transplate.parity.conversations import ordinary_conversations

_HOMELESS = {"num_ctx", "num_keep"}
"""PARAMETERs of the library that Hugging Face has no place for."""
_AT_HUGGING_FACE = {"repeat_penalty": "repetition_penalty", "stop": "stop_strings"}
"""What it calls those of the library that it has another name for."""
_SYSTEM = 'You are "a" model.\n'


def read_pairs(shared: Path) -> list[dict[str, Any]]:
    """The pairs of the library: TEMPLATE, chat template and PARAMETERs of a model each."""
    lines = (shared / "corpus" / "ollama_library_pairs.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def read_modelfiles(shared: Path) -> list[str]:
    """The texts of the Modelfiles that people published."""
    with gzip.open(shared / "corpus" / "modelfiles_public.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in file]


# --- the three ways ---------------------------------------------------------------------------------------


def modelfile_and_back(pair: dict[str, Any], folder: Path) -> str:
    """Convert the TEMPLATE of a pair as a Modelfile to a folder and back, and check what comes back."""
    modelfile = Modelfile.parse("FROM nothing\n")
    modelfile.set("template", pair["gotmpl"])
    modelfile.set("system", _SYSTEM)
    modelfile.set("message", ["user: Who are you?", "assistant: A model."])
    for name, value in (pair["params"] or {}).items():
        modelfile.set(name, [str(one) for one in value] if isinstance(value, list) else str(value))
    (folder / "Modelfile").write_bytes(bytes(modelfile))
    model = Model.load(folder / "Modelfile")
    assert dict(model.parameters) == (pair["params"] or {})
    saving = model.save_pretrained(folder / "out")
    assert saving.parity is not None
    assert saving.conversion is not None
    assert saving.parity.checked > 20
    assert not _unannounced(saving.parity, saving.conversion)
    Model.load(folder / "out").save_modelfile(folder / "back")
    assert (folder / "back").read_bytes() == bytes(modelfile)
    # Without what was kept aside, the folder's own settings say as much as Hugging Face can.
    (folder / "out" / "ollama.json").unlink()
    again = Model.load(folder / "out").save_modelfile(folder / "anew")
    anew = Model.load(folder / "anew")
    for name, value in model.parameters.items():
        if name not in _HOMELESS:
            there = anew.parameters[name]
            assert there == value or (name == "stop" and set(value) <= set(there)), name
    if again.conversion is None:
        return "came back"
    report = check_parity(template_of(model), template_of(anew), ordinary_conversations())
    assert not _unannounced(report, saving.conversion, again.conversion)
    is_whole = not any(map(_is_refused, report.differences))
    return "came back" if is_whole else "came back, without ollama.json not with tools"


def folder_and_back(pair: dict[str, Any], folder: Path) -> str:
    """Convert the chat template of a pair as a folder to a Modelfile and back, and check what comes back."""
    generation = {
        _AT_HUGGING_FACE.get(name, name): value
        for name, value in (pair["params"] or {}).items()
        if name not in _HOMELESS
    }
    if generation.get("temperature") == 0:  # which transformers refuses
        del generation["temperature"]
        generation["do_sample"] = False
    tokens = {"bos_token": "<the-bos>", "eos_token": "<the-eos>"}
    there = folder / "model"
    there.mkdir()
    (there / "chat_template.jinja").write_text(pair["jinja"], encoding="utf-8", newline="")
    (there / "tokenizer_config.json").write_text(json.dumps(tokens))
    (there / "generation_config.json").write_text(json.dumps(generation))
    original = Model.load(there)
    try:
        saving = original.save_modelfile(folder / "Modelfile")
    except TransplateError as error:
        assert not (folder / "Modelfile").exists()
        return f"refused: {error.message.partition(' (')[0][:60]}"
    assert saving.parity is not None
    if saving.conversion is not None:
        assert not _unannounced(saving.parity, saving.conversion)
    model = Model.load(folder / "Modelfile")
    for name, value in (pair["params"] or {}).items():
        if name != "stop" and name not in _HOMELESS:
            assert model.parameters[name] == value, name
    stops = [*generation.get("stop_strings", ()), tokens["eos_token"]]
    assert set(stops) <= set(model.parameters["stop"])
    model.save_pretrained(folder / "out")
    back = Model.load(folder / "out")
    assert back.chat_template is not None
    if not model.renderer:
        assert back.chat_template.text == pair["jinja"]
    assert set(stops) <= set(back.generation["stop_strings"])
    for name, value in generation.items():
        assert name == "stop_strings" or back.generation[name] == value, name
    assert Model.load(folder / "out").save_modelfile(folder / "again").files[""] == saving.files[""]
    # Without the folder, the TEMPLATE and SYSTEM alone make the chat template.
    (there / "chat_template.jinja").unlink()
    (there / "tokenizer_config.json").unlink()
    (there / "generation_config.json").unlink()
    there.rmdir()
    if not saving.parity.checked:
        return "came back by TEMPLATE; the chat template refuses every conversation"
    way = "RENDERER" if model.renderer else "TEMPLATE"
    if any(map(_is_refused, saving.parity.differences)):
        way += ", not with tools"
    try:
        anew = Model.load(folder / "Modelfile").save_pretrained(folder / "anew")
    except TransplateError as error:
        return f"came back by {way}; without the folder refused: {error.message}"
    report = check_parity(
        JinjaTemplate(pair["jinja"], special_tokens=tokens),
        JinjaTemplate(_text(folder / "anew" / "chat_template.jinja"), special_tokens=tokens),
        ordinary_conversations(),
        explain=True,
    )
    conversions = [one.conversion for one in (saving, anew) if one.conversion is not None]
    assert not _unannounced(report, *conversions)
    return f"came back by {way}"


def edit_and_convert(text: str, folder: Path) -> str:
    """Edit a Modelfile, read it back, convert it to a folder and back; return how far it got."""
    path = folder / "Modelfile"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        model = Model.load(path)
    except ModelfileError:
        return "refused by Ollama"
    assert model.modelfile is not None
    before = model.modelfile.commands
    model.modelfile.set("temperature", "0.25")
    model.modelfile.set("stop", ["<|a|>", "<|b|>"])
    others = [
        [one for one in commands if one.name not in ("temperature", "stop")]
        for commands in (before, model.modelfile.commands)
    ]
    assert others[0] == others[1]
    path.write_bytes(bytes(model.modelfile))
    model = Model.load(path)
    assert (model.parameters["temperature"], model.parameters["stop"]) == (0.25, ["<|a|>", "<|b|>"])
    try:
        saving = model.save_pretrained(folder / "out")
    except TransplateError as error:
        end = "no template" if "no template" in error.message else f"refused: {error.message}"
        assert not (folder / "out").exists()
        return end
    if saving.parity is not None and saving.conversion is not None:
        assert not _unannounced(saving.parity, saving.conversion)
    Model.load(folder / "out").save_modelfile(folder / "back")
    assert (folder / "back").read_bytes() == path.read_bytes()
    return "converted"


def _unannounced(report: ParityReport, *conversions: Conversion) -> list[str]:
    """The names of conversations that differ though no conversion says that they may."""
    return [
        difference.conversation.name
        for difference in report.differences
        if not _is_refused(difference)
        and not any(explanations(conversion, difference) for conversion in conversions)
    ]


def _is_refused(difference: Difference) -> bool:
    """Whether a TEMPLATE says itself that it was not converted as far as this conversation goes."""
    return any(error is not None and "not converted" in error.message for error in difference.errors)


def _text(path: Path) -> str:
    return path.read_bytes().decode()


# --- the command ------------------------------------------------------------------------------------------

_WAYS: dict[str, tuple[Callable[[Path], Sequence[Any]], Callable[[Any, Path], str], str]] = {
    "modelfile": (read_pairs, modelfile_and_back, "Modelfile to folder to Modelfile, of the library's pairs"),
    "folder": (read_pairs, folder_and_back, "folder to Modelfile to folder, of the library's pairs"),
    "public": (read_modelfiles, edit_and_convert, "public Modelfiles"),
}


def _ends(way: str, shared: Path, numbers: slice) -> Iterator[str]:
    read, run, _ = _WAYS[way]
    for number, item in list(enumerate(read(shared)))[numbers]:
        name = item["model"] if isinstance(item, dict) else str(number)
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                end = run(item, Path(folder))
            except Exception as error:
                line = traceback.extract_tb(error.__traceback__)[-1].line
                end = f"FAILED: {type(error).__name__} {str(error).partition(chr(10))[0]}: {line}"
                print(f"{way} {name}: {end}", file=sys.stderr, flush=True)
        if (seconds := time.monotonic() - started) > 20:
            print(f"{way} {name}: took {seconds:.0f} s", file=sys.stderr, flush=True)
        yield end


def main() -> int:
    """Take them all and print how many came back."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ways", nargs="*", choices=[*_WAYS, []], help="which ways; all without")
    parser.add_argument("--part", default="1/1", help="such as 2/5: every fifth, from the second on")
    options = parser.parse_args()
    first, step = map(int, options.part.split("/"))
    shared = Path(os.environ.get("TRANSPLATE_SHARED") or Path(__file__).parents[3] / "shared")
    failed = 0
    for way in options.ways or _WAYS:
        ends = Counter(_ends(way, shared, slice(first - 1, None, step)))
        failed += sum(count for end, count in ends.items() if end.startswith("FAILED"))
        shown = ", ".join(f"{count} {end}" for end, count in ends.most_common())
        print(f"{ends.total()} {_WAYS[way][2]}: {shown}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
