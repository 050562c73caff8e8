"""PARAMETERs: what ``ollama create`` takes and refuses, as its own code says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.oracle.modelfile.oracle import ModelfileOracle
from transplate import Model
from transplate.ollama.parameters import (
    FLAGS,
    INTEGERS,
    LISTS,
    NUMBERS,
    WITH_DRAFTS,
    read_options,
    refusal_of,
)

_VALUES = (
    *("1", "0", "-1", "+5", "-0", "007", "1.5", "1e3", "1e-400", ".5", "5.", "+.5", ".", "e5", "1e", "1e+5"),
    *("1e38", "3.4028235e38", "3.40282356e38", "3.4028236e38", "1e39", "-1e39", "1e999", "1" * 400),
    *("NaN", "nan", "inf", "+Inf", "-infinity", "Infinity", "abc", "1d", "1f", "1,5", "", " 1", "1 ", "٣"),
    *("0x10", "0x1", "0x1.8", "0x1p-2", "0X1P4", "0x1.8p1", "0x.8p1", "0x1p9999", "0b1", "0o7"),
    *("1_0", "1__0", "_1", "1_", "1_0.5", "1_.5", "1.5_0", "1e1_0", "0x_1p1", "0x1_0p1", "0x1_p1"),
    *("true", "True", "TRUE", "tRue", "T", "t", "f", "yes"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809"),
)


def test_ollama_refuses_the_same(modelfile_oracle: ModelfileOracle) -> None:
    names = (*INTEGERS, *NUMBERS, *FLAGS, *LISTS, "unknownkey", "Temperature", "num_gqa")
    parameters = [(name, value) for name in names for value in _VALUES]
    answers = list(modelfile_oracle.refusals(parameters))
    refused = [parameter for parameter, error in zip(parameters, answers, strict=True) if error]
    assert [parameter for parameter in parameters if refusal_of(*parameter, drafts=False)] == refused
    assert not refusal_of("draft_num_predict", "4")
    assert (
        refusal_of("draft_num_predict", "many")
        == "PARAMETER draft_num_predict: Ollama refuses the value 'many'"
    )
    assert 500 < len(refused) < len(answers) - 300


def test_ollama_reads_the_same_options(modelfile_oracle: ModelfileOracle) -> None:
    texts = [["x"], ["x", "y"], ["x", 5]]
    values = [1, 0, -1, 1.5, -1.5, 2.0, 5e9, "hot", "5", True, False, None, {}, "x", *texts]
    integers = [name for name in INTEGERS if name not in WITH_DRAFTS]
    names = (*integers, *NUMBERS, *FLAGS, *LISTS, "mirostat", "nope")
    options = [{name: value} for name in names for value in values]
    for option, theirs in zip(options, modelfile_oracle.options(options), strict=True):
        read, ignored, refused = read_options(option)
        assert bool(refused) is isinstance(theirs, str), option
        if isinstance(theirs, dict):
            # Ollama holds numbers in 32 bits, of which these need no more.
            shown = {name: value for name, value in read.items() if value or name == "use_mmap"}
            assert theirs == shown, option
            assert bool(ignored) is ("nope" in option or "mirostat" in option)


def test_a_conversion_says_what_ollama_refuses(tmp_path: Path) -> None:
    path = tmp_path / "Modelfile"
    path.write_text(
        'FROM nothing\nTEMPLATE """{{ .Prompt }}"""\nPARAMETER temperature abc\nPARAMETER unknownkey 7\n'
        "PARAMETER num_ctx 1.5\nPARAMETER top_k 5\nPARAMETER mirostat 1\n"
    )
    expected = [
        "PARAMETER temperature: Ollama refuses the value 'abc'",
        "PARAMETER unknownkey: Ollama knows none of this name, and refuses to make the model",
        "PARAMETER num_ctx: Ollama refuses the value '1.5'",
    ]
    model = Model.load(path)
    folder = model.save_pretrained(tmp_path / "folder")
    for saving in (
        folder,
        model.save_modelfile(tmp_path / "other.modelfile", base="other", dry_run=True),
        Model.load(tmp_path / "folder").save_modelfile(tmp_path / "back.modelfile", dry_run=True),
        model.save_hub_files(tmp_path / "hub", dry_run=True),
    ):
        assert [note for note in saving.notes if "refuses" in note] == expected
        assert list(saving.refused) == expected


@pytest.mark.parametrize(
    ("configuration", "generation", "expected"),
    [
        ("{}", "{}", [1, 2]),
        ('{"eos_token_id": 4}', "{}", [4, 1, 2]),
        ("{}", '{"eos_token_id": 3}', [3, 2]),
        ("{}", '{"eos_token_id": [2, 3]}', [2, 3]),
    ],
)
def test_a_stop_takes_no_place_of_the_ids_that_end_a_generation(
    tmp_path: Path, configuration: str, generation: str, expected: list[int]
) -> None:
    folder, path = tmp_path / "folder", tmp_path / "Modelfile"
    folder.mkdir()
    added = {"1": {"content": "</s>"}, "2": {"content": "<|end|>"}}
    tokenizer = {"eos_token": {"content": "</s>"}, "added_tokens_decoder": added}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    (folder / "config.json").write_text(configuration)
    (folder / "generation_config.json").write_text(generation)
    path.write_text('FROM nothing\nTEMPLATE """{{ .Prompt }}"""\nPARAMETER stop <|end|>\n')
    Model.load(path).save_pretrained(folder)
    assert json.loads((folder / "generation_config.json").read_text())["eos_token_id"] == expected
    Model.load(folder).save_modelfile(tmp_path / "back.modelfile")
    assert (tmp_path / "back.modelfile").read_bytes() == path.read_bytes()
